#pragma once
// Programs with all kinds of steps, whose drafts and plans tests break.
#include "violations.hpp"

namespace violations {

/// A layer with its activation, the sum of its columns, and an update of the weight.
inline void layer(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {64, 64});
  const Tensor w = ir.variable(tw::ones(), {64, 64}, tw::float32, "w"), b = ir.variable(tw::zeros(), {64}, tw::float32, "b");
  const Tensor y = ops::gelu(x.matmul(w) + b) + ir.constant(1.0);
  store(ir, "sum", ops::sum(y, {0}));
  ops::scaled_add_(w, x.T().matmul(y), {.b = -0.5});
}
/// A softmax that is stored: its rows go through scratch if they have room there.
template <int columns>
inline void softmax(tw::Ir& ir) {
  store(ir, "y", ops::softmax(load(ir, "x", {8, columns})));
}
/// Reductions that the IPU model cuts: of one output, and of an output of parts and one of rows.
inline void parts(tw::Ir& ir) {
  const Tensor x = load(ir, "x", {128, 8}), labels = load(ir, "labels", {128}, tw::int32);
  store(ir, "largest", ops::max(x));
  const auto [loss, gradient] = ops::nll_loss_with_softmax_grad(x, labels, load(ir, "scale", {}));
  store(ir, "loss", loss);
  store(ir, "gradient", gradient);
}
/// Elementwise ops, the last of which reads the first two results: c takes over the memory of b.
inline void chain(tw::Ir& ir) {
  const Tensor a = ops::exp(load(ir, "x", {64, 64})), b = ops::exp(a), c = ops::exp(b);
  store(ir, "y", a * c);
}
/// Ops after an upload, which keep a tensor for runs; and a loop.
inline void contexts(tw::Ir& ir) {
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
inline void calls(tw::Ir& ir) {
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
inline void collective(tw::Ir& ir) {
  ir.set_replication_factor(2);
  store(ir, "y", ops::collectives::replicated_all_reduce(load(ir, "x", {8}) + 1));
}

/// A product on tiles, which takes parts of both inputs from other tiles, and an op on its result.
inline void product(tw::Ir& ir) {
  const Tensor w = ir.variable(tw::ones(), {64, 64}, tw::float32, "w");
  store(ir, "y", ops::gelu(load(ir, "x", {64, 64}).matmul(w)));
}
/// Two calls of a graph.
inline void square(tw::Ir& ir) {
  const tw::Graph graph = ir.create_graph([](Tensor x) { return x.matmul(x); }, tw::TensorSpec{{16, 16}, tw::float32});
  store(ir, "y", tw::call(graph, tw::call(graph, load(ir, "x", {16, 16}))));
}
/// A sum on the second IPU of what the first has.
inline void two_ipus(tw::Ir& ir) {
  const Tensor x = ops::exp(load(ir, "x", {64})).copy_to_ipu(1);
  const auto second = tw::ipu(ir, 1);
  store(ir, "y", x + 1);
}

inline constexpr tw::Target ipu_of_64 = tw::gc200.with_tiles(64);
inline const Case a_product{"product", product, ipu_of_64}, with_square{"square", square, ipu_of_64},
    on_two{"two IPUs", two_ipus, ipu_of_64.with_ipus(2)};
inline const Case a_layer{"layer", layer}, on_tiles{"layer on tiles", layer, tw::ipu_model.with_tiles(64)},
    a_chain{"chain", chain, tw::cpu.without_fusion()}, with_scratch{"softmax", softmax<1024>},
    without_scratch{"wide softmax", softmax<131072>}, with_calls{"calls", calls}, with_replicas{"collective", collective},
    with_contexts{"contexts", contexts};

/// The first operation with this op, or the first call.
inline tw::internal::Operation& op(BodyDraft& draft, std::string_view name) {
  for (tw::internal::Operation& each : draft.operations)
    if (each.op ? each.op->name == name : name == "call") return each;
  FAIL("no " << name);
  return draft.operations[0];
}
inline tw::internal::Storage& storage_of(BodyDraft& draft, const tw::internal::Operation& operation, int operand) {
  return draft.storage(operation.operands[operand].storage);
}
/// The first group with several members.
inline tw::internal::Group& joined(BodyDraft& draft) {
  for (tw::internal::Group& each : draft.groups)
    if (each.members.size() > 1) return each;
  FAIL("no joined group");
  return draft.groups[0];
}
/// The first storage that takes over memory.
inline tw::internal::Storage& reuser(BodyDraft& draft) {
  for (tw::internal::Storage& each : draft.storages)
    if (each.reuses != StorageId::none) return each;
  FAIL("no memory is reused");
  return draft.storages[StorageId(0)];
}

}  // namespace violations
