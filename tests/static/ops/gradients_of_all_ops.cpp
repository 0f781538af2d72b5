// labels: none
// Gradients of all ops in constant expressions. This file is compiled as a user's is, without a precompiled header: in one,
// templates that are defined after their use are instantiated before the program begins, and a lack stays unseen.
#include "run/cases/ops.hpp"
#include "run/cases/second.hpp"
#include "tilewright/transform/recompute_graph.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;

constexpr bool traces(auto program) {
  tw::Ir ir;
  ir.set_replication_factor(4);
  program(ir);
  return true;
}
static_assert(traces(op_cases::float32_functions));
static_assert(traces(op_cases::float32_layers));
static_assert(traces(op_cases::other_gradients));
static_assert(traces(op_cases::convolutions));
static_assert(traces(op_cases::second_of_reductions));
static_assert(traces(op_cases::second_of_pools));
static_assert(traces(op_cases::second_of_norms));
static_assert(traces(op_cases::second_of_losses));
static_assert(traces([](tw::Ir& ir) {
  using tw::Tensor, op_cases::f32;
  const tw::Graph body = ir.create_graph([](Tensor x) { return x * ops::tanh(x); }, f32({4}));
  const auto with_all = [&](Tensor x) {
    x = ops::print_tensor(x.cast(tw::float16).cast(tw::float32).detach() + x);
    x = ops::collectives::replicated_all_gather(ops::collectives::replicated_slice(x, {.axis = 0}),
                                                {.axis = 0, .output_shape = tw::GatheredShape::concat});
    x = tw::repeat(body, 3, tw::call(body, x)[0])[0];
    const Tensor condition = ir.constant(1, tw::boolean);
    return tw::conditional(condition, {body, {x}}, {body, {x * 2}})[0];
  };
  tw::autodiff(ir.create_graph(with_all, f32({4})));
  tw::recompute_graph(tw::autodiff(tw::GraphWithNamedArgs(body)));
}));
