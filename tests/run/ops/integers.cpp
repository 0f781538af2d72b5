// labels: asan
// Ops on integers against NumPy; and numbers of 64 bits that double does not hold.
#include "../../support/elements.hpp"
#include "../cases/op_checks.hpp"
#include "../cases/types.hpp"

using namespace op_cases;

TEST_CASE("Signed integers agree with NumPy, and wrap around") {
  check_reference<integers<tw::int8, tw::int16, tw::int32, tw::int64>, tw::cpu>(0);
}
TEST_CASE("Unsigned integers agree with NumPy, and wrap around") {
  check_reference<integers<tw::uint8, tw::uint16, tw::uint32, tw::uint64>, tw::cpu>(0);
}
TEST_CASE("ops_types.txt and the programs have the same cases") {
  check_same_cases("ops_types.txt",
                   {integers<tw::int8, tw::int16, tw::int32, tw::int64>, integers<tw::uint8, tw::uint16, tw::uint32, tw::uint64>,
                    bool_and_float64, casts<tw::boolean, tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8>,
                    casts<tw::uint16, tw::uint32, tw::uint64, tw::float16, tw::float32, tw::float64>, cut});
}

namespace {
constexpr std::int64_t odd = 9007199254740993;  // 2^53 + 1
constexpr std::uint64_t largest = 18446744073709551615u;

constexpr void exact(Ir& ir) {
  const Tensor x = ir.variable(tw::values({odd, -odd, INT64_MAX, INT64_MIN}), {4}, tw::int64, "x");
  const Tensor y = ir.variable(tw::full(largest), {2}, tw::uint64, "y");
  const std::array<std::uint64_t, 2> list{largest - 1, 1};
  store("constants", ir.constant({odd, -odd, 3}, {3}, tw::int64));
  store("list", ir.constant(list, {2}, tw::uint64));
  store("number", ir.constant(largest - 6, tw::uint64));
  store("added", x + odd);
  store("subtracted", odd - x);
  store("multiplied", y * (largest - 1));
  store("as_float", ir.constant({odd + 2, odd}, {2}, tw::float64));
  ops::accumulate_(y, ops::host_load(ir.h2d_stream("dy", {2}, tw::uint64)), ir.constant({1}, {1}, tw::uint64));
}
}  // namespace

TEST_CASE("Numbers of 64 bits are exact") {
  tw::Session<exact> session;
  const auto wrapping = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  };
  using Longs = std::vector<std::int64_t>;
  using Unsigned = std::vector<std::uint64_t>;
  const std::array<std::uint64_t, 2> dy{odd, largest};
  CHECK(elements(session.get_tensor_data("x"_s)) == Longs{odd, -odd, INT64_MAX, INT64_MIN});
  CHECK(elements(session.get_tensor_data("y"_s)) == Unsigned{largest, largest});
  const auto outputs = session.run("dy"_s = dy);
  CHECK(elements(outputs["constants"_s]) == Longs{odd, -odd, 3});
  CHECK(elements(outputs["list"_s]) == Unsigned{largest - 1, 1});
  CHECK(elements(outputs["number"_s]) == Unsigned{largest - 6});
  CHECK(elements(outputs["added"_s]) == Longs{2 * odd, 0, wrapping(INT64_MAX, odd), wrapping(INT64_MIN, odd)});
  CHECK(elements(outputs["subtracted"_s])[1] == 2 * odd);
  CHECK(elements(outputs["multiplied"_s]) == Unsigned{2, 2});
  CHECK(elements(outputs["as_float"_s]) == std::vector<double>{0x1p53 + 4, 0x1p53});
  CHECK(elements(session.get_tensor_data("y"_s)) == Unsigned{odd - 1, largest - 1});
  session.write_variable_data("x"_s, std::array<std::int64_t, 4>{odd, odd + 2, -odd, 1});
  CHECK(elements(session.get_tensor_data("x"_s)) == Longs{odd, odd + 2, -odd, 1});
}
