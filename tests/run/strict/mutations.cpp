// labels: none
// The strict executor finds what is wrong in a plan: good plans are changed, one thing at a time.
#include <algorithm>
#include <functional>

#include "run.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
using tw::internal::StrictMove, tw::internal::StrictPlan, tw::internal::RoomKind;
namespace ops = tw::ops;
using support::load, support::store;

constexpr tw::Target tiles = tw::ipu_model.with_tiles(4).with_bytes_per_tile(1 << 20);

/// Two layers, their gradients by hand, and updates of the weights.
constexpr void layers(Ir& ir) {
  const Tensor x = load(ir, "x", {6, 40});
  const Tensor w = ir.variable(tw::zeros(), {40, 24}, tw::float32, "w"), v = ir.variable(tw::zeros(), {24, 12}, tw::float32, "v");
  const Tensor b = ir.variable(tw::zeros(), {24}, tw::float32, "b");
  const Tensor h = ops::tanh(x.matmul(w) + b), y = h.matmul(v);
  store("y", y);
  const Tensor dh = y.matmul(v.T()) * (1 - h * h);
  ops::scaled_add_(v, h.T().matmul(y), {.b = 0.1});
  ops::scaled_add_(w, x.T().matmul(dh), {.b = 0.1});
  ops::scaled_add_(b, ops::sum(dh, {0}), {.b = 0.1});
}
/// Columns and rows change places, halves of vectors are added, and lines are normalised.
constexpr void rearranged(Ir& ir) {
  const Tensor x = load(ir, "x", {10, 14});
  const Tensor t = ops::exp(x.T().reshape({10, 14})) + x;
  store("lines", ops::softmax(t));
  store("sums", ops::sum(t, {1}) + ops::sum(x.T(), {0}));
  store("joined", ops::concat({t, x * 2}, 1));
}
/// A graph is called, and repeated.
constexpr void called(Ir& ir) {
  const Tensor w = ir.variable(tw::zeros(), {16, 16}, tw::float32, "w"), x = load(ir, "x", {8, 16});
  const Graph layer = ir.create_graph([](Tensor t, Tensor weight) { return ops::tanh(t.matmul(weight)); }, x, w);
  const Tensor once = tw::call(layer, {tw::call(layer, {x, w}), w});
  const Graph step = ir.create_graph([](Tensor t) { return t * 0.5 + ops::tanh(t.T().reshape({8, 16})); }, x);
  store("y", tw::repeat(step, 3, once)[0]);
}

/// A change of a plan.
struct Mutation {
  std::string what;
  std::function<void(StrictPlan&)> apply;
};

/// Every place of the list is tried if there are few, else some of them.
std::vector<std::size_t> some(std::size_t size) {
  std::vector<std::size_t> result;
  const std::size_t step = std::max<std::size_t>(1, size / 3);
  for (std::size_t i = 0; i < size; i += step) result.push_back(i);
  if (size > 1 && result.back() != size - 1) result.push_back(size - 1);
  return result;
}

using Change = void (*)(StrictPlan&, StrictMove&);
struct MoveChange {
  const char* what;
  Change change;
};
constexpr MoveChange move_changes[] = {
    {"dropped", [](StrictPlan&, StrictMove& move) { move.bytes = 0; }},
    {"shifted where it comes from", [](StrictPlan&, StrictMove& move) { move.from += 4; }},
    {"shifted where it goes", [](StrictPlan&, StrictMove& move) { move.to += 4; }},
    {"to another tile", [](StrictPlan& plan, StrictMove& move) { move.to_tile = (move.to_tile + 1) % plan.program.sets.all(); }},
    {"from another tile",
     [](StrictPlan& plan, StrictMove& move) { move.from_tile = (move.from_tile + 1) % plan.program.sets.all(); }},
    {"one element short", [](StrictPlan&, StrictMove& move) { move.bytes -= 4; }},
};

/// Whether the storage is one operand of the group only.
bool is_used_once(const tw::internal::StrictGroup& group, int storage) {
  return std::ranges::count_if(group.operands,
                               [&](const auto& operand) { return operand.storage == storage && operand.is_used; }) == 1;
}
/// Whether a group after `g`, or the host, uses the storage.
bool is_used_later(const tw::internal::StrictBody& body, std::size_t g, int storage) {
  if (body.storages[static_cast<std::size_t>(storage)].location.base != tw::internal::Base::frame) return true;
  for (++g; g < body.groups.size(); ++g) {
    for (const auto& operand : body.groups[g].operands)
      if (operand.storage == storage && operand.is_read) return true;
    for (const auto& operand : body.groups[g].call_operands)
      if (operand.storage == storage) return true;
  }
  return false;
}

/// All changes of a plan that are tried: those without which the plan does not work.
std::vector<Mutation> mutations_of(const StrictPlan& plan) {
  std::vector<Mutation> result;
  for (std::size_t b = 0; b < plan.bodies.size(); ++b) {
    const auto& body = plan.bodies[b];
    for (std::size_t g = 0; g < body.groups.size(); ++g) {
      const std::string where = plan.name_of_step(b, g);
      for (const bool after : {false, true}) {
        const auto moves_of = [=](StrictPlan& changed) -> std::vector<StrictMove>& {
          auto& group = changed.bodies[b].groups[g];
          return after ? group.after : group.before;
        };
        const auto& moves = after ? body.groups[g].after : body.groups[g].before;
        for (const std::size_t i : some(moves.size())) {
          if (after ? !is_used_later(body, g, moves[i].storage) : !is_used_once(body.groups[g], moves[i].storage)) continue;
          const std::string name = "fragment " + std::to_string(i) + (after ? " after " : " before ") + where;
          for (const MoveChange& each : move_changes)
            result.push_back(
                {name + " " + each.what, [=, &each](StrictPlan& changed) { each.change(changed, moves_of(changed)[i]); }});
          if (g + 1 < body.groups.size())
            result.push_back({name + " one step late", [=](StrictPlan& changed) {
                                auto& from = moves_of(changed);
                                auto& group = changed.bodies[b].groups[g + 1];
                                (after ? group.after : group.before).push_back(from[i]);
                                from.erase(from.begin() + static_cast<std::ptrdiff_t>(i));
                              }});
        }
      }
      for (std::size_t k = 0; k < body.groups[g].operands.size(); ++k)
        for (int a = 0; a < body.groups[g].operands[k].axes.size(); ++a)
          if (const auto& operand = body.groups[g].operands[k]; operand.is_used &&
                                                                is_used_once(body.groups[g], operand.storage) &&
                                                                (operand.is_read || is_used_later(body, g, operand.storage)))
            result.push_back(
                {"operand " + std::to_string(k) + " of " + where + " one element short along axis " + std::to_string(a),
                 [=](StrictPlan& changed) { --changed.bodies[b].groups[g].operands[k].axes[a].extent; }});
    }
    for (std::size_t r = 0; r < body.rooms.size(); ++r) {
      const auto& room = body.rooms[r];
      const std::string name = "room " + std::to_string(r) + " of body " + std::to_string(b);
      if (room.kind == RoomKind::storage && room.last > room.first) {
        result.push_back({name + " freed too early", [=](StrictPlan& changed) { --changed.bodies[b].rooms[r].last; }});
        if (body.storages[static_cast<std::size_t>(room.storage)].location.base != tw::internal::Base::argument)
          result.push_back({name + " made too late", [=](StrictPlan& changed) { ++changed.bodies[b].rooms[r].first; }});
      }
      for (std::size_t other = 0; other < r; ++other)
        if (body.rooms[other].last >= room.first && room.bytes > 0 && body.rooms[other].bytes > 0 &&
            room.kind != RoomKind::called && body.rooms[other].kind != RoomKind::called) {
          result.push_back({name + " lies on room " + std::to_string(other), [=](StrictPlan& changed) {
                              changed.bodies[b].rooms[r].address = changed.bodies[b].rooms[other].address;
                            }});
          break;
        }
    }
  }
  return result;
}

/// Runs the program once with each change; each must be found. Returns how many there are.
template <auto build>
std::size_t check_all_found() {
  check_strict<build, tiles>();
  ProgramRun<build, tiles> good(true);
  std::size_t tried = 0;
  for (const Mutation& mutation : mutations_of(good.strict_plan())) {
    INFO(mutation.what);
    ProgramRun<build, tiles> changed(true);
    mutation.apply(changed.strict_plan());
    CHECK_THROWS_AS(changed.run(), tw::StrictError);
    ++tried;
  }
  return tried;
}

}  // namespace

TEST_CASE("changes of a plan of layers and their updates are found") { CHECK(check_all_found<layers>() > 100); }
TEST_CASE("changes of a plan that rearranges tensors are found") { CHECK(check_all_found<rearranged>() > 60); }
TEST_CASE("changes of a plan with calls and a loop are found") { CHECK(check_all_found<called>() > 50); }
