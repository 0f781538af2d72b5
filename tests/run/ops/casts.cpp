// labels: asan strict
// Ops on bool and float64, and casts between all pairs of dtypes, against NumPy.
#include "../cases/op_checks.hpp"
#include "../cases/types.hpp"

using namespace op_cases;

TEST_CASE("bool and float64 agree with NumPy") { check_reference<bool_and_float64, tw::cpu>(1e-15); }
TEST_CASE("Casts of bool and integers agree with NumPy") {
  check_reference<casts<tw::boolean, tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8>, tw::cpu>(0);
}
TEST_CASE("Casts of floating point truncate, and end at the ends of ranges") {
  check_reference<casts<tw::uint16, tw::uint32, tw::uint64, tw::float16, tw::float32, tw::float64>, tw::cpu>(0);
}
TEST_CASE("Dtypes agree with NumPy where tiles share the work") {
  check_reference<cut, tw::cpu.with_tiles(3)>(1e-14);
  check_reference<cut, tw::ipu_model>(1e-14);
}
