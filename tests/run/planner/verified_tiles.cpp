// labels: none
// Plans for simulated IPUs are proven on their tiles: memory, exchanges, what they count, and banks. Changed plans are refused.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>
#include <utility>

#include "../../catch.hpp"
#include "../../support/plan_programs.hpp"
#include "../../support/tile_mutations.hpp"

namespace tw = tilewright;

namespace {

using namespace planner_faults;
using planner_faults::store;

/// A sum and an update whose operands may be in different banks.
void triad(tw::Ir& ir) {
  const tw::Shape shape{1000 * tw::ipu_model.tiles};
  ops::scaled_add_(variable(ir, "w", shape), variable(ir, "momentum", shape), {.b = -0.1});
  store("sum", load(ir, "x", shape) + load(ir, "y", shape));
}

/// A product, a convolution and dot products, in the main graph and in a graph that is called twice.
void products(tw::Ir& ir) {
  const tw::TensorSpec rows{{96, 256}, tw::float16};
  const tw::Graph square = ir.create_graph([](tw::Tensor x, tw::Tensor w) { return ops::gelu(x.matmul(w)); }, rows,
                                           tw::TensorSpec{{256, 256}, tw::float16});
  const tw::Tensor w = ir.variable(tw::zeros(), {256, 256}, tw::float16, "w");
  const tw::Tensor x = tw::call(square, {tw::call(square, {load(ir, "x", rows.shape, tw::float16), w}), w});
  store("y", x.matmul(load(ir, "column", {256, 1}, tw::float16)));
  store("z", ops::conv(load(ir, "image", {2, 32, 16, 16}, tw::float16),
                       ir.variable(tw::zeros(), {32, 32, 3, 3}, tw::float16, "kernel")));
}

/// A step of one vertex that writes parts of a tensor, and reads other parts of it, none of which is all of it.
void passed_parts(tw::Ir& ir) {
  const tw::Tensor x = load(ir, "x", {2, 4, 5}), both = ops::concat({x, ops::flip(x, {1})}, 1);
  store("first", ops::slice(both, 0, 1));
  store("second", ops::slice(both, 1, 2));
}
/// Strided images by a kernel of one element, with gradients.
void strided(tw::Ir& ir) {
  const tw::TensorSpec x{{6, 32, 15, 12}, tw::float16}, w{{48, 32, 1, 1}, tw::float16};
  const tw::Graph forward = ir.create_graph(
      [](tw::Tensor data, tw::Tensor weight) { return ops::conv(data, weight, {.stride = {2, 3}}); }, x, w);
  const auto call = tw::call_with_info(forward, {load(ir, "x", x.shape, x.dtype), load(ir, "w", w.shape, w.dtype)});
  store("y", call.outputs()[0]);
  const tw::GradGraphInfo backward = tw::autodiff(forward);
  const auto found = backward.fwd_graph_ins_to_grad_parent_outs(
      tw::call_with_info(backward.graph(), {load(ir, "dy", call.outputs()[0].shape(), tw::float16)}, backward.inputs_dict(call)));
  store("dx", ops::gelu(*found.find(forward.inputs()[0])));
  store("dw", *found.find(forward.inputs()[1]));
}

/// The gradient of data with strides: where a window is, the element of a product, and zeros elsewhere.
TEST_CASE("verified: zeros around a strided gradient are the proof's own") {
  namespace proof = tw::internal::proof::detail;
  tw::kernel::Windows windows;
  windows.axes[1] = {.in = 5, .out = 3, .stride = 2};
  windows.axes[2] = {.in = 8, .out = 2, .stride = 3, .begin = -1};
  const tw::List<tw::TensorSpec> operands{{{2, 4, 3, 2}, tw::float32}, {{4, 3, 1, 1}, tw::float32}, {{2, 3, 5, 8}, tw::float32}};
  const auto data_of = [&](proof::ValueTerms& terms, proof::ValueId product) {
    return proof::data_of(terms, tw::op_info<tw::ConvDataGrad>, tw::pack(tw::WindowsAttributes::make(windows, 1, {})), operands,
                          product);
  };
  proof::ValueTerms terms;
  const proof::ValueId product = terms.initial(proof::Origin::stream, 0);
  proof::Memory memory;
  memory.write(proof::access_of(0, operands[2], tw::dense_strides(operands[2].shape)), data_of(terms, product));
  proof::ValueId zeros = proof::ValueId::unwritten;
  for (std::int64_t e = 0; e < 2 * 3 * 5 * 8; ++e) {
    INFO(e);
    const proof::Content found = memory.read(proof::Access{4 * e, 4, 0, {}, {}});
    const std::int64_t i = e / 8 % 5, j = e % 8;
    REQUIRE(!proof::has_unwritten(found));
    if (i % 2 != 0 || (j != 1 && j != 4)) {
      if (zeros == proof::ValueId::unwritten) zeros = found.value;
      CHECK(found.value == zeros);
      CHECK(zeros != product);
    } else {
      CHECK(found.value == product);
      CHECK(found.first == (e / 40 * 3 + i / 2) * 2 + j / 3);
    }
  }
  windows.axes[2].kernel = 2;
  CHECK(proof::has_unwritten(data_of(terms, product)));
}

tw::Prepared prepared(void (*program)(tw::Ir&), const tw::Target& target) {
  return tw::prepare(*tw::trace(program, target), target);
}

TEST_CASE("verified: plans for simulated IPUs are proven on their tiles") {
  for (const auto program : {layer, softmax, chain, updates, calls, loops, rows, streams, triad, products, passed_parts, strided})
    for (const tw::Target& target :
         {tw::ipu_model, tw::gc2, tw::bow, tw::ipu_model.without_fusion(), tw::ipu_model.with_tiles(8).with_bytes_per_tile(0)}) {
      const tw::Prepared given = prepared(program, target);
      CHECK(tw::fault_of_plan(given, tw::lower(given)).string() == "");
    }
}

/// Whether each block of a tensor has a place of its own, for which the changed plan has as much memory as `room` has bytes.
bool has_own_places(const tw::internal::TileLayout& layout, std::int64_t bytes, std::int64_t room, std::int64_t tiles) {
  std::set<std::int64_t> places{0};
  std::int64_t blocks = 1;
  for (int i = 0; i < layout.axes.size(); ++i) {
    const auto& axis = layout.axes[i];
    const std::int64_t count = (axis.extent + axis.block - 1) / axis.block;
    std::set<std::int64_t> sums;
    for (const std::int64_t place : places)
      for (std::int64_t block = 0; block < count; ++block) sums.insert(place + axis.numbering.place(block));
    places = std::move(sums);
    blocks *= count, bytes *= axis.block;
  }
  const std::int64_t on_a_tile = (layout.places.count + tiles - 1) / tiles;
  return static_cast<std::int64_t>(places.size()) == blocks && *places.begin() >= 0 && *places.rbegin() < layout.places.count &&
         on_a_tile * ((bytes + 7) / 8 * 8) <= room;
}
/// What is wrong with other blocks of tensors; empty: they change nothing. No step uses such a tensor where its blocks are, but
/// each sends or receives all elements that it uses; and the blocks have places of their own in the memory that the tensor has.
std::string harm_of_blocks(const tw::Plan& good, const tw::Plan& changed) {
  const tile_mutations::TileData before(good.tile_table), after(changed.tile_table);
  for (std::size_t b = 0; b < after.bodies.size(); ++b) {
    const auto& body = after.bodies[b];
    for (std::size_t s = 0; s < body.storages.size(); ++s) {
      const auto &was = before.bodies[b].storages[s].layout, &is = body.storages[s].layout;
      bool is_equal = true;
      for (int axis = 0; axis < is.axes.size(); ++axis) is_equal = is_equal && is.axes[axis].block == was.axes[axis].block;
      if (is_equal) continue;
      for (const auto& step : body.steps) {
        for (const auto& operand : step.tile_operands)
          if (static_cast<std::size_t>(operand.storage) == s && operand.access != tw::internal::TileAccess::exchanged)
            return "a step uses the tensor where its blocks are";
        for (const auto& value : step.call_values)
          if (static_cast<std::size_t>(value.storage) == s) return "a call uses the tensor";
      }
      std::int64_t room = 0;
      for (const auto& each : body.rooms)
        if (each.kind == tile_mutations::RoomKind::storage && static_cast<std::size_t>(each.storage) == s) room = each.bytes;
      if (!has_own_places(is, tw::size_of(body.storages[s].dtype), room, tw::ipu_model.tiles))
        return "blocks share places, or are larger than the " + std::to_string(room) + " bytes of the tensor's memory, base " +
               std::string(name_of(body.storages[s].location.base));
    }
  }
  return {};
}

TEST_CASE("verified: plans that are changed on tiles are refused") {
  std::map<std::string, int> refused_alone, accepted;
  int count = 0;
  std::uint64_t seed = 0;
  for (const auto program : {layer, softmax, chain, updates, calls, loops, streams, triad, products}) {
    const tw::Prepared given = prepared(program, tw::ipu_model);
    const tw::Plan good = tw::lower(given);
    tile_mutations::Mutator mutator(++seed);
    for (int i = 0; i < (program == triad ? 120 : 40); ++i) {
      tw::Plan plan = good;
      const auto change = mutator.change(plan);
      if (!change) continue;
      ++count;
      const std::string fault = tw::fault_of_plan(given, plan).string(), rule = fault.substr(0, fault.find(':'));
      if (fault.empty()) {
        ++accepted[*change];
        CHECK(*change == "other blocks of a tensor");
        CHECK(harm_of_blocks(good, plan) == "");
        continue;
      }
      if (tw::fault_of_plan(given, plan, rule).empty()) ++refused_alone[rule];
    }
  }
  std::string text = std::to_string(count) + " changes\n";
  for (const auto& [change, times] : accepted) text += "accepted: " + change + " " + std::to_string(times) + "\n";
  for (const auto& [rule, times] : refused_alone) text += rule + " alone: " + std::to_string(times) + "\n";
  INFO(text);
  CHECK(accepted["other blocks of a tensor"] * 100 <= count * 3);
  CHECK(count >= 200);
  for (const char* const rule : {"tiles", "exchanges", "traffic", "banks"}) {
    INFO(rule);
    CHECK(refused_alone[rule] > 0);
  }
}

}  // namespace
