// Lesson 6: outlining.
//
// A member that is called is inlined: its ops become part of the graph that calls it. So a network of a hundred equal layers has
// a hundred times the ops of one, and the compiler plans all of them. Outlining makes the graph of the layer once, by
// `create_graph`, and calls it a hundred times, each time with other weights. The layer is then planned once, and its kernels are
// compiled once.
//
// `add_variable_inputs` gives the module one more set of the layer's variables. `bind` gives the set to the graph, as in
// lesson 3. A network with outlined layers is trained like any other, by the `train_step` of lesson 4.
//
// It prints:
//
//     40 layers have 165 ops inlined, 49 outlined
//     Graph : Outlined_subgraph(0)
//       (%1, first.weight=%2, first.bias=%3, layers.0.linear.weight=%4, ...) -> (%16) {
//         Reshape.100 (%1 [(8, 28, 28) float32]) -> (%10 [(8, 784) float32])
//         MatMul.101 (%10 [(8, 784) float32], %2 [(784, 8) float32]) -> (%11 [(8, 8) float32])
//         Add.102 (%11 [(8, 8) float32], %3 [(8,) float32]) -> (%12 [(8, 8) float32])
//         Call.107(Layer_subgraph(1)) (%12 [(8, 8) float32], %4 [(8, 8) float32], %5 [(8,) float32]) -> (%13 [(8, 8) float32])
//         Call.108(Layer_subgraph(1)) (%13 [(8, 8) float32], %6 [(8, 8) float32], %7 [(8,) float32]) -> (%14 [(8, 8) float32])
//         MatMul.109 (%14 [(8, 8) float32], %8 [(8, 10) float32]) -> (%15 [(8, 10) float32])
//         Add.110 (%15 [(8, 10) float32], %9 [(10,) float32]) -> (%16 [(8, 10) float32])
//       }
//     Graph : Layer_subgraph(1)
//       (%1, %2, %3) -> (%7) {
//         MatMul.103 (%1 [(8, 8) float32], %2 [(8, 8) float32]) -> (%4 [(8, 8) float32])
//         Add.104 (%4 [(8, 8) float32], %3 [(8,) float32]) -> (%5 [(8, 8) float32])
//         Gelu.105 (%5 [(8, 8) float32]) -> (%6 [(8, 8) float32])
//         Add.106 (%1 [(8, 8) float32], %6 [(8, 8) float32]) -> (%7 [(8, 8) float32])
//       }
//
// The layer's graph has no variables: each call gives it others, as %2 and %3. `...` stands for more names.
//
// Try: outline `first` and `last`, too. The network then has 51 ops. That is not worth it: a graph that is called once only adds
// the call.
//
// labels: none
#include <iostream>
#include <tilewright/layers/linear.hpp>
#include <tilewright/model.hpp>

namespace tw = tilewright;
using tw::layers::Linear;

/// x + gelu(x W + b)
struct Layer : tw::Module<Layer> {
  BOOST_HANA_DEFINE_STRUCT(Layer, (Linear<8>, linear));
  constexpr tw::Tensor build(tw::Tensor x) { return x + tw::ops::gelu(linear(x)); }
};

template <std::size_t count>
struct Inlined : tw::Module<Inlined<count>> {
  using Layers = std::array<Layer, count>;
  BOOST_HANA_DEFINE_STRUCT(Inlined, (Linear<8>, first), (Layers, layers), (Linear<10>, last));
  constexpr tw::Tensor build(tw::Tensor images) {
    tw::Tensor x = first(images.reshape({-1, 28 * 28}));
    for (Layer& layer : layers) x = layer(x);  // the variables are layers.0.linear.weight and so on
    return last(x);
  }
};

template <std::size_t count>
struct Outlined : tw::Module<Outlined<count>> {
  BOOST_HANA_DEFINE_STRUCT(Outlined, (Linear<8>, first), (Linear<10>, last));
  constexpr tw::Tensor build(tw::Tensor images) {
    tw::Tensor x = first(images.reshape({-1, 28 * 28}));
    const auto [factories, layer] = tw::create_graph(Layer{}, x);  // one graph
    for (std::size_t i = 0; i < count; ++i) {
      const auto variables = this->add_variable_inputs(tw::text("layers.", i).view(), factories);  // of the same names
      x = layer.bind(variables).call(x);
    }
    return last(x);
  }
};

template <class Net>
constexpr tw::GraphWithNamedArgs graph_of(tw::Ir& ir) {
  return tw::create_graph(ir, Net{}, tw::TensorSpec{{8, 28, 28}, tw::float32}).graph;
}

/// Ops of a network, and of the graphs that it calls.
template <class Net>
constexpr std::size_t count_ops() {
  tw::Ir ir;
  const tw::Graph net = graph_of<Net>(ir).graph();
  std::size_t count = net.op_count();
  for (const tw::Graph& called : net.called_graphs()) count += called.op_count();
  return count;
}

int main() {
  std::cout << "40 layers have " << count_ops<Inlined<40>>() << " ops inlined, " << count_ops<Outlined<40>>() << " outlined\n";
  tw::Ir ir;
  const tw::GraphWithNamedArgs net = graph_of<Outlined<2>>(ir);
  std::cout << net.print_schedule();
  for (const tw::Graph& called : net.graph().called_graphs()) std::cout << print_schedule(called);
}
