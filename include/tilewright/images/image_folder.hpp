#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/dataset.hpp"
#include "tilewright/images/png.hpp"

namespace tilewright::images {

/// Images in folders by class, with the names of classes and files.
template <class Element>
struct ImageFolder {
  data::LabelledImages<Element, 3> dataset;  ///< `images` has the axis of the images and those of read_png; labels are int32
  std::vector<std::string> classes;  ///< by label: names of the folders
  std::vector<std::filesystem::path> files;  ///< of each image
};

namespace detail {
[[noreturn]] inline void fail_folder(const std::filesystem::path& path, const std::string& found, const std::string& expected) {
  throw data::DataError("read_image_folder", path, found, expected);
}
/// Returns the entries of a folder that are folders or .png files, in ascending order.
inline std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, bool folders) {
  std::vector<std::filesystem::path> result;
  std::error_code error;
  std::filesystem::directory_iterator next(folder, error);
  for (; !error && next != std::filesystem::directory_iterator(); next.increment(error)) {
    std::string ending = next->path().extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::error_code unknown;
    if (next->is_directory(unknown) == folders && (folders || ending == ".png")) result.push_back(next->path());
  }
  if (error) fail_folder(folder, "a folder that cannot be read (" + error.message() + ")", "a readable folder");
  std::sort(result.begin(), result.end());
  return result;
}
inline std::string extents_text(const auto& shape) {
  std::string result;
  for (const std::size_t extent : shape) result += (result.empty() ? "" : " x ") + std::to_string(extent);
  return result;
}
}  // namespace detail

/// Reads all PNG files of a folder whose sub-folders are classes, as torchvision's ImageFolder: the file cat/1.png is of class
/// cat. Labels number the classes by their names in ascending order. Images are in the order of classes, then of file names.
/// Other files are left out, and so are folders in a class's folder. All images are in memory, with the elements of read_png.
/// Throws DataError for images of different sizes or channels, for a class without images and in the cases of read_png. The
/// option `channels` gives all images the same.
///
///     const auto [dataset, classes, files] = tw::images::read_image_folder("animals", {.channels = 3});
///     tw::data::Loader loader(dataset, {.batch_size = 8, .shuffle = true});
template <PixelElement Element = float>
[[nodiscard]] ImageFolder<Element> read_image_folder(const std::filesystem::path& folder, const PngOptions& options = {}) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) detail::fail_folder(folder, "no such folder", "the folder of a data set");
  ImageFolder<Element> result;
  std::vector<std::int32_t> labels;
  for (const auto& path : detail::entries(folder, true)) {
    const auto files = detail::entries(path, false);
    if (files.empty()) detail::fail_folder(path, "no file *.png", "at least one");
    result.files.insert(result.files.end(), files.begin(), files.end());
    labels.insert(labels.end(), files.size(), static_cast<std::int32_t>(result.classes.size()));
    result.classes.push_back(path.filename().string());
  }
  if (labels.empty()) detail::fail_folder(folder, "no folder of a class", "at least one");
  std::array<std::size_t, 3> shape{};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto image = read_png<Element>(result.files[i], options);
    if (i == 0) {
      std::copy(image.shape().begin(), image.shape().end(), shape.begin());
      result.dataset = data::detail::with_memory(
          "read_image_folder",
          [&] { return folder.string() + ": " + std::to_string(labels.size()) + " images of " + detail::extents_text(shape); },
          tilewright::detail::saturated_product({labels.size(), image.size(), sizeof(Element)}),
          [&] { return data::LabelledImages<Element, 3>(labels.size(), shape[0], shape[1], shape[2]); });
    }
    if (!std::equal(shape.begin(), shape.end(), image.shape().begin()))
      detail::fail_folder(result.files[i], "an image of " + detail::extents_text(image.shape()),
                          detail::extents_text(shape) + ", as the first,");
    std::copy(image.begin(), image.end(), result.dataset.images.data() + i * image.size());
  }
  std::copy(labels.begin(), labels.end(), result.dataset.labels.data());
  return result;
}

}  // namespace tilewright::images
