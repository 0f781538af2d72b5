constexpr void program(tw::Ir& ir) {
  const tw::Tensor weight = ir.variable(tw::zeros(), {2}, tw::float32, "weight"), step = ir.constant({1, 2}, {2});
// the block
}
inline const tw::Session<program> session;
