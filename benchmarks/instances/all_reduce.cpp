// The default all-reduce of a session beside MPI_Allreduce of the same buffers, in two processes with one replica each.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <tilewright/distributed/distributed.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

namespace tw = tilewright;
namespace ops = tw::ops;

namespace {

inline constexpr int calls = 8;  // of a run, so that its own cost is small

/// The mean of both replicas' v, `count` times.
template <std::int64_t elements, int count>
constexpr void reduce(tw::Ir& ir) {
  ir.set_replication_factor(2);
  const tw::Tensor v = ir.variable(tw::normal(0, 1), {elements}, tw::float32, "v",
                                   {.replica_grouping = ir.replica_grouping(1, 1)});
  for (int i = 0; i < count; ++i) ops::collectives::replicated_all_reduce_(v, {.op = tw::CollectiveOperator::mean});
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}
double microseconds_of(auto&& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

template <std::int64_t elements>
void measure() {
  tw::distributed::Session<reduce<elements, calls>> session({.threads = 1});
  std::vector<float> buffer(elements, 0);  // sums of which stay what they are
  const auto by_mpi = [&] {
    for (int i = 0; i < calls; ++i)
      MPI_Allreduce(MPI_IN_PLACE, buffer.data(), static_cast<int>(elements), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  };
  const int runs = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 20) / elements, 1, 200));
  std::vector<double> ours, theirs;
  for (int round = 0; round < 21; ++round) {
    ours.push_back(microseconds_of([&] {
                     for (int i = 0; i < runs; ++i) session.run();
                   }) /
                   runs / calls);
    theirs.push_back(microseconds_of([&] {
                       for (int i = 0; i < runs; ++i) by_mpi();
                     }) /
                     runs / calls);
  }
  const double own = median(ours), mpi = median(theirs);
  if (tw::distributed::Processes::world().is_first())
    std::printf("| %lld | %.2f | %.2f | %.2f |\n", static_cast<long long>(elements * 4), own, mpi, own / mpi),
        std::fflush(stdout);
}

}  // namespace

int main() {
  if (tw::distributed::Processes::world().count() != 2) return std::fputs("2 processes expected\n", stderr), 1;
  if (tw::distributed::Processes::world().is_first())
    std::printf("| bytes | all-reduce, us | MPI_Allreduce, us | ratio |\n| ---: | ---: | ---: | ---: |\n");
  measure<1>();
  measure<256>();
  measure<1024>();
  measure<4096>();
  measure<16384>();
  measure<65536>();
  measure<262144>();
  measure<1 << 20>();
  measure<1 << 22>();
  measure<1 << 24>();
}
