// labels: none
// Plans with a fault. The planner makes none, so each case changes the plan of a program, which a session would run.
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>
#include <tilewright/verified/verified.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<64>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x))); }
};
template <int>
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{64, 100}});
}

/// The plan of train_step<number> after `change(plan)`.
template <int number>
consteval auto changed(auto change) {
  namespace detail = tw::internal::detail;
  auto plan = detail::make_plan<train_step<number>, tw::cpu, detail::draft_of<train_step<number>, tw::cpu>>();
  change(plan);
  return plan;
}

// CASE barrier
// expect: verified: barriers: no barrier before a step that shares bytes with an earlier one: a barrier expected,
// expect: in step 1 of body 0, MatMul [Add] of Gelu (64, 64) float32, fc2.weight (64, 10) float32,
// expect: fc2.bias (10,) float32 to Add (64, 10) float32, in Net_subgraph(0)/fc2
namespace tilewright::internal {
template <>
struct Program<train_step<0>, cpu> {
  static constexpr auto plan = changed<0>([](auto& changed) {
    for (auto& step : changed.steps) step.barrier_before = false;
  });
};
}  // namespace tilewright::internal
static_assert(tw::verified<train_step<0>>);

// CASE other_bytes
// expect: verified: values: stage 0 (MatMul) reads bytes that no step wrote, in step 0 of body 0,
// expect: MatMul [Add, Gelu, GeluSlope] of image (64, 100) float32, fc1.weight (100, 64) float32, fc1.bias (64,) float32
// expect: to Gelu (64, 64) float32, GeluSlope (64, 64) float32, in Net_subgraph(0)/fc1
namespace tilewright::internal {
template <>
struct Program<train_step<1>, cpu> {
  static constexpr auto plan = changed<1>([](auto& changed) {
    for (auto& location : changed.locations)
      if (location.base == Base::variable) location.offset += 64;
  });
};
}  // namespace tilewright::internal
static_assert(tw::verified<train_step<1>>);

// CASE update_never
// expect: verified: values: variable 1 (fc1.weight) differs from the graphs after the run: equal expected
namespace tilewright::internal {
template <>
struct Program<train_step<2>, cpu> {
  static constexpr auto plan = changed<2>([](auto& changed) { --changed.bodies[0].step_count; });
};
}  // namespace tilewright::internal
static_assert(tw::verified<train_step<2>>);
