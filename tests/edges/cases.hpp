#pragma once
// A case for each differentiable op: what tests/reference/make_edge_values.py computes, by the same names. Each has inputs of
// many kinds, so tensors are small.
#include <algorithm>
#include <span>
#include <string_view>

#include "../ops/ops.hpp"
#include "tilewright/ops/nn/losses.hpp"
#include "tilewright/tilewright.hpp"

namespace edges {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::DType, tw::Ir, tw::NllOptions, tw::Reduction, tw::ScatterReduction, tw::Tensor, tw::TensorSpec;

/// Adds the cases of one dtype to an Ir. Inputs and the gradient of the result are variables, results and gradients of inputs are
/// streams, with the names of fixtures.py after the case's.
class Cases {
 public:
  /// `fused`: inputs and result are negated in the case's graph, which leaves ops of formulas in one loop.
  constexpr Cases(Ir& ir, DType dtype, bool fused, std::span<const std::string_view> names)
      : ir_(ir), dtype_(dtype), fused_(fused), names_(names) {}

  constexpr TensorSpec real(std::initializer_list<std::int64_t> shape) const { return {shape, dtype_}; }
  static constexpr TensorSpec ints(std::initializer_list<std::int64_t> shape) { return {shape, tw::int32}; }
  static constexpr TensorSpec bools(std::initializer_list<std::int64_t> shape) { return {shape, tw::boolean}; }

  template <class Op, class... Specs>
  constexpr void add(std::string_view name, Op op, const Specs&... inputs) const {
    if (std::ranges::find(names_, name) == names_.end()) return;
    const auto negated = [&](Tensor x) { return fused_ && tw::is_floating_point(x.dtype()) ? -x : x; };
    const auto graph = ir_.create_graph([&](auto... x) { return negated(op(negated(x)...)); }, inputs...);
    tw::List<Tensor> x;
    for (const Tensor& input : graph.inputs()) x.push_back(variable(name, "x", static_cast<int>(x.size()), input.spec()));
    const auto call = tw::call_with_info(graph, x);
    store(name, "y", 0, call.output(0));
    const auto gradient = tw::autodiff(graph);
    const Tensor dy = variable(name, "dy", 0, call.output(0).spec());
    const auto gradient_call = tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call));
    const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
    for (int i = 0; i < static_cast<int>(x.size()); ++i)
      if (const Tensor* dx = gradients.find(graph.inputs()[static_cast<std::size_t>(i)])) store(name, "dx", i, *dx);
  }

 private:
  constexpr Tensor variable(std::string_view name, std::string_view kind, int i, const TensorSpec& spec) const {
    return ir_.variable(tw::zeros(), spec.shape, spec.dtype, tw::text(name, ".", kind, i).view());
  }
  constexpr void store(std::string_view name, std::string_view kind, int i, Tensor t) const {
    ops::host_store(ir_.d2h_stream(tw::text(name, ".", kind, i).view(), t.spec()), t);
  }

  Ir& ir_;
  DType dtype_;
  bool fused_;
  std::span<const std::string_view> names_;  ///< of the cases that are added
};

inline constexpr std::int64_t n = 8;

constexpr void functions(const Cases& c) {
  const auto x = c.real({n});
  op_tests::for_each([&](auto test) { test.edges(c); });
  c.add("cast", [](Tensor t) { return ops::cast(ops::cast(t, tw::float32), t.dtype()); }, x);
}
constexpr void arithmetic(const Cases& c) {
  const auto x = c.real({n});
  const auto where = [](Tensor condition, Tensor a, Tensor b) { return ops::where(condition, a, b); };
  c.add("scaled_add", [](Tensor a, Tensor b) { return ops::scaled_add(a, b, {.a = 0.5, .b = -3}); }, x, x);
  c.add("where", where, c.bools({n}), x, x);
  c.add("where_row", where, c.bools({3, 4}), c.real({4}), c.real({3, 1}));
}
constexpr void reductions(const Cases& c) {
  const auto x = c.real({3, 4});
  c.add("softmax", [](Tensor t) { return ops::softmax(t, 1); }, x);
  c.add("softmax_columns", [](Tensor t) { return ops::softmax(t, 0); }, x);
  c.add("cumsum", [](Tensor t) { return ops::cumsum(t, 1); }, x);
  c.add("cumsum_columns", [](Tensor t) { return ops::cumsum(t, 0); }, x);
  c.add("topk", [](Tensor t) { return ops::topk(t, 2, 1).values; }, x);
}
constexpr void losses(const Cases& c) {
  const auto x = c.real({4, 3});
  const auto labels = c.ints({4});
  const auto cross_entropy = [](const NllOptions& options) {
    return [options](Tensor t, Tensor of) { return ops::cross_entropy(t, of, options); };
  };
  c.add("cross_entropy_none", cross_entropy({.reduction = Reduction::none}), x, labels);
  c.add("cross_entropy_sum", cross_entropy({.reduction = Reduction::sum}), x, labels);
  c.add("cross_entropy_mean", cross_entropy({}), x, labels);
  c.add("cross_entropy_ignored", cross_entropy({.ignore_index = 2}), x, labels);
  c.add("cross_entropy_one_of_many", cross_entropy({.reduction = Reduction::sum}), c.real({2, 40}), c.ints({2}));
  c.add("nll_loss", [](Tensor p, Tensor of) { return ops::nll_loss(p, of); }, x, labels);
  c.add(
      "nll_loss_of_logarithms",
      [](Tensor p, Tensor of) { return ops::nll_loss(p, of, {.reduction = Reduction::none, .log_prob = true}); }, x, labels);
}
constexpr void losses_with_options(const Cases& c) {
  using enum Reduction;
  const auto x = c.real({n});
  const auto weighted = [](double label_smoothing, bool has_weight) {
    return [=](Tensor t, Tensor of) {
      tw::CrossEntropyOptions options{.reduction = none, .label_smoothing = label_smoothing};
      if (has_weight) options.weight = t.ir().constant({0.5, 2, 1.25}, {3}, t.dtype());
      return ops::cross_entropy(t, of, options);
    };
  };
  c.add("cross_entropy_weighted", weighted(0, true), c.real({4, 3}), c.ints({4}));
  c.add("cross_entropy_smoothed", weighted(0.25, false), c.real({4, 3}), c.ints({4}));
  c.add("cross_entropy_weighted_and_smoothed", weighted(0.25, true), c.real({4, 3}), c.ints({4}));
  c.add(
      "binary_cross_entropy",
      [](Tensor t, Tensor of) { return ops::binary_cross_entropy_with_logits(t, of, {.reduction = none}); }, x, x);
  c.add(
      "binary_cross_entropy_of_positives",
      [](Tensor t, Tensor of, Tensor w) {
        return ops::binary_cross_entropy_with_logits(t, of, {.pos_weight = w, .reduction = none});
      },
      x, x, x);
  c.add("huber", [](Tensor t, Tensor of) { return ops::huber_loss(t, of, {.delta = 0.75, .reduction = none}); }, x, x);
  c.add("smooth_l1", [](Tensor t, Tensor of) { return ops::smooth_l1_loss(t, of, {.beta = 0.75, .reduction = none}); }, x, x);
}
constexpr void normalisations(const Cases& c) {
  const auto x = c.real({3, 4}), w = c.real({4}), channels = c.real({2}), images = c.real({3, 2, 2});
  c.add("layer_norm", [](Tensor t, Tensor a, Tensor b) { return ops::layer_norm(t, a, b); }, x, w, w);
  c.add("layer_norm_small_epsilon", [](Tensor t, Tensor a, Tensor b) { return ops::layer_norm(t, a, b, 1e-12); }, x, w, w);
  c.add("group_norm", [](Tensor t, Tensor a, Tensor b) { return ops::group_norm(t, a, b, 2); }, c.real({2, 4, 2}), w, w);
  c.add(
      "batch_norm",
      [](Tensor t, Tensor a, Tensor b, Tensor mean, Tensor var) {
        return ops::batch_norm(t, a, b, mean.cast(tw::float32), var.cast(tw::float32));
      },
      images, channels, channels, c.ints({2}), c.ints({2}));
  c.add(
      "batch_norm_inference",
      [](Tensor t, Tensor a, Tensor b, Tensor mean, Tensor var) { return ops::batch_norm_inference(t, a, b, mean, var); }, images,
      channels, channels, channels, channels);
}
constexpr void indexing(const Cases& c) {
  constexpr std::int64_t many = 12;
  using enum ScatterReduction;
  c.add("gather", [](Tensor t, Tensor i) { return ops::gather(t, i); }, c.real({4, 2}), c.ints({many}));
  c.add("tied_gather", [](Tensor t, Tensor i) { return ops::tied_gather(t, i); }, c.real({3, 2}), c.ints({many}));
  c.add("groupedgather", [](Tensor t, Tensor i) { return ops::groupedgather(t, i, 1, 2); }, c.real({2, 3, 2}), c.ints({2, 6}));
  c.add(
      "scatter", [](Tensor t, Tensor i, Tensor v) { return ops::scatter(t, i, v, 0); }, c.real({4, 2}), c.ints({2, 2}),
      c.real({2, 2}));
  c.add(
      "scatter_sum", [](Tensor v, Tensor i) { return ops::scatter_reduce(v, i, sum, {.axis_size = 3}); }, c.real({many, 2}),
      c.ints({many}));
  c.add(
      "scatter_sum_initial", [](Tensor v, Tensor i, Tensor t) { return ops::scatter_reduce(v, i, sum, {.initial_values = t}); },
      c.real({many, 2}), c.ints({many}), c.real({3, 2}));
  c.add(
      "scatter_max", [](Tensor v, Tensor i) { return ops::scatter_reduce(v, i, max, {.axis_size = 3}); }, c.real({many, 2}),
      c.ints({many}));
  c.add("dynamic_slice", [](Tensor t, Tensor i) { return ops::dynamic_slice(t, i, {0}, {2}); }, c.real({4, 3}), c.ints({1}));
  c.add(
      "dynamic_update", [](Tensor t, Tensor i, Tensor u) { return ops::dynamic_update(t, i, u, {0}, {2}); }, c.real({4, 3}),
      c.ints({1}), c.real({2, 3}));
  c.add("onehot", [](Tensor i, Tensor v) { return ops::onehot(i, 3, v); }, c.ints({many}), c.real({2}));
}
constexpr void moves(const Cases& c) {
  c.add(
      "moves",
      [](Tensor x, Tensor y) { return ops::concat({ops::slice(x.T(), 1, 3), ops::slice(y.reshape({2, 4}), 0, 4, 2, 1)}, 1); },
      c.real({4, 3}), c.real({8}));
  c.add("expand", [](Tensor x) { return ops::expand(x, {8, 3}); }, c.real({3}));
  c.add("diagonal", [](Tensor x) { return ops::diag(ops::diag(x)); }, c.real({3, 3}));
  c.add("squeeze", [](Tensor x) { return ops::squeeze(x, {1}) * 1; }, c.real({6, 1}));
  c.add(
      "loop",
      [](Tensor x) {  // the state is of float32: what is rounded is the gradient of x
        const auto add = [](Tensor state, Tensor term) { return state + term.cast(tw::float32); };
        const TensorSpec wide{x.shape(), tw::float32};
        const auto body = x.ir().create_graph(add, wide, x.spec());
        return tw::repeat(body, 40, {x.ir().constant(tw::zeros(), x.shape(), tw::float32), x})[0].cast(x.dtype());
      },
      c.real({6}));
  c.add(
      "used_often",
      [](Tensor x) {  // as for the loop
        Tensor y = x.cast(tw::float32);
        for (int i = 0; i < 12; ++i) y = y + (x * 0x1p-8).cast(tw::float32);
        return (y + (x * 1).cast(tw::float32)).cast(x.dtype());
      },
      c.real({6}));
  c.add(
      "loop_of_products",
      [](Tensor x, Tensor w) {
        const auto body = x.ir().create_graph([](Tensor state, Tensor factor) { return state * factor; }, x.spec(), w.spec());
        return tw::repeat(body, 4, {x, w})[0];
      },
      c.real({6}), c.real({6}));
}
constexpr void products(const Cases& c) {
  const auto matmul = [](Tensor a, Tensor b) { return a.matmul(b); };
  const auto image = c.real({1, 2, 3, 4}), line = c.real({1, 2, 4}), heads = c.real({1, 1, 4, 2});
  c.add("matmul", matmul, c.real({3, 5}), c.real({5, 4}));
  c.add("matmul_of_groups", matmul, c.real({2, 3, 4}), c.real({4, 2}));
  c.add("linear", [](Tensor x, Tensor w, Tensor b) { return x.matmul(w) + b; }, c.real({6, 4}), c.real({4, 3}), c.real({3}));
  c.add("conv", [](Tensor x, Tensor w) { return ops::conv(x, w, {.padding = {1, 1, 1, 1}}); }, image, c.real({2, 2, 3, 3}));
  c.add(
      "conv_transpose", [](Tensor x, Tensor w) { return ops::conv_transpose(x, w, {.stride = {2, 2}}); }, c.real({1, 2, 2, 3}),
      c.real({2, 2, 2, 2}));
  c.add("average_pool", [](Tensor x) { return ops::average_pool(x, {2, 2}); }, image);
  c.add("max_pool", [](Tensor x) { return ops::max_pool(x, {2, 2}); }, image);
  c.add("interpolate", [](Tensor x) { return ops::interpolate(x, {1, 1, 3}); }, line);
  c.add("interpolate_linear", [](Tensor x) { return ops::interpolate(x, {1, 1, 2}, {.mode = tw::ResizeMode::linear}); }, line);
  c.add(
      "roi_align",
      [](Tensor x, Tensor boxes, Tensor index) {
        return ops::roi_align(x, boxes.cast(x.dtype()), index, {.output_size = {3, 3}, .sampling_ratio = 1});
      },
      c.real({1, 2, 4, 4}), c.ints({1, 4}), c.ints({1}));
  const auto attention = [](const tw::AttentionOptions& options) {
    return [options](Tensor q, Tensor k, Tensor v) { return ops::scaled_dot_product_attention(q, k, v, options); };
  };
  c.add("attention", attention({}), heads, heads, heads);
  c.add("attention_causal", attention({.is_causal = true}), heads, heads, heads);
  c.add(
      "attention_masked",
      [](Tensor q, Tensor k, Tensor v, Tensor mask) { return ops::scaled_dot_product_attention(q, k, v, mask); }, heads, heads,
      heads, c.bools({1, 4}));
}

}  // namespace edges
