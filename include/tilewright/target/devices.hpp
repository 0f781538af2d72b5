#pragma once
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/core/text.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// A machine with the name that users know it by.
struct Device {
  std::string_view name;
  Target target;
};
inline constexpr Device devices[] = {{"cpu", cpu}, {"ipu_model", ipu_model}};

/// The name of a target; "custom" for a target that is not in `devices`, such as ipu_model.with_tiles(64).
constexpr std::string_view device_name(const Target& target) {
  for (const Device& device : devices)
    if (device.target == target) return device.name;
  return "custom";
}

/// "cpu, ipu_model"
constexpr Text device_names() {
  Text names;
  for (const Device& device : devices) names += text(names.empty() ? "" : ", ", device.name);
  return names;
}

/// For a machine that is chosen at run time: calls f with the target as a std::integral_constant, so that f is compiled for
/// each. Throws std::invalid_argument for an unknown name.
///
///     tw::visit_device(options.device, [](auto device) { tw::Session<train_step, device.value> session; ... });
template <class F>
void visit_device(std::string_view name, F&& f) {
  const bool known = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return ((name == devices[i].name && (f(std::integral_constant<Target, devices[i].target>()), true)) || ...);
  }(std::make_index_sequence<std::size(devices)>());
  if (!known) throw std::invalid_argument(text("device: '", name, "': one of ", device_names(), " expected").string());
}

}  // namespace tilewright
