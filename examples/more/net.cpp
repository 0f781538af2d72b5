// Nested modules are inlined: every layer has ops of its own, and names come from the members' names.
//
// labels: more
// test:
// expect: fc1.weight, fc1.bias, fc2.weight, fc2.bias, fc3.weight, fc3.bias, fc4.weight, fc4.bias
// expect: (%1, fc1.weight=%2, fc1.bias=%3, fc2.weight=%4, fc2.bias=%5,
// expect: fc3.weight=%6, fc3.bias=%7, fc4.weight=%8, fc4.bias=%9) -> (%21)
// expect:     Reshape.100 (%1 [(28, 28) float32]) -> (%10 [(1, 784) float32])
// expect:     Gelu.109 (%18 [(1, 512) float32]) -> (%19 [(1, 512) float32])
// expect:     Add.111 (%20 [(1, 10) float32], %9 [(10,) float32]) -> (%21 [(1, 10) float32])
#include "../tutorial/net.hpp"

#include <iostream>

int main() {
  tw::Ir ir;
  const auto [factories, net] = tw::create_graph(ir, Net{}, tw::TensorSpec{{28, 28}, tw::float32});
  std::vector<tw::Text> names;
  for (const auto& [name, factory] : factories.to_dict()) names.push_back(name);
  std::cout << join(names, ", ") << "\n\n" << net.print_schedule();
}
