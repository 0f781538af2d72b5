#pragma once
// Programs of layers beside tests/reference/layers.txt.
#include <set>
#include <string>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "../cases/layers.hpp"

inline const Values& layer_reference() {
  static const Values values = [] {
    Values read;
    read_reference("layers.txt", read);
    return read;
  }();
  return values;
}
inline std::string case_of(const std::string& name) { return name.substr(0, name.find('.')); }
/// A program has all tensors that the reference has for its cases.
inline void check_names(const auto& session, const auto& results) {
  std::set<std::string> names, cases;
  for (const auto& tensor : results) names.emplace(tensor.name);
  for (const auto& tensor : session.host_tensors()) names.emplace(tensor.name);
  for (const std::string& name : names) cases.insert(case_of(name));
  for (const auto& [name, elements] : layer_reference()) {
    INFO(name);
    CHECK((!cases.contains(case_of(name)) || names.contains(name)));
  }
}
/// Compares all results of a program with the reference's.
template <auto program, tw::Target target = tw::cpu>
void check_layers(double tolerance) {
  TestSession<program, target> session({.threads = 1});
  write_variables(session, layer_reference());
  const auto results = session.run();
  for (const auto& tensor : results.host_tensors()) {
    INFO(tensor.name);
    CHECK(difference(elements_of(tensor), layer_reference().at(std::string(tensor.name))) < tolerance);
  }
  check_names(session, results.host_tensors());
}
