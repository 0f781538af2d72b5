struct AnyOrder : Count {
// the block
};
static_assert(tw::host_rules_of(tw::authoring::op_info<AnyOrder>).any_result_layout);
