#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
constexpr void program(tw::Ir& ir) {
  const auto weight = ir.variable(tw::zeros(), {4}, tw::float8_143, "weight");
  tw::ops::host_store(ir.d2h_stream("weight_again", {4}, tw::float8_143), weight);
}
inline void write(tw::Session<program>& session, const std::vector<float>& weights) {
// the block
}
