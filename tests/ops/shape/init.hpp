#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct Init : OpTest {
  static constexpr std::string_view op = "InitZero";
  static void meanings(auto& m) {
    const auto filled = [](double x) {
      return
          [x](const tw::Node&, Inputs, Specs outputs) { return std::vector{Array(outputs[0], Line(at(outputs[0].nelms()), x))}; };
    };
    m[op] = filled(0);
    m["InitUndefined"] = filled(std::nan(""));
  }
  static constexpr void compared(In<parts_in_place>, const auto& c) {
    c.add_forward(
        "init_and_fill",
        [](Tensor u) {
          const Tensor result = ops::init(u.ir(), {5, 3});
          ops::copy_var_update_(ops::slice_(result, 2, -1), u);
          return result;
        },
        f32(2, 3));
  }
};

}  // namespace op_tests
