#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Triangle : OpTest {
  static constexpr std::string_view op = "Triangle";
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = true;
  static void meanings(auto& m) {
    m.at_each_index(op, [](const tw::Node& node, const auto& index, double x) {
      const auto [diagonal, upper] = tw::unpack<tw::Triangle::Attributes>(node.attributes);
      const std::int64_t above = index.back() - *(index.end() - 2) - diagonal;
      return (upper != 0 ? above >= 0 : above <= 0) ? x : 0;
    });
  }
  static constexpr void cases(const auto& c) {
    const auto lower = [&](std::string_view name, int diagonal, const tw::Shape& shape) {
      c.add(name, [=](Tensor x) { return ops::tril(x, diagonal); }, c.real(shape));
    };
    const auto upper = [&](std::string_view name, int diagonal, const tw::Shape& shape) {
      c.add(name, [=](Tensor x) { return ops::triu(x, diagonal); }, c.real(shape));
    };
    lower("tril", 0, {5, 5});
    lower("tril_wide", 2, {3, 19});
    lower("tril_of_batches", -1, {2, 3, 4, 3});
    lower("tril_of_nothing", -9, {4, 3});
    upper("triu", 0, {5, 5});
    upper("triu_high", -3, {17, 5});
    upper("triu_of_all", std::numeric_limits<int>::min(), {4, 3});
    upper("triu_of_nothing", std::numeric_limits<int>::max(), {4, 3});
    c.add("tril_of_view", [](Tensor x) { return ops::tril(x.transpose({1, 0}), 1); }, c.real({5, 3}));
    c.add_forward("triu_of_integers", [](Tensor x) { return ops::triu(x, 1); }, c.ints({3, 4}));
    c.add_forward("tril_of_bools", [](Tensor x) { return ops::tril(x, 1); }, bools(3, 4));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2, 3, 4), [](Tensor x) { return ops::tril(x, -1); }, f32(2, 3, 4));
    s.error(
        "Triangle: (3,) float32: matrices, of at least 2 axes, expected, in graph", [](Tensor x) { return ops::triu(x); },
        f32(3));
  }
  static constexpr std::optional<Step> random(const Known& x, Random& random, bool) {
    if (x.rank() < 2) return std::nullopt;
    const int diagonal = random.below(7) - 3;
    const Elements with_0{smaller(x.elements.low, 0), larger(x.elements.high, 0), x.elements.grain, x.elements.slope};
    return Step{random.one_in(2) ? ops::tril(x.tensor, diagonal) : ops::triu(x.tensor, diagonal), with_0};
  }
  static void numbers(auto& list) {
    list.narrow("tril.diagonal", list.everything, [](auto& s, auto n) { return ops::tril(s.x, static_cast<int>(n)); });
    list.narrow("triu.diagonal", list.everything, [](auto& s, auto n) { return ops::triu(s.x, static_cast<int>(n)); });
  }
  static constexpr void handles(auto& list) {
    list.add("tril", [] { (void)ops::tril(Tensor()); });
    list.add("triu", [] { (void)ops::triu(Tensor()); });
  }
};

}  // namespace op_tests
