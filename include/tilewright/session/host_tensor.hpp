#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

/// A tensor in the host's memory, known at run time only: row-major elements without gaps, of any alignment.
struct HostTensor {
  std::string_view name{};
  TensorSpec spec{};
  std::span<const std::byte> bytes{};
  int log2_scale = 0;  ///< of float8: that of pow2scale_then_cast which made the elements, for files
};

/// Tensors and where they come from, such as the path of a file: errors name it.
struct HostTensors {
  std::string_view source{};
  std::span<const HostTensor> tensors{};
};

/// Tensors that cannot be loaded. The text names the function, the file, the tensor if it is about one, what was found and
/// what was expected: "load_tensors: net.npz: 'fc1.bias': (3,) float32: (4,) float32 expected".
class LoadError : public std::runtime_error {
 public:
  /// `tensor` is empty where the file as a whole is wrong.
  LoadError(std::string_view function, std::string_view file, std::string_view tensor, std::string_view found,
            std::string_view expected)
      : std::runtime_error(std::string(function) + ": " + std::string(file) + ": " +
                           (tensor.empty() ? "" : std::string("'").append(printable(tensor)).append("': ")) + printable(found) +
                           ": " + printable(expected) + " expected"),
        file_(file),
        tensor_(tensor) {}

  const std::string& file() const { return file_; }
  /// Empty where the file as a whole is wrong.
  const std::string& tensor() const { return tensor_; }

 private:
  /// Names come from files: control characters are kept off the screen, and long ones are cut.
  static std::string printable(std::string_view text) {
    constexpr std::size_t longest = 400;
    std::string result(text.substr(0, longest));
    for (char& c : result)
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    return text.size() > longest ? result + "..." : result;
  }

  std::string file_, tensor_;
};

/// What may differ between the variables of a session and the tensors that it loads.
struct LoadPolicy {
  bool allow_extra = false;    ///< tensors that no variable has the name of are left out
  bool allow_missing = false;  ///< variables that no tensor has the name of keep their values
};

namespace detail {
/// What is wrong with tensors for a session.
class Mismatches {
 public:
  void add(std::string_view tensor, std::string found, std::string expected) {
    problems_.push_back({std::string(tensor), std::move(found), std::move(expected)});
  }
  /// Throws LoadError for all of them: in full if there is one, else the first ones in a list.
  void report(std::string_view source) const {
    constexpr std::size_t listed = 8;
    constexpr std::string_view function = "load_tensors";
    if (problems_.empty()) return;
    const Problem& first = problems_.front();
    if (problems_.size() == 1) throw LoadError(function, source, first.tensor, first.found, first.expected);
    std::string list = std::to_string(problems_.size()) + " tensors";
    for (std::size_t i = 0; i < std::min(listed, problems_.size()); ++i)
      list += (i == 0 ? ": '" : ", '") + problems_[i].tensor + "' " + problems_[i].found;
    if (problems_.size() > listed) list += ", and " + std::to_string(problems_.size() - listed) + " more";
    throw LoadError(function, source, "", list, "names, shapes and dtypes of the variables");
  }

 private:
  struct Problem {
    std::string tensor, found, expected;
  };
  std::vector<Problem> problems_{};
};

/// The bytes for each variable, found by name; none for those that may be missing and are. Throws LoadError.
inline std::vector<std::span<const std::byte>> match_tensors(std::span<const HostTensor> variables, const HostTensors& given,
                                                             const LoadPolicy& policy) {
  Mismatches mismatches;
  std::unordered_map<std::string_view, std::size_t> index_of;
  for (std::size_t v = 0; v < variables.size(); ++v) index_of.emplace(variables[v].name, v);
  std::vector<const HostTensor*> found(variables.size(), nullptr);
  for (const HostTensor& tensor : given.tensors) {
    const auto entry = index_of.find(tensor.name);
    if (entry == index_of.end()) {
      if (policy.allow_extra) continue;
      std::string names;
      for (const HostTensor& variable : variables) names += (names.empty() ? "" : ", ") + std::string(variable.name);
      mismatches.add(tensor.name, "no variable of this name", "one of " + names);
      continue;
    }
    const TensorSpec& expected = variables[entry->second].spec;
    if (std::exchange(found[entry->second], &tensor)) mismatches.add(tensor.name, "this name twice", "each name once");
    else if (tensor.spec != expected) mismatches.add(tensor.name, to_text(tensor.spec).string(), to_text(expected).string());
    else if (std::cmp_not_equal(tensor.bytes.size(), expected.bytes()))
      mismatches.add(tensor.name, std::to_string(tensor.bytes.size()) + " bytes", std::to_string(expected.bytes()) + " bytes");
  }
  std::vector<std::span<const std::byte>> bytes(variables.size());
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (found[v]) bytes[v] = found[v]->bytes;
    else if (!policy.allow_missing)
      mismatches.add(variables[v].name, "no tensor of this name", to_text(variables[v].spec).string());
  }
  mismatches.report(given.source);
  return bytes;
}
}  // namespace detail

}  // namespace tilewright
