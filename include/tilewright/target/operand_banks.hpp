#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright {

/// Where the tensors lie that a loop loads and stores in one cycle. A bank of memory, which Graphcore calls an element, serves
/// one load or store in each cycle. In interleaved memory, two banks take turns with every 8 bytes.
enum class OperandBanks : std::uint8_t {
  any,  ///< the cycles of the loop do not depend on banks
  same,  ///< operands may share a bank: each load and each store takes a cycle
  different,  ///< both inputs are in different banks: they are loaded in one cycle
  interleaved  ///< in the same cycle, the result is stored: in a third bank, or in place in interleaved memory
};
constexpr std::string_view name_of(OperandBanks banks) {
  constexpr std::string_view names[] = {"any", "same", "different", "interleaved"};
  return names[static_cast<int>(banks)];
}

}  // namespace tilewright
