// the block
constexpr void program(tw::Ir& ir) {
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {8, 8}));
  const auto f = ir.create_graph([](tw::Tensor a) { return row_norm(swish(a, 2) + squared_difference(a, diagonal(a))); }, x);
  const auto gradient = tw::autodiff(f);
  const auto call = tw::call_with_info(f, {x});
  const tw::Tensor dx = tw::call_with_info(gradient.graph(), {call.output(0)}, gradient.inputs_dict(call)).output(0);
  const auto [low, high] = extremes(clip_(dx, 0.5));
  tw::ops::host_store(ir.d2h_stream("low", {}), low);
  tw::ops::host_store(ir.d2h_stream("high", {}), high);
}
inline auto run_it(tw::Session<program>& session, const xt::xtensor<float, 2>& x) { return session.run("x"_s = x); }
