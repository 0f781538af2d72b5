#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct LinearRecurrence : OpTest {
  static constexpr std::string_view op = "LinearRecurrence";
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = true;
  static constexpr auto recurrence(int axis = 0) {
    return [=](Tensor a, Tensor b) { return ops::linear_recurrence(a, b, axis); };
  }
  static constexpr auto of_terms(int axis = 0) {
    return [=](Tensor b, Tensor a) { return ops::linear_recurrence(a, b, axis); };
  }
  static constexpr auto cumprod(int axis = 0) {
    return [=](Tensor x) { return ops::cumprod(x, axis); };
  }
  /// y(i) as a recursive function.
  static void meanings(auto& m) {
    m.by_index(op, [](const tw::Node& node, Inputs inputs, const Index& index, auto element_of) {
      const auto [axis, transposed, start] = tw::unpack<tw::LinearRecurrence::Attributes>(node.attributes);
      const std::int64_t step = transposed ? 1 : -1, extent = inputs[0].extent(static_cast<int>(axis));
      const auto y = [&](auto self, Index here) -> double {
        Index next = here;
        next[at(axis)] += step;
        const std::int64_t i = next[at(axis)];
        const double term = element_of(inputs[1], here);
        if (transposed) return i == extent ? term : element_of(inputs[0], next) * self(self, next) + term;
        return element_of(inputs[0], here) * (i < 0 ? start : self(self, next)) + term;
      };
      return y(y, index);
    });
  }
  static constexpr void cases(const auto& c) {
    const auto add = [&](std::string_view name, auto call, const auto&... inputs) {
      if (c.dtype == tw::float64) c.add(name, call, inputs...);
      else c.add_forward(name, call, inputs...);  // sums of gradients cancel
    };
    const auto transposed = [](Tensor a, Tensor b) { return tw::apply<tw::LinearRecurrence>({a, b}, {1, 1, 0}); };
    add("recurrence", recurrence(), c.real({5, 19}), c.real({5, 19}));
    add("recurrence_of_terms", of_terms(), c.real({5, 19}), c.real({5, 19}));
    add("recurrence_of_rows", recurrence(-1), c.real({2, 3, 7}), c.real({2, 3, 7}));
    add("recurrence_of_middle", recurrence(1), c.real({2, 3, 40}), c.real({2, 3, 40}));
    add("recurrence_of_one", recurrence(1), c.real({3, 1}), c.real({3, 1}));
    add(
        "recurrence_view", [](Tensor a, Tensor b) { return ops::linear_recurrence(a.T(), b[back]); }, c.real({3, 5}),
        c.real({5, 3}));
    add("recurrence_transposed", transposed, c.real({3, 4}), c.real({3, 4}));
    add("recurrence_transposed_of_terms", [=](Tensor b, Tensor a) { return transposed(a, b); }, c.real({3, 4}), c.real({3, 4}));
    add(
        "recurrence_into_views",
        [](Tensor a, Tensor b) {
          const Tensor last = ops::flip(ops::linear_recurrence(ops::flip(a), ops::flip(b)));
          return ops::concat({last, ops::linear_recurrence(a, b, 1)}, 1).transpose({1, 0});
        },
        c.real({5, 3}), c.real({5, 3}));
    add("cumprod", cumprod(), c.real({5, 19}));
    add("cumprod_of_rows", cumprod(1), c.real({2, 7}));
    c.add_forward("cumprod_of_integers", cumprod(1), c.ints({3, 40}));
    c.add_forward("cumprod_of_bytes", cumprod(), spec_of(tw::int8, {4, 19}));
    const auto edges = [](Tensor x) {
      const auto row = [&](double number) { return x.ir().constant({number}, {1, 64}, x.dtype()); };
      return ops::cumprod(ops::concat({x.reshape({1, 64}), row(-1), row(0)}));
    };
    c.add_forward("cumprod_edges", edges, c.real({64}));
  }
  static constexpr void compared(In<second_of_functions>, const auto& c) {
    c.add("recurrence", [](Tensor a, Tensor b) { return ops::linear_recurrence(a, b, 1); }, f64(2, 4), f64(2, 4));
    c.add("cumprod", [](Tensor x) { return joined(ops::cumprod(x), ops::cumprod(x, -1)); }, f64(3, 4));
  }
  static constexpr void shapes(const auto& s) {
    s.result(i32(2, 3), recurrence(-1), i32(2, 3), i32(2, 3));
    s.result(f16(2, 3), cumprod(-2), f16(2, 3));
    s.error("LinearRecurrence: (2,) and (3,): equal shapes expected, in graph", recurrence(), f32(2), f32(3));
    s.error("LinearRecurrence: (2,) float32 and (2,) int32: equal dtypes expected, in graph", recurrence(), f32(2), i32(2));
    s.error("LinearRecurrence: (2,) bool: a dtype other than bool expected: cast it first, in graph", cumprod(), bools(2));
    s.error("LinearRecurrence: axis 0 of a scalar: a tensor with axes expected, in graph", cumprod(), f32());
    s.error("LinearRecurrence: axis 1 of a tensor of rank 1: an axis from -1 to 0 expected, in graph", recurrence(1), f32(2),
            f32(2));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool) {
    if (!x.is_real() || x.rank() == 0) return std::nullopt;
    const int axis = random.below(x.rank());
    if (random.one_in(2)) return Step{ops::cumprod(ops::sigmoid(x.tensor), axis), {0, 1}};
    const double bound = x.bound() * static_cast<double>(x.tensor.shape(axis));
    if (bound > 32) return std::nullopt;
    return Step{ops::linear_recurrence(ops::sigmoid(x.tensor), x.tensor, axis), {-bound, bound}};
  }
  static void numbers(auto& list) {
    list.narrow("cumprod.axis", list.from(-4, 3), [](auto& s, auto n) { return ops::cumprod(s.x, static_cast<int>(n)); });
    list.narrow("linear_recurrence.axis", list.from(-4, 3),
                [](auto& s, auto n) { return ops::linear_recurrence(s.x, s.x, static_cast<int>(n)); });
  }
  static constexpr void handles(auto& list) {
    list.add("cumprod", [] { (void)ops::cumprod(Tensor()); });
    list.add("linear_recurrence", [] { (void)ops::linear_recurrence(Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
