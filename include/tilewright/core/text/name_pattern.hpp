#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace tilewright::detail {

/// Returns the texts that the `*` of a pattern match in a name; nothing if the name does not match. The first ones match as
/// little as possible.
inline std::optional<std::vector<std::string_view>> match_pattern(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name ? std::optional(std::vector<std::string_view>{}) : std::nullopt;
  if (!name.starts_with(pattern.substr(0, star))) return std::nullopt;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (std::size_t length = 0; length <= name.size(); ++length)
    if (auto rest = match_pattern(pattern, name.substr(length))) {
      rest->insert(rest->begin(), name.substr(0, length));
      return rest;
    }
  return std::nullopt;
}

/// Returns whether a name matches a pattern.
constexpr bool matches_pattern(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.size(), begin = 0;  // the last star, and where what it stands for ends
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      begin = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star < pattern.size()) {  // it stands for one character more
      p = star + 1;
      n = ++begin;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace tilewright::detail
