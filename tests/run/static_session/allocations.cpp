// labels: none
// A StaticSession takes no memory from the heap.
#include "../../catch.hpp"
#include "../../support/count_allocations.hpp"
#include "../../support/programs.hpp"
#include "tilewright/session/static_session.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using namespace tw::literals;

namespace {

constexpr tw::Tensor halve(tw::Tensor t) { return t * 0.5; }
/// A loop over a random variable.
constexpr void program(tw::Ir& ir) {
  const tw::Tensor w = ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "w"), x = support::load(ir, "x", {2, 3});
  support::store("y", tw::repeat(ir.create_graph(halve, x), 3, {w * x}));
}
constexpr float ones[2][3] = {{1, 1, 1}, {1, 1, 1}};

}  // namespace

TEST_CASE("initial values and runs of an object allocate nothing") {
  static tw::StaticSession<program> object;
  tw::RunStatus status;
  const int allocations = support::allocations_of([&] {
    status = object.init(1);
    if (status.is_done()) status = object.run();
    if (status.is_done()) status = object.run("x"_s = ones);
  });
  CHECK(status.is_done());
  CHECK(allocations == 0);
  CHECK(support::allocations_of([] { const tw::Session<program> session({.threads = 1}); }) > 0);  // which is counted
}
