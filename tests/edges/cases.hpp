#pragma once
// A case for each differentiable op: what tests/reference/make_edge_values.py computes, by the same names. Each has inputs of
// many kinds, so tensors are small.
#include <algorithm>
#include <span>
#include <string_view>

#include "../ops/ops.hpp"
#include "tilewright/tilewright.hpp"

namespace edges {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::DType, tw::Ir, tw::Tensor, tw::TensorSpec;

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

constexpr void ops_in_files(const Cases& c) {
  op_tests::for_each([&](auto test) { test.edges(c); });
}
/// Of several ops.
constexpr void programs(const Cases& c) {
  c.add(
      "moves",
      [](Tensor x, Tensor y) { return ops::concat({ops::slice(x.T(), 1, 3), ops::slice(y.reshape({2, 4}), 0, 4, 2, 1)}, 1); },
      c.real({4, 3}), c.real({8}));
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
  c.add("linear", [](Tensor x, Tensor w, Tensor b) { return x.matmul(w) + b; }, c.real({6, 4}), c.real({4, 3}), c.real({3}));
}

}  // namespace edges
