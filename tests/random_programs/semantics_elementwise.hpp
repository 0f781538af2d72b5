#pragma once
// Meanings of elementwise ops.
#include "semantics_common.hpp"

namespace random_programs::meaning {

inline Meanings elementwise_meanings() {
  const auto scaled_add = [](const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::ScaledAdd::Attributes>(node.attributes);
    std::size_t next = 2;
    const double a = attributes.inputs & 1 ? inputs[next++][0] : attributes.a;
    const double b = attributes.inputs & 2 ? inputs[next][0] : attributes.b;
    Array result(outputs[0]);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = a * inputs[0][i] + b * inputs[1][i];
    return std::vector{result};
  };
  return {
      {"ExpGrad", elementwise([](const Line& x) { return x[0] * x[1]; })},
      {"DivGrad", elementwise([](const Line& x) { return -x[0] * x[2] / (x[1] * x[1]); })},
      {"SinGrad", elementwise([](const Line& x) { return std::cos(x[0]) * x[1]; })},
      {"TanhGrad", elementwise([](const Line& x) { return (1 - x[0] * x[0]) * x[1]; })},
      {"Where", elementwise([](const Line& x) { return x[0] != 0 ? x[1] : x[2]; })},
      {"ScaledAdd", scaled_add},
      {"ScaledAddLhsInplace", scaled_add},
  };
}

}  // namespace random_programs::meaning
