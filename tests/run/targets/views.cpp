// labels: asan more strict
// Each kind of op with operands that are views, on the host, on three tiles and on the IPU model, against PyTorch.
#include "../cases/forms.hpp"
#include "../cases/op_checks.hpp"

namespace {
template <tw::Target target>
void check_views() {
  check_reference<op_cases::views_of_elements, target>(1e-5);
  check_reference<op_cases::views_of_lines, target>(1e-5);
  check_reference<op_cases::views_of_images, target>(1e-5);
  check_reference<op_cases::views_of_resized_images, target>(1e-5);
  check_reference<op_cases::views_at_indices, target>(1e-5);
}
}  // namespace

TEST_CASE("views as operands agree with PyTorch on the host") { check_views<tw::cpu>(); }
TEST_CASE("views as operands agree with PyTorch on three tiles") { check_views<tw::cpu.with_tiles(3)>(); }
TEST_CASE("views as operands agree with PyTorch on the IPU model") { check_views<tw::ipu_model>(); }
TEST_CASE("random numbers do not depend on tiles") {
  check_reference<op_cases::some_random_numbers, tw::cpu.with_tiles(3)>(0);
  check_reference<op_cases::some_random_numbers, tw::ipu_model>(0);
}
