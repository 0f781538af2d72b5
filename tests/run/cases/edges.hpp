#pragma once
// The cases of tests/reference/ops_edges.txt: losses, norms, gradients of functions and reductions at the edges of their dtypes.
#include <array>

#include "of_ops.hpp"

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
  template <Program program>
  constexpr void add_of_ops() const {
    add_cases<program>({ir_, dtype_, {16}, tw::text(prefix_, "_").view()});
  }

 private:
  Ir& ir_;
  std::string_view prefix_;
  tw::DType dtype_;
};

constexpr auto cross_entropy_by(Reduction reduction) {
  return [reduction](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels, {.reduction = reduction}); };
}

constexpr void losses_at_edges(const EdgeCases& cases) {
  cases.add("cross_entropy_none", cross_entropy_by(Reduction::none), cases.spec({4, 3}), i32({4}));
  cases.add("cross_entropy_sum", cross_entropy_by(Reduction::sum), cases.spec({4, 3}), i32({4}));
  const auto with_grad = [](Tensor x, Tensor labels) {
    const auto both = ops::cross_entropy_with_grad(x, labels);
    return std::array{both.loss, both.gradient};
  };
  cases.add_forward("cross_entropy_with_grad", with_grad, cases.spec({4, 3}), i32({4}));
}

constexpr void float32_at_edges(Ir& ir) {
  const EdgeCases cases(ir, "f32", tw::float32);
  losses_at_edges(cases);
  cases.add_of_ops<Program::at_edges_of_float32>();
  cases.add_of_ops<Program::at_edges_of_exponents>();
}
constexpr void float16_at_edges(Ir& ir) {
  const EdgeCases cases(ir, "f16", tw::float16);
  losses_at_edges(cases);
  cases.add("cross_entropy_scaled", cross_entropy_by(Reduction::none), cases.spec({4, 3}), i32({4}));
  cases.add_of_ops<Program::at_edges>();
  const auto layer_norm = [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b, 1e-12); };
  cases.add("layer_norm_constant", layer_norm, cases.spec({2, 4}), cases.spec({4}), cases.spec({4}));
  cases.add("layer_norm_small", layer_norm, cases.spec({2, 4}), cases.spec({4}), cases.spec({4}));
  cases.add_of_ops<Program::at_edges_of_float16>();
  cases.add_of_ops<Program::at_edges_of_exponents>();
}
constexpr void bfloat16_at_edges(Ir& ir) {
  const EdgeCases cases(ir, "bf16", tw::bfloat16);
  losses_at_edges(cases);
  cases.add_of_ops<Program::at_edges>();
  cases.add(
      "layer_norm_mean", [](Tensor x, Tensor w, Tensor b) { return ops::layer_norm(x, w, b); }, cases.spec({1, 4}),
      cases.spec({4}), cases.spec({4}));
  cases.add(
      "group_norm_mean", [](Tensor x, Tensor w, Tensor b) { return ops::group_norm(x, w, b, 2); }, cases.spec({1, 4, 2}),
      cases.spec({4}), cases.spec({4}));
}

}  // namespace op_cases
