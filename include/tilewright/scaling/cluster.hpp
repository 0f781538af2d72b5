#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tilewright/core/figures/figure.hpp"

/// Simulates the time of a program's step on many replicas: messages of its collectives over links of given latency and
/// bandwidth.
namespace tilewright::scaling {

/// Measured time of a message of some size.
struct MessageTime {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// A connection that carries messages in both directions at the same time.
struct Link {
  Figure latency_ns = 0;  ///< from the call that sends a message to its arrival, without the time of its bytes
  Figure bytes_per_second = 0;  ///< in one direction; above 0
  /// Measured times of messages, sorted by bytes; the caller keeps the array. Times of other sizes are interpolated linearly. A
  /// message that is larger than all of these has the rate of the last one. Empty: each message takes latency + bytes /
  /// bandwidth.
  std::span<const MessageTime> measured{};

  /// Returns the seconds of a message without those of its bytes.
  constexpr double latency(double bytes) const {
    return measured.empty() ? static_cast<double>(latency_ns.value) * 1e-9 : interpolated(bytes) - transfer(bytes);
  }
  /// Returns the seconds of a message's bytes.
  constexpr double transfer(double bytes) const { return bytes / static_cast<double>(bytes_per_second.value); }

 private:
  constexpr double interpolated(double bytes) const {
    const auto at = [&](std::size_t i) { return static_cast<double>(measured[i].bytes); };
    if (bytes <= at(0)) return measured[0].seconds;
    for (std::size_t i = 1; i < measured.size(); ++i)
      if (bytes <= at(i))
        return measured[i - 1].seconds +
               (measured[i].seconds - measured[i - 1].seconds) * (bytes - at(i - 1)) / (at(i) - at(i - 1));
    return measured.back().seconds * bytes / at(measured.size() - 1);
  }
};

/// How the processes of a node are connected.
enum class Wiring : std::uint8_t {
  switched,  ///< each with all others: a process sends to any other with the whole bandwidth of the link
  ring  ///< each with its two neighbours: a message to another process uses all links between them, and shares them
};

/// Nodes of equal size. Replica r is on node r / replicas_per_node. Between nodes, any pairs of ports can exchange messages
/// without disturbing others, as in a fat tree without oversubscription.
struct Cluster {
  std::string_view name{};
  std::int64_t replicas_per_node = 1;
  std::int64_t replicas_per_process = 1;  ///< a process runs its replicas in sequence; divides replicas_per_node
  Wiring wiring = Wiring::switched;
  Link inside{};  ///< of a process to the other processes of its node
  Link between{};  ///< of a node to the other nodes; the node's processes share it. Not used with a single node
  Figure operand_bytes_per_second = 0;  ///< bytes of operands that a process reads and reduces in a second; above 0
  Figure reduction_ns = 0;  ///< time of each reduction of a process without that of its bytes

  constexpr std::int64_t processes_per_node() const { return replicas_per_node / replicas_per_process; }
};

namespace detail {

[[noreturn]] inline void fail(const std::string& text) { throw std::invalid_argument("scaling: " + text); }

constexpr void validate(const Link& link, const char* what) {
  if (link.bytes_per_second <= 0)
    fail(std::string(what) + ": " + std::to_string(link.bytes_per_second.value) +
         " bytes a second: a bandwidth above 0 expected");
  if (link.latency_ns < 0)
    fail(std::string(what) + ": a latency of " + std::to_string(link.latency_ns.value) + " ns: 0 or more expected");
  for (std::size_t i = 1; i < link.measured.size(); ++i)
    if (link.measured[i].bytes <= link.measured[i - 1].bytes)
      fail(std::string(what) + ": a measured message of " + std::to_string(link.measured[i].bytes) + " bytes after one of " +
           std::to_string(link.measured[i - 1].bytes) + ": rising sizes expected");
}

/// Throws std::invalid_argument unless the cluster can hold `replicas` replicas.
constexpr void validate(const Cluster& cluster, std::int64_t replicas) {
  if (cluster.replicas_per_process < 1 || cluster.replicas_per_node < 1 ||
      cluster.replicas_per_node % cluster.replicas_per_process != 0)
    fail("nodes of " + std::to_string(cluster.replicas_per_node) + " replicas in processes of " +
         std::to_string(cluster.replicas_per_process) + ": a number of replicas that the processes divide expected");
  if (replicas < 1 || replicas % cluster.replicas_per_process != 0)
    fail(std::to_string(replicas) + " replicas in processes of " + std::to_string(cluster.replicas_per_process) +
         ": a multiple expected");
  if (replicas > cluster.replicas_per_node && replicas % cluster.replicas_per_node != 0)
    fail(std::to_string(replicas) + " replicas on nodes of " + std::to_string(cluster.replicas_per_node) +
         ": one node, or full nodes, expected");
  if (cluster.operand_bytes_per_second <= 0)
    fail("reduction: " + std::to_string(cluster.operand_bytes_per_second.value) + " bytes a second: a rate above 0 expected");
  if (cluster.processes_per_node() > 1) validate(cluster.inside, "link inside a node");
  if (replicas > cluster.replicas_per_node) validate(cluster.between, "link between nodes");
}

}  // namespace detail

}  // namespace tilewright::scaling
