#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace tilewright::detail {

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

/// Returns the texts that the `*` of a pattern match in a name, which must match it. The first ones match as little as possible.
inline std::vector<std::string_view> texts_of_stars(std::string_view pattern, std::string_view name) {
  std::vector<std::string_view> texts;
  for (std::size_t star = pattern.find('*'); star != pattern.npos; star = pattern.find('*')) {
    pattern.remove_prefix(star + 1);
    name.remove_prefix(star);
    std::size_t length = 0;
    while (!matches_pattern(pattern, name.substr(length))) ++length;
    texts.push_back(name.substr(0, length));
    name.remove_prefix(length);
  }
  return texts;
}

}  // namespace tilewright::detail
