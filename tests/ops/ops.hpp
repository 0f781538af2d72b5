#pragma once
// The list of this folder.
#include "ceil.hpp"
#include "floor.hpp"
#include "round.hpp"
#include "triangle.hpp"

namespace op_tests {

/// Calls f(test) for each test of an op.
template <class F>
constexpr void for_each(F&& f) {
  const auto of_each = [&]<class... Test>() { (f(Test()), ...); };
  of_each.template operator()<Ceil, Floor, Round, Triangle>();
}

}  // namespace op_tests
