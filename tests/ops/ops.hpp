#pragma once
// The list of this folder.
#include "ceil.hpp"
#include "floor.hpp"
#include "grid_sample.hpp"
#include "hyperbolic.hpp"
#include "interpolate.hpp"
#include "round.hpp"
#include "triangle.hpp"
#include "trigonometry.hpp"

namespace op_tests {

/// Calls f(test) for each test of an op.
template <class F>
constexpr void for_each(F&& f) {
  const auto of_each = [&]<class... Test>() { (f(Test()), ...); };
  of_each.template operator()<Ceil, Floor, GridSample, Interpolate, Round, Triangle, Tan, Asin, Acos, Atan, Atan2, Atan2Grad,
                              Sinh, Cosh, Erf, Expm1, Log1p, Rsqrt>();
}

}  // namespace op_tests
