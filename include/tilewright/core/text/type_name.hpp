#pragma once
#include <cstddef>
#include <string_view>

namespace tilewright {

/// Returns the name of a class without its scope and template arguments: "Linear" for app::Linear<512, true>. Empty for lambdas.
template <class T>
constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("T = ") + 4);
  std::size_t begin = 0, end = 0;
  for (int depth = 0; depth > 0 || (name[end] != ';' && name[end] != ']'); ++end) {
    const char c = name[end];
    depth += c == '<' || c == '(' || c == '[';
    depth -= c == '>' || c == ')' || c == ']';
    if (depth == 0 && c == ':') begin = end + 1;
  }
  name = name.substr(begin, end - begin);
  return name.substr(0, name.find_first_of("<("));
}

}  // namespace tilewright
