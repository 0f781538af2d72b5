#pragma once
#include <cmath>
#include <numeric>
#include <random>

#include "../catch.hpp"
#include "op_cases.hpp"
#include "reference.hpp"

namespace tw = tilewright;

/// All results and gradients of the program's cases are those of the reference.
template <auto cases, tw::Target target>
void check_reference(double tolerance) {
  tw::Session<cases, target> session({.threads = 1});
  write_variables(session, reference());
  for (const auto& [name, elements] : run(session)) {
    INFO(name);
    CHECK(difference(elements, reference().at(name)) < tolerance);
  }
}

/// For the loss L = sum(dy0 y0) of each case, a step of all its inputs along a random direction v changes L by sum(dx v).
template <auto cases, tw::Target target>
void check_finite_differences() {
  // Central differences err by epsilon^2 L''' / 6, with L''' below 200, and by the rounding of y, about 1e-7 / epsilon.
  constexpr double epsilon = 1.0 / 256, tolerance = 2e-3;
  constexpr int directions = 8;
  tw::Session<cases, target> session({.threads = 1});
  const auto stepped = [&](const Values& direction, double step) {
    Values inputs = reference();
    for (const auto& [name, v] : direction)
      for (std::size_t i = 0; i < v.size(); ++i) inputs[name][i] += step * v[i];
    write_variables(session, inputs);
    return run(session);
  };
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const Values gradients = stepped({}, 0);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int n = 0; n < directions; ++n) {
    Values direction;
    std::map<std::string, double> expected;  // by case
    for (const auto& [name, gradient] : gradients) {
      const auto dot_at = name.find(".dx");
      if (dot_at == name.npos) continue;
      auto& v = direction[name.substr(0, dot_at) + ".x" + name.substr(dot_at + 3)];
      for (std::size_t i = 0; i < gradient.size(); ++i) v.push_back(uniform(random));
      expected[name.substr(0, dot_at)] += dot(gradient, v);
    }
    const Values after = stepped(direction, epsilon), before = stepped(direction, -epsilon);
    for (const auto& [name, change] : expected) {
      const auto& dy = reference().at(name + ".dy0");
      const double measured = (dot(dy, after.at(name + ".y0")) - dot(dy, before.at(name + ".y0"))) / (2 * epsilon);
      INFO(name << ", direction " << n);
      CHECK(std::abs(measured - change) < tolerance * std::max(1.0, std::abs(change)));
    }
  }
}
