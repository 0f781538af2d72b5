// One op of each family, on operands that are views, gives on 64-bit ARM what PyTorch gives, within the tolerances of x86-64.
#include "../run/cases/attention.hpp"
#include "../run/cases/forms.hpp"
#include "../run/cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("elementwise ops and optimisers' updates") { check_reference<views_of_elements, tw::cpu>(1e-5); }
TEST_CASE("products, sums, sorts, normalisations and losses") { check_reference<views_of_lines, tw::cpu>(1e-5); }
TEST_CASE("convolutions, pooling and normalisations of channels") { check_reference<views_of_images, tw::cpu>(1e-5); }
TEST_CASE("gathers, scatters, slices and random numbers") { check_reference<views_at_indices, tw::cpu>(1e-5); }
TEST_CASE("attention in half precision") { check_reference<attentions_in_half, tw::cpu>(0.004); }
