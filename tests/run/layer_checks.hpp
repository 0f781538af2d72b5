#pragma once
// Programs of layers beside tests/reference/layers.txt.
#include <set>
#include <string>

#include "cases_layers.hpp"
#include "elements.hpp"
#include "reference.hpp"

inline const Values& layer_reference() {
  static const Values values = [] {
    Values read;
    read_reference("layers.txt", read);
    return read;
  }();
  return values;
}
/// Compares all results of a program, which has all tensors that the reference has for its cases.
template <auto program, tw::Target target = tw::cpu>
void check_layers(double tolerance) {
  tw::Session<program, target> session({.threads = 1});
  write_variables(session, layer_reference());
  const Values results = run(session);
  std::set<std::string> names, cases;
  for (const auto& [name, elements] : results) {
    INFO(name);
    names.insert(name);
    CHECK(difference(elements, layer_reference().at(name)) < tolerance);
  }
  for (const auto& tensor : session.host_tensors()) names.emplace(tensor.name);
  const auto case_of = [](const std::string& name) { return name.substr(0, name.find('.')); };
  for (const std::string& name : names) cases.insert(case_of(name));
  for (const auto& [name, elements] : layer_reference()) {
    INFO(name);
    CHECK((!cases.contains(case_of(name)) || names.contains(name)));
  }
}
