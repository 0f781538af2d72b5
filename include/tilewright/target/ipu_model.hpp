#pragma once
#include <cstdint>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/figures/figure.hpp"
#include "tilewright/target/amp.hpp"
#include "tilewright/target/code_sizes.hpp"
#include "tilewright/target/ipu_link.hpp"
#include "tilewright/target/off_chip_path.hpp"

namespace tilewright {

/// Units of a tile that multiply matrices, one for each choice of operands and partial sums.
struct ProductUnits {
  AmpModel float16{};          ///< float16 operands and partial sums
  AmpModel float16_float32{};  ///< float16 operands, float32 partial sums
  AmpModel float32{};
  Confidence confidence = Confidence::given;
  const char* source = "";

  constexpr bool has_source() const { return *source != 0; }
};

/// Numbers of a simulated IPU, from which cycles and bytes are counted. A user's machine is a copy with other numbers:
///
///     constexpr tw::IpuModel wide_model = [] {
///       tw::IpuModel model = tw::gc200_model;
///       model.exchange_bytes_per_cycle = 8;
///       return model;
///     }();
///     constexpr tw::Target wide = tw::gc200.with_ipu(&wide_model);
struct IpuModel {
  Figure tiles = 1;
  Figure bytes_per_tile = 0;
  Figure clock_hz = 0;

  // a tile: its workers take turns, so that a worker's instruction takes as many cycles as there are workers
  Figure workers = tile_workers;
  Figure data_path_bytes = 8;         ///< of a vector: float32 x 2, float16 x 4
  Figure load_bytes = 8;              ///< in a cycle
  Figure interleaved_load_bytes = 16;  ///< in a cycle, of interleaved memory
  Figure store_bytes = 8;             ///< in a cycle
  Figure copy_bytes = 8;              ///< in a worker's instruction: of a copy within the tile
  Figure accumulator_bytes = 16;      ///< of a vector of sums
  Figure memory_element_bytes = 0;  ///< of a bank: a load and a store of different banks can share a cycle
  Figure interleaved_bytes = 0;       ///< of a tile's memory
  Figure launch_cycles = 0;           ///< to start a vertex of all workers
  Figure copy_call_cycles = 0;        ///< to start a copy within the tile and wait for its workers
  ProductUnits products{};

  // the exchange between tiles
  Figure exchange_bytes_per_cycle = 4;  ///< of a tile: received, and sent at the same time
  Figure tiles_per_exchange_bus = 1;  ///< neighbours that receive equal bytes at their joint rate
  Figure sync_cycles = 0;  ///< of the barrier of all tiles, for the farthest one
  Figure nearest_sync_cycles = 0;  ///< of the barrier, for the nearest tile
  Figure hop_cycles = 0;  ///< from the farthest tile to the receiver
  Figure fragment_instructions = 0;     ///< of a tile, for each contiguous piece that it sends or receives

  // what is outside of the chip
  OffChipPath host{};
  OffChipPath streaming_memory{};
  IpuLink link{};  ///< between replicas

  CodeSizes code{};

  /// Returns the unit for operands of a dtype and partial sums of another; float32's for all other dtypes.
  constexpr const AmpModel& product_unit(DType dtype, DType partials) const {
    if (dtype != DType::float16) return products.float32;
    return partials == DType::float16 ? products.float16 : products.float16_float32;
  }
  /// Returns the elements of a vector: 2 of float32, 4 of float16.
  constexpr std::int64_t vector_width(DType dtype) const {
    const std::int64_t width = data_path_bytes / size_of(dtype);
    return width < 1 ? 1 : width;
  }
};

// ---- what the chip does at most; with fewer tiles than the model's, accordingly less

/// Returns the floating-point operations per second; a multiplication and an addition count as two.
constexpr std::int64_t peak_flops(const IpuModel& model, std::int64_t tiles, DType dtype, DType partials) {
  return 2 * model.product_unit(dtype, partials).macs_per_cycle() * tiles * model.clock_hz;
}
constexpr std::int64_t peak_flops(const IpuModel& model, DType dtype, DType partials) {
  return peak_flops(model, model.tiles, dtype, partials);
}
/// Returns the bytes per second that tiles receive from each other, if each receives at its full rate.
constexpr std::int64_t exchange_bandwidth(const IpuModel& model) {
  return model.tiles * model.exchange_bytes_per_cycle * model.clock_hz;
}
/// Returns the bytes per second that tiles read from and write to their memory, with two loads and a store in each cycle.
constexpr std::int64_t memory_bandwidth(const IpuModel& model) {
  return model.tiles * (2 * model.load_bytes + model.store_bytes) * model.clock_hz;
}
constexpr std::int64_t memory_read_bandwidth(const IpuModel& model) {
  return model.tiles * 2 * model.load_bytes * model.clock_hz;
}

}  // namespace tilewright
