// labels: none
// Gradients of layers of odd widths, on tiles that do not divide them, in strict mode: each vertex finds what it reads.
#include "../../catch.hpp"
#include "tilewright/execute/strict_executor.hpp"
#include "tilewright/layers/layers.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace layers = tw::layers;

namespace {

/// A call of the layer, and of its gradient graph with ones for the gradient of output 0.
template <class Layer, tw::Shape shape>
constexpr void gradients(tw::Ir& ir) {
  const auto x = ir.variable(tw::normal(0, 1), shape, tw::float32, "x");
  const auto [factories, graph] = tw::create_graph(ir, Layer{}, x.spec());
  const auto backward = tw::autodiff(graph, {.grads_provided = {{graph.graph().output(0)}}});
  const auto call = graph.bind(factories.init()).call_with_info(x);
  const auto dy = ir.constant(tw::ones(), call.output(0).shape());
  const tw::Outputs results = backward.call(dy, backward.grad_graph_info().inputs_dict(call));
  tw::ops::host_store(ir.d2h_stream("dx", results[0].spec()), results[0]);
}
/// An LSTM of sequences of different lengths, in both directions; 4 steps, batches of 2.
struct Packed : tw::Module<Packed> {
  using Lstm = layers::LSTM<5, {.bidirectional = true}>;
  BOOST_HANA_DEFINE_STRUCT(Packed, (Lstm, lstm));
  constexpr tw::Tensor build(tw::Tensor x) { return std::get<0>(lstm(x, x.ir().constant(tw::values({4, 2}), {2}, tw::int32))); }
};
template <class Layer, tw::Shape shape, int tiles>
void check() {
  tw::Session<gradients<Layer, shape>, tw::ipu_model.with_tiles(tiles)> session({.threads = 1, .strict = true});
  CHECK_NOTHROW(session.run());
}

}  // namespace

TEST_CASE("recurrent layers of odd widths") {
  check<layers::LSTM<9>, {{1, 1, 1}}, 3>();
  check<layers::LSTM<9>, {{1, 2, 1}}, 3>();
  check<layers::LSTM<9>, {{2, 2, 3}}, 7>();
  check<layers::GRU<5>, {{2, 3, 3}}, 7>();
  check<Packed, {{2, 4, 3}}, 7>();
}
TEST_CASE("other layers of odd widths") {
  check<layers::Linear<7>, {{3, 5}}, 7>();
  check<layers::LayerNorm<>, {{5, 9}}, 7>();
  check<layers::GroupNorm<3>, {{2, 9, 5}}, 7>();
  check<layers::Conv2d<5, 3>, {{1, 3, 7, 5}}, 3>();
}
