// labels: asan ubsan
// Drafts that are broken on purpose after a pass, which then become plans: the proof refuses them, by the rule that is given.
// verified_tile_faults.cpp has those of tiles.
#include "broken_programs.hpp"

namespace {

using namespace violations;
using tw::internal::Base, tw::internal::TileDraft;

/// A sum, and a larger tensor after it.
void widths(tw::Ir& ir) {
  const Tensor a = ops::exp(load(ir, "x", {64, 64}));
  store(ir, "sum", ops::exp(ops::sum(a, {0})));
  store(ir, "y", ops::exp(ops::exp(a)));
}
const Case with_widths{"widths", widths, tw::cpu.without_fusion()};

TEST_CASE("verified: operations that read or write other memory") {
  const auto rule = [](const Case& of, auto break_it) { return rule_of_draft(of, Pass::flatten, break_it); };
  CHECK(rule(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").operands[1].layout.offset = 1; }) == "values");
  CHECK(rule(a_layer, [](BodyDraft& d, Plan&) { std::swap(d.operations[0], d.operations[1]); }) == "values");
  CHECK(rule(a_layer, [](BodyDraft&, Plan& p) { p.streams[0].direction = tw::StreamDirection::device_to_host; }) == "values");
  CHECK(rule(a_layer, [](BodyDraft&, Plan& p) { p.streams[1].direction = tw::StreamDirection::host_to_device; }) == "values");
  CHECK(rule(a_layer, [](BodyDraft& d, Plan&) { storage_of(d, op(d, "Gelu"), 1).location.base = Base::constant; }) == "memory");
  CHECK(rule(a_layer, [](BodyDraft& d, Plan& p) { storage_of(d, op(d, "MatMul"), 1).location.offset = p.memory.variables; }) ==
        "memory");
  CHECK(rule(a_layer, [](BodyDraft& d, Plan&) { storage_of(d, op(d, "MatMul"), 0).location.index = 2; }) == "tables");
}
TEST_CASE("verified: operations that are divided or ordered wrongly") {
  CHECK(rule_of_draft(a_chain, Pass::fuse, [](BodyDraft& d, Plan&) { std::swap(d.groups[0], d.groups[1]); }) == "values");
  CHECK(rule_of_draft(a_chain, Pass::fuse, [](BodyDraft& d, Plan&) { op(d, "Exp").operands[0] = op(d, "Exp").operands[1]; }) ==
        "values");
  CHECK(rule_of_draft(a_layer, Pass::cut_groups, [](BodyDraft& d, Plan&) { d.cuts[0].partition.blocks[2] = 1; }) == "vertices");
  CHECK(rule_of_draft(a_layer, Pass::cut_groups, [](BodyDraft& d, Plan&) { ++d.cuts[0].partition.vertices; }) == "vertices");
}
TEST_CASE("verified: storages that have no memory, or that of others") {
  CHECK(rule_of_draft(without_scratch, Pass::cut_groups,
                      [](BodyDraft& d, Plan&) { storage_of(d, op(d, "Softmax"), 1).internal = true; }) == "tables");
  CHECK(rule_of_draft(a_chain, Pass::find_internal_storages,
                      [](BodyDraft& d, Plan&) { storage_of(d, op(d, "Exp"), 1).internal = true; }) == "vertices");
  CHECK(rule_of_draft(a_layer, Pass::find_internal_storages,
                      [](BodyDraft& d, Plan&) { storage_of(d, op(d, "MatMul"), 1).internal = true; }) == "vertices");
  const auto reused = [](const Case& of, auto break_it) { return rule_of_draft(of, Pass::reuse_dying_inputs, break_it); };
  CHECK(reused(a_chain, [](BodyDraft& d, Plan&) { reuser(d).reuses = StorageId(0); }) == "memory");
  CHECK(reused(a_chain, [](BodyDraft& d, Plan&) { d.storages[StorageId(2)].reuses = StorageId(1); }) == "values");
  CHECK(reused(with_widths, [](BodyDraft& d, Plan&) {  // a tensor in the memory of a smaller one
          const StorageId smaller = op(d, "ReduceSum").operands[1].storage, larger = op(d, "Exp").operands[1].storage;
          REQUIRE(d.storages[smaller].whole.bytes() < d.storages[larger].whole.bytes());
          d.storages[larger].reuses = smaller;
        }) == "memory");
  const auto placed = [](auto break_it) { return rule_of_draft(a_chain, Pass::place, break_it); };
  const auto move_frame = [](Plan& p, std::int64_t least, std::int64_t offset) {
    for (auto& each : p.locations)
      if (each.base == Base::frame && each.offset >= least) each.offset = offset;
  };
  CHECK(placed([&](BodyDraft&, Plan& p) { move_frame(p, 1, 0); }) == "values");
  CHECK(placed([&](BodyDraft&, Plan& p) { move_frame(p, 0, 1); }) == "memory");
  CHECK(placed([](BodyDraft&, Plan& p) { p.bodies[BodyId::main].frame_bytes = 64; }) == "memory");
  CHECK(rule_of_draft(with_calls, Pass::place, [](BodyDraft&, Plan& p) { p.exchanges.push_back({1, 99}); }) == "tables");
}
TEST_CASE("verified: what a plan for tiles counts of each step") {
  const auto counted = [](const Case& of, auto break_it) {
    return rule_of_draft(of, Pass::place, [&](TileDraft&, Plan& p) { break_it(p); });
  };
  CHECK(counted(a_product, [](Plan& p) { p.moves.pop_back(); }) == "traffic");
  CHECK(counted(a_product, [](Plan& p) { p.moves[0].set = -1; }) == "traffic");
  CHECK(counted(with_square, [](Plan& p) { p.moves.back().set = 0; }) == "traffic");
}

}  // namespace
