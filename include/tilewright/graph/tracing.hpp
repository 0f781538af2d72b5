#pragma once
#include <cstdint>

namespace tilewright {

/// Action of a failed check: throw at once, so that the compiler shows the user's call stack, or record the first message and
/// continue with invalid tensors, so that the message can be reported with its values.
enum class OnError : std::uint8_t { raise, record };

/// Kind of machine for which a program is traced. For a simulated IPU, gradients are composed of other ops, and composed forms
/// remain.
enum class MachineKind : std::uint8_t { host, simulated_ipu };

}  // namespace tilewright
