// labels: asan more strict
// Ops with indices on machines on which their work is cut in other ways, and in all dtypes.
#include "../cases/indexing.hpp"

#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("ops with indices agree with PyTorch on the IPU model") { check_reference<some_indexing, tw::ipu_model>(1e-5); }
TEST_CASE("ops with indices agree with PyTorch on three tiles") { check_reference<some_indexing, tw::cpu.with_tiles(3)>(1e-5); }
TEST_CASE("ops with indices take all dtypes") { check_reference<indexed_dtypes, tw::cpu>(1e-6); }
TEST_CASE("gradients of ops with indices in double and half precision agree with PyTorch and finite differences") {
  check_reference<indexed_doubles, tw::cpu>(1e-7);  // the text has 8 digits
  check_reference<indexed_halves, tw::cpu>(2e-3);  // sums are rounded at each addition, each to 2^-11
  check_finite_differences<indexed_doubles, tw::cpu>();
}
