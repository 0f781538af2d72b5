#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "tilewright/data/dataset.hpp"
#include "tilewright/data/idx.hpp"

namespace tilewright::data {

namespace detail {

/// Returns folder/name or folder/name.gz, whichever exists; the plain file takes precedence.
inline std::filesystem::path find_mnist_file(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  const auto status = std::filesystem::status(folder, error);
  if (status.type() == std::filesystem::file_type::none)
    throw DataError("load_mnist", folder, "a path that cannot be reached (" + error.message() + ")", "the MNIST files' folder");
  if (!std::filesystem::is_directory(status)) throw DataError("load_mnist", folder, "no such folder", "the MNIST files' folder");
  for (const auto& path : {folder / name, folder / (name + ".gz")})
    if (std::filesystem::exists(path, error)) return path;
  throw DataError("load_mnist", folder, "neither " + name + " nor " + name + ".gz", "one of them");
}

inline Dataset load_mnist_part(const std::filesystem::path& folder, const std::string& prefix) {
  const auto images_path = find_mnist_file(folder, prefix + "-images-idx3-ubyte");
  const auto labels_path = find_mnist_file(folder, prefix + "-labels-idx1-ubyte");
  const auto images = read_idx<3>(images_path);
  const auto labels = read_idx<1>(labels_path);
  if (images.shape(1) != 28 || images.shape(2) != 28)
    throw DataError("load_mnist", images_path,
                    "images of " + std::to_string(images.shape(1)) + " x " + std::to_string(images.shape(2)), "28 x 28");
  if (images.shape(0) != labels.size())
    throw DataError("load_mnist", images_path,
                    std::to_string(images.shape(0)) + " images for " + std::to_string(labels.size()) + " labels",
                    "one label for each image");
  if (labels.size() == 0) throw DataError("load_mnist", images_path, "no images", "at least one");
  if (const auto largest = std::max_element(labels.data(), labels.data() + labels.size()); *largest > 9)
    throw DataError("load_mnist", labels_path, "label " + std::to_string(*largest), "labels from 0 to 9");

  auto result = with_memory(
      "load_mnist", [&] { return images_path.string() + ": " + std::to_string(labels.size()) + " images"; },
      images.size() * sizeof(float), [&] { return Dataset(labels.size(), 28, 28); });
  std::transform(images.data(), images.data() + images.size(), result.images.data(), normalised);
  std::copy_n(labels.data(), labels.size(), result.labels.data());
  return result;
}

}  // namespace detail

/// Loads MNIST from a folder that holds its four IDX files under their published names, plain or with .gz. Images are (count, 28,
/// 28) float32, normalised as (grey / 255 - 0.1307) / 0.3081; labels are int32 from 0 to 9. Both are in the order of the files:
/// 60,000 for training and 10,000 for testing. Throws DataError if a file is missing or invalid (see read_idx), or if the files
/// do not fit each other.
///
///     const tw::data::Digits digits = tw::data::load_mnist("data/mnist");
[[nodiscard]] inline Digits load_mnist(const std::filesystem::path& folder) {
  return {detail::load_mnist_part(folder, "train"), detail::load_mnist_part(folder, "t10k")};
}

}  // namespace tilewright::data
