// labels: asan more
// Elementwise ops at steps and ties, and with NaN and infinities, against PyTorch.
#include "../cases/elementwise.hpp"
#include "../cases/op_checks.hpp"

TEST_CASE("steps, ties, NaN and infinities are as in PyTorch") { check_reference<op_cases::without_steps, tw::cpu>(1e-6); }

TEST_CASE("comparisons and logical ops are as in PyTorch") { check_reference<op_cases::predicates, tw::cpu>(0); }
