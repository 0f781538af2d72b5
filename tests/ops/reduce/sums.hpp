#pragma once
#include "reduction.hpp"
#include "tilewright/ops/reduce/grad_reduce_square_add.hpp"

namespace op_tests {

constexpr double most_exact = 0x1p52;  ///< of sums

struct Sum : ReductionTest<Sum> {
  static constexpr std::string_view op = "ReduceSum", function = "sum";
  static constexpr bool has_edges_of_columns = true;
  static constexpr Reduction call = ops::sum;
  static double value(const Line& line) {
    double sum = 0;
    for (const double x : line) sum += x;
    return sum;
  }
  static constexpr void fixtures(const auto& c) {
    c.add(float32, "sum", all, {2, 3, 4});
    c.add(float32, "sum_axis", over<1>, {2, 3, 4});
    c.add(float32, "sum_keep", [](Tensor x) { return ops::sum(x, {0, -1}, true); }, {2, 3, 4});
    c.add(float32, "sum_long", over<1>, {3, 130});
    c.add(float32, "sum_tall", over<0>, {130, 3});
    c.add(float32, "sum_transposed", [](Tensor x) { return ops::sum(x.transpose({2, 0, 1}), 1); }, {2, 3, 4});
    c.add(half, "sum", over<1>, {3, 130});
    c.add(in_bfloat16, "sum", over<0>, {5, 19});
    c.add(numbers_of_int32, "sum", all, {3, 130});
    c.add(of_integers, "sum", over<0>, {{5, 19}, tw::int8});
  }
  static constexpr Result elements(const Known& x, std::int64_t count, bool) { return random_programs::times(x.elements, count); }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add("view_sum", [](Tensor t) { return t[{tw::all, odd_ones}].sum(0); }, f32(5, 38));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) {
    c.add("one_sum", [](Tensor x) { return ops::sum(x, 1); }, f32(3, 1, 5));
  }
  static constexpr void handles(auto& list) {
    ReductionTest::handles(list);
    list.add("sum_to", [] { (void)ops::sum_to(Tensor(), Shape{2}); });
  }
};
struct Mean : ReductionTest<Mean> {
  static constexpr std::string_view op = "ReduceMean", function = "mean";
  static constexpr Reduction call = ops::mean;
  static double value(const Line& line, DType dtype) {
    const double mean = Sum::value(line) / static_cast<double>(line.size());
    return tw::is_int(dtype) ? std::trunc(mean) : mean;
  }
  static constexpr void fixtures(const auto& c) {
    c.add(float32, "mean", [](Tensor x) { return ops::mean(x, {}, true); }, {2, 3, 4});
    c.add(float32, "mean_axis", over<0>, {2, 3, 4});
    c.add(float32, "mean_axes", [](Tensor x) { return ops::mean(x, {0, 2}); }, {2, 3, 4});
    c.add(half, "mean", over<0>, {5, 3});
    c.add(in_bfloat16, "mean", over<1>, {5, 37});
    c.add(exact, "mean", over<1>, {3, 7});
    c.add(of_integers, "mean", over<1>, {{5, 19}, tw::int32});
    c.add(of_integers, "mean_all", all, {{5, 19}, tw::int64});
    c.add(in_tiles, "mean", all, {{9, 34}, tw::int32});
  }
  static constexpr Result elements(const Known& x, std::int64_t count, bool) {
    if (x.bound() * static_cast<double>(count) > most_exact) return std::nullopt;
    return x.elements.rounded();
  }
};
struct SumSquare : ReductionTest<SumSquare> {
  static constexpr std::string_view op = "ReduceSumSquare", function = "sumsquare";
  static constexpr Reduction call = ops::sumsquare;
  static double value(const Line& line) {
    double sum = 0;
    for (const double x : line) sum += x * x;
    return sum;
  }
  static constexpr Result elements(const Known& x, std::int64_t count, bool) {
    const Elements square = x.elements * x.elements;
    if (square.bound() * static_cast<double>(count) > most_exact) return std::nullopt;
    return random_programs::times({0, square.bound(), square.grain, square.slope}, count);
  }
  static void numbers(auto& list) {
    ReductionTest::numbers(list);
    list.real("grad_reduce_square_add.loss_scaling", list.above_0,
              [](auto& s, auto n) { return ops::grad_reduce_square_add(s.x, n); });
  }
  static constexpr void handles(auto& list) {
    ReductionTest::handles(list);
    list.add("grad_reduce_square_add", [] { (void)ops::grad_reduce_square_add(Tensor()); });
  }
};
struct Prod : ReductionTest<Prod> {
  static constexpr std::string_view op = "ReduceProd", function = "prod";
  static constexpr bool is_selection = true;  // of those programs
  static constexpr Reduction call = ops::prod;
  static double value(const Line& line) {
    double product = 1;
    for (const double x : line) product *= x;
    return product;
  }
  static constexpr void fixtures(const auto& c) {
    ReductionTest::fixtures(c);
    c.add(ties, "prod_zeros", over<1>, {4, 5});
  }
  static constexpr Result elements(const Known& x, std::int64_t count, bool) {
    double most = 1;
    for (std::int64_t i = 0; i < count && most <= 1e6; ++i) most *= larger(x.bound(), 1);
    return most <= 1e4 ? std::optional(Elements{-most, most}) : std::nullopt;
  }
};

}  // namespace op_tests
