#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/core/number.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text/name_pattern.hpp"
#include "tilewright/session/arrays/cast_elements.hpp"
#include "tilewright/session/tensor_view.hpp"

namespace tilewright {

/// Thrown for tensors that cannot be loaded. The text names the function, the file, the tensor if one is concerned, what was
/// found and what was expected: "load_tensors: net.npz: 'fc1.bias': (3,) float32: (4,) float32 expected". If several tensors do
/// not fit, the text lists each.
class LoadError : public std::runtime_error {
 public:
  /// `tensor` is empty if the error concerns the whole file.
  LoadError(std::string_view function, std::string_view file, std::string_view tensor, std::string_view found,
            std::string_view expected)
      : std::runtime_error(
            std::string(function) + ": " + std::string(file) + ": " +
            (tensor.empty() ? printable(found) + ": " + printable(expected) + " expected" : problem(tensor, found, expected))),
        file_(file),
        tensor_(tensor) {}
  /// Lists the problems of several tensors of a file. Each text comes from `problem`.
  LoadError(std::string_view function, std::string_view file, Span<const std::string> problems)
      : std::runtime_error(std::string(function) + ": " + std::string(file) + ": " + std::to_string(problems.size()) +
                           " tensors: " + joined(problems)),
        file_(file) {}
  /// Returns a part of the text: what was found for a tensor, "" if nothing, and what was expected.
  static std::string problem(std::string_view tensor, std::string_view found, std::string_view expected) {
    std::string text = std::string("'").append(printable(tensor)).append("': ").append(printable(found));
    return expected.empty() ? text : text + ": " + printable(expected) + " expected";
  }

  const std::string& file() const { return file_; }
  /// Returns the tensor's name, or "" if the error concerns the whole file.
  const std::string& tensor() const { return tensor_; }

 private:
  /// Returns a name from a file as printable text: without control characters, and shortened if it is long.
  static std::string printable(std::string_view text) {
    constexpr std::size_t longest = 400;
    std::string result(text.substr(0, longest));
    for (char& c : result)
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    return text.size() > longest ? result + "..." : result;
  }
  static std::string joined(Span<const std::string> problems) {
    std::string text;
    for (const std::string& problem : problems) text += (text.empty() ? "" : "; ") + problem;
    return text;
  }

  std::string file_, tensor_;
};

/// Names that are allowed: all of them, none, or those that a pattern matches. A `*` stands for any characters.
class AllowedNames {
 public:
  constexpr AllowedNames() = default;
  AllowedNames(std::initializer_list<std::string_view> patterns) : patterns_(patterns) {}
  AllowedNames(std::vector<std::string_view> patterns) : patterns_(std::move(patterns)) {}
  template <class Given>
    requires std::is_scalar_v<Given>
  constexpr AllowedNames(Given given) : all_(static_cast<bool>(given)) {
    static_assert(std::is_same_v<Given, bool>, "true, false, or a list of patterns, such as {\"head.*\"}, expected");
  }

  bool has(std::string_view name) const {
    const auto is_matched = [&](std::string_view pattern) { return detail::matches_pattern(pattern, name); };
    return all_ || std::any_of(patterns_.begin(), patterns_.end(), is_matched);
  }

 private:
  bool all_ = false;
  std::vector<std::string_view> patterns_{};
};

/// Allowed differences between the variables of a session and the tensors that it loads.
struct LoadPolicy {
  AllowedNames allow_extra{};  ///< tensors without a variable of their name that are ignored: true, or patterns: {"optimiser.*"}
  AllowedNames allow_missing{};  ///< variables without a tensor of their name that keep their values: true, or patterns
  std::vector<std::string_view> extra{}, missing{};  ///< earlier names of patterns of the two above
  /// Patterns of the variables to load, such as "encoder.*"; empty: all. Other variables keep their values, and tensors of other
  /// names are ignored. A pattern that matches no variable is an error.
  std::vector<std::string_view> only{};

  bool loads(std::string_view name) const { return only.empty() || AllowedNames(only).has(name); }
  bool may_be_extra(std::string_view name) const { return allow_extra.has(name) || AllowedNames(extra).has(name); }
  bool may_be_missing(std::string_view name) const { return allow_missing.has(name) || AllowedNames(missing).has(name); }
};

namespace detail {
/// Collects the tensors that do not fit a session's variables.
class Mismatches {
 public:
  explicit Mismatches(Span<const HostTensor> variables) : variables_(variables) {}

  void add(std::string_view tensor, std::string found, std::string expected) {
    problems_.push_back({std::string(tensor), std::move(found), std::move(expected)});
  }
  void add_extra(std::string_view tensor) { add(tensor, "no variable of this name", ""); }
  /// Throws one LoadError for all of them, if there are any.
  void report(std::string_view source) const {
    constexpr std::string_view function = "load_tensors";
    if (problems_.empty()) return;
    if (problems_.size() == 1) {
      const Problem& only = problems_.front();
      throw LoadError(function, source, only.tensor, only.found, only.expected.empty() ? "one of " + names() : only.expected);
    }
    std::vector<std::string> texts;
    for (const Problem& problem : problems_) texts.push_back(LoadError::problem(problem.tensor, problem.found, problem.expected));
    throw LoadError(function, source, texts);
  }

 private:
  struct Problem {
    std::string tensor, found, expected;
  };
  std::string names() const {
    std::string text;
    for (const HostTensor& variable : variables_) text += (text.empty() ? "" : ", ") + std::string(variable.name);
    return text;
  }

  Span<const HostTensor> variables_;
  std::vector<Problem> problems_{};
};

/// Returns the rules that would make a tensor fit a variable, for an error; "" if none would.
inline std::string advice_on(const HostTensor& tensor, const TensorSpec& expected) {
  const Shape& shape = tensor.spec.shape;
  const bool is_turned = shape != expected.shape && shape.rank == 2 && expected.shape == Shape{shape[1], shape[0]};
  if ((shape != expected.shape && !is_turned) || !is_same_kind(tensor.spec.dtype, expected.dtype)) return {};
  const bool rounds = !holds_all(expected.dtype, tensor.spec.dtype) && !tensor.may_round;
  const std::string transposed = "tw::transposed(\"" + std::string(tensor.name) + "\")";
  return ", by map_tensors with the rule" +
         (is_turned && rounds ? "s " + transposed + " and tw::cast()"
          : is_turned         ? " " + transposed
                              : " tw::cast()") +
         ",";
}
/// Returns whether load_tensors converts a tensor to a variable's dtype, if that is another one.
inline bool is_convertible(const HostTensor& tensor, DType dtype) {
  return holds_all(dtype, tensor.spec.dtype) || (tensor.may_round && is_same_kind(dtype, tensor.spec.dtype));
}

/// Elements for the variables of a session.
struct MatchedTensors {
  std::vector<Span<const std::byte>> bytes{};  ///< of each variable; none: it keeps its value
  std::vector<std::vector<std::byte>> converted{};  ///< memory of those that had another dtype
};
/// Converts elements to the dtype of a variable. Adds a problem if a number is outside of its range.
template <class Tensor>
std::vector<std::byte> converted(const Tensor& tensor, const TensorSpec& expected, Mismatches& mismatches) {
  std::vector<std::byte> result(static_cast<std::size_t>(expected.bytes()));
  if (const auto unfit = cast_elements(tensor.bytes, tensor.spec.dtype, result.data(), expected.dtype))
    mismatches.add(tensor.name, "element " + std::to_string(*unfit) + " as " + std::string(to_text(expected.dtype)),
                   expected_number(expected.dtype).string());
  return result;
}
/// Finds the bytes for each variable by name, and converts them to its dtype if needed. A variable without a tensor gets no
/// bytes, if the policy allows that it is missing. Throws LoadError. A template, as `converted` and `cast_elements` are: programs
/// that load nothing do not compile conversions.
template <class Variables = Span<const HostTensor>>
MatchedTensors match_tensors(const Variables& variables, const HostTensors& given, const LoadPolicy& policy) {
  Mismatches mismatches(variables);
  std::unordered_map<std::string_view, std::size_t> index_of;
  for (std::size_t v = 0; v < variables.size(); ++v) index_of.emplace(variables[v].name, v);
  std::vector<const HostTensor*> found(variables.size(), nullptr);
  for (const std::string_view pattern : policy.only) {
    bool has_match = false;
    for (const HostTensor& each : variables) has_match = has_match || matches_pattern(pattern, each.name);
    if (!has_match) mismatches.add(pattern, "no variable's name", "");
  }
  for (const HostTensor& tensor : given.tensors) {
    if (!policy.loads(tensor.name)) continue;
    const auto entry = index_of.find(tensor.name);
    if (entry == index_of.end()) {
      if (!policy.may_be_extra(tensor.name)) mismatches.add_extra(tensor.name);
      continue;
    }
    const TensorSpec& expected = variables[entry->second].spec;
    if (std::exchange(found[entry->second], &tensor)) mismatches.add(tensor.name, "this name twice", "each name once");
    else if (tensor.spec.shape != expected.shape || !is_convertible(tensor, expected.dtype))
      mismatches.add(tensor.name, to_text(tensor.spec).string(), to_text(expected).string() + advice_on(tensor, expected));
    else if (std::cmp_not_equal(tensor.bytes.size(), tensor.spec.bytes()))
      mismatches.add(tensor.name, std::to_string(tensor.bytes.size()) + " bytes", std::to_string(tensor.spec.bytes()) + " bytes");
  }
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (!found[v] && policy.loads(variables[v].name) && !policy.may_be_missing(variables[v].name))
      mismatches.add(variables[v].name, "no tensor of this name", to_text(variables[v].spec).string());
  mismatches.report(given.source);

  MatchedTensors result{.bytes = std::vector<Span<const std::byte>>(variables.size())};
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (!found[v]) continue;
    const TensorSpec& expected = variables[v].spec;
    const bool is_same = found[v]->spec == expected;
    result.bytes[v] = is_same ? found[v]->bytes : result.converted.emplace_back(converted(*found[v], expected, mismatches));
  }
  mismatches.report(given.source);
  return result;
}
}  // namespace detail

}  // namespace tilewright
