#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/tensor_file.hpp"
#include "tilewright/core/name_pattern.hpp"

namespace tilewright {

/// Maps a tensor of another library's file to a variable. In `tensor`, a `*` stands for any characters. In `variable`, the first
/// `*` stands for the text that the first one in `tensor` matched, and so on. The functions below create rules; two names do,
/// too: `{"encoder.*", "*"}` is `renamed("encoder.*", "*")`.
struct TensorRule {
  std::string tensor{};  ///< name of a tensor in the file
  std::optional<std::string> variable{};  ///< name of the variable; nothing: the tensor is ignored
  bool is_transposed = false;  ///< whether the variable is the transposed matrix
  std::int64_t part = 0, part_count = 1;  ///< index and number of equal parts along the tensor's first axis

  bool operator==(const TensorRule&) const = default;
};

/// Returns a rule that loads a tensor under another name.
inline TensorRule renamed(std::string tensor, std::string variable) { return {std::move(tensor), std::move(variable)}; }
/// Returns a rule that loads a matrix transposed, under its own name or another one.
inline TensorRule transposed(std::string tensor, std::string variable) { return {std::move(tensor), std::move(variable), true}; }
inline TensorRule transposed(std::string tensor) { return transposed(tensor, tensor); }
/// Returns rules for a list of matrices, each loaded transposed under its own name: `transposed({"*linear1.weight",
/// "*linear2.weight"})`.
inline std::vector<TensorRule> transposed(std::initializer_list<std::string_view> tensors) {
  std::vector<TensorRule> rules;
  for (const std::string_view tensor : tensors) rules.push_back(transposed(std::string(tensor)));
  return rules;
}
/// Returns a rule that ignores a tensor.
inline TensorRule left_out(std::string tensor) { return {std::move(tensor)}; }
/// Returns rules that ignore a list of tensors.
inline std::vector<TensorRule> left_out(std::initializer_list<std::string_view> tensors) {
  std::vector<TensorRule> rules;
  for (const std::string_view tensor : tensors) rules.push_back(left_out(std::string(tensor)));
  return rules;
}
/// Returns a rule for one of several equal parts of the tensor along its first axis. Other rules with the same `tensor` map the
/// other parts.
inline TensorRule part_of(std::string tensor, std::int64_t part, std::int64_t part_count, std::string variable,
                          bool is_transposed = false) {
  return {std::move(tensor), std::move(variable), is_transposed, part, part_count};
}

/// One rule or several: an element of the braces of map_tensors.
class TensorRules {
 public:
  TensorRules(TensorRule rule) { rules_.push_back(std::move(rule)); }
  TensorRules(std::vector<TensorRule> rules) : rules_(std::move(rules)) {}
  /// Creates the rule renamed(tensor, variable).
  TensorRules(std::string tensor, std::string variable) : TensorRules(renamed(std::move(tensor), std::move(variable))) {}

  const std::vector<TensorRule>& rules() const { return rules_; }

 private:
  std::vector<TensorRule> rules_;
};

namespace detail {

inline std::string fill_pattern(std::string_view pattern, std::span<const std::string_view> stars) {
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
inline std::vector<std::byte> transposed_elements(std::span<const std::byte> bytes, std::int64_t rows, std::int64_t columns,
                                                  std::size_t size) {
  std::vector<std::byte> result(bytes.size());
  constexpr std::int64_t block = 16;  // of which lines of source and result stay in a cache
  for (std::int64_t r0 = 0; r0 < rows; r0 += block)
    for (std::int64_t c0 = 0; c0 < columns; c0 += block)
      for (std::int64_t r = r0; r < std::min(r0 + block, rows); ++r)
        for (std::int64_t c = c0; c < std::min(c0 + block, columns); ++c)
          std::memcpy(result.data() + static_cast<std::size_t>(c * rows + r) * size,
                      bytes.data() + static_cast<std::size_t>(r * columns + c) * size, size);
  return result;
}

}  // namespace detail

/// Renames and reshapes the tensors of a file by rules, for a session's load_tensors. The first rule that matches a tensor's name
/// applies, together with all others of the same `tensor`. A tensor that no rule matches does not change. Throws LoadError for a
/// transposed tensor without two axes, and for one that cannot be divided into the required parts.
///
///     // a file of torch.nn.TransformerEncoderLayer, for layers::TransformerBlock
///     session.load_tensors(tw::map_tensors(
///         tw::load_safetensors("block.safetensors"),
///         {tw::transposed({"*in_proj_weight", "*out_proj.weight", "*linear1.weight", "*linear2.weight"}), {"encoder.*", "*"}}));
inline TensorFile map_tensors(TensorFile file, std::span<const TensorRule> rules) {
  TensorFile result(file.path());
  result.metadata() = file.metadata();
  const auto apply = [&](const HostTensor& tensor, const TensorRule& rule, std::span<const std::string_view> stars) {
    const auto fail = [&](const std::string& expected) {
      throw LoadError("map_tensors", result.path(), tensor.name, to_text(tensor.spec).string(), expected);
    };
    TensorSpec spec = tensor.spec;
    if (rule.part_count != 1) {
      if (spec.shape.rank == 0 || rule.part_count < 1 || rule.part < 0 || rule.part >= rule.part_count ||
          spec.shape[0] % rule.part_count != 0)
        fail("part " + std::to_string(rule.part) + " of " + std::to_string(rule.part_count) +
             ", and a first axis that can be cut so,");
      spec.shape[0] /= rule.part_count;
    }
    const auto size = static_cast<std::size_t>(spec.bytes());
    std::span<const std::byte> bytes = tensor.bytes.subspan(static_cast<std::size_t>(rule.part) * size, size);
    if (rule.is_transposed) {
      if (spec.shape.rank != 2) fail("two axes to transpose");
      bytes = result.keep(
          detail::transposed_elements(bytes, spec.shape[0], spec.shape[1], static_cast<std::size_t>(size_of(spec.dtype))));
      std::swap(spec.shape[0], spec.shape[1]);
    }
    result.add(detail::fill_pattern(*rule.variable, stars), spec, bytes, tensor.log2_scale);
  };
  for (const HostTensor& tensor : file.tensors()) {
    const auto fits = [&](const TensorRule& rule) { return detail::match_pattern(rule.tensor, tensor.name).has_value(); };
    const auto first = std::find_if(rules.begin(), rules.end(), fits);
    if (first == rules.end()) {
      apply(tensor, renamed("*", "*"), {&tensor.name, 1});
      continue;
    }
    const auto stars = *detail::match_pattern(first->tensor, tensor.name);
    for (const TensorRule& rule : rules)
      if (rule.tensor == first->tensor && rule.variable) apply(tensor, rule, stars);
  }
  result.keep(std::move(file));
  return result;
}
inline TensorFile map_tensors(TensorFile file, std::initializer_list<TensorRules> rules) {
  std::vector<TensorRule> all;
  for (const TensorRules& each : rules) all.insert(all.end(), each.rules().begin(), each.rules().end());
  return map_tensors(std::move(file), std::span<const TensorRule>(all));
}

}  // namespace tilewright
