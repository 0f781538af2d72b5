#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/emit.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/linear/solve.hpp"
#include "tilewright/ops/nn/softmax.hpp"
#include "tilewright/ops/reduce/mean.hpp"
#include "tilewright/ops/reduce/reductions.hpp"
#include "tilewright/ops/shape/slice_and_concat.hpp"

namespace tilewright::detail {

/// Returns the shape with an extent in front.
constexpr Shape with_front(std::int64_t extent, const Shape& shape) {
  Shape result{extent};
  for (int axis = 0; axis < shape.rank; ++axis) result.push_back(shape[axis]);
  return result;
}

/// Returns x with an axis of it in front.
constexpr Tensor with_axis_in_front(Tensor x, int axis) {
  Shape order{axis};
  for (int other = 0; other < x.rank(); ++other)
    if (other != axis) order.push_back(other);
  return axis == 0 ? x : x.transpose(order);
}

/// One op of a function, whose operands are to have a leading axis of a batch.
struct BatchedOp {
  Ir& ir;
  const Node& node;
  std::int64_t count;  ///< extent of the leading axis
  List<TensorSpec> specs;  ///< of the inputs, without the leading axis
  TensorSpec output;  ///< without the leading axis
  List<Tensor> inputs;  ///< with the leading axis where they have one
  List<bool> batched;  ///< by input: whether it has a leading axis

  /// Returns an input with the leading axis, and axes of extent 1 after it up to `rank` others.
  constexpr Tensor batched_input(std::size_t i, int rank) const {
    Shape shape;
    for (int axis = specs[i].shape.rank; axis < rank; ++axis) shape.push_back(1);
    for (int axis = 0; axis < specs[i].shape.rank; ++axis) shape.push_back(specs[i].shape[axis]);
    if (batched[i]) return inputs[i].reshape(with_front(count, shape));
    return ops::expand(inputs[i].reshape(shape), with_front(count, shape));
  }
  constexpr Tensor emit_with(const List<Tensor>& operands, const PackedAttributes& attributes) const {
    return at_or_invalid(ir, emit_op(ir, *node.op, {operands.data(), operands.size()}, attributes), 0);
  }
  /// Returns the op on inputs that have the leading axis.
  constexpr Tensor emit_batched(const PackedAttributes& attributes, int rank = 0) const {
    List<Tensor> operands;
    for (std::size_t i = 0; i < inputs.size(); ++i) operands.push_back(batched_input(i, rank));
    return emit_with(operands, attributes);
  }
};

/// Rule of an op for a batch: returns the result with a leading axis.
using BatchRule = Tensor (*)(const BatchedOp&);

constexpr Tensor batch_elementwise(const BatchedOp& op) {
  List<Tensor> operands;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.batched[i] && op.specs[i].nelms() == 1) operands.push_back(op.inputs[i]);  // such as a factor
    else operands.push_back(op.batched_input(i, op.output.shape.rank));
  }
  return op.emit_with(operands, op.node.attributes);
}
constexpr Tensor batch_as_it_is(const BatchedOp& op) { return op.emit_with(op.inputs, op.node.attributes); }
constexpr Tensor batch_reshape(const BatchedOp& op) { return op.inputs[0].reshape(with_front(op.count, op.output.shape)); }
constexpr Tensor batch_transpose(const BatchedOp& op) {
  const Shape order = unpack<AxisList>(op.node.attributes).shape();
  Shape result{0};
  for (int axis = 0; axis < order.rank; ++axis) result.push_back(order[axis] + 1);
  return op.inputs[0].transpose(result);
}
constexpr Tensor batch_expand(const BatchedOp& op) {
  return ops::expand(op.batched_input(0, op.output.shape.rank), with_front(op.count, op.output.shape));
}
/// Returns a slice that takes all rows of a batch. `rank`: axes of the tensor, without the leading one.
constexpr SliceAttributes slice_of_batch(const SliceAttributes& of_row, std::int64_t count, int rank) {
  SliceAttributes slice;
  slice.take_all(0, count);
  for (int axis = 0; axis < rank; ++axis) slice.take(axis + 1, of_row.start(axis), of_row.step(axis), of_row.extent(axis));
  slice.dropped = of_row.dropped << 1;
  return slice;
}
constexpr Tensor batch_slice(const BatchedOp& op) {
  const auto slice = unpack<SliceAttributes>(op.node.attributes);
  return op.emit_with(op.inputs, pack(slice_of_batch(slice, op.count, op.specs[0].shape.rank)));
}
constexpr Tensor batch_reduction(const BatchedOp& op) {
  auto reduction = unpack<ReductionAttributes>(op.node.attributes);
  const int rank = op.specs[0].shape.rank;
  if (reduction.count < 0)
    for (reduction.count = 0; reduction.count < rank; ++reduction.count)
      reduction.axes[static_cast<std::size_t>(reduction.count)] = reduction.count;
  for (std::int64_t i = 0; i < reduction.count; ++i) {
    std::int64_t& axis = reduction.axes[static_cast<std::size_t>(i)];
    axis += (axis < 0 ? rank : 0) + 1;
  }
  return op.emit_batched(pack(reduction), rank);
}
constexpr Tensor batch_matmul(const BatchedOp& op) {
  List<Tensor> operands;
  for (std::size_t i = 0; i < 2; ++i) {
    if (op.batched[i]) operands.push_back(op.batched_input(i, op.output.shape.rank));
    else operands.push_back(op.inputs[i]);
  }
  return op.emit_with(operands, op.node.attributes);
}
constexpr Tensor batch_matrices(const BatchedOp& op) { return op.emit_batched(op.node.attributes); }
constexpr Tensor batch_lines(const BatchedOp& op) {
  auto line = unpack<AxisAttributes>(op.node.attributes);
  line.axis += (line.axis < 0 ? op.specs[0].shape.rank : 0) + 1;
  return op.emit_batched(pack(line));
}

/// Gathers: rows with indices of their own are groups. A group that the op has is one for each row.
constexpr Tensor batch_gather(const BatchedOp& op) {
  auto attributes = unpack<IndexAttributes>(op.node.attributes);
  const bool is_gradient = op.node.op->tag == op_info<GatherGrad>.tag, is_grouped = attributes.group_size > 1;
  if (!is_gradient) attributes.axis = attributes.axis_of(op.specs[0].shape.rank);
  const int axis = static_cast<int>(attributes.axis);
  if (is_grouped) {
    List<Tensor> operands;
    for (std::size_t i = 0; i < 2; ++i) {
      Shape merged = op.specs[i].shape;
      merged[0] *= op.count;
      operands.push_back(op.batched_input(i, 0).reshape(merged));
    }
    attributes.group_size *= op.count;
    return op.emit_with(operands, pack(attributes)).reshape(with_front(op.count, op.output.shape));
  }
  if (!op.batched[0] && !is_gradient) {  // the table is read, not copied for each row
    const Tensor result = op.emit_with(op.inputs, op.node.attributes);
    return result.is_usable() ? with_axis_in_front(result, axis) : result;
  }
  attributes.axis += 1;
  if (!op.batched[1]) return op.emit_with(op.inputs, pack(attributes));
  if (op.count == 1) return op.emit_with({op.batched_input(0, 0), op.inputs[1].reshape(op.specs[1].shape)}, pack(attributes));
  attributes.group_size = op.count;
  attributes.form = kernel::IndexForm::groups;
  return op.emit_with({op.batched_input(0, 0), op.inputs[1]}, pack(attributes));
}
constexpr Tensor batch_concat(const BatchedOp& op) {
  auto concat = unpack<Concat::Attributes>(op.node.attributes);
  concat.axis += (concat.axis < 0 ? op.output.shape.rank : 0) + 1;
  return op.emit_batched(pack(concat));
}
constexpr Tensor batch_slice_gradient(const BatchedOp& op) {
  auto gradient = unpack<SliceGrad::Attributes>(op.node.attributes);
  gradient.slice = slice_of_batch(gradient.slice, op.count, op.output.shape.rank);
  gradient.whole = axis_list(with_front(op.count, op.output.shape));
  return op.emit_with(op.inputs, pack(gradient));
}

/// Returns the rule of an op, or null.
constexpr BatchRule batch_rule(const OpInfo& op) {
  const auto is_one_of = [&op](auto... others) { return ((op.tag == others->tag) || ...); };
  if (is_one_of(&op_info<Reshape>)) return batch_reshape;
  if (is_one_of(&op_info<Detach>, &op_info<Triangle>)) return batch_as_it_is;
  if (is_one_of(&op_info<Transpose>)) return batch_transpose;
  if (is_one_of(&op_info<Expand>)) return batch_expand;
  if (is_one_of(&op_info<Slice>, &op_info<Squeeze>)) return batch_slice;
  if (is_one_of(&op_info<SliceGrad>)) return batch_slice_gradient;
  if (is_one_of(&op_info<Concat>)) return batch_concat;
  if (is_one_of(&op_info<Gather>, &op_info<TiedGather>, &op_info<GatherGrad>)) return batch_gather;
  if (is_one_of(&op_info<MatMul>)) return batch_matmul;
  if (is_one_of(&op_info<Cholesky>, &op_info<SolveTriangular>, &op_info<Solve>)) return batch_matrices;
  if (is_one_of(&op_info<Softmax>, &op_info<SoftmaxGrad>)) return batch_lines;
  if (is_one_of(&op_info<ReduceSum>, &op_info<ReduceMean>, &op_info<ReduceMax>, &op_info<ReduceMin>, &op_info<ReduceMedian>,
                &op_info<ReduceProd>, &op_info<ReduceSumSquare>, &op_info<ReduceL1>, &op_info<ReduceL2>, &op_info<ReduceLogSum>,
                &op_info<ReduceLogSumExp>, &op_info<ReduceProdGrad>, &op_info<SelectionGrad<ReduceMax>>,
                &op_info<SelectionGrad<ReduceMin>>, &op_info<SelectionGrad<ReduceMedian>>))
    return batch_reduction;
  if (op.elementwise && !op.takes_positions && op.modifies < 0) return batch_elementwise;
  return nullptr;
}

}  // namespace tilewright::detail
