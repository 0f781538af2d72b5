#pragma once
// takes: operations without work
// gives: the work of each op; an op whose reduction is cut gives partials, and one that combines them follows
// keeps: the order of operations; storages, to which those of partials are added
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/intrinsics.hpp"
#include "tilewright/lower/partition.hpp"
#include "tilewright/lower/product_blocks.hpp"

namespace tilewright::internal {

namespace detail {

constexpr Work work_of(const Operation& operation) {
  List<TensorSpec> specs;
  specs.reserve(operation.operands.size());
  for (const Value& value : operation.operands) specs.push_back(value.spec);
  return tilewright::work_of(*operation.op, specs, operation.input_count, operation.attributes);
}
constexpr void take_reductions_whole(Work& work) {
  for (int i = 0; i < work.axes.size(); ++i)
    if (gives_partials(work.axes[i].kind)) work.axes[i].kind = WorkAxisKind::whole;
}
/// Rows of a weight that each tile has, at least, if it is cut along its rows: the grain of a product's sums. W1, W1a, W1h and W3
/// of
/// ./dev bench are cut so, with rows enough.
inline constexpr std::int64_t min_rows_of_part = 8;
/// Times that a weight is as large as all parts of the sums, at least, if it is cut along its rows: the parts are written and
/// read, so they add at most a quarter to the traffic of reading the weight. W1, W1a, W1h and W3 have weights so large; W2, of
/// batches of 80, has not.
inline constexpr std::int64_t min_weight_of_parts = 8;

/// A product by a matrix that is much larger than all else, as a weight at a small batch, is cut along the matrix's rows, in
/// whatever place it takes part: so a tile always works on the same rows, forward, backward and when they are updated. Where rows
/// are summed over, that makes parts of sums, which must be small beside the matrix.
constexpr void follow_the_largest(Operation& operation, const Target& target) {
  const auto bytes = [&](int operand) { return operation.operands[operand].spec.bytes(); };
  if (!target.keeps_weights || operation.input_count != 2 || operation.operands.size() != 3) return;
  const int weight = bytes(1) > bytes(0) ? 1 : 0;
  const Value& value = operation.operands[weight];
  int rows = 0;  // the axis with the largest stride, in either direction
  const auto stride = [&](int axis) {
    const std::int64_t signed_stride = value.layout.strides[static_cast<std::size_t>(axis)];
    return signed_stride < 0 ? -signed_stride : signed_stride;
  };
  for (int axis = 1; axis < value.spec.shape.rank; ++axis)
    if (stride(axis) > stride(rows)) rows = axis;
  const int axis = value.spec.shape.rank == 0 ? -1 : operation.work.follows(weight, rows);
  if (axis < 0 || operation.work.axes[axis].kind != WorkAxisKind::reduction ||
      operation.work.axes[axis].extent < min_rows_of_part * target.tiles)
    return;
  if (min_weight_of_parts * target.tiles * bytes(2) > bytes(weight)) return;
  for (int other = 0; other < operation.work.axes.size(); ++other)
    if (other != axis) operation.work.axes[other].kind = WorkAxisKind::whole;
  operation.work.axes[axis].kind = WorkAxisKind::summed;
}
/// Whether the operand is the same for all blocks along some cut reduction, so that each gives a part of it.
constexpr bool has_parts(const Operation& operation, int operand, const FixedVector<std::int64_t, max_work_axes>& blocks) {
  const Work& work = operation.work;
  for (int axis = 0; axis < work.axes.size(); ++axis)
    if (gives_partials(work.axes[axis].kind) && blocks[axis] < work.axes[axis].extent && !work.has_follower(operand, axis))
      return true;
  return false;
}

/// The dtype of an operation's parts of an output.
constexpr DType dtype_of_parts(const Operation& operation, DType output) {
  if (operation.op->partials_dtype) return operation.op->partials_dtype(operation.attributes, output);
  return output == float16 ? float32 : output;
}
/// The op that makes an operation's output of its parts; the output becomes the parts.
constexpr Operation combine_parts(BodyDraft& draft, const Partials& how, Value& output, std::int64_t parts, DType dtype) {
  Value whole = output;
  TensorSpec part = output.spec;
  part.dtype = dtype;
  TensorSpec all_parts{{parts}, part.dtype};
  if (part.shape.rank == max_rank) whole.spec.shape = {part.nelms()}, whole.layout = dense_layout(whole.spec.shape);
  for (int axis = 0; axis < whole.spec.shape.rank; ++axis) all_parts.shape.push_back(whole.spec.shape[axis]);
  const Value memory = draft.add_value(all_parts);
  output = {memory.storage, dense_layout(part.shape), part};
  Operation result = combining_operation(how, memory, whole);
  result.work = work_of(result);
  take_reductions_whole(result.work);
  return result;
}

/// How a target cuts an operation. One whose blocks need an input whole, too, gets that once more if it is then cut into parts.
constexpr Partition cut_of(Operation& operation, const Target& target) {
  const DType dtype = operation.operands[operation.input_count].spec.dtype;
  if (operation.op->partials && target.shortest_reduction > 0)
    if (const int whole_input = operation.op->partials(operation.attributes).whole_input; whole_input >= 0) {
      Operation with_whole = operation;
      const Value input = operation.operands[whole_input];
      with_whole.operands.insert(with_whole.operands.begin() + with_whole.input_count++, input);
      with_whole.work = work_of(with_whole);
      const Partition parts = partition(with_whole.work.axes, dtype, target);
      if (parts.partials > 1) {
        operation = std::move(with_whole);
        return parts;
      }
    }
  return partition(operation.work.axes, dtype, target);
}

}  // namespace detail

/// Finds the work of all operations. For a simulated IPU products are cut by their cycles. Where a target has tiles left over for
/// parts of a reduction, the op gives partial results (of float16 in float32, unless the op says otherwise), which a second op
/// combines: it sums them, unless the op says otherwise.
constexpr void split_reductions(BodyDraft& draft, const Target& target, ProductPartitions& partitions) {
  List<Operation> operations;
  operations.reserve(2 * draft.operations.size());
  for (Operation& given : draft.operations) {
    operations.push_back(std::move(given));
    if (operations.back().is_call()) continue;
    operations.back().work = detail::work_of(operations.back());
    detail::follow_the_largest(operations.back(), target);
    if (target.ipu && is_product(operations.back()))
      set_product_blocks(operations.back(), detail::dtype_of_parts(operations.back(), operations.back().operands[2].spec.dtype),
                         target, partitions);
    Operation& operation = operations.back();
    Partition cut = detail::cut_of(operation, target);
    const DType result = operation.operands[operation.input_count].spec.dtype;
    if (detail::has_parts(operation, operation.input_count, cut.blocks))  // later passes cut it by the dtype of the parts
      cut = partition(operation.work.axes, detail::dtype_of_parts(operation, result), target);
    if (cut.partials == 1) {
      detail::take_reductions_whole(operation.work);
      continue;
    }
    operation.partial = true;
    const Partials partials = operation.op->partials ? operation.op->partials(operation.attributes) : Partials{};
    List<Operation> combining;
    for (int i = operation.input_count, count = static_cast<int>(operation.operands.size()); i < count; ++i)
      if (detail::has_parts(operation, i, cut.blocks))
        combining.push_back(detail::combine_parts(draft, partials, operation.operands[i], cut.partials,
                                                  detail::dtype_of_parts(operation, operation.operands[i].spec.dtype)));
    for (Operation& each : combining) operations.push_back(std::move(each));
  }
  draft.operations = std::move(operations);
}

}  // namespace tilewright::internal
