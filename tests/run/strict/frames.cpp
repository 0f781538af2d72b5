// labels: more
// Frames of simulated IPUs: the bytes that a plan states are those that runs in strict mode write.
#include "painted_frames.hpp"

using namespace frame_programs;
using painted::check_frames;

TEST_CASE("graphs that are called, and their gradients") {
  check_frames<calls<false>>();
  check_frames<calls<true>>();
}
TEST_CASE("a loop") { check_frames<loop>(); }
TEST_CASE("replicas") {
  check_frames<replicas<tw::float32>>();
  check_frames<replicas<tw::float16>>();
  check_frames<replicas<tw::float64>>();
}
TEST_CASE("remote memory") { check_frames<remote>(); }
TEST_CASE("two IPUs") { check_frames<two_ipus, small_ipu.with_ipus(2)>(); }
TEST_CASE("views") { check_frames<views>(); }
TEST_CASE("norms") { check_frames<norm>(); }
