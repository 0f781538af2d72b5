#pragma once
// All that is tested of an op is one struct in one file of this folder. Its members, and who runs them:
//
//   ops              names of the library's ops that it tests        coverage, edges/ops, random_programs/ops
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
/// `slope(x)` and `random`.
template <class D>
struct UnaryTest {
  static constexpr int edges = 64;  ///< numbers at the edges of a dtype

  static Meanings meanings() { return {{D::op, random_programs::meaning::unary(D::value)}}; }
  static constexpr void cases(const auto& c) {
    const auto name = [](std::string_view form) { return tw::text(D::function, form); };
    c.add(name("").view(), D::call, c.real({2, 19}));
    c.add(name("_scalar").view(), D::call, c.real({}));
    c.add(name("_view").view(), [](Tensor x) { return D::call(x.transpose({1, 0})); }, c.real({3, 5}));
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

}  // namespace op_tests
