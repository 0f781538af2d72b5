#pragma once
// Tensors by name as lists of numbers: the reference, and what a session computes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
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

/// The elements of a tensor of any dtype, and the bytes of such elements.
inline std::vector<double> elements_of(const tilewright::HostTensor& tensor) {
  return tilewright::visit_dtype(tensor.spec.dtype, [&]<class T>(std::type_identity<T>) {
    std::vector<double> elements(tensor.bytes.size() / sizeof(T));
    std::ranges::transform(std::span(reinterpret_cast<const T*>(tensor.bytes.data()), elements.size()), elements.begin(),
                           [](T x) { return static_cast<double>(x); });
    return elements;
  });
}
inline std::vector<std::byte> bytes_of(const tilewright::TensorSpec& spec, const std::vector<double>& elements) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(spec.bytes()));
  tilewright::visit_dtype(spec.dtype, [&]<class T>(std::type_identity<T>) {
    std::ranges::transform(elements, reinterpret_cast<T*>(bytes.data()), [](double x) { return static_cast<T>(x); });
  });
  return bytes;
}

/// Gives all variables of a session the elements of these names.
template <class Session>
void write_variables(Session& session, const Values& values) {
  auto tensors = session.host_tensors();
  std::vector<std::vector<std::byte>> memory;
  for (auto& tensor : tensors) {
    const auto& elements = values.at(std::string(tensor.name));
    if (std::cmp_not_equal(elements.size(), tensor.spec.nelms()))
      throw std::length_error("write_variables: " + std::string(tensor.name));
    tensor.bytes = memory.emplace_back(bytes_of(tensor.spec, elements));
  }
  session.load_tensors({"values", tensors});
}

/// Runs a session of a program without inputs; all its outputs.
template <class Session>
Values run(Session& session) {
  Values values;
  for (const auto& tensor : session.run().host_tensors()) values[std::string(tensor.name)] = elements_of(tensor);
  return values;
}
