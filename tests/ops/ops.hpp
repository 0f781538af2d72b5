#pragma once
// The list of this folder.
#include "arithmetic.hpp"
#include "clip.hpp"
#include "comparison.hpp"
#include "exponential.hpp"
#include "extremes.hpp"
#include "float_class.hpp"
#include "gelu.hpp"
#include "grid_sample.hpp"
#include "hyperbolic.hpp"
#include "increment_mod.hpp"
#include "interpolate.hpp"
#include "logical.hpp"
#include "norms_of_lines.hpp"
#include "power.hpp"
#include "relu.hpp"
#include "rounding.hpp"
#include "selection.hpp"
#include "sigmoid.hpp"
#include "sign.hpp"
#include "sine.hpp"
#include "solve.hpp"
#include "sums.hpp"
#include "triangle.hpp"
#include "trigonometry.hpp"

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
