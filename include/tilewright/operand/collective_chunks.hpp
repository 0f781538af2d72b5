#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// Elements of a chunk: threads share the work of a collective by chunks of its result. A chunk's sums and its elements as floats
/// are on the stack, and fit into a first-level cache. `./dev bench instances` and `./dev bench scaling`, which
/// time all-reduces, depend on the number.
inline constexpr std::int64_t collective_chunk = 1024;
/// Largest number of bytes of these arrays on the stack: for sums of 8 bytes, or of 4 with the elements as floats.
inline constexpr std::int64_t collective_stack_bytes = 8 * collective_chunk;
constexpr std::int64_t collective_chunks(std::int64_t elements) { return (elements + collective_chunk - 1) / collective_chunk; }

}  // namespace tilewright::kernel
