// labels: asan light ubsan
// What passes of the planner give is verified: drafts and plans that are broken on purpose, one for each rule.
#include "violations.hpp"

namespace {

using namespace violations;

/// A layer with its activation, the sum of its columns, and an update of the weight.
void layer(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {64, 64});
  const Tensor w = ir.variable(tw::ones(), {64, 64}, tw::float32, "w"), b = ir.variable(tw::zeros(), {64}, tw::float32, "b");
  const Tensor y = ops::gelu(x.matmul(w) + b) + ir.constant(1.0);
  store(ir, "sum", ops::sum(y, {0}));
  ops::scaled_add_(w, x.T().matmul(y), {.b = -0.5});
}
/// A softmax that is stored: its rows go through scratch if they have room there.
template <int columns>
void softmax(tw::Ir& ir) {
  store(ir, "y", ops::softmax(load(ir, "x", {8, columns})));
}
/// Reductions that the IPU model cuts: of one output, and of an output of parts and one of rows.
void parts(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {128, 8}), labels = load(ir, "labels", {128}, tw::int32);
  store(ir, "largest", ops::max(x));
  const auto [loss, gradient] = ops::nll_loss_with_softmax_grad(x, labels, load(ir, "scale", {}));
  store(ir, "loss", loss);
  store(ir, "gradient", gradient);
}
/// Elementwise ops, the last of which reads the first two results: c takes over the memory of b.
void chain(tw::Ir& ir) {
  const Tensor a = ops::exp(load(ir, "x", {64, 64})), b = ops::exp(a), c = ops::exp(b);
  store(ir, "y", a * c);
}
/// Ops after an upload, which keep a tensor for runs; and a loop.
void contexts(tw::Ir& ir) {
  const Tensor w = ir.variable(tw::ones(), {64}, tw::float32, "w");
  Tensor kept;
  {
    const auto upload = tw::execution_context(ir, tw::ExecutionContext::WeightsFromHostFragment);
    kept = ops::exp(w);
  }
  const tw::Graph twice = ir.create_graph([](Tensor x) { return x * 2; }, w);
  store(ir, "y", tw::repeat(twice, 3, kept));
}
/// A loop, a load of code, a conditional, a stream that moves, and a remote buffer.
void calls(tw::Ir& ir) {
  tw::Graph twice = ir.create_graph([](Tensor x) { return x * 2; }, tw::TensorSpec{{8}, tw::float32});
  const tw::Graph thrice = ir.create_graph([](Tensor x) { return x * 3; }, tw::TensorSpec{{8}, tw::float32});
  const tw::RemoteBuffer buffer = ir.remote_buffer({8}, tw::float32, 4);
  Tensor x = ops::remote_load(buffer, 2);
  x = tw::repeat(twice, 3, x);
  ops::remote_code_load(thrice);
  x = tw::conditional(load(ir, "condition", {}, tw::boolean), {twice, {x}}, {thrice, {x}});
  ops::remote_store(buffer, 1, x);
  store(ir, "y", x);
}
void collective(tw::Ir& ir) {
  ir.set_replication_factor(2);
  store(ir, "y", ops::collectives::replicated_all_reduce(load(ir, "x", {8}) + 1));
}

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
/// The first step of the main body of a kind.
tw::internal::Step& step(Plan& plan, tw::internal::StepKind kind) {
  for (int s = 0; s < plan.bodies[BodyId::main].step_count; ++s)
    if (tw::internal::Step& each = plan.steps[plan.bodies[BodyId::main].first_step + s]; each.kind == kind) return each;
  FAIL("no such step");
  return plan.steps[0];
}
tw::internal::StageOperand& operand(Plan& plan, tw::internal::Source source) {
  for (tw::internal::StageOperand& each : plan.operands)
    if (each.source == source) return each;
  FAIL("no such operand");
  return plan.operands[0];
}

const Case a_layer{"layer", layer}, on_tiles{"layer on tiles", layer, tw::ipu_model.with_tiles(64)},
    a_chain{"chain", chain, tw::cpu.without_fusion()}, with_scratch{"softmax", softmax<1024>},
    without_scratch{"wide softmax", softmax<131072>}, with_calls{"calls", calls}, with_replicas{"collective", collective},
    with_contexts{"contexts", contexts};

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
            a_layer, [](BodyDraft& d, Plan&) { op(d, "Gelu").work.follow(0, 1, 7); }, Pass::split_reductions) ==
        "work has its axes: operation 2 (Gelu) has operand 0, whose axis 1 follows axis 7 of the work: an axis from 0 to 1 "
        "expected, in body 0 after split_reductions");
  CHECK(violation(
            on_tiles,
            [](BodyDraft& d, Plan&) {
              for (auto& each : d.operations) each.partial = false;
            },
            Pass::split_reductions) ==
        "sums that are cut give partials: operation 0 (MatMul) sums over axis 2, which can be cut, into a whole result: "
        "partials, or an axis that cannot be cut, expected, in body 0 after split_reductions");
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

// ---- plans

TEST_CASE("verify: tables of a plan") {
  const auto violation = [](auto break_it) { return violation_of_plan(a_layer, break_it); };
  CHECK(violation([](Plan& p) { p.bodies.clear(); }) == "bodies exist: no body: at least one expected");
  CHECK(violation([](Plan& p) { ++p.bodies[BodyId::main].step_count; }) ==
        "rows have one owner: body 0 has steps 0 to 4: rows that exist and have no other owner expected");
  CHECK(violation([](Plan& p) { --p.bodies[BodyId::main].step_count; }) ==
        "rows have one owner: a row of the steps has no owner: an owner expected");
  CHECK(violation([](Plan& p) { p.stages[1].first_operand = 0; }) ==
        "rows have one owner: stage 1 has operands 0 to 3: rows that exist and have no other owner expected");
  CHECK(violation([](Plan& p) { p.strides.push_back(0); }) ==
        "rows have one owner: a row of the strides has no owner: an owner expected");
  CHECK(violation([](Plan& p) { p.steps[0].first_location = -1; }) ==
        "rows have one owner: step 0 has locations -1 to 4: rows that exist and have no other owner expected");
}

TEST_CASE("verify: compute sets") {
  const auto violation = [](auto break_it) { return violation_of_plan(a_layer, break_it); };
  CHECK(violation([](Plan& p) {
          tw::internal::ComputeSet& last = p.compute_sets.back();  // whose stages, operands and strides are the last, too
          for (; last.stage_count < 17; ++last.stage_count) {
            p.stages.push_back(tw::internal::Stage(p.stages.back()));
            p.stages.back().first_operand = static_cast<int>(p.operands.size());
            for (int o = 0; o < p.stages.back().operand_count; ++o)
              p.operands.push_back(tw::internal::StageOperand(p.operands[0]));
          }
        }) == "sets are small: 17 stages: 1 to 16 expected, in compute set 2");
  CHECK(violation([](Plan& p) {
          for (tw::internal::ComputeSet& last = p.compute_sets.back(); last.location_count < 49; ++last.location_count)
            for (int axis = 0; axis < last.blocks.size(); ++axis) p.strides.push_back(0);
        }) == "sets are small: 49 locations: at most 48 expected, in compute set 2");
  CHECK(violation([](Plan& p) { p.compute_sets[0].scratch_bytes = 1 << 20; }) ==
        "scratch is limited: 1048576 bytes of scratch: at most 262144 expected, in compute set 0");
  CHECK(violation([](Plan& p) { p.compute_sets[0].extents.count = 1; }) ==
        "blocks divide grids: blocks along 3 axes: blocks along 1 expected, in compute set 0");
  CHECK(violation([](Plan& p) { p.compute_sets[0].blocks[0] = 0; }) ==
        "blocks divide grids: blocks of 0 along axis 0: blocks of 1 to 64 expected, in compute set 0");
  CHECK(violation([](Plan& p) { p.stages[0].op = nullptr; }) ==
        "stages have ops: stage 0 has no op: an op with a name expected, in compute set 0");
  CHECK(violation([](Plan& p) { p.stages[0].input_count = p.stages[0].operand_count; }) ==
        "stages have outputs: stage 0 (MatMul) has 3 inputs of 3 operands: at least one output expected, in compute set 0");
  CHECK(violation([](Plan& p) { p.stages[0].evaluation = tw::internal::Evaluation::epilogue; }) ==
        "epilogues follow kernels: stage 0 (MatMul) is in an epilogue: a kernel before it expected, in compute set 0");
  CHECK(violation([](Plan& p) { p.stages[3].evaluation = tw::internal::Evaluation::expression; }) ==
        "expressions have one reader: stage 3 (Add) has 0 readers: one expected, in compute set 0");
  CHECK(violation([](Plan& p) { p.operands[0].grid_axis[0] = 5; }) ==
        "operands follow the grid: operand 0 of stage 0 (MatMul) follows axis 5 of the grid: an axis from 0 to 2 expected, in "
        "compute set 0");
  CHECK(
      violation([](Plan& p) { p.operands[0].index = 40; }) ==
      "operands exist: operand 0 of stage 0 (MatMul) has index 40 in memory: a location from 0 to 4 expected, in compute set 0");
  CHECK(violation([](Plan& p) { operand(p, tw::internal::Source::value).index = 9; }) ==
        "operands exist: operand 2 of stage 0 (MatMul) has index 9 in value: stage 0 expected, in compute set 0");
  CHECK(violation_of_plan(with_scratch, [](Plan& p) { operand(p, tw::internal::Source::scratch).index = 1; }) ==
        "operands exist: operand 1 of stage 0 (Softmax) has index 1 in scratch: a multiple of 64, and an end of at most 4096, "
        "expected, in compute set 0");
  CHECK(violation_of_plan(with_scratch, [](Plan& p) { operand(p, tw::internal::Source::scratch).index = 1 << 20; }) ==
        "operands exist: operand 1 of stage 0 (Softmax) has index 1048576 in scratch: a multiple of 64, and an end of at most "
        "4096, expected, in compute set 0");
}

TEST_CASE("verify: steps") {
  using tw::internal::StepKind;
  const auto violation = [](auto break_it) { return violation_of_plan(with_calls, break_it); };
  CHECK(violation([](Plan& p) { step(p, StepKind::loop).body = BodyId::main; }) ==
        "callees come after callers: a call of body 0: a body from 1 to 2 that is no root expected, in step 1 of body 0");
  CHECK(violation_of_plan(with_contexts, [](Plan& p) { step(p, StepKind::loop).body = p.after_upload; }) ==
        "callees come after callers: a call of body 1: a body from 1 to 2 that is no root expected, in step 0 of body 0");
  CHECK(violation([](Plan& p) { p.bodies[BodyId::main].max_arguments = 1; }) ==
        "room for arguments: 2 arguments of body 2: at most 1 expected, in step 1 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::conditional).arguments = 1, p.bodies[BodyId::main].max_arguments = 3; }) ==
        "callers agree: 1 arguments of body 2: 2, as in another call, expected, in step 3 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::loop).compute_set = 0; }) ==
        "steps name what they run: a call with compute set 0 and body -1 for false: no set (-1), and a body for false only in a "
        "conditional, expected, in step 1 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::compute).compute_set = -1; }) ==
        "steps name what they run: compute set -1, body -1, body -1 for false: a set from 0 to 3 and no bodies (-1) expected, in "
        "step 0 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::load_code).body = BodyId::main; }) ==
        "steps name what they run: code of body 0: a body from 1 to 2 that is no root expected, in step 2 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::loop).count = 0; }) ==
        "loops count: 0 iterations: at least 1 expected, in step 1 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::loop).barrier_before = false; }) ==
        "barriers stand between conflicts: no barrier before a call: a barrier expected, in step 1 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::loop).frame_offset = 1 << 20; }) ==
        "frames lie in frames: the frame of body 2 has bytes 1048576 to 1048576: a place in bytes 0 to 192 expected, in step 1 "
        "of body 0");
  CHECK(violation([](Plan& p) { ++step(p, StepKind::compute).vertices; }) ==
        "vertices are blocks: 2 vertices: 1 expected, in step 0 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::compute).items = 1; }) ==
        "only collectives have items: 1 items: none expected, in step 0 of body 0");
  CHECK(violation([](Plan& p) { step(p, StepKind::compute).stream = 9; }) ==
        "streams exist: stream 9 moves: a stream from 0 to 1, or none (-1), expected, in step 0 of body 0");
  CHECK(violation([](Plan& p) {
          for (auto& each : p.streams) each.moves = true;
        }) == "streams move after each use: stream -1 moves (-1: none): stream 1 expected, in step 5 of body 0");
  CHECK(violation([](Plan& p) {  // a location goes from one step to the next
          tw::internal::Step &from = p.steps[p.bodies[BodyId::main].first_step],
                             &to = p.steps[p.bodies[BodyId::main].first_step + 1];
          --from.location_count, --to.first_location, ++to.location_count;
        }) == "steps have their locations: 1 locations: 2, as in the compute set, expected, in step 0 of body 0");
  CHECK(violation_of_plan(with_replicas, [](Plan& p) { step(p, StepKind::collective).items = 0; }) ==
        "only collectives have items: 0 items: at least 1 expected, in step 1 of body 0");
  CHECK(violation_of_plan(a_chain,
                          [](Plan& p) {
                            for (auto& each : p.steps) each.barrier_before = false;
                          }) ==
        "barriers stand between conflicts: no barrier before a step that shares bytes with an earlier one at offset 0 of memory "
        "`frame`: a barrier expected, in step 1 of body 0");
  CHECK(violation_of_plan(a_chain, [](Plan& p) { p.steps[1].barrier_before = false; }) ==
        "barriers stand between conflicts: no barrier before a step that shares bytes with an earlier one at offset 0 of memory "
        "`frame`: a barrier expected, in step 1 of body 0");
  CHECK(
      violation([](Plan& p) { p.steps[p.steps.size() - 2].barrier_before = false; }) ==
      "barriers stand between conflicts: no barrier in the first step, or after a call: a barrier expected, in step 4 of body 0");
  CHECK(
      violation([](Plan& p) { p.steps[0].barrier_before = false; }) ==
      "barriers stand between conflicts: no barrier in the first step, or after a call: a barrier expected, in step 0 of body 2");
}

TEST_CASE("verify: locations and memory") {
  const auto at = [](tw::internal::Base base, auto break_it) {
    return violation_of_plan(base == tw::internal::Base::variable || base == tw::internal::Base::constant ? a_layer : with_calls,
                             [&](Plan& p) {
                               for (tw::internal::Location& each : p.locations)
                                 if (each.base == base) return break_it(each);
                               FAIL("no such location");
                             });
  };
  CHECK(at(tw::internal::Base::frame, [](tw::internal::Location& l) { l.offset += 1 << 20; }) ==
        "locations lie in their memory: 32 bytes at index 0, offset 1048576 of memory `frame`: a place in bytes 0 to 192 "
        "expected, in step 0 of body 0");
  CHECK(at(tw::internal::Base::frame, [](tw::internal::Location& l) { l.offset = -64; }) ==
        "locations lie in their memory: 32 bytes at index 0, offset -64 of memory `frame`: a place in bytes 0 to 192 expected, "
        "in step 0 of body 0");
  CHECK(at(tw::internal::Base::argument, [](tw::internal::Location& l) { l.index = 2; }) ==
        "locations lie in their memory: index 2 of memory `argument`: an index from 0 to 1 expected, in step 0 of body 2");
  CHECK(at(tw::internal::Base::variable, [](tw::internal::Location& l) { l.offset += 512; }) ==
        "locations lie in their memory: 16384 bytes at index 0, offset 512 of memory `variable`: a place in bytes 0 to 16640 "
        "expected, in step 0 of body 0");
  CHECK(at(tw::internal::Base::constant, [](tw::internal::Location& l) { l.offset += 64; }) ==
        "locations lie in their memory: 4 bytes at index 0, offset 64 of memory `constant`: a place in bytes 0 to 64 expected, "
        "in step 0 of body 0");
  CHECK(at(tw::internal::Base::stream, [](tw::internal::Location& l) { l.offset += 64; }) ==
        "locations lie in their memory: 0 bytes at index 0, offset 64 of memory `stream`: a place in bytes 0 to 1 expected, in "
        "step 3 of body 0");
  CHECK(at(tw::internal::Base::stream, [](tw::internal::Location& l) { l.index = 7; }) ==
        "locations lie in their memory: index 7 of memory `stream`: an index from 0 to 1 expected, in step 3 of body 0");
  CHECK(at(tw::internal::Base::remote, [](tw::internal::Location& l) { l.offset += 1 << 20; }) ==
        "locations lie in their memory: 32 bytes at index 0, offset 1048704 of memory `remote`: a place in bytes 0 to 256 "
        "expected, in step 0 of body 0");
  CHECK(violation_of_plan(a_layer, [](Plan& p) { p.variables[1].offset = p.variables[0].offset; }) ==
        "memory is divided: a variable at bytes 0 to 256: a begin that is a multiple of 64 from 16384 on, and an end of at most "
        "16640, expected");
  CHECK(violation_of_plan(a_layer, [](Plan& p) { p.variables[1].offset += 1; }) ==
        "memory is divided: a variable at bytes 16385 to 16641: a begin that is a multiple of 64 from 16384 on, and an end of at "
        "most 16640, expected");
  CHECK(violation_of_plan(a_layer, [](Plan& p) { p.constants[0].offset += 64; }) ==
        "memory is divided: a constant at bytes 64 to 68: a begin that is a multiple of 64 from 0 on, and an end of at most 64, "
        "expected");
  CHECK(violation_of_plan(with_calls, [](Plan& p) { p.remote_buffers[0].entries = 9; }) ==
        "memory is divided: a remote buffer at bytes 0 to 576: a begin that is a multiple of 64 from 0 on, and an end of at most "
        "256, expected");
  CHECK(violation_of_plan(with_contexts, [](Plan& p) { p.kept[0].offset = 0; }) ==
        "memory is divided: a variable at bytes 0 to 256: a begin that is a multiple of 64 from 256 on, and an end of at most "
        "512, expected");
  CHECK(violation_of_plan(with_calls, [](Plan& p) { p.memory.frame += 1; }) ==
        "memory is divided: a frame of 193 bytes: 192, the frame of the largest root, expected");
  CHECK(violation_of_plan(with_calls, [](Plan& p) { p.exchanges.push_back({1, 99}); }) ==
        "exchanges are steps of a body: an exchange of steps 1 to 99: steps of one body, from step 0 on, expected");
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
