struct Counted : Count {
// the block
};
static_assert(tw::authoring::op_info<Counted>.options({}).view() == "counts");
