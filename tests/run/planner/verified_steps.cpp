// labels: none
// Plans with a fault within one step are refused: parts of sums that are not added as they lie, kernels that write over what they
// read, collectives of other operands, wrong counts of what moves between replicas and to remote buffers.
#include <algorithm>
#include <utility>
#include <vector>

#include "broken_programs.hpp"

namespace {

using namespace violations;
using tw::internal::Base, tw::internal::ComputeSet, tw::internal::Location, tw::internal::Stage, tw::internal::Step,
    tw::internal::StepKind, tw::internal::SumParts;

/// A product of a few rows with a large weight: on the host, `rows` x `columns` sums in parts.
template <int rows, int terms, int columns>
void parts_of_sums(tw::Ir& ir) {
  const Tensor w = ir.variable(tw::ones(), {terms, columns}, tw::float32, "w");
  store(ir, "y", load(ir, "x", {rows, terms}).matmul(w));
}
constexpr tw::Target host_of(int tiles) {
  tw::Target result = tw::cpu;
  result.tiles = tiles;
  return result;
}
const Case in_parts{"parts of sums", parts_of_sums<2, 136, 200>};

/// The step that makes parts of sums, its stage, and the strides of the parts by axis.
struct Parts {
  explicit Parts(Plan& plan)
      : sets{&plan.compute_sets[plan.steps[0].compute_set], &plan.compute_sets[plan.steps[1].compute_set]} {
    made = &plan.stages[sets[0]->first_stage];
    combined = &plan.stages[sets[1]->first_stage];
    const auto& part = plan.operands[made->first_operand + made->input_count];
    location = &plan.locations[plan.steps[0].first_location + part.index];
    for (axis = 0; sets[0]->blocks[axis] == sets[0]->extents[axis]; ++axis) {
    }
    stride = &plan.strides[sets[0]->first_stride + part.index * sets[0]->blocks.size() + axis];
  }
  ComputeSet* sets[2];
  Stage *made, *combined;
  Location* location;
  int axis;  // of the grid
  std::int64_t* stride;
};

TEST_CASE("verified: parts of sums are added in their order, each once") {
  const auto fault = [](auto break_it) {
    return fault_of(in_parts, [&](Plan& plan) {
      Parts parts(plan);
      REQUIRE(parts.made->parts == SumParts::made);
      REQUIRE(parts.combined->parts == SumParts::combined);
      break_it(plan, parts);
    });
  };
  CHECK(fault([](Plan&, Parts&) {}) == "");
  CHECK(fault([](Plan&, Parts& p) { p.made->parts = SumParts::apart; }) ==  // only the first part is read
        "values: stage 0 (ReduceSum) computes of its operands what no graph does");
  CHECK(fault([](Plan&, Parts& p) { p.combined->parts = SumParts::apart; }) ==  // the sum, and then all parts but the first
        "values: stage 0 (ReduceSum) computes of its operands what no graph does");
  CHECK(fault([](Plan&, Parts& p) { ++p.sets[0]->blocks[p.axis]; }).starts_with("vertices: "));  // a part less
  CHECK(fault([](Plan&, Parts& p) { p.location->offset += 5 * *p.stride, *p.stride = -*p.stride; }) ==
        "vertices: operand 2 of stage 0 (MatMul) has parts -1600 bytes apart: 1600 expected");
  CHECK(fault([](Plan&, Parts& p) { *p.stride /= 2; }) ==
        "vertices: operand 2 of stage 0 (MatMul) has parts 800 bytes apart: 1600 expected");
  CHECK(fault([](Plan&, Parts& p) { *p.stride = 0; }) ==
        "vertices: operand 2 of stage 0 (MatMul) is written by several vertices: a part for each vertex expected");
  CHECK(fault([](Plan& plan, Parts&) { std::swap(plan.steps[0], plan.steps[1]); }) ==
        "values: stage 0 (ReduceSum) reads bytes that no step wrote");
  CHECK(fault([](Plan& plan, Parts& p) {
          std::swap(plan.operands[p.made->first_operand + 2].view.strides[0],
                    plan.operands[p.made->first_operand + 2].view.strides[1]);
        }) == "vertices: operand 2 of stage 0 (MatMul) has parts that are not dense: dense ones expected");
  CHECK(fault([](Plan&, Parts& p) { p.made->can_fault = true; }).starts_with("tables: fault sites"));
}

TEST_CASE("verified: only sums that are added in one chain of float32 may be added in the memory of their first part") {
  const auto fault_if_added = [](auto program, const tw::Target& target) {
    return fault_of({"parts", program, target}, [](Plan& plan) {
      const Parts parts(plan);
      REQUIRE(parts.made->parts == SumParts::apart);
      parts.made->parts = SumParts::made, parts.combined->parts = SumParts::combined;
    });
  };
  CHECK(
      fault_if_added(parts_of_sums<2, 512, 200>, host_of(16)) ==
      "vertices: operand 2 of stage 0 (MatMul) has 16 parts of 400 sums, 16 of them along one axis: 2 to 15 parts of at least 2 "
      "sums along one axis expected");
  const auto fault_of_layer = [](SumParts parts) { return fault_of(a_layer, [&](Plan& plan) { plan.stages[0].parts = parts; }); };
  CHECK(fault_of_layer(SumParts::made) ==
        "vertices: operand 2 of stage 0 (MatMul) has parts of sums that are added in memory: float32 in memory expected");
  CHECK(fault_of_layer(SumParts::combined) ==
        "vertices: operand 0 of stage 0 (MatMul) has parts of sums, which this stage cannot add: a kernel with one such operand "
        "expected");
}

/// A product that reads a tensor for the last time.
void last_read(tw::Ir& ir) {
  const Tensor a = ops::exp(load(ir, "x", {4, 4})), w = load(ir, "w", {4, 4});
  store(ir, "y", ops::relu(a.matmul(w)));
}

TEST_CASE("verified: a kernel writes over no bytes that it still reads") {
  const auto with_result_at_input = [](Plan& plan) {  // of the product: it takes over the memory of `a`
    const Step& product = plan.steps[1];
    const Location a = plan.locations[product.first_location], y = plan.locations[product.first_location + 2];
    for (Location& each : plan.locations)
      if (each == y) each = a;
  };
  CHECK(fault_of({"last read", last_read, tw::cpu.without_fusion()}, with_result_at_input) ==
        "vertices: a kernel writes bytes that it still reads: bytes of their own expected");
  CHECK(fault_of(a_chain, [](Plan&) {}) == "");  // c takes over the memory of b, element by element
}

TEST_CASE("verified: operands of collectives, and the bytes that they move") {
  const auto fault = [](auto break_it) {
    return fault_of(with_replicas, [&](Plan& plan) {
      for (Step& each : plan.steps)
        if (each.kind == StepKind::collective)
          return break_it(plan, each, plan.compute_sets[each.compute_set],
                          plan.stages[plan.compute_sets[each.compute_set].first_stage]);
      FAIL("no collective");
    });
  };
  CHECK(fault([](Plan& plan, Step& step, ComputeSet&, Stage&) {  // a replica's sums are in what another one still reads
          plan.locations[step.first_location + 1] = plan.locations[step.first_location];
        })
            .starts_with("vertices: a kernel writes bytes that it still reads"));
  CHECK(fault([](Plan& plan, Step&, ComputeSet&, Stage& stage) {
          std::swap(plan.operands[stage.first_operand].index, plan.operands[stage.first_operand + 1].index);
        }) == "tables: a collective of other operands than its first and its last location: these expected");
  CHECK(fault([](Plan& plan, Step&, ComputeSet&, Stage& stage) { plan.operands[stage.first_operand].view.strides[0] = 2; }) ==
        "vertices: operand 0 of stage 0 (ReplicatedAllReduce) is not dense: a dense tensor expected");
  CHECK(fault([](Plan&, Step& step, ComputeSet&, Stage&) { step.kind = StepKind::compute, step.vertices = 1, step.items = 0; }) ==
        "tables: a step of vertices that runs ReplicatedAllReduce: an op of one replica expected");
  CHECK(fault([](Plan&, Step&, ComputeSet& set, Stage&) { ++set.traffic.bytes; }) ==
        "traffic: compute set 1 counts 33 bytes that a replica sends: 32 expected");
  CHECK(fault([](Plan& plan, Step&, ComputeSet&, Stage&) { plan.collectives.bytes = 0; }) ==
        "traffic: counts 0 bytes of a run that a replica sends: 32 expected");
  CHECK(fault_of(with_calls, [](Plan& plan) { ++plan.remote.loaded_bytes; }) ==
        "traffic: counts 33 bytes of a run that come from remote buffers: 32 expected");
  CHECK(fault_of(with_calls, [](Plan& plan) { plan.remote.stored_bytes = 0; }) ==
        "traffic: counts 0 bytes of a run that go to remote buffers: 32 expected");
}

/// A tensor that two steps write, each a half.
void halves(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {64, 64}), both = ops::concat({ops::exp(x), ops::tanh(x)}, 1);
  store(ir, "y", ops::softmax(both, 1));
}

TEST_CASE("verified: on tiles, each element that a step reads was written there") {
  const tw::Target target = tw::ipu_model.with_tiles(64);
  const tw::Prepared prepared = tw::prepare(*tw::trace(halves, target), target);
  Plan plan = tw::lower_verified(prepared);
  std::vector<Location*> written;  // the halves
  for (Step& step : plan.steps)
    for (int i = 0; i < step.location_count; ++i)
      if (Location& each = plan.locations[step.first_location + i]; each.base == Base::frame) written.push_back(&each);
  REQUIRE(written.size() >= 2);
  REQUIRE(written[0]->offset != written[1]->offset);
  *written[1] = *written[0];
  for (Step& step : plan.steps) step.barrier_before = true;
  CHECK(tw::fault_of_plan(prepared, plan).string().starts_with("values: "));
  CHECK(
      tw::fault_of_plan(prepared, plan, "values").string() ==
      "exchanges: operand 0 of stage 0 (Softmax) reads elements of storage 3 that no step wrote there: elements that are written "
      "expected, in step 2 of body 0");
}

}  // namespace
