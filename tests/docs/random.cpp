namespace ops = tw::ops;
/// A seed that is a constant, as in programs that need no other numbers in the next step.
constexpr tw::Tensor constant_seed(tw::Ir& ir) { return ir.constant({0, 42}, {2}, tw::uint32); }
