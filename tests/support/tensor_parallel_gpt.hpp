#pragma once
// A GPT with one block whose weights are divided among replicas, and what PyTorch computes for the whole network.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "programs.hpp"
#include "reference.hpp"
#include "tilewright/layers/attention.hpp"
#include "tilewright/layers/layer_norm.hpp"
#include "tilewright/layers/tensor_parallel.hpp"
#include "tilewright/ops/collective/sharded_loss.hpp"
#include "tilewright/tilewright.hpp"

namespace tensor_parallel {

namespace tw = tilewright;
namespace ops = tw::ops;
namespace layers = tw::layers;
using tw::Tensor;

constexpr std::int64_t batch = 2, length = 6, tokens = batch * length;
constexpr int vocabulary = 20, width = 16, heads = 4, hidden = 32, steps = 20;
constexpr double learning_rate = 0.1;

struct Attention : tw::Module<Attention> {
  using In = layers::ColumnParallelLinear<3 * width>;
  using Out = layers::RowParallelLinear<width>;
  BOOST_HANA_DEFINE_STRUCT(Attention, (In, c_attn), (Out, c_proj));
  constexpr Tensor build(Tensor x) {
    const Tensor all = c_attn(x);  // of each of the replica's heads a query, a key and a value
    const Tensor by_head = all.reshape({batch, length, -1, 3, width / heads});
    const auto part = [&](int number) { return by_head[{tw::all, tw::all, tw::all, number}].transpose({0, 2, 1, 3}); };
    return c_proj(layers::merge_heads(layers::attend(part(0), part(1), part(2), {.is_causal = true})));
  }
};
struct FeedForward : tw::Module<FeedForward> {
  using In = layers::ColumnParallelLinear<hidden>;
  using Out = layers::RowParallelLinear<width>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (In, c_fc), (Out, c_proj));
  constexpr Tensor build(Tensor x) { return c_proj(ops::gelu(c_fc(x))); }
};
struct Gpt : tw::Module<Gpt> {
  using Tokens = layers::VocabParallelEmbedding<vocabulary, width>;
  using Norm = layers::LayerNorm<>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Tokens, wte), (Norm, ln_1), (Attention, attn), (Norm, ln_2), (FeedForward, mlp), (Norm, ln_f));
  constexpr Tensor build(Tensor text, Tensor labels) {
    Tensor x = wte(text) + add_variable_input("wpe", tw::zeros(), {length, width});
    x = x + attn(ln_1(x));
    x = x + mlp(ln_2(x));
    return ops::cross_entropy_sharded_loss(wte.logits(ln_f(x)), labels);
  }
};

/// A step of gradient descent on all replicas, which have a part of the weights each.
template <int replicas>
constexpr void train(tw::Ir& ir) {
  ir.set_replication_factor(replicas);
  const Tensor text = support::load(ir, "text", {batch, length}, tw::int32);
  const Tensor labels = support::load(ir, "labels", {batch, length}, tw::int32);
  const auto [factories, forward] = tw::create_graph(Gpt{}, text, labels);
  const auto variables = factories.init();
  const auto backward = tw::autodiff(forward);
  const auto call = forward.bind(variables).call_with_info(text, labels);
  support::store("loss", call.output(0));
  const auto info = backward.grad_graph_info();
  const auto gradient_call = backward.call_with_info(ir.constant(1.0), info.inputs_dict(call));
  const auto gradients = variables.remap(info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call));
  for (const auto& [name, gradient] : gradients.named_tensors())
    ops::scaled_add_(variables[name.view()], gradient, {.b = -learning_rate});
}

/// Bytes that each replica sends in a step. An all-reduce sends 2 (n - 1) pieces of S / n bytes. Each of the embedding, the
/// attention and the feed-forward part ends with an all-reduce of an activation; the gradients of the attention, of the
/// feed-forward part and of the head's input are reduced in the same way. The loss reduces a maximum and two sums of each token.
constexpr std::int64_t bytes_of_step(std::int64_t replicas) {
  const auto all_reduce = [&](std::int64_t elements) { return 2 * (replicas - 1) * 4 * elements / replicas; };
  return 6 * all_reduce(tokens * width) + all_reduce(tokens) + all_reduce(2 * tokens);
}

/// How replicas divide a variable: along an axis, or not at all.
struct Cut {
  std::string name;
  std::int64_t rows, columns;
  int axis;  ///< -1: all replicas have the whole
};
inline std::vector<Cut> variables() {
  return {{"wte.weight", vocabulary, width, 0},
          {"wpe", length, width, -1},
          {"ln_1.weight", 1, width, -1},
          {"ln_1.bias", 1, width, -1},
          {"attn.c_attn.weight", width, 3 * width, 1},
          {"attn.c_attn.bias", 1, 3 * width, 1},
          {"attn.c_proj.weight", width, width, 0},
          {"attn.c_proj.bias", 1, width, -1},
          {"ln_2.weight", 1, width, -1},
          {"ln_2.bias", 1, width, -1},
          {"mlp.c_fc.weight", width, hidden, 1},
          {"mlp.c_fc.bias", 1, hidden, 1},
          {"mlp.c_proj.weight", hidden, width, 0},
          {"mlp.c_proj.bias", 1, width, -1},
          {"ln_f.weight", 1, width, -1},
          {"ln_f.bias", 1, width, -1}};
}
/// Returns the parts of a matrix, one behind the other.
inline std::vector<double> parts_of(const std::vector<double>& whole, const Cut& cut, std::int64_t parts) {
  if (cut.axis < 1) return whole;
  std::vector<double> result;
  for (std::int64_t part = 0; part < parts; ++part)
    for (std::int64_t row = 0; row < cut.rows; ++row)
      for (std::int64_t column = 0; column < cut.columns / parts; ++column)
        result.push_back(whole[static_cast<std::size_t>(row * cut.columns + part * (cut.columns / parts) + column)]);
  return result;
}

inline const Values& expected() {
  static const Values values = [] {
    Values read;
    read_reference("tensor_parallel.txt", read);
    return read;
  }();
  return values;
}
/// Returns integers of the reference once for each replica.
inline std::vector<std::int32_t> on_replicas(const std::string& name, std::int64_t replicas) {
  std::vector<std::int32_t> result;
  for (std::int64_t replica = 0; replica < replicas; ++replica)
    for (const double number : expected().at(name)) result.push_back(static_cast<std::int32_t>(number));
  return result;
}

/// What a training run gives.
struct Trained {
  std::vector<double> losses;  ///< by step
  double off_gradients;  ///< largest difference of a gradient of the first step from PyTorch's, relative to elements above 1
};
/// Returns a difference as Trained has it. A gradient is what the first step subtracted, divided by the learning rate: for
/// weights below 1, that is exact to 6e-7.
template <class Session>
double off_of_gradients(Session& session, const Values& before, std::int64_t replicas) {
  double most = 0;
  for (const Cut& cut : variables()) {
    const auto tensors = session.host_tensors();
    const auto after = std::ranges::find(tensors, cut.name, [](const auto& tensor) { return std::string(tensor.name); });
    std::vector<double> gradient = elements_of(*after);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = (before.at(cut.name)[i] - gradient[i]) / learning_rate;
    const double off = difference(gradient, parts_of(expected().at("gpt.d." + cut.name), cut, replicas));
    most = off <= most ? most : off;
  }
  return most;
}
/// Trains from the weights of the reference. `held` is the number of replicas in this process.
template <int replicas, class Session>
Trained trained(Session& session, std::int64_t held) {
  using namespace tw::literals;
  Values weights;
  for (const Cut& cut : variables()) weights[cut.name] = parts_of(expected().at("gpt." + cut.name), cut, replicas);
  write_variables(session, weights);
  using Array = xt::xtensor<std::int32_t, replicas == 1 ? 2 : 3>;
  typename Array::shape_type shape;
  shape.front() = static_cast<std::size_t>(held);  // of one replica there is no such axis
  shape[shape.size() - 2] = batch;
  shape.back() = length;
  Array text(shape), labels(shape);
  std::ranges::copy(on_replicas("gpt.text", held), text.data());
  std::ranges::copy(on_replicas("gpt.labels", held), labels.data());
  Trained result{};
  for (int step = 0; step < steps; ++step) {
    const auto outputs = session.run("text"_s = text, "labels"_s = labels);
    result.losses.push_back(static_cast<double>(outputs["loss"_s].data()[0]));
    if (step == 0) result.off_gradients = off_of_gradients(session, weights, replicas);
  }
  return result;
}

}  // namespace tensor_parallel
