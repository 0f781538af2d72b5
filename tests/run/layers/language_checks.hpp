#pragma once
// The tensors of tests/reference/language.txt, and programs against them.
#include "../../support/elements.hpp"
#include "../../support/reference.hpp"

inline const Values& expected() {
  static const Values values = [] {
    Values read;
    read_reference("language.txt", read);
    return read;
  }();
  return values;
}
/// The tensors whose names begin with the prefix, without it.
inline Values expected(const std::string& prefix) {
  Values found;
  for (const auto& [name, elements] : expected())
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = elements;
  return found;
}
/// Compares all tensors of the expected names.
inline void check(const Values& actual, const Values& wanted, double tolerance) {
  for (const auto& [name, elements] : wanted) {
    INFO(name);
    REQUIRE(actual.contains(name));
    CHECK(difference(actual.at(name), elements) < tolerance);
  }
}
/// Runs a session with the inputs and weights of these names, and compares the results and gradients.
template <auto build, tw::Target target = tw::cpu>
void check_results(const std::string& name, double tolerance) {
  TestSession<build, target> session({.threads = 2});
  Values values = expected(name + ".");
  write_variables(session, values);
  const auto is_result = [](const std::string& key) {
    return key == "y" || key == "logits" || key == "loss" || key.starts_with("gradient_of_");
  };
  std::erase_if(values, [&](const auto& entry) { return !is_result(entry.first); });
  check(run(session), values, tolerance);
}
