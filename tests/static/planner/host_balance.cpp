// labels: none
// How well a plan's cut follows a number of threads: work, bytes and barriers of made-up plans, counted by hand.
#include "tilewright/execute/host_balance.hpp"

#include <array>

#include "../../support/programs.hpp"
#include "tilewright/lower/host/useful_threads.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using support::load, support::plan_of, support::store, support::variable;
using tw::host_balance, tw::HostBalance, tw::HostCosts, tw::Sharing;
using tw::internal::Body, tw::internal::BodyId, tw::internal::ComputeSet, tw::internal::useful_threads, tw::internal::Step,
    tw::internal::StepKind;

/// A second for each multiply-add and each byte, and for each barrier.
constexpr HostCosts seconds{
    .work_per_second = 1, .crowding = 1, .bytes_per_second = 1, .barrier_seconds = 1, .barrier_seconds_per_doubling = 0};

constexpr bool is_near(double a, double b) { return a - b < 1e-6 && b - a < 1e-6; }

/// What is read of a plan.
template <std::size_t body_count, std::size_t step_count>
struct MadeUp {
  std::array<Body, body_count> bodies{};
  std::array<Step, step_count> steps{};
  std::array<ComputeSet, 5> compute_sets{};
  int replicas = 1;
};

/// 0: 10 elements in vertices of 4, 4 and 2; work 100, or 40, 40 and 20. 1: vertices of work 30 and 20. 2: one vertex of 50.
/// 3: rows of 2 and 1, columns of 2, 2 and 1: work 4, 4, 2, 2, 2 and 1. 4: four vertices of work 25.
constexpr std::array<ComputeSet, 5> sets{{
    {.extents = {.items = {10}, .count = 1}, .blocks = {.items = {4}, .count = 1}, .work = 100, .memory_bytes = 7},
    {.extents = {.items = {5}, .count = 1}, .blocks = {.items = {3}, .count = 1}, .work = 50, .memory_bytes = 5},
    {.work = 50, .memory_bytes = 0},
    {.extents = {.items = {3, 5}, .count = 2}, .blocks = {.items = {2, 2}, .count = 2}, .work = 15, .memory_bytes = 0},
    {.extents = {.items = {4}, .count = 1}, .blocks = {.items = {1}, .count = 1}, .work = 100, .memory_bytes = 0},
}};
constexpr Step step(int set, bool barrier) {
  constexpr std::int64_t vertices[] = {3, 2, 1, 6, 4};
  return {.compute_set = set, .vertices = vertices[set], .barrier_before = barrier};
}
template <std::size_t count>
constexpr MadeUp<1, count> plan(const std::array<Step, count>& steps, int replicas = 1) {
  return {{{{.first_step = 0, .step_count = static_cast<int>(count)}}}, steps, sets, replicas};
}

constexpr double by_work(const auto& plan, int threads, Sharing sharing = Sharing::fixed) {
  return host_balance(plan, threads, sharing, seconds).work_speedup;
}
constexpr double time_of(const auto& plan, int threads, Sharing sharing = Sharing::fixed) {
  return host_balance(plan, threads, sharing, seconds).seconds;
}

// Vertices of one step.
constexpr auto one_step = plan<1>({step(0, false)});
static_assert(is_near(by_work(one_step, 1), 1));
static_assert(is_near(by_work(one_step, 2), 100. / 60), "the second of two threads has the vertices of 40 and 20");
static_assert(is_near(by_work(one_step, 3), 100. / 40));
static_assert(is_near(by_work(one_step, 100), 100. / 40), "no vertex is shared");
static_assert(is_near(by_work(one_step, 2, Sharing::pool), 2), "a pool is shared evenly");
static_assert(is_near(by_work(one_step, 3, Sharing::pool), 100. / 40),
              "but the largest vertex is the least that the busiest has");
constexpr auto grid = plan<1>({step(3, false)});
static_assert(is_near(by_work(grid, 2), 15. / 10), "the last axis is the fastest: 4, 4 and 2, then 2, 2 and 1");
static_assert(is_near(by_work(grid, 3), 15. / 8));
static_assert(is_near(by_work(grid, 6), 15. / 4));

// Steps without a barrier between them run side by side.
constexpr auto side_by_side = plan<2>({step(0, false), step(1, false)}), apart = plan<2>({step(0, false), step(1, true)});
static_assert(is_near(by_work(side_by_side, 2), 150. / 80), "40 + 30 and 60 + 20");
static_assert(is_near(by_work(apart, 2), 150. / 90), "60, then 30");
static_assert(is_near(by_work(side_by_side, 4, Sharing::pool), 150. / 40), "150 / 4 is less than the largest vertex");
static_assert(is_near(by_work(apart, 4, Sharing::pool), 150. / 70), "40, then 30");

// Time: that of the busiest, of all bytes, and of barriers, which one thread does not have.
static_assert(is_near(time_of(apart, 1), 150 + 12) && is_near(time_of(apart, 2), 90 + 12 + 1));
static_assert(is_near(time_of(side_by_side, 2), 80 + 12));
static_assert([] {
  const HostBalance found = host_balance(apart, 2, Sharing::fixed, seconds);
  return is_near(found.speedup, 162. / 103) && is_near(found.barrier_share, 1. / 103) && is_near(found.memory_share, 12. / 103);
}());
static_assert([] {
  constexpr HostCosts costs{
      .work_per_second = 10, .crowding = 1.5, .bytes_per_second = 4, .barrier_seconds = 2, .barrier_seconds_per_doubling = 3};
  const double alone = 15 + 3., eight = 1.5 * 7 + 3 + 2 + 3 * 3;
  const HostBalance found = host_balance(apart, 8, Sharing::fixed, costs);
  return is_near(host_balance(apart, 1, Sharing::fixed, costs).seconds, alone) && is_near(found.seconds, eight) &&
         is_near(found.speedup, alone / eight) && is_near(found.work_speedup, 150. / 70);
}());
static_assert(is_near(tw::internal::detail::log2_of(1), 0) && is_near(tw::internal::detail::log2_of(64), 6));
static_assert(is_near(tw::internal::detail::log2_of(12), 3.584962500721156));

// Replicas: each has the vertices.
static_assert(is_near(by_work(plan<1>({step(0, false)}, 2), 2), 2), "a replica for each thread");
static_assert(is_near(by_work(plan<1>({step(0, false)}, 2), 3), 200. / 80), "40 + 40, 20 + 40, 40 + 20");
static_assert(is_near(time_of(plan<1>({step(0, false)}, 2), 1), 2 * 107));
constexpr Step ten_items{.kind = StepKind::collective, .compute_set = 2, .items = 10, .barrier_before = false};
constexpr auto collective = plan<1>({ten_items}, 3);
static_assert(is_near(by_work(collective, 5), 5) && is_near(by_work(collective, 4), 10. / 3),
              "items are of all replicas together");

// Calls, loops and conditionals. Body 1 has a set of 40, 40 and 20; body 2 one vertex of 50.
constexpr auto calling(const Step& call) {
  MadeUp<3, 5> plan{.compute_sets = sets};
  plan.bodies = {{{.first_step = 2, .step_count = 3}, {.first_step = 1, .step_count = 1}, {.first_step = 0, .step_count = 1}}};
  plan.steps = {step(2, true), step(0, true), step(1, false), call, step(4, true)};
  return plan;
}
constexpr auto call = calling({.kind = StepKind::call, .body = BodyId(1)});
static_assert(is_near(by_work(call, 2), 250. / (30 + 60 + 50)));
static_assert(is_near(time_of(call, 2), 30 + 60 + 50 + 12 + 2), "a call has no barrier of its own");
constexpr auto loop = calling({.kind = StepKind::loop, .body = BodyId(1), .count = 5});
static_assert(is_near(by_work(loop, 2), 650. / (30 + 300 + 50)) && is_near(time_of(loop, 2), 380 + 5 + 5 * 7 + 6));
constexpr auto conditional = calling({.kind = StepKind::conditional, .body = BodyId(1), .else_body = BodyId(2)});
static_assert(is_near(time_of(conditional, 1), 50 + 100 + 100 + 5 + 7), "the branch that takes longer, alone and together");
static_assert(is_near(time_of(conditional, 2), 30 + 60 + 50 + 12 + 3), "it waits before it reads its condition");
static_assert(is_near(time_of(conditional, 3), 30 + 50 + 50 + 5 + 3), "on three threads the other one, which has one vertex");

// The guess of a session.
constexpr HostCosts free_barriers{.barrier_seconds_per_doubling = 0}, dear_barriers{.barrier_seconds = 1};
static_assert(useful_threads(plan<1>({step(4, true)}), 16, Sharing::fixed, free_barriers) == 4, "no more than have vertices");
static_assert(useful_threads(plan<1>({step(4, true)}), 16, Sharing::fixed, dear_barriers) == 1);
static_assert(useful_threads(plan<1>({step(0, true)}), 16, Sharing::fixed, free_barriers) == 3);
static_assert(useful_threads(plan<1>({step(4, true)}), 3, Sharing::pool, free_barriers) == 3);
static_assert(useful_threads(plan<1>({step(4, true)}), 0) == 1 && useful_threads(plan<1>({step(4, true)}), 1) == 1);
static_assert(useful_threads(MadeUp<tw::internal::most_bodies_of_guess + 1, 0>{}, 16) == 16, "it looks at no more bodies");

// What the planner says of ops, in multiply-adds, and of their operands, in bytes. Each set copies its result to a stream, which
// is 2 for each element.
/// The compute set with most work.
constexpr ComputeSet largest_set(auto build) {
  ComputeSet largest;
  const tw::Plan planned = plan_of(build);
  for (const ComputeSet& set : planned.compute_sets)
    if (set.work > largest.work) largest = set;
  return largest;
}
constexpr void product(tw::Ir& ir) { store("y", ops::matmul(load(ir, "x", {8, 16}), variable(ir, "w", {16, 32}))); }
static_assert(largest_set(product).work == 8 * 16 * 32 + 2 * 8 * 32 &&
              largest_set(product).memory_bytes == 4 * (8 * 16 + 16 * 32 + 8 * 32));
constexpr void convolution(tw::Ir& ir) { store("y", ops::conv(load(ir, "x", {2, 3, 8, 8}), variable(ir, "w", {4, 3, 3, 3}))); }
static_assert(largest_set(convolution).work == 2 * 4 * 6 * 6 * (3 * 3 * 3 + 2), "places of the result, channels and windows");
constexpr void grouped_convolution(tw::Ir& ir) {
  store("y", ops::conv(load(ir, "x", {2, 6, 16, 8}), variable(ir, "w", {4, 3, 3, 3}), {.stride = {2, 1}, .groups = 2}));
}
static_assert(largest_set(grouped_convolution).work == 2 * 4 * 7 * 6 * (3 * 3 * 3 + 2));
constexpr void attention(tw::Ir& ir) {
  const tw::Shape shape{2, 3, 16, 8};
  store("y", ops::scaled_dot_product_attention(load(ir, "q", shape), load(ir, "k", shape), load(ir, "v", shape)));
}
static_assert(largest_set(attention).work == 2 * 3 * (2 * 16 * 16 * 8 + 14 * 16 * 16 + 2 * 16 * 8),
              "2 products, and 14 instructions for a pair");
constexpr void sum(tw::Ir& ir) { store("y", load(ir, "x", {64, 64}) + load(ir, "z", {64, 64})); }
static_assert(largest_set(sum).work == 64 * 64 * (3 + 2) && largest_set(sum).memory_bytes == 3 * 4 * 64 * 64,
              "3 instructions for a vector of a sum");

// A constant has what the plan of a run has.
constexpr void layer(tw::Ir& ir) {
  const tw::Tensor x = load(ir, "x", {64, 256}), y = ops::gelu(ops::matmul(x, variable(ir, "w", {256, 512})));
  store("y", ops::matmul(y, variable(ir, "v", {512, 64})));
}
static_assert(host_balance<layer>(8) == host_balance(plan_of(layer), 8));
static_assert(host_balance<layer, tw::cpu.with_tiles(32)>(32, Sharing::pool) ==
              host_balance(plan_of(layer, tw::cpu.with_tiles(32)), 32, Sharing::pool));
static_assert(host_balance<layer>(8).work_speedup > 7 && host_balance<layer>(8).speedup < host_balance<layer>(8).work_speedup);
static_assert(host_balance<layer, tw::cpu.with_tiles(32)>(32).work_speedup > 1.5 * host_balance<layer>(32).work_speedup);

}  // namespace
