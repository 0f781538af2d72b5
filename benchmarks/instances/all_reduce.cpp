// The all-reduces of a session, in the order of the replicas and hierarchical, beside MPI_Allreduce of one buffer a process: in
// two processes with one replica each, or two.
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

/// The mean of all replicas' v, `count` times.
template <int replicas, std::int64_t elements, int count>
constexpr void reduce(tw::Ir& ir) {
  ir.set_replication_factor(replicas);
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

template <int replicas, std::int64_t elements>
void measure() {
  using tw::distributed::AllReduce;
  using Session = tw::distributed::Session<reduce<replicas, elements, calls>>;
  Session in_order({.threads = 1}), hierarchical({.threads = 1, .all_reduce = AllReduce::hierarchical});
  std::vector<float> buffer(elements, 0);  // sums of which stay what they are
  const int runs = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 20) / elements, 1, 200));
  const auto time = [&](auto&& f) {
    return microseconds_of([&] {
             for (int i = 0; i < runs; ++i) f();
           }) /
           runs / calls;
  };
  std::vector<double> of_order, of_levels, of_mpi;
  for (int round = 0; round < 21; ++round) {
    of_order.push_back(time([&] { in_order.run(); }));
    of_levels.push_back(time([&] { hierarchical.run(); }));
    of_mpi.push_back(time([&] {
      for (int i = 0; i < calls; ++i)
        MPI_Allreduce(MPI_IN_PLACE, buffer.data(), static_cast<int>(elements), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }));
  }
  const double order = median(of_order), levels = median(of_levels), mpi = median(of_mpi);
  if (tw::distributed::Processes::world().is_first())
    std::printf("| %lld | %.2f | %.2f | %.2f | %.2f | %.2f |\n", static_cast<long long>(elements * 4), order, levels, mpi,
                order / mpi, levels / order),
        std::fflush(stdout);
}

template <int replicas, std::int64_t... elements>
void measure_all() {
  if (tw::distributed::Processes::world().is_first())
    std::printf(
        "%d replicas on each process:\n\n"
        "| bytes | all-reduce, us | hierarchical, us | MPI_Allreduce, us | all-reduce / MPI_Allreduce | hierarchical / "
        "all-reduce |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: |\n",
        replicas / 2);
  (measure<replicas, elements>(), ...);
}

}  // namespace

int main() {
  if (tw::distributed::Processes::world().count() != 2) return std::fputs("2 processes expected\n", stderr), 1;
  measure_all<2, 1, 1024, 4096, 16384, 262144, 1 << 20, 1 << 24>();
  measure_all<4, 16384, 262144, 1 << 20, 1 << 24>();
}
