// A program that is too large for its machine.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

struct Linear : tw::Module<Linear> {
  constexpr tw::Tensor build(tw::Tensor x) { return x.matmul(add_variable_input("weight", tw::zeros(), {1024, 1024})); }
};
constexpr void test_step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {8, 1024}));
  const auto [factories, forward] = tw::create_graph(Linear{}, images);
  const tw::Tensor outputs = forward.bind(factories.init("fc1")).call(images);
  tw::ops::host_store(ir.d2h_stream("outputs", outputs.spec()), outputs);
}
tw::Session<test_step, tw::ipu_model> fits;

// CASE few_tiles
// expect: memory: tile 0 of 4 needs
// expect: bytes: at most 638976 expected; largest tensors: fc1.weight (1024, 1024) float32 4194304 bytes
// expect: test_step
tw::Session<test_step, tw::ipu_model.with_tiles(4)> few_tiles;

// CASE small_tiles
// expect: memory: tile 0 of 1472 needs
// expect: bytes: at most 2000 expected; largest tensors: fc1.weight (1024, 1024) float32 4194304 bytes
// expect: test_step
tw::Session<test_step, tw::ipu_model.with_bytes_per_tile(2000)> small_tiles;
