#pragma once
// The list of this folder.
#include "elementwise/arithmetic.hpp"
#include "elementwise/clip.hpp"
#include "elementwise/comparison.hpp"
#include "elementwise/exponential.hpp"
#include "elementwise/extremes.hpp"
#include "elementwise/float_class.hpp"
#include "elementwise/gelu.hpp"
#include "elementwise/hyperbolic.hpp"
#include "elementwise/increment_mod.hpp"
#include "elementwise/logical.hpp"
#include "elementwise/power.hpp"
#include "elementwise/relu.hpp"
#include "elementwise/rounding.hpp"
#include "elementwise/sigmoid.hpp"
#include "elementwise/sign.hpp"
#include "elementwise/sine.hpp"
#include "elementwise/trigonometry.hpp"
#include "linear/solve.hpp"
#include "nn/grid_sample.hpp"
#include "nn/interpolate.hpp"
#include "reduce/norms_of_lines.hpp"
#include "reduce/selection.hpp"
#include "reduce/sums.hpp"
#include "shape/triangle.hpp"

namespace op_tests {

/// Calls f(test) for each test of an op.
template <class F>
constexpr void for_each(F&& f) {
  const auto of_each = [&]<class... Test>() { (f(Test()), ...); };
  of_each.template
  operator()<Abs, Add, And, Ceil, Clip, Cos, Div, Equal, Exp, Floor, Fmod, Gelu, GeluErf, Greater, GreaterEqual, Identity,
             IncrementMod, IsFinite, IsInf, IsNaN, L1, L2, Less, LessEqual, Log, Log2, LogSum, LogSumExp, Maximum, Mean, Median,
             Minimum, Mul, Negate, Not, NotEqual, Or, Pow, PowNumber, Prod, ReduceMax, ReduceMin, Relu, Round, Sigmoid, Sign, Sin,
             Softplus, Sqrt, Sub, Sum, SumSquare, Swish, Tanh, Triangle, Tan, Asin, Acos, Atan, Atan2, Atan2Grad, Sinh, Cosh, Erf,
             Expm1, Log1p, Rsqrt, GridSample, Interpolate, Cholesky, SolveTriangular, Solve>();
}

}  // namespace op_tests
