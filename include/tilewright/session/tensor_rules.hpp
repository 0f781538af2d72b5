#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/core/flag.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/core/text/name_pattern.hpp"
#include "tilewright/session/host_tensor.hpp"

namespace tilewright {

/// Maps a tensor of a file, of another library or another session, to a variable. In `tensor`, a `*` stands for any characters.
/// In `variable`, the first `*` stands for the text that the first one in `tensor` matched, and so on. The functions below create
/// rules; two names do, too: `{"encoder.*", "*"}` is `renamed("encoder.*", "*")`.
struct TensorRule {
  std::string tensor{};  ///< name of a tensor that is given
  std::optional<std::string> variable{};  ///< name of the variable; nothing: the tensor is ignored
  Flag is_transposed = false;  ///< whether the variable is the transposed matrix
  std::int64_t part = 0, part_count = 1;  ///< index and number of equal parts along the tensor's first axis
  Flag is_cast = false;  ///< whether the rule is that of cast(): it allows rounding, beside the other rules of the tensor

  bool operator==(const TensorRule&) const = default;
};

/// Returns a rule that loads a tensor under another name.
[[nodiscard]] inline TensorRule renamed(std::string tensor, std::string variable) {
  return {std::move(tensor), std::move(variable)};
}
/// Returns a rule that loads a matrix transposed, under its own name or another one.
[[nodiscard]] inline TensorRule transposed(std::string tensor, std::string variable) {
  return {std::move(tensor), std::move(variable), true};
}
[[nodiscard]] inline TensorRule transposed(std::string tensor) { return transposed(tensor, tensor); }
/// Returns rules for a list of matrices, each loaded transposed under its own name: `transposed({"*linear1.weight",
/// "*linear2.weight"})`.
[[nodiscard]] inline std::vector<TensorRule> transposed(std::initializer_list<std::string_view> tensors) {
  std::vector<TensorRule> rules;
  for (const std::string_view tensor : tensors) rules.push_back(transposed(std::string(tensor)));
  return rules;
}
/// Returns a rule that ignores a tensor.
[[nodiscard]] inline TensorRule left_out(std::string tensor) { return {std::move(tensor)}; }
/// Returns rules that ignore a list of tensors.
[[nodiscard]] inline std::vector<TensorRule> left_out(std::initializer_list<std::string_view> tensors) {
  std::vector<TensorRule> rules;
  for (const std::string_view tensor : tensors) rules.push_back(left_out(std::string(tensor)));
  return rules;
}
/// Returns a rule for one of several equal parts of the tensor along its first axis. Other rules with the same `tensor` map the
/// other parts.
[[nodiscard]] inline TensorRule part_of(std::string tensor, std::int64_t part, std::int64_t part_count, std::string variable,
                                        bool is_transposed = false) {
  return {std::move(tensor), std::move(variable), is_transposed, part, part_count};
}
/// Returns a rule that lets tensors be converted to the variable's dtype where it does not hold all their numbers: float32 to
/// float16, bfloat16 to float16, int64 to int32. Numbers are rounded to nearest, ties to even. A finite number outside of the
/// dtype's range is an error. The rule applies beside the others of a tensor. Conversions that are exact, such as bfloat16 to
/// float32, need no rule. Floating-point numbers never become integers, nor integers floating-point numbers.
[[nodiscard]] inline TensorRule cast(std::string tensors = "*") { return {.tensor = std::move(tensors), .is_cast = true}; }
/// Returns the rules cast() for a list of tensors.
[[nodiscard]] inline std::vector<TensorRule> cast(std::initializer_list<std::string_view> tensors) {
  std::vector<TensorRule> rules;
  for (const std::string_view tensor : tensors) rules.push_back(cast(std::string(tensor)));
  return rules;
}

/// One rule or several: `{tw::transposed("w"), {"encoder.*", "*"}, tw::cast()}`.
class TensorRules {
 public:
  TensorRules(TensorRule rule) { rules_.push_back(std::move(rule)); }
  TensorRules(std::vector<TensorRule> rules) : rules_(std::move(rules)) {}
  TensorRules(std::initializer_list<TensorRules> rules) {
    for (const TensorRules& each : rules)
      for (const TensorRule& rule : each.rules_) rules_.push_back(rule);
  }
  /// Creates the rule renamed(tensor, variable).
  TensorRules(std::string tensor, std::string variable) : TensorRules(renamed(std::move(tensor), std::move(variable))) {}

  const std::vector<TensorRule>& rules() const { return rules_; }

 private:
  std::vector<TensorRule> rules_;
};

namespace detail {

inline std::string fill_pattern(std::string_view pattern, Span<const std::string_view> stars) {
  std::string name;
  for (const char c : pattern) {
    if (c != '*' || stars.empty()) {
      name += c;
      continue;
    }
    name += stars.front();
    stars = stars.subspan(1);
  }
  return name;
}
/// Returns the transposed elements of a matrix, of `size` bytes each.
inline std::vector<std::byte> transposed_elements(Span<const std::byte> bytes, std::int64_t rows, std::int64_t columns,
                                                  std::size_t size) {
  std::vector<std::byte> result(bytes.size());
  constexpr std::int64_t block = 16;  // of which lines of source and result stay in a cache
  for (std::int64_t r0 = 0; r0 < rows; r0 += block)
    for (std::int64_t c0 = 0; c0 < columns; c0 += block)
      for (std::int64_t r = r0; r < (std::min)(r0 + block, rows); ++r)
        for (std::int64_t c = c0; c < (std::min)(c0 + block, columns); ++c)
          std::memcpy(result.data() + static_cast<std::size_t>(c * rows + r) * size,
                      bytes.data() + static_cast<std::size_t>(r * columns + c) * size, size);
  return result;
}

/// Tensors with their names and the memory of elements that rules moved.
struct MappedTensors {
  std::string source{};  // for errors
  std::vector<std::vector<std::byte>> memory{};  // of names and elements, to which tensors refer
  std::vector<HostTensor> tensors{};

  operator HostTensors() const { return {source, tensors}; }
};

/// Appends what a rule makes of a tensor. Throws LoadError.
inline void apply_rule(MappedTensors& result, const HostTensor& tensor, const TensorRule& rule,
                       Span<const std::string_view> stars, const auto& fail) {
  TensorSpec spec = tensor.spec;
  if (rule.part_count != 1) {
    if (spec.shape.rank == 0 || rule.part_count < 1 || rule.part < 0 || rule.part >= rule.part_count ||
        spec.shape[0] % rule.part_count != 0)
      fail("part " + std::to_string(rule.part) + " of " + std::to_string(rule.part_count) +
           ", and a first axis that can be cut so,");
    spec.shape[0] /= rule.part_count;
  }
  const auto size = static_cast<std::size_t>(spec.bytes());
  Span<const std::byte> bytes = tensor.bytes.subspan(static_cast<std::size_t>(rule.part) * size, size);
  if (rule.is_transposed) {
    if (spec.shape.rank != 2) fail("two axes to transpose");
    bytes = result.memory.emplace_back(
        transposed_elements(bytes, spec.shape[0], spec.shape[1], static_cast<std::size_t>(size_of(spec.dtype))));
    std::swap(spec.shape[0], spec.shape[1]);
  }
  const std::string name = fill_pattern(*rule.variable, stars);
  const auto* const characters = reinterpret_cast<const std::byte*>(name.data());
  const std::vector<std::byte>& kept = result.memory.emplace_back(characters, characters + name.size());
  result.tensors.push_back(
      {{reinterpret_cast<const char*>(kept.data()), kept.size()}, spec, bytes, tensor.log2_scale, tensor.may_round});
}
/// Renames and reshapes tensors by rules, see map_tensors.
inline MappedTensors apply_rules(std::string_view function, const HostTensors& given, Span<const TensorRule> rules) {
  MappedTensors result{.source = std::string(given.source)};
  const TensorRule unchanged = renamed("*", "*");
  for (HostTensor tensor : given.tensors) {
    const auto fits = [&](const TensorRule& rule) { return matches_pattern(rule.tensor, tensor.name); };
    const auto fail = [&](const std::string& expected) {
      throw LoadError(function, given.source, tensor.name, to_text(tensor.spec).string(), expected);
    };
    const TensorRule* first = nullptr;
    for (const TensorRule& rule : rules) {
      if (!fits(rule)) continue;
      if (rule.is_cast) tensor.may_round = true;
      else if (!first) first = &rule;
    }
    if (!first) {
      apply_rule(result, tensor, unchanged, {&tensor.name, 1}, fail);
      continue;
    }
    const auto stars = texts_of_stars(first->tensor, tensor.name);
    for (const TensorRule& rule : rules)
      if (!rule.is_cast && rule.tensor == first->tensor && rule.variable) apply_rule(result, tensor, rule, stars, fail);
  }
  return result;
}

}  // namespace detail

}  // namespace tilewright
