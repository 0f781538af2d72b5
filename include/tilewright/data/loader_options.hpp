#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/core/flag.hpp"

namespace tilewright::data {

/// Options of a Loader. `batch_size`, `shuffle` and `drop_last` are those of torch.utils.data.DataLoader, where `drop_last` is
/// false by default.
struct LoaderOptions {
  std::size_t batch_size = 1;  ///< samples in a batch
  Flag shuffle = false;  ///< whether each epoch has a new order; otherwise the data set's order
  Flag drop_last = true;  ///< whether to skip the last samples if they do not fill a batch; otherwise the last batch is smaller
  std::uint64_t seed = 0;  ///< determines the orders of all epochs, on every platform
  Flag prefetch = true;  ///< whether another thread prepares batches ahead if a core is free; batches do not change
  std::size_t shards = 1;  ///< loaders that share each batch, for example one per process; each returns its shard of the batch
  std::size_t shard = 0;  ///< index of this loader's shard
  std::size_t runs = 1;  ///< equal runs of samples in a batch, such as micro-batches; the shards divide each run
};

}  // namespace tilewright::data
