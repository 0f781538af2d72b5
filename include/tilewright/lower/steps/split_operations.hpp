#pragma once
// takes: operations without work
// gives: the work of each op; an op whose reduction is cut gives partials, and those that combine them follow; a product that
// needs too much memory at once becomes several, each of a slice
// keeps: the order of operations; storages, to which those of partials are added
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/intrinsics.hpp"
#include "tilewright/lower/draft/partition.hpp"
#include "tilewright/lower/products/indexed_partition.hpp"
#include "tilewright/lower/products/product_slices.hpp"
#include "tilewright/lower/products/reduction_stages.hpp"
#include "tilewright/rules/ipu/sum_of_products.hpp"

namespace tilewright::internal {

namespace detail {

/// Smallest number of rows of a weight on each tile if it is divided along its rows: the grain of a product's sums. The
/// benchmarks' MNIST steps are divided in this way, with enough rows.
inline constexpr std::int64_t min_rows_of_part = 8;
/// Smallest ratio of a weight's size to that of all parts of the sums if it is divided along its rows. The parts are written and
/// read, so they add at most a quarter to the traffic of reading the weight. Training steps of MNIST have such weights; inference
/// of batches of 80 does not.
inline constexpr std::int64_t min_weight_of_parts = 8;

/// Cuts a product if one matrix is much larger than all other operands, such as a weight at a small batch. The cut is along
/// the rows of this matrix, for every role of the matrix. So a tile works on the same rows in the forward pass, in the
/// backward pass and in updates. If the product sums over the rows, the cut produces parts of sums, which must be small
/// compared with the matrix.
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
/// Returns whether the operand is shared by all blocks along a divided reduction, so that each produces a part of it.
constexpr bool has_parts(const Operation& operation, int operand, const FixedVector<std::int64_t, max_work_axes>& blocks) {
  const Work& work = operation.work;
  for (int axis = 0; axis < work.axes.size(); ++axis)
    if (gives_partials(work.axes[axis].kind) && blocks[axis] < work.axes[axis].extent && !work.has_follower(operand, axis))
      return true;
  return false;
}

/// Returns the op that combines an operation's output from its parts; the output becomes the parts.
constexpr Operation combine_parts(BodyDraft& draft, const Partials& how, Value& output, std::int64_t parts, DType dtype) {
  Value whole = output;
  TensorSpec part = output.spec;
  part.dtype = dtype;
  TensorSpec all_parts{{parts}, part.dtype};
  if (part.shape.rank == max_rank) whole.spec.shape = {part.nelms()}, whole.layout = dense_layout(whole.spec.shape);
  for (int axis = 0; axis < whole.spec.shape.rank; ++axis) all_parts.shape.push_back(whole.spec.shape[axis]);
  const Value memory = draft.placed(draft.add_value(all_parts), draft.placement_of(output));
  output = {memory.storage, dense_layout(part.shape), part};
  Operation result = combining_operation(how, memory, whole);
  result.placement = draft.placement_of(whole);
  result.work = work_of(result);
  return result;
}

/// Returns whether one worker may add up an operation's parts where the first one is, with the same roundings as the sum that
/// combines them: that sum has a single chain of float32 additions for each element.
constexpr bool adds_parts(const Operation& operation, const Target& target, std::int64_t parts) {
  constexpr std::int64_t most_parts = 15;  // more terms may have several chains: kernel/reduce/sum.hpp
  const Value& result = operation.operands[operation.input_count];
  return target.keeps_weights && parts <= most_parts && operation.op->has_epilogue && !operation.op->partials &&
         operation.operands.size() == static_cast<std::size_t>(operation.input_count) + 1 && result.spec.dtype == float32 &&
         result.spec.nelms() > 1;
}

/// Returns how a target divides an operation. If an operation is divided into parts, and its blocks also need an input whole, it
/// gets that input a second time.
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

/// Smallest number of terms of each result that a tile must add up if a reduction is cut as its input lies: parts of float32 are
/// then a quarter of an input of float16 at most.
inline constexpr std::int64_t least_terms_in_place = 8;

/// Cuts a reduction of a whole tensor along the axes of the tensor, from the first one on, as Poplar maps a tensor for which no
/// op asks for another mapping: evenly, in its own order, with at least 128 bytes on a tile (poputil, mapTensorLinearly). Each
/// tile adds up what it has. Nothing changes if it has too few terms of each result, or not whole ones.
constexpr void cut_in_place(Operation& operation, const Target& target) {
  constexpr std::int64_t least_bytes = 128;
  const TensorSpec& input = operation.operands[0].spec;
  Work work = operation.work;
  std::int64_t left = (std::min)(target.tiles, std::max<std::int64_t>(1, input.bytes() / least_bytes)), terms = 1;
  for (int axis = 0; axis < input.shape.rank; ++axis) {
    const int to = work.follows(0, axis);
    if (to < 0 || work.axes[to].kind == WorkAxisKind::whole) return;
    WorkAxis& of = work.axes[to];
    const std::int64_t grain = axis + 1 == input.shape.rank ? std::max<std::int64_t>(1, 8 / size_of(input.dtype)) : 1;
    of.block = block_for(of, grain, left);
    left /= block_count(of.extent, of.block);
    if (gives_partials(of.kind)) terms *= of.block;
  }
  if (terms >= least_terms_in_place) operation.work = work;
}

/// Sets the work of each operation, and adds those that combine parts.
class OperationSplitter {
 public:
  constexpr OperationSplitter(BodyDraft& draft, const Target& target, ProductPartitions* partitions)
      : draft_(draft), target_(target), partitions_(partitions) {}

  constexpr void run() {
    operations_.reserve(2 * draft_.operations.size());
    for (Operation& operation : draft_.operations) {
      if (!operation.is_call()) {
        operation.work = work_of(operation);
        follow_the_largest(operation, target_);
        if (partitions_ && is_product(operation)) {
          add_product(std::move(operation));
          continue;
        }
        if (partitions_ && is_cut_by_index(operation)) cut_indexed(operation, target_);
        if (partitions_ && is_reduced_in_place(operation)) cut_in_place(operation, target_);
      }
      add(std::move(operation));
    }
    draft_.operations = std::move(operations_);
  }

 private:
  /// Returns whether an operation reduces all of a variable or of what a stream brings, and no product reads that.
  constexpr bool is_reduced_in_place(const Operation& operation) const {
    if (operation.op->vertex_cost.formula != CostFormula::reduction || operation.input_count != 1) return false;
    const Value& input = operation.operands[0];
    const Base base = draft_.storages[input.storage].location.base;
    if ((base != Base::variable && base != Base::stream) || !is_whole_and_dense(input, draft_.storages[input.storage]))
      return false;
    const auto takes = [&](const Operation& other) {
      for (const Value& value : other.operands)
        if (value.storage == input.storage && !other.is_call() && (is_product(other) || is_cut_by_index(other))) return true;
      return false;
    };
    for (const Operation& other : draft_.operations)
      if (takes(other)) return false;
    for (const Operation& other : operations_)
      if (takes(other)) return false;
    return true;
  }
  /// Adds an operation and, if it is divided into parts, those that combine them.
  constexpr void add(Operation&& given) {
    operations_.push_back(std::move(given));
    if (operations_.back().is_call()) return;
    Operation& operation = operations_.back();
    Partition cut = cut_of(operation, target_);
    const DType result = operation.operands[operation.input_count].spec.dtype;
    if (has_parts(operation, operation.input_count, cut.blocks))  // later passes cut it by the dtype of the parts
      cut = partition(operation.work.axes, dtype_of_parts(*operation.op, operation.attributes, result), target_);
    if (cut.partials == 1) {
      take_reductions_whole(operation.work);
      return;
    }
    operation.partial = true;
    const bool added = adds_parts(operation, target_, cut.partials);
    List<Operation> combining;
    for (int i = operation.input_count, count = static_cast<int>(operation.operands.size()); i < count; ++i)
      if (has_parts(operation, i, cut.blocks)) combining.push_back(combine(operation, i, cut.partials));
    if (added && combining.size() == 1) operation.parts = SumParts::made, combining[0].parts = SumParts::combined;
    if (partitions_ && is_cut_by_index(operation))
      for (Operation& each : combining) cut_merging(each, operation, cut.partials);
    for (Operation& each : combining) add_combining(std::move(each));
  }
  constexpr Operation combine(Operation& operation, int output, std::int64_t parts) {
    const Partials how = operation.op->partials ? operation.op->partials(operation.attributes) : Partials{};
    const DType dtype = dtype_of_parts(*operation.op, operation.attributes, operation.operands[output].spec.dtype);
    Operation combining = combine_parts(draft_, how, operation.operands[output], parts, dtype);
    if (partitions_ && !how.combiner && size_of(dtype) <= 4 && (is_product(operation) || operation.op == &sum_of_products))
      combining.op = &sum_of_products;
    return combining;
  }
  constexpr void add_combining(Operation&& combining) {
    if (partitions_ && set_stage(combining, target_)) {
      add(std::move(combining));
      return;
    }
    take_reductions_whole(combining.work);
    operations_.push_back(std::move(combining));
  }

  /// Adds a product, or one for each of its slices.
  constexpr void add_product(Operation&& product) {
    const List<TensorSpec> operands = operand_specs(product);
    const ProductCut cut = cut_product_on_tiles(*product.op, {operands.data(), operands.size()}, product.attributes, product.work,
                                                target_, *partitions_);
    if (cut.part.slices() == 1 || product.operands[2].spec.shape.rank == max_rank) {  // whose parts are flat: see combine_parts
      set_blocks(product.work, cut);
      add(std::move(product));
      return;
    }
    for (Operation& columns : slices_of(product, ProductAxis::column, cut.part.column_slices, cut.grains.columns)) {
      List<Operation> slices = slices_of(columns, ProductAxis::inner, cut.part.inner_slices, cut.grains.inner);
      if (slices.size() == 1) {
        add_slice(std::move(slices[0]), cut);
        continue;
      }
      Operation sum = combine(columns, 2, static_cast<std::int64_t>(slices.size()));  // whose parts the slices make
      for (std::size_t i = 0; i < slices.size(); ++i) {
        slices[i].operands[2] = columns.operands[2];
        slices[i].operands[2].layout.offset = static_cast<std::int64_t>(i) * columns.operands[2].spec.nelms();
        slices[i].work = work_of(slices[i]);
        add_slice(std::move(slices[i]), cut);
      }
      add_combining(std::move(sum));
    }
  }
  /// Adds a slice. Slices run in sequence, so only one needs memory at a time.
  constexpr void add_slice(Operation&& slice, const ProductCut& cut) {
    slice.alone = true;
    set_blocks(slice.work, cut);
    add(std::move(slice));
  }

  BodyDraft& draft_;
  const Target& target_;
  ProductPartitions* partitions_;  // null: products are cut as other ops are
  List<Operation> operations_{};
};

}  // namespace detail

/// Finds the work of all operations. With `partitions`, of a simulated IPU, products are divided by their cycles, and operations
/// that combine many parts are divided into stages. If a target has tiles left for parts of a reduction, the op produces partial
/// results (float32 for float16, unless the op states another dtype), and a second op combines them by a sum, or as the op
/// states.
constexpr void split_operations(BodyDraft& draft, const Target& target, ProductPartitions* partitions) {
  detail::OperationSplitter(draft, target, partitions).run();
}

}  // namespace tilewright::internal
