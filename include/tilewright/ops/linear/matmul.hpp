#pragma once
#include "tilewright/op/planner_options.hpp"
#include "tilewright/operand/matmul_shape.hpp"
#include "tilewright/operand/pieces.hpp"
#include "tilewright/operand/sum_lengths.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright {

/// Options of a matrix product.
struct MatMulOptions {
  /// From 0 to 1: share of a tile's memory for the operands and results of a product, on a simulated IPU. Nothing: 0.6.
  std::optional<double> available_memory_proportion{};
  std::optional<DType> output_type{};  ///< dtype of the result; nothing: the operands'
  std::optional<DType> partials_type{};  ///< float16 or float32: dtype of partial sums; nothing: Target::partials_type, float32
};

/// Matrix products: (..., m, k) x (..., k, n) to (..., m, n); leading axes broadcast.
struct MatMul : Op<MatMul> {
  // Loops, not arrays: blocks of both operands stay in registers and caches.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::product}; }
  constexpr operator VertexCost() const { return formula_cost(CostFormula::product, Confidence::published); }
  static constexpr std::string_view name = "MatMul";
  constexpr operator Effects() const { return Effects{.gradient_needs_no_result = true}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  constexpr operator Fusion() const { return Fusion{.has_epilogue = true}; }
  struct Attributes {
    OptionalDType output_type{};  ///< none: the operands'
    std::uint8_t reserved[7] = {};
    PlannerAttributes planner{};
  };

  constexpr operator OpTexts() const { return OpTexts{.options = options}; }
  static constexpr Text options(const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    List<Text> given;
    detail::add_dtype_option(given, "output_type", attributes.output_type);
    if (Text planner = attributes.planner.options(); !planner.empty()) given.push_back(std::move(planner));
    return join(given, ", ");
  }
  constexpr operator CutRules() const { return planner_cut_rules<Attributes>; }
  static constexpr void infer(Inference& op) {
    const TensorSpec &a = op.input(0), &b = op.input(1);
    if (!op.require_equal_dtypes(0, 1)) return;
    const auto attributes = op.attributes<Attributes>();
    if (!attributes.planner.validate(op)) return;
    const DType output = attributes.output_type.value_or(a.dtype);
    if (a.dtype == boolean) return op.fail(to_text(a), ": numbers expected");
    if (output != a.dtype && !(is_floating_point(output) && is_floating_point(a.dtype)))
      return op.fail("output_type ", to_text(output), " of ", to_text(a),
                     ": the same, or floating point of floating point, expected");
    const auto given = text(to_text(a.shape), " x ", to_text(b.shape));
    if (a.shape.rank < 2 || b.shape.rank < 2) return op.fail(given, ": matrices expected");
    if (a.shape[-1] != b.shape[-2]) return op.fail(given, ": inner dimensions ", a.shape[-1], " and ", b.shape[-2], " differ");
    const auto batch = broadcast(batch_of(a.shape), batch_of(b.shape));
    if (!batch) return op.fail(given, ": leading axes that broadcast expected");
    Shape result = *batch;
    result.push_back(a.shape[-2]);
    result.push_back(b.shape[-1]);
    op.output({result, output});
  }
  static constexpr void gradient(GradientContext& op) {
    // da = dy b^T and db = a^T dy, summed over the leading axes that were broadcast. Where b is one matrix, this sum is part of
    // the product: its rows are all rows of a and dy.
    const Attributes planned{.planner = op.attributes<Attributes>().planner};
    const Tensor dy = ops::cast(op.output_gradient(0), op.input_spec(0).dtype);
    if (op.needs(0))
      op.input_gradient(0, ops::sum_to(apply<MatMul>({dy, swap_last(op.input(1))}, planned), op.input_spec(0).shape));
    if (!op.needs(1)) return;
    const bool one_matrix = op.input_spec(1).shape.rank == 2;
    const Tensor rows_of_a = one_matrix ? all_rows(op.input(0)) : op.input(0), rows_of_dy = one_matrix ? all_rows(dy) : dy;
    op.input_gradient(1, ops::sum_to(apply<MatMul>({swap_last(rows_of_a), rows_of_dy}, planned), op.input_spec(1).shape));
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    const Shape &a = operands[0].shape, &b = operands[1].shape, &c = operands[2].shape;
    Work work;
    for (int axis = 0; axis < c.rank - 2; ++axis) work.add_axis({.extent = c[axis]});
    // The longer one is cut first: a vertex of a few rows would read all of b. For short sums b is small; and the gradient of a
    // weight, which is such a product, should be cut as the other product in the backward pass is.
    const WorkAxis rows{.extent = c[-2], .grain = 8}, columns{.extent = c[-1], .vectorised = true};
    const bool rows_first = c[-2] >= c[-1] || a[-1] <= kernel::short_sum;
    const int first = work.add_axis(rows_first ? rows : columns), second = work.add_axis(rows_first ? columns : rows);
    const int m = rows_first ? first : second, n = rows_first ? second : first;
    const int k = work.add_axis({.extent = a[-1], .kind = WorkAxisKind::reduction, .grain = 8});
    for (int axis = 3; axis <= c.rank; ++axis) {
      work.follow(2, c.rank - axis, c.rank - axis);
      if (axis <= a.rank && a[-axis] != 1) work.follow(0, a.rank - axis, c.rank - axis);
      if (axis <= b.rank && b[-axis] != 1) work.follow(1, b.rank - axis, c.rank - axis);
    }
    work.follow(0, a.rank - 2, m), work.follow(0, a.rank - 1, k);
    work.follow(1, b.rank - 2, k), work.follow(1, b.rank - 1, n);
    work.follow(2, c.rank - 2, m), work.follow(2, c.rank - 1, n);
    return work;
  }
  template <PackedAttributes attributes, class A, class B, class C>
  static void compute(A a, B b, C c, const kernel::Pieces& pieces = {});
  template <PackedAttributes attributes, class C, class Epilogue, class A, class B>
  static void compute_with(const Epilogue& epilogue, A a, B b, const kernel::Pieces& pieces = {});
  template <PackedAttributes attributes, class A, class B, class C>
  static constexpr std::int64_t stack_bytes();
  /// Returns the bytes of compute_with, for an epilogue with this rows_are_one_matrix.
  template <PackedAttributes attributes, bool is_one_matrix, class A, class B, class C>
  static constexpr std::int64_t stack_bytes_with();

  /// Returns the transposed matrices.
  static constexpr Tensor swap_last(Tensor x) {
    Shape order;
    for (int axis = 0; axis < x.rank(); ++axis) order.push_back(axis);
    if (x.rank() >= 2) std::swap(order[-1], order[-2]);
    return ops::transpose(x, order);
  }

 private:
  static constexpr Shape batch_of(const Shape& shape) {
    Shape result = shape;
    result.rank -= 2;
    result.extents[shape.rank - 1] = result.extents[shape.rank - 2] = 0;
    return result;
  }
  template <PackedAttributes attributes, class A, class B, class C>
  static constexpr kernel::MatMulShape matrix() {
    return {.m = C::shape[-2],
            .n = C::shape[-1],
            .k = A::shape[-1],
            .a_m = A::spec.stride(-2),
            .a_k = A::spec.stride(-1),
            .b_k = B::spec.stride(-2),
            .b_n = B::spec.stride(-1),
            .c_m = C::spec.stride(-2),
            .c_n = C::spec.stride(-1),
            .float16_sums = unpack<Attributes>(attributes).planner.rounds_sums(A::spec.dtype)};
  }
  /// Calls f(offsets of operands, number, pieces of the matrix) for each matrix of c in which pieces have a part. A piece is some
  /// matrices, or a part of the only one.
  template <class C, class... V, class F>
  static void for_each_matrix(const kernel::Pieces& pieces, const F& f) {
    constexpr auto strides = batch_strides<C, V...>();
    constexpr std::int64_t matrices = batch_of(C::shape).nelms();
    if constexpr (matrices == 1) {
      f(std::array<std::int64_t, sizeof...(V)>{}, 0, pieces);
    } else {
      const std::int64_t begin = pieces.begin(matrices), end = pieces.end(matrices);
      std::int64_t number = 0;
      for_each_offset<static_cast<int>(sizeof...(V))>(batch_of(C::shape), strides, [&](const auto& at) {
        if (number >= begin && number < end) f(at, number, kernel::Pieces{});
        ++number;
      });
    }
  }
  /// Returns whether b is one matrix and the matrices of a and c can each be merged to one with all rows. In this case, the
  /// kernel packs b only once.
  template <class C, class A, class B>
  static constexpr bool rows_are_one_matrix() {
    return tilewright::rows_are_one_matrix(C::spec, C::shape) && tilewright::rows_are_one_matrix(A::spec, C::shape) &&
           batch_of(B::shape).nelms() == 1;
  }
  template <PackedAttributes attributes, class A, class B, class C>
  static constexpr kernel::MatMulShape rows_of_all() {
    kernel::MatMulShape result = matrix<attributes, A, B, C>();
    result.m *= batch_of(C::shape).nelms();
    return result;
  }
  /// Returns the strides of operands along the leading axes of c; 0 where they are broadcast.
  template <class C, class... V>
  static constexpr auto batch_strides() {
    std::array<std::array<std::int64_t, max_rank>, sizeof...(V)> result{};
    const std::array<ViewSpec, sizeof...(V)> views{V::spec...};
    for (std::size_t o = 0; o < views.size(); ++o)
      for (int axis = 3; axis <= C::shape.rank; ++axis)
        if (axis <= views[o].shape.rank && views[o].shape[-axis] != 1)
          result[o][static_cast<std::size_t>(C::shape.rank - axis)] = views[o].stride(-axis);
    return result;
  }
  /// Merges matrices to one with all rows.
  static constexpr Tensor all_rows(Tensor x) {
    if (x.rank() <= 2) return x;
    return x.reshape({-1, x.shape(-1)});
  }
};

namespace detail {
/// Computes product(a, b) of matrices, or of vectors as a row and a column, and removes the vectors' axes of extent 1 from the
/// result.
template <class Product>
constexpr Tensor multiply_with_vectors(Tensor a, Tensor b, const Product& multiply) {
  if (a.rank() == 0 || b.rank() == 0)
    return a.ir().fail(text("MatMul: ", to_text(a.shape()), " x ", to_text(b.shape()), ": vectors or matrices expected"));
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = a.reshape({1, a.shape(0)});
  if (column) b = b.reshape({b.shape(0), 1});
  const Tensor product = multiply(a, b);
  if (!row && !column) return product;
  Shape result;
  for (int axis = 0; axis < product.rank(); ++axis)
    if (!(row && axis == product.rank() - 2) && !(column && axis == product.rank() - 1)) result.push_back(product.shape(axis));
  return product.reshape(result);
}
}  // namespace detail

namespace ops {
/// Multiplies matrices as NumPy does: (..., m, k) x (..., k, n) to (..., m, n). Leading axes broadcast; a vector on the left is a
/// row, on the right a column. Both dtypes are equal, floating point or integers, which wrap around. Half precision is summed in
/// float32 and rounded once, to `output_type`, an option for floating-point operands. `partials_type` float16 rounds sums of
/// float16 operands after each 16 products, as the units of IPUs do. If the sum is divided into blocks for tiles, the sums of
/// blocks have this dtype, also those of float32 operands. Without the option it is the target's (Target::with_partials_type), by
/// default float32.
/// Gradients: dy b^T and a^T dy, where dy is first rounded to the operands' dtype. Errors: inner extents that differ, leading
/// axes that do not broadcast, scalars, dtypes that differ, options out of range.
///
///     y = ops::matmul(x, w, {.output_type = float32, .partials_type = float16});
[[nodiscard]] constexpr Tensor matmul(Tensor a, Tensor b, const MatMulOptions& options = {}) {
  if (!a.is_usable() || !b.is_usable()) return a.valid() ? b : a;
  const MatMul::Attributes attributes{
      .output_type = options.output_type,
      .planner = PlannerAttributes::make(options.available_memory_proportion, options.partials_type)};
  if (a.rank() > 1 && b.rank() > 1) return apply<MatMul>({a, b}, attributes);  // without two calls more in each error
  return detail::multiply_with_vectors(a, b, [&](Tensor lhs, Tensor rhs) { return apply<MatMul>({lhs, rhs}, attributes); });
}
}  // namespace ops

constexpr Tensor Tensor::matmul(Tensor rhs) const { return ops::matmul(*this, rhs); }

}  // namespace tilewright
