// labels: none
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
// expect: bytes: at most 638976 expected; variables 1048576, constants 0, frame
// expect: , stack 1280, reserve 8192; largest tensors:
// expect: ; largest tensors: fc1.weight (1024, 1024) float32 1048576 bytes, fc1.weight (1024, 1024) float32 262144 bytes
// expect: test_step
tw::Session<test_step, tw::ipu_model.with_tiles(4)> few_tiles;

// CASE small_tiles
// expect: memory: tile 0 of 1472 needs
// expect: bytes: at most 2000 expected; variables
// expect: test_step
tw::Session<test_step, tw::ipu_model.with_bytes_per_tile(2000)> small_tiles;

// CASE fifth_tensor
// expect: ; largest tensors: v6 (7168,) float32 7168 bytes, v5 (6144,) float32 6144 bytes, v4 (5120,) float32 5120 bytes,
// expect: , v4 (5120,) float32 5120 bytes, v3 (4096,) float32 4096 bytes, v2 (3072,) float32 3072 bytes"
constexpr void seven_variables(tw::Ir& ir) {
  for (int i = 0; i < 7; ++i) {
    const tw::Tensor v = ir.variable(tw::zeros(), {1024 * (i + 1)}, tw::float32, tw::text("v", i).view());
    tw::ops::host_store(ir.d2h_stream(tw::text("y", i).view(), {}), v[0]);
  }
}
tw::Session<seven_variables, tw::ipu_model.with_tiles(4).with_bytes_per_tile(4000)> fifth_tensor;
