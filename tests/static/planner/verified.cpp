// labels: none
// Plans that are proven while a program compiles: on the host and on a simulated IPU, and some that are wrong.
#include <tilewright/verified/verified.hpp>

#include "../../support/programs.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

namespace ops = tw::ops;

/// A layer with its activation and a softmax, and an update of its weight.
constexpr void program(tw::Ir& ir) {
  const tw::Tensor x = support::load(ir, "x", {16, 32}), w = support::variable(ir, "w", {32, 32});
  const tw::Tensor h = ops::relu(x.matmul(w));
  support::store("y", ops::softmax(h));
  ops::scaled_add_(w, x.T().matmul(h), {.b = -0.5});
}
static_assert(tw::verified<program, tw::cpu>);
static_assert(tw::verified<program, tw::ipu_model>);

/// Columns of many rows, which are put together, taken apart and put together in another order. The proof takes columns, not
/// rows.
constexpr void columns(tw::Ir& ir) {
  const tw::Tensor x = support::load(ir, "x", {100'000, 8}), y = support::load(ir, "y", {100'000, 16});
  const tw::Tensor joined = ops::tanh(ops::concat({x, y, ops::exp(x)}, 1));
  const auto parts = ops::split<2>(joined, 1);
  const tw::Tensor swapped = ops::concat({parts[1], parts[0]}, 1).reshape({100, 1000, 2, 16});
  support::store("z", ops::transpose(swapped, {2, 0, 1, 3}));
}
static_assert(tw::verified<columns, tw::cpu>);

/// An op in place on an alias of a column: the column changes, but not what it was cut from.
constexpr void changed_column(tw::Ir& ir) {
  const tw::Tensor x = support::load(ir, "x", {2, 2}), column = ops::slice(x, {0, 1}, {2, 2});
  ops::gelu_(ops::reshape_(column, {2}));
  support::store("changed", column);
  support::store("y", x + 1);
}
static_assert(tw::verified<changed_column, tw::cpu>);

/// What the proof says of a plan in which one thing is wrong.
constexpr bool is_refused(const auto& break_it) {
  const tw::Prepared prepared = support::prepared(program);
  tw::Plan plan = tw::lower(prepared);
  break_it(plan);
  return !tw::fault_of_plan(prepared, plan).empty();
}
static_assert(!is_refused([](tw::Plan&) {}));
static_assert(is_refused([](tw::Plan& plan) { plan.locations[0].offset += 64; }));  // reads other bytes
static_assert(is_refused([](tw::Plan& plan) { plan.steps.back() = plan.steps[0]; }));  // a step runs twice, another never
static_assert(is_refused([](tw::Plan& plan) {
  for (auto& step : plan.steps) step.barrier_before = false;
}));

}  // namespace
