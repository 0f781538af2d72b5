// labels: arm
// A trace at run time makes the graphs that the compiler's trace makes.
#include <array>
#include <sstream>
#include <string_view>

#include "../../../examples/tutorial/steps.hpp"
#include "../../static/programs/models.hpp"
#include "../../support/elements.hpp"

namespace {

constexpr tw::Text print_graphs(tw::Ir& ir) {
  tw::Text result;
  for (std::size_t graph = 0; graph < ir.tables.graphs.size(); ++graph)
    result += tw::print_schedule(ir.graph(tw::GraphId(graph)));
  return result;
}
template <auto build>
constexpr tw::Text print_trace() {
  tw::Ir ir;
  build(ir);
  return print_graphs(ir);
}
template <auto build>
constexpr auto compiled_print = [] {
  std::array<char, print_trace<build>().size()> characters{};
  std::ranges::copy(print_trace<build>().view(), characters.begin());
  return characters;
}();

template <auto build>
void check() {
  const auto ir = tw::trace(build);
  const std::string_view compiled(compiled_print<build>.data(), compiled_print<build>.size());
  CHECK(print_graphs(*ir).view() == compiled);
  CHECK(compiled.find("_bwd") != compiled.npos);
}

}  // namespace

TEST_CASE("a program traced at run time is the program the compiler sees") {
  check<train_step<Net, 8, 28, 28>>();
  check<train_step<NetOutlined, 8, 28, 28>>();
}

TEST_CASE("ids of graphs and tensors are compared and printed as numbers") {
  tw::Ir ir;
  const tw::Tensor x = ir.variable(tw::zeros(), {2}, tw::float32, "x"), y = x + x;
  CHECK(ir.main_graph().id() == tw::GraphId::main);
  CHECK(x.number() < y.number());
  std::ostringstream printed;
  printed << x.graph_id() << " " << x.number() << " " << y.number() << " " << tw::Tensor().number();
  CHECK(printed.str() == "0 0 1 -1");
}
