#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
constexpr void program(tw::Ir& ir) {
// the block
}
