struct Net;
template <class Model, int batch, int... image>
constexpr void train_step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("image", {batch, image...}));
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {batch}, tw::int32));
  tw::ops::host_store(ir.d2h_stream("y", {batch, image...}), x + 1);
  tw::ops::host_store(ir.d2h_stream("z", {batch}, tw::int32), labels);
}
