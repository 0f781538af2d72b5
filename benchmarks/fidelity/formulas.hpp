#pragma once
// What the model's formulas and its planner of products say of measured rows: a function for each row. Nothing is traced here.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <tilewright/lower/products/product_partition.hpp>
#include <tilewright/lower/tile_figures.hpp>
#include <tilewright/target/ipu_cycles.hpp>
#include <tilewright/target/ipu_exchange_cycles.hpp>
#include <utility>

#include "measured.hpp"

namespace fidelity {

namespace tw = tilewright;
using std::int64_t;

/// What the model says of a figure, in the figure's unit; 0: nothing. `detail`: more of it, for the page.
struct Modelled {
  double value = 0;
  std::string detail{};
  tw::internal::CycleUse cycles{};  ///< of a run, for rates of whole networks

  Modelled(double modelled = 0, std::string more = {}) : value(modelled), detail(std::move(more)) {}
};

/// How a row is computed. `how` says what is computed, and `missing` what differs from what was measured.
struct Model {
  int row;
  Modelled (*modelled)(const Figure&);
  std::string_view how, missing;
};

/// Returns a number as a text.
inline std::string decimals(double number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

/// Returns by how much the model is above the measurement, as a part of the measurement.
constexpr double error(double modelled, double measured) { return modelled / measured - 1; }

// ---- row 1

inline Modelled row_1(const Figure& figure) {
  return static_cast<double>(tw::amp_cycles(tw::bow_model.products.float16, figure.at, 16, 16));
}

// ---- rows 2 and 3

/// A planned product, with the cycles of its terms.
struct Product {
  tw::internal::ProductPartition part{};
  int64_t barriers = 0;
  double tflops = 0;

  int64_t cycles() const { return part.cycles.total() + barriers; }
};
inline Product plan(const ProductPoint& point, tw::DType dtype) {
  const int64_t bytes = tw::size_of(dtype);
  Product result{tw::internal::partition_product({.rows = point.n,
                                                  .inner = point.m,
                                                  .columns = point.m,
                                                  .element_bytes = bytes,
                                                  .partial_bytes = bytes,
                                                  .output_bytes = bytes},
                                                 tw::internal::product_machine(tw::bow))};
  result.barriers = result.part.phases() * tw::bow.ipu->sync_cycles;
  const auto m = static_cast<double>(point.m), n = static_cast<double>(point.n);
  result.tflops = 2 * m * m * n / tw::bow.seconds(result.cycles()) / 1e12;
  return result;
}
/// Returns the cycles that the measured rate of a point stands for.
inline double measured_cycles(const ProductPoint& point) {
  const auto m = static_cast<double>(point.m), n = static_cast<double>(point.n);
  return 2 * m * m * n / (point.tflops * 1e12) * static_cast<double>(tw::bow.clock_hz());
}

struct Errors {
  double mean = 0, worst = 0;  ///< without sign
};
inline Errors errors(std::span<const ProductPoint> points, tw::DType dtype) {
  Errors result;
  for (const ProductPoint& point : points) {
    const double each = std::abs(error(plan(point, dtype).tflops, point.tflops));
    result.mean += each / static_cast<double>(points.size());
    result.worst = std::max(result.worst, each);
  }
  return result;
}

// ---- rows 4 to 6: x + a y, of which each element is read twice and written once

/// Returns TB/s of all tiles, if each moves `bytes` bytes in as many cycles.
inline double bandwidth(const tw::Target& target, int64_t bytes, int64_t cycles) {
  return static_cast<double>(target.tiles * bytes) / target.seconds(cycles) / 1e12;
}
inline constexpr int64_t triad_elements = 19'200;  ///< float32 of a tile of GC200; of GC2, 12,000 fit
inline double triad(tw::OperandBanks banks, int64_t barrier) {
  return bandwidth(tw::gc200, 12 * triad_elements,
                   tw::scaled_add_cycles(tw::gc200_model, tw::float32, triad_elements, banks) + barrier);
}
/// The step as it is planned, see tests/static/planner/banks.cpp.
inline Modelled row_4(const Figure&) {
  const int64_t barrier = tw::gc200_model.sync_cycles;
  return {triad(tw::OperandBanks::interleaved, barrier),
          "without the barrier: " + decimals(triad(tw::OperandBanks::interleaved, 0), 1) +
              " TB/s; if the operands shared a bank: " + decimals(triad(tw::OperandBanks::same, barrier), 1) + " TB/s"};
}

/// Returns the rate of a triad on GC2. The vendor's primitives copy x and add a y to the copy. Assembly is one loop of both.
inline double triad_on_gc2(const Figure& figure, tw::DType dtype) {
  const int64_t bytes = tw::size_of(dtype), elements = 48'000 / bytes;
  if (figure.key == "plain C++") return 0;
  if (figure.key == "the vendor's primitives")
    return bandwidth(tw::gc2, 3 * bytes * elements,
                     tw::copy_cycles(tw::gc2_model, bytes * elements) + tw::scaled_add_cycles(tw::gc2_model, dtype, elements));
  const auto width = static_cast<std::int16_t>(tw::gc2_model.vector_width(dtype));
  return bandwidth(tw::gc2, 3 * bytes * elements,
                   tw::binary_map_cycles(tw::gc2_model, {.cycles = 3, .elements = width}, dtype, elements));
}
inline Modelled row_5(const Figure& figure) { return triad_on_gc2(figure, tw::float32); }
inline Modelled row_6(const Figure& figure) { return triad_on_gc2(figure, tw::float16); }

// ---- row 7

/// Returns the cycles of an exchange for a tile that receives and sends `pieces` pieces, without its barrier.
inline int64_t exchange(const tw::IpuModel& model, int64_t bytes, int64_t pieces) {
  return tw::exchange_cycles(model, tw::tile_exchange_cycles(model, {.in = bytes, .out = bytes, .fragments = pieces})).cycles;
}
/// The tutorial's placement: 7 parts of 143 columns, 48 rows of a part on a tile, and one vertex for each. The matrix comes from
/// its stream in the order of rows. The vector's elements lie on tiles of their own. 7 results of a tile are sums of 7 parts.
inline Modelled row_7(const Figure&) {
  constexpr int64_t parts = 7, columns = 143, rows = 48, results = 7;
  return static_cast<double>(exchange(tw::gc200_model, 4 * rows * columns, rows) +
                             exchange(tw::gc200_model, 4 * columns, columns) +
                             exchange(tw::gc200_model, 4 * results * parts, results * parts));
}

// ---- row 14

/// An image of 2,200 x 1,122 places in 49 x 24 blocks of 45 x 47 places. A tile receives the places around its block, and sends
/// those at its edge: rows are one piece each, columns one for each place. `at`: the bytes of a place.
inline Modelled row_14(const Figure& figure) {
  if (figure.key.starts_with("barrier")) return static_cast<double>(tw::gc2_model.sync_cycles);
  if (figure.key.starts_with("compute")) return 0;
  constexpr int64_t width = 45, height = 47, places = 2 * (width + height) + 4, pieces = 2 * (2 + 2 * height + 4);
  const int64_t payload = payload_cycles(tw::gc2_model, {.in = places * figure.at}),
                control = exchange_control_cycles(tw::gc2_model, pieces);
  const std::string bytes = "the bytes, " + std::to_string(payload) + " cycles",
                    of_pieces = "the control of its pieces, " + std::to_string(control);
  return {static_cast<double>(exchange(tw::gc2_model, places * figure.at, pieces)),
          payload > control ? "in charge: " + bytes + "; " + of_pieces : "in charge: " + of_pieces + "; " + bytes};
}

// ---- row 25

inline Modelled row_25(const Figure& figure) {
  const auto tera = [](int64_t rate) { return static_cast<double>(rate) / 1e12; };
  const tw::Target& target = figure.key.starts_with("gc2,") ? tw::gc2 : figure.key.starts_with("bow") ? tw::bow : tw::gc200;
  if (figure.key.ends_with("float16")) return tera(target.peak_flops(tw::float16, tw::float16));
  if (figure.key.ends_with("float32")) return tera(target.peak_flops(tw::float32, tw::float32));
  return tera(figure.key.find("memory") != std::string_view::npos ? memory_bandwidth(*target.ipu)
                                                                  : exchange_bandwidth(*target.ipu));
}

inline constexpr Model formulas[] = {
    {1, row_1, "poplibs' estimate of the unit for products", ""},
    {4, row_4,
     "the planned step of a scaled addition of 19,200 elements a tile, with its barrier: poplibs' estimate for operands in "
     "different banks of interleaved memory",
     "the measured codelet is written by hand; whether its figure has a barrier, the source does not say"},
    {5, row_5, "12,000 elements a tile: the vendor's is a copy and a scaled addition, assembly is one loop of both",
     "code that a compiler makes has no estimate; the source does not say how many elements there are; one loop of assembly "
     "loads and stores in 3 instructions here, and a copy moves 8 bytes in each cycle"},
    {6, row_6, "24,000 elements a tile, as row 5", "as row 5"},
    {7, row_7, "the tutorial's placement by the formula of the exchange",
     "the planner puts a matrix where its product is computed and so never moves it between tiles: it cannot plan this program, "
     "in which the matrix is nine tenths of the exchange; what else its exchange holds is not published"},
    {14, row_14, "blocks of 45 x 47 places by the formula of the exchange; the barrier of gc2 is assumed",
     "the source does not say how the image is cut; compute is code that a compiler makes, which has no estimate; the measured "
     "exchange doubles with the bytes, so bytes are in charge of both, at 2.4 and 2.6 a cycle"},
    {25, row_25, "the chip's numbers", "memory counts two loads and a store of 8 bytes in each cycle of each tile"},
};

}  // namespace fidelity
