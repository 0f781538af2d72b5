#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/lower/verify/plan_violation.hpp"

namespace tilewright::internal::detail {

/// Checks a plan's data for the whole program: memory outside of frames, and exchanges.
class ProgramViolation : PlanViolation {
 public:
  using PlanViolation::PlanViolation;

  constexpr Text run() {
    check_memory();
    check_exchanges();
    return violation_;
  }

 private:
  constexpr void check_memory() {
    struct Block {
      std::int64_t begin, end;
    };
    const auto check = [&](std::string_view what, List<Block> blocks, std::int64_t bytes) {
      sort_items(blocks, [](const Block& a, const Block& b) { return a.begin < b.begin; });
      std::int64_t used = 0;
      for (const auto& [begin, end] : blocks) {
        expect(begin >= used && begin % memory_alignment == 0 && end <= bytes, "memory is divided", what, " at bytes ", begin,
               " to ", end, ": a begin that is a multiple of ", memory_alignment, " from ", used, " on, and an end of at most ",
               bytes, ", expected");
        used = end;
      }
    };
    List<Block> variables, constants, rows;
    for (const PlannedVariable& each : plan_.variables)
      if (each.base == Base::variable) variables.push_back({each.offset, each.offset + each.spec.bytes()});
    for (const KeptTensor& each : plan_.kept) variables.push_back({each.offset, each.offset + each.bytes});
    for (const PlannedConstant& each : plan_.constants) constants.push_back({each.offset, each.offset + each.spec.bytes()});
    for (const PlannedRemoteBuffer& each : plan_.remote_buffers)
      if (each.mapping == 0) rows.push_back({each.offset, each.offset + each.bytes()});
    check("a variable", std::move(variables), plan_.memory.variables);
    check("a constant", std::move(constants), plan_.memory.constants);
    check("a remote buffer", std::move(rows), plan_.memory.remote);
    std::int64_t frame = 0;
    for (std::size_t i = 0; i < plan_.bodies.size(); ++i)
      if (plan_.is_root(BodyId(i))) frame = std::max(frame, plan_.bodies[BodyId(i)].frame_bytes);
    expect(plan_.memory.frame == frame, "memory is divided", "a frame of ", plan_.memory.frame, " bytes: ", frame,
           ", the frame of the largest root, expected");
  }
  constexpr void check_exchanges() {
    int next = 0;
    for (const PlannedExchange& exchange : plan_.exchanges) {
      bool is_in_body = false;
      for (const Body& body : plan_.bodies)
        is_in_body = is_in_body ||
                     (exchange.first_step >= body.first_step && exchange.last_step() < body.first_step + body.step_count);
      expect(exchange.step_count >= 1 && exchange.first_step >= next && is_in_body, "exchanges are steps of a body",
             "an exchange of steps ", exchange.first_step, " to ", exchange.last_step(), ": steps of one body, from step ", next,
             " on, expected");
      next = exchange.last_step() + 1;
    }
  }
};

}  // namespace tilewright::internal::detail
