// labels: none
// What collectives take on many replicas, against the closed forms of their algorithms, and the collectives of plans.
#include <initializer_list>
#include <tilewright/scaling/scaling.hpp>
#include <tilewright/train/train.hpp>

#include "programs/models.hpp"

namespace {

namespace ops = tw::ops;
using namespace tw::scaling;

constexpr bool near(double a, double b) { return a - b < 1e-9 * b && b - a < 1e-9 * b; }

// ---- closed forms: latency 2 us, 10 GB/s, reductions of 20 GB/s of operands

constexpr double latency = 2e-6, bandwidth = 1e10, rate = 2e10, bytes = 1 << 20;
constexpr Link link{.latency_ns = 2000, .bytes_per_second = 10'000'000'000};
/// Hosts of one replica each.
constexpr Cluster flat{.name = "flat", .between = link, .operand_bytes_per_second = 20'000'000'000};

constexpr double seconds(Algorithm algorithm, std::int64_t replicas, const Cluster& cluster = flat,
                         std::int64_t of = std::int64_t(bytes)) {
  return simulate(all_reduce_of(of), replicas, algorithm, cluster).seconds;
}
constexpr double log2_of(std::int64_t n) { return n == 1 ? 0 : 1 + log2_of(n / 2); }

constexpr double ring(std::int64_t n) {
  const auto others = double(n - 1);
  return 2 * others * (latency + bytes / double(n) / bandwidth) + others * 2 * bytes / double(n) / rate;
}
constexpr double doubling(std::int64_t n) { return log2_of(n) * (latency + bytes / bandwidth + 2 * bytes / rate); }
constexpr double halving(std::int64_t n) {
  const double part = double(n - 1) / double(n);
  return 2 * (log2_of(n) * latency + part * bytes / bandwidth) + part * 2 * bytes / rate;
}
/// Headers, shares, reduction of a share of n tensors, results.
constexpr double in_order(std::int64_t n) {
  const double others = double(n - 1), share = bytes / double(n);
  return others * (3 * latency + (64 + 2 * share) / bandwidth) + bytes / rate;
}
constexpr bool all_agree(Algorithm algorithm, double (*closed_form)(std::int64_t)) {
  for (std::int64_t n = 2; n <= 4096; n *= 2)
    if (!near(seconds(algorithm, n), closed_form(n))) return false;
  return true;
}
static_assert(all_agree(Algorithm::ring, ring));
static_assert(all_agree(Algorithm::recursive_doubling, doubling));
static_assert(all_agree(Algorithm::halving_and_doubling, halving));
static_assert(all_agree(Algorithm::in_order, in_order));
static_assert(near(seconds(Algorithm::ring, 3), ring(3)) && near(seconds(Algorithm::in_order, 100), in_order(100)));

// six processes: two give their tensor to a neighbour and wait for the result of the other four
static_assert(near(seconds(Algorithm::recursive_doubling, 6),
                   doubling(4) + 2 * (latency + bytes / bandwidth) + 2 * bytes / rate));
static_assert(near(seconds(Algorithm::halving_and_doubling, 6),
                   halving(4) + 2 * (latency + bytes / bandwidth) + 2 * bytes / rate));

// small tensors go to all others with the header, in lines of 64 bytes
static_assert(near(seconds(Algorithm::in_order, 4, flat, 100), 3 * (latency + (64 + 128) / bandwidth) + 4 * 100 / rate));

constexpr bool one_replica_takes_nothing() {
  for (const Algorithm algorithm : all_algorithms)
    if (seconds(algorithm, 1) != 0 || simulate(all_reduce_of(0), 64, algorithm, flat).seconds != 0) return false;
  return true;
}
static_assert(one_replica_takes_nothing());

// messages and bytes of a process
constexpr CollectiveTime in_ring = simulate(all_reduce_of(1 << 20), 8, Algorithm::ring, flat);
static_assert(in_ring.rounds == 14 && near(in_ring.bytes, 14 * (1 << 17)));
constexpr CollectiveTime by_halving = simulate(all_reduce_of(1 << 20), 8, Algorithm::halving_and_doubling, flat);
static_assert(by_halving.rounds == 6 && near(by_halving.bytes, 14 * (1 << 17)));

// halves: a reduction to shards and a gather of them are an all-reduce
constexpr double half(bool reduces, bool gathers, Algorithm algorithm) {
  return simulate({1 << 20, reduces, gathers}, 16, algorithm, flat).seconds;
}
static_assert(near(half(true, false, Algorithm::ring) + half(false, true, Algorithm::ring), ring(16)));
static_assert(near(half(true, false, Algorithm::halving_and_doubling) + half(false, true, Algorithm::halving_and_doubling),
                   halving(16)));

// measured messages: on lines between them, at the rate of the last beyond
constexpr MessageTime messages[] = {{1000, 1e-6}, {2000, 4e-6}, {10'000, 8e-6}};
constexpr Cluster with_measured = [] {
  Cluster cluster = flat;
  cluster.between.measured = messages;
  return cluster;
}();
constexpr double gathered(std::int64_t shard) {
  return simulate({2 * shard, false, true}, 2, Algorithm::ring, with_measured).seconds;
}
static_assert(near(gathered(10), 1e-6) && near(gathered(1000), 1e-6) && near(gathered(1500), 2.5e-6) &&
              near(gathered(2000), 4e-6) && near(gathered(6000), 6e-6) && near(gathered(20'000), 16e-6));

// ---- nodes of four processes, which share a port

constexpr Cluster nodes{.name = "nodes of 4",
                        .replicas_per_node = 4,
                        .inside = {.latency_ns = 1000, .bytes_per_second = 40'000'000'000},
                        .between = link,
                        .operand_bytes_per_second = 20'000'000'000};
constexpr double inside(double message) { return 1e-6 + message / 4e10; }
constexpr double between(double message, double sharing) { return latency + sharing * message / bandwidth; }

static_assert(near(seconds(Algorithm::ring, 4, nodes), 6 * inside(bytes / 4) + 3 * 2 * bytes / 4 / rate));
static_assert(near(seconds(Algorithm::ring, 8, nodes), 14 * between(bytes / 8, 1) + 7 * 2 * bytes / 8 / rate),
              "one message of a round leaves each node");
static_assert(near(seconds(Algorithm::recursive_doubling, 16, nodes),
                   2 * inside(bytes) + 2 * between(bytes, 4) + 4 * 2 * bytes / rate),
              "two rounds stay in a node, and in two rounds all four messages leave it");
static_assert(near(seconds(Algorithm::hierarchical, 16, nodes), 6 * inside(bytes / 4) + 3 * 2 * bytes / 4 / rate +
                                                                    2 * (between(bytes / 8, 4) + between(bytes / 16, 4)) +
                                                                    2 * bytes / 8 / rate + 2 * bytes / 16 / rate));
static_assert(seconds(Algorithm::hierarchical, 4, nodes) == seconds(Algorithm::ring, 4, nodes));

// two replicas in each process: it reduces them first, and copies the result
constexpr Cluster pairs = [] {
  Cluster cluster = flat;
  cluster.replicas_per_node = cluster.replicas_per_process = 2;
  return cluster;
}();
static_assert(near(seconds(Algorithm::ring, 8, pairs), ring(4) + 2 * 2 * bytes / rate));
static_assert(near(seconds(Algorithm::in_order, 2, pairs), 2 * bytes / rate), "nothing is sent within a process");

// ---- pods of IPUs

// as many cycles as target/ipu_link_cycles.hpp counts for two rings, one each way, but for rounding
constexpr bool is_as_counted(std::int64_t replicas, std::int64_t of) {
  const tw::IpuModel& model = tw::gc200_model;
  const auto half = [&](bool reduces) {
    return double(tw::ring_cycles(model, model.tiles, of, {replicas, 1, replicas}, tw::RingScheme::two_ways, reduces).cycles);
  };
  const double counted = (half(true) + half(false)) / double(model.clock_hz);
  const double simulated = seconds(Algorithm::ring, replicas, ipu_pods("pods", model), of);
  return simulated > 0.98 * counted && simulated < 1.02 * counted;
}
static_assert(is_as_counted(4, 1 << 24) && is_as_counted(16, 1 << 22) && is_as_counted(64, 1 << 26));
// a message to the fourth neighbour shares the links of the way
static_assert(seconds(Algorithm::recursive_doubling, 8, ipu_pods("pods", tw::gc200_model)) > 7 * bytes / (2 * 13.6e9));

// ---- presets

constexpr bool has_sources(const Link& preset) {
  return preset.bytes_per_second.has_source() && (preset.latency_ns.has_source() || !preset.measured.empty());
}
constexpr bool has_sources(const Cluster& preset) {
  return has_sources(preset.inside) && has_sources(preset.between) && preset.operand_bytes_per_second.has_source();
}
constexpr Cluster hosts_of_8 = hosts("hosts", 8, infiniband_hdr), pods = ipu_pods("pods", tw::gc200_model);
static_assert(has_sources(hosts_of_8) && has_sources(hosts("hosts", 8, ethernet_100)) && has_sources(pods));
static_assert(pods.replicas_per_node == 64 && pods.between.bytes_per_second == 64 * 6'250'000'000 &&
                  pods.inside.latency_ns == 453,
              "600 cycles of 1.325 GHz");

// ---- steps

constexpr Collective two[] = {all_reduce_of(1 << 20, 3), all_reduce_of(1 << 10)};
constexpr StepTime step = step_time(two, 0.01, 64, Algorithm::ring, flat);
static_assert(near(step.collectives, 3 * ring(64) + seconds(Algorithm::ring, 64, flat, 1 << 10)));
static_assert(near(step.seconds, 0.01 + step.collectives) && near(step.efficiency(), 0.01 / step.seconds));
static_assert(step_time(two, 0.01, 1, Algorithm::ring, flat).efficiency() == 1);
static_assert(near(step_time(two, 0.01, 64, Algorithm::ring, pairs).computation, 0.02));
static_assert(fastest_algorithm(std::initializer_list<Collective>{all_reduce_of(64)}, 1024, flat) ==
              Algorithm::recursive_doubling);
static_assert(fastest_algorithm(std::initializer_list<Collective>{all_reduce_of(1 << 20)}, 1024, flat) ==
              Algorithm::halving_and_doubling);
static_assert(fastest_algorithm(std::initializer_list<Collective>{all_reduce_of(1 << 28)}, 8, flat) == Algorithm::in_order,
              "eight operands are reduced in one pass");

// ---- the collectives of plans

/// The tutorial's network.
constexpr void train(tw::Ir& ir) {
  ir.set_replication_factor(4);
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{8, 28, 28}});
}
constexpr auto collectives = collectives_of<train>;
constexpr std::int64_t times_of(std::int64_t size) {
  std::int64_t times = 0;
  for (const Collective& collective : collectives)
    if (collective == all_reduce_of(size, collective.times)) times += collective.times;
  return times;
}
static_assert(collectives.size() == 5 && times_of(784 * 512 * 4) == 1 && times_of(512 * 512 * 4) == 2 && times_of(512 * 4) == 3 &&
              times_of(512 * 10 * 4) == 1 && times_of(10 * 4) == 1);
constexpr std::int64_t bytes_of_all = [] {
  std::int64_t sum = 0;
  for (const Collective& collective : collectives) sum += collective.times * collective.bytes;
  return sum;
}();
static_assert(bytes_of_all == 3'729'448, "(784 x 512 + 2 x 512 x 512 + 512 x 10 + 3 x 512 + 10) x 4");

/// Reduces and gathers 5 times, in a loop.
struct Average : tw::Module<Average> {
  constexpr tw::Tensor build(tw::Tensor x) {
    return ops::collectives::replicated_all_gather(ops::collectives::replicated_reduce_scatter(x));
  }
};
constexpr void in_loop(tw::Ir& ir) {
  ir.set_replication_factor(2);
  const tw::Tensor v = ir.variable(tw::ones(), {4}, tw::float32, "v");
  const auto [factories, body] = tw::create_graph(Average{}, v);
  ops::copy_var_update_(v, ops::repeat(body, 5, v)[0]);
}
static_assert(collectives_of<in_loop> == std::array{Collective{16, true, false, 5}, Collective{16, false, true, 5}});

constexpr void without(tw::Ir& ir) {
  ir.set_replication_factor(2);
  ops::collectives::replica_sharded_slice(ir.constant({1, 2}, {2}));
}
static_assert(collectives_of<without>.empty());

}  // namespace
