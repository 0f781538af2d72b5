// All-reduces of many tensors, one after the other: with two replicas in one process or in two, or with one replica, on which
// each tensor is read and written once. Each line: the number of replicas, the bytes of all tensors of a replica, those of a
// tensor, and the seconds of a tensor.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tilewright/tilewright.hpp>

#include "timing.hpp"

namespace tw = tilewright;

namespace {

/// The mean of all replicas' tensors: `count` of `elements` elements.
template <std::int64_t elements, int count, int replicas>
constexpr void reduce(tw::Ir& ir) {
  ir.set_replication_factor(replicas);
  for (int i = 0; i < count; ++i)
    tw::ops::collectives::replicated_all_reduce_(ir.variable(tw::normal(0, 1), {elements}, tw::float32, tw::text("v", i).view(),
                                                             {.replica_grouping = ir.replica_grouping(1, 1)}),
                                                 {.op = tw::CollectiveOperator::mean});
}

template <int replicas, std::int64_t elements, int count>
void measure() {
  tw::distributed::Session<reduce<elements, count, replicas>> session({.threads = 1});
  const int rounds = elements * count < (1 << 21) ? 300 : 20;
  const double seconds = seconds_of(rounds, elements < 1024 ? 10 : 1, [&] { session.run(); }) / count;
  if (tw::distributed::Processes::world().is_first())
    std::printf("%d %lld %lld %.9f\n", replicas, static_cast<long long>(elements * count * 4),
                static_cast<long long>(elements * 4), seconds);
}
template <int replicas>
void measure_all() {
  measure<replicas, 1, 64>();
  measure<replicas, 1 << 10, 64>();
  measure<replicas, 1 << 12, 64>();
  measure<replicas, 1 << 14, 64>();
  measure<replicas, 1 << 16, 16>();
  measure<replicas, 1 << 18, 4>();
  measure<replicas, 1 << 18, 96>();
  measure<replicas, 1 << 20, 24>();
  measure<replicas, 1 << 22, 6>();
}

}  // namespace

int main() {
  if (tw::distributed::Processes::world().count() == 1) measure_all<1>();
  measure_all<2>();
}
