struct RowNormWithEpilogue : tw::authoring::Op<RowNormWithEpilogue> {
  static constexpr std::string_view name = "RowNormWithEpilogue";
  constexpr operator tw::authoring::KernelOperands() const { return tw::authoring::KernelOperands{.any_layout = true}; }
  static constexpr void infer(tw::authoring::Inference& op) { RowNorm::infer(op); }
  static constexpr tw::authoring::Work work(std::span<const tw::TensorSpec> operands, int inputs,
                                            const tw::authoring::PackedAttributes& attributes) {
    return RowNorm::work(operands, inputs, attributes);
  }
  template <tw::authoring::PackedAttributes attributes, class X, class Y>
  static void compute(X x, Y y) {
    RowNorm::compute<attributes>(x, y);
  }
// the block
};
constexpr void program(tw::Ir& ir) {
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {8, 16}));
  tw::ops::host_store(ir.d2h_stream("y", {8}), tw::ops::gelu(tw::authoring::apply<RowNormWithEpilogue>({x}) + 1));
}
inline auto run_it(tw::Session<program>& session, const xt::xtensor<float, 2>& x) { return session.run("x"_s = x); }
