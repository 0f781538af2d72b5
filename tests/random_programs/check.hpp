#pragma once
// Runs random programs on a target and compares them with the interpreter.
#include <cmath>
#include <cstdlib>
#include <string>

#include "../catch.hpp"
#include "../run/reference.hpp"
#include "generator.hpp"
#include "semantics.hpp"

namespace random_programs {

/// Programs of the seeds [first, first + count), in one Ir.
template <std::uint64_t first, int count, bool gradients>
constexpr void programs(Ir& ir) {
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    add_program(ir, seed, tw::text("s", seed, ".").view(), {.gradients = gradients});
}

/// Elements for the variables: multiples of 1/16 up to 2; of those with a p, from 1/16 on.
inline Results random_variables(const Ir& ir) {
  Results result;
  for (const auto& variable : ir.variables) {
    const tw::TensorRecord& record = ir.record(tw::GraphId::main).tensors[variable.tensor];
    const std::string name(record.name.view());
    Random random(std::hash<std::string>()(name));
    auto& elements = result[name];
    for (std::int64_t i = 0; i < record.spec.nelms(); ++i)
      elements.push_back(name[name.find('.') + 1] == 'p' ? (1 + random.below(32)) / 16.0 : (random.below(65) - 32) / 16.0);
  }
  return result;
}

/// All results are those of the interpreter. What rounding may do is measured: results in float64 and results that are rounded
/// to the dtypes after each op differ by so much that a result may differ 16 times as much.
template <std::uint64_t first, int count, tw::Target target>
void check_results() {
  Ir ir;
  programs<first, count, false>(ir);
  const Results variables = random_variables(ir);
  const Results exact = Interpreter(ir, false).run(variables), rounded = Interpreter(ir, true).run(variables);
  tw::Session<programs<first, count, false>, target> session({.threads = 2});
  write_variables(session, variables);
  for (const auto& [name, actual] : ::run(session)) {
    INFO(name);
    const auto& expected = exact.at(name);
    REQUIRE(actual.size() == expected.size());
    double largest = 1e-6, noise = 1e-6;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      noise = std::max(noise, std::abs(expected[i] - rounded.at(name)[i]));
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!(std::abs(actual[i] - expected[i]) <= 16 * noise + 1e-5 * largest))
        FAIL_CHECK("element " << i << " is " << actual[i] << ": " << expected[i] << " expected, to "
                              << 16 * noise + 1e-5 * largest);
  }
}

/// The gradients of each program's loss are those of central differences of the interpreter, along random directions.
template <std::uint64_t first, int count, tw::Target target>
void check_gradients() {
  Ir ir;
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    add_program(ir, seed, tw::text("s", seed, ".").view(), {.gradients = true, .only_loss = true});
  Interpreter interpreter(ir, false);
  const Results variables = random_variables(ir);
  tw::Session<programs<first, count, true>, target> session({.threads = 2});
  write_variables(session, variables);
  const auto actual = ::run(session);
  Random random(first);
  for (int direction = 0; direction < 3; ++direction) {
    Results v;
    for (const auto& [name, elements] : variables)
      for (std::size_t i = 0; i < elements.size(); ++i) v[name].push_back((random.below(65) - 32) / 32.0);
    const auto losses = [&](double step) {
      Results moved = variables;
      for (auto& [name, elements] : moved)
        for (std::size_t i = 0; i < elements.size(); ++i) elements[i] += step * v[name][i];
      return interpreter.run(moved);
    };
    const double h = 1e-4;
    const Results after = losses(h), before = losses(-h), far_after = losses(2 * h), far_before = losses(-2 * h);
    for (const auto& [name, loss] : after) {
      INFO(name << ", direction " << direction);
      const double near = (loss[0] - before.at(name)[0]) / (2 * h),
                   far = (far_after.at(name)[0] - far_before.at(name)[0]) / (4 * h);
      const std::string prefix = name.substr(0, name.find('.') + 1);
      double given = 0, size = 1e-3;
      for (const auto& [dname, gradient] : actual) {
        if (!dname.starts_with(prefix + "d")) continue;
        std::string variable = prefix + dname.substr(prefix.size() + 1);
        if (!v.contains(variable)) variable[prefix.size()] = 'p';
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          given += gradient[i] * v.at(variable)[i];
          size += std::abs(gradient[i] * v.at(variable)[i]);
        }
      }
      CHECK(std::abs(actual.at(name)[0] - interpreter.run(variables).at(name)[0]) <=
            1e-4 * std::max(1.0, std::abs(actual.at(name)[0])));
      CHECK(std::abs(given - near) <= 1e-4 * size + 8 * std::abs(near - far));
    }
  }
}

}  // namespace random_programs
