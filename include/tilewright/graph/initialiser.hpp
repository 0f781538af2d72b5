#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/fused.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/core/random/normal.hpp"
#include "tilewright/core/random/random.hpp"
#include "tilewright/core/shape.hpp"
#include "tilewright/core/span.hpp"

namespace tilewright {

/// Function that writes a variable's initial values; a and b are the initialiser's parameters.
using FillFunction = void (*)(Span<double> values, double a, double b, Random& random);

/// Function that computes elements `first`, `first + 1` and so on of a tensor, in row-major order, from their positions; a and b
/// are its parameters. It must be constexpr, because a trace evaluates a few elements.
using GeneratorFunction = void (*)(Span<double> values, std::int64_t first, const Shape& shape, double a, double b);

/// Elements that are computed when a session is created. Neither the compiler nor the executable stores them.
struct Generator {
  GeneratorFunction write = nullptr;  ///< null: no generator
  double a = 0, b = 0;
  int axes = 0;  ///< smallest number of axes of the tensor
  double scale = 1;  ///< factor of the values that `write` computes
  bool is_checked_later = false;  ///< whether a session checks the values, and the compiler none of them
};

/// Initial values of a variable: a fill function with two parameters, a generator, or explicit values. Constants accept
/// generators and values. A session evaluates it when it is created.
struct Initialiser {
  FillFunction fill = nullptr;
  double a = 0;
  double b = 0;
  Numbers values{};  ///< used without fill and generator: one value for each element, or one for all
  Generator generator{};
  double scale = 1;  ///< factor of the values that `fill` computes
  std::int64_t first_zero = 0, zero_count = 0;  ///< elements that are 0 whatever `fill` computes, in row-major order
  bool is_given = false;  ///< whether a session must get the values, see given()
  bool is_in_turn = false;  ///< whether each variable of a factory takes the next of the values, see in_turn()
};

namespace detail {
/// Returns a few elements of a generator: the first two, the last of the first row, and the last of all.
constexpr List<double> sample(const Generator& generator, const Shape& shape) {
  const std::int64_t count = shape.nelms(), columns = shape.rank == 0 ? 1 : shape[-1];
  List<double> elements;
  for (const std::int64_t place : {std::int64_t{0}, count > 1 ? std::int64_t{1} : 0, columns - 1, count - 1}) {
    double element = 0;
    generator.write({&element, 1}, place, shape, generator.a, generator.b);
    elements.push_back(element * generator.scale);
  }
  return elements;
}
// fused() rounds once on every machine, where a product and a sum are rounded once or twice, as the compiler likes.
inline void fill_normal(Span<double> values, double mean, double deviation, Random& random) {
  draw_normal(values, random);
  if (mean == 0)  // fma is slow where the machine has none
    for (auto& value : values) value *= deviation;
  else
    for (auto& value : values) value = fused(deviation, value, mean);
}
constexpr void write_range(Span<double> values, std::int64_t first, const Shape&, double start, double step) {
  for (double& value : values) {
    const auto place = static_cast<double>(first++);
    if (std::is_constant_evaluated()) value = start + step * place;
    else value = fused(step, place, start);
  }
}
/// Writes element(row, column) for the last two axes.
constexpr void write_matrix(Span<double> values, std::int64_t first, const Shape& shape, const auto& element) {
  const std::int64_t columns = shape[-1], rows = shape[-2];
  std::int64_t column = first % columns, row = first / columns % rows;
  for (double& value : values) {
    value = element(row, column);
    if (++column < columns) continue;
    column = 0;
    if (++row == rows) row = 0;
  }
}
constexpr void write_eye(Span<double> values, std::int64_t first, const Shape& shape, double diagonal, double) {
  write_matrix(values, first, shape, [&](std::int64_t row, std::int64_t column) { return row == column ? diagonal : 0; });
}
constexpr void write_causal_mask(Span<double> values, std::int64_t first, const Shape& shape, double masked, double kept) {
  write_matrix(values, first, shape, [&](std::int64_t row, std::int64_t column) { return column > row ? masked : kept; });
}
inline void fill_uniform(Span<double> values, double low, double high, Random& random) {
  for (auto& value : values) value = fused(high - low, random.uniform(), low);
}
/// Function without state of the indices of some axes: a lambda that captures nothing.
template <class F, std::size_t... axis>
constexpr bool takes_indices(std::index_sequence<axis...>) {
  return std::is_empty_v<F> && std::default_initializable<F> &&
         std::is_invocable_r_v<double, F, decltype((axis, std::int64_t()))...>;
}
/// Returns the number of indices that a function takes, or 0.
template <class F>
constexpr int index_count() {
  return takes_indices<F>(std::make_index_sequence<1>())   ? 1
         : takes_indices<F>(std::make_index_sequence<2>()) ? 2
         : takes_indices<F>(std::make_index_sequence<3>()) ? 3
         : takes_indices<F>(std::make_index_sequence<4>()) ? 4
                                                           : 0;
}
/// Writes f(indices...) for the last axes.
template <class F, int axes>
constexpr void write_computed(Span<double> values, std::int64_t first, const Shape& shape, double, double) {
  std::int64_t indices[axes]{};
  for (int i = axes; i-- > 0;) {
    indices[i] = first % shape[i - axes];
    first /= shape[i - axes];
  }
  for (double& value : values) {
    value = [&]<std::size_t... axis>(std::index_sequence<axis...>) {
      return static_cast<double>(F()(indices[axis]...));
    }(std::make_index_sequence<axes>());
    for (int i = axes; i-- > 0;) {
      if (++indices[i] < shape[i - axes]) break;
      indices[i] = 0;
    }
  }
}
template <class F>
void fill_drawn(Span<double> values, double, double, Random& random) {
  for (double& value : values) value = static_cast<double>(F()(random));
}
/// Returns why a generator does not fit a shape: too few axes, a NaN, or a range that is not finite. Empty: it fits.
constexpr Text generator_fault(const Generator& generator, const Shape& shape) {
  if (shape.rank < generator.axes)
    return text("a generator for shape ", to_text(shape), ": at least ", generator.axes, " axes expected");
  const double a = generator.a, b = generator.b;
  if (generator.write == write_range && !(a - a == 0 && b - b == 0))
    return text("range(", number_text(a), ", ", number_text(b), "): finite numbers expected");
  if ((generator.write == write_eye || generator.write == write_causal_mask) && (a != a || b != b))
    return text(generator.write == write_eye ? "eye(" : "causal_mask(", number_text(a),
                generator.write == write_eye ? Text() : text(", ", number_text(b)), "): numbers expected");
  return {};
}
/// Returns what is wrong with random initial values: a dtype without fractions, or numbers that are not finite, or that the
/// distribution does not allow. Empty if nothing is wrong.
constexpr Text random_fault(const Initialiser& initialiser, DType dtype) {
  const bool is_normal = initialiser.fill == fill_normal, is_uniform = initialiser.fill == fill_uniform;
  if (!is_normal && !is_uniform) return {};
  const double a = initialiser.a, b = initialiser.b, width = is_normal ? b : b - a;
  const bool is_floating = is_floating_point(dtype);
  const DType type = is_float8(dtype) ? float64 : dtype;  // numbers of float8 may be scaled
  if (is_floating && is_finite_as(a, type) && is_finite_as(b, type) && width >= 0 && width - width == 0) return {};
  return text(is_normal ? "normal(" : "uniform(", number_text(a), ", ", number_text(b), ") as ", to_text(dtype),
              !is_floating ? ": a floating-point dtype, or drawn_by, expected"
              : is_normal  ? ": finite numbers, the second at least 0, expected"
                           : ": finite numbers, the first at most the second, expected");
}
}  // namespace detail

/// Returns an initialiser with normally distributed values, for floating-point dtypes.
[[nodiscard]] constexpr Initialiser normal(double mean, double standard_deviation) {
  return {detail::fill_normal, mean, standard_deviation};
}
/// Returns an initialiser with uniformly distributed values in [low, high), for floating-point dtypes. Half precision rounds them
/// down.
[[nodiscard]] constexpr Initialiser uniform(double low, double high) { return {detail::fill_uniform, low, high}; }
/// Return initialisers with zeros, or ones, for all elements.
[[nodiscard]] constexpr Initialiser zeros() { return {.values = {0}}; }
[[nodiscard]] constexpr Initialiser ones() { return {.values = {1}}; }
/// Returns an initialiser with one value for all elements. Integers of 64 bits are exact.
[[nodiscard]] constexpr Initialiser full(ExactNumber value) { return {.values = {value}}; }
/// Returns an initialiser with explicit values, row-major. Integers of 64 bits are exact.
[[nodiscard]] constexpr Initialiser values(std::initializer_list<ExactNumber> values) { return {.values = values}; }
[[nodiscard]] constexpr Initialiser values(Span<const double> values) { return {.values = Numbers(values)}; }
/// Returns an initialiser with the values of a std::vector, std::array or std::span of integers, row-major. Integers of 64 bits
/// are exact.
template <class Integers>
  requires(std::constructible_from<Numbers, const Integers&> && !std::convertible_to<const Integers&, Span<const double>>)
[[nodiscard]] constexpr Initialiser values(const Integers& values) {
  return {.values = values};
}

/// Returns an initialiser with f(i), f(i, j), f(i, j, k) or f(i, j, k, l) for each element: a function of the element's indices
/// on the last axes. The tensor has at least that number of axes. `f`: a lambda that captures nothing. A session calls it when it
/// is created, and throws std::invalid_argument for a number that the dtype does not have.
///
///     tw::computed_by([](std::int64_t row, std::int64_t column) { return static_cast<double>(row >= column); })
template <class F>
  requires(detail::index_count<F>() > 0)
[[nodiscard]] constexpr Initialiser computed_by(F) {
  constexpr int axes = detail::index_count<F>();
  return {.generator = {.write = detail::write_computed<F, axes>, .axes = axes, .is_checked_later = true}};
}
/// Returns an initialiser with f(random) for each element, in row-major order: a function that draws from the session's seed.
/// `f`: a lambda that captures nothing. A session calls it when it is created, and throws std::invalid_argument for a number that
/// the dtype does not have.
///
///     tw::drawn_by([](tw::Random& random) { return random.uniform() < 0.1 ? 1.0 : 0.0; })
template <class F>
  requires(std::is_empty_v<F> && std::default_initializable<F> && std::is_invocable_r_v<double, F, Random&>)
[[nodiscard]] constexpr Initialiser drawn_by(F) {
  return {.fill = detail::fill_drawn<F>};
}
/// Returns an initialiser with the values of several tensors, one tensor after the other: `in_turn(values({1, 2, 3, 4}))` for two
/// variables of shape (2,). Each variable that a VariableFactory creates takes the next tensor; with groups of replicas, one for
/// each group. Fails if the values are no whole tensors, or if there are fewer than variables.
[[nodiscard]] constexpr Initialiser in_turn(Initialiser values) {
  values.is_in_turn = true;
  return values;
}

/// Returns an initialiser for a variable whose values are known when a session is created: an array under the variable's name in
/// SessionOptions::arrays, of the host or of a file. Without it, the session's constructor throws std::invalid_argument.
[[nodiscard]] constexpr Initialiser given() { return {.values = {0}, .is_given = true}; }

/// Multiplies an initialiser's values by 2^log2_scale, for variables and constants of float8, as pow2scale_then_cast does.
/// log2_scale is from -32 to 31. A random value that rounds beyond the largest float8 number becomes NaN; for explicit values and
/// generators it is an error.
///
///     ir.variable(tw::pow2scaled(tw::normal(0, 0.02), 6), {512, 512}, tw::float8_143, "weight")
[[nodiscard]] constexpr Initialiser pow2scaled(Initialiser initialiser, int log2_scale) {
  const double scale = detail::power_of_two("pow2scaled", log2_scale);
  initialiser.scale *= scale;
  initialiser.generator.scale *= scale;
  initialiser.values = initialiser.values.scaled(scale);
  return initialiser;
}

/// Returns an initialiser with start, start + step, start + 2 step and so on, in row-major order. Integers are exact up to 2^53.
[[nodiscard]] constexpr Initialiser range(double start = 0, double step = 1) {
  return {.generator = {detail::write_range, start, step}};
}
/// Returns an initialiser with `diagonal` where the last two axes have equal indices, and 0 elsewhere. The tensor has at least 2
/// axes.
[[nodiscard]] constexpr Initialiser eye(double diagonal = 1) { return {.generator = {detail::write_eye, diagonal, 0, 2}}; }
/// Returns a mask to add to the scores of attention, so that a query sees no later key. The last axis has the keys, the axis
/// before it the queries. Elements are `masked` where the key's index is above the query's, and `kept` elsewhere. The tensor has
/// at least 2 axes. For int32 or bool, pass both values.
[[nodiscard]] constexpr Initialiser causal_mask(double masked = -std::numeric_limits<double>::infinity(), double kept = 0) {
  return {.generator = {detail::write_causal_mask, masked, kept, 2}};
}

}  // namespace tilewright
