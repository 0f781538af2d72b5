#pragma once
// All that is tested of an op is one struct in one file of this folder. Its members, and who runs them:
//
//   op               name of the library's op that it tests          coverage, edges/ops, random_programs/ops
//   meanings()       what these compute, in float64                  random programs, and the values of cases
//   cases(c)         programs of one op: c.add(name, op, inputs...), and c.add_forward without a gradient
//                                                                    run/ops/ops_in_files
//   shapes(s)        s.result(spec, op, inputs...), s.error(text, op, inputs...)
//                                                                    static/ops/ops_in_files
//   random(x, random, gradients)   a step of random programs         random_programs
//   numbers(list)    wrong numbers as options, if there are any      run/wrong_numbers/ops
//   handles(list)    handles of nothing                              run/programs/no_handles
//
// Inputs of cases are odd multiples of 1/32 from -2 to 2, so that no element is where a function jumps. Inputs of cases that end
// in
// `_edges` are numbers at the edges of the dtype, NaN among them; such a case has one input, and `slope(x)`, its derivative, is a
// member.
#include <optional>

#include "../random_programs/known.hpp"
#include "../random_programs/semantics_common.hpp"

namespace op_tests {

namespace tw = tilewright;
namespace ops = tw::ops;
using random_programs::Elements, random_programs::Known, random_programs::Random;
using random_programs::meaning::Meanings;
using tw::DType, tw::Tensor, tw::TensorSpec;

struct Step {
  Tensor tensor;
  Elements elements;
};

constexpr TensorSpec f32(auto... extents) { return {{extents...}, tw::float32}; }
constexpr TensorSpec i32(auto... extents) { return {{extents...}, tw::int32}; }

/// Base of tests of functions of one tensor of floating point. D has `op` and `function`, their names, and `call(x)`, `value(x)`,
/// `slope(x)` and `random`. A function that is not defined from -2 to 2 has `inside(x)`, a function of tensors whose results it
/// takes.
template <class D>
struct UnaryTest {
  static constexpr int edges = 64;  ///< numbers at the edges of a dtype

  static constexpr Tensor inside(Tensor x) { return x; }
  static Meanings meanings() { return {{D::op, random_programs::meaning::unary(D::value)}}; }
  static constexpr void cases(const auto& c) {
    const auto name = [](std::string_view form) { return tw::text(D::function, form); };
    const auto call = [](Tensor x) { return D::call(D::inside(x)); };
    c.add(name("").view(), call, c.real({2, 19}));
    c.add(name("_scalar").view(), call, c.real({}));
    c.add(name("_view").view(), [=](Tensor x) { return call(x.transpose({1, 0})); }, c.real({3, 5}));
    c.add(name("_edges").view(), D::call, c.real({edges}));
  }
  static constexpr void shapes(const auto& s) {
    for (const DType dtype : {tw::float16, tw::bfloat16, tw::float32, tw::float64})
      s.result({{2, 3}, dtype}, D::call, TensorSpec{{2, 3}, dtype});
    s.error(tw::text(D::op, ": (2,) int32: float16, float32, float64 or bfloat16 expected, in graph").view(), D::call, i32(2));
  }
  static constexpr void handles(auto& list) {
    list.add(D::function, [] { (void)D::call(Tensor()); });
  }
};

/// Base of those of roundings: a slope of 0, and steps of random programs on exact elements only.
template <class D>
struct StepTest : UnaryTest<D> {
  static double slope(double) { return 0; }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool gradients) {
    if (!x.is_real() || !x.exact() || gradients) return std::nullopt;
    return Step{D::call(x.tensor), {x.elements.low - 1, x.elements.high + 1, 0, 0}};
  }
};

/// Base of those of smooth functions, whose second derivatives are tested, too. D has `Op`, the op's type, and `bend(v)`: its
/// slope as a function of what the gradient reads, x or y.
template <class D>
struct SmoothTest : UnaryTest<D> {
  static double bend(double x) { return D::slope(x); }
  static Meanings meanings() {
    Meanings result = UnaryTest<D>::meanings();
    result.emplace(tw::UnaryGrad<typename D::Op>::name,
                   random_programs::meaning::binary([](double v, double dy) { return dy * D::bend(v); }));
    return result;
  }
  static constexpr void cases(const auto& c) {
    UnaryTest<D>::cases(c);
    if (tw::is_half(c.dtype)) return;  // whose gradient reads what is rounded
    const auto slope = [](Tensor x) {
      const Tensor inside = D::inside(x), one = x.ir().constant({1}, {}, x.dtype());
      const bool is_of_input = D::Op::gradient_from == tw::GradientFrom::input;
      return tw::apply<tw::UnaryGrad<typename D::Op>>({is_of_input ? inside : D::call(inside), one});
    };
    c.add(tw::text(D::function, "_slope").view(), slope, c.real({2, 19}));
  }
};

}  // namespace op_tests
