#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Purpose of the bytes of a tile.
enum class MemoryCategory {
  variables,  ///< variables, and their data that lives from one run to the next
  constants,  ///< constants of the program
  frame,  ///< tensors of bodies: storages with disjoint live ranges share bytes
  exchange_buffers,  ///< data that a step sends, or receives for its vertices, in copies that live for that step
  vertex_code,  ///< codelets, each once on a tile
  vertex_state,  ///< fields and pointers of vertices
  exchange_code,  ///< instructions that send and receive
  control_code,  ///< the program's steps, calls and loops
  stack,  ///< stacks of the supervisor and the workers, and the runtime's reserve
  padding,  ///< gaps between blocks, and the rest of regions that hold shorter blocks
};

inline constexpr std::size_t memory_category_count = 10;

/// Names for tables and files, by MemoryCategory.
inline constexpr std::array<std::string_view, memory_category_count> memory_category_names{
    "variables",     "constants",    "frame", "exchange buffers", "vertex code", "vertex state",
    "exchange code", "control code", "stack", "padding"};

/// Returns whether a category's bytes are needed in every step. Bytes of other categories are those of the fullest step.
[[nodiscard]] constexpr bool always_live(MemoryCategory category) {
  return category != MemoryCategory::frame && category != MemoryCategory::exchange_buffers;
}

/// Between which parts of a predicted time programs of the same kinds took.
struct TimeRange {
  double least = 1, most = 1;
};

/// Costs of a plan on a simulated machine: memory by tile and category, cycles by step. Plain data; print it as a page of text,
/// or pass it to write_report.
///
///     std::cout << session.profile();
struct Profile {
  /// Bytes of one tile by category.
  struct TileMemory {
    std::array<std::int64_t, memory_category_count> bytes{};

    std::int64_t& operator[](MemoryCategory category) { return bytes[static_cast<std::size_t>(category)]; }
    std::int64_t operator[](MemoryCategory category) const { return bytes[static_cast<std::size_t>(category)]; }
    std::int64_t total() const { return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}); }
    bool operator==(const TileMemory&) const = default;
  };

  /// A storage: a tensor with all its views.
  struct Tensor {
    std::string name;  ///< of a variable, or of the op that produces the tensor
    std::string module;  ///< module path where it was created; empty: none
    std::int64_t bytes = 0;  ///< on the fullest tile
    std::int64_t whole_bytes = 0;  ///< on all tiles
    int first_step = 0;  ///< first and last of `steps` in which it is live; unused if `always_live`
    int last_step = 0;
    bool always_live = false;  ///< for example, a variable
    MemoryCategory category = MemoryCategory::frame;
  };

  /// A step of a plan. Cycles and bytes are those of one execution; a run executes it `times` times.
  struct Step {
    std::string label;  ///< ops of the step, as print_plan shows them
    std::string module;  ///< module path of the op with the most work; empty: the main graph
    std::string kind;  ///< superstep, copy, stream, remote, collective, code
    std::string banks;  ///< where its operands are: name_of an OperandBanks; empty: its cycles do not depend on it
    int body = 0;  ///< index in `bodies`
    int tile_set = 0;  ///< index in `tile_sets` of the tiles that run it; -1: those of the steps that it calls
    int from_tile_set = -1;  ///< of a copy between sets of tiles: the set that sends; -1 for other steps
    std::int64_t times = 1;  ///< executions in one run
    std::int64_t vertices = 0;
    std::int64_t tiles_used = 0;  ///< tiles that have a vertex
    std::int64_t compute = 0;  ///< cycles of the slowest tile's vertices
    std::int64_t exchange = 0;  ///< cycles of sends and receives on the busiest tile
    std::int64_t sync = 0;  ///< cycles until all tiles have synchronised
    std::int64_t host = 0;  ///< cycles of streams from and to the host
    std::int64_t remote = 0;  ///< cycles of streaming memory
    std::int64_t collective = 0;  ///< cycles of links between replicas
    std::int64_t links = 0;  ///< cycles of links between IPUs of the replica
    std::int64_t assumed = 0;  ///< part of all these cycles that rests on assumed or recalled numbers
    std::int64_t bytes_in = 0;  ///< received by the tile that receives most
    std::int64_t bytes_out = 0;  ///< sent by the tile that sends most
    std::int64_t fragments = 0;  ///< contiguous pieces received by the tile with most of them
    std::int64_t exchanged_bytes = 0;  ///< received by all tiles
    std::int64_t flops = 0;  ///< additions and multiplications
    double balance = 1;  ///< mean compute cycles over all tiles divided by those of the slowest; 1: all are equally busy
    std::int64_t live_bytes = 0;  ///< live bytes of the frame and of exchange buffers on the fullest tile

    /// Returns the cycles of one execution.
    std::int64_t cycles() const { return compute + exchange + sync + host + remote + collective + links; }
    /// Returns the cycles of all executions in a run.
    std::int64_t cycles_in_run() const { return times * cycles(); }
  };

  /// Consecutive executions of a step at one place in the run. All iterations of a loop form one slice.
  struct Slice {
    int step = 0;  ///< index in `steps`
    std::int64_t times = 1;
    std::int64_t begin = 0;  ///< in cycles from the start of the run
  };
  /// Tiles of one IPU with one purpose: compute tiles, or IO tiles. Cycles are those of a run.
  struct TileSet {
    std::string name;  ///< for example IPU 0, or IO tiles of IPU 0
    std::int64_t first_tile = 0, tiles = 0;  ///< in `tiles`
    std::int64_t fullest_tile_bytes = 0;
    std::int64_t compute = 0, exchange = 0, sync = 0, host = 0, remote = 0, collective = 0, links = 0;
    std::int64_t waiting = 0;  ///< waits for other sets

    std::int64_t busy() const { return compute + exchange + sync + host + remote + collective + links; }
  };

  /// A body of the plan: steps that others call. Body 0 is the main graph's.
  struct Body {
    std::string name;
  };
  /// Calls from one body to another.
  struct Call {
    int caller = 0, callee = 0;  ///< indices in `bodies`
    std::int64_t times = 1;  ///< in one execution of the caller
  };

  /// A number of the machine model, with its confidence.
  struct Number {
    std::string name, value;
    std::string confidence;  ///< published, derived, recalled or assumed
    std::string source;  ///< title or arXiv number
  };

  /// Totals of a run: sums over its steps, each multiplied by its executions. With several sets of tiles, cycles are those of the
  /// set that waits least.
  struct Totals {
    std::int64_t cycles = 0;
    std::int64_t waiting = 0;  ///< waits for other sets of tiles
    std::int64_t compute = 0, exchange = 0, sync = 0, host = 0, remote = 0, collective = 0, links = 0;  ///< cycles
    std::int64_t flops = 0;
    double seconds = 0;
    double runs_per_second = 0;  ///< 0 if the run takes no time
    double flops_per_second = 0;
    double utilisation = 0;  ///< flops_per_second divided by the machine's peak
    double balance = 1;  ///< mean of the steps' balance, weighted by their compute cycles
    double assumed = 0;  ///< share of the cycles that rests on assumed or recalled numbers
  };

  std::string program, target;  ///< names
  std::string banks;  ///< where operands are in a tile's memory: name_of a BankPolicy
  std::int64_t replicas = 1;  ///< each is a separate machine; all figures are those of one
  std::int64_t bytes_per_tile = 0;  ///< memory of a tile
  std::int64_t clock_hz = 0;  ///< tile cycles per second
  TimeRange range{};  ///< of a run's time
  double peak_flops = 0;  ///< floating-point operations per second of one machine, in the dtype of its products
  std::vector<TileMemory> tiles;  ///< memory of each tile
  std::vector<TileSet> tile_sets;  ///< sets of tiles of all IPUs of a replica; empty: there is only one
  std::vector<Slice> slices;  ///< times of steps; empty: steps run in sequence on one set of tiles
  int fullest_tile = -1;  ///< index in `tiles`; -1: no tiles
  std::vector<std::int64_t> compute_by_tile;  ///< compute cycles of a run by tile; empty: not counted
  std::vector<Tensor> tensors;  ///< all storages, those with most bytes on the fullest tile first
  std::vector<Step> steps;  ///< in the order of a run; steps of a called body stand at its first call
  std::vector<Body> bodies;
  std::vector<Call> calls;
  std::vector<Number> numbers;  ///< numbers of the machine model; may be empty

  Totals totals() const {
    Totals sum;
    double balanced = 0;
    std::int64_t assumed = 0;
    for (const Step& step : steps) {
      sum.cycles += step.cycles_in_run();
      sum.compute += step.times * step.compute;
      sum.exchange += step.times * step.exchange;
      sum.sync += step.times * step.sync;
      sum.host += step.times * step.host;
      sum.remote += step.times * step.remote;
      sum.collective += step.times * step.collective;
      sum.links += step.times * step.links;
      sum.flops += step.times * step.flops;
      assumed += step.times * step.assumed;
      balanced += static_cast<double>(step.times * step.compute) * step.balance;
    }
    if (sum.compute > 0) sum.balance = balanced / static_cast<double>(sum.compute);
    const std::int64_t all = sum.cycles;
    if (!tile_sets.empty()) {
      const auto waits_less = [](const TileSet& a, const TileSet& b) { return a.waiting < b.waiting; };
      const TileSet& set = *std::min_element(tile_sets.begin(), tile_sets.end(), waits_less);
      sum.compute = set.compute, sum.exchange = set.exchange, sum.sync = set.sync;
      sum.host = set.host, sum.remote = set.remote, sum.collective = set.collective, sum.links = set.links;
      sum.waiting = set.waiting;
      sum.cycles = set.busy() + set.waiting;
    }
    if (all > 0) sum.assumed = static_cast<double>(assumed) / static_cast<double>(all);
    if (sum.cycles > 0 && clock_hz > 0) {
      sum.seconds = static_cast<double>(sum.cycles) / static_cast<double>(clock_hz);
      sum.runs_per_second = 1 / sum.seconds;
      sum.flops_per_second = static_cast<double>(sum.flops) / sum.seconds;
      if (peak_flops > 0) sum.utilisation = sum.flops_per_second / peak_flops;
    }
    return sum;
  }

  /// Returns the memory of the fullest tile; zero without tiles.
  TileMemory fullest() const { return fullest_tile < 0 ? TileMemory() : tiles[static_cast<std::size_t>(fullest_tile)]; }

  /// Returns the index of the step with most live bytes on the fullest tile, or the first index if several steps have that
  /// number; -1 without steps.
  int peak_step() const {
    const auto less = [](const Step& a, const Step& b) { return a.live_bytes < b.live_bytes; };
    return steps.empty() ? -1 : static_cast<int>(std::max_element(steps.begin(), steps.end(), less) - steps.begin());
  }
};

}  // namespace tilewright
