#pragma once

namespace tilewright::internal {

/// Workers that share the work of an IPU: consecutive ones, or one worker that serves several IPUs.
struct Crew {
  int first = 0;  ///< number of the first worker
  int count = 1;
  constexpr bool has(int worker) const { return worker >= first && worker < first + count; }
};
/// Returns the workers of one of several IPUs, or all workers if `ipu` is -1.
constexpr Crew crew_of(int ipu, int ipus, int workers) {
  if (ipu < 0 || ipus == 1) return {0, workers};
  if (workers < ipus) return {ipu % workers, 1};
  const int first = ipu * workers / ipus;
  return {first, (ipu + 1) * workers / ipus - first};
}
static_assert(crew_of(-1, 1, 3).count == 3 && crew_of(1, 4, 2).first == 1 && crew_of(3, 4, 2).first == 1);
static_assert(crew_of(0, 2, 3).count == 1 && crew_of(1, 2, 3).first == 1 && crew_of(1, 2, 3).count == 2);

}  // namespace tilewright::internal
