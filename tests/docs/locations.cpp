constexpr bool locate() {
  tw::Ir ir;
// the block
  return info.location == tw::TensorLocation{tw::TensorStorage::OffChip, tw::ReplicatedTensorSharding::Off} && info.row == 2 &&
         info.remote_buffer == buffer && here == tw::TensorLocation();
}
static_assert(locate());
