#pragma once
#include <cstddef>

namespace tilewright::data::detail {

/// Returns whether a batch divides into equal runs, and each run into equal shards. The product of their numbers may exceed 64
/// bits.
constexpr bool divide(std::size_t shards, std::size_t runs, std::size_t batch_size) {
  return shards > 0 && runs > 0 && batch_size % shards == 0 && batch_size / shards % runs == 0;
}

}  // namespace tilewright::data::detail
