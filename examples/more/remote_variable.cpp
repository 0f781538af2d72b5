// Variables in streaming memory: one that is loaded, changed and stored; then the weights of four layers, which take turns on
// the machine.
//
// labels: more
// test:
// expect: stream 3, remote 3
// expect: same result as with all weights on the machine: yes
// expect: weights on the machine: 262144 bytes, in phases: 0 bytes and 262144 in streaming memory
// expect-regex: on the simulated IPU: 262144 bytes loaded in a run, [0-9.]+ microseconds
// expect: Graph : load_remote_subgraph(1)
// expect:     RemoteLoad.103 (%1 [() uint32]) -> (%2 [(128, 128) float32])
#include <iostream>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;

/// x + 2 for an x in streaming memory: to the host, and back to where it was.
constexpr void add_two(tw::Ir& ir) {
  const tw::RemoteBuffer buffer = ir.remote_buffer({}, tw::int32);  // room for one number
  ir.remote_variable(tw::full(1), buffer, 0, "x");

  const tw::Tensor y = ops::remote_load(buffer, 0) + 2;
  ops::host_store(ir.d2h_stream("y", y.spec()), y);
  ops::remote_store(buffer, 0, y);
}

constexpr int batch = 8, features = 128, layers = 4;

struct Layer : tw::Module<Layer> {
  constexpr tw::Tensor build(tw::Tensor x) {
    return ops::gelu(x.matmul(add_variable_input("weight", tw::normal(0, 0.1), {features, features})));
  }
};

/// All weights are on the machine.
constexpr void all_at_once(tw::Ir& ir) {
  tw::Tensor x = ops::host_load(ir.h2d_stream("x", {batch, features}));
  const auto [factories, layer] = tw::create_graph(Layer{}, x);
  for (int i = 0; i < layers; ++i) x = layer.bind(factories.init(tw::text("layer", i).view())).call(x);
  ops::host_store(ir.d2h_stream("y", x.spec()), x);
}

/// A buffer has a row for the weight of each layer. One graph loads a row, whose number is a tensor; one graph is the layer.
constexpr void in_phases(tw::Ir& ir) {
  tw::Tensor x = ops::host_load(ir.h2d_stream("x", {batch, features}));
  const auto [factories, layer] = tw::create_graph(Layer{}, x);
  const tw::NamedRemoteBuffers buffers = tw::named_variable_buffers(factories, layers);
  const tw::LoadRemoteGraph load = tw::load_remote_graph(ir, buffers);
  for (int i = 0; i < layers; ++i) {
    factories.init_remote(buffers, i, tw::text("layer", i).view());
    x = layer.bind(load.call(i)).call(x);
  }
  ops::host_store(ir.d2h_stream("y", x.spec()), x);
}

int main() {
  tw::Session<add_two> session;
  const auto y = session.run()["y"_s]();
  std::cout << "stream " << y << ", remote " << session.get_tensor_data("x"_s)() << '\n';

  xt::xtensor<float, 2> x = xt::zeros<float>({batch, features});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7) - 3;
  tw::Session<all_at_once> resident({.seed = 1});
  tw::Session<in_phases> phased({.seed = 1});
  const bool same = resident.run("x"_s = x)["y"_s] == phased.run("x"_s = x)["y"_s];
  std::cout << "same result as with all weights on the machine: " << (same ? "yes" : "no") << '\n';
  std::cout << "weights on the machine: " << resident.plan.memory.variables
            << " bytes, in phases: " << phased.plan.memory.variables << " bytes and " << phased.plan.memory.remote
            << " in streaming memory\n";

  constexpr auto remote = tw::Session<in_phases, tw::ipu_model>::plan.remote;
  std::cout << "on the simulated IPU: " << remote.loaded_bytes << " bytes loaded in a run, "
            << tw::ipu_model.seconds(remote.cycles) * 1e6 << " microseconds\n\n";

  const auto ir = tw::trace(in_phases);  // at run time, to look at it
  for (const tw::Graph& called : ir->main_graph().called_graphs()) std::cout << print_schedule(called);
}
