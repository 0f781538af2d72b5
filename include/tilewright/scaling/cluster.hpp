#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tilewright/core/figure.hpp"

/// What a step of a program takes on many replicas: messages of its collectives over links of given latency and bandwidth.
namespace tilewright::scaling {

/// A connection that carries messages both ways at the same time. A message of b bytes takes latency + b / bandwidth, and one of
/// more than `eager_bytes` also `rendezvous_ns`.
struct Link {
  Figure latency_ns = 0;        ///< from the call that sends a message to its arrival, but for the time of its bytes
  Figure bytes_per_second = 0;  ///< one way; above 0
  Figure rendezvous_ns = 0;     ///< in which sender and receiver of a large message agree before its bytes move
  Figure eager_bytes = 0;       ///< the largest message without a rendezvous

  /// Seconds until a message has arrived, apart from the time of its bytes.
  constexpr double latency(double bytes) const {
    const std::int64_t rendezvous = bytes > static_cast<double>(eager_bytes.value) ? rendezvous_ns.value : 0;
    return static_cast<double>(latency_ns.value + rendezvous) * 1e-9;
  }
  /// Seconds of a message's bytes.
  constexpr double transfer(double bytes) const { return bytes / static_cast<double>(bytes_per_second.value); }
};

/// How the processes of a node are connected.
enum class Wiring : std::uint8_t {
  switched,  ///< each with all others: a process sends with the link's whole bandwidth to any other
  ring       ///< each with its two neighbours: a message to another process goes over all links between them, and shares them
};

/// Nodes of equal size. Replica r is on node r / replicas_per_node. Between nodes, any pairs of ports carry messages without
/// disturbing others, as in a fat tree without oversubscription.
struct Cluster {
  std::string_view name{};
  std::int64_t replicas_per_node = 1;
  std::int64_t replicas_per_process = 1;  ///< a process runs its replicas one after the other; divides replicas_per_node
  Wiring wiring = Wiring::switched;
  Link inside{};                       ///< of a process, to others of its node
  Link between{};                      ///< of a node, to others; its processes share it. Not used with a single node
  Figure operand_bytes_per_second =
      0;  ///< what a process reads of the operands of a reduction, and reduces, in a second; above 0
  Figure reduction_ns = 0;              ///< of each reduction of a process, but for its bytes

  constexpr std::int64_t processes_per_node() const { return replicas_per_node / replicas_per_process; }
};

namespace detail {

[[noreturn]] inline void fail(const std::string& text) { throw std::invalid_argument("scaling: " + text); }

constexpr void check(const Link& link, const char* what) {
  if (link.bytes_per_second <= 0)
    fail(std::string(what) + ": " + std::to_string(link.bytes_per_second.value) +
         " bytes a second: a bandwidth above 0 expected");
  if (link.latency_ns < 0 || link.rendezvous_ns < 0)
    fail(std::string(what) + ": a latency of " + std::to_string(link.latency_ns.value) + " + " +
         std::to_string(link.rendezvous_ns.value) + " ns: 0 or more expected");
}

/// Throws std::invalid_argument unless the cluster can hold so many replicas.
constexpr void check(const Cluster& cluster, std::int64_t replicas) {
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
  if (cluster.processes_per_node() > 1) check(cluster.inside, "link inside a node");
  if (replicas > cluster.replicas_per_node) check(cluster.between, "link between nodes");
}

}  // namespace detail

}  // namespace tilewright::scaling
