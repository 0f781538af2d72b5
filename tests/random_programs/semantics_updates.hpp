#pragma once
// Meanings of updates of optimisers.
#include "semantics_reductions.hpp"
#include "semantics_types.hpp"

namespace random_programs::meaning {

inline std::vector<Array> accumulate(const tw::Node& node, Inputs inputs, Specs) {
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

/// The step, and the time step if there is one.
inline std::vector<Array> adam(const tw::Node& node, Inputs inputs, Specs outputs) {
  using Input = tw::AdamInputs;
  const auto attributes = tw::unpack<tw::AdamAttributes>(node.attributes);
  const auto has = [&](std::int64_t input) { return (attributes.inputs & input) != 0; };
  std::size_t next = has(Input::weight) ? 1 : 0;
  const Array &m = inputs[next], &v = inputs[next + 1];
  next += 2;
  std::vector<Array> results{Array(outputs[0])};
  double time = 0;
  if (has(Input::time_step)) {
    results.push_back(inputs[next++].copy());
    time = ++results[1][0];
  }
  const auto number = [&](std::int64_t input, double given) { return has(input) ? inputs[next++][0] : given; };
  const double decay = number(Input::weight_decay, attributes.weight_decay), beta1 = number(Input::beta1, attributes.beta1),
               beta2 = number(Input::beta2, attributes.beta2), epsilon = number(Input::epsilon, attributes.epsilon);
  const bool is_adamax = is_op<tw::AdamaxUpdater>(node);
  for (std::size_t i = 0; i < m.size(); ++i) {
    const double mean = time > 0 ? m[i] / (1 - std::pow(beta1, time)) : m[i];
    const double square = time > 0 && !is_adamax ? v[i] / (1 - std::pow(beta2, time)) : v[i];
    results[0][i] = mean / ((is_adamax ? square : std::sqrt(square)) + epsilon);
    if (has(Input::weight)) results[0][i] += decay * inputs[0][i];
  }
  return results;
}

/// Inputs t, x, the squares of their norms, and perhaps the learning rate and the largest norm.
inline std::vector<Array> trusted_step(const tw::Node& node, Inputs inputs, Specs) {
  const auto attributes = tw::unpack<tw::AdamVarUpdate::Attributes>(node.attributes);
  std::size_t next = 4;
  const double learning_rate = attributes.inputs & 1 ? inputs[next++][0] : attributes.learning_rate;
  const double most = attributes.inputs & 2 ? inputs[next][0] : attributes.max_weight_norm;
  const double norm = std::sqrt(inputs[2][0]), of_step = std::sqrt(inputs[3][0]);
  const double trust = norm == 0 || of_step == 0 ? 1 : std::min(norm, most) / of_step;
  Array t = inputs[0].copy();
  for (std::size_t i = 0; i < t.size(); ++i) t[i] -= learning_rate * trust * inputs[1][i];
  return {t};
}

inline Meanings update_meanings() {
  const auto scale = elementwise([](const tw::Node& node, Inputs inputs, const Line& x) {
    const double f = inputs.size() > 1 ? x[1] : tw::unpack<tw::AccumulatorScale::Attributes>(node.attributes).factor;
    return f == 0 ? 0 : f * x[0];
  });
  const auto square = [](const tw::Node&, Inputs inputs, Specs outputs) {
    return std::vector{Array(outputs[0], {op_tests::SumSquare::value(inputs[0].elements())})};
  };
  return {
      {"Accumulate", accumulate},
      {"AccumulatorScale", scale},
      {"CopyVarUpdate", elementwise([](const tw::Node&, Inputs inputs, const Line& x) {
         return converted(x[1], inputs[1].spec.dtype, inputs[0].spec.dtype);
       })},
      {"AdamUpdater", adam},
      {"LambSquare", square},
      {"AdamVarUpdate", trusted_step},
  };
}

}  // namespace random_programs::meaning
