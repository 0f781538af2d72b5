// labels: more strict tsan
// Tables that are too large for a tile: vertices have few of their columns. Expected are sums and choices of whole numbers.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "../../catch.hpp"
#include "../../support/test_session.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/verified/lower_verified.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

namespace {

constexpr int rows = 1200, columns = 24, hits = 100;
/// A table has 115,200 bytes, 8 of its columns 38,400.
constexpr tw::Target small_tiles = tw::ipu_model.with_bytes_per_tile(32'000);

constexpr Tensor gathered(Tensor table, Tensor indices) { return ops::gather(table, indices); }
constexpr void program(tw::Ir& ir) {
  const auto load = [&](std::string_view name, const tw::Shape& shape, tw::DType dtype) {
    return ops::host_load(ir.h2d_stream(name, shape, dtype));
  };
  const auto store = [&](std::string_view name, Tensor x) { ops::host_store(ir.d2h_stream(name, x.spec()), x); };
  const Tensor table = ir.variable(tw::zeros(), {rows, columns}, tw::float32, "table");
  const Tensor sum = ir.variable(tw::zeros(), {rows, columns}, tw::float32, "sum");
  const Tensor indices = load("indices", {hits}, tw::int32), dy = load("dy", {hits, columns}, tw::float32);
  const auto graph = ir.create_graph(gathered, table.spec(), indices.spec());
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {table, indices});
  store("y", call.output(0) * 2);
  store("dx", tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)).output(0));
  store("largest", ops::scatter_reduce(dy, indices, tw::ScatterReduction::max, {.axis_size = rows}));
  ops::sparse_accumulate_(sum, dy, indices);
}

}  // namespace

TEST_CASE("a gather from a table that is too large for a tile, and sums of rows into one") {
  static float dy[hits][columns], y[hits][columns], expected_y[hits][columns];
  static float dx[rows][columns], expected_dx[rows][columns], largest[rows][columns], expected_largest[rows][columns];
  std::mt19937 random(1);
  const auto whole = [&random] { return static_cast<float>(static_cast<int>(random() % 201) - 100); };
  std::vector<int> indices(hits);
  for (int& index : indices) index = static_cast<int>(random() % 7) * 199;  // some several times
  indices[50] = rows - 1;

  CHECK_NOTHROW(tw::lower_verified(tw::prepare(*tw::trace(program, small_tiles), small_tiles)));
  TestSession<program, small_tiles> session({.threads = 2});
  auto table = session.get_tensor_data("table"_s);
  for (float& element : table) element = whole();
  session.write_variable_data("table"_s, table);
  std::vector<bool> is_hit(rows);
  for (int hit = 0; hit < hits; ++hit) {
    const int row = indices[static_cast<std::size_t>(hit)];
    for (int column = 0; column < columns; ++column) {
      const float element = dy[hit][column] = whole();
      expected_y[hit][column] = 2 * table(row, column);
      expected_dx[row][column] += element;
      float& most = expected_largest[row][column];
      most = is_hit[static_cast<std::size_t>(row)] ? std::max(most, element) : element;
    }
    is_hit[static_cast<std::size_t>(row)] = true;
  }
  const auto equal = [](const auto& a, const auto& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; };
  const auto run = [&] {
    session.run_with_outputs("indices"_s = indices, "dy"_s = dy, "y"_s = y, "dx"_s = dx, "largest"_s = largest);
  };
  run();
  CHECK(equal(y, expected_y));
  CHECK(equal(dx, expected_dx));
  CHECK(equal(largest, expected_largest));
  const auto sum = session.get_tensor_data("sum"_s);
  CHECK(std::memcmp(sum.data(), expected_dx, sizeof(expected_dx)) == 0);

  indices[3] = rows;
  CHECK_THROWS_MATCHES(run(), tw::FaultError,
                       Catch::Matchers::Message("Gather: index 1200: an index from 0 to 1199 expected, in graph_subgraph(0); "
                                                "faults of other ops: 2"));
}
