namespace ops = tw::ops;
constexpr int features = 16;
constexpr void program(tw::Ir& ir) {
  const tw::Tensor c = ops::host_load(ir.h2d_stream("c", {features}));
  const tw::RemoteBuffer buffer = ir.remote_buffer({features}, tw::float32, 3);
// the block
  ops::host_store(ir.d2h_stream("y", a.spec()), a + b);
}
