#pragma once
// CIFAR-10, in the binary version of its files. Needs zlib.
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/data/dataset.hpp"
#include "tilewright/data/file_reader.hpp"

namespace tilewright::data {

/// Images of CIFAR-10, normalised: (count, 3, 32, 32) float32 as ops::conv takes them, and int32 labels from 0 to 9.
struct Cifar10 {
  LabelledImages<float, 3> train, test;
};

/// Mean and standard deviation of red, green and blue over all pixels of CIFAR-10's training set, scaled to [0, 1].
inline constexpr std::array cifar10_mean{0.4914F, 0.4822F, 0.4465F};
inline constexpr std::array cifar10_standard_deviation{0.2470F, 0.2435F, 0.2616F};
/// Names of CIFAR-10's classes, by label.
inline constexpr std::array<std::string_view, 10> cifar10_classes{"airplane", "automobile", "bird",  "cat",  "deer",
                                                                  "dog",      "frog",       "horse", "ship", "truck"};

/// Reads a file of CIFAR-10's binary version (www.cs.toronto.edu/~kriz/cifar.html), plain or gzip-compressed: for each image one
/// byte for the label, then 1,024 bytes each for red, green and blue, row by row. Images are (count, 3, 32, 32). Throws DataError
/// if the file is missing, unreadable or cut off, or has a label above 9.
[[nodiscard]] inline LabelledImages<std::uint8_t, 3> read_cifar10(const std::filesystem::path& path) {
  constexpr std::size_t image_bytes = 3 * 32 * 32, record_bytes = 1 + image_bytes;
  FileReader file("read_cifar10", path);
  const auto bytes = file.read((std::numeric_limits<std::uint64_t>::max)());
  const std::size_t count = bytes.size() / record_bytes;
  if (bytes.empty() || bytes.size() % record_bytes != 0)
    file.fail(std::to_string(bytes.size()) + " bytes", std::to_string(record_bytes) + " for each image");
  return detail::with_memory(
      "read_cifar10", [&] { return path.string() + ": " + std::to_string(count) + " images"; }, bytes.size(),
      [&] {
        LabelledImages<std::uint8_t, 3> result(count, 3, 32, 32);
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint8_t* record = bytes.data() + i * record_bytes;
          if (*record > 9)
            file.fail("label " + std::to_string(*record) + " of image " + std::to_string(i), "a label from 0 to 9");
          result.labels(i) = *record;
          std::copy_n(record + 1, image_bytes, result.images.data() + i * image_bytes);
        }
        return result;
      });
}

namespace detail {
/// Reads files one after the other into one data set, normalised.
inline LabelledImages<float, 3> load_cifar10_part(const std::vector<std::filesystem::path>& paths) {
  std::vector<LabelledImages<std::uint8_t, 3>> files;
  std::size_t count = 0;
  for (const auto& path : paths) count += files.emplace_back(read_cifar10(path)).size();
  auto result = with_memory(
      "load_cifar10", [&] { return paths.front().string() + ": " + std::to_string(count) + " images in all"; },
      tilewright::detail::saturated_product({count, 3 * 32 * 32, sizeof(float)}),
      [&] { return LabelledImages<float, 3>(count, 3, 32, 32); });
  float* image = result.images.data();
  std::int32_t* label = result.labels.data();
  for (const auto& file : files) {
    label = std::copy_n(file.labels.data(), file.size(), label);
    for (std::size_t i = 0; i < file.images.size(); ++i) {
      const std::size_t channel = i / (32 * 32) % 3;
      *image++ = (static_cast<float>(file.images.data()[i]) / 255 - cifar10_mean[channel]) / cifar10_standard_deviation[channel];
    }
  }
  return result;
}
}  // namespace detail

/// Loads CIFAR-10 from a folder that holds the files of its binary version under their published names: data_batch_1.bin to
/// data_batch_5.bin for training, test_batch.bin for testing. Images are normalised as (value / 255 - cifar10_mean) /
/// cifar10_standard_deviation, in the order of the files. Throws DataError as read_cifar10.
///
///     const tw::data::Cifar10 cifar = tw::data::load_cifar10("data/cifar-10-batches-bin");
[[nodiscard]] inline Cifar10 load_cifar10(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> train;
  for (const char number : {'1', '2', '3', '4', '5'}) train.push_back(folder / (std::string("data_batch_") + number + ".bin"));
  return {detail::load_cifar10_part(train), detail::load_cifar10_part({folder / "test_batch.bin"})};
}

}  // namespace tilewright::data
