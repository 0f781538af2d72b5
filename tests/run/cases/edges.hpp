#pragma once
// The cases of tests/reference/ops_edges.txt: losses, norms, gradients of functions and reductions at the edges of their dtypes.
#include <array>

#include "op_case.hpp"

namespace op_cases {

/// The cases of one dtype, whose names begin with it.
class EdgeCases {
 public:
  constexpr EdgeCases(Ir& ir, std::string_view prefix, tw::DType dtype) : ir_(ir), prefix_(prefix), dtype_(dtype) {}

  constexpr TensorSpec spec(std::initializer_list<std::int64_t> shape) const { return {shape, dtype_}; }
  template <class Op, class... Specs>
  constexpr void add(std::string_view name, Op op, const Specs&... inputs) const {
    differentiable(ir_, tw::text(prefix_, "_", name).view(), op, inputs...);
  }
  template <class Op, class... Specs>
  constexpr void add_forward(std::string_view name, Op op, const Specs&... inputs) const {
    forward(ir_, tw::text(prefix_, "_", name).view(), op, inputs...);
  }

 private:
  Ir& ir_;
  std::string_view prefix_;
  tw::DType dtype_;
};

constexpr auto cross_entropy_by(Reduction reduction) {
  return [reduction](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels, {.reduction = reduction}); };
}
constexpr auto l2_over(const Axes& axes) {
  return [axes](Tensor x) { return ops::l2(x, axes); };
}
constexpr Tensor logsumexp_of_rows(Tensor x) { return ops::logsumexp(x, {1}); }
constexpr Tensor quotient(Tensor a, Tensor b) { return a / b; }

constexpr void losses_at_edges(const EdgeCases& cases) {
  cases.add("cross_entropy_none", cross_entropy_by(Reduction::none), cases.spec({4, 3}), i32({4}));
  cases.add("cross_entropy_sum", cross_entropy_by(Reduction::sum), cases.spec({4, 3}), i32({4}));
  const auto with_grad = [](Tensor x, Tensor labels) {
    const auto both = ops::cross_entropy_with_grad(x, labels);
    return std::array{both.loss, both.gradient};
  };
  cases.add_forward("cross_entropy_with_grad", with_grad, cases.spec({4, 3}), i32({4}));
}
constexpr void functions_at_edges(const EdgeCases& cases) {
  cases.add("sigmoid", [](Tensor x) { return ops::sigmoid(x); }, cases.spec({16}));
  cases.add("tanh", [](Tensor x) { return ops::tanh(x); }, cases.spec({16}));
  cases.add("exp", [](Tensor x) { return ops::exp(x); }, cases.spec({14}));
  cases.add("swish", [](Tensor x) { return ops::swish(x); }, cases.spec({16}));
  cases.add("geluerf", [](Tensor x) { return ops::geluerf(x); }, cases.spec({16}));
  cases.add("gelu", [](Tensor x) { return ops::gelu(x); }, cases.spec({16}));
  cases.add("sqrt", [](Tensor x) { return ops::sqrt(x); }, cases.spec({5}));
  cases.add("pow", [](Tensor x, Tensor e) { return ops::pow(x, e); }, cases.spec({4}), cases.spec({4}));
  cases.add("logsumexp", logsumexp_of_rows, cases.spec({2, 3}));
  cases.add("l2", l2_over(1), cases.spec({2, 3}));
}

constexpr void float32_at_edges(Ir& ir) {
  const EdgeCases cases(ir, "f32", tw::float32);
  losses_at_edges(cases);
  cases.add("div", quotient, cases.spec({7}), cases.spec({7}));
  cases.add("l2_rows", l2_over(1), cases.spec({5, 2}));
  cases.add("l2_columns", l2_over(0), cases.spec({2, 5}));
  cases.add("l2_all", l2_over({}), cases.spec({3}));
  cases.add("logsumexp_infinite", logsumexp_of_rows, cases.spec({4, 2}));
  cases.add("logsumexp_large", logsumexp_of_rows, cases.spec({4, 2}));
}
constexpr void float16_at_edges(Ir& ir) {
  const EdgeCases cases(ir, "f16", tw::float16);
  losses_at_edges(cases);
  cases.add("cross_entropy_scaled", cross_entropy_by(Reduction::none), cases.spec({4, 3}), i32({4}));
  functions_at_edges(cases);
  const auto layer_norm = [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b, 1e-12); };
  cases.add("layer_norm_constant", layer_norm, cases.spec({2, 4}), cases.spec({4}), cases.spec({4}));
  cases.add("layer_norm_small", layer_norm, cases.spec({2, 4}), cases.spec({4}), cases.spec({4}));
  cases.add("div", quotient, cases.spec({3}), cases.spec({3}));
  cases.add("logsumexp_infinite", logsumexp_of_rows, cases.spec({4, 2}));
  cases.add("logsumexp_large", logsumexp_of_rows, cases.spec({4, 2}));
}
constexpr void bfloat16_at_edges(Ir& ir) {
  const EdgeCases cases(ir, "bf16", tw::bfloat16);
  losses_at_edges(cases);
  functions_at_edges(cases);
  cases.add(
      "layer_norm_mean", [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b); }, cases.spec({1, 4}),
      cases.spec({4}), cases.spec({4}));
  cases.add(
      "group_norm_mean", [](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, 2); }, cases.spec({1, 4, 2}),
      cases.spec({4}), cases.spec({4}));
}

}  // namespace op_cases
