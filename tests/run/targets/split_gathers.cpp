// labels: strict tsan
// Gathers whose tables are divided into rows on a simulated IPU give what the host gives, bit by bit.
#include <cmath>
#include <cstring>
#include <vector>

#include "../../catch.hpp"
#include "../../support/test_session.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/verified/verified.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

namespace {

constexpr tw::Target tiles = tw::ipu_model.with_tiles(61);
constexpr int rows = 1013, hits = 37;

/// Gathers of uneven extents: along the first axis, a middle one and the last, in groups, with indices of two axes.
constexpr void program(tw::Ir& ir) {
  const auto load = [&](std::string_view name, const tw::Shape& shape, tw::DType dtype) {
    return ops::host_load(ir.h2d_stream(name, shape, dtype));
  };
  const auto store = [&](std::string_view name, Tensor x) { ops::host_store(ir.d2h_stream(name, x.spec()), x); };
  const Tensor at = load("at", {hits}, tw::int32), pairs = load("pairs", {3, 5}, tw::int32);
  const Tensor table = load("table", {rows, 7}, tw::float32);
  store("first", ops::gather(table, at));
  store("middle", ops::gather(table.reshape({1, rows, 7}), pairs, 1));
  store("last", ops::gather(table.transpose({1, 0}), at, 1));
  store("half", ops::gather(table.cast(tw::float16), at, 0, {.zero_OOR = true}).cast(tw::float32));
  store("bools", ops::gather(ops::greater(table, ir.constant(0.5)), at).cast(tw::float32));
  store("tied", ops::tied_gather(table.cast(tw::int32), pairs).cast(tw::float32));
  store("groups", ops::groupedgather(table.transpose({1, 0}), load("of_groups", {7, 5}, tw::int32), 1, 7));
}

/// The rows of a table that several vertices change, and a table that is gathered and changed.
constexpr void updates(tw::Ir& ir) {
  const auto load = [&](std::string_view name, const tw::Shape& shape, tw::DType dtype) {
    return ops::host_load(ir.h2d_stream(name, shape, dtype));
  };
  const Tensor table = ir.variable(tw::zeros(), {rows, 7}, tw::float32, "table");
  const Tensor at = load("at", {hits}, tw::int32), dy = load("dy", {hits, 7}, tw::float32);
  const Tensor y = ops::gather(table, at);
  ops::host_store(ir.d2h_stream("y", y.spec()), y);
  ops::sparse_accumulate_(table, dy, at, 0, -0.5);
  const Tensor sums = ops::scatter_reduce(dy, at, tw::ScatterReduction::sum, {.axis_size = rows});
  ops::host_store(ir.d2h_stream("sums", sums.spec()), sums);
}
static_assert(tw::verified<program, tiles> && tw::verified<updates, tiles>);

/// Sets elements to whole numbers, negative zeros and NaN.
template <std::size_t n, std::size_t m>
void set_elements(float (&to)[n][m]) {
  float* const all = &to[0][0];
  for (std::size_t i = 0; i < n * m; ++i) all[i] = static_cast<float>(static_cast<int>(i * 7 % 201) - 100);
  for (std::size_t i = 5; i < n * m; i += 11) all[i] = -0.f;
  for (std::size_t i = 3; i < n * m; i += 17) all[i] = std::nanf("");
}
/// Sets indices: some places several times, the first one and the last one.
void set_places(int* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<int>(i * i * 97 % 23) * 44;
  to[1] = rows - 1, to[count - 1] = 0;
}
bool same_bits(const auto& a, const auto& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0;
}

}  // namespace

TEST_CASE("gathers from tables in parts give the elements of the host, bit by bit") {
  TestSession<program, tiles> session({.threads = 2});
  tw::Session<program> host({.threads = 1});
  static float table[rows][7];
  int at[hits], pairs[3][5], of_groups[7][5];
  set_elements(table);
  set_places(at, hits), set_places(&pairs[0][0], 15), set_places(&of_groups[0][0], 35);
  const auto run = [&](auto& on) { return on.run("at"_s = at, "pairs"_s = pairs, "table"_s = table, "of_groups"_s = of_groups); };
  {
    const auto results = run(session);
    const auto expected = run(host);
    CHECK(same_bits(results["first"_s], expected["first"_s]));
    CHECK(same_bits(results["middle"_s], expected["middle"_s]));
    CHECK(same_bits(results["last"_s], expected["last"_s]));
    CHECK(same_bits(results["half"_s], expected["half"_s]));
    CHECK(same_bits(results["bools"_s], expected["bools"_s]));
    CHECK(same_bits(results["tied"_s], expected["tied"_s]));
    CHECK(same_bits(results["groups"_s], expected["groups"_s]));
  }
  at[7] = rows, at[9] = -1;
  CHECK_THROWS_MATCHES(run(session), tw::FaultError,
                       Catch::Matchers::Message("Gather: index 1013 (and 1 more): an index from 0 to 1012 expected, in the main "
                                                "graph; faults of other ops: 2"));
}

TEST_CASE("a table that is read and changed at indices has the rows of the host") {
  TestSession<updates, tiles> session({.threads = 2});
  tw::Session<updates> host({.threads = 1});
  int at[hits];
  float dy[hits][7];
  set_places(at, hits);
  for (auto& row : dy)
    for (float& element : row) element = 0.25f;
  for (int run = 0; run < 3; ++run) {
    const auto results = session.run("at"_s = at, "dy"_s = dy);
    const auto expected = host.run("at"_s = at, "dy"_s = dy);
    CHECK(same_bits(results["y"_s], expected["y"_s]));
    CHECK(same_bits(results["sums"_s], expected["sums"_s]));
  }
  CHECK(same_bits(session.get_tensor_data("table"_s), host.get_tensor_data("table"_s)));
}
