// labels: none
// Where tensors and vertices are on the tiles of a simulated IPU, what moves between tiles, and the memory of the fullest one.
#include "../../support/programs.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using namespace tw::internal;
using support::load, support::store, support::variable;

// ---- what is asked of a plan

/// How the steps of a program use memory of one kind.
struct Uses {
  int local = 0, shared = 0, exchanged = 0;
  int written_elsewhere = 0;  ///< operands that tiles write and send to others
  std::int64_t moved = 0;  ///< elements that tiles get or send for them, all tiles together
  constexpr bool operator==(const Uses&) const = default;
};
struct Facts {
  Uses variables{}, frame{};
  tw::List<StepMoves> moves{};
  tw::List<std::int64_t> vertices{};
  tw::Plan plan{};
  /// The number of steps for which tiles exchange something.
  constexpr int exchanges() const {
    int count = 0;
    for (const StepMoves& each : moves) count += each.before.is_empty() && each.after.is_empty() ? 0 : 1;
    return count;
  }
};
/// What the passes make of the main graph.
class Watch {
 public:
  constexpr explicit Watch(Facts& facts) : facts_(&facts) {}
  constexpr void operator()(Pass pass, BodyId body, const TileDraft& draft, const tw::Plan& plan) const {
    if (pass != Pass::place || body != BodyId::main) return;
    for (std::size_t g = 0; g < draft.groups.size(); ++g) {
      facts_->vertices.push_back(draft.cuts[g].partition.vertices);
      facts_->moves.push_back(plan.moves[plan.moves.size() - draft.groups.size() + g]);
      for (const TileOperand& operand : draft.tiles.groups[g].operands) {
        const Base base = draft.storage(operand.storage).location.base;
        if (base != Base::variable && base != Base::frame) continue;
        Uses& uses = base == Base::variable ? facts_->variables : facts_->frame;
        (operand.access == TileAccess::local    ? uses.local
         : operand.access == TileAccess::shared ? uses.shared
                                                : uses.exchanged)++;
        uses.written_elsewhere += operand.is_written && operand.access != TileAccess::local ? 1 : 0;
        uses.moved += (operand.slice_elements - operand.local_elements) * draft.cuts[g].partition.vertices;
      }
    }
  }
  constexpr void operator()(Pass, BodyId, const tw::internal::BodyDraft&, const tw::Plan&) const {}  // of the host
  constexpr void operator()(const tw::Plan&) const {}

 private:
  Facts* facts_;
};
constexpr Facts facts_of(auto build, const tw::Target& target) {
  Facts facts;
  facts.plan = tw::lower(support::prepared(build, target), Watch(facts));
  return facts;
}
constexpr tw::Target tiles(std::int64_t count) { return tw::gc200.with_tiles(count); }

// ---- linear layouts: the formula of poplibs (poputil, TileMapping)

/// Elements of a tile, of a linear layout: as few tiles as give each `least` elements, or all.
constexpr std::int64_t elements_of_tile(std::int64_t elements, std::int64_t grain, std::int64_t least, std::int64_t tiles) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t grains = up(elements, grain), least_grains = up(least, grain);
  return grain * std::max(up(grains, tiles), up(grains, std::max<std::int64_t>(1, grains / least_grains)));
}
constexpr bool follows_formula(std::int64_t elements, std::int64_t element_bytes, std::int64_t tiles) {
  const std::int64_t grain = 8 / element_bytes, least = 128 / element_bytes;
  const TileLayout layout = linear_layout(elements, grain, least, tiles);
  const std::int64_t each = elements_of_tile(elements, grain, least, tiles);
  return layout.block_elements() == std::min(each, elements) && layout.places.count == (elements + each - 1) / each &&
         layout.places.count <= tiles;
}
static_assert([] {
  for (const std::int64_t elements : {1, 2, 31, 32, 33, 64, 65, 500, 1000, 4096, 100'000})
    for (const std::int64_t bytes : {2, 4})
      for (const std::int64_t count : {4, 7, 64, 1472})
        if (!follows_formula(elements, bytes, count)) return false;
  return true;
}());
static_assert(linear_layout(1000, 2, 32, 64).block_elements() == 34 && linear_layout(1000, 2, 32, 64).places.count == 30,
              "31 tiles would have 32 elements or more; in whole vectors, these are 34 for 30 tiles");
static_assert(linear_layout(20, 2, 32, 64).places.count == 1, "128 bytes at least");
static_assert(linear_layout(100'000, 4, 64, 64).block_elements() == 1564, "in vectors of 4: 25,000 over 64 tiles");

// ---- where weights are

/// A layer without a gradient of its input, as the first of a network: product, gradient of the weight and step.
template <int rows, int columns>
constexpr auto first_layer = [](Ir& ir) {
  const Tensor x = load(ir, "x", {8, rows}), dy = load(ir, "dy", {8, columns}), w = variable(ir, "w", {rows, columns});
  store("y", x.matmul(w));
  ops::scaled_add_(w, x.T().matmul(dy), {.b = -0.1});
};
template <int rows, int columns, int count>
constexpr bool stays() {
  const Uses uses = facts_of(first_layer<rows, columns>, tiles(count)).variables;
  return uses.exchanged == 0 && uses.written_elsewhere == 0 && uses.local > 0;
}
static_assert(stays<64, 64, 4>() && stays<64, 64, 16>() && stays<64, 64, 64>(), "forward, gradient and update");
static_assert(stays<32, 128, 16>() && stays<128, 32, 16>());
static_assert(facts_of(first_layer<64, 64>, tiles(16)).variables.moved == 0, "a tile has all that it uses of the weight");
static_assert(facts_of(first_layer<64, 64>, tiles(16)).plan.tile.variables == 64 * 64 / 16 * 4, "each tile has a 16th of it");

// ---- elementwise ops are where their inputs are

constexpr auto formulas = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 64}), w = load(ir, "w", {64, 64});
  const Tensor y = x.matmul(w);
  store("z", ops::tanh(ops::exp(y) * y));
};
/// Whether the last `count` steps of a program exchange nothing.
constexpr bool are_local(auto build, int count, const tw::Target& target) {
  const Facts facts = facts_of(build, target);
  for (std::size_t s = facts.moves.size() - static_cast<std::size_t>(count); s < facts.moves.size(); ++s)
    if (!facts.moves[s].before.is_empty() || !facts.moves[s].after.is_empty()) return false;
  return true;
}
static_assert(are_local(formulas, 3, tiles(4).without_fusion()) && are_local(formulas, 3, tiles(64).without_fusion()));
constexpr auto formulas_of_a_sum = [](Ir& ir) {
  const Tensor sum = ops::sum(load(ir, "x", {32, 64}), {0}, true);
  store("z", ops::exp(ops::tanh(sum)));
};
static_assert(are_local(formulas_of_a_sum, 2, tiles(16).without_fusion()));

// ---- views cost nothing

constexpr auto views = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 64});
  const Tensor y = ops::exp(x);
  store("y", ops::tanh(ops::exp(y.reshape({1, 16, 64}).T().T()).reshape({16, 64})));
};
constexpr auto no_views = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 64});
  store("y", ops::tanh(ops::exp(ops::exp(x))));
};
static_assert(facts_of(views, tiles(16).without_fusion()).exchanges() == 0);
static_assert(facts_of(no_views, tiles(16).without_fusion()).exchanges() == 0,
              "what comes from the host lies as it is first read");
static_assert(facts_of(views, tiles(16).without_fusion()).moves.size() ==
              facts_of(no_views, tiles(16).without_fusion()).moves.size());

// ---- what several vertices use

constexpr GridPlaces grid_of(std::int64_t rows, std::int64_t columns) {
  GridPlaces grid;
  grid.axes.push_back({rows, 1, rows > 1 ? columns : 0, 0});
  grid.axes.push_back({columns, 1, columns > 1 ? 1 : 0, 0});
  grid.places.count = rows * columns;
  return grid;
}
/// A (64, 32) matrix of which a vertex of a grid of 4 x 2 has 16 rows, whatever its column.
constexpr OperandCut rows_cut = [] {
  OperandCut cut;
  cut.axes.push_back({32, 64, 16, {4, 1, 2, 0}, 0});
  cut.axes.push_back({1, 32, 32, {}, -1});
  cut.followed = 1;
  return cut;
}();
constexpr TileLayout strips = layout_for(rows_cut, 64 * 32, 4, grid_of(4, 2));
static_assert(strips.places.count == 8 && strips.block_elements() == 64 * 32 / 8, "each of the two has a strip of the slice");
static_assert(strips.axes[0].block == 8 && strips.axes[0].numbering.place(0) == 0 && strips.axes[0].numbering.place(1) == 1 &&
                  strips.axes[0].numbering.place(2) == 2,
              "strips of a slice are on the tiles that use it");
static_assert([] {
  std::int64_t local = 0;
  return access_of(rows_cut, strips, grid_of(4, 2), 8, local) == TileAccess::shared && local == 8 * 32;
}());
static_assert(
    [] {
      OperandCut part = rows_cut;
      part.offset = 32;
      return !layout_for(part, 64 * 32, 4, grid_of(4, 2)).is_decided();
    }(),
    "a part of a storage does not say where the storage is");
/// Layout of (4, 64, rows) samples that a grid of 32 columns uses as a whole.
constexpr TileLayout strips_of_samples(std::int64_t rows) {
  OperandCut cut;
  cut.axes.push_back({64 * rows, 4, 4, {}, -1});
  cut.axes.push_back({rows, 64, 64, {}, -1});
  cut.axes.push_back({1, rows, rows, {}, -1});
  return layout_for(cut, 4 * 64 * rows, 4, grid_of(1, 32));
}
static_assert(strips_of_samples(16).axes[0].numbering.inner == 4, "strips of 4 KB are samples");
static_assert(strips_of_samples(128).axes[0].numbering.inner == 1 && strips_of_samples(128).axes[1].numbering.inner == 32,
              "samples of 32 KB are divided");
static_assert(strips_of_samples(128).block_elements() == 4 * 64 * 128 / 32);

constexpr auto two_products = [](Ir& ir) {
  const Tensor x = variable(ir, "x", {64, 64}), w = variable(ir, "w", {64, 64});
  store("y", x.matmul(w));
};
static_assert(facts_of(two_products, tiles(64)).variables.exchanged == 0);
static_assert(facts_of(two_products, tiles(64)).variables.shared > 0);
static_assert(facts_of(two_products, tiles(64)).plan.tile.variables == 2 * 64 * 64 / 64 * 4, "nothing is there twice");

// ---- parts of tensors

/// The rows of a (64, 32) matrix from `first`, `count` of them, one for each place of a tile.
constexpr OperandCut some_rows(std::int64_t first, std::int64_t count) {
  OperandCut cut;
  cut.offset = first * 32;
  cut.axes.push_back({32, count, 1, {count, 1, 1, 0}, 0});
  cut.axes.push_back({1, 32, 32, {}, -1});
  cut.followed = 1;
  return cut;
}
constexpr GridPlaces rows_from(std::int64_t tile, std::int64_t count) {
  GridPlaces grid;
  grid.axes.push_back({count, 1, 1, 0});
  grid.places = {count, tile};
  return grid;
}
constexpr TileLayout all_rows = layout_for(some_rows(0, 64), 64 * 32, 4, rows_from(0, 64));
static_assert(find_part(some_rows(0, 64), all_rows, 64).is_in_blocks && !find_part(some_rows(0, 64), all_rows, 64).is_smaller);
static_assert(find_part(some_rows(3, 60), all_rows, 64).shift == 3 && find_part(some_rows(3, 60), all_rows, 64).blocks() == 60);
static_assert(!find_part(some_rows(3, 60), all_rows, 32).is_in_blocks, "the second block of a tile would be its first vertex");
static_assert(find_part(some_rows(0, 60), all_rows, 32).is_in_blocks);
static_assert(!find_part(some_rows(0, 60), strips, 64).is_in_blocks, "rows in strips");
constexpr TileAccess access_of_rows(std::int64_t first, std::int64_t tile) {
  std::int64_t local = 0;
  return access_of(some_rows(first, 60), all_rows, rows_from(tile, 60), 64, local);
}
static_assert(access_of_rows(3, 3) == TileAccess::local && access_of_rows(0, 0) == TileAccess::local);
static_assert(access_of_rows(3, 0) == TileAccess::exchanged && access_of_rows(0, 3) == TileAccess::exchanged);

/// Every second column of the rows, from the first or the second one on, in blocks of some columns.
constexpr bool has_steps_in_blocks(std::int64_t first, std::int64_t columns) {
  OperandCut cut = some_rows(0, 64);
  cut.offset = first;
  cut.axes[1] = {2, 16, 16, {}, -1};
  TileLayout layout = all_rows;
  layout.axes[1].block = columns;
  const LayoutPart part = find_part(cut, layout, 64);
  return part.is_in_blocks && part.is_smaller && part.blocks() == 64;
}
static_assert(has_steps_in_blocks(0, 32) && has_steps_in_blocks(1, 32));
static_assert(!has_steps_in_blocks(2, 32) && !has_steps_in_blocks(0, 16), "behind the last column, or in several blocks");

/// An op on a slice of what an op gives.
template <int first_row, int first_column, int rows = 64>
constexpr auto of_slice = [](Ir& ir) {
  const Tensor y = ops::exp(load(ir, "x", {64, 64}));
  store("z", ops::tanh(ops::slice(y, {first_row, first_column}, {first_row + rows, 64})));
};
static_assert(facts_of(of_slice<8, 0>, tiles(16).without_fusion()).exchanges() == 0, "14 of 16 blocks");
static_assert(facts_of(of_slice<0, 8>, tiles(16).without_fusion()).exchanges() == 0, "a part of each block");
static_assert(facts_of(of_slice<2, 0>, tiles(16).without_fusion()).exchanges() == 1, "not from the first row of a block");
static_assert(facts_of(of_slice<0, 0, 32>, tiles(16).without_fusion()).frame.moved == 32 * 64,
              "half of the tiles would take twice as long");

constexpr auto shifted = [](Ir& ir) {
  const Tensor y = ops::exp(load(ir, "x", {64, 64}));
  store("z", ops::concat({ops::slice(y, 1), ops::slice(y, 0, 1)}) - y);
};
static_assert(facts_of(shifted, tiles(64).without_fusion()).frame.moved == 63 * 64 + 2 * 64,
              "each row moves once, to the tile that reads it; the first one on tiles that copy it together");

// ---- calls copy their arguments

constexpr auto two_calls = [](Ir& ir) {
  const Tensor a = variable(ir, "a", {64, 64}), b = variable(ir, "b", {64, 64});
  Tensor x = load(ir, "x", {16, 64});
  const tw::Graph layer = ir.create_graph([](Tensor t, Tensor w) { return t.matmul(w); }, x, a);
  x = tw::call(layer, {x, a})[0];
  store("y", tw::call(layer, {x, b})[0]);
};
/// Bytes of an argument on a tile that has a 16th of it.
constexpr std::int64_t part = 64 * 64 / 16 * 4;
static_assert(
    [] {
      const Facts facts = facts_of(two_calls, tiles(16));
      return facts.moves.size() == 2 && facts.moves[0].local_bytes >= part && facts.moves[1].local_bytes >= part;
    }(),
    "weights lie as the called graph has them, so that each tile copies its part");
static_assert(facts_of(two_calls, tiles(16)).plan.tile.variables == 2 * part);
static_assert(facts_of(two_calls, tiles(16)).plan.tile.frame >= part, "the called graph has a copy");

/// An outlined layer, forward and backward.
struct TwoLayers : tw::Module<TwoLayers> {
  constexpr Tensor build(Tensor x) {
    const auto [factories, layer] = tw::create_graph(tw::layers::Linear<64>{}, x);
    for (const std::string_view name : {"a", "b"}) x = layer.bind(add_variable_inputs(name, factories)).call(x);
    return x;
  }
};
constexpr auto outlined_gradients = [](Ir& ir) {
  const Tensor x = load(ir, "x", {16, 64}), dy = load(ir, "dy", {16, 64});
  const auto [factories, forward] = tw::create_graph(TwoLayers{}, x);
  const auto backward = tw::autodiff(forward);
  const auto weights = factories.init();
  const auto call = forward.bind(weights).call_with_info(x);
  store("y", call.output(0));
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(dy, info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward_call);
  for (const auto& [name, weight] : weights.named_tensors()) ops::scaled_add_(weight, gradients[weight], {.b = -0.1});
};
static_assert(
    [] {
      const Facts facts = facts_of(outlined_gradients, tiles(16));
      int calls = 0;
      for (std::size_t s = 0; s < facts.moves.size(); ++s)
        if (facts.vertices[s] == 1 && facts.moves[s].local_bytes >= part) ++calls;
      return calls == 4;
    }(),
    "a weight lies in the backward graph as in the forward one, so that all four calls copy it within tiles");

// ---- the fullest tile

constexpr bool is_sum_of_categories(auto build, const tw::Target& target) {
  const tw::Plan plan = support::plan_of(build, target);
  const tw::TileMemory& tile = plan.tile;
  return tile.total() == tile.variables + tile.constants + tile.frame + tile.padding + tile.code.vertex + tile.code.state +
                             tile.code.exchange + tile.code.control + tile.stack + tile.reserve &&
         plan.memory.fullest_tile == tile.total() && tile.code.total() == plan.memory.code &&
         tile.stack == target.ipu->code.stack && tile.reserve == target.ipu->code.reserve;
}
static_assert(is_sum_of_categories(two_calls, tiles(16)) && is_sum_of_categories(formulas, tiles(4)));

constexpr auto large = [](Ir& ir) { store("y", load(ir, "x", {16, 256}).matmul(variable(ir, "w", {256, 256}))); };
constexpr tw::Target small_tiles = tiles(16).with_bytes_per_tile(64 * 1024),
                     smaller_tiles = tiles(16).with_bytes_per_tile(20'000);
static_assert(tw::fits<large, small_tiles> && !tw::fits<large, smaller_tiles> && tw::fits<large, tw::cpu>);
static_assert(tw::peak_bytes<large, small_tiles> == support::plan_of(large, small_tiles).tile.total());
static_assert(tw::peak_bytes<large, smaller_tiles> > 20'000, "also of a program that does not fit");
static_assert(tw::peak_memory<large, small_tiles>.variables == 256 * 256 / 16 * 4);

}  // namespace
