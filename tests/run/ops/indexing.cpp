// labels: asan
// Ops with indices that are known in the run: gathers and slices.
#include "../cases/indexing.hpp"

#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("indexing: cases and fixtures are of the same tensors") {
  check_same_cases("ops_indexing.txt", {gathers, scatters, scattered_extremes, scattered_ties, indexed_slices, indexed_dtypes,
                                        indexed_doubles, indexed_halves, sparse_accumulations, embedding});
}
TEST_CASE("gathers and slices at indices agree with PyTorch") {
  check_reference<gathers, tw::cpu>(1e-5);
  check_reference<indexed_slices, tw::cpu>(1e-5);
}
TEST_CASE("gradients of gathers and slices at indices agree with finite differences") {
  check_finite_differences<gathers, tw::cpu>();
  check_finite_differences<indexed_slices, tw::cpu>();
}
TEST_CASE("an embedding is trained as PyTorch does") { check_reference<embedding, tw::cpu>(1e-5); }
