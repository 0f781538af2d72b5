#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "tilewright/data/dataset.hpp"
#include "tilewright/data/idx.hpp"

namespace tilewright {

/// MNIST's two parts: 60,000 images to train with and 10,000 to test with.
enum class Split { train, test };

namespace detail {

/// folder/name or folder/name.gz, whichever is there; the plain file first.
inline std::filesystem::path find_mnist_file(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;  // a folder that cannot be searched is one that lacks the file
  if (!std::filesystem::is_directory(folder, error))
    throw DataError("load_mnist", folder, "no such folder", "the folder that holds the MNIST files");
  for (const std::string& candidate : {name, name + ".gz"})
    if (std::filesystem::exists(folder / candidate, error)) return folder / candidate;
  throw DataError("load_mnist", folder, "neither " + name + " nor " + name + ".gz", "one of them");
}

}  // namespace detail

/// Loads one part of MNIST from a folder that holds its IDX files under their published names, plain or with .gz.
/// Returns images [count, 28, 28] float32, normalised as (pixel / 255 - 0.1307) / 0.3081 with the mean and standard
/// deviation of the training set, and labels [count] int32 in 0 to 9, both in the files' order.
/// Throws DataError when a file is missing or bad (see read_idx), when images are not 28 x 28, when the files hold
/// different counts, and when a label is above 9.
///
///     const tw::Dataset train = tw::load_mnist("data/mnist", tw::Split::train);
inline Dataset load_mnist(const std::filesystem::path& folder, Split split) {
  const std::string prefix = split == Split::train ? "train" : "t10k";
  const auto images_path = detail::find_mnist_file(folder, prefix + "-images-idx3-ubyte");
  const auto labels_path = detail::find_mnist_file(folder, prefix + "-labels-idx1-ubyte");

  // The short file first: what is wrong with it is known at once.
  const auto labels = read_idx<1>(labels_path);
  const auto too_large = std::ranges::find_if(labels.storage(), [](std::uint8_t label) { return label > 9; });
  if (too_large != labels.storage().end())
    throw DataError("load_mnist", labels_path,
                     "label " + std::to_string(*too_large) + " at index " +
                         std::to_string(too_large - labels.storage().begin()),
                     "labels 0 to 9");

  const auto images = read_idx<3>(images_path);
  const std::size_t height = images.shape(1), width = images.shape(2);
  if (height != 28 || width != 28)
    throw DataError("load_mnist", images_path,
                     "images of " + std::to_string(height) + " x " + std::to_string(width), "28 x 28");
  if (images.shape(0) != labels.shape(0))
    throw DataError("load_mnist", images_path, std::to_string(images.shape(0)) + " images",
                     std::to_string(labels.shape(0)) + ", one for each label in " + labels_path.string());

  auto result = Dataset{xt::xtensor<float, 3>::from_shape(images.shape()),
                        xt::xtensor<std::int32_t, 1>::from_shape(labels.shape())};
  std::ranges::transform(images.storage(), result.images.data(), mnist_normalised);
  std::ranges::copy(labels.storage(), result.labels.data());
  return result;
}

}  // namespace tilewright
