constexpr void program(tw::Ir& ir) {
  ir.set_replication_factor(4);
// the block
}
inline const tw::Session<program> session;
