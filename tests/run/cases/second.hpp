#pragma once
// The cases of tests/reference/ops_second.txt: derivatives in forward mode, and second derivatives.
#include "of_ops.hpp"
#include "tilewright/derivatives/jvp.hpp"

namespace op_cases {

using op_tests::joined, op_tests::joined_squares;

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

/// Adds those of ops' files.
struct SecondCases {
  Ir& ir;
  constexpr void add(std::string_view name, auto op, const auto&... inputs) const { twice(ir, name, op, inputs...); }
};
template <Program program>
constexpr void add_second(Ir& ir) {
  add_compared<program>(SecondCases{ir});
}

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
  twice(
      ir, "choices",
      [](Tensor a, Tensor b) {
        const Tensor condition = a.ir().constant({1, 0, 1}, {3}, tw::boolean);
        return joined(ops::maximum(a, b) * a, ops::minimum(a, b) * b, ops::where(condition, a * a, a * b));
      },
      f64({2, 3}), f64({3}));
  add_second<Program::second_of_functions>(ir);
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
  add_second<Program::second_of_shapes>(ir);
}

constexpr void second_of_products(Ir& ir) { add_second<Program::second_of_products>(ir); }

constexpr void second_of_matrices(Ir& ir) { add_second<Program::second_of_matrices>(ir); }

constexpr void second_of_pools(Ir& ir) { add_second<Program::second_of_pools>(ir); }

constexpr void second_of_norms(Ir& ir) { add_second<Program::second_of_norms>(ir); }

constexpr void second_in_float32(Ir& ir) { add_second<Program::second_in_float32>(ir); }

constexpr void second_of_losses(Ir& ir) { add_second<Program::second_of_losses>(ir); }

}  // namespace op_cases
