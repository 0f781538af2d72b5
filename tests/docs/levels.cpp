constexpr void print_by_level(tw::Ir& ir) {
  const tw::Tensor x = ir.constant(1);
// the block
}
inline const tw::Program<print_by_level> program_with_levels;
