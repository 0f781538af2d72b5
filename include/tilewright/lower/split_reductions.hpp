#pragma once
#include <utility>
#include <vector>

#include "tilewright/lower/partition.hpp"
#include "tilewright/lower/schedule.hpp"
#include "tilewright/ops/sum.hpp"

namespace tilewright {

/// The iteration space of an operation's op.
constexpr Work work_of(const Operation& operation) {
  std::vector<TensorSpec> specs;
  for (const Value& value : operation.operands) specs.push_back(value.spec);
  Work work = work_of(*operation.op, specs, operation.input_count, operation.attributes);
  if (operation.whole_reduction)
    for (int i = 0; i < work.axes.size(); ++i)
      if (work.axes[i].kind == WorkAxisKind::reduction) work.axes[i].kind = WorkAxisKind::whole;
  return work;
}
constexpr Partition partition(const Operation& operation, const Target& target) {
  return partition(work_of(operation), operation.operands[static_cast<std::size_t>(operation.input_count)].spec.dtype, target);
}

/// Where a target has tiles left over for parts of a reduction, the op gives partial results (of float16 in float32), which
/// a second op sums.
constexpr void split_reductions(Schedule& schedule, const Target& target) {
  std::vector<Operation> operations;
  for (Operation& operation : schedule.operations) {
    operations.push_back(std::move(operation));
    if (operations.back().is_call()) continue;
    const std::int64_t parts = partition(operations.back(), target).partials;
    if (parts == 1) continue;
    const Value result = operations.back().operands.back();
    TensorSpec part = result.spec;
    if (part.dtype == float16) part.dtype = float32;
    TensorSpec parts_spec{{parts}, part.dtype};
    Value sum = result;
    if (part.shape.rank == max_rank) sum.spec.shape = {part.nelms()}, sum.layout = dense_layout(sum.spec.shape);
    for (int axis = 0; axis < sum.spec.shape.rank; ++axis) parts_spec.shape.push_back(sum.spec.shape[axis]);
    const Value all_parts = schedule.add_value(parts_spec);
    operations.back().operands.back() = {all_parts.storage, dense_layout(part.shape), part};
    operations.back().partial = true;
    operations.push_back({.op = &op_info<ReduceSum>,
                          .attributes = pack(ReduceSum::make(Axes(0), false)),
                          .input_count = 1,
                          .operands = {all_parts, sum},
                          .whole_reduction = true});
  }
  schedule.operations = std::move(operations);
}

}  // namespace tilewright
