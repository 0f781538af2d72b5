// the block
constexpr bool traces = [] {
  tw::Ir ir;
  train(ir);
  return ir.main_graph().variables().size() > 8;
}();
static_assert(traces);
