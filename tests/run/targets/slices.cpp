// labels: asan more strict
// Slices and concats of any dtype, in place, and cut for tiles.
#include "../cases/slices.hpp"

#include "../cases/op_checks.hpp"

TEST_CASE("parts of tensors of any dtype are exact") { check_reference<op_cases::parts_of_other_dtypes, tw::cpu>(0); }
TEST_CASE("slices are cut for tiles") {
  check_reference<op_cases::parts_in_place, tw::cpu.with_tiles(3)>(1e-6);
  check_reference<op_cases::concats, tw::ipu_model>(1e-5);
}
