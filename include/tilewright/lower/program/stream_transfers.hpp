#pragma once
// takes: a whole plan
// gives: PlannedStream::transfers; errors: more transfers of a stream than num_host_transfers, too many axes
// keeps: the rest of the plan
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/program/fold_bodies.hpp"

namespace tilewright::internal {

namespace detail {
/// Returns, by stream, the elements that a run moves by separate steps. Empty: no stream has any.
constexpr List<std::int64_t> count_stream_steps(const Plan& plan) {
  using Transfers = List<std::int64_t>;
  const auto make_all = [&](Transfers& all) {  // most bodies have no such step, and stay without a list
    if (all.empty()) all.assign(plan.streams.size(), 0);
  };
  const auto add_step = [&](Transfers& all, int s) {
    const int stream = plan.steps[s].stream;
    if (stream < 0) return;
    make_all(all);
    ++all[stream];
  };
  const auto add_call = [&](Transfers& all, std::int64_t times, const Transfers& one, const Transfers& other) {
    if (one.empty() && other.empty()) return;
    make_all(all);
    for (std::size_t i = 0; i < all.size(); ++i)
      add_larger(all[i], times, one.empty() ? 0 : one[i], other.empty() ? 0 : other[i]);
  };
  return fold_bodies(plan, Transfers(), add_step, add_call);
}
}  // namespace detail

/// Counts how many elements of each stream a run moves, with the larger branch of a conditional, and sets the size of the host's
/// arrays, or num_host_transfers for all. Errors: more than num_host_transfers; too many axes.
constexpr void count_transfers(Plan& plan) {
  const List<std::int64_t> in_steps = detail::count_stream_steps(plan);
  for (std::size_t i = 0; i < plan.streams.size(); ++i) {
    PlannedStream& stream = plan.streams[i];
    if (!stream.used) continue;
    const std::int64_t moved = (in_steps.empty() ? 0 : in_steps[i]) + stream.elements;
    stream.transfers = plan.num_host_transfers > 0 ? plan.num_host_transfers : std::max<std::int64_t>(moved, 1);
    if (const double bytes = static_cast<double>(stream.transfers) * plan.replicas * static_cast<double>(stream.spec.bytes());
        bytes > max_tensor_bytes)
      plan.fail(text("stream: '", stream.name, "' moves ", stream.transfers, " tensors ", to_text(stream.spec), " on ",
                     plan.replicas, " replicas: a host array of at most 2^47 bytes expected"));
    const int more_axes = (stream.transfers > 1 ? 1 : 0) + (plan.replicas > 1 ? 1 : 0);
    if (stream.spec.shape.rank + more_axes > max_rank)
      plan.fail(text("stream: '", stream.name, "' of shape ", to_text(stream.spec.shape), " with ",
                     plan.num_host_transfers > 0 ? "num_host_transfers " : "transfers in a run: ", stream.transfers, " and ",
                     plan.replicas, " replicas: at most ", max_rank - more_axes, " axes expected"));
    if (moved > stream.transfers)
      plan.fail(text("stream: '", stream.name, "' moves ", moved, " tensors in a run: at most num_host_transfers, ",
                     stream.transfers, ", expected"));
  }
}

}  // namespace tilewright::internal
