namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
constexpr void program(tw::Ir& ir) {
  ir.set_replication_factor(4);
  const tw::Tensor x = ops::host_load(ir.h2d_stream("x", {2, 4}));
  [[maybe_unused]] const tw::Tensor count = ops::sum(ops::cast(ops::greater(x, 0), tw::float32));
  const tw::Tensor weight = ir.variable(tw::zeros(), {4}, tw::float32, "weight");
  [[maybe_unused]] const tw::Tensor gradient = ops::mean(x * weight, {0});
  [[maybe_unused]] const tw::Tensor seen = ir.variable(tw::zeros(), {}, tw::float32, "seen");
  const tw::Tensor running_mean = ir.variable(tw::zeros(), {4}, tw::float32, "running_mean");
  ops::accumulate_moving_average_(tw::differs_by_replica(running_mean), ops::mean(x, {0}), 0.9);
// the block
}
inline const tw::Session<program> session;
