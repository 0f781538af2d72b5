// labels: more
// Frames of simulated IPUs in strict mode, for programs of the examples and for random programs.
#include "../../../examples/gpt/steps.hpp"
#include "../../../examples/more/heat_equation.hpp"
#include "../../../examples/tutorial/net.hpp"
#include "../../../examples/tutorial/steps.hpp"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#include "../../random_programs/program.hpp"
#pragma GCC diagnostic pop
#include "painted_frames.hpp"

using frame_programs::small_ipu;
using painted::check_frames;

namespace {

constexpr heat::HeatEquation plate{.blocks = {3, 5}, .block = {8, 6}, .steps = 4};
constexpr heat::HeatEquation cuboid{.blocks = {2, 3, 2}, .block = {4, 3, 5}, .ipus = 2, .steps = 4};
constexpr gpt::Size small{.vocabulary = 11, .context = 8, .layers = 1, .heads = 2, .width = 16};

template <std::uint64_t seed, bool gradients = false>
constexpr void random_program(tw::Ir& ir) {
  random_programs::add_program(ir, seed, "s.", {.gradients = gradients});
}

}  // namespace

TEST_CASE("the tutorial's training and test") {
  check_frames<train_step<Net, 8, 28, 28>>();
  check_frames<test_step<Net, 8, 28, 28>>();
}
TEST_CASE("heat equations in two and three dimensions, on two IPUs") {
  check_frames<plate>();
  check_frames<cuboid, small_ipu.with_ipus(2)>();
}
TEST_CASE("a language model writes") { check_frames<gpt::generate_step<small>>(); }
TEST_CASE("random programs") {
  check_frames<random_program<1>>();
  check_frames<random_program<2>>();
  check_frames<random_program<3>>();
  check_frames<random_program<4>>();
  check_frames<random_program<1, true>>();
  check_frames<random_program<2, true>>();
}
