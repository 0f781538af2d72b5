#pragma once
#include "tilewright/core/requirements.hpp"

#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "tilewright/core/span.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// A machine and its name for users.
struct Device {
  std::string_view name;
  Target target;
};
inline constexpr Device devices[] = {
    {"cpu", cpu}, {"one_core", one_core}, {"ipu_model", ipu_model}, {"gc2", gc2}, {"gc200", gc200}, {"bow", bow}, {"c600", c600}};

/// Returns the name of a target, the first one if it has two. Returns "custom" for a target that is not in `devices`, such as
/// ipu_model.with_tiles(64).
[[nodiscard]] constexpr std::string_view device_name(const Target& target) {
  for (const Device& device : devices)
    if (device.target == target) return device.name;
  return "custom";
}

/// Returns the names of those of `targets` that have one: "cpu, ipu_model, gc200".
[[nodiscard]] constexpr Text device_names(Span<const Target> targets) {
  Text names;
  for (const Device& device : devices) {
    bool found = false;
    for (const Target& target : targets) found = found || target == device.target;
    if (found) names += text(names.empty() ? "" : ", ", device.name);
  }
  return names;
}

/// Selects a machine at run time: calls f with the target of that name as a std::integral_constant. f is compiled for each of
/// `targets`, by default cpu and ipu_model. Throws std::invalid_argument if no target has the name.
///
///     tw::visit_device(options.device, [](auto device) { tw::Session<train_step, device.value> session; ... });
template <Target... targets, class F>
constexpr void visit_device(std::string_view name, F&& f) {
  if constexpr (sizeof...(targets) == 0) {
    visit_device<cpu, ipu_model>(name, f);
  } else {
    constexpr Target choice[] = {targets...};
    for (const Device& device : devices)
      if (device.name == name && ((device.target == targets && (f(std::integral_constant<Target, targets>()), true)) || ...))
        return;
    throw std::invalid_argument(text("device: '", name, "': one of ", device_names(choice), " expected").string());
  }
}

}  // namespace tilewright
