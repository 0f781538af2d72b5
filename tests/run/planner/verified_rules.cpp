// labels: asan ubsan
// Plans that are broken on purpose, and by which rule the proof refuses each.
#include <utility>

#include "broken_programs.hpp"

namespace {

using namespace violations;
using tw::internal::Base, tw::internal::ComputeSet, tw::internal::Evaluation, tw::internal::Location, tw::internal::Source,
    tw::internal::Stage, tw::internal::StageOperand, tw::internal::Step, tw::internal::StepKind;

/// The first step of the main body of a kind.
Step& step(Plan& plan, StepKind kind) {
  for (int s = 0; s < plan.bodies[BodyId::main].step_count; ++s)
    if (Step& each = plan.steps[plan.bodies[BodyId::main].first_step + s]; each.kind == kind) return each;
  FAIL("no such step");
  return plan.steps[0];
}
StageOperand& operand(Plan& plan, Source source) {
  for (StageOperand& each : plan.operands)
    if (each.source == source) return each;
  FAIL("no such operand");
  return plan.operands[0];
}
/// A graph that is called before and after ops on tensors of several vertices.
void wide_calls(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {512, 64});
  tw::Graph layer = ir.create_graph([](Tensor t) { return ops::exp(t) * t; }, x);
  const Tensor y = tw::call(layer, {ops::tanh(x)});
  store(ir, "y", tw::call(layer, {y}) + y);
}
/// A division, which can fault.
void quotient(tw::Ir& ir) { store(ir, "y", ops::fmod(load(ir, "x", {64}, tw::int32), load(ir, "divisor", {64}, tw::int32))); }
/// A loop that changes its second input, by value or by reference: itself, in a graph that it calls, or in a loop of its own.
template <class Second, int way>
void changing_loop(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {64, 64}), v = ops::exp(load(ir, "v", {64, 64}));
  tw::Graph change = ir.create_graph([](Tensor a, tw::TensorByRef b) { return ops::scaled_add_(b, a), a + b; }, x, v);
  const auto build = [&](Tensor a, Second b) {
    if (way == 0) return ops::scaled_add_(b, a), a * b;
    return way == 1 ? Tensor(tw::call(change, {a, b})) * b : tw::repeat(change, 2, {a, b})[0] * b;
  };
  store(ir, "y", tw::repeat(ir.create_graph(build, x, v), 3, {x, v})[0]);
}
/// Two constants, and two variables with different first values.
void given(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {2});
  store(ir, "y", x * ir.constant({1, 2}, {2}));
  store(ir, "z", x + ir.constant({3, 4}, {2}));
  ops::add_(ir.variable(tw::ones(), {2}, tw::float32, "v"), x);
  ops::mul_(ir.variable(tw::zeros(), {2}, tw::float32, "w"), x);
}
/// A convolution with its bias and relu.
Tensor convolved(tw::Ir& ir) {
  return ops::relu(ops::conv(load(ir, "x", {16, 4, 8, 8}), ir.variable(tw::ones(), {16, 4, 3, 3}, tw::float32, "w")) +
                   ir.variable(tw::ones(), {16, 1, 1}, tw::float32, "b"));
}
/// A pooling in its epilogue: stages Conv, Add, Relu, MaxPool, and Identity, which stores the result.
void pooled(tw::Ir& ir) { store(ir, "y", ops::max_pool(convolved(ir), {2, 2}, {.stride = {2, 2}})); }
/// One whose input and result, of equal shapes, are in the frame.
void pooled_in_frame(tw::Ir& ir) {
  const Tensor t = convolved(ir), rows = t.reshape({16, -1});
  store(ir, "y", ops::max_pool(t, {1, 1}).reshape(rows.shape()).matmul(rows.T()));
}
const Case with_pooling{"pooling", pooled}, with_pooling_in_frame{"pooling in the frame", pooled_in_frame};
const Case with_wide_calls{"wide calls", wide_calls, tw::cpu.without_fusion()}, with_quotient{"quotient", quotient};

}  // namespace

TEST_CASE("verified: rows of a plan") {
  const auto fault = [](auto break_it) { return fault_of(a_layer, break_it); };
  CHECK(fault([](Plan& p) { p.bodies.clear(); }) == "tables: no body: at least one expected");
  CHECK(fault([](Plan& p) { ++p.bodies[BodyId::main].step_count; }) ==
        "tables: body 0 has steps 0 to 4 and a frame of 16384 bytes: steps that exist, and 0 bytes or more, expected");
  CHECK(fault([](Plan& p) { --p.bodies[BodyId::main].step_count; }) ==
        "values: variable 0 (w) differs from the graphs after the run: equal expected");
  CHECK(fault([](Plan& p) { p.bodies[BodyId::main].frame_bytes = -64; }) ==
        "tables: body 0 has steps 0 to 3 and a frame of -64 bytes: steps that exist, and 0 bytes or more, expected");
  CHECK(fault([](Plan& p) { p.stages[1].first_operand = 0; }) ==
        "tables: operand 2 of stage 1 (Add) is the value of stage 0: its own value expected, in compute set 0");
  CHECK(fault([](Plan& p) { p.stages[1].first_operand = 1 << 20; }) ==
        "tables: stage 1 (Add) has 2 inputs of 3 operands: operands that exist, at least one of them an output, expected, in "
        "compute set 0");
  CHECK(fault([](Plan& p) { p.compute_sets[0].first_stage = -1; }) ==
        "tables: compute set 0 has stages -1 to 3: 1 to 16 stages that exist expected");
  CHECK(
      fault([](Plan& p) { p.compute_sets[0].first_stride = 1 << 20; }) ==
      "tables: compute set 0 has 5 locations, and strides from 1048576 on: 0 to 48 locations, and strides that exist, expected");
  CHECK(fault([](Plan& p) { p.steps[0].first_location = -1; }) == "tables: locations -1 to 4: locations that exist expected");
}

TEST_CASE("verified: compute sets") {
  const auto fault = [](auto break_it) { return fault_of(a_layer, break_it); };
  CHECK(fault([](Plan& p) {
          ComputeSet& last = p.compute_sets.back();  // whose stages, operands and strides are the last, too
          for (; last.stage_count < 17; ++last.stage_count) {
            p.stages.push_back(Stage(p.stages.back()));
            p.stages.back().first_operand = static_cast<int>(p.operands.size());
            for (int o = 0; o < p.stages.back().operand_count; ++o) p.operands.push_back(StageOperand(p.operands[0]));
          }
        }) == "tables: compute set 2 has stages 6 to 23: 1 to 16 stages that exist expected");
  CHECK(fault([](Plan& p) {
          for (ComputeSet& last = p.compute_sets.back(); last.location_count < 49; ++last.location_count)
            for (int axis = 0; axis < last.blocks.size(); ++axis) p.strides.push_back(0);
        }) ==
        "tables: compute set 2 has 49 locations, and strides from 19 on: 0 to 48 locations, and strides that exist, expected");
  CHECK(fault([](Plan& p) { p.compute_sets[0].scratch_bytes = 1 << 20; }) ==
        "tables: compute set 0 has 1048576 bytes of scratch: 0 to 262144 expected");
  CHECK(fault([](Plan& p) { p.compute_sets[0].extents.count = 1; }) ==
        "tables: compute set 0 has blocks along 3 axes: blocks along 1 expected");
  CHECK(fault([](Plan& p) { p.compute_sets[0].blocks[0] = 0; }) ==
        "tables: compute set 0 has blocks of 0 along axis 0: blocks of 1 to 64 expected");
  CHECK(fault([](Plan& p) { p.compute_sets[0].blocks[0] = 65; }) ==
        "tables: compute set 0 has blocks of 65 along axis 0: blocks of 1 to 64 expected");
  CHECK(fault([](Plan& p) { p.stages[0].op = nullptr; }) == "tables: stage 0 has no op: an op expected, in compute set 0");
  CHECK(fault([](Plan& p) { p.stages[0].input_count = p.stages[0].operand_count; }) ==
        "tables: stage 0 (MatMul) has 3 inputs of 3 operands: operands that exist, at least one of them an output, expected, in "
        "compute set 0");
  CHECK(fault([](Plan& p) { p.operands[0].grid_axis[0] = 5; }) ==
        "vertices: operand 0 of stage 0 (MatMul) follows axis 5 of the grid: an axis of the grid expected");
  CHECK(fault([](Plan& p) { p.operands[0].index = 40; }) ==
        "vertices: operand 0 of stage 0 (MatMul) is at location 40: a location from 0 to 4 expected");
  CHECK(fault([](Plan& p) { operand(p, Source::value).index = 9; }) ==
        "tables: operand 2 of stage 0 (MatMul) is the value of stage 9: its own value expected, in compute set 0");
  CHECK(fault_of(with_scratch, [](Plan& p) { operand(p, Source::scratch).index = 1; }) ==
        "tables: operand 1 of stage 0 (Softmax) is at byte 1 of scratch: a multiple of 64 expected, in compute set 0");
  CHECK(fault_of(with_scratch, [](Plan& p) { operand(p, Source::scratch).index = 1 << 20; }) ==
        "vertices: operand 0 of stage 1 (Identity) is read in scratch 0, which no earlier stage writes");
}

TEST_CASE("verified: a stage is computed where its value is read") {
  const auto fault = [](int stage, Evaluation evaluation) {
    return fault_of(a_layer, [&](Plan& p) { p.stages[stage].evaluation = evaluation; });
  };
  CHECK(fault(0, Evaluation::epilogue) ==
        "vertices: stage 0 (MatMul) is in an epilogue: a kernel before it expected, in compute set 0");
  CHECK(fault(0, Evaluation::expression) ==
        "vertices: stage 0 (MatMul) is in an epilogue: a kernel before it expected, in compute set 0");
  CHECK(fault(1, Evaluation::kernel) ==
        "vertices: stage 1 (Add) reads the value of stage 0, which is no longer in registers: an operand in memory expected, in "
        "compute set 0");
  CHECK(fault(3, Evaluation::expression) ==
        "vertices: stage 1 (Add) stores the result of an expression: a value that one stage reads expected, in compute set 0");
}

TEST_CASE("verified: a pooling reads rows that its kernel has stored") {
  const auto fault = [](auto break_it) { return fault_of(with_pooling, break_it); };
  const auto input = [](Plan& p) -> StageOperand& { return p.operands[p.stages[3].first_operand]; };
  const auto relu = [](Plan& p) -> StageOperand& { return p.operands[p.stages[2].first_operand + p.stages[2].input_count]; };
  CHECK(fault([](Plan& p) {
          CHECK(p.stages[3].name == "MaxPool");
          CHECK(p.stages[3].evaluation == Evaluation::epilogue);
        }) == "");
  CHECK(fault([&](Plan& p) { input(p).by_image = false; }) ==
        "vertices: stage 3 (MaxPool) reads rows that are not stored by stage 0 or its epilogue: rows stored there expected, in "
        "compute set 0");
  CHECK(fault([&](Plan& p) { relu(p).by_image = false; }) ==
        "vertices: stage 3 (MaxPool) reads rows that are not stored by stage 0 or its epilogue: rows stored there expected, in "
        "compute set 0");
  CHECK(fault([&](Plan& p) { input(p).by_image = relu(p).by_image = false; }) ==
        "vertices: operand 1 of stage 2 (Relu) has bytes 0 to 4608 of 3456 bytes of scratch: a place in them expected");
  CHECK(fault([](Plan& p) { p.stages[3].evaluation = Evaluation::kernel; }) ==
        "vertices: operand 0 of stage 3 (MaxPool) is in scratch for one image at a time, which another kernel uses: all images "
        "expected");
  CHECK(fault([](Plan& p) { p.stages[2].evaluation = Evaluation::kernel; }) ==
        "vertices: stage 1 (Add) reads the value of stage 0, which is no longer in registers: an operand in memory expected, in "
        "compute set 0");
  CHECK(fault([&](Plan& p) { input(p).source = Source::value, input(p).index = 2, input(p).by_image = false; }) ==
        "vertices: stage 3 (MaxPool) reads rows that are not stored by stage 0 or its epilogue: rows stored there expected, in "
        "compute set 0");
  CHECK(fault([&](Plan& p) { p.operands[p.stages[3].first_operand + 1].index = input(p).index; }) ==
        "vertices: operand 1 of stage 3 (MaxPool) has another size or dtype than stage 2 writes: equal ones expected");
  CHECK(fault([&](Plan& p) { p.operands[p.stages[4].first_operand].by_image = true; }) ==
        "vertices: operand 0 of stage 4 (Identity) is in scratch for one image at a time, which another kernel uses: all images "
        "expected");
  CHECK(fault([&](Plan& p) { p.operands[p.stages[0].first_operand].by_image = true; }) ==
        "tables: operand 0 of stage 0 (Conv) is there for one image at a time, in memory: images in scratch expected, in compute "
        "set 0");
  CHECK(fault([](Plan& p) {
          tw::PoolAttributes attributes = tw::unpack<tw::PoolAttributes>(p.stages[3].attributes);
          attributes.windows.stride = {1, 1};
          p.stages[3].attributes = tw::pack(attributes);
        }) ==
        "values: stage 3 (MaxPool) computes with other attributes or numbers of operands than ops of the program: attributes of "
        "one of them expected, in compute set 0");
  CHECK(fault([&](Plan& p) { p.stages[4].evaluation = Evaluation::epilogue; }) ==
        "vertices: operand 0 of stage 4 (Identity) is in scratch that its kernel still reads or writes: separate bytes expected");
  CHECK(fault([&](Plan& p) { p.compute_sets[0].scratch_bytes -= 64; }) ==
        "vertices: operand 1 of stage 3 (MaxPool) has bytes 2304 to 3456 of 3392 bytes of scratch: a place in them expected");
  CHECK(fault([](Plan& p) { std::swap(p.stages[2], p.stages[3]); }) ==
        "vertices: stage 2 (MaxPool) reads rows that are not stored by stage 0 or its epilogue: rows stored there expected, in "
        "compute set 0");
}

TEST_CASE("verified: a pooling in an epilogue stores its rows over no others") {
  const auto output = [](Plan& p, int stage) -> StageOperand& {
    return p.operands[p.stages[stage].first_operand + p.stages[stage].input_count];
  };
  CHECK(fault_of(with_pooling_in_frame, [&](Plan& p) {
          CHECK(output(p, 3).source == Source::memory);
          CHECK(output(p, 2).source == Source::memory);
        }) == "");
  CHECK(fault_of(with_pooling_in_frame, [&](Plan& p) { output(p, 3).index = output(p, 2).index; }) ==
        "vertices: a kernel stores rows and elements in the same bytes: bytes of their own expected");
  CHECK(fault_of(with_pooling_in_frame, [&](Plan& p) { output(p, 3).index = p.operands[p.stages[0].first_operand].index; }) ==
        "vertices: operand 1 of stage 3 (MaxPool) moves by 2048 bytes from block to block: 4608 expected");
}

TEST_CASE("verified: steps") {
  const auto fault = [](auto break_it) { return fault_of(with_calls, break_it); };
  CHECK(fault([](Plan& p) { step(p, StepKind::loop).body = BodyId::main; }) ==
        "tables: a call of body 0, which a run begins with: another body expected");
  CHECK(fault_of(with_contexts, [](Plan& p) { step(p, StepKind::loop).body = p.after_upload; }) ==
        "tables: a call of body 1, which a run begins with: another body expected");
  CHECK(fault([](Plan& p) { p.bodies[BodyId::main].max_arguments = 1; }) ==
        "tables: 2 arguments of body 2: at most 1, for which there is room, expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::conditional).arguments = 1; }) ==
        "tables: 3 arguments of body 1: at most 2, for which there is room, expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::conditional).arguments = -1; }) == "tables: -1 arguments: 0 or more expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::compute).compute_set = -1; }) ==
        "tables: compute set -1: a set of the plan expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::load_code).body = BodyId::main; }) ==
        "tables: a load of the code of body 0: a body that steps call expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::loop).count = 0; }) == "values: stage 0 (Mul) reads bytes that no step wrote");
  CHECK(fault([](Plan& p) { step(p, StepKind::loop).first_stride = -1; }) ==
        "tables: strides -1 to 1: strides that exist expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::loop).frame_offset = 1 << 20; }) ==
        "memory: a frame of 0 bytes at 1048576: a place in 192 bytes expected");
  CHECK(fault([](Plan& p) { ++step(p, StepKind::compute).vertices; }) == "vertices: 2 vertices: 1, one for each block, expected");
  CHECK(fault([](Plan& p) { ++step(p, StepKind::compute).pieces; }) ==
        "tables: 2 pieces of each vertex: 1, as in the compute set, expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::compute).items = 1; }) ==
        "tables: 1 items: 0, as many as its collective has, expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::compute).stream = 9; }) ==
        "tables: stream 9 moves: a stream of the plan, or none (-1), expected");
  CHECK(fault([](Plan& p) { step(p, StepKind::compute).ipu = 1; }) == "tables: IPU 1: an IPU from 0 to 0, or all (-1), expected");
  CHECK(fault([](Plan& p) {  // a location goes from one step to the next
          Step &from = p.steps[p.bodies[BodyId::main].first_step], &to = p.steps[p.bodies[BodyId::main].first_step + 1];
          --from.location_count, --to.first_location, ++to.location_count;
        }) == "tables: 1 locations: 2 expected");
  CHECK(fault_of(with_replicas, [](Plan& p) { --step(p, StepKind::collective).items; }) ==
        "tables: 0 items: 1, as many as its collective has, expected");
  CHECK(fault_of(with_quotient, [](Plan& p) { step(p, StepKind::compute).first_fault_site = 9; }) ==
        "tables: fault sites from 9 on: 1 that exist expected");
}

TEST_CASE("verified: each iteration of a loop gets its inputs by value unchanged") {
  const std::pair<Case, Case> cases[] = {
      {{"in place", changing_loop<Tensor, 0>}, {"in place, by reference", changing_loop<tw::TensorByRef, 0>}},
      {{"in a call", changing_loop<Tensor, 1>}, {"in a call, by reference", changing_loop<tw::TensorByRef, 1>}},
      {{"in a loop", changing_loop<Tensor, 2>}, {"in a loop, by reference", changing_loop<tw::TensorByRef, 2>}}};
  for (const auto& [by_value, by_reference] : cases)
    for (const tw::Target& target : {tw::cpu, tw::ipu_model}) {
      INFO(by_value.name << (target.ipu ? ", ipu_model" : ", cpu"));
      const auto prepared = [&](const Case& of) { return tw::prepare(*tw::trace(of.program, target), target); };
      const tw::Prepared one = prepared(by_value), other = prepared(by_reference);
      CHECK(tw::fault_of_plan(one, tw::lower(one)).string() == "");
      CHECK(tw::fault_of_plan(other, tw::lower(other)).string() == "");
      CHECK(tw::fault_of_plan(one, tw::lower(other)).string().starts_with("values: "));
      CHECK(tw::fault_of_plan(other, tw::lower(one)).string().starts_with("values: "));
    }
}

TEST_CASE("verified: barriers") {
  CHECK(fault_of(a_chain, [](Plan& p) {
          for (auto& each : p.steps) each.barrier_before = false;
        }) == "barriers: no barrier before a step that shares bytes with an earlier one: a barrier expected");
  CHECK(fault_of(a_chain, [](Plan& p) { p.steps[1].barrier_before = false; }) ==
        "barriers: no barrier before a step that shares bytes with an earlier one: a barrier expected");
  CHECK(fault_of(with_calls, [](Plan& p) { step(p, StepKind::conditional).barrier_before = false; }) ==
        "barriers: a condition that is read at once: a barrier before it expected");
  CHECK(fault_of(with_calls, [](Plan& p) { step(p, StepKind::loop).barrier_before = false; }) == "");  // nothing waits there
  const auto without_barrier = [](bool in_callee) {
    return fault_of(with_wide_calls, [&](Plan& p) { p.steps[in_callee ? 0 : p.steps.size() - 1].barrier_before = false; });
  };
  CHECK(without_barrier(true) == "barriers: no barrier before a step that shares bytes with an earlier one: a barrier expected");
  CHECK(without_barrier(false) == "barriers: no barrier before a step that shares bytes with an earlier one: a barrier expected");
  CHECK(fault_of(a_chain, [](Plan& p) { p.steps[1].joins_ipus = false; }) ==
        "barriers: a barrier of one IPU in a step of IPU -1 and a body of IPU -1 (-1: all): a barrier of the workers that come "
        "there expected");
}

TEST_CASE("verified: locations and memory") {
  const auto at = [](Base base, auto break_it) {
    return fault_of(base == Base::variable || base == Base::constant ? a_layer : with_calls, [&](Plan& p) {
      for (Location& each : p.locations)
        if (each.base == base) return break_it(each);
      FAIL("no such location");
    });
  };
  CHECK(at(Base::frame, [](Location& l) { l.offset += 1 << 20; }) == "memory: offset 1048576 of a frame: 0 to 192 expected");
  CHECK(at(Base::frame, [](Location& l) { l.offset = -64; }) == "memory: offset -64 of a frame: 0 to 192 expected");
  CHECK(at(Base::frame, [](Location& l) { l.offset += 1; }) ==
        "memory: operand 1 of stage 0 (RemoteLoad) at byte 1: a multiple of 4 expected");
  CHECK(at(Base::argument, [](Location& l) { l.index = 2; }) ==
        "tables: argument 2 of 2: an argument that the call has expected");
  CHECK(at(Base::variable, [](Location& l) { l.offset += 512; }) ==
        "memory: bytes 512 to 16896 of memory `variable`: bytes from 0 to 16640 expected");
  CHECK(at(Base::constant, [](Location& l) { l.offset += 64; }) ==
        "memory: bytes 64 to 68 of memory `constant`: bytes from 0 to 64 expected");
  CHECK(at(Base::stream, [](Location& l) { l.offset += 64; }) ==
        "values: stage 0 (RemoteStore) computes of its operands what no graph does");
  CHECK(at(Base::stream, [](Location& l) { l.index = 7; }) ==
        "tables: index 7 of memory `stream`: a memory of the plan expected");
  CHECK(at(Base::remote, [](Location& l) { l.offset += 1 << 20; }) ==
        "memory: bytes 1048704 to 1048736 of memory `remote`: bytes from 0 to 256 expected");
  CHECK(fault_of(a_layer, [](Plan& p) { p.variables[1].offset = p.variables[0].offset; }) ==
        "memory: two tensors at 0 of memory `variable`: separate bytes expected");
  CHECK(fault_of(a_layer, [](Plan& p) { p.variables[1].offset += 1; }) ==
        "memory: variable 1 at byte 16385: a multiple of 64 expected");
  CHECK(fault_of(a_layer, [](Plan& p) { p.constants[0].offset += 64; }) ==
        "memory: 4 bytes at 64 of memory `constant`: a place in its 64 bytes expected");
  CHECK(fault_of(with_calls, [](Plan& p) { p.remote_buffers[0].entries = 9; }) ==
        "values: remote buffer 0 of other names, values, types or replicas than in the program: equal ones expected");
  CHECK(fault_of(with_contexts, [](Plan& p) {  // a kept tensor over a variable
          for (Location& each : p.locations)
            if (each.base == Base::variable) each.offset = 0;
        }) == "values: variable 0 (w) differs from the graphs after the run: equal expected");
}

TEST_CASE("verified: a fault names the step, its tensors and their module") {
  const auto fault = [](const Case& of, auto break_it) {
    const tw::Prepared prepared = tw::prepare(*tw::trace(of.program, of.target), of.target);
    Plan plan = tw::lower(prepared);
    break_it(plan);
    return tw::fault_of_plan(prepared, plan).string();
  };
  CHECK(fault(a_layer, [](Plan& p) { p.steps[0].vertices = 1; }) ==
        "vertices: 1 vertices: 8, one for each block, expected, in step 0 of body 0, MatMul [Add <Add, Gelu>] of x (64, 64) "
        "float32, w (64, 64) float32, b (64,) float32, bytes from 0 on of memory `constant` () float32 to Add (64, 64) float32, "
        "in the main graph");
  CHECK(fault(with_calls, [](Plan& p) { step(p, StepKind::loop).frame_offset = -64; }) ==
        "memory: a frame of 0 bytes at -64: a place in 192 bytes expected, in step 1 of body 0, the call of body 2, in "
        "graph_subgraph(0)");
  CHECK(fault(a_layer, [](Plan& p) { --p.bodies[BodyId::main].step_count; }) ==
        "values: variable 0 (w) differs from the graphs after the run: equal expected");
}

TEST_CASE("verified: names and values before a run, and streams, are those of the program") {
  const Case with_given{"given", given};
  const auto fault = [&](auto break_it) { return fault_of(with_given, break_it); };
  const std::string differs = " of other names, values, types or replicas than in the program: equal ones expected";
  CHECK(fault([](Plan& p) { p.constants[0].values = tw::Numbers({1.0, 7.0}); }) == "values: constant 0" + differs);
  CHECK(fault([](Plan& p) { std::swap(p.constants[0].values, p.constants[1].values); }) == "values: constant 0" + differs);
  CHECK(fault([](Plan& p) { p.constants[1].name = "other"; }) == "values: constant 1" + differs);
  CHECK(fault([](Plan& p) { std::swap(p.variables[0].initialiser, p.variables[1].initialiser); }) ==
        "values: variable 0 (v)" + differs);
  CHECK(fault([](Plan& p) { std::swap(p.variables[0].name, p.variables[1].name); }) == "values: variable 0 (v)" + differs);
  CHECK(fault([](Plan& p) { std::swap(p.streams[1].name, p.streams[2].name); }) == "values: stream 1" + differs);
  CHECK(fault([](Plan& p) { p.streams[0].transfers = 3; }) ==
        "traffic: stream 0 has 3 elements for a run, and is used: 1, and used, expected");
  CHECK(fault([](Plan& p) { p.streams[0].used = false; }) ==
        "traffic: stream 0 has 1 elements for a run, and is not used: 1, and used, expected");
  CHECK(fault([](Plan& p) { p.num_host_transfers = 2; }) == "values: num_host_transfers 2" + differs);
  CHECK(fault([](Plan& p) { p.variables.resize(1); }) ==
        "tables: other numbers of variables, constants, streams, remote buffers or replicas: those of the program expected");
}

TEST_CASE("verified: a stage that can fault has a site with the text of its op") {
  const auto begins = [](const std::string& text, std::string_view start) { return text.substr(0, start.size()) == start; };
  const auto fault = [&](auto break_it) { return fault_of(with_quotient, break_it); };
  CHECK(begins(fault([](Plan& p) {
                 for (Stage& stage : p.stages) stage.can_fault = false;
               }),
               "tables: stage 0 (Fmod) reports no"));
  CHECK(begins(fault([](Plan& p) { p.fault_sites[0].before = "Div: divisor "; }), "tables: a fault site of 1 reports, `Div"));
  CHECK(begins(fault([](Plan& p) { p.fault_sites[0].after = ": 0 expected, in x"; }), "tables: a fault site of 1 reports"));
  CHECK(begins(fault([](Plan& p) { p.fault_sites[0].reports = 2; }), "tables: a fault site of 2 reports"));
}

TEST_CASE("verified: cycles of a run are those of its steps, and a fault in the frame of a tile is named so") {
  const Case on_ipu{"quotient", quotient, tw::ipu_model};
  const auto fault = [&](auto break_it) { return fault_of(on_ipu, break_it); };
  const tw::Plan good = tw::lower(tw::prepare(*tw::trace(quotient, tw::ipu_model), tw::ipu_model));
  const auto text_of = [](const auto&... words) { return "cycles: counts " + tw::text(words...).string(); };
  const tw::CycleUse run = good.cycles, step = good.step_cycles[0];
  CHECK(fault([](Plan& p) { p.cycles.compute /= 2; }) ==
        text_of(run.compute / 2, " in `compute` of a run: ", run.compute, " expected"));
  CHECK(fault([](Plan& p) { p.tile_sets[0].cycles = {}; }) ==
        text_of("0 in `compute` on set 0 of tiles: ", run.compute, " expected"));
  CHECK(fault([](Plan& p) { p.step_cycles[0].compute /= 2, p.cycles.compute /= 2, p.tile_sets[0].cycles.compute /= 2; }) ==
        text_of(step.compute / 2, " in `compute`: ", step.compute, " expected"));
  CHECK(fault([](Plan& p) {
          p.cycles = p.tile_sets[0].cycles = {};
          for (tw::CycleUse& use : p.step_cycles) use = {};
        }) == text_of("0 in `compute`: ", step.compute, " expected"));
  const tw::Prepared prepared = tw::prepare(*tw::trace(wide_calls, tw::ipu_model), tw::ipu_model);
  Plan plan = tw::lower(prepared);
  int s = 0;
  while (plan.step_cycles[s].exchange == 0) ++s;
  const std::int64_t exchange = plan.step_cycles[s].exchange--;
  const std::string too_small = tw::fault_of_plan(prepared, plan).string();
  CHECK(too_small.find(text_of(exchange - 1, " in `exchange`: ", exchange, " expected, in step ")) == 0);
  CHECK(fault([](Plan& p) { p.tile.frame += 8; }).find("tiles: a fullest tile") == 0);
  CHECK(fault([](Plan& p) {
          p.tile.frame += 8, p.tile_sets[0].tile.frame += 8, p.memory.fullest_tile += 8;
        }).find("tiles: a frame of") == 0);
}

TEST_CASE("verified: numbers with which nothing can compute are refused before they are used") {
  const auto fault = [&](auto break_it) { return fault_of(with_wide_calls, break_it); };
  const std::string out = " has a number out of range: numbers of a plan expected";
  CHECK(fault([](Plan& p) { p.stages[0].attributes.count = 41; }) == "tables: stage 0" + out);
  CHECK(fault([](Plan& p) { p.operands[1].view.dtype = tw::DType(200); }) == "tables: operand 1" + out);
  CHECK(fault([](Plan& p) { p.operands[1].view.shape.rank = 9; }) == "tables: operand 1" + out);
  CHECK(fault([](Plan& p) { p.operands[0].view.shape[0] = std::int64_t{1} << 62; }) == "tables: operand 0" + out);
  CHECK(fault([](Plan& p) { p.compute_sets[0].extents.count = -1; }) == "tables: compute set 0" + out);
  CHECK(fault([](Plan& p) { p.steps[0].first_location = 2147483647; }) == "tables: step 0" + out);
  CHECK(fault([](Plan& p) { p.locations[0].base = Base(9); }) == "tables: location 0" + out);
  CHECK(fault([](Plan& p) { p.streams[0].spec.dtype = tw::DType(99); }) == "tables: stream 0" + out);
}
