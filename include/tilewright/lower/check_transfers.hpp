#pragma once
// takes: a whole plan
// gives: errors: more transfers of a stream than the host has elements
// keeps: the plan
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/fold_bodies.hpp"

namespace tilewright {

namespace detail {
/// By stream: the elements that a run moves by steps of its own.
constexpr List<std::int64_t> count_stream_steps(const Plan& plan) {
  using Transfers = List<std::int64_t>;
  const auto add_step = [&](Transfers& all, int s) {
    if (const int stream = plan.steps[s].stream; stream >= 0) ++all[stream];
  };
  const auto add_call = [](Transfers& all, std::int64_t times, const Transfers& one, const Transfers& other) {
    for (std::size_t i = 0; i < all.size(); ++i) add_larger(all[i], times, one[i], other[i]);
  };
  return fold_bodies(plan, Transfers(plan.streams.size(), 0), add_step, add_call);
}
}  // namespace detail

/// Checks that the host can have arrays for the streams, and that a run takes and gives no more elements of a stream than these
/// have. A conditional counts with the branch that takes more.
constexpr void check_transfers(Ir& ir, const Plan& plan) {
  const List<std::int64_t> in_steps = detail::count_stream_steps(plan);
  const int more_axes = (plan.num_host_transfers > 1 ? 1 : 0) + (plan.replicas > 1 ? 1 : 0);
  for (const PlannedStream& stream : plan.streams)
    if (const Shape& shape = stream.spec.shape; stream.used && shape.rank + more_axes > max_rank)
      ir.fail(text("stream: '", stream.name, "' of shape ", to_text(shape), " with num_host_transfers ", plan.num_host_transfers,
                   " and ", plan.replicas, " replicas: at most ", max_rank - more_axes, " axes expected"));
  for (std::size_t i = 0; i < plan.streams.size(); ++i)
    if (const std::int64_t transfers = in_steps[i] + plan.streams[i].elements; transfers > plan.num_host_transfers)
      ir.fail(text("stream: '", plan.streams[i].name, "' moves ", transfers, " tensors in a run: at most num_host_transfers, ",
                   plan.num_host_transfers, ", expected"));
}

}  // namespace tilewright
