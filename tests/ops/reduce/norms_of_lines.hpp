#pragma once
#include "sums.hpp"

namespace op_tests {

struct L1 : ReductionTest<L1> {
  static constexpr std::string_view op = "ReduceL1", function = "l1";
  static constexpr Input input = Input::kinked;
  static constexpr Reduction call = ops::l1;
  static double value(const Line& line) {
    double sum = 0;
    for (const double x : line) sum += std::abs(x);
    return sum;
  }
  static constexpr void fixtures(const auto& c) {
    ReductionTest::fixtures(c);
    c.add(ties, "l1_zero", all, {4, 5});
  }
  static constexpr Result elements(const Known& x, std::int64_t count, bool) {
    return random_programs::times({0, x.bound(), x.elements.grain, x.elements.slope}, count);
  }
};
struct L2 : ReductionTest<L2> {
  static constexpr std::string_view op = "ReduceL2", function = "l2";
  static constexpr Input input = Input::real;
  static constexpr bool takes_integers = false, has_edges_of_columns = true;
  static constexpr Reduction call = ops::l2;
  static double value(const Line& line) { return std::sqrt(SumSquare::value(line)); }
  static constexpr void fixtures(const auto& c) {
    ReductionTest::fixtures(c);
    c.add(ties, "l2_zero", over<1>, {2, 3});
    c.add(at_edges, "l2", over<1>, {2, 3});
    c.add(at_edges_of_float32, "l2_rows", over<1>, {5, 2});
    c.add(at_edges_of_float32, "l2_columns", over<0>, {2, 5});
    c.add(at_edges_of_float32, "l2_all", all, {3});
  }
  static constexpr Result elements(const Known& x, std::int64_t count, bool gradients) {
    if (gradients && !x.elements.positive()) return std::nullopt;  // the root of 0 has no derivative
    return {{0, x.bound() * static_cast<double>(count)}};
  }
};
struct LogSum : ReductionTest<LogSum> {
  static constexpr std::string_view op = "ReduceLogSum", function = "logsum";
  static constexpr Input input = Input::positive;
  static constexpr bool takes_integers = false;
  static constexpr Reduction call = ops::logsum;
  static double value(const Line& line) { return std::log(Sum::value(line)); }
  static constexpr Result elements(const Known& x, std::int64_t count, bool) {
    return {{-2.8, larger(x.elements.high, 0) + 0.4 * static_cast<double>(count)}};
  }
};
struct LogSumExp : ReductionTest<LogSumExp> {
  static constexpr std::string_view op = "ReduceLogSumExp", function = "logsumexp";
  static constexpr Input input = Input::real;
  static constexpr bool takes_integers = false, has_edges_of_columns = true;
  static constexpr Reduction call = ops::logsumexp;
  static double value(const Line& line) {
    const double largest = *std::ranges::max_element(line);
    double sum = 0;
    for (const double x : line) sum += std::exp(x - largest);
    return largest + std::log(sum);
  }
  static constexpr void fixtures(const auto& c) {
    ReductionTest::fixtures(c);
    c.add(at_edges, "logsumexp", over<1>, {2, 3});
    for (const auto name : {"logsumexp_infinite", "logsumexp_large"}) c.add(at_edges_of_exponents, name, over<1>, {4, 2});
    c.add_forward(ties, "logsumexp_large", over<1>, {6, 3});
    c.add_forward(in_parts, "logsumexp_large", over<1>, {6, 150});
  }
  static constexpr Result elements(const Known& x, std::int64_t count, bool) {
    return {{x.elements.low, x.elements.high + 0.4 * static_cast<double>(count) + 1}};
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_logsumexp", [](Tensor x) { return ops::logsumexp(x, 1); }, f32(3, 1));
  }
};

}  // namespace op_tests
