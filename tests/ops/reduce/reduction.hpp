#pragma once
#include <algorithm>
#include <vector>

#include "../op_test.hpp"

namespace op_tests {

/// Axes to reduce, and how many elements of a tensor come together in one.
struct ReducedAxes {
  tw::Axes axes{};
  std::int64_t count = 1;

  constexpr ReducedAxes(Random& random, const Known& x) {
    const int rank = x.rank();
    if (rank == 0 || random.one_in(4)) {
      count = x.tensor.nelms();
      return;
    }
    axes.all = false;
    const int first = random.below(rank), second = random.below(rank);
    for (int axis : {first, second}) {
      if (axis == second && (axis == first || !random.one_in(3)) && !axes.list.empty()) continue;
      axes.list.push_back(random.one_in(3) ? axis - rank : axis);
      count *= x.tensor.shape(axis);
    }
  }
};

using Line = std::vector<double>;  ///< the elements that one of the result is made of
using Reduction = Tensor (*)(Tensor, const tw::Axes&, tw::Flag);

/// D has `op` and `function`, their names, `call`, `value(line)` and `elements(x, count, gradients)`, those of a result of so
/// many.
template <class D>
struct ReductionTest : OpTest {
  static constexpr Input input = Input::numbers;
  static constexpr bool takes_integers = true, has_edges_of_columns = false, is_selection = false, has_ties = false;
  static constexpr Tensor all(Tensor x) { return D::call(x, {}, false); }
  template <int axis>
  static constexpr Tensor over(Tensor x) {
    return D::call(x, axis, false);
  }

  static void meanings(auto& m) { m.reduction(D::op, D::value); }
  static constexpr void fixtures(const auto& c) {
    const auto add = [&](Program program, std::string_view form, Function function, const tw::Shape& shape) {
      c.add(program, tw::text(D::function, form).view(), function, shape);
    };
    const Program program = D::is_selection ? selections : sums_of_functions;
    add(program, "", all, {2, 3, 4});
    add(program, "_rows", over<-1>, {2, 35});
    add(program, "_columns", over<0>, {3, 19});
    add(program, "_axes", [](Tensor x) { return D::call(x, {0, 2}, true); }, {2, 3, 4});
    add(program, "_transposed", [](Tensor x) { return D::call(x.T(), 1, false); }, {2, 2, 19});
    add(ties, "_scalar", all, {});
    for (const Program each : {reduced_half, reduced_double}) add(each, "", over<1>, {2, 19});
    add(reduced_floats, "", over<1>, {2, 7});
    add(in_tiles, "", all, {5, 34});
    add(in_parts, "", all, {2, 70});
    if (!D::has_ties) return;
    add(ties, "_ties_rows", over<1>, {3, 37});
    add(ties, "_ties_columns", over<0>, {4, 21});
    add(ties, "_ties_all", all, {4, 19});
    add(ties, "_nan_rows", over<1>, {5, 19});
    add(ties, "_nan_columns", over<0>, {5, 19});
  }
  static constexpr void edges(const auto& c) {
    c.add(D::function, over<1>, c.real({3, 4}));
    if (D::has_edges_of_columns) c.add(tw::text(D::function, "_columns").view(), over<0>, c.real({3, 4}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(), all, f32(2, 3));
    s.result(f32(2), over<-1>, f32(2, 3));
    s.result(f32(1, 1), [](Tensor x) { return D::call(x, {}, true); }, f32(2, 3));
    s.result(f32(1, 3, 1), [](Tensor x) { return D::call(x, {0, 2}, true); }, f32(2, 3, 4));
    s.result(f32(2, 3), [](Tensor x) { return D::call(x, tw::Shape{}, false); }, f32(2, 3));
    for (const DType dtype : {tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64})
      if (D::takes_integers) s.result({{}, dtype}, all, TensorSpec{{2}, dtype});
    for (const DType dtype : {tw::float16, tw::float64}) s.result({{}, dtype}, all, TensorSpec{{2}, dtype});
    const auto error = [](std::string_view text) { return tw::text(D::op, ": ", text, " expected, in graph"); };
    s.error(error("axis 2 of a tensor of rank 2: an axis from -2 to 1").view(), over<2>, f32(2, 3));
    s.error(error("axis 1 twice: distinct axes").view(), [](Tensor x) { return D::call(x, {1, -1}, false); }, f32(2, 3));
    if (D::takes_integers)
      s.error(tw::text(D::op, ": (2,) bool: a dtype other than bool expected: cast it first, in graph").view(), all, bools(2));
    else s.error(error("(2,) int32: float16, float32, float64 or bfloat16").view(), all, i32(2));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool gradients) {
    const ReducedAxes reduced(random, x);
    const Result result = D::elements(x, reduced.count, gradients);
    return result ? std::optional(Step{D::call(x.tensor, reduced.axes, random.one_in(2)), *result}) : std::nullopt;
  }
  static void numbers(auto& list) {
    const std::string function(D::function);
    list.whole(function + ".axes", {-4, 3}, [](auto& s, auto n) { return D::call(s.x, {n}, false); });
  }
  static constexpr void handles(auto& list) {
    list.add(D::function, [] { (void)all(Tensor()); });
  }
};

}  // namespace op_tests
