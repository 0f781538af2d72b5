#pragma once
#include "tilewright/op/planner_options.hpp"
#include "tilewright/ops/index/scatter.hpp"
#include "tilewright/ops/nn/softmax.hpp"
#include "tilewright/ops/shape/concat.hpp"
#include "tilewright/ops/shape/slice.hpp"

namespace tilewright {

namespace detail {
/// Returns the number of an op's axis, counted from the first axis, or -1 after a failure. The op works on lines of numbers.
constexpr int require_line(Inference& op, std::int64_t axis) {
  return op.require_number_dtype(0) ? op.require_axis(axis, op.input(0).shape.rank) : -1;
}
/// Fails if the axis of input 0 has more elements than `dtype`, int32 or uint32, has indices.
constexpr bool require_indices(Inference& op, int axis, DType dtype) {
  const std::int64_t most = std::int64_t{1} << (dtype == int32 ? 31 : 32);
  if (op.input(0).shape[axis] <= most) return true;
  op.fail(to_text(op.input(0)), " along axis ", axis, ": at most ", most, " elements, the indices of ", to_text(dtype),
          ", expected");
  return false;
}
/// Converts an axis that is counted from the last, such as -1, to one that is counted from the first. Returns it unchanged if
/// the tensor has no such axis.
constexpr std::int64_t from_first(const Tensor& x, int axis) {
  return x.valid() && axis < 0 && axis >= -x.rank() ? axis + x.rank() : axis;
}
/// Base of ops on whole lines along `axis`, an attribute. Operands have all axes of operand 0, with any extent along the line, or
/// all except the line's.
template <class D>
struct LineResultOp : Op<D> {
  // Loops, not arrays: an element of a running sum, a sort or a search depends on those before it.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const Shape& shape = operands[0].shape;
    const std::int64_t line = unpack<typename D::Attributes>(packed).axis;
    Work work;
    for (int axis = 0; axis < shape.rank; ++axis) {
      if (axis == line) {
        work.add_axis({.extent = 1, .kind = WorkAxisKind::whole});
        continue;
      }
      work.add_axis({.extent = shape[axis], .vectorised = axis == shape.rank - 1});
      for (int operand = 0; operand < static_cast<int>(operands.size()); ++operand)
        if (operands[static_cast<std::size_t>(operand)].shape.rank == shape.rank) work.follow(operand, axis, axis);
        else work.follow(operand, axis - (axis > line), axis);
    }
    return work;
  }
};
}  // namespace detail

/// Base of ArgMax and ArgMin. D defines `name`.
template <class D, bool largest>
struct ArgOp : detail::LineResultOp<D> {
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  constexpr operator VertexCost() const { return reduction_cost({3, 2}, {3, 4}); }
  static constexpr Differentiation differentiation = Differentiation::stops;
  struct Attributes {
    std::int64_t axis = 0;  ///< counted from the first
    std::int64_t keep_axis = 0;
  };
  static constexpr void infer(Inference& op) {
    const auto attributes = op.template attributes<Attributes>();
    const int line = detail::require_line(op, attributes.axis);
    if (line < 0 || !detail::require_indices(op, line, uint32)) return;
    Shape result;
    for (int axis = 0; axis < op.input(0).shape.rank; ++axis)
      if (axis != line) result.push_back(op.input(0).shape[axis]);
      else if (attributes.keep_axis != 0) result.push_back(1);
    op.output({result, op.input(0).shape[line] > std::int64_t{1} << 31 ? uint32 : int32});
  }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
  template <PackedAttributes A, class X, class Y>
  static constexpr std::int64_t stack_bytes();
};
struct ArgMax : ArgOp<ArgMax, true> {
  static constexpr std::string_view name = "ArgMax";
};
struct ArgMin : ArgOp<ArgMin, false> {
  static constexpr std::string_view name = "ArgMin";
};

/// Running sums along an axis.
struct CumSum : detail::LineResultOp<CumSum> {
  static constexpr std::string_view name = "CumSum";
  constexpr operator VertexCost() const { return line_cost(1, {3, 1}, {3, 1}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::reduction}; }
  struct Attributes {
    std::int64_t axis = 0;  ///< counted from the first
    std::int64_t reversed = 0;
  };
  static constexpr void infer(Inference& op) {
    if (detail::require_line(op, op.attributes<Attributes>().axis) >= 0) op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const auto forward = op.attributes<Attributes>();
    op.input_gradient(0, apply<CumSum>({op.output_gradient(0)}, {forward.axis, !forward.reversed}));
  }
  template <PackedAttributes A, class X, class Y>
  static void compute(X x, Y y);
  template <PackedAttributes A, class X, class Y>
  static constexpr std::int64_t stack_bytes();
};

/// Linear recurrences along an axis: inputs a and b, result y(i) = a(i) y(i - 1) + b(i).
struct LinearRecurrence : detail::LineResultOp<LinearRecurrence> {
  static constexpr std::string_view name = "LinearRecurrence";
  constexpr operator VertexCost() const { return line_cost(1, {4, 1}, {4, 1}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::line, .code_kind = CodeKind::reduction}; }
  struct Attributes {
    std::int64_t axis = 0;  ///< counted from the first
    std::int64_t transposed = 0;  ///< y(i) = a(i + 1) y(i + 1) + b(i) instead: the transposed matrix of the map of b
    double start = 0;  ///< y(-1); 0 if transposed
  };
  static constexpr void infer(Inference& op) {
    if (detail::require_line(op, op.attributes<Attributes>().axis) < 0 || !op.require_equal_dtypes(0, 1)) return;
    if (op.input(0) != op.input(1))
      return op.fail(to_text(op.input(0).shape), " and ", to_text(op.input(1).shape), ": equal shapes expected");
    op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op) {
    const auto [axis, transposed, start] = op.attributes<Attributes>();
    const Tensor of_dy = apply<LinearRecurrence>({op.input(0), op.output_gradient(0)}, {axis, !transposed, 0});
    if (op.needs(1)) op.input_gradient(1, of_dy);
    const int line = static_cast<int>(axis);
    TensorSpec first = op.input_spec(0);
    const std::int64_t extent = std::exchange(first.shape[line], 1);
    if (!op.needs(0) || extent == 0) return;
    const Tensor forwards = transposed ? of_dy : op.output(0), backwards = transposed ? op.output(0) : of_dy;
    const Tensor from_start = ops::concat({op.ir().constant({start}, first.shape, first.dtype), forwards}, line);
    op.input_gradient(0, backwards * ops::slice(from_start, 0, extent, {}, line));
  }
  template <PackedAttributes packed, class A, class B, class Y>
  static void compute(A a, B b, Y y) {
    using Number = compute_t<typename Y::element>;
    constexpr auto attributes = unpack<Attributes>(packed);
    constexpr bool transposed = attributes.transposed != 0;
    constexpr int line = static_cast<int>(attributes.axis), last = Y::shape.rank - 1;
    constexpr std::int64_t extent = Y::shape[line], columns = line == last ? 1 : Y::shape[last], together = 16;
    constexpr auto others = [] {
      std::pair<Shape, std::array<std::array<std::int64_t, max_rank>, 3>> result{};
      for (int axis = 0; axis < last; ++axis) {
        if (axis == line) continue;
        const auto at = static_cast<std::size_t>(result.first.rank);
        result.second[0][at] = A::spec.stride(axis), result.second[1][at] = B::spec.stride(axis);
        result.second[2][at] = Y::spec.stride(axis);
        result.first.push_back(Y::shape[axis]);
      }
      return result;
    }();
    const auto element = [](auto view, std::int64_t offset, std::int64_t i, std::int64_t column) -> auto& {
      return view.data[offset + i * view.spec.stride(line) + (line == last ? 0 : column * view.spec.stride(last))];
    };
    for_each_offset<3>(others.first, others.second, [&](const auto& at) {
      for (std::int64_t from = 0; from < columns; from += together) {
        Number values[together];
        std::fill_n(values, together, static_cast<Number>(attributes.start));
        for (std::int64_t step = 0; step < extent; ++step) {
          const std::int64_t i = transposed ? extent - 1 - step : step;
          for (std::int64_t column = from; column < (std::min)(from + together, columns); ++column) {
            Number& value = values[column - from];
            const Number factor = transposed && step == 0 ? Number(0)
                                                          : static_cast<Number>(element(a, at[0], i + transposed, column));
            value = math::fma(factor, value, static_cast<Number>(element(b, at[1], i, column)));
            element(y, at[2], i, column) = static_cast<typename Y::element>(value);
          }
        }
      }
    });
  }
};

/// The gradient of TopK: inputs (dy, indices), result dx.
struct TopKGrad : detail::LineResultOp<TopKGrad> {
  static constexpr std::string_view name = "TopKGrad";
  constexpr operator VertexCost() const { return line_cost(2, {8, 1}, {8, 1}); }
  struct Attributes {
    std::int64_t axis = 0;
    std::int64_t extent = 0;  ///< of x along the axis
  };
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    TensorSpec dx = op.input(0);
    dx.shape[static_cast<int>(attributes.axis)] = attributes.extent;
    op.output(dx);
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const TensorSpec dy = op.input_spec(0);
    op.input_gradient(0, apply<GatherElements>({op.output_gradient(0), op.input(1)},
                                               {op.attributes<Attributes>().axis, detail::axis_list(dy.shape)}));
  }
  template <PackedAttributes A, class DY, class Indices, class DX>
  static void compute(DY dy, Indices indices, DX dx);
};
struct TopK : detail::LineResultOp<TopK> {
  static constexpr std::string_view name = "TopK";
  constexpr operator VertexCost() const { return line_cost(1, {40, 1}, {40, 1}); }
  struct Attributes {
    std::int64_t k = 0;
    std::int64_t axis = 0;  ///< counted from the first
    std::int64_t largest = 1;
    double available_memory_proportion = detail::no_proportion;  ///< reserved for planners
  };
  constexpr operator OpTexts() const { return OpTexts{.options = options}; }
  static constexpr Text options(const PackedAttributes& packed) {
    return detail::proportion_option(unpack<Attributes>(packed).available_memory_proportion);
  }
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const int axis = detail::require_line(op, attributes.axis);
    if (axis < 0 || !detail::require_indices(op, axis, int32) ||
        !detail::require_proportion(op, attributes.available_memory_proportion))
      return;
    TensorSpec result = op.input(0);
    if (attributes.k < 1 || attributes.k > result.shape[axis])
      return op.fail(attributes.k, " of axis ", axis, " of ", to_text(result), ": from 1 to ", result.shape[axis], " expected");
    result.shape[axis] = attributes.k;
    op.output(result);
    op.output({result.shape, int32});
  }
  static constexpr void gradient(GradientContext& op) {
    if (!op.needs(0)) return;
    const auto axis = op.attributes<Attributes>().axis;
    op.input_gradient(
        0, apply<TopKGrad>({op.output_gradient(0), op.output(1)}, {axis, op.input_spec(0).shape[static_cast<int>(axis)]}));
  }
  template <PackedAttributes A, class X, class Values, class Indices>
  static void compute(X x, Values values, Indices indices);
  template <PackedAttributes A, class X, class Values, class Indices>
  static constexpr std::int64_t stack_bytes();
};

/// Numbers of elements between levels: inputs (x, levels).
struct Histogram : Op<Histogram> {
  static constexpr std::string_view name = "Histogram";
  constexpr operator VertexCost() const { return reduction_cost({12, 1}, {12, 1}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::reduction}; }
  static constexpr Differentiation differentiation = Differentiation::stops;
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  struct Attributes {
    std::int64_t absolute = 0;
  };
  static constexpr void infer(Inference& op) {
    constexpr std::int64_t most = (std::numeric_limits<std::uint32_t>::max)();
    if (!op.require_floating_point(0)) return;
    if (op.input(0).nelms() > most)
      return op.fail(to_text(op.input(0)), ": at most ", most, " elements, the counts of uint32, expected");
    op.output({{op.input(1).nelms() - 1}, uint32});
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    for (int axis = 0; axis < operands[0].shape.rank; ++axis) {
      work.add_axis({.extent = operands[0].shape[axis], .kind = WorkAxisKind::reduction});
      work.follow(0, axis, axis);
    }
    return work;
  }
  template <PackedAttributes A, class X, class Levels, class Counts>
  static void compute(X x, Levels levels, Counts counts);
};

/// Result of topk.
struct ValuesAndIndices {
  Tensor values, indices;
};

namespace ops {
/// Returns the index of the largest element along an axis. x: any number type except bool, at least one axis. Result: int32, or
/// uint32 if the axis has more than 2^31 elements; x's shape without the axis, or with extent 1 if `keep_axis`. Of equal
/// elements, the first counts. NaN counts as the largest, and of several NaN the first counts. No gradient. Errors: an axis out
/// of range or of more than 2^32 elements, a scalar, bool.
[[nodiscard]] constexpr Tensor argmax(Tensor x, int axis = 0, Flag keep_axis = false) {
  return apply<ArgMax>({x}, {detail::from_first(x, axis), keep_axis});
}
/// Returns the index of the smallest element along an axis; NaN counts as the smallest. Shapes, dtypes and errors are those of
/// argmax.
[[nodiscard]] constexpr Tensor argmin(Tensor x, int axis = 0, Flag keep_axis = false) {
  return apply<ArgMin>({x}, {detail::from_first(x, axis), keep_axis});
}
/// Returns running sums along an axis: each includes its own element. x: any number type, at least one axis. The result has x's
/// shape and dtype; integers wrap around. Gradient: the sums of dy from each element to the end.
[[nodiscard]] constexpr Tensor cumsum(Tensor x, int axis = 0) { return apply<CumSum>({x}, {detail::from_first(x, axis), 0}); }
/// Returns running products along an axis: each includes its own element. x: any number type, at least one axis. The result has
/// x's shape and dtype; integers wrap around. The gradient divides by no element, so that elements may be 0.
[[nodiscard]] constexpr Tensor cumprod(Tensor x, int axis = 0) {
  if (!x.is_usable()) return x;
  const Tensor none = ops::expand(x.ir().constant({-0.0}, {}, x.dtype()), x.shape());  // -0 keeps the sign of a zero
  return apply<LinearRecurrence>({x, none}, {detail::from_first(x, axis), 0, 1});
}
/// Returns y with y(i) = factors(i) y(i - 1) + terms(i) along an axis, where y(-1) is 0: discounted sums, or the states of a
/// linear filter. From the last element on: flip the arguments and the result. factors and terms: one number type and shape, at
/// least one axis. The result has theirs; integers wrap around. Gradients: g(i) = factors(i + 1) g(i + 1) + dy(i) for terms, and
/// g(i) y(i - 1) for factors. Errors: different shapes or dtypes, an axis out of range, bool.
[[nodiscard]] constexpr Tensor linear_recurrence(Tensor factors, Tensor terms, int axis = 0) {
  return apply<LinearRecurrence>({factors, terms}, {detail::from_first(factors, axis), 0, 0});
}
/// Returns the k largest elements along an axis in descending order and their indices, or the k smallest in ascending order. x:
/// any number type except bool, at least one axis. Results: x's dtype, and int32, both of x's shape with extent k. Of equal
/// elements, the first comes first; NaN counts as the largest. `sorted` = false allows any order, and currently has no effect.
/// Gradient: dy at the elements, 0 elsewhere. `available_memory_proportion`, from 0 to 1, is deprecated: it has no effect.
/// Errors: k below 1 or above the axis's extent, an axis out of range or of more than 2^31 elements, a scalar, bool.
[[nodiscard]] constexpr ValuesAndIndices topk(Tensor x, std::int64_t k, int axis = -1, Flag largest = true,
                                              [[maybe_unused]] Flag sorted = true,
                                              const detail::NoEffect<std::optional<double>>& available_memory_proportion = {}) {
  Ir& ir = x.ir();
  const auto results = apply_all<TopK>(
      ir, {&x, 1}, {k, detail::from_first(x, axis), largest, detail::proportion_or_none(available_memory_proportion.value)});
  return {at_or_invalid(ir, results, 0), at_or_invalid(ir, results, 1)};
}
/// Counts the elements between levels, one count for each pair of neighbouring levels. A pair includes its first level and
/// excludes its second; the last pair includes both. Elements below the first level or above the last, and NaN, are not counted.
/// x: float16, bfloat16, float32 or float64 of any shape; `absolute_of_input` counts |x|. Result: uint32, one element less than
/// levels. (PopXL's documentation says the same; its device also counts the elements outside, in two more bins.) No gradient.
/// Errors: fewer than two levels, levels that do not increase, or 2^32 elements or more.
[[nodiscard]] constexpr Tensor histogram(Tensor x, const List<double>& levels, bool absolute_of_input = false) {
  Ir& ir = x.ir();
  if (!x.is_usable()) return x;
  if (levels.size() < 2) return ir.fail(text("Histogram: ", levels.size(), " levels: at least 2 expected"));
  for (std::size_t i = 1; i < levels.size(); ++i)
    if (!(levels[i - 1] < levels[i]))
      return ir.fail(text("Histogram: level ", number_text(levels[i]), " after ", number_text(levels[i - 1]),
                          ": levels that increase expected"));
  const Shape shape{static_cast<std::int64_t>(levels.size())};
  return apply<Histogram>({x, ir.constant(levels, shape, x.dtype() == float64 ? float64 : float32)}, {absolute_of_input});
}
}  // namespace ops

}  // namespace tilewright
