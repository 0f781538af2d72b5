#pragma once
#include <cstdint>

namespace tilewright {

/// What a failed check does: throw at once (the compiler then shows the user's call stack), or keep the first message
/// and go on with invalid tensors, so that the message can be reported with its values.
enum class OnError : std::uint8_t { raise, record };

/// What a program is traced for: gradients are made of other ops, and composed forms stay, where a simulated IPU computes them.
enum class MachineKind : std::uint8_t { host, simulated_ipu };

}  // namespace tilewright
