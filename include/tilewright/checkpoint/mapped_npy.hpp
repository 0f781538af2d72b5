#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "tilewright/checkpoint/npy.hpp"
#include "tilewright/checkpoint/read_bytes.hpp"
#include "tilewright/core/platform/file_mapping.hpp"
#include "tilewright/session/mapped_array.hpp"

namespace tilewright {

inline void MappedArray::flush() const {
  if (const std::error_code error = file_->flush()) throw std::system_error(error, "flush: " + path_);
}

namespace detail {
/// Calls fail(found, expected), which must not return, if the system maps no files.
inline void require_mapped_files(const auto& fail) {
  if (!internal::maps_files) fail("mapped files, which are not on this system", "load_npz, or a POSIX system,");
}
}  // namespace detail

/// Maps a `.npy` file of NumPy into memory: versions 1.0 and 2.0, little-endian, row-major. Reads the header only, and of bool
/// all elements, so a file may be larger than the memory. Throws LoadError if the file cannot be opened in this mode or is not
/// such a file, if its length does not fit its shape, and on systems that do not map files, such as Windows.
///
///     const auto table = tw::map_npy("table.npy");  // numpy.load("table.npy", mmap_mode="r")
inline MappedArray map_npy(const std::filesystem::path& path, MapMode mode = MapMode::read_only) {
  const auto fail = [&](std::string_view found, std::string_view expected = "a readable file") {
    throw LoadError("map_npy", path.string(), "", found, expected);
  };
  detail::require_mapped_files(fail);
  detail::require_regular_file(path, fail);
  const auto file = std::make_shared<internal::FileMapping>();
  if (const std::error_code error = file->open(path, mode))
    fail("a file that cannot be mapped (" + error.message() + ")",
         mode == MapMode::shared ? "one to read and write" : "a readable file");
  const auto [spec, elements] = detail::parse_npy(file->bytes(), fail);
  const auto first = static_cast<std::size_t>(elements.data() - file->bytes().data());
  if (first % static_cast<std::size_t>(size_of(spec.dtype)) != 0)
    fail(std::string(to_text(spec.dtype)) + " elements from byte " + std::to_string(first) + " on",
         "a multiple of " + std::to_string(size_of(spec.dtype)));
  return {path.string(), mode, spec, file->bytes().subspan(first), file};
}

/// Creates a `.npy` file of zeros and maps it as shared: what is written to the array, the file has. Zeros that nobody writes
/// take no room on most disks. Throws LoadError if the file exists or cannot be created, and on systems that do not map files.
inline MappedArray create_npy(const std::filesystem::path& path, const TensorSpec& spec) {
  const auto fail = [&](std::string_view found, std::string_view expected) {
    throw LoadError("create_npy", path.string(), "", found, expected);
  };
  detail::require_mapped_files(fail);
  const std::string header = detail::npy_header(spec);
  const auto file = std::make_shared<internal::FileMapping>();
  if (const std::error_code error = file->create(path, header, static_cast<std::uint64_t>(spec.bytes())))
    fail("a file that cannot be created (" + error.message() + ")", "the path of a new file");
  return {path.string(), MapMode::shared, spec, file->bytes().subspan(header.size()), file};
}

}  // namespace tilewright
