#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "tilewright/core/dtype.hpp"
#include "tilewright/target/ipu_presets.hpp"
#include "tilewright/target/machine_kind.hpp"

namespace tilewright {

/// A machine: tiles that compute in supersteps, each with its own memory. A structural type, so that it can be a template
/// argument of a session: `Session<step, ipu_model.with_tiles(64)>`.
struct Target {
  std::int64_t tiles = 1;
  std::int64_t bytes_per_tile = 0;  ///< memory of a tile; 0: the host's memory, without a limit
  std::int64_t vector_bytes = 8;  ///< width of a vector: work is divided at multiples of it
  /// Smallest number of terms in a part of a divided reduction; 0: reductions are never divided
  std::int64_t shortest_reduction = 0;
  /// Limit of the bytes that the ops of one vertex pass on to each other: about the size of a first-level cache. Work is divided
  /// accordingly. With a limit of 40,960, the benchmarks' GPTs get other vertices; with twice that, the MNIST steps; without a
  /// limit, the CNN.
  std::int64_t block_bytes = 32'768;
  /// Size of a first-level cache of the host, and the limit that replaces `block_bytes` for ops whose smallest vertex does not
  /// fit into it. Then a step of GPT-2 124M has vertices of 32 and 48 columns; with 16, the length of a vector, it is 2 % slower
  /// (on an Intel Xeon). 0: tiles have no caches.
  std::int64_t first_cache_bytes = 49'152, second_block_bytes = 163'840;

  /// Whether large matrices are always divided along their rows, so that each row stays with one tile
  bool keeps_weights = false;
  bool fuses = true;  ///< whether ops are joined; if false, every op is a separate step

  /// Cost of a barrier and of a result's trip through memory, in multiply-adds of one worker: a rough price, by which ops are
  /// joined. On the host, the benchmarks' MNIST steps get other groups with an eighth of this cost, and the CNN with an eighth
  /// and with eight times this cost. On an IPU it is about 300 cycles of barrier and exchange.
  std::int64_t barrier_cost = 4096;

  int ipus = 1;  ///< of a replica; each has its own `tiles`
  std::int64_t io_tiles = 0;  ///< number of `tiles` that only move data, see tw::io_tiles
  const IpuModel* ipu = nullptr;  ///< a static object: the simulated IPU, whose cycles are counted; null for other kinds
  const MachineKind* kind = &MachineKind::host;  ///< a static object: what it states of itself
  bool uses_library_kernels = false;  ///< see with_library_kernels
  DType partials_type = DType::float32;  ///< of sums of products of float16: see with_partials_type

  [[nodiscard]] constexpr Target without_fusion() const {
    Target result = *this;
    result.fuses = false;
    return result;
  }
  [[nodiscard]] constexpr Target with_tiles(std::int64_t count) const {
    Target result = *this;
    result.tiles = count;
    return result;
  }
  /// Returns a machine whose replicas have several IPUs, each like this one; tw::ipu selects them. Throws std::invalid_argument
  /// for fewer than 1 and more than 64, and for several simulated IPUs without links.
  [[nodiscard]] constexpr Target with_ipus(int count) const {
    if (count < 1 || count > max_ipus) TW_THROW std::invalid_argument("with_ipus: from 1 to 64 IPUs expected");
    if (count > 1 && ipu != nullptr && ipu->link.linked_ipus < count)
      TW_THROW std::invalid_argument("with_ipus: too many IPUs for the links: at most ipu->link.linked_ipus expected");
    Target result = *this;
    result.ipus = count;
    return result;
  }
  static constexpr int max_ipus = 64;
  /// Returns a simulated IPU with `count` IO tiles, which move data while the others compute; tw::io_tiles selects them. Throws
  /// std::invalid_argument for the host, which has no such tiles, and for a number that is odd, below 32, or not below `tiles`.
  [[nodiscard]] constexpr Target with_io_tiles(std::int64_t count) const {
    if (ipu == nullptr)
      TW_THROW std::invalid_argument("with_io_tiles: the host has no IO tiles: a simulated IPU, such as gc200, expected");
    constexpr std::int64_t least = 32;  // popart's limit, in irlowering
    if (count < least || count % 2 != 0 || count >= tiles)
      TW_THROW std::invalid_argument("with_io_tiles: an even number of at least 32, and below the number of tiles, expected");
    Target result = *this;
    result.io_tiles = count;
    return result;
  }
  /// Returns a machine whose products, convolutions and attention of float16, and their gradients, have partial sums of another
  /// dtype: float16 or float32 (the default). An op's own `partials_type` is stronger. With float16, the host and simulated IPUs
  /// round sums as an IPU's unit does: docs/reference/numerics.md. Throws std::invalid_argument for other dtypes.
  [[nodiscard]] constexpr Target with_partials_type(DType dtype) const {
    if (dtype != DType::float16 && dtype != DType::float32)
      TW_THROW std::invalid_argument("with_partials_type: another dtype than float16 and float32: one of these expected");
    Target result = *this;
    result.partials_type = dtype;
    return result;
  }
  /// Returns a host whose sessions compute products, formulas of floats, sums and cross entropies by kernels that are compiled
  /// already, whose extents are arguments: an edit compiles faster, and a run is slower. Graphs, plans and checks are the same;
  /// sums have other roundings. A program includes <tilewright/library_kernels.hpp>. Throws std::invalid_argument for other
  /// machines.
  [[nodiscard]] constexpr Target with_library_kernels() const {
    if (kind != &MachineKind::host) TW_THROW std::invalid_argument("with_library_kernels: the host expected");
    Target result = *this;
    result.uses_library_kernels = true;
    return result;
  }
  [[nodiscard]] constexpr Target with_bytes_per_tile(std::int64_t bytes) const {
    Target result = *this;
    result.bytes_per_tile = bytes;
    return result;
  }
  /// Returns a machine with another model's numbers, including its tiles and their memory.
  [[nodiscard]] constexpr Target with_ipu(const IpuModel* model) const {
    Target result = *this;
    result.ipu = model;
    result.kind = &MachineKind::simulated_ipu;
    result.first_cache_bytes = 0;
    result.tiles = model->tiles;
    result.bytes_per_tile = model->bytes_per_tile;
    return result;
  }
  constexpr std::int64_t vector_width(DType dtype) const { return std::max<std::int64_t>(1, vector_bytes / size_of(dtype)); }
  constexpr std::int64_t clock_hz() const { return ipu ? ipu->clock_hz.value : 0; }  ///< of a tile; 0: the host's
  constexpr double seconds(std::int64_t cycles) const {
    return ipu ? static_cast<double>(cycles) / static_cast<double>(ipu->clock_hz.value) : 0;
  }
  /// Returns the peak floating-point operations per second; a multiplication and an addition count as two; 0 for the host.
  constexpr std::int64_t peak_flops(DType dtype, DType partials) const {
    return ipu ? tilewright::peak_flops(*ipu, tiles, dtype, partials) : 0;
  }
  /// Returns the bytes of code; the host has those of gc200.
  constexpr const CodeSizes& code() const { return ipu ? ipu->code : gc200_model.code; }
  constexpr bool checks_memory() const { return bytes_per_tile > 0; }
  constexpr bool operator==(const Target&) const = default;
};

namespace internal {
/// Returns the bytes of a tile of a simulated IPU, also for a target that does not check memory.
constexpr std::int64_t memory_of_tile(const Target& target) {
  return target.checks_memory() ? target.bytes_per_tile : target.ipu->bytes_per_tile.value;
}
/// Returns a machine with the compute tiles only.
constexpr Target without_io_tiles(const Target& target) {
  Target result = target.with_tiles(target.tiles - target.io_tiles);
  result.io_tiles = 0;
  return result;
}
/// Returns a machine with the IO tiles only.
constexpr Target io_tiles_alone(const Target& target) {
  Target result = target.with_tiles(target.io_tiles);
  result.io_tiles = 0;
  return result;
}
}  // namespace internal

/// The host: its cores as a few large tiles. The number of tiles is fixed, so that results do not depend on the host. With 8
/// tiles, 8 threads have work in each step; twice as many tiles would have twice as many partials of sums, and shorter loops.
/// With 4 and with 16 tiles, all workloads of ./dev bench get other vertices.
inline constexpr Target cpu{.tiles = 8, .vector_bytes = 64, .keeps_weights = true};

/// One core of the host, such as that of a small processor. A plan for it divides work only if the data are larger than a
/// first-level cache. So its programs have less code and fewer steps than those of `cpu`. Sums have another order, so results
/// have other bits.
inline constexpr Target one_core{.tiles = 1, .vector_bytes = 64};

/// Returns an IPU. Work is divided at multiples of 32 bytes, the output of one 8-row float32 matrix product.
constexpr Target ipu_target(const IpuModel* model) {
  return Target{.vector_bytes = 32, .shortest_reduction = 32, .barrier_cost = 256}.with_ipu(model);
}
inline constexpr Target gc2 = ipu_target(&gc2_model);  ///< Mk1: 1,216 tiles of 256 KiB
inline constexpr Target gc200 = ipu_target(&gc200_model);  ///< Mk2: 1,472 tiles of 624 KiB, 897 MiB on the chip
inline constexpr Target bow = ipu_target(&bow_model);  ///< Mk2 with a faster clock
inline constexpr Target c600 = ipu_target(&c600_model);  ///< Mk2 on a PCIe card
inline constexpr Target ipu_model = gc200;

}  // namespace tilewright
