// labels: none
// Clusters and collectives that cannot be simulated.
#include <tilewright/scaling/step_time.hpp>

#include "../../catch.hpp"

namespace {

using namespace tilewright::scaling;

constexpr Link link{.latency_ns = 2000, .bytes_per_second = 10'000'000'000};
constexpr Cluster hosts{.replicas_per_node = 4, .inside = link, .between = link, .operand_bytes_per_second = 20'000'000'000};

void require_error(const Cluster& cluster, std::int64_t replicas, const char* text, std::int64_t bytes = 1024) {
  const Collective collectives[] = {all_reduce_of(bytes)};
  for (const Algorithm algorithm : all_algorithms)
    CHECK_THROWS_WITH(step_time(collectives, 1, replicas, algorithm, cluster), text);
}
Cluster changed(auto change) {
  Cluster cluster = hosts;
  change(cluster);
  return cluster;
}

}  // namespace

TEST_CASE("scaling: replicas that nodes cannot hold are errors") {
  require_error(hosts, 0, "scaling: 0 replicas in processes of 1: a multiple expected");
  require_error(hosts, 6, "scaling: 6 replicas on nodes of 4: one node, or full nodes, expected");
  require_error(changed([](Cluster& c) { c.replicas_per_process = 3; }), 8,
                "scaling: nodes of 4 replicas in processes of 3: a number of replicas that the processes divide expected");
  require_error(changed([](Cluster& c) { c.replicas_per_process = 2; }), 3,
                "scaling: 3 replicas in processes of 2: a multiple expected");
  require_error(changed([](Cluster& c) { c.replicas_per_node = 0; }), 1,
                "scaling: nodes of 0 replicas in processes of 1: a number of replicas that the processes divide expected");
}

TEST_CASE("scaling: links without bandwidth are errors where they are used") {
  const Cluster without_network = changed([](Cluster& c) { c.between = {}; });
  require_error(without_network, 8, "scaling: link between nodes: 0 bytes a second: a bandwidth above 0 expected");
  CHECK(simulate(all_reduce_of(1024), 4, Algorithm::ring, without_network).seconds > 0);
  require_error(changed([](Cluster& c) { c.inside.bytes_per_second = -5; }), 4,
                "scaling: link inside a node: -5 bytes a second: a bandwidth above 0 expected");
  require_error(changed([](Cluster& c) { c.inside.latency_ns = -1; }), 4,
                "scaling: link inside a node: a latency of -1 ns: 0 or more expected");
  constexpr MessageTime falling[] = {{64, 1e-6}, {64, 2e-6}};
  require_error(changed([&](Cluster& c) { c.inside.measured = falling; }), 4,
                "scaling: link inside a node: a measured message of 64 bytes after one of 64: rising sizes expected");
  require_error(changed([](Cluster& c) { c.operand_bytes_per_second = 0; }), 4,
                "scaling: reduction: 0 bytes a second: a rate above 0 expected");
}

TEST_CASE("scaling: negative sizes are errors") {
  require_error(hosts, 4, "scaling: a tensor of -1 bytes: 0 or more expected", -1);
  const Collective collectives[] = {all_reduce_of(1024)};
  CHECK_THROWS_WITH(step_time(collectives, -1, 4, Algorithm::ring, hosts),
                    "scaling: a computation of -1.000000 seconds: a finite number of at least 0 expected");
}
