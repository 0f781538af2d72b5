#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "op_checks.hpp"

TEST_CASE("every op on the host agrees with PyTorch") { check_reference<tw::cpu>(); }
TEST_CASE("every gradient on the host agrees with finite differences") {
  check_finite_differences<op_cases::float32_ops, tw::cpu>();
}

/// The tensors of all cases, `<case>.<tensor>`.
static std::set<std::string> names_of_cases() {
  std::set<std::string> names;
  for (const auto build : op_cases::all) {
    tw::Ir ir;
    build(ir);
    for (const auto& variable : ir.variables) names.emplace(ir.record(tw::GraphId::main).tensors[variable.tensor].name.view());
    for (const auto& stream : ir.streams) names.emplace(stream.name.view());
  }
  return names;
}
TEST_CASE("op_cases.hpp and make_fixtures.py have the same cases, of the same tensors") {
  Values values;
  read_reference("ops.txt", values);
  std::set<std::string> fixtures, only_cases, only_fixtures;
  for (const auto& [name, elements] : values) fixtures.insert(name);
  const auto cases = names_of_cases();
  std::ranges::set_difference(cases, fixtures, std::inserter(only_cases, only_cases.end()));
  std::ranges::set_difference(fixtures, cases, std::inserter(only_fixtures, only_fixtures.end()));
  CHECK(only_cases == std::set<std::string>{});
  CHECK(only_fixtures == std::set<std::string>{});
}
