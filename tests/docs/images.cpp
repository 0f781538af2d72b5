#include <tilewright/layers/linear.hpp>
// the block
constexpr bool has_gradients = [] {
  tw::Ir ir;
  const auto [factories, net] = tw::create_graph(ConvNet{}, ir.constant({0}, {8, 1, 28, 28}));
  const tw::Shape result = net.graph().output(0).shape();
  return result == tw::Shape{8, 10} && tw::autodiff(net).graph().outputs().size() == 9;
}();
static_assert(has_gradients);
