// labels: systems
// Training on tiles with memory of their own gives what the fast mode gives.
#include "../../../examples/tutorial/net.hpp"
#include "../../../examples/tutorial/steps.hpp"
#include "run.hpp"

TEST_CASE("steps of the tutorial's training give in strict mode what they give in the fast mode") {
  check_strict<train_step<Net, 8, 28, 28>, tw::ipu_model.with_tiles(64)>(3);
}
