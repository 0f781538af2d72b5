#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "tilewright/scaling/algorithm.hpp"
#include "tilewright/scaling/cluster.hpp"

namespace tilewright::scaling {

/// Time and traffic of a collective.
struct CollectiveTime {
  double seconds = 0;  ///< from its start to its end on all replicas, if all start at the same time
  double bytes = 0;  ///< sent by the process that sends most
  std::int64_t rounds = 0;  ///< messages that a process sends in sequence
};

namespace detail {

/// Simulates the messages of one collective, round by round. A round ends when all of its messages have arrived.
class Simulation {
 public:
  constexpr Simulation(const Cluster& cluster, std::int64_t replicas)
      : cluster_(cluster),
        held_(cluster.replicas_per_process),
        processes_(replicas / cluster.replicas_per_process),
        per_node_((std::min)(processes_, cluster.processes_per_node())),
        nodes_(processes_ / per_node_) {}

  constexpr CollectiveTime run(const Collective& collective, Algorithm algorithm) {
    const auto bytes = static_cast<double>(collective.bytes);
    if (algorithm == Algorithm::in_order) {
      run_in_order(collective, bytes);
      return time_;
    }
    if (held_ > 1 && collective.reduces) reduce(held_as_double(), bytes);  // of one process, before others take part
    if (algorithm == Algorithm::recursive_doubling && collective.reduces && collective.gathers) {
      run_by_doubling(bytes);
    } else {
      if (collective.reduces) run_half(algorithm, bytes, true);
      if (collective.gathers) run_half(algorithm, bytes, false);
    }
    if (held_ > 1 && processes_ > 1 && collective.gathers) reduce(held_as_double(), bytes);  // the copies for its replicas
    return time_;
  }

 private:
  /// Messages of up to most_along bytes travel together with the header of tilewright::distributed::Session, which has the
  /// sender's position in its calls.
  static constexpr double header_bytes = 64, most_along = 8192;

  constexpr double processes_as_double() const { return static_cast<double>(processes_); }
  constexpr double held_as_double() const { return static_cast<double>(held_); }

  constexpr void reduce(double operands, double bytes, std::int64_t times = 1) {
    time_.seconds += static_cast<double>(times) *
                     (static_cast<double>(cluster_.reduction_ns.value) * 1e-9 +
                      operands * bytes / static_cast<double>(cluster_.operand_bytes_per_second.value));
  }

  /// Adds a round in which process `place(i)`, for each i below `count`, sends `bytes` bytes to process `place(i ^ apart)`.
  /// place(i) rises with i.
  constexpr void round(std::int64_t count, std::int64_t apart, auto place, double bytes) {
    std::int64_t node = -1, leaving = 0, most_leaving = 0, farthest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t from = place(i), to = place(i ^ apart);
      if (from / per_node_ != node) node = from / per_node_, leaving = 0;
      if (to / per_node_ != node) most_leaving = (std::max)(most_leaving, ++leaving);
      else farthest = (std::max)(farthest, from < to ? to - from : from - to);
    }
    finish_round(most_leaving, farthest, bytes, bytes, 1);
  }
  /// Adds rounds in which all processes send to the next one of their ring of `count`. Over a ring of links, half of the bytes go
  /// each way.
  constexpr void shift(std::int64_t distance, std::int64_t count, double bytes, std::int64_t times) {
    const std::int64_t leaving = distance == per_node_ || count > per_node_ ? distance : 0;
    const bool two_ways = cluster_.wiring == Wiring::ring && count > 2 && distance == 1;
    finish_round(leaving, distance < per_node_ ? distance : 0, two_ways ? bytes / 2 : bytes, bytes, times);
  }
  /// Adds the time of rounds in which at most `leaving` messages leave a node, and others go to a process `farthest` away within
  /// the node.
  constexpr void finish_round(std::int64_t leaving, std::int64_t farthest, double inside_bytes, double bytes,
                              std::int64_t times) {
    double seconds = 0;
    if (farthest > 0) {
      const auto sharing = static_cast<double>(cluster_.wiring == Wiring::ring ? farthest : 1);
      seconds = cluster_.inside.latency(inside_bytes) + cluster_.inside.transfer(inside_bytes * sharing);
    }
    if (leaving > 0)
      seconds = (std::max)(seconds,
                           cluster_.between.latency(bytes) + cluster_.between.transfer(bytes * static_cast<double>(leaving)));
    time_.seconds += static_cast<double>(times) * seconds;
    time_.bytes += static_cast<double>(times) * bytes;
    time_.rounds += times;
  }
  /// Adds the messages of a round in which each process sends `bytes` bytes to all other processes, one after the other.
  constexpr void send_to_all(double bytes) {
    if (processes_ == 1) return;
    const auto n = static_cast<double>(per_node_), others = processes_as_double() - n;
    if (per_node_ > 1) {
      const double messages_of_link = cluster_.wiring == Wiring::switched ? n - 1
                                      : per_node_ == 2                    ? 1
                                                       : static_cast<double>((per_node_ * per_node_ - per_node_ % 2) / 8);
      time_.seconds += (n - 1) * cluster_.inside.latency(bytes) + cluster_.inside.transfer(bytes * messages_of_link);
    }
    if (nodes_ > 1) time_.seconds += others * cluster_.between.latency(bytes) + cluster_.between.transfer(bytes * n * others);
    time_.bytes += (processes_as_double() - 1) * bytes;
    time_.rounds += processes_ - 1;
  }

  constexpr void run_in_order(const Collective& collective, double bytes) {
    const double replicas = processes_as_double() * held_as_double();
    // what each replica gives: its tensor, or its shard
    const double given = collective.reduces ? bytes : bytes / replicas;
    const auto aligned = static_cast<double>((static_cast<std::int64_t>(given) + 63) / 64 * 64);
    const bool is_small = held_as_double() * aligned <= most_along;
    const bool shares_out = collective.reduces && collective.gathers && !is_small && processes_ > 1;
    if (is_small) {
      send_to_all(header_bytes + held_as_double() * aligned);
    } else {
      send_to_all(header_bytes);
      send_to_all(held_as_double() * (shares_out ? bytes / processes_as_double() : given));
    }
    if (!collective.gathers) reduce(replicas * held_as_double(), bytes / replicas);
    else if (!collective.reduces) reduce(held_as_double(), bytes);
    else reduce(replicas, shares_out ? bytes / processes_as_double() : bytes);
    if (shares_out) send_to_all(bytes / processes_as_double());
  }

  /// Adds one half of an all-reduce: the reduction to shards, or the gather of shards.
  constexpr void run_half(Algorithm algorithm, double bytes, bool reduces) {
    if (processes_ == 1) return;
    if (algorithm == Algorithm::ring) return run_ring(1, processes_, bytes, reduces);
    if (algorithm != Algorithm::hierarchical) return run_by_halving(1, processes_, bytes, reduces);
    if (reduces) run_ring(1, per_node_, bytes, true);
    if (nodes_ > 1) run_between_nodes(bytes / static_cast<double>(per_node_), reduces);
    if (!reduces) run_ring(1, per_node_, bytes, false);
  }
  /// Adds the faster of the two algorithms between nodes, for one shard of each process of a node.
  constexpr void run_between_nodes(double bytes, bool reduces) {
    Simulation ring = *this, halving = *this;
    ring.run_ring(per_node_, nodes_, bytes, reduces);
    halving.run_by_halving(per_node_, nodes_, bytes, reduces);
    time_ = ring.time_.seconds <= halving.time_.seconds ? ring.time_ : halving.time_;
  }
  /// Adds a half in rings of `count` processes, `distance` apart.
  constexpr void run_ring(std::int64_t distance, std::int64_t count, double bytes, bool reduces) {
    if (count == 1) return;
    const double piece = bytes / static_cast<double>(count);
    shift(distance, count, piece, count - 1);
    if (reduces) reduce(2, piece, count - 1);
  }
  /// Adds a half in groups of `count` processes, `distance` apart. If `count` is not a power of two, some processes first send
  /// everything to a neighbour.
  constexpr void run_by_halving(std::int64_t distance, std::int64_t count, double bytes, bool reduces) {
    const auto [active, extra] = without_extra(count);
    if (reduces && extra > 0) fold(distance, extra, bytes, true);
    double piece = reduces ? bytes / 2 : bytes / static_cast<double>(active);
    for (std::int64_t i = 1; i < active; i *= 2, piece = reduces ? piece / 2 : piece * 2) {
      const std::int64_t apart = reduces ? i : active / (2 * i);
      swap(distance, active, extra, apart, piece);
      if (reduces) reduce(2, piece);
    }
    if (!reduces && extra > 0) fold(distance, extra, bytes, false);
  }
  constexpr void run_by_doubling(double bytes) {
    const auto [active, extra] = without_extra(processes_);
    if (extra > 0) fold(1, extra, bytes, true);
    for (std::int64_t apart = 1; apart < active; apart *= 2) {
      swap(1, active, extra, apart, bytes);
      reduce(2, bytes);
    }
    if (extra > 0) fold(1, extra, bytes, false);
  }
  struct Members {
    std::int64_t active, extra;  ///< a power of two, and the remaining processes
  };
  static constexpr Members without_extra(std::int64_t count) {
    const auto active = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
    return {active, count - active};
  }
  /// Of the first 2 x extra processes, every other one sends its tensor to the next, or receives the result from it.
  constexpr void fold(std::int64_t distance, std::int64_t extra, double bytes, bool reduces) {
    if (distance == 1) round(2 * extra, 1, [](std::int64_t i) { return i; }, bytes);
    else finish_round(per_node_, 0, bytes, bytes, 1);
    if (reduces) reduce(2, bytes);
  }
  /// Each active process swaps with the one whose number differs in the bit `apart`. With a distance other than 1, the active
  /// processes are on different nodes, and all processes of the nodes swap at the same time.
  constexpr void swap(std::int64_t distance, std::int64_t active, std::int64_t extra, std::int64_t apart, double bytes) {
    if (distance > 1) return finish_round(per_node_, 0, bytes, bytes, 1);
    const bool nodes_are_alike = extra == 0 && std::has_single_bit(static_cast<std::uint64_t>(per_node_));
    round(
        nodes_are_alike ? (std::min)(active, per_node_) : active, apart,
        [&](std::int64_t i) { return i < extra ? 2 * i + 1 : i + extra; }, bytes);
  }

  Cluster cluster_;
  std::int64_t held_, processes_;  ///< replicas of a process; number of processes
  std::int64_t per_node_, nodes_;  ///< processes of a node; number of nodes
  CollectiveTime time_{};
};

}  // namespace detail

/// Returns the time of one run of a collective over `replicas` replicas. Throws std::invalid_argument for a cluster that cannot
/// hold them, for bandwidths that are not above 0, and for a negative number of bytes. One replica takes no time.
[[nodiscard]] constexpr CollectiveTime simulate(const Collective& collective, std::int64_t replicas, Algorithm algorithm,
                                                const Cluster& cluster) {
  detail::validate(cluster, replicas);
  if (collective.bytes < 0) detail::fail("a tensor of " + std::to_string(collective.bytes) + " bytes: 0 or more expected");
  if (replicas == 1 || collective.bytes == 0 || !(collective.reduces || collective.gathers)) return {};
  return detail::Simulation(cluster, replicas).run(collective, algorithm);
}

}  // namespace tilewright::scaling
