// Programs on several simulated IPUs, and on IO tiles, on tiles with memory of their own.
#include "../support/ipu_programs.hpp"
#include "strict_run.hpp"

namespace {

using namespace ipu_programs;

inline constexpr tw::Target three_ipus = tw::gc200.with_tiles(5).with_ipus(3), two_ipus = tw::gc200.with_tiles(40).with_ipus(2);
inline constexpr tw::Target with_io = tw::gc200.with_tiles(40).with_io_tiles(32);

}  // namespace

TEST_CASE("pipelines on simulated IPUs give in strict mode what they give in the fast mode") {
  check_strict<inference<true>, three_ipus>();
  check_strict<training<true>, two_ipus>();
  check_strict<training<true>, two_ipus.with_io_tiles(32)>(1);
}
TEST_CASE("collectives between simulated IPUs give in strict mode what they give in the fast mode") {
  check_strict<reductions, three_ipus>(1);
  check_strict<gradients, three_ipus>(1);
}
TEST_CASE("IO tiles give in strict mode what they give in the fast mode") { check_strict<on_io_tiles, with_io>(); }
