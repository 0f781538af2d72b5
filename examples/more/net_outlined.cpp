// Outlining: fc2 and fc3 are calls of one graph, which is stored, planned and compiled once.
//
// labels: more
// test:
// expect: fc1.weight, fc1.bias, fc4.weight, fc4.bias, fc2.weight, fc2.bias, fc3.weight, fc3.bias
// expect: Call.106(Linear_subgraph(1)) (%13 [(1, 512) float32], %4 [(512, 512) float32], %5 [(512,) float32]) -> (%14
// expect: Call.108(Linear_subgraph(1)) (%15 [(1, 512) float32], %6 [(512, 512) float32], %7 [(512,) float32]) -> (%16
// expect: Graph : Linear_subgraph(1)
#include <iostream>

#include "../tutorial/net.hpp"

int main() {
  tw::Ir ir;
  const auto [factories, net] = tw::create_graph(ir, NetOutlined{}, tw::TensorSpec{{28, 28}, tw::float32});
  std::vector<tw::Text> names;
  for (const auto& [name, factory] : factories.to_dict()) names.push_back(name);
  std::cout << join(names, ", ") << "\n\n" << net.print_schedule() << '\n';
  for (const tw::Graph& called : net.graph().called_graphs()) std::cout << print_schedule(called);
}
