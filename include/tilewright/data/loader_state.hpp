#pragma once
#include <boost/hana/adapt_struct.hpp>
#include <cstdint>

namespace tilewright::data {

/// Position of a loader. Another process can continue with the same batches from it.
struct LoaderState {
  std::uint64_t seed = 0;  ///< determines the order of every epoch
  std::uint64_t epoch = 0;  ///< number of epochs before this one
  std::uint64_t batch = 0;  ///< number of batches of this epoch that were returned
  std::uint64_t batch_size = 0, images = 0;  ///< of the loader, and the samples of its data set, to detect differences
  bool shuffle = false;  ///< of the loader, to detect differences
  bool operator==(const LoaderState&) const = default;
};

}  // namespace tilewright::data

BOOST_HANA_ADAPT_STRUCT(tilewright::data::LoaderState, seed, epoch, batch, batch_size, images, shuffle);
