#pragma once
#include <cstdint>

#include "tilewright/scaling/cluster.hpp"
#include "tilewright/target/ipu_cycles.hpp"
#include "tilewright/target/ipu_presets.hpp"

namespace tilewright::scaling {

using enum Confidence;

/// 100 Gbit/s Ethernet, as clouds offer it, with an adapter that bypasses the operating system.
inline constexpr Link ethernet_100{
    .latency_ns = {9'870, published, "OSU latency of 1 byte between hpc6a instances: aws/aws-parallelcluster, thread 6449"},
    .bytes_per_second = {12'500'000'000, published, "IEEE 802.3ba: 100 Gbit/s"}};

/// 200 Gbit/s InfiniBand, HDR.
inline constexpr Link infiniband_hdr{
    .latency_ns = {1'610, published,
                   "OSU latency of 1 byte, Open MPI: HPC Performance and Scalability Results with Azure HBv2 VMs"},
    .bytes_per_second = {23'477'000'000, published,
                         "OSU bandwidth of 8 MiB: HPC Performance and Scalability Results with Azure HBv2 VMs"}};

/// Messages between two processes on cores of an AMD EPYC (Zen 5), by Open MPI 4.1 through shared memory:
/// docs/how-it-works/scaling.md.
inline constexpr MessageTime shared_memory_messages[] = {{128, 0.52e-6},      {4160, 5.6e-6},      {8192, 8.5e-6},
                                                         {32'768, 17.7e-6},   {131'072, 55e-6},    {524'288, 137e-6},
                                                         {2'097'152, 511e-6}, {8'388'608, 1155e-6}};
inline constexpr Link shared_memory{.bytes_per_second = {7'300'000'000, derived, "of the largest measured message"},
                                    .measured = shared_memory_messages};

/// Returns a cluster of hosts. Each host has `replicas_per_node` replicas, and each replica has a process of its own. `between`
/// is the link between hosts.
[[nodiscard]] constexpr Cluster hosts(std::string_view name, std::int64_t replicas_per_node, const Link& between) {
  return {.name = name,
          .replicas_per_node = replicas_per_node,
          .inside = shared_memory,
          .between = between,
          .operand_bytes_per_second = {16'500'000'000, derived, "measured: docs/how-it-works/scaling.md"}};
}

/// Returns a cluster of pods, in which IPUs form rings and gateways connect the pods. Links and clock are those of a model.
[[nodiscard]] constexpr Cluster ipu_pods(std::string_view name, const IpuModel& model) {
  const auto nanoseconds = [&](std::int64_t cycles) { return (cycles * 1'000'000'000 + model.clock_hz / 2) / model.clock_hz; };
  const IpuLink& link = model.link;
  const Figure sync{nanoseconds(link.sync_cycles), derived, "sync of the links, by the clock"};
  // of two reductions in place, of few and of many bytes on each tile
  constexpr std::int64_t many = 48'000;
  const std::int64_t least = add_in_place_cycles(model, 0), most = add_in_place_cycles(model, many);
  const std::int64_t bytes_per_second = 2 * many * model.tiles / (most - least) * model.clock_hz;
  return {.name = name,
          .replicas_per_node = link.linked_ipus,
          .wiring = Wiring::ring,
          .inside = {.latency_ns = sync,
                     .bytes_per_second = {link.links * link.bytes_per_second, derived, link.bytes_per_second.source}},
          .between = {.latency_ns = {sync.value, assumed, "as of links"},
                      .bytes_per_second = {link.linked_ipus * link.gateway_bytes_per_second, derived,
                                           link.gateway_bytes_per_second.source}},
          .operand_bytes_per_second = {bytes_per_second, derived, "additions in place on all tiles"},
          .reduction_ns = {nanoseconds(least), derived, "additions in place on all tiles"}};
}

}  // namespace tilewright::scaling
