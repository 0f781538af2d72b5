#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright::scaling {

/// How P processes reduce tensors of S bytes, so that all have the result.
enum class Algorithm : std::uint8_t {
  /// That of tilewright::distributed::Session. Small tensors go from each process to all others. Of a large one, each process
  /// gets a share of S / P bytes from all others, reduces it in the order of the replicas, and sends the result to all.
  in_order,
  ring,                ///< 2 (P - 1) rounds of S / P bytes, from each process to the next one
  recursive_doubling,  ///< log2 P rounds of S bytes: processes at the distances 1, 2, 4, ... swap what they have
  /// Rabenseifner's: log2 P rounds of S / 2, S / 4, ... bytes at the distances 1, 2, ..., and the same way back.
  halving_and_doubling,
  /// In rings inside each node, so that each of its n processes has S / n bytes. These over all nodes, in a ring or by
  /// halving and doubling, whichever is faster. Then back in rings inside each node.
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
  std::int64_t bytes = 0;  ///< of the whole tensor: what each replica has before a reduction, or after a gather
  bool reduces = false;    ///< each replica gets a shard of the reduction, or all of it if the collective gathers, too
  bool gathers = false;    ///< each replica gets the shards of all replicas
  std::int64_t times = 1;  ///< in a run
  constexpr bool operator==(const Collective&) const = default;
};
/// A tensor of so many bytes that is reduced, with the result on all replicas.
constexpr Collective all_reduce_of(std::int64_t bytes, std::int64_t times = 1) { return {bytes, true, true, times}; }

}  // namespace tilewright::scaling
