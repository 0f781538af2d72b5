#pragma once
// Programs on several IPUs: pipelines, collectives between IPUs, IO tiles.
#include <string_view>
#include <utility>

#include "tilewright/layers/linear.hpp"
#include "tilewright/tilewright.hpp"

namespace ipu_programs {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Graph, tw::Ir, tw::Tensor;

constexpr int steps = 9, batch = 4;

/// Runs a step, which takes a function that opens stages, in a pipeline or as often in order.
template <class Step>
constexpr void run_steps(Ir& ir, bool is_pipelined, const Step& step) {
  if (is_pipelined) {
    auto pipeline = tw::pipelined_execution(ir, steps);
    step(&pipeline);
  } else {
    for (int i = 0; i < steps; ++i) step(nullptr);
  }
}
/// Calls f in a scope of a stage and an IPU.
template <class F>
constexpr auto in_stage(Ir& ir, tw::Pipeline* pipeline, int stage, int ipu, const F& f) {
  const auto device = tw::ipu(ir, ipu);
  if (!pipeline) return f();
  const auto scope = pipeline->stage(stage);
  return f();
}

constexpr tw::TensorMap activations(tw::Pipeline* pipeline, const tw::CallSiteInfo& forward, const tw::GradGraphInfo& info) {
  if (pipeline) return pipeline->stash_and_restore_activations(forward, info);
  return info.inputs_dict(forward);
}

template <bool is_pipelined>
constexpr void inference(Ir& ir) {
  const auto images = ir.h2d_stream("x", {batch, 24});
  const auto results = ir.d2h_stream("y", {batch, 5});
  const auto w1 = ir.variable(tw::normal(0, 1), {24, 33}, tw::float32, "w1"),
             w2 = ir.variable(tw::normal(0, 1), {33, 19}, tw::float32, "w2"),
             w3 = ir.variable(tw::normal(0, 1), {19, 5}, tw::float32, "w3"),
             sum = ir.variable(tw::zeros(), {batch, 5}, tw::float32, "sum");
  run_steps(ir, is_pipelined, [&](tw::Pipeline* pipeline) {
    const Tensor first = in_stage(ir, pipeline, 0, 0,
                                  [&] { return ops::tanh(ops::host_load(images).matmul(w1)).copy_to_ipu(1); });
    const Tensor second = in_stage(ir, pipeline, 1, 1, [&] { return ops::gelu(first.matmul(w2)); });
    in_stage(ir, pipeline, 2, 2, [&] {
      const Tensor y = second.copy_to_ipu(2).matmul(w3);
      ops::add_(sum, y);
      ops::host_store(results, y + sum);
      return y;
    });
  });
}

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<40>, fc1));
  constexpr Tensor build(Tensor x) { return ops::gelu(fc1(x)); }
};
struct Head : tw::Module<Head> {
  BOOST_HANA_DEFINE_STRUCT(Head, (tw::layers::Linear<10>, fc2));
  constexpr Tensor build(Tensor x) { return fc2(x); }
};

/// A network of two parts on two IPUs: forward in stages 0 and 1, where the loss is, too, backward in stages 1 and 2. Gradients
/// are accumulated over the steps; then weights change. The head's pass may be in stage 2, and so three steps before the end.
template <bool is_pipelined>
constexpr void training(Ir& ir) {
  const auto images = ir.h2d_stream("x", {batch, 24});
  const auto labels = ir.h2d_stream("label", {batch}, tw::int32);
  const auto losses = ir.d2h_stream("loss", {});
  const auto spec = tw::TensorSpec{{batch, 24}, tw::float32}, hidden_spec = tw::TensorSpec{{batch, 40}, tw::float32};
  const auto net = tw::create_graph(ir, Net{}, spec);
  const auto head = [&] {
    const auto device = tw::ipu(ir, 1);
    return tw::create_graph(ir, Head{}, hidden_spec);
  }();
  const auto net_grad = tw::autodiff_with_accumulation(net.graph, net.graph.args()),
             head_grad = tw::autodiff_with_accumulation(head.graph, head.graph.args(),
                                                        {.grads_required = {{head.graph.graph().input(0)}}});
  const auto net_variables = net.factories.init("net"), head_variables = head.factories.init("head"),
             net_means = net_grad.factories.init("net_means"), head_means = head_grad.factories.init("head_means");
  run_steps(ir, is_pipelined, [&](tw::Pipeline* pipeline) {
    const auto forward = in_stage(ir, pipeline, 0, 0,
                                  [&] { return net.graph.bind(net_variables).call_with_info(ops::host_load(images)); });
    const Tensor hidden = in_stage(ir, pipeline, 0, 0, [&] { return forward.output(0).copy_to_ipu(1); });
    const auto head_call = in_stage(ir, pipeline, 1, 1, [&] { return head.graph.bind(head_variables).call_with_info(hidden); });
    const Tensor dy = in_stage(ir, pipeline, 2, 1, [&] {
      const Tensor logits = pipeline ? pipeline->stash_and_restore_tensor(head_call.output(0)) : head_call.output(0);
      const auto [loss, gradient] = ops::nll_loss_with_softmax_grad(ops::softmax(logits, -1), ops::host_load(labels));
      ops::host_store(losses, loss);
      return gradient;
    });
    const Tensor dx = in_stage(ir, pipeline, 2, 1, [&] {
      const auto info = head_grad.graph.grad_graph_info();
      const tw::TensorMap args = activations(pipeline, head_call, info);
      return head_grad.graph.bind(head_means).call(dy, args)[0].copy_to_ipu(0);
    });
    in_stage(ir, pipeline, 3, 0, [&] {
      const auto info = net_grad.graph.grad_graph_info();
      const tw::TensorMap args = activations(pipeline, forward, info);
      net_grad.graph.bind(net_means).call(dx, args);
      return 0;
    });
  });
  for (const auto& [variables, means] : {std::pair(net_variables, net_means), std::pair(head_variables, head_means)}) {
    for (const auto& [name, variable] : variables.to_dict())
      ops::scaled_add_(variable, means[tw::text("accum.", name).view()], {.b = -0.1});
    ops::copy_var_update_(means["mean_accum_counter"], ir.constant(0));
  }
}

// ---- collectives between IPUs

using tw::CollectiveOperator;
inline constexpr CollectiveOperator operators[] = {
    CollectiveOperator::add, CollectiveOperator::mean,        CollectiveOperator::mul,        CollectiveOperator::min,
    CollectiveOperator::max, CollectiveOperator::logical_and, CollectiveOperator::logical_or, CollectiveOperator::square_add};

constexpr tw::List<Tensor> inputs_of(Ir& ir, tw::DType dtype) {
  tw::List<Tensor> ts;
  for (int i = 0; i < 3; ++i) {
    const auto device = tw::ipu(ir, i);
    ts.push_back(ops::host_load(ir.h2d_stream(tw::text("x", i, dtype == tw::int32 ? "_int" : "").view(), {4}, dtype)));
  }
  return ts;
}
constexpr void reductions(Ir& ir) {
  for (const tw::DType dtype : {tw::float32, tw::int32}) {
    const auto ts = inputs_of(ir, dtype);
    for (const CollectiveOperator op : operators) {
      const auto results = ops::collectives::all_reduce(ts, {.op = op});
      for (int i = 0; i < 3; ++i)
        ops::host_store(ir.d2h_stream(tw::text(tw::to_text(op), i, dtype == tw::int32 ? "_int" : "").view(), {4}, dtype),
                        results[static_cast<std::size_t>(i)]);
    }
  }
}

/// Gradients of sums of the results times 1, 2 and 3.
constexpr void gradients(Ir& ir) {
  const auto ts = inputs_of(ir, tw::float32);
  const auto run = [&](std::string_view name, const auto& reduce) {
    const Graph graph = ir.create_graph([&](const tw::List<Tensor>& xs) { return reduce(xs); }, ts);
    const auto forward = tw::call_with_info(graph, {ts.data(), ts.size()});
    const auto info = tw::autodiff(graph);
    tw::List<Tensor> dys;
    for (int i = 0; i < 3; ++i) {
      const auto device = tw::ipu(ir, i);
      dys.push_back(ir.constant(tw::List<double>{i + 1.0}, {4}));
    }
    const auto dxs = tw::call(info.graph(), {dys[0], dys[1], dys[2]}, info.inputs_dict(forward));
    for (int i = 0; i < 3; ++i) {
      ops::host_store(ir.d2h_stream(tw::text(name, ".y", i).view(), {4}), forward.output(i));
      ops::host_store(ir.d2h_stream(tw::text(name, ".dx", i).view(), {4}), dxs[static_cast<std::size_t>(i)]);
    }
  };
  run("both", [](const auto& xs) { return ops::collectives::all_reduce(xs); });
  run("inputs", [](const auto& xs) { return ops::collectives::all_reduce_identical_inputs(xs); });
  run("gradients", [](const auto& xs) { return ops::collectives::all_reduce_identical_grad_inputs(xs); });
}

// ---- IO tiles

/// Loads and stores on IO tiles, and what is between on the others.
constexpr void on_io_tiles(Ir& ir) {
  const auto load = [&] {
    const auto io = tw::io_tiles(ir);
    return ops::host_load(ir.h2d_stream("x", {5}));
  };
  const Tensor y = ops::negate(ops::io_tile_copy(load()));
  const auto io = tw::io_tiles(ir);
  ops::host_store(ir.d2h_stream("y", {5}), ops::io_tile_copy(y));
}

}  // namespace ipu_programs
