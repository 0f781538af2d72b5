// labels: asan ubsan
// What passes of the planner give is verified: drafts and plans that are broken on purpose, one for each rule.
#include "broken_programs.hpp"

namespace {

using namespace violations;

/// The first operation with this op, or the first call.
tw::internal::Operation& op(BodyDraft& draft, std::string_view name) {
  for (tw::internal::Operation& each : draft.operations)
    if (each.op ? each.op->name == name : name == "call") return each;
  FAIL("no " << name);
  return draft.operations[0];
}
tw::internal::Storage& storage_of(BodyDraft& draft, const tw::internal::Operation& operation, int operand) {
  return draft.storage(operation.operands[operand].storage);
}
/// The first group with several members.
tw::internal::Group& joined(BodyDraft& draft) {
  for (tw::internal::Group& each : draft.groups)
    if (each.members.size() > 1) return each;
  FAIL("no joined group");
  return draft.groups[0];
}
/// The first storage that takes over memory.
tw::internal::Storage& reuser(BodyDraft& draft) {
  for (tw::internal::Storage& each : draft.storages)
    if (each.reuses != StorageId::none) return each;
  FAIL("no memory is reused");
  return draft.storages[StorageId(0)];
}

}  // namespace

// ---- drafts

TEST_CASE("verify: operations and their operands") {
  const auto violation = [](const Case& of, auto break_it, Pass after = Pass::flatten) {
    return violation_of_draft(of, after, break_it);
  };
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").operands[0].storage = StorageId(99); }) ==
        "operands exist: operation 0 (MatMul) has operand 0 in storage 99: a storage from 0 to 10 expected, in body 0 after "
        "flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").operands[1].layout.offset = 1; }) ==
        "views lie in their storages: operation 0 (MatMul) has operand 1 with elements 1 to 4096 of a storage: elements from 0 "
        "to 4095 expected, in body 0 after flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").calling.body = BodyId(1); }) ==
        "one kind: operation 0 (MatMul) is an op and a call: only one of them expected, in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { op(d, "call").loads_code = true; }) ==
        "one kind: operation 1 (call) loads code and has 4 operands: no operand expected, in body 0 after flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { op(d, "MatMul").input_count = 3; }) ==
        "inputs and outputs: operation 0 (MatMul) has 3 inputs of 3 operands: at least one output expected, in body 0 after "
        "flatten");
  CHECK(violation(a_layer, [](BodyDraft&, Plan& p) { p.streams[0].direction = tw::StreamDirection::device_to_host; }) ==
        "written before it is read: operation 0 (MatMul) reads storage 0, which no earlier operation writes: an earlier write "
        "expected, in body 0 after flatten");
  CHECK(violation(a_layer, [](BodyDraft&, Plan& p) { p.streams[1].direction = tw::StreamDirection::host_to_device; }) ==
        "what is given stays: operation 5 (Identity) writes operand 1, which is in a stream from the host: an operand in other "
        "memory expected, in body 0 after flatten");
  CHECK(violation(a_layer,
                  [](BodyDraft& d, Plan&) { storage_of(d, op(d, "Gelu"), 1).location.base = tw::internal::Base::constant; }) ==
        "what is given stays: operation 2 (Gelu) writes operand 1, which is in a constant: an operand in other memory expected, "
        "in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { op(d, "call").calling.body = BodyId::main; }) ==
        "callees are planned before: operation 1 (call) calls body 0: a body from 1 to 2 expected, in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { op(d, "call").calling.body = BodyId(3); }) ==
        "callees are planned before: operation 1 (call) calls body 3: a body from 1 to 2 expected, in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { ++op(d, "call").input_count; }) ==
        "arguments of calls: operation 1 (call) has 2 inputs: 1 expected, in body 0 after flatten");
  CHECK(violation(with_calls, [](BodyDraft& d, Plan&) { op(d, "call").operands.pop_back(); }) ==
        "arguments of calls: operation 1 (call) has 3 operands: at least 4 expected, in body 0 after flatten");
  CHECK(
      violation(a_layer, [](BodyDraft& d, Plan& p) { storage_of(d, op(d, "MatMul"), 1).location.offset = p.memory.variables; }) ==
      "locations exist: storage 1 is at index 0, offset 16640 of memory `variable`: an offset from 0 to 16639 expected, in body "
      "0 after flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { storage_of(d, op(d, "MatMul"), 0).location.index = 2; }) ==
        "locations exist: storage 0 is at index 2, offset 0 of memory `stream`: an index from 0 to 1 and an offset of 0 or more "
        "expected, in body 0 after flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { storage_of(d, op(d, "MatMul"), 2).location.offset = 64; }) ==
        "locations exist: storage 2 is at index 0, offset 64 of memory `frame`: index 0 and offset 0 expected, in body 0 after "
        "flatten");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { std::swap(d.operations[0], d.operations[1]); }) ==
        "written before it is read: operation 0 (Add) reads storage 2, which no earlier operation writes: an earlier write "
        "expected, in body 0 after flatten");
  CHECK(violation(
            a_layer, [](BodyDraft& d, Plan&) { op(d, "Gelu").work.follow(0, 1, 7); }, Pass::split_operations) ==
        "work has its axes: operation 2 (Gelu) has operand 0, whose axis 1 follows axis 7 of the work: an axis from 0 to 1 "
        "expected, in body 0 after split_operations");
  CHECK(violation(
            on_tiles,
            [](BodyDraft& d, Plan&) {
              for (auto& each : d.operations) each.partial = false;
            },
            Pass::split_operations) ==
        "sums that are cut give partials: operation 0 (MatMul) sums over axis 2, which can be cut, into a whole result: "
        "partials, or an axis that cannot be cut, expected, in body 0 after split_operations");
}

TEST_CASE("verify: groups") {
  const auto violation = [](const Case& of, auto break_it, Pass after = Pass::fuse) {
    return violation_of_draft(of, after, break_it);
  };
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { d.groups[0].members.clear(); }) ==
        "groups have members: group 0 has no operation: at least one expected, in body 0 after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { d.groups[0].members[0].operation = 99; }) ==
        "groups have members: group 0 has operation 99: an operation from 0 to 7 expected, in body 0 after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { d.groups.pop_back(); }) ==
        "one group: operation 6 (MatMul) is in 0 groups: one expected, in body 0 after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) {
          joined(d).members.push_back(tw::internal::Member(joined(d).members[0]));
        }) == "one group: operation 0 (MatMul) is in 2 groups: one expected, in body 0 after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { d.operations[joined(d).members[1].operation].alone = true; }) ==
        "some operations are alone: operation 1 (Add) is one of 4 operations in group 0: a group of its own expected, in body 0 "
        "after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) {
          while (joined(d).members.size() < 17) joined(d).members.push_back(tw::internal::Member(joined(d).members[0]));
        }) == "groups are small: group 0 has 17 operations: at most 16 expected, in body 0 after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { joined(d).members[0].grid_axis.count = 1; }) ==
        "grids fit: operation 0 (MatMul) has work of 3 axes, of which 1 have a place in the grid of group 0: a place for each "
        "expected, in body 0 after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { joined(d).members[0].grid_axis[0] = 7; }) ==
        "grids fit: operation 0 (MatMul) has axis 0 along axis 7 of the grid of group 0: an axis from 0 to 2 expected, in body 0 "
        "after fuse");
  CHECK(violation(a_layer, [](BodyDraft& d, Plan&) { joined(d).grid[0].extent = 3; }) ==
        "grids fit: operation 0 (MatMul) has extent 64 along axis 0 of the grid of group 0: extent 3 expected, in body 0 after "
        "fuse");
  CHECK(violation(a_layer,
                  [](BodyDraft& d, Plan&) {
                    for (auto& axis : joined(d).grid.items) axis.kind = tw::WorkAxisKind::parallel;
                  }) ==
        "grids fit: operation 0 (MatMul) needs axis 2 whole, but group 0 is cut along it: no cut along it expected, in body 0 "
        "after fuse");
  CHECK(violation(a_chain, [](BodyDraft& d, Plan&) { std::swap(d.groups[0], d.groups[1]); }) ==
        "memory keeps its order: operation 0 (Exp) writes storage 1 after operation 1: the order of the draft expected, in body "
        "0 after fuse");
  CHECK(violation(a_chain, [](BodyDraft& d, Plan&) { op(d, "Exp").operands[0] = op(d, "Exp").operands[1]; }) ==
        "written before it is read: operation 0 (Exp) reads storage 1, which no earlier operation writes: an earlier write "
        "expected, in body 0 after fuse");
}

TEST_CASE("verify: cuts") {
  const auto violation = [](auto break_it) { return violation_of_draft(a_layer, Pass::cut_groups, break_it); };
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts.pop_back(); }) ==
        "cuts divide grids: 2 cuts: one for each of 3 groups expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts[0].partition.blocks.count = 1; }) ==
        "cuts divide grids: group 0 has blocks along 1 axes: blocks along 3 expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts[0].partition.blocks[0] = 0; }) ==
        "cuts divide grids: group 0 has blocks of 0 along axis 0: blocks of 1 to 64 expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { d.cuts[0].partition.blocks[2] = 1; }) ==
        "cuts divide grids: group 0 is cut along axis 2, which cannot be cut: one block expected, in body 0 after cut_groups");
  CHECK(violation([](BodyDraft& d, Plan&) { ++d.cuts[0].partition.vertices; }) ==
        "cuts divide grids: group 0 has 9 vertices: 8, one for each block, expected, in body 0 after cut_groups");
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

TEST_CASE("verify: memory of storages") {
  const auto violation = [](const Case& of, Pass after, auto break_it) { return violation_of_draft(of, after, break_it); };
  CHECK(violation(a_chain, Pass::find_internal_storages,
                  [](BodyDraft& d, Plan&) { storage_of(d, op(d, "Exp"), 1).internal = true; }) ==
        "internal storages have one group: operation 1 (Exp) uses internal storage 1 in group 1, and group 0 uses it too: one "
        "group expected, in body 0 after find_internal_storages");
  CHECK(violation(a_layer, Pass::find_internal_storages,
                  [](BodyDraft& d, Plan&) { storage_of(d, op(d, "MatMul"), 1).internal = true; }) ==
        "internal storages have one group: operation 0 (MatMul) uses internal storage 1, which is not in the frame: an internal "
        "storage in the frame expected, in body 0 after find_internal_storages");
  CHECK(violation(a_chain, Pass::reuse_dying_inputs, [](BodyDraft& d, Plan&) { reuser(d).reuses = StorageId(99); }) ==
        "reuses are a forest: storage 3 reuses storage 99: a storage from 0 to 5 expected, in body 0 after reuse_dying_inputs");
  CHECK(violation(a_chain, Pass::reuse_dying_inputs,
                  [](BodyDraft& d, Plan&) { d.storages[reuser(d).reuses].reuses = d.owner(reuser(d).reuses); }) ==
        "reuses are a forest: storage 2 reuses storages in a circle: a storage with memory of its own at the end expected, in "
        "body 0 after reuse_dying_inputs");
  CHECK(violation(a_chain, Pass::reuse_dying_inputs, [](BodyDraft& d, Plan&) { reuser(d).reuses = StorageId(0); }) ==
        "reused memory is in the frame: storage 3 reuses storage 0, and storage 0 has no memory in the frame: both in the frame "
        "expected, in body 0 after reuse_dying_inputs");
  CHECK(violation(a_chain, Pass::reuse_dying_inputs, [](BodyDraft& d, Plan&) { reuser(d).whole.shape[0] = 65; }) ==
        "reused memory is large enough: storage 3 of 16640 bytes reuses a storage of 16384 bytes: at least 16640 bytes expected, "
        "in body 0 after reuse_dying_inputs");
  CHECK(
      violation(a_chain, Pass::reuse_dying_inputs, [](BodyDraft& d, Plan&) { d.storages[StorageId(2)].reuses = StorageId(1); }) ==
      "live ranges do not overlap in reused memory: storage 2 lives from group 1 in the memory of storage 1, which lives to "
      "group 3: a start in that group or later expected, in body 0 after reuse_dying_inputs");
  CHECK(violation(a_chain, Pass::place, [](BodyDraft& d, Plan&) { storage_of(d, op(d, "Exp"), 1).location.offset = 1; }) ==
        "storages lie in the frame: storage 1 has bytes 1 to 16385: a begin that is a multiple of 64, and an end of at most "
        "32768, expected, in body 0 after place");
  CHECK(violation(a_chain, Pass::place, [](BodyDraft&, Plan& p) { p.bodies[BodyId::main].frame_bytes = 64; }) ==
        "storages lie in the frame: storage 1 has bytes 0 to 16384: a begin that is a multiple of 64, and an end of at most 64, "
        "expected, in body 0 after place");
  CHECK(violation(a_chain, Pass::place,
                  [](BodyDraft& d, Plan&) {
                    for (auto& each : d.storages)
                      if (each.location.base == tw::internal::Base::frame) each.location.offset = 0;
                  }) ==
        "live storages do not overlap: storages 1 and 2 share bytes of the frame in group 1: separate bytes expected, in body 0 "
        "after place");
}

TEST_CASE("verify: scratch is limited") {
  CHECK(violation_of_draft(without_scratch, Pass::cut_groups, [](BodyDraft& d, Plan&) {
          storage_of(d, op(d, "Softmax"), 1).internal = true;
        }) == "scratch is limited: group 0 has 524288 bytes of scratch: at most 262144 expected, in body 0 after cut_groups");
}

TEST_CASE("verify: exchanges") {
  CHECK(violation_of_draft(with_calls, Pass::place, [](BodyDraft&, Plan& p) { p.exchanges.push_back({1, 99}); }) ==
        "exchanges are steps of a body: an exchange of steps 1 to 99: steps of one body, from step 0 on, expected, in body 0 "
        "after place");
}

// ---- what is right stays right, and is printed

TEST_CASE("verify: programs with all kinds of steps have no violation on any target") {
  tw::Target large_ipu = tw::ipu_model;
  large_ipu.bytes_per_tile *= 2;
  for (const Case& each :
       {a_layer, on_tiles, Case{"parts", parts}, a_chain, with_scratch, without_scratch, with_calls, with_replicas})
    for (const tw::Target& target : {each.target, tw::cpu, large_ipu}) {
      INFO(each.name);
      CHECK_NOTHROW(tw::lower_verified(tw::prepare(*tw::trace(each.program, target), target)));
    }
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
