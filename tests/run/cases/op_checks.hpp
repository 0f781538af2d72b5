#pragma once
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "../../catch.hpp"
#include "../../support/reference.hpp"
#include "../../support/test_session.hpp"
#include "object_checks.hpp"
#include "op_case.hpp"

namespace tw = tilewright;

/// All results and gradients of the program's cases are those of the reference; 0 is for exact ones. One object has their bits.
template <auto cases, tw::Target target>
void check_reference(double tolerance) {
  TestSession<cases, target> session({.threads = 1});
  write_variables(session, reference());
  for (const auto& [name, elements] : run_both(session)) {
    INFO(name);
    CHECK(difference(elements, reference().at(name)) <= tolerance);
  }
}
/// The results y0 and y1 of each case agree: those of reverse and forward mode.
template <auto cases, tw::Target target>
void check_modes(double tolerance) {
  TestSession<cases, target> session({.threads = 1});
  write_variables(session, reference());
  const Values results = run_both(session);
  std::size_t compared = 0;
  for (const auto& [name, elements] : results) {
    if (!name.ends_with(".y1")) continue;
    INFO(name);
    CHECK(difference(elements, results.at(name.substr(0, name.size() - 1) + "0")) <= tolerance);
    ++compared;
  }
  CHECK(compared > 0);
}
/// The programs have the cases of a file of tests/reference, of the same tensors.
inline void check_same_cases(const std::string& file, std::initializer_list<void (*)(tw::Ir&)> programs) {
  std::set<std::string> cases, fixtures, only_cases, only_fixtures;
  for (const auto build : programs) {
    tw::Ir ir;
    build(ir);
    for (const auto& variable : ir.tables.variables)
      cases.emplace(ir.tables.record(tw::GraphId::main).tensors[variable.tensor].name.view());
    for (const auto& stream : ir.tables.streams) cases.emplace(stream.name.view());
  }
  Values values;
  read_reference(file, values);
  for (const auto& [name, elements] : values) fixtures.insert(name);
  std::ranges::set_difference(cases, fixtures, std::inserter(only_cases, only_cases.end()));
  std::ranges::set_difference(fixtures, cases, std::inserter(only_fixtures, only_fixtures.end()));
  CHECK(only_cases == std::set<std::string>{});
  CHECK(only_fixtures == std::set<std::string>{});
}

/// For the loss L = sum(dy0 y0) of each case, a step of all its inputs along a random direction v changes L by sum(dx v).
/// Central differences D(h) = (L(x + h v) - L(x - h v)) / 2h err by h^2 L''' / 6, which for 3 / x at its smallest x needs small
/// steps, and by the rounding of y over h, which for sums of many terms needs large ones. So many steps are tried, and each case
/// takes the one at which halving the step changes its D least (C. J. F. Ridders, "Accurate computation of F'(x) and
/// F'(x)F''(x)", 1982), improved by D(h) + (D(h) - D(2h)) / 3. The gradient has no part in that choice.
template <auto cases, tw::Target target>
void check_finite_differences(double tolerance = 1e-3) {
  constexpr double longest_step = 1.0 / 8;
  constexpr int directions = 8, steps = 8;
  TestSession<cases, target> session({.threads = 1});
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
  std::uniform_int_distribution<int> uniform(-256, 256);  // v in 256ths: the steps add no rounding to x
  for (int n = 0; n < directions; ++n) {
    Values direction;
    std::map<std::string, double> expected;  // by case
    for (const auto& [name, gradient] : gradients) {
      const auto dot_at = name.find(".dx");
      if (dot_at == name.npos) continue;
      auto& v = direction[name.substr(0, dot_at) + ".x" + name.substr(dot_at + 3)];
      for (std::size_t i = 0; i < gradient.size(); ++i) v.push_back(uniform(random) / 256.0);
      expected[name.substr(0, dot_at)] += dot(gradient, v);
    }
    struct Measured {
      double last = INFINITY, least_change = INFINITY, derivative = INFINITY;
    };
    std::map<std::string, Measured> measured;
    for (int i = 0; i < steps; ++i) {
      const double step = std::ldexp(longest_step, -i);
      const Values after = stepped(direction, step), before = stepped(direction, -step);
      for (const auto& [name, change] : expected) {
        const auto& dy = reference().at(name + ".dy0");
        const double derivative = (dot(dy, after.at(name + ".y0")) - dot(dy, before.at(name + ".y0"))) / (2 * step);
        Measured& m = measured[name];
        if (const double difference = derivative - m.last; std::abs(difference) < m.least_change) {  // not so for NaN
          m.least_change = std::abs(difference);
          m.derivative = derivative + difference / 3;
        }
        m.last = derivative;
      }
    }
    for (const auto& [name, change] : expected) {
      INFO(name << ", direction " << n);
      CHECK(std::abs(measured[name].derivative - change) < tolerance * std::max(1.0, std::abs(change)));
    }
  }
}
