#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/lower/draft/partition.hpp"
#include "tilewright/lower/program/fold_bodies.hpp"

namespace tilewright {

/// How threads share the vertices of the steps between two barriers.
enum class Sharing : std::uint8_t {
  fixed,  ///< thread w of c computes the vertices from V w / c to V (w + 1) / c - 1 of each step of V vertices
  pool  ///< idle threads take over vertices: the busiest has 1 / c of the work, or the largest vertex if that is more
};

/// Assumed speeds of the cores of a host. The defaults are fitted to one quiet run of seven benchmarks on 1 to 16 threads of a
/// 16-core Intel Xeon, see tests/run/planner/host_balance.cpp. The fit minimises the mean square of the logarithms of speed-ups.
/// It is poor: of 28 speed-ups on 8 and 16 threads, 16 are within a fifth (docs/how-it-works/speed.md).
struct HostCosts {
  /// float32 multiply-adds per second of one core alone. Fitted to runs on one thread; independent multiply-adds reach 85e9 in
  /// the same run.
  double work_per_second = 58e9;
  /// Factor by which a core is slower while the other cores work. Fitted; for multiply-adds alone, it is 1.2 on 16 cores.
  double crowding = 1.5;
  double bytes_per_second = 95e9;  ///< bandwidth of all cores together for operands in memory or caches. Fitted
  double barrier_seconds = 0;  ///< a in the time a + b log2(threads) of a barrier. Fitted, and not below 0
  double barrier_seconds_per_doubling = 0.75e-6;  ///< b in the time a + b log2(threads) of a barrier. Fitted
  constexpr bool operator==(const HostCosts&) const = default;
};

/// How well a plan scales to a number of threads.
struct HostBalance {
  /// Speed-up by work alone, without barriers and memory: the work of a run divided by the sum, over all intervals between
  /// barriers, of the busiest thread's work.
  double work_speedup = 1;
  double speedup = 1;  ///< speed-up over one thread, with the times of HostCosts
  double seconds = 0;  ///< time of a run, with the times of HostCosts
  /// Share of the time, from 0 to 1, of the barriers themselves, without waiting for the busiest thread
  double barrier_share = 0;
  double memory_share = 0;  ///< share of the time, from 0 to 1, of operands in memory
  constexpr bool operator==(const HostBalance&) const = default;
};

namespace internal::detail {

/// Returns the binary logarithm of a number of at least 1.
[[gnu::cold]] constexpr double log2_of(int number) {
  double rest = number, result = 0;
  for (; rest >= 2; rest /= 2) result += 1;
  for (double bit = 0.5; bit > 1e-9; bit /= 2) {
    rest *= rest;
    if (rest >= 2) rest /= 2, result += bit;
  }
  return result;
}

/// Returns the work of the first `count` vertices of a compute set in the order of execution, in which the last axis of the grid
/// changes fastest.
[[gnu::cold]] constexpr double work_of_first(const ComputeSet& set, std::int64_t count) {
  const int axes = set.blocks.size();
  std::int64_t blocks[max_work_axes]{};
  for (int axis = axes; axis-- > 0;) {
    const std::int64_t along = block_count(set.extents[axis], set.blocks[axis]);
    blocks[axis] = count % along;
    count /= along;
  }
  double share = static_cast<double>(count), slice = 1;  // of the whole grid; the slice is where the axes so far are fixed
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t begin = blocks[axis] * set.blocks[axis], extent = set.extents[axis];
    share += slice * static_cast<double>(begin) / static_cast<double>(extent);
    slice *= static_cast<double>((std::min)(set.blocks[axis], extent - begin)) / static_cast<double>(extent);
  }
  return share * set.work;
}
/// Returns the work of the first `count` parts of a step: pieces of the vertices of all replicas, or items of a collective.
[[gnu::cold]] constexpr double work_of_first(const Step& step, const ComputeSet& set, std::int64_t count, int replicas) {
  if (step.items > 0) return set.work * replicas * static_cast<double>(count) / static_cast<double>(step.items);
  const std::int64_t vertices = count / step.pieces, of_replica = vertices % step.vertices, rest = count % step.pieces;
  double work = set.work * static_cast<double>(vertices / step.vertices) + work_of_first(set, of_replica);
  if (rest > 0)
    work += (work_of_first(set, of_replica + 1) - work_of_first(set, of_replica)) * static_cast<double>(rest) /
            static_cast<double>(step.pieces);
  return work;
}

/// Work of the steps of a body, or of a run.
struct HostWork {
  /// Work in multiply-adds: `work` of all threads; `busiest` of the busiest thread of each interval between barriers, summed over
  /// the intervals
  double work = 0, busiest = 0;
  double bytes = 0;
  double barriers = 0;

  constexpr double seconds(int threads, const HostCosts& costs) const {
    return compute_seconds(threads, costs) + bytes / costs.bytes_per_second + barrier_seconds(threads, costs);
  }
  constexpr double compute_seconds(int threads, const HostCosts& costs) const {
    return (threads > 1 ? costs.crowding : 1) * busiest / costs.work_per_second;
  }
  constexpr double barrier_seconds(int threads, const HostCosts& costs) const {
    if (threads == 1) return 0;
    return barriers * (costs.barrier_seconds + costs.barrier_seconds_per_doubling * log2_of(threads));
  }
};

/// Counts the work of a plan's bodies. `AnyPlan` is any type with the members bodies, steps, compute_sets and replicas.
template <class AnyPlan>
class HostWorkCounter {
 public:
  constexpr HostWorkCounter(const AnyPlan& plan, int threads, Sharing sharing, const HostCosts& costs)
      : plan_(plan), threads_(threads), sharing_(sharing), costs_(costs) {}

  /// Returns the work of a run. `totals` has one empty element for each body.
  [[gnu::cold]] constexpr const HostWork& run(HostWork* totals) const {
    return fold_calls(
        plan_, totals, [this](HostWork& total, const Body& body) { add_body(total, body); },
        [this](HostWork& total, std::int64_t times, const HostWork& one, const HostWork& other) {
          const HostWork& called = one.seconds(threads_, costs_) < other.seconds(threads_, costs_) ? other : one;
          const auto count = static_cast<double>(times);
          total.work += count * called.work;
          total.busiest += count * called.busiest;
          total.bytes += count * called.bytes;
          total.barriers += count * called.barriers;
        });
  }

 private:
  constexpr const Step& step(int s) const { return plan_.steps.data()[s]; }
  constexpr const ComputeSet& set_of(const Step& step) const { return plan_.compute_sets.data()[step.compute_set]; }

  /// Adds the steps of a body. The first step of a called body and the first step after a call wait for all threads, so a call
  /// ends an interval.
  [[gnu::cold]] constexpr void add_body(HostWork& total, const Body& body) const {
    int first = body.first_step;
    const int end = first + body.step_count;
    for (int s = first; s < end; ++s) {
      const bool runs = step(s).compute_set >= 0, is_conditional = step(s).kind == StepKind::conditional;
      if (is_conditional || (runs && step(s).barrier_before)) total.barriers += 1;
      if (!runs || step(s).barrier_before) add_interval(total, std::exchange(first, s), s);
    }
    add_interval(total, first, end);
  }
  /// Adds the steps from `first` to `end` - 1, which run in parallel.
  [[gnu::cold]] constexpr void add_interval(HostWork& total, int first, int end) const {
    double work = 0, largest = 0;
    for (int s = first; s < end; ++s) {
      if (!has_work(step(s))) continue;
      const ComputeSet& set = set_of(step(s));
      work += set.work * plan_.replicas;
      total.bytes += static_cast<double>(set.memory_bytes) * plan_.replicas;
      largest = (std::max)(largest, work_of_first(step(s), set, 1, plan_.replicas));  // no part has more than the first
    }
    total.work += work;
    total.busiest += sharing_ == Sharing::pool ? (std::max)(work / threads_, largest) : busiest_of(first, end);
  }
  [[gnu::cold]] constexpr double busiest_of(int first, int end) const {
    double busiest = 0;
    for (int worker = 0; worker < threads_; ++worker) {
      double own = 0;
      for (int s = first; s < end; ++s) {
        if (!has_work(step(s))) continue;
        const std::int64_t parts = step(s).items > 0 ? step(s).items : step(s).vertices * step(s).pieces * plan_.replicas;
        const std::int64_t begin = parts * worker / threads_, behind = parts * (worker + 1) / threads_;
        if (begin == behind) continue;
        own += work_of_first(step(s), set_of(step(s)), behind, plan_.replicas) -
               work_of_first(step(s), set_of(step(s)), begin, plan_.replicas);
      }
      busiest = (std::max)(busiest, own);
    }
    return busiest;
  }
  static constexpr bool has_work(const Step& step) { return step.compute_set >= 0 && step.parts() > 0; }

  const AnyPlan& plan_;
  int threads_;
  Sharing sharing_;
  const HostCosts& costs_;
};

constexpr void check_host_balance(int threads, const HostCosts& costs) {
  if (threads < 1 || threads > 4096)
    throw std::invalid_argument("host_balance: " + std::to_string(threads) + " threads: from 1 to 4096 expected");
  const auto validate = [](std::string_view name, double number, bool may_be_0) {
    if ((may_be_0 ? number >= 0 : number > 0) && number - number == 0) return;
    throw std::invalid_argument("host_balance: " + std::string(name) + ' ' + std::to_string(number) + ": a finite number " +
                                (may_be_0 ? "of at least 0" : "above 0") + " expected");
  };
  validate("work_per_second", costs.work_per_second, false);
  validate("crowding", costs.crowding, false);
  validate("bytes_per_second", costs.bytes_per_second, false);
  validate("barrier_seconds", costs.barrier_seconds, true);
  validate("barrier_seconds_per_doubling", costs.barrier_seconds_per_doubling, true);
}

}  // namespace internal::detail

/// Estimates how well a plan for the host scales to a number of threads. The plan comes from tw::lower or is a constant. The
/// estimate counts a run of the main body, with the iterations of loops, the bodies of calls, and the slower branch of each
/// conditional. With several IPUs, all threads share the steps of each and then wait for all. Throws std::invalid_argument for a
/// number of threads outside of 1 to 4096, and for times that are not finite and above 0; times of barriers may be 0.
constexpr HostBalance host_balance(const auto& plan, int threads, Sharing sharing = Sharing::fixed, const HostCosts& costs = {}) {
  using internal::detail::HostWork, internal::detail::HostWorkCounter;
  internal::detail::check_host_balance(threads, costs);
  const auto count = [&](int workers) {
    List<HostWork> totals(plan.bodies.size());
    return HostWorkCounter(plan, workers, sharing, costs).run(totals.data());
  };
  const HostWork one = count(1), all = count(threads);
  HostBalance result{.seconds = all.seconds(threads, costs)};
  if (result.seconds == 0) return result;
  if (all.busiest > 0) result.work_speedup = all.work / all.busiest;
  result.speedup = one.seconds(1, costs) / result.seconds;
  result.barrier_share = all.barrier_seconds(threads, costs) / result.seconds;
  result.memory_share = all.bytes / costs.bytes_per_second / result.seconds;
  return result;
}

}  // namespace tilewright
