#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "tilewright/checkpoint/checked_spec.hpp"
#include "tilewright/checkpoint/npy.hpp"
#include "tilewright/checkpoint/partial_file.hpp"
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
[[nodiscard]] inline MappedArray map_npy(const std::filesystem::path& path, MapMode mode = MapMode::read_only) {
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

namespace detail {
/// A new `.npy` file of zeros, mapped as shared, which has no name until it is published. Throws LoadError.
class UnnamedNpy {
 public:
  UnnamedNpy(std::string_view function, const std::filesystem::path& path, const TensorSpec& spec)
      : function_(function), path_(path) {
    const auto fail = [&](std::string_view found, std::string_view expected) { this->fail(found, expected); };
    require_mapped_files(fail);
    check_spec(spec, fail);
    const std::string header = npy_header(spec);
    const auto mapping = std::make_shared<internal::FileMapping>();
    try_to([&] {
      file_.emplace(path, PartialFile::usual);
      file_->write(std::as_bytes(std::span(header)));
      file_->append_zeros(static_cast<std::uint64_t>(spec.bytes()));
      throw_if_failed("cannot map", path, mapping->open(file_->path(), MapMode::shared));
    });
    array_.emplace(path.string(), MapMode::shared, spec, mapping->bytes().subspan(header.size()), mapping);
  }
  const MappedArray& array() const { return *array_; }
  void publish() {
    try_to([&] { file_->publish_new(); });
  }

 private:
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const {
    throw LoadError(function_, path_.string(), "", found, expected);
  }
  void try_to(const auto& f) const {
    try {
      f();
    } catch (const std::filesystem::filesystem_error& error) {
      fail("a file that cannot be created (" + error.code().message() + ")", "the path of a new file");
    }
  }
  std::string_view function_;
  std::filesystem::path path_;
  std::optional<PartialFile> file_;
  std::optional<MappedArray> array_;
};
}  // namespace detail

/// Creates a `.npy` file of zeros and maps it as shared: what is written to the array, the file has. The zeros take their room on
/// the disk. Throws LoadError, and leaves no file, if the file exists or cannot be created, if the disk is full, for extents that
/// are negative or make 2^63 bytes or more, and on systems that do not map files.
inline MappedArray create_npy(const std::filesystem::path& path, const TensorSpec& spec) {
  detail::UnnamedNpy file("create_npy", path, spec);
  file.publish();
  return file.array();
}

}  // namespace tilewright
