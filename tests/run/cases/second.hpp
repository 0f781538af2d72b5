#pragma once
// The cases of tests/reference/ops_second.txt: derivatives in forward mode, and second derivatives.
#include "losses.hpp"
#include "op_case.hpp"
#include "tilewright/derivatives/jvp.hpp"

namespace op_cases {

/// The gradient of an op as a differentiable case. Its inputs are those of the op, x, the gradient of the result, dy, and numbers
/// u in the shapes of x; its result y0 is the sum of u dx. The stream y1 has the same number from forward mode: the sum of dy and
/// the op's tangent along u.
template <class Op, class... Specs>
constexpr void twice(Ir& ir, std::string_view name, Op op, const Specs&... inputs) {
  const tw::Graph graph = ir.create_graph(op, inputs...);
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const auto first = [&](auto... tensors) {
    const tw::List<Tensor> given{tensors...};
    constexpr std::size_t count = sizeof...(Specs);
    const auto call = tw::call_with_info(graph, std::span(given.data(), count));
    const auto gradient_call = tw::call_with_info(gradient.graph(), given[count], gradient.inputs_dict(call));
    const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
    tw::List<Tensor> sums;
    for (std::size_t i = 0; i < count; ++i)
      if (const Tensor* dx = gradients.find(graph.inputs()[i])) sums.push_back(ops::sum(*dx * given[count + 1 + i]));
    Tensor total = sums[0];
    for (std::size_t i = 1; i < sums.size(); ++i) total = total + sums[i];
    return total;
  };
  const auto text = tw::text("second_", name);
  const auto call = differentiable(ir, text.view(), ir.create_graph(first, inputs..., graph.output(0).spec(), inputs...),
                                   StoredGradients::all);
  const auto given = call.inputs();
  constexpr std::size_t count = sizeof...(Specs);
  const Tensor tangent = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return tw::jvp(graph, {given[i]...}, {given[count + 1 + i]...}).second;
  }(std::make_index_sequence<count>());
  Case(ir, text.view()).store("y", 1, ops::sum(tangent * given[count]));
}

/// The elements of all tensors in a line.
constexpr auto joined(std::same_as<Tensor> auto... tensors) { return ops::concat({ops::flatten(tensors)...}); }
constexpr auto joined_squares(std::same_as<Tensor> auto... tensors) { return joined(tensors * tensors...); }

constexpr void second_of_functions(Ir& ir) {
  twice(
      ir, "functions",
      [](Tensor x) {
        return joined(ops::exp(x), ops::sin(x), ops::cos(x), ops::tanh(x), ops::sigmoid(x), ops::gelu(x), ops::geluerf(x),
                      ops::swish(x), ops::softplus(x), ops::relu(x), ops::abs(x), -x, ops::pow(x, 3), ops::clip(x, -1.03, 0.97));
      },
      f64({5}));
  twice(
      ir, "functions_of_angles",
      [](Tensor x) {
        const Tensor inside = x * 0.375, positive = inside * x + 1;
        return joined(ops::tan(inside), ops::asin(inside), ops::acos(inside), ops::log1p(inside), ops::atan(x), ops::sinh(x),
                      ops::cosh(x), ops::erf(x), ops::expm1(x), ops::atan2(x, positive), ops::rsqrt(positive));
      },
      f64({5}));
  twice(
      ir, "functions_of_positive",
      [](Tensor x) { return joined(ops::log(x), ops::log2(x), ops::sqrt(x), ops::pow(x, -1.75), ops::pow(2.5, x)); }, f64({5}));
  twice(
      ir, "arithmetic",
      [](Tensor a, Tensor b) {
        return joined(a + b, (a - b) * a, a / b, ops::fmod(a, 0.71) * a, ops::scaled_add(a, b * a, {.b = 1}));
      },
      f64({2, 3}), f64({3}));
  twice(ir, "pow", [](Tensor x, Tensor e) { return ops::pow(x, e); }, f64({2, 3}), f64({3}));
  twice(
      ir, "choices",
      [](Tensor a, Tensor b) {
        const Tensor condition = a.ir().constant({1, 0, 1}, {3}, tw::boolean);
        return joined(ops::maximum(a, b) * a, ops::minimum(a, b) * b, ops::where(condition, a * a, a * b));
      },
      f64({2, 3}), f64({3}));
}

constexpr void second_of_reductions(Ir& ir) {
  twice(ir, "selections", [](Tensor x) { return joined_squares(ops::max(x, 1), ops::min(x), ops::median(x, 1)); }, f64({3, 5}));
  twice(
      ir, "sums",
      [](Tensor x) {
        return joined(ops::pow(ops::sum(x, 1), 2), ops::pow(ops::mean(x, {0, 2}, true), 2), ops::sumsquare(x),
                      ops::pow(ops::l1(x, 0), 2), ops::l2(x, 1), ops::logsum(x, {0, 1}), ops::logsumexp(x, {0, 2}),
                      ops::logsumexp(x, 1));
      },
      f64({2, 3, 2}));
  twice(ir, "products", [](Tensor x) { return joined(ops::prod(x, {0, 2}), ops::prod(x, 1), ops::prod(x, -1)); }, f64({2, 3, 2}));
  twice(
      ir, "lines",
      [](Tensor x) {
        const Tensor smallest = ops::topk(x, 2, 0, false).values;
        return joined(ops::pow(ops::cumsum(x, 1), 2), ops::pow(ops::topk(x, 2, 1).values, 2), ops::pow(smallest, 3));
      },
      f64({3, 4}));
}

constexpr void second_of_shapes(Ir& ir) {
  twice(
      ir, "shapes",
      [](Tensor x) {
        const Tensor start = x.ir().constant({1, 1}, {2}, tw::int32);
        return joined_squares(x.reshape({2, 6}), x.T(), ops::slice(x, {1, 0}, {3, 4}, {1, 2}), x[0],
                              ops::concat({x, ops::slice(x, 0, 1, {}, 1)}, 1), x.expand({2, 3, 4}), ops::flip(x, 0), ops::tril(x),
                              ops::diag(ops::slice(x, 0, 3, {}, 1)), ops::dynamic_slice(x, start, {0, 1}, {2, 2}));
      },
      f64({3, 4}));
  twice(
      ir, "copies",
      [](Tensor x) {
        const Tensor seed = x.ir().constant({1, 2}, {2}, tw::uint32);
        return joined_squares(ops::dropout(x, seed, 0), ops::shaped_dropout(x, seed, {2, 1}, 0), ops::identity(x),
                              ops::diag(x[0]), ops::floor(x) * x, ops::ceil(x) * x, ops::round(x) * x, ops::sign(x) * x);
      },
      f64({2, 3}));
  twice(
      ir, "shapes_of_one",
      [](Tensor x) {
        const Tensor numbers = x.ir().constant({1, 0, 1}, {3}, tw::int32);
        return joined_squares(ops::squeeze(x), ops::tied_gather(ops::squeeze(x, {1}), numbers));
      },
      f64({2, 1, 3}));
  twice(
      ir, "indices",
      [](Tensor x, Tensor t) {
        const auto numbers = [&](const tw::List<double>& values, const Shape& shape) {
          return x.ir().constant(values, shape, tw::int32);
        };
        const auto reduced = [&](tw::ScatterReduction reduction) {
          return ops::scatter_reduce(x, numbers({1, 0, 2, 1, 1, 0}, {2, 3}), reduction, {.initial_values = t, .axis = 1});
        };
        return joined_squares(ops::gather(x, numbers({1, 0, 1}, {3})), ops::scatter(t, numbers({2, 0}, {2}), x),
                              ops::scatter_reduce(x, numbers({1, 1}, {2}), tw::ScatterReduction::sum, {.axis_size = 4}),
                              ops::scatter(t, numbers({1, 0, 2, 2, 1, 0}, {2, 3}), x, 1), reduced(tw::ScatterReduction::sum),
                              reduced(tw::ScatterReduction::max),
                              ops::dynamic_update(t, numbers({1}, {1}), ops::slice(x, 0, 1), {0}, {1}));
      },
      f64({2, 3}), f64({3, 3}));
  twice(
      ir, "onehot",
      [](Tensor values) {
        const Tensor y = ops::onehot(values.ir().constant({1, 5, 1}, {3}, tw::int32), 3, values);
        return y * y;
      },
      f64({2}));
}

constexpr void second_of_products(Ir& ir) {
  twice(ir, "matmul", [](Tensor a, Tensor b) { return ops::matmul(a, b); }, f64({2, 3, 2}), f64({2, 4}));
  twice(
      ir, "conv",
      [](Tensor x, Tensor w) {
        return ops::conv(x, w, {.stride = {2, 1}, .padding = {1, 0, 1, 0}, .dilation = {1, 2}, .groups = 2});
      },
      f64({2, 4, 4, 5}), f64({2, 2, 3, 2}));
  twice(ir, "conv_line", [](Tensor x, Tensor w) { return ops::conv(x, w); }, f64({1, 2, 5}), f64({3, 2, 2}));
  twice(
      ir, "conv_transpose",
      [](Tensor x, Tensor w) {
        return ops::conv_transpose(x, w, {.stride = {2, 1}, .padding = {1, 0, 1, 0}, .output_padding = {1, 0}});
      },
      f64({1, 2, 3, 3}), f64({2, 2, 3, 2}));
}

constexpr void second_of_matrices(Ir& ir) {
  const auto with_diagonal = [](Tensor a) { return a + a.ir().constant(tw::eye(), {3, 3}, a.dtype()) * 3; };
  twice(ir, "cholesky", [=](Tensor x) { return ops::cholesky(with_diagonal(x.matmul(x.transpose({0, 2, 1})))); }, f64({2, 3, 3}));
  twice(ir, "solve", [=](Tensor a, Tensor b) { return ops::solve(with_diagonal(a), b); }, f64({2, 3, 3}), f64({3, 2}));
  twice(
      ir, "solve_vector", [=](Tensor a, Tensor b) { return ops::solve(ops::flip(with_diagonal(a), 0), b); }, f64({3, 3}),
      f64({3}));
  twice(
      ir, "solve_triangular",
      [=](Tensor x, Tensor b) {
        const Tensor a = with_diagonal(x);
        return joined(ops::solve_triangular(a, b), ops::solve_triangular(a, b, {.upper = true}),
                      ops::solve_triangular(a, b.transpose({0, 2, 1}), {.left = false}),
                      ops::solve_triangular(a, b, {.upper = true, .unitriangular = true}),
                      ops::solve_triangular(a, b, {.unitriangular = true}));
      },
      f64({3, 3}), f64({2, 3, 2}));
}

constexpr void second_of_pools(Ir& ir) {
  const auto squared = [](auto op) {
    return [op](Tensor x) {
      const Tensor y = op(x);
      return y * y;
    };
  };
  twice(ir, "average_pool",
        squared([](Tensor x) { return ops::average_pool(x, {2, 3}, {.stride = {1, 2}, .padding = {0, 1, 0, 1}}); }),
        f64({1, 2, 3, 4}));
  twice(ir, "max_pool", squared([](Tensor x) {
          return ops::max_pool(x, {2, 3}, {.stride = {1, 2}, .padding = {0, 1, 0, 1}, .ceil_mode = true});
        }),
        f64({1, 2, 3, 4}));
  twice(ir, "max_pool_line", squared([](Tensor x) { return ops::max_pool(x, {2}, {.stride = {2}}); }), f64({1, 2, 5}));
  twice(
      ir, "interpolate",
      [](Tensor x) {
        return joined_squares(ops::interpolate(x, {1, 1, 2}, {.mode = tw::ResizeMode::linear}), ops::interpolate(x, {1, 1, 3}));
      },
      f64({1, 2, 3}));
  twice(ir, "roi_align", squared([](Tensor x) {
          const Tensor boxes = x.ir().constant({0, 0.5, 3, 2.25, 1, 1, 2.5, 3.5}, {2, 4}, tw::float64);
          return ops::roi_align(x, boxes, x.ir().constant({0, 0}, {2}, tw::int32), {.output_size = {2, 2}, .sampling_ratio = 2});
        }),
        f64({1, 1, 4, 4}));
}

constexpr void second_of_norms(Ir& ir) {
  twice(ir, "softmax", [](Tensor x) { return joined(ops::softmax(x, 0), ops::softmax(x)); }, f64({3, 4}));
  twice(
      ir, "layer_norm", [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b, 0.125); }, f64({2, 3, 5}), f64({5}),
      f64({5}));
  twice(
      ir, "group_norm", [](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, 2, 0.0625); }, f64({2, 4, 3}),
      f64({4}), f64({4}));
  twice(
      ir, "batch_norm", [](Tensor x, Tensor w, Tensor b) { return ops::batch_norm(x, w, b, b * 0, b * 0, {.eps = 0.125}); },
      f64({3, 2, 2}), f64({2}), f64({2}));
  twice(
      ir, "batch_norm_inference",
      [](Tensor x, Tensor w, Tensor b) {
        const auto fixed = [&](const tw::List<double>& values) { return x.ir().constant(values, {2}, tw::float64); };
        const Tensor y = ops::batch_norm_inference(x, w, b, fixed({0.25, -0.5}), fixed({0.5, 2}), 0.125);
        return y * y;
      },
      f64({3, 2, 2}), f64({2}), f64({2}));
}

constexpr void second_in_float32(Ir& ir) {
  twice(
      ir, "attention",
      [](Tensor q, Tensor k, Tensor v) {
        const Tensor mask = q.ir().constant({1, 1, 1, 0, 1, 1, 1, 1}, {2, 4}, tw::boolean);
        return ops::scaled_dot_product_attention(q, k, v, mask,
                                                 {.is_causal = true, .alignment = tw::CausalAlignment::lower_right, .window = 3});
      },
      f32({2, 4, 3, 2}), f32({2, 2, 4, 2}), f32({2, 2, 4, 2}));
  twice(
      ir, "cast",
      [](Tensor x) {
        const Tensor y = x.cast(tw::float64);
        return (y * y * y).cast(tw::float32);
      },
      f32({5}));
}

constexpr void second_of_losses(Ir& ir) {
  const auto of_labels = [](auto loss) {
    return [loss](Tensor x) { return loss(x, x.ir().constant({2, 0, 1, 2}, {4}, tw::int32)); };
  };
  const auto x = f64({4, 3}), y = f64({2, 3});
  twice(ir, "cross_entropy",
        of_labels([](Tensor logits, Tensor labels) { return ops::cross_entropy(logits, labels, {.ignore_index = 1}); }), x);
  twice(ir, "cross_entropy_none", of_labels([](Tensor logits, Tensor labels) {
          return ops::cross_entropy(logits, labels, {.reduction = Reduction::none});
        }),
        x);
  twice(ir, "cross_entropy_weight", of_labels(cross_entropy_of(3, {.ignore_index = 0, .label_smoothing = 0.25})), x);
  twice(ir, "nll", of_labels([](Tensor p, Tensor labels) { return ops::nll_loss(p, labels, {.reduction = Reduction::sum}); }), x);
  twice(ir, "nll_of_logarithms",
        of_labels([](Tensor logs, Tensor labels) { return ops::pow(ops::nll_loss(logs, labels, {.log_prob = true}), 2); }), x);
  twice(ir, "bce", binary_cross_entropy<Weights::pos_weight>(), y, y, f64({3}));
  twice(
      ir, "losses",
      [](Tensor a, Tensor t) {
        return joined(ops::mse_loss(a, t), ops::pow(ops::l1_loss(a, t), 2), ops::smooth_l1_loss(a, t, {.beta = 0.3}),
                      ops::huber_loss(a, t, {.delta = 0.55}));
      },
      y, y);
  twice(ir, "kl", kl({}), y, y);
  twice(
      ir, "cosine",
      [](Tensor a, Tensor b) {
        return ops::cosine_embedding_loss(a, b, a.ir().constant({1, -1}, {2}, tw::int32), {.margin = -0.75});
      },
      y, y);
}

}  // namespace op_cases
