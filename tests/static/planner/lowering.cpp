// labels: quick
// What the lowering passes do to a program.
#include "../../../examples/tutorial/steps.hpp"
#include "../../support/programs.hpp"
#include "../programs/models.hpp"
#include "tilewright/lower/lower.hpp"
#include "tilewright/ops/nn/attention.hpp"
#include "tilewright/transform/autodiff.hpp"

namespace {

using tw::internal::Location, tw::Plan, tw::Tensor;

using support::load, support::plan_of, support::store;

// ---- memory: blocks that live at the same time do not overlap

constexpr tw::List<tw::internal::LiveBlock> placed(tw::List<tw::internal::LiveBlock> blocks, int steps) {
  tw::internal::allocate(blocks, steps);
  return blocks;
}
constexpr bool overlap(const tw::internal::LiveBlock& a, const tw::internal::LiveBlock& b) {
  return a.first <= b.last && b.first <= a.last && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}
constexpr bool none_overlap(const tw::List<tw::internal::LiveBlock>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(blocks[i], blocks[j])) return false;
  return true;
}
constexpr tw::List<tw::internal::LiveBlock> random_blocks(std::uint64_t seed) {
  tw::Random random(seed);
  tw::List<tw::internal::LiveBlock> blocks;
  for (int step = 0; step < 40; ++step)
    blocks.push_back(
        {static_cast<std::int64_t>(1 + random.bits() % 500), step, std::min(39, step + static_cast<int>(random.bits() % 6))});
  return blocks;
}
constexpr std::int64_t frame_of(tw::List<tw::internal::LiveBlock> blocks, int steps) {
  return tw::internal::allocate(blocks, steps);
}

static_assert(none_overlap(placed(random_blocks(1), 40)));
static_assert(none_overlap(placed(random_blocks(2), 40)));
static_assert(frame_of({{64, 0, 1}, {64, 2, 3}}, 4) == 64, "memory is used again");
static_assert(frame_of({{64, 0, 2}, {64, 2, 3}}, 4) == 128, "but not in the step that still reads it");
static_assert(frame_of({{64, 0, 1}, {64, 1, 1}, {128, 2, 2}}, 3) == 128, "neighbouring free ranges are joined");
static_assert(frame_of({{1, 0, 0}, {1, 0, 0}}, 1) == 2 * tw::internal::memory_alignment, "blocks start at cache lines");

// ---- partition: at most one vertex for each tile, in whole vectors

constexpr tw::Work matrix_work() {  // 8 x 512, 784 products each
  const tw::TensorSpec operands[] = {{{8, 784}}, {{784, 512}}, {{8, 512}}};
  return tw::MatMul::work(operands, 2, {});
}
constexpr tw::internal::Partition on_cpu = tw::internal::partition(matrix_work().axes, tw::float32, tw::cpu);
constexpr tw::internal::Partition on_ipu = tw::internal::partition(matrix_work().axes, tw::float32, tw::ipu_model);
static_assert(on_cpu.vertices == 8 && on_cpu.partials == 1 && on_cpu.blocks[0] == 64);
static_assert(on_ipu.vertices <= 1472 && on_ipu.partials == 13 && on_ipu.blocks[0] == 8 && on_ipu.blocks[2] == 64);
static_assert(matrix_work().axes[0].extent == 512 && matrix_work().axes[1].extent == 8, "the longer axis is cut first");
static_assert(tw::internal::partition(matrix_work().axes, tw::float32, tw::cpu.with_tiles(1)).vertices == 1);

// ---- dead code, views, in-place work, fusion, inlining: counted in steps and bytes

constexpr auto steps_of(auto build, const tw::Target& target = tw::cpu) { return plan_of(build, target).steps.size(); }
constexpr auto frame_bytes_of(auto build) { return plan_of(build).memory.frame; }
constexpr auto bodies_of(auto build) { return plan_of(build).bodies.size(); }

constexpr auto unused_result = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {64});
  tw::ops::exp(x);
  store("y", x + x);
};
static_assert(steps_of(unused_result) == 1, "x is read, and the sum written, where the host has them");
static_assert(steps_of(unused_result, tw::cpu.without_fusion()) == 2, "add, store");
static_assert(frame_bytes_of(unused_result) == 0);

constexpr auto views = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {4, 8});
  store("y", tw::ops::exp(x.transpose({1, 0}).reshape({4, 8})));
};
static_assert(steps_of(views, tw::cpu.without_fusion()) == 3, "the transpose is a view; the reshape of it needs a dense copy");

// ---- attention, forward and backward, of 12 heads of 64: scores have no memory

constexpr Tensor attention(Tensor q, Tensor k, Tensor v) {
  return tw::ops::scaled_dot_product_attention(q, k, v, {.is_causal = true});
}
constexpr Tensor composed_attention(Tensor q, Tensor k, Tensor v) {
  const Tensor mask = q.ir().constant(tw::causal_mask(), {q.shape(2), q.shape(2)});
  return tw::ops::softmax(q.matmul(k.transpose({0, 1, 3, 2})) * 0.125 + mask).matmul(v);
}
template <auto form>
constexpr std::int64_t frame_of_attention(std::int64_t length, bool replaces = true) {
  return frame_bytes_of([=](tw::Ir& ir) {
    tw::replaces_composed_forms(ir, replaces);
    const tw::Shape shape{1, 12, length, 64};
    const Tensor q = load(ir, "q", shape), k = load(ir, "k", shape), v = load(ir, "v", shape), dy = load(ir, "dy", shape);
    const tw::Graph graph = ir.create_graph(form, q, k, v);
    const auto gradient = tw::autodiff(graph);
    const auto call = tw::call_with_info(graph, {q, k, v});
    store("y", call.output(0));
    const auto gradients = tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)).outputs();
    for (std::size_t i = 0; i < 3; ++i) store(std::array{"dq", "dk", "dv"}[i], gradients[i]);
  });
}
/// Four tensors like q, and a number for each query. Short texts need less: then some of these stay in a vertex's scratch.
constexpr bool is_linear(std::int64_t length) { return frame_of_attention<attention>(length) <= 12 * length * (4 * 64 + 1) * 4; }
static_assert(is_linear(256) && is_linear(1024) && is_linear(4096));
static_assert(frame_of_attention<composed_attention>(4096) == frame_of_attention<attention>(4096), "the op replaces it");
static_assert(frame_of_attention<composed_attention>(1024, false) >= 12 * 1024 * 1024 * 4, "the weights");

constexpr auto linear_layer = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {8, 64});
  const auto [factories, layer] = tw::create_graph(Linear<32>{}, x);
  store("y", layer.bind(factories.init()).call(x));
};
static_assert(bodies_of(linear_layer) == 1, "a graph that is called once is inlined");
static_assert(steps_of(linear_layer) == 1, "the bias is added to each block of the product, and that goes to the host");
static_assert(steps_of(linear_layer, tw::ipu_model) == 2, "there, the product is a sum of parts");

constexpr auto two_calls = [](tw::Ir& ir) {
  const Tensor x = load(ir, "x", {8, 32});
  const auto [factories, layer] = tw::create_graph(Linear<32>{}, x);
  const auto first = layer.bind(factories.init("first")), second = layer.bind(factories.init("second"));
  store("y", second.call(first.call(x)));
};
static_assert(bodies_of(two_calls) == 2, "a graph that is called twice is planned once");
static_assert(steps_of(two_calls) == 3, "two calls, of which the second writes to the host; the layer");

static_assert(bodies_of(train_step<Net, 8, 28, 28>) == 1);
static_assert(bodies_of(train_step<NetOutlined, 8, 28, 28>) == 3, "main, the shared layer and its gradient");
static_assert(frame_bytes_of(train_step<Net, 8, 28, 28>) < 430'000,
              "no gradient of a weight is ever stored, nor that of the images");
static_assert(plan_of(train_step<Net, 8, 28, 28>).memory.variables == 4 * (784 * 512 + 2 * 512 * 512 + 512 * 10 + 3 * 512 + 16));

// ---- tiles

static_assert(plan_of(train_step<Net, 8, 28, 28>, tw::ipu_model).memory.fullest_tile < tw::ipu_model.bytes_per_tile);
constexpr bool too_large_for_four_tiles() {
  const tw::Target four = tw::ipu_model.with_tiles(4);
  return tw::lower(support::prepared(train_step<Net, 8, 28, 28>, four, tw::OnError::record))
      .failure.view()
      .starts_with("memory: tile 0 of 4 needs ");
}
static_assert(too_large_for_four_tiles());

constexpr bool fits(const tw::Target& target) {
  return tw::lower(support::prepared(linear_layer, target, tw::OnError::record)).failure.empty();
}
constexpr std::int64_t bytes_needed = plan_of(linear_layer, tw::ipu_model).memory.fullest_tile;
static_assert(fits(tw::ipu_model.with_bytes_per_tile(bytes_needed)));
static_assert(!fits(tw::ipu_model.with_bytes_per_tile(bytes_needed - 1)));
static_assert(fits(tw::ipu_model.with_bytes_per_tile(0)), "0 is not checked");
static_assert(fits(tw::cpu) && !fits(tw::cpu.with_bytes_per_tile(100)));

// ---- each machine has a list of passes, and what it plans with

template <class Draft>
concept has_tiles = requires(Draft draft) { draft.tiles; };
using tw::internal::HostPlanner, tw::internal::IpuPlanner, tw::internal::MachinePlanner, tw::internal::Pass;
static_assert(!has_tiles<MachinePlanner::Draft> && has_tiles<IpuPlanner::Draft>);
constexpr bool has_pass(const auto& passes, Pass pass) { return std::ranges::find(passes, pass) != std::end(passes); }
static_assert(has_pass(HostPlanner::passes, Pass::write_through) && !has_pass(IpuPlanner::passes, Pass::write_through));
static_assert(!has_pass(HostPlanner::passes, Pass::map_tiles) && has_pass(IpuPlanner::passes, Pass::map_tiles));

// ---- ids of storages, bodies, graphs, nodes and tensors do not mix, with each other or with bare numbers
template <class L, class I>
concept takes = requires(const L list, I i) { list[i]; };
template <class A, class B>
concept mixes = std::is_convertible_v<A, B> || requires(A a, B b) { a == b; } || requires(A a, B b) { a < b; };
using Storages = decltype(tw::internal::BodyDraft::storages);
using Bodies = decltype(tw::Plan::bodies);
static_assert(takes<Storages, tw::internal::StorageId> && takes<Bodies, tw::internal::BodyId>);
static_assert(!takes<Storages, tw::internal::BodyId> && !takes<Storages, int> && !takes<Bodies, tw::internal::StorageId> &&
              !takes<Bodies, int>);
static_assert(!takes<decltype(tw::Plan::steps), tw::internal::BodyId> &&
              !takes<decltype(tw::internal::BodyDraft::operations), tw::internal::StorageId>);
static_assert(!mixes<tw::internal::StorageId, tw::internal::BodyId> && !mixes<tw::internal::StorageId, int> &&
              !mixes<int, tw::internal::StorageId>);
static_assert(!mixes<tw::internal::BodyId, int> && !mixes<int, tw::internal::BodyId>);
using Nodes = decltype(tw::GraphRecord::nodes);
using Tensors = decltype(tw::GraphRecord::tensors);
static_assert(takes<Nodes, tw::NodeId> && !takes<Nodes, tw::TensorId> && !takes<Nodes, tw::GraphId> && !takes<Nodes, int>);
static_assert(takes<Tensors, tw::TensorId> && !takes<Tensors, tw::NodeId> && !takes<Tensors, tw::internal::StorageId> &&
              !takes<Tensors, int>);
static_assert(!mixes<tw::TensorId, int> && !mixes<int, tw::TensorId> && !mixes<tw::TensorId, tw::NodeId>);
static_assert(!mixes<tw::NodeId, int> && !mixes<int, tw::NodeId> && !mixes<tw::NodeId, tw::GraphId>);
static_assert(!std::is_constructible_v<tw::Tensor, tw::Ir&, tw::TensorId, tw::GraphId>, "a graph, then a tensor");
using Graphs = decltype(tw::IrTables::graphs);
static_assert(takes<Graphs, tw::GraphId> && !takes<Graphs, tw::internal::BodyId> && !takes<Graphs, int> &&
              !takes<Bodies, tw::GraphId>);
static_assert(!mixes<tw::GraphId, int> && !mixes<int, tw::GraphId> && !mixes<tw::GraphId, tw::internal::BodyId>);
static_assert(!std::is_constructible_v<tw::Graph, tw::Ir&, int> && !std::is_constructible_v<tw::Tensor, tw::Ir&, int, int>);
static_assert(std::is_same_v<decltype(tw::internal::Value::storage), tw::internal::StorageId> &&
              std::is_same_v<decltype(tw::internal::Step::body), tw::internal::BodyId>);

}  // namespace
