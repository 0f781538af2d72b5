#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/ops/index/gather.hpp"

namespace scratchpad {

namespace tw = tilewright;

/// Rules of an op that only this machine reads, as HostRules and IpuRules are for the library's.
struct Rules {
  /// Operands, as bits, that stay in main memory: the kernel reads few of their elements, where another operand says.
  std::uint32_t in_main_memory = 0;
};
inline constexpr std::pair<const tw::OpTag*, Rules> rules[] = {
    {&tw::op_tag<tw::Gather>, {.in_main_memory = 0b1}}, {&tw::op_tag<tw::TiedGather>, {.in_main_memory = 0b1}}, {},  // no rules
};
constexpr const Rules& rules_of(const tw::OpTag* op) {
  const auto* each = rules;
  while (each->first != op && each->first != nullptr) ++each;
  return each->second;
}
/// Returns whether an operand of an op stays in main memory.
constexpr bool stays(const tw::OpTag* op, int operand) { return (rules_of(op).in_main_memory >> operand & 1) != 0; }

}  // namespace scratchpad
