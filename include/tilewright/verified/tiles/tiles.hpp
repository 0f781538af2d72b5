#pragma once
#include <cstdint>
#include <string_view>

#include "tilewright/verified/code_bytes.hpp"
#include "tilewright/verified/tiles/banks.hpp"
#include "tilewright/verified/tiles/collective_tiles.hpp"
#include "tilewright/verified/tiles/exchanges.hpp"
#include "tilewright/verified/tiles/row_exchanges.hpp"
#include "tilewright/verified/tiles/run_cycles.hpp"
#include "tilewright/verified/tiles/step_cycles.hpp"
#include "tilewright/verified/tiles/tile_memory.hpp"
#include "tilewright/verified/tiles/traffic.hpp"

namespace tilewright::internal::proof::detail {

constexpr std::string_view table_of_tiles(const auto& plan) {
  if constexpr (requires { plan.tile_table.view(); }) return plan.tile_table.view();
  else return plan.text(plan.tile_table);
}
/// Checks a plan for a simulated IPU on its tiles.
template <class AnyPlan>
constexpr void check_tiles(const AnyPlan& plan, const Target& target, ValueTerms& terms, bool reads_unwritten,
                           const CodeProof<AnyPlan>& code, FirstFault& fault) {
  DataOnTiles data;
  if (!fault.expect(read_tiles(table_of_tiles(plan), data), "tiles", BodyId::none, -1,
                    "a table of tiles that cannot be read: data of each body expected"))
    return;
  TileMemoryProof memory(plan, target, data, fault);
  if (!memory.has_rows()) return;
  memory.run();
  ExchangeProof exchanges(plan, target, data, terms, reads_unwritten, fault);
  for (const BodyOnTiles& body : data.bodies)
    if (!fault.is_found()) exchanges.run(body);
  if (!fault.is_found()) check_collectives(plan, data, fault);
  if (!fault.is_found()) BankProof(plan, target, data, fault).run();
  if constexpr (requires { plan.step_cycles; })
    if (!fault.is_found()) StepCyclesProof(plan, target, data, terms, code, fault).run();
}
/// Returns the first fault of a plan's counts, or of a plan for a simulated IPU on its tiles; an empty text: there is none. The
/// rules of PlanRun hold. `reads_unwritten`: whether a step computes of bytes that no step wrote. `ignored`: a rule that is not
/// checked. `may_have_tiles`: false for a target that is known to be the host, for which compilers then instantiate less.
template <bool may_have_tiles = true>
constexpr Text fault_on_tiles(const auto& plan, const Target& target, ValueTerms& terms, bool reads_unwritten,
                              std::string_view ignored) {
  FirstFault fault(ignored);
  TrafficProof(plan, target, terms, fault).run();
  if constexpr (requires { plan.exchanges; }) check_row_exchanges(plan, fault);
  CodeProof code(plan, target, terms, fault);
  if (!fault.is_found()) code.run();
  if constexpr (may_have_tiles)
    if (!fault.is_found() && target.ipu != nullptr) check_tiles(plan, target, terms, reads_unwritten, code, fault);
  if constexpr (requires { plan.step_cycles; })
    if (!fault.is_found()) CyclesProof(plan, fault).run();
  return fault.text_of();
}

}  // namespace tilewright::internal::proof::detail
