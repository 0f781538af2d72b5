constexpr bool print_by_level() {
  tw::Ir ir;
  const tw::Tensor x = ir.constant(1);
// the block
  return true;
}
static_assert(print_by_level());
