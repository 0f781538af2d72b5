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
#include <tilewright/profile/error_range.hpp>
#include <tilewright/target/ipu_cycles.hpp>
#include <tilewright/target/ipu_exchange_cycles.hpp>
#include <tilewright/target/vertex_cycles.hpp>
#include <utility>

#include "measured.hpp"

namespace fidelity {

namespace tw = tilewright;
using std::int64_t;

/// What the model says of a figure, in the figure's unit; 0: nothing. `detail`: more of it, for the page.
struct Modelled {
  double value = 0;
  std::string detail{};
  bool fits = true;  ///< whether the plan fits; one that does not has no cycles
  tw::internal::CycleUse cycles{};  ///< of a run, for rates of whole networks
  tw::CyclesByKind kinds{};  ///< of a run, for whole programs

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

/// Returns the rate of a point that takes `cycles` cycles.
inline double tflops(const ProductPoint& point, int64_t cycles) {
  const auto m = static_cast<double>(point.m), n = static_cast<double>(point.n);
  return 2 * m * m * n / tw::bow.seconds(cycles) / 1e12;
}
/// A product as partition_product alone cuts it, with the cycles of its terms: no plan, which also has places for its operands.
struct Product {
  tw::internal::ProductPartition part{};
  int64_t barriers = 0;
  double tflops = 0;

  int64_t cycles() const { return part.cycles.total() + barriers; }
};
inline Product partition(const ProductPoint& point, tw::DType dtype) {
  const int64_t bytes = tw::size_of(dtype);
  Product result{tw::internal::partition_product({.rows = point.n,
                                                  .inner = point.m,
                                                  .columns = point.m,
                                                  .element_bytes = bytes,
                                                  .partial_bytes = bytes,
                                                  .output_bytes = bytes},
                                                 tw::internal::product_machine(tw::bow))};
  result.barriers = result.part.phases() * tw::bow.ipu->sync_cycles;
  result.tflops = tflops(point, result.cycles());
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
    const double each = std::abs(error(partition(point, dtype).tflops, point.tflops));
    result.mean += each / static_cast<double>(points.size());
    result.worst = std::max(result.worst, each);
  }
  return result;
}

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

/// The rule for loops of C++: nine loads, a store, eight sums and three products for 4 elements of float16, or for 2 or 1.
inline double blur_of_block(const Figure& figure) {
  const int elements = figure.key.ends_with("half4") ? 4 : figure.key.ends_with("float2") ? 2 : 1;
  return static_cast<double>(
      tw::vertex_cycles(tw::compiled_cost(10, 11, elements), tw::float32, 4 * 45 * 47, 1, tw::gc2_model).cycles);
}
/// An image of 2,200 x 1,122 places in 49 x 24 blocks of 45 x 47 places. A tile receives the places around its block, and sends
/// those at its edge: rows are one piece each, columns one for each place. `at`: the bytes of a place.
inline Modelled row_14(const Figure& figure) {
  if (figure.key.starts_with("barrier")) return static_cast<double>(tw::gc2_model.sync_cycles);
  if (figure.key.starts_with("compute")) return blur_of_block(figure);
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
    {7, row_7, "the tutorial's placement by the formula of the exchange",
     "the planner puts a matrix where its product is computed and so never moves it between tiles: it cannot plan this program, "
     "in which the matrix is nine tenths of the exchange; what else its exchange holds is not published"},
    {14, row_14, "blocks of 45 x 47 places by the formula of the exchange; the barrier of gc2 is assumed",
     "the source does not say how the image is cut; compute is by the rule for loops of C++, whose 3 instructions for the loop "
     "and addresses are what float and float2 took; the vertices for half4 multiply by numbers of float32; the measured exchange "
     "doubles with the bytes, so bytes are in charge of both, at 2.4 and 2.6 a cycle"},
    {25, row_25, "the chip's numbers", "memory counts two loads and a store of 8 bytes in each cycle of each tile"},
};

}  // namespace fidelity
