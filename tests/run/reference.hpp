#pragma once
// Tensors by name as lists of numbers: the reference, and what a session computes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tilewright/tilewright.hpp"

/// Elements in row-major order, whatever the dtype: double holds them all.
using Values = std::map<std::string, std::vector<double>>;

/// Adds the tensors of a file in tests/reference.
inline void read_reference(const std::string& file_name, Values& values) {
  std::ifstream file(TILEWRIGHT_REFERENCE_DIR "/" + file_name);
  std::string name;
  for (std::size_t rank = 0; file >> name >> rank;) {
    std::size_t count = 1;
    for (std::size_t extent = 0; rank > 0 && file >> extent; --rank) count *= extent;
    auto& elements = values[name];
    elements.resize(count);
    std::string text;
    for (double& element : elements)
      if (file >> text) element = std::strtod(text.c_str(), nullptr);  // also nan and inf, which >> does not read
  }
}
/// The tensors of programs.txt, ops.txt and all files ops_*.txt.
inline const Values& reference() {
  static const Values all = [] {
    Values values;
    for (const auto& file : std::filesystem::directory_iterator(TILEWRIGHT_REFERENCE_DIR)) {
      const std::string name = file.path().filename().string();
      if (name == "programs.txt" || (name.starts_with("ops") && name.ends_with(".txt"))) read_reference(name, values);
    }
    return values;
  }();
  return all;
}

/// The largest difference of two lists, relative to elements above 1; infinite for lists of different lengths, NaN where one
/// element only is NaN.
inline double difference(const std::vector<double>& actual, const std::vector<double>& expected) {
  if (actual.size() != expected.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;  // infinities, too
    const double error = std::abs(actual[i] - expected[i]) / std::max(1.0, std::abs(expected[i]));
    largest = error <= largest ? largest : error;  // NaN counts
  }
  return largest;
}

/// A name of a plan for functions that take names as "name"_s.
template <const auto& characters, tilewright::internal::PoolRange range>
constexpr auto name_of() {
  constexpr auto text = [] {
    char copy[range.count + 1]{};
    std::copy_n(characters.begin() + range.first, range.count, copy);
    return tilewright::NameText<range.count + 1>(copy);
  }();
  return tilewright::Name<text>();
}

/// Gives all variables of a session the elements of these names.
template <class Session>
void write_variables(Session& session, const Values& values) {
  [&]<std::size_t... v>(std::index_sequence<v...>) {
    constexpr const auto& plan = Session::plan;
    const auto write = [&](auto name) {
      auto array = session.get_tensor_data(name);
      const auto& elements = values.at(std::string(name.view()));
      if (elements.size() != array.size()) throw std::length_error("write_variables: " + std::string(name.view()));
      std::ranges::transform(elements, array.data(),
                             [](double x) { return static_cast<std::decay_t<decltype(*array.data())>>(x); });
      session.write_variable_data(name, array);
    };
    (write(name_of<plan.characters, plan.variables[v].name>()), ...);
  }(std::make_index_sequence<Session::plan.variables.size()>());
}

/// Runs a session of a program without inputs; all its outputs.
template <class Session>
Values run(Session& session) {
  Values values;
  [&]<std::size_t... s>(std::index_sequence<s...>) {
    constexpr const auto& plan = Session::plan;
    const auto outputs = session.run();
    const auto read = [&](auto name) {
      const auto array = outputs[name];
      values[std::string(name.view())].assign(array.data(), array.data() + array.size());
    };
    (read(name_of<plan.characters, plan.streams[s].name>()), ...);
  }(std::make_index_sequence<Session::plan.streams.size()>());
  return values;
}
