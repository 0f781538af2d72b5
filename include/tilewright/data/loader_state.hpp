#pragma once
#include <boost/hana/adapt_struct.hpp>
#include <cstdint>

namespace tilewright::data {

/// Where a loader is: what it takes to go on with the same batches in another process.
struct LoaderState {
  std::uint64_t seed = 0;   ///< decides the order of every epoch
  std::uint64_t epoch = 0;  ///< the number of epochs before this one
  std::uint64_t batch = 0;  ///< the number of this epoch's batches that were handed out
  std::uint64_t batch_size = 0, images = 0;  ///< of the loader, and the samples of its data set: to find out where they differ
  bool shuffle = false;                      ///< likewise
  bool operator==(const LoaderState&) const = default;
};

}  // namespace tilewright::data

BOOST_HANA_ADAPT_STRUCT(tilewright::data::LoaderState, seed, epoch, batch, batch_size, images, shuffle);
