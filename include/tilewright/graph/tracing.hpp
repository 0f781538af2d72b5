#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright {

/// Action of a failed check: throw at once, so that the compiler shows the user's call stack, or record the first message and
/// continue with invalid tensors, so that the message can be reported with its values.
enum class OnError : std::uint8_t { raise, record };

/// Rewrites of graphs that a kind of machine has and a program allows. Functions in transform/ set them.
struct Rewrites {
  bool replaces_composed_forms = true, fuses_across_calls = true, adds_activations = true, transforms_convolutions = true;
};
inline constexpr Rewrites no_rewrites{false, false, false, false};

/// Name of the kind of machine for which a program is traced, unless `trace_for` names another.
inline constexpr std::string_view default_kind = "the host";

}  // namespace tilewright
