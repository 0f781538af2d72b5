// The report of a training step of the tutorial's network on an IPU: what each tile has in memory, what is exchanged, and the
// cycles of each step. `./dev report mnist` builds and runs it.
#include <iostream>

#include "tilewright/profile/make_profile.hpp"
#include "tilewright/profile/print_profile.hpp"
#include "tilewright/profile/write_report.hpp"
#include "tilewright/tilewright.hpp"
#include "tutorial/net.hpp"
#include "tutorial/steps.hpp"

int main(int argc, char** argv) {
  const tw::Profile profile = tw::profile(train_step<Net, 8, 28, 28>, tw::gc200, "a training step of mnist");
  std::cout << profile;
  if (argc > 1) tw::write_report(argv[1], profile);
}
