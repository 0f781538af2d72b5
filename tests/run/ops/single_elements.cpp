// labels: asan more
// Each kind of op on tensors of one element and along axes of one, and with indices of other dtypes, against PyTorch.
#include "../cases/forms.hpp"
#include "../cases/op_checks.hpp"

using namespace op_cases;

TEST_CASE("ops on few elements agree with PyTorch") {
  check_reference<few_elements, tw::cpu>(1e-5);
  check_reference<lines_of_one, tw::cpu>(1e-5);
  check_reference<images_of_one, tw::cpu>(1e-5);
  check_reference<indices_of_one, tw::cpu>(1e-5);
}
TEST_CASE("labels, regions and seeds take all dtypes of indices") { check_reference<other_index_dtypes, tw::cpu>(1e-5); }
TEST_CASE("half precision is resized without a cast") {
  check_reference<interpolated_halves, tw::cpu>(1e-3);  // rounding is up to 2^-11
}
TEST_CASE("ops_forms.txt and the programs have the same cases") {
  check_same_cases("ops_forms.txt", {views_of_elements, views_of_lines, views_of_images, views_at_indices, few_elements,
                                     lines_of_one, images_of_one, indices_of_one});
}
