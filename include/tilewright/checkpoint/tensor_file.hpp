#pragma once
#include <cstddef>
#include <deque>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/checked_spec.hpp"
#include "tilewright/checkpoint/metadata.hpp"
#include "tilewright/session/host_tensor.hpp"

namespace tilewright {

/// Contents of a file: tensors with their memory, in the file's order.
///
///     session.load_tensors(tw::load_safetensors("net.safetensors"));
class TensorFile {
 public:
  using Bytes = std::vector<std::byte>;

  explicit TensorFile(std::string path) : path_(std::move(path)) {}
  TensorFile(TensorFile&&) = default;
  TensorFile& operator=(TensorFile&&) = default;

  const std::string& path() const { return path_; }
  std::span<const HostTensor> tensors() const { return tensors_; }
  /// Returns the tensor with a name, or nullptr.
  const HostTensor* find(std::string_view name) const {
    for (const HostTensor& tensor : tensors_)
      if (tensor.name == name) return &tensor;
    return nullptr;
  }
  const Metadata& metadata() const { return metadata_; }
  Metadata& metadata() { return metadata_; }
  /// Returns an entry of the metadata as std::string or a type of numbers, or entries as a struct's members. Throws LoadError if
  /// there is none.
  template <class T>
  T metadata(std::string_view name) const {
    if constexpr (StructWithNames<T>) {
      T result{};
      detail::for_each_member(name, result, [this]<class Member>(const std::string& member_name, Member& member) {
        member = this->template metadata<Member>(member_name);
      });
      return result;
    } else {
      if (const auto value = metadata_.get<T>(name)) return *value;
      const auto text = metadata_.get<std::string>(name);
      throw LoadError("metadata", path_, "",
                      text ? "'" + *text + "' for '" + std::string(name) + "'" : "no '" + std::string(name) + "'",
                      std::same_as<T, std::string> ? "a text" : "a number");
    }
  }
  operator HostTensors() const { return {path_, tensors_}; }

  /// Keeps memory to which tensors refer.
  const Bytes& keep(Bytes bytes) { return memory_.emplace_back(std::move(bytes)); }
  /// Keeps the memory of another file: some of its tensors become tensors of this one.
  void keep(TensorFile file) {
    for (Bytes& bytes : file.memory_) memory_.push_back(std::move(bytes));
  }
  /// Adds a tensor. `bytes` must be a part of memory that keep() holds.
  void add(std::string name, const TensorSpec& spec, std::span<const std::byte> bytes, int log2_scale = 0) {
    tensors_.push_back({names_.emplace_back(std::move(name)), spec, bytes, log2_scale});
  }
  /// Adds a copy of a tensor of another file, whose memory keep() holds.
  void add(HostTensor tensor) {
    tensor.name = names_.emplace_back(tensor.name);
    tensors_.push_back(tensor);
  }
  /// Marks the bytes of tensor i as float8 codes.
  void set_float8(std::size_t i, DType format, int log2_scale) {
    tensors_[i].spec.dtype = format;
    tensors_[i].log2_scale = log2_scale;
  }
  void remove(std::size_t i) { tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(i)); }

 private:
  std::string path_;
  std::vector<Bytes> memory_;  // bytes of a vector stay in their place when it moves
  std::deque<std::string> names_;  // its items never move, unlike characters of a short text that moves
  std::vector<HostTensor> tensors_;
  Metadata metadata_;
};

namespace detail {
/// Returns the key in the metadata that marks bytes as float8, <name>.float8_format, with a value such as float8_143;
/// <name>.log2_scale has the scale. Files without metadata have a scalar int32 <name>.float8_143 or <name>.float8_152, the
/// log2_scale.
inline std::string float8_format_key(std::string_view name) { return std::string(name) + ".float8_format"; }
inline std::string log2_scale_key(std::string_view name) { return std::string(name) + ".log2_scale"; }
inline std::string float8_scale_name(const HostTensor& tensor) {
  return std::string(tensor.name) + '.' + std::string(to_text(tensor.spec.dtype));
}

/// Throws std::invalid_argument unless each tensor has the number of bytes of its spec, and a unique name.
inline void check_tensors(std::string_view function, std::span<const HostTensor> tensors) {
  std::unordered_set<std::string_view> names;
  for (const HostTensor& tensor : tensors) {
    if (!names.insert(tensor.name).second)
      throw std::invalid_argument(text(function, ": '", tensor.name, "' twice: each name once expected").string());
    check_spec(tensor.spec, [&](std::string_view found, std::string_view expected) {
      throw std::invalid_argument(text(function, ": '", tensor.name, "' has ", found, ": ", expected, " expected").string());
    });
    if (std::cmp_not_equal(tensor.bytes.size(), tensor.spec.bytes()))
      throw std::invalid_argument(text(function, ": '", tensor.name, "' has ", tensor.bytes.size(),
                                       " bytes: ", tensor.spec.bytes(), " for ", to_text(tensor.spec), " expected")
                                      .string());
  }
}
}  // namespace detail

}  // namespace tilewright
