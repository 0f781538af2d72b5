// What steps take by the simulation:
//
//   predict step net|w8 SECONDS REPLICAS REPLICAS_PER_PROCESS OPERAND_BYTES_PER_SECOND [BYTES SECONDS]...
//       the seconds of a step in processes of one node, from those of a replica's computation, the rate of reductions, and the
//       times of messages of so many bytes
//   predict bytes net|w8
//       the bytes of all gradients
//   predict tables SECONDS SECONDS
//       Markdown: steps of the tutorial's network and of W8 on clusters, from a replica's seconds on a core of a host
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <tilewright/scaling/scaling.hpp>
#include <vector>

#include "train.hpp"

namespace {

namespace scaling = tw::scaling;
using scaling::Algorithm, scaling::Cluster, scaling::Collective;

struct Workload {
  const char *name, *title;
  std::span<const Collective> collectives;
};
const Workload workloads[] = {
    {"net", "The tutorial's network, 64 images a replica", scaling::collectives_of<train_net<2>>},
    {"w8", "W8, a text of 128 tokens a replica", scaling::collectives_of<train_gpt<2>>},
};

const Workload& workload_of(const char* name) {
  for (const Workload& workload : workloads)
    if (std::strcmp(workload.name, name) == 0) return workload;
  std::fprintf(stderr, "%s: net or w8 expected\n", name);
  std::exit(1);
}

/// Of all gradients.
std::int64_t bytes_of(const Workload& workload) {
  std::int64_t bytes = 0;
  for (const Collective& collective : workload.collectives) bytes += collective.times * collective.bytes;
  return bytes;
}
int print_bytes(const char* name) { return std::printf("%lld\n", static_cast<long long>(bytes_of(workload_of(name)))), 0; }

int print_step(std::span<char*> words) {
  const auto number = [&](std::size_t i) { return std::atof(words[i]); };
  std::vector<scaling::MessageTime> messages;
  for (std::size_t i = 5; i + 1 < words.size(); i += 2) messages.push_back({static_cast<std::int64_t>(number(i)), number(i + 1)});
  const auto replicas = static_cast<std::int64_t>(number(2)), held = static_cast<std::int64_t>(number(3));
  const Cluster host{.replicas_per_node = replicas,
                     .replicas_per_process = held,
                     .inside = {.bytes_per_second = 1'000'000'000, .measured = messages},
                     .operand_bytes_per_second = static_cast<std::int64_t>(number(4))};
  const scaling::StepTime step = step_time(workload_of(words[0]).collectives, number(1), replicas, Algorithm::in_order, host);
  return std::printf("%.9f %.9f\n", step.seconds, step.collectives), 0;
}

std::string in_units(double seconds) {
  char text[32];
  const double size = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
  const char* const unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
  std::snprintf(text, sizeof text,
                seconds * size < 9.995   ? "%.2f %s"
                : seconds * size < 99.95 ? "%.1f %s"
                                         : "%.0f %s",
                seconds * size, unit);
  return text;
}

void print_table(const Workload& workload, const Cluster& cluster, double computation) {
  std::printf("\n%s; %s; computation %s\n\n| replicas |", workload.title, std::string(cluster.name).c_str(),
              in_units(computation).c_str());
  for (const Algorithm algorithm : scaling::all_algorithms) std::printf(" %s |", std::string(name_of(algorithm)).c_str());
  std::printf(" fastest | efficiency | as one tensor |\n| ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n");
  const Collective merged[] = {scaling::all_reduce_of(bytes_of(workload))};
  for (std::int64_t replicas = 2; replicas <= 4096; replicas *= 2) {
    std::printf("| %lld |", static_cast<long long>(replicas));
    for (const Algorithm algorithm : scaling::all_algorithms)
      std::printf(" %s |", in_units(step_time(workload.collectives, computation, replicas, algorithm, cluster).seconds).c_str());
    const Algorithm fastest = fastest_algorithm(workload.collectives, replicas, cluster);
    const Algorithm fastest_merged = fastest_algorithm(merged, replicas, cluster);
    std::printf(" %s | %.0f %% | %s, %.0f %% |\n", std::string(name_of(fastest)).c_str(),
                100 * step_time(workload.collectives, computation, replicas, fastest, cluster).efficiency(),
                std::string(name_of(fastest_merged)).c_str(),
                100 * step_time(merged, computation, replicas, fastest_merged, cluster).efficiency());
  }
}

/// Seconds of a run on one IPU without what collectives take.
template <auto step>
double seconds_on_ipu() {
  const tw::Plan plan = tw::lower(tw::prepare(*tw::trace(step, tw::gc200), tw::gc200));  // throws if a tile has too little memory
  return static_cast<double>(plan.cycles.total() - plan.collectives.cycles) / static_cast<double>(tw::gc200_model.clock_hz);
}

int print_tables(double net_seconds, double w8_seconds) {
  const auto ethernet = scaling::hosts("hosts of 8 replicas, 100 Gbit/s Ethernet", 8, scaling::ethernet_100);
  const auto infiniband = scaling::hosts("hosts of 8 replicas, HDR InfiniBand", 8, scaling::infiniband_hdr);
  const auto pods = scaling::ipu_pods("pods of 64 IPUs", tw::gc200_model);
  const auto& [net, w8] = workloads;
  print_table(net, ethernet, net_seconds);
  print_table(net, infiniband, net_seconds);
  print_table(net, pods, seconds_on_ipu<train_net<2>>());
  print_table(w8, ethernet, w8_seconds);
  print_table(w8, infiniband, w8_seconds);
  std::vector<Collective> half(w8.collectives.begin(), w8.collectives.end());
  for (Collective& collective : half) collective.bytes /= 2;
  print_table({"w8", "W8 in float16, a text of 128 tokens a replica", half}, pods, seconds_on_ipu<train_gpt<2, tw::float16>>());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "bytes") == 0) return print_bytes(argv[2]);
  if (argc >= 7 && std::strcmp(argv[1], "step") == 0) return print_step(std::span(argv + 2, argv + argc));
  if (argc == 4 && std::strcmp(argv[1], "tables") == 0) return print_tables(std::atof(argv[2]), std::atof(argv[3]));
  return std::fputs("usage: see the first lines of predict.cpp\n", stderr), 1;
}
