// labels: asan ubsan
// What passes of the planner give is verified: drafts that are broken on purpose, at least one for each rule.
#include "broken_programs.hpp"

namespace {

using namespace violations;
using tw::internal::TileDraft;

}  // namespace

TEST_CASE("verify: operations and their operands") {
  const auto violation = [](const Case& of, auto break_it) { return violation_of_draft(of, Pass::flatten, break_it); };
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").operands[0].storage = StorageId(99); }) ==
        "operands exist: operation 0 (MatMul) has operand 0 in storage 99: a storage from 0 to 10 expected, in body 0 after "
        "flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").calling.body = BodyId(1); }) ==
        "one kind: operation 0 (MatMul) is an op and a call: only one of them expected, in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { op(d, "call").loads_code = true; }) ==
        "inputs and outputs: operation 1 (call) has 1 inputs of 4 operands: no operand expected, in body 0 after flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").input_count = 3; }) ==
        "inputs and outputs: operation 0 (MatMul) has 3 inputs of 3 operands: at least one output expected, in body 0 after "
        "flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { op(d, "call").calling.body = BodyId(3); }) ==
        "callees are planned before: operation 1 (call) calls body 3: a body from 1 to 2 expected, in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { ++op(d, "call").input_count; }) ==
        "arguments of calls: operation 1 (call) has 2 inputs: 1 expected, in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { op(d, "call").operands.pop_back(); }) ==
        "arguments of calls: operation 1 (call) has 3 operands: at least 4 expected, in body 0 after flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { storage_of(d, op(d, "MatMul"), 2).location.offset = 64; }) ==
        "place finds places: storage 2 is at index 0, offset 64 of memory `frame`: index 0 and offset 0 expected, in body 0 "
        "after flatten");
  const auto after_split = [](const Case& of, auto break_it) { return violation_of_draft(of, Pass::split_operations, break_it); };
  CHECK(after_split(a_layer, [](BodyDraft& d, Plan&) { op(d, "Gelu").work.follow(0, 1, 7); }) ==
        "work has its axes: operation 2 (Gelu) has operand 0, whose axis 1 follows axis 7 of the work: an axis from 0 to 1 "
        "expected, in body 0 after split_operations");
  CHECK(after_split(on_tiles,
                    [](BodyDraft& d, Plan&) {
                      for (auto& each : d.operations) each.partial = false;
                    }) ==
        "sums that are cut give partials: operation 0 (MatMul) sums over axis 2, which can be cut, into a whole result: "
        "partials, or an axis that cannot be cut, expected, in body 0 after split_operations");
}

TEST_CASE("verify: groups") {
  const auto violation = [](auto break_it) { return violation_of_draft(a_layer, Pass::fuse, break_it); };
  CHECK(violation([](BodyDraft& d, Plan&) { d.groups[0].members.clear(); }) ==
        "groups have members: group 0 has no operation: at least one expected, in body 0 after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) { d.groups[0].members[0].operation = 99; }) ==
        "groups have members: group 0 has operation 99: an operation from 0 to 7 expected, in body 0 after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) { d.groups.pop_back(); }) ==
        "one group: operation 6 (MatMul) is in 0 groups: one expected, in body 0 after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) { joined(d).members.push_back(tw::internal::Member(joined(d).members[0])); }) ==
        "one group: operation 0 (MatMul) is in 2 groups: one expected, in body 0 after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) { d.operations[joined(d).members[1].operation].alone = true; }) ==
        "some operations are alone: operation 1 (Add) is one of 4 operations in group 0: a group of its own expected, in body 0 "
        "after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) {
          while (joined(d).members.size() < 17) joined(d).members.push_back(tw::internal::Member(joined(d).members[0]));
        }) == "groups are small: group 0 has 17 operations: at most 16 expected, in body 0 after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) { joined(d).members[0].grid_axis.count = 1; }) ==
        "grids fit: operation 0 (MatMul) has work of 3 axes, of which 1 have a place in the grid of group 0: a place for each "
        "expected, in body 0 after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) { joined(d).members[0].grid_axis[0] = 7; }) ==
        "grids fit: operation 0 (MatMul) has axis 0 along axis 7 of the grid of group 0: an axis from 0 to 2 expected, in body 0 "
        "after fuse");
  CHECK(violation([](BodyDraft& d, Plan&) { joined(d).grid[0].extent = 3; }) ==
        "grids fit: operation 0 (MatMul) has extent 64 along axis 0 of the grid of group 0: extent 3 expected, in body 0 after "
        "fuse");
  CHECK(violation([](BodyDraft& d, Plan&) {
          for (auto& axis : joined(d).grid.items) axis.kind = tw::WorkAxisKind::parallel;
        }) ==
        "grids fit: operation 0 (MatMul) needs axis 2 whole, but group 0 is cut along it: no cut along it expected, in body 0 "
        "after fuse");
}

TEST_CASE("verify: cuts") {
  const auto violation = [](auto break_it) { return violation_of_draft(a_layer, Pass::cut_groups, break_it); };
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts.pop_back(); }) ==
        "cuts divide grids: 2 cuts: one for each of 3 groups expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts[0].partition.blocks.count = 1; }) ==
        "cuts divide grids: group 0 has blocks along 1 axes: blocks along 3 expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts[0].partition.blocks[0] = 0; }) ==
        "cuts divide grids: group 0 has blocks of 0 along axis 0: blocks of 1 to 64 expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts[0].evaluations.kinds.pop_back(); }) ==
        "each member is evaluated: group 0 has 3 evaluations: 4, one for each operation, expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts[0].evaluations.kernels[0] = 9; }) ==
        "each member is evaluated: operation 0 (MatMul) has kernel 9: a member from 0 to 3 expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) {
          for (bool& each : d.cuts[0].evaluations.in_registers) each = true;
        }) ==
        "only internal values stay in registers: operation 3 (Add) keeps its result in registers, but the result's storage is "
        "not internal: an internal storage expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { storage_of(d, op(d, "Gelu"), 1).internal = false; }) ==
        "only internal values stay in registers: operation 2 (Gelu) keeps its result in registers, but the result's storage is "
        "not internal: an internal storage expected, in body 0 after cut_groups");
}

TEST_CASE("verify: memory that storages take over") {
  const auto violation = [](auto break_it) { return violation_of_draft(a_chain, Pass::reuse_dying_inputs, break_it); };
  CHECK(violation([](BodyDraft& d, Plan&) { reuser(d).reuses = StorageId(99); }) ==
        "reuses are a forest: storage 3 reuses storage 99: a storage from 0 to 5 expected, in body 0 after reuse_dying_inputs");
  CHECK(violation([](BodyDraft& d, Plan&) { d.storages[reuser(d).reuses].reuses = d.owner(reuser(d).reuses); }) ==
        "reuses are a forest: storage 2 reuses storages in a circle: a storage with memory of its own at the end expected, in "
        "body 0 after reuse_dying_inputs");
}

TEST_CASE("verify: tiles") {
  const auto violation = [](auto break_it) { return violation_of_draft(a_product, Pass::map_tiles, break_it); };
  CHECK(violation([](TileDraft& d, Plan&) { d.tiles.layouts.pop_back(); }) ==
        "storages have layouts: 5 layouts: one for each of 6 storages expected, in body 0 after map_tiles");
  CHECK(violation([](TileDraft& d, Plan&) { d.tiles.layouts[StorageId(0)].places.set = 1; }) ==
        "sets of tiles exist: storage 0 is on set 1 of tiles: a set of the plan expected, in body 0 after map_tiles");
  CHECK(violation([](TileDraft& d, Plan&) { d.tiles.groups.pop_back(); }) ==
        "vertices have places: 1 groups on tiles: 2 expected, in body 0 after map_tiles");
  CHECK(violation([](TileDraft& d, Plan&) { d.tiles.groups[1].grid.places.set = -1; }) ==
        "sets of tiles exist: group 1 is on set -1 of tiles: a set of the plan expected, in body 0 after map_tiles");
  CHECK(violation([](TileDraft& d, Plan&) { d.tiles.groups[0].operands[0].storage = StorageId(99); }) ==
        "vertices know what they use: group 0 uses storage 99 on tiles: a storage with a layout expected, in body 0 after "
        "map_tiles");
  CHECK(violation_of_draft(on_two, Pass::place, [](TileDraft&, Plan& p) { p.moves[0].from_set = 2; }) ==
        "sets of tiles exist: a step on set 0 of tiles copies from set 2: sets of the plan, or none (-1), expected, in body 0 "
        "after place");
}

TEST_CASE("verify: programs with all kinds of steps have no violation on any target") {
  tw::Target large_ipu = tw::ipu_model;
  large_ipu.bytes_per_tile *= 2;
  const auto check = [](const Case& of, const tw::Target& target) {
    INFO(of.name);
    CHECK_NOTHROW(tw::lower_verified(tw::prepare(*tw::trace(of.program, target), target)));
  };
  for (const Case& each :
       {a_layer, on_tiles, Case{"parts", parts}, a_chain, with_scratch, without_scratch, with_calls, with_replicas})
    for (const tw::Target& target : {each.target, tw::cpu, large_ipu}) check(each, target);
  for (const Case& each : {a_product, with_square, on_two})
    for (const tw::Target& target : {each.target, each.target.with_tiles(7), each.target.with_io_tiles(32)}) check(each, target);
}

TEST_CASE("print_passes shows what each pass gives") {
  const std::string printed = tw::print_passes(tw::prepare(*tw::trace(chain), tw::cpu.with_tiles(2))).string();
  CHECK(printed.find("VIOLATION") == printed.npos);
  const auto shows = [&](std::string_view title, std::string_view text) { violations::check_part(printed, title, text); };
  shows("Body 0 after flatten",
        "  storage 4: (64, 64) float32, frame\n"
        "  storage 5: (64, 64) float32, stream 1\n"
        "  operation 0: Exp(0) -> 1\n"
        "  operation 1: Exp(1) -> 2\n"
        "  operation 2: Exp(2) -> 3\n"
        "  operation 3: Mul(1, 3) -> 4\n"
        "  operation 4: Identity(4) -> 5");
  shows("Body 0 after fuse", "  group 0 over 64 x 64\n    operation 0: Exp(0) -> 1\n");
  shows("Body 0 after cut_groups",
        "  storage 4: (64, 64) float32, frame, internal\n"
        "  storage 5: (64, 64) float32, stream 1\n"
        "  group 0 over 64 x 64: 2 vertices of 32 x 64\n"
        "    operation 0: Exp(0) -> 1\n"
        "    operation 1: Exp(1) -> 2 (in an expression), in registers\n"
        "    operation 2: Exp(2) -> 3 (in an expression), in registers\n"
        "    operation 3: Mul(1, 3) -> 4 (in an expression), in registers\n"
        "    operation 4: Identity(4) -> 5");
  shows("Body 0 :", "1 steps, 0 bytes");
}

TEST_CASE("print_passes shows what is on tiles") {
  const std::string printed = tw::print_passes(tw::prepare(*tw::trace(product, a_product.target), a_product.target)).string();
  CHECK(printed.find("VIOLATION") == printed.npos);
  const auto shows = [&](std::string_view title, std::string_view text) { violations::check_part(printed, title, text); };
  shows("Body 0 after map_tiles", "  storage 0: (64, 64) float32, stream 0, blocks of 4 x 16 in 64 places on tiles\n");
  shows("Body 0 after map_tiles", " vertices of 16 x 16 x 16 in 64 places on tiles\n");
  shows("Body 0 after place_tiles", "  room on tiles: storage 0, bytes 0 to 256, groups 0 to 0\n");
  shows("Body 0 after place_tiles", "  room on tiles: received of storage 1, bytes ");
}
