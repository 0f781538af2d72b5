#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright {

/// Where the tensors lie that a loop loads and stores in one cycle. A bank of memory, which Graphcore calls an element, serves
/// one load or store in each cycle. In interleaved memory, two banks take turns with every 8 bytes. BankUse says which tensors.
enum class OperandBanks : std::uint8_t {
  any,  ///< the cycles of the loop do not depend on banks
  same,  ///< operands may share a bank: each load and each store takes a cycle
  same_pair,  ///< of a product: the input may be in the two banks of the sums, in interleaved memory: they serve two accesses
  different,  ///< the inputs of a loop, or the input and the sums of a product, are in different banks
  interleaved  ///< and the store is in the same cycle: it is to a third bank, or in place in interleaved memory
};
constexpr std::string_view name_of(OperandBanks banks) {
  constexpr std::string_view names[] = {"any", "same", "same pair", "different", "interleaved"};
  return names[static_cast<int>(banks)];
}

/// Where a simulated IPU's planner places the operands of a step.
enum class BankPolicy : std::uint8_t {
  best,  ///< in different banks, if the step then takes fewer cycles
  /// Poplar's way: only where a vertex of the vendor's asks for it are operands in different banks. Vertices of products,
  /// convolutions and dot products do; those of sums, differences and scaled additions do not.
  as_allocated
};
constexpr std::string_view name_of(BankPolicy policy) { return policy == BankPolicy::best ? "best" : "as_allocated"; }

/// Kind of loop, by what it accesses in one cycle.
enum class BankUse : std::uint8_t {
  elements,  ///< the elements with one index of x, y and the result of an elementwise op
  sums,  ///< an element of the input, x, and two of the sums, which are the result: a product by the unit for products
  terms  ///< an element of x and one of y, the two operands of a product: dot products
};

}  // namespace tilewright
