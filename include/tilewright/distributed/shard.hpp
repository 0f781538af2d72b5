#pragma once
#include <algorithm>
#include <cstddef>

#include "tilewright/data/loader.hpp"
#include "tilewright/distributed/processes.hpp"
#include "tilewright/graph/records.hpp"

namespace tilewright::distributed {

/// Returns the options of a loader, or of text batches, for this process's part of all batches. With one seed on all processes,
/// they share each batch, and all have the same number of batches. `options.batch_size` is that of a whole batch, for all
/// replicas.
///
///     tw::data::Loader loader(digits.train, tw::distributed::shard(session, {.batch_size = 32, .shuffle = true}));
///     tw::data::TextBatchesOptions options{.batch_size = 12, .context = 64};
///     tw::data::TextBatches batches(corpus.training, tw::distributed::shard(session, options));
template <class Session, class Options = data::LoaderOptions>
  requires requires(Options options) { options.shards = options.shard = options.runs; }
[[nodiscard]] Options shard(const Session&, Options options) {
  options.shards = static_cast<std::size_t>(Processes::world().count());
  options.shard = static_cast<std::size_t>(Processes::world().rank());
  for (const auto& stream : Session::plan.streams)
    if (stream.used && stream.direction == StreamDirection::host_to_device)
      options.runs = (std::max)(options.runs, static_cast<std::size_t>(stream.transfers));
  return options;
}

}  // namespace tilewright::distributed
