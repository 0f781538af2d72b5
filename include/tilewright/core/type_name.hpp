#pragma once
#include <string_view>

namespace tilewright {

/// The name of a class without namespaces and template arguments: "Linear" for app::Linear<512, true>.
template <class T>
constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("T = ") + 4);
  name = name.substr(0, name.find_first_of("<;]"));
  if (const auto colon = name.rfind(':'); colon != name.npos) name.remove_prefix(colon + 1);
  return name;
}

}  // namespace tilewright
