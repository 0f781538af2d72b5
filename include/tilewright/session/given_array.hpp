#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/core/move_only_function.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/session/host_array.hpp"
#include "tilewright/session/mapped_array.hpp"

namespace tilewright {

/// An array for a variable or a mapped buffer of a session, by name: `{"fc1.weight", array}`.
class GivenArray {
 public:
  using Publish = detail::MoveOnlyFunction<void()>;

  /// A number, or an array of the host: row-major without gaps. It is not copied before a session is created. Throws
  /// std::invalid_argument for an array with gaps.
  template <class Array>
    requires(detail::HostNumber<Array> || detail::HostArray<Array>)
  GivenArray(std::string_view name, const Array& array)
      : name_(name), spec_{detail::host_shape_of(array), detail::host_dtype<Array>()} {
    if constexpr (detail::HostNumber<Array>) {
      elements_ = reinterpret_cast<const std::byte*>(&array);
    } else {
      if (!detail::stands_dense(array, spec_.shape)) detail::throw_not_dense("SessionOptions::arrays", name);
      elements_ = reinterpret_cast<const std::byte*>(detail::first_element(array));
    }
  }
  /// An array in a file. `publish`: what gives a new file its name. The session writes the initial values of its variable to the
  /// array, then calls and clears the function, for all copies.
  GivenArray(std::string_view name, const MappedArray& array, std::shared_ptr<Publish> publish = {})
      : name_(name),
        spec_(array.spec()),
        elements_(array.bytes().data()),
        mapped_(array.elements_.data()),
        file_(array.file()),
        path_(array.path()),
        mode_(array.mode()),
        publish_(std::move(publish)) {}

  const std::string& name() const { return name_; }
  const TensorSpec& spec() const { return spec_; }
  const std::byte* elements() const { return elements_; }
  /// Returns the elements of an array in a file, whose mode says whether they may change; null: an array of the host.
  std::byte* mapped() const { return mapped_; }
  bool is_mapped() const { return file_ != nullptr; }
  MapMode mode() const { return mode_; }
  const std::shared_ptr<Publish>& publish() const { return publish_; }
  const std::shared_ptr<const void>& file() const { return file_; }
  /// Returns "'w' of w.npy", or "'w'" for an array of the host.
  std::string title() const { return text("'", name_, "'", path_.empty() ? "" : " of ", path_).string(); }

 private:
  std::string name_;
  TensorSpec spec_;
  const std::byte* elements_ = nullptr;
  std::byte* mapped_ = nullptr;  // null: an array of the host
  std::shared_ptr<const void> file_{};  // null: an array of the host
  std::string path_{};
  MapMode mode_ = MapMode::read_only;
  std::shared_ptr<Publish> publish_{};
};

}  // namespace tilewright
