#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright::scaling {

/// Algorithm by which P processes reduce tensors of S bytes so that all have the result.
enum class Algorithm : std::uint8_t {
  /// Algorithm of tilewright::distributed::Session. Each process sends a small tensor to all others. Of a large tensor, each
  /// process gets a share of S / P bytes from all others, reduces it in the order of the replicas, and sends the result to all.
  in_order,
  ring,  ///< 2 (P - 1) rounds of S / P bytes, from each process to the next one
  recursive_doubling,  ///< log2 P rounds of S bytes: processes at the distances 1, 2, 4, ... swap their tensors
  /// Rabenseifner's algorithm: log2 P rounds of S / 2, S / 4, ... bytes at the distances 1, 2, ..., and the same rounds in
  /// reverse order.
  halving_and_doubling,
  /// Rings inside each node, after which each of its n processes has S / n bytes. Then a ring or halving and doubling over all
  /// nodes, whichever is faster. Then rings inside each node in reverse.
  hierarchical
};
inline constexpr Algorithm all_algorithms[] = {Algorithm::in_order, Algorithm::ring, Algorithm::recursive_doubling,
                                               Algorithm::halving_and_doubling, Algorithm::hierarchical};
constexpr std::string_view name_of(Algorithm algorithm) {
  constexpr std::string_view names[] = {"in order", "ring", "doubling", "halving and doubling", "hierarchical"};
  return names[static_cast<int>(algorithm)];
}

/// A collective over all replicas of a program.
struct Collective {
  std::int64_t bytes = 0;  ///< of the whole tensor: on each replica before a reduction, or after a gather
  /// Whether each replica gets a shard of the reduction, or the whole result if the collective also gathers
  bool reduces = false;
  bool gathers = false;  ///< whether each replica gets the shards of all replicas
  std::int64_t times = 1;  ///< executions in a run
  constexpr bool operator==(const Collective&) const = default;
};
/// Returns the reduction of a tensor of `bytes` bytes with the result on all replicas.
[[nodiscard]] constexpr Collective all_reduce_of(std::int64_t bytes, std::int64_t times = 1) {
  return {bytes, true, true, times};
}

}  // namespace tilewright::scaling
