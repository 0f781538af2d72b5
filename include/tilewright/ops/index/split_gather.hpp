#pragma once
// Gathers as a simulated IPU computes them, whose tables lie on many tiles.
#include "tilewright/ops/index/gather.hpp"

namespace tilewright {

/// Input: parts of a tensor, along a new first axis. Each element is 0 in all parts, or in all except one: the result has its
/// bits from there.
struct MergeParts : Op<MergeParts> {
  static constexpr std::string_view name = "MergeParts";
  constexpr operator VertexCost() const { return reduction_cost({1, 2}, {1, 4}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_float8 = true}; }
  static constexpr void infer(Inference& op) {
    Shape result;
    for (int a = 1; a < op.input(0).shape.rank; ++a) result.push_back(op.input(0).shape[a]);
    op.output({result, op.input(0).dtype});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    const Shape &parts = operands[0].shape, &result = operands[1].shape;
    Work work;
    work.follow(0, 0, work.add_axis({.extent = parts[0], .kind = WorkAxisKind::reduction}));
    for (int a = 0; a < result.rank; ++a) {
      const int to = work.add_axis({.extent = result[a], .vectorised = a == result.rank - 1});
      work.follow(0, a + 1, to);
      work.follow(1, a, to);
    }
    return work;
  }
  template <PackedAttributes A, class X, class Y>
  static void compute(X parts, Y y);
};

/// The gather D with a table that may be divided along the indexed axis: inputs (t, indices). A vertex has the rows of its block
/// of the table that the indices select, and zeros for all others; MergeParts combines them.
template <class D>
struct SplitGather : IndexedOp<SplitGather<D>> {
  static constexpr std::string_view name = D::name;
  using Attributes = IndexAttributes;
  constexpr operator VertexCost() const { return formula_cost(CostFormula::gather, Confidence::published); }
  constexpr operator KernelOperands() const {
    return KernelOperands{.any_layout = true, .takes_positions = true, .takes_float8 = true};
  }
  constexpr operator CutRules() const { return CutRules{.partials = partials, .partials_dtype = partials_dtype}; }
  constexpr operator OpTexts() const { return OpTexts{.options = D::options, .fault = D::fault}; }
  static constexpr Partials partials(const PackedAttributes&) { return {.combiner = &op_info<MergeParts>}; }
  static constexpr DType partials_dtype(const PackedAttributes&, DType output) { return output; }

  static constexpr void infer(Inference& op) { D::infer(op); }
  /// Axes of the result, as D divides it, then the indexed axis of the table.
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes& packed) {
    const int positions = input_count - 1, axis = unpack<Attributes>(packed).axis_of(operands[0].shape.rank);
    Work work = D::work(operands, input_count, packed);
    work.follows_plus_one[positions] = 0;
    work.follow(0, axis, work.add_axis({.extent = operands[0].shape[axis], .kind = WorkAxisKind::reduction}));
    for (int a = 0; a < operands[0].shape.rank; ++a) work.follow(positions, a, work.follows(0, a));
    return work;
  }
  template <PackedAttributes A, class T, class J, class P, class Y>
  static void compute(T t, J indices, P positions, Y y);
  template <PackedAttributes A, class T, class J, class P, class Y>
  static void compute_checked(Faults faults, T t, J indices, P positions, Y y);
};

}  // namespace tilewright
