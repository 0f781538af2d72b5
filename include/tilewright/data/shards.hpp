#pragma once
#include <cstddef>

namespace tilewright::data::detail {

/// Whether a batch is cut into equal runs, and these into equal shards. Their product may have more than 64 bits.
constexpr bool divide(std::size_t shards, std::size_t runs, std::size_t batch_size) {
  return shards > 0 && runs > 0 && batch_size % shards == 0 && batch_size / shards % runs == 0;
}

}  // namespace tilewright::data::detail
