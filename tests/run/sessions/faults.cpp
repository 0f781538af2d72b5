// labels: asan clang tsan ubsan
// Values that an op cannot compute with: the run ends, and throws with the op's name and its place in the model.
#include <limits>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using namespace tw::literals;

namespace {

constexpr int lowest = std::numeric_limits<int>::min();

struct Quotient : tw::Module<Quotient> {
  constexpr tw::Tensor build(tw::Tensor x, tw::Tensor y) { return (x + 1) / (y * 2) + 3; }
};
struct Outer : tw::Module<Outer> {
  BOOST_HANA_DEFINE_STRUCT(Outer, (Quotient, quotient));
  constexpr tw::Tensor build(tw::Tensor x, tw::Tensor y) { return quotient(x, y); }
};
template <int elements>
constexpr void divide(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {elements}, tw::int32));
  const auto y = tw::ops::host_load(ir.h2d_stream("y", {elements}, tw::int32));
  const auto count = ir.variable(tw::zeros(), {}, tw::int32, "count");
  const auto [factories, graph] = tw::create_graph(Outer{}, x, y);
  tw::ops::host_store(ir.d2h_stream("in module", {elements}, tw::int32), graph.bind(factories.init()).call(x, y));
  tw::ops::host_store(ir.d2h_stream("plain", {elements}, tw::int32), x / y);
  tw::ops::scaled_add_(count, ir.constant(1, tw::int32));
}

/// What a run throws; empty if nothing.
std::string fault_of(auto& session, const std::vector<int>& x, const std::vector<int>& y) {
  try {
    session.run("x"_s = x, "y"_s = y);
  } catch (const tw::FaultError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("integers are divided as in C, and the least one by -1 wraps around") {
  tw::Session<divide<4>> session;
  const auto outputs = session.run("x"_s = std::vector<int>{7, -9, 4, lowest}, "y"_s = std::vector<int>{2, 4, -3, -1});
  const auto plain = outputs["plain"_s], in_module = outputs["in module"_s];
  CHECK(std::vector<int>(plain.begin(), plain.end()) == std::vector<int>{3, -2, -1, lowest});
  CHECK(std::vector<int>(in_module.begin(), in_module.end()) == std::vector<int>{5, 2, 3, (lowest + 1) / -2 + 3});
}

TEST_CASE("a division by 0 ends the run with the op, its place and a count") {
  tw::Session<divide<4>> session;
  CHECK(fault_of(session, {1, 2, 3, 4}, {1, 0, 1, 1}) ==
        "Div: divisor 0: a number other than 0 expected, in Outer_subgraph(0)/quotient; faults of other ops: 1");
  CHECK(fault_of(session, {1, 2, 3, 4}, {0, 0, 1, 0}) ==
        "Div: divisor 0 (and 2 more): a number other than 0 expected, in Outer_subgraph(0)/quotient; faults of other ops: 1");
  CHECK(fault_of(session, {1, 2, 3, 4}, {1, 1, 1, 1}).empty());  // nothing is left of the faults before
  CHECK(session.get_tensor_data("count"_s)() == 3);               // runs with faults go on to their end
}

TEST_CASE("faults of all workers are counted") {
  constexpr int elements = 4096;
  for (const int threads : {1, 2, 3}) {
    tw::Session<divide<elements>> session({.threads = threads});
    const std::vector<int> x(elements, 1), y(elements, 0);
    CHECK(fault_of(session, x, y) ==
          "Div: divisor 0 (and 4095 more): a number other than 0 expected, in "
          "Outer_subgraph(0)/quotient; faults of other ops: 1");
  }
}

namespace {
constexpr void divide_floats(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2}));
  tw::ops::host_store(ir.d2h_stream("y", {2}), x / ir.constant(0.0));
}
static_assert(tw::Session<divide_floats>::plan.fault_sites.empty(), "floats have infinities for it");
static_assert(tw::Session<divide<4>>::plan.fault_sites.size() == 2, "one for each division");
}  // namespace
