#pragma once
#include "../elementwise/cast.hpp"
#include "../op_test.hpp"

namespace op_tests {

struct Accumulate : OpTest {
  static constexpr std::string_view op = "Accumulate";
  static std::vector<Array> value(const tw::Node& node, Inputs inputs, Specs) {
    const double f = inputs.size() > 2 ? inputs[2][0] : tw::unpack<tw::AccumulateAdd::Attributes>(node.attributes).factor;
    Array t = inputs[0].copy();
    for (std::size_t i = 0; i < t.size(); ++i) {
      const double old = t[i], x = inputs[1][i];
      if (is_op<tw::AccumulateAdd>(node)) t[i] = old + f * x;
      else if (is_op<tw::AccumulateSquare>(node)) t[i] = old + f * x * x;
      else if (is_op<tw::AccumulateMean>(node)) t[i] = (old * f + x) / (f + 1);
      else if (is_op<tw::AccumulateMovingAverage>(node)) t[i] = f * old + (1 - f) * x;
      else t[i] = f * old + (1 - f) * x * x;
    }
    return {t};
  }
  static constexpr auto accumulate(double f = 1) {
    return [f](Tensor t, Tensor x) { return ops::accumulate_(t, x, f); };
  }
  static constexpr auto by_tensor = [](Tensor t, Tensor x, Tensor f) { return ops::accumulate_(t, x, f); };
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<variable_updates>, const auto& c) {
    const TensorSpec t = f32(3, 19), small = f32(2, 3);
    c.add_forward("accumulate", accumulate(), t, t);
    c.add_forward("accumulate_tensor", by_tensor, t, t, f32(1));
    c.add_forward("accumulate_square", [](Tensor a, Tensor x) { return ops::accumulate_square_(a, x, 0.5); }, t, t);
    c.add_forward("accumulate_mean", [](Tensor a, Tensor x) { return ops::accumulate_mean_(a, x, 3); }, t, t);
    c.add_forward(
        "accumulate_mean_tensor", [](Tensor a, Tensor x, Tensor step) { return ops::accumulate_mean_(a, x, step); }, small, small,
        f32());
    c.add_forward("accumulate_average", [](Tensor a, Tensor x) { return ops::accumulate_moving_average_(a, x, 0.75); }, t, t);
    c.add_forward(
        "accumulate_average_square", [](Tensor a, Tensor x, Tensor f) { return ops::accumulate_moving_average_square_(a, x, f); },
        small, small, f32());
  }
  static constexpr void compared(In<half_precision_norms_and_updates>, const auto& c) {
    c.add_forward("half_accumulate", accumulate(0.5), f16(2, 3), f32(2, 3));
    c.add_forward("half_accumulate_half", accumulate(0.5), f16(3, 19), f16(3, 19));
    c.add_forward("accumulate_of_half", accumulate(0.5), f32(3, 19), f16(3, 19));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f16(2, 3), accumulate(), f16(2, 3), f32(2, 3));
    s.result(f32(2, 3), by_tensor, f32(2, 3), f16(2, 3), f32());
    s.error("Accumulate: (2, 3) float32 and (3,) float32: equal shapes expected, in graph", accumulate(), f32(2, 3), f32(3));
    s.error("Accumulate: (2,) int32: float16, float32, float64 or bfloat16 expected, in graph", accumulate(), f32(2), i32(2));
    s.error("Accumulate: factor (3,) float32: one element expected, in graph", by_tensor, f32(3), f32(3), f32(3));
    s.error(
        "Accumulate: Tensor[float32 (4, 8)], which is a broadcast view of Tensor[float32 (8,)]: a tensor with memory for each "
        "element expected, in graph",
        [](Tensor x) { return ops::accumulate_(ops::expand(x, {4, 8}), x.ir().constant({0}, {4, 8})); }, f32(8));
    s.error("", [](Tensor x) { return ops::accumulate_(ops::expand(x, {4, 8})[0], x); }, f32(8));
    s.error(
        "Accumulate: Tensor[float32 (16,)] of ConcatInplace, which is a copy: a tensor that may change in place expected, in "
        "graph",
        [](Tensor x) { return ops::accumulate_(ops::concat_({x, x}), x.ir().constant({0}, {16})); }, f32(8));
    s.error(
        "Accumulate: f 0.5 as int32: a whole number from -2147483648 to 2147483647 expected, in graph",
        [](Tensor k) { return ops::accumulate_(k, k, 0.5); }, i32(1));
    s.error(
        "Accumulate: (1,) int32 and (1,) int8: equal dtypes expected, in graph",
        [](Tensor k) { return ops::accumulate_(k, k.cast(tw::int8)); }, i32(1));
    s.error(
        "Accumulate: (1,) int32: float16, float32, float64 or bfloat16 expected, in graph",
        [](Tensor k) { return ops::accumulate_mean_(k, k, 1); }, i32(1));
  }
  static void numbers(auto& list) {
    list.real("accumulate_.f", list.as_float32,
              [](auto& s, auto n) { return ops::accumulate_(s.tensor({3}), s.tensor({3}), n); });
    list.real("accumulate_square_.f", list.as_float32,
              [](auto& s, auto n) { return ops::accumulate_square_(s.tensor({3}), s.tensor({3}), n); });
    list.real("accumulate_mean_.step", {0, 0x1p127},
              [](auto& s, auto n) { return ops::accumulate_mean_(s.tensor({3}), s.tensor({3}), n); });
    list.real("accumulate_moving_average_.f", list.as_float32,
              [](auto& s, auto n) { return ops::accumulate_moving_average_(s.tensor({3}), s.tensor({3}), n); });
    list.real("accumulate_moving_average_square_.f", list.as_float32,
              [](auto& s, auto n) { return ops::accumulate_moving_average_square_(s.tensor({3}), s.tensor({3}), n); });
  }
  static constexpr void handles(auto& list) {
    list.add("accumulate_", [] { (void)ops::accumulate_(Tensor(), Tensor()); });
    list.add("accumulate_square_", [] { (void)ops::accumulate_square_(Tensor(), Tensor()); });
    list.add("accumulate_mean_", [] { (void)ops::accumulate_mean_(Tensor(), Tensor(), 1); });
    list.add("accumulate_moving_average_", [] { (void)ops::accumulate_moving_average_(Tensor(), Tensor(), 1); });
    list.add("accumulate_moving_average_square_", [] { (void)ops::accumulate_moving_average_square_(Tensor(), Tensor(), 1); });
  }
};
struct AccumulatorScale : OpTest {
  static constexpr std::string_view op = "AccumulatorScale";
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node& node, Inputs inputs, const Line& x) {
      const double f = inputs.size() > 1 ? x[1] : tw::unpack<tw::AccumulatorScale::Attributes>(node.attributes).factor;
      return f == 0 ? 0 : f * x[0];
    });
  }
  static constexpr void compared(In<variable_updates>, const auto& c) {
    c.add_forward("accumulator_scale", [](Tensor a) { return ops::accumulator_scale_(a, 0.5); }, f32(3, 19));
    c.add_forward("accumulator_scale_tensor", [](Tensor a, Tensor f) { return ops::accumulator_scale_(a, f); }, f32(2, 3), f32());
    c.add_forward("accumulator_zero", ops::accumulator_zero_, f32(3, 19));
  }
  static constexpr void compared(In<half_precision_norms_and_updates>, const auto& c) {
    c.add_forward("half_accumulator_scale", [](Tensor a, Tensor f) { return ops::accumulator_scale_(a, f); }, f16(3, 19), f16());
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "AccumulatorScale: Tensor[float32 ()] is a constant: a tensor that may change in place expected, in graph",
        [](Tensor x) { return ops::accumulator_zero_(x.ir().constant(1.0)); }, f32());
  }
  static void numbers(auto& list) {
    list.real("accumulator_scale_.f", list.as_float32, [](auto& s, auto n) { return ops::accumulator_scale_(s.tensor({3}), n); });
  }
  static constexpr void handles(auto& list) {
    list.add("accumulator_scale_", [] { (void)ops::accumulator_scale_(Tensor(), 1); });
    list.add("accumulator_zero_", [] { (void)ops::accumulator_zero_(Tensor()); });
  }
};
struct CopyVarUpdate : OpTest {
  static constexpr std::string_view op = "CopyVarUpdate";
  static void meanings(auto& m) {
    m.elementwise(op, [](const tw::Node&, Inputs inputs, const Line& x) {
      return Cast::converted(x[1], inputs[1].spec.dtype, inputs[0].spec.dtype);
    });
  }
  static constexpr void compared(In<variable_updates>, const auto& c) {
    c.add_forward("copy_var_update", ops::copy_var_update_, f32(2, 3), f32(2, 3));
  }
  static constexpr void compared(In<half_precision_norms_and_updates>, const auto& c) {
    c.add_forward("half_copy_var_update", ops::copy_var_update_, f16(2, 3), f32(2, 3));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(2), [](Tensor t, Tensor x) { return ops::var_updates::copy_var_update_(t, x); }, f32(2), f32(2));
    s.error(
        "CopyVarUpdate: (2, 3) float8_143 and (2, 3) float32: equal dtypes expected, in graph",
        [](Tensor x, Tensor small) { return ops::copy_var_update_(small, x); }, f32(2, 3), spec_of(tw::float8_143, {2, 3}));
  }
  static constexpr void handles(auto& list) {
    list.add("copy_var_update_", [] { (void)ops::copy_var_update_(Tensor(), Tensor()); });
  }
};

}  // namespace op_tests
