#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/core/map_mode.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/session/host_array.hpp"

namespace tilewright {

namespace internal {
class FileMapping;
}

/// An array whose elements are bytes of a file in memory, as NumPy's memmap is: row-major, without a copy. map_npy and create_npy
/// make it. Copies are the same array; the file stays mapped as long as one of them, or a session with it, lives. The
/// system ends a process that touches what another one has cut off meanwhile, or that writes to a hole of a file on a full disk.
class MappedArray {
 public:
  /// `elements`: a part of the file's bytes.
  MappedArray(std::string path, MapMode mode, const TensorSpec& spec, Span<std::byte> elements,
              std::shared_ptr<const internal::FileMapping> file)
      : path_(std::move(path)), mode_(mode), spec_(spec), elements_(elements), file_(std::move(file)) {}

  const std::string& path() const { return path_; }
  MapMode mode() const { return mode_; }
  const TensorSpec& spec() const { return spec_; }
  Span<const std::byte> bytes() const { return elements_; }
  /// Returns the elements, for example `array.elements<float>()`. They end with the last copy of the array. Throws
  /// std::invalid_argument for another type than the dtype's.
  template <detail::HostNumber T>
  std::span<const T> elements() const& {
    return typed<T>("elements");
  }
  template <detail::HostNumber T>
  std::span<const T> elements() const&& = delete;  // the file would be unmapped
  /// Returns the elements to write. Throws std::invalid_argument for another type than the dtype's, and for a read-only array.
  template <detail::HostNumber T>
  std::span<T> writable_elements() const& {
    if (mode_ == MapMode::read_only)
      throw std::invalid_argument("writable_elements: " + path_ +
                                  " is mapped read-only: MapMode::copy_on_write or MapMode::shared expected");
    return typed<T>("writable_elements");
  }
  template <detail::HostNumber T>
  std::span<T> writable_elements() const&& = delete;
  /// Waits until the disk has what was written to a shared array. Throws std::system_error if it fails.
  void flush() const;
  /// Returns what keeps the file mapped.
  std::shared_ptr<const void> file() const { return file_; }

 private:
  friend class GivenArray;
  template <class T>
  std::span<T> typed(std::string_view what) const {
    if (dtype_of<T> != spec_.dtype)
      throw std::invalid_argument(text(what, ": ", to_text(dtype_of<T>), " of ", path_, ", whose elements are ",
                                       to_text(spec_.dtype), ": this type expected")
                                      .string());
    return {reinterpret_cast<T*>(elements_.data()), elements_.size() / sizeof(T)};
  }

  std::string path_;
  MapMode mode_;
  TensorSpec spec_;
  Span<std::byte> elements_;
  std::shared_ptr<const internal::FileMapping> file_;
};

}  // namespace tilewright
