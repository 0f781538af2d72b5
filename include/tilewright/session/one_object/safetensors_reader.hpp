#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/execute/run_status.hpp"
#include "tilewright/session/one_object/json_reader.hpp"

namespace tilewright::detail {

// .safetensors files in memory, without a heap and exceptions. checkpoint/safetensors.hpp describes the format.

static_assert(std::endian::native == std::endian::little, "numbers are copied from and to files as they are");

/// A variable as a tensor of a file.
struct FileVariable {
  std::string_view name{};
  std::string_view dtype{};  ///< the format's name
  TensorSpec spec{};
  std::int64_t offset = 0;  ///< in the memory of the programs
};

/// A tensor in the header of a file.
struct FileTensor {
  std::string_view dtype{};
  std::array<std::uint64_t, max_rank> extents{};
  std::array<std::uint64_t, 2> data_offsets{};
  std::size_t rank = 0;

  bool is_like(const FileVariable& variable) const {
    if (!stands_for(dtype, variable.dtype) || rank != static_cast<std::size_t>(variable.spec.shape.rank)) return false;
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (extents[axis] != static_cast<std::uint64_t>(variable.spec.shape.extents[axis])) return false;
    return data_offsets[1] - data_offsets[0] == static_cast<std::uint64_t>(variable.spec.bytes());
  }
};

/// Reads the value of a tensor's name: an object with dtype, shape and data_offsets, each once.
inline FileTensor read_tensor(JsonReader& json) {
  FileTensor tensor;
  unsigned keys = 0;
  const auto read_numbers = [&](std::span<std::uint64_t> numbers) {
    std::size_t count = 0;
    json.read_array([&] {
      if (count == numbers.size()) return json.fail();
      numbers[count++] = json.read_number();
    });
    return count;
  };
  json.read_object([&](std::string_view key) {
    const unsigned bit = stands_for(key, "dtype"sv)          ? 1
                         : stands_for(key, "shape"sv)        ? 2
                         : stands_for(key, "data_offsets"sv) ? 4
                                                             : 0;
    if (bit == 0 || (keys & bit) != 0) return json.fail();
    keys |= bit;
    if (bit == 1) tensor.dtype = json.read_text();
    else if (bit == 2) tensor.rank = read_numbers(tensor.extents);
    else if (read_numbers(tensor.data_offsets) != 2) json.fail();
  });
  if (keys != 7) json.fail();
  return tensor;
}

/// Finds the tensors of all variables in a file. Other tensors of the file are ignored.
class SafetensorsReader {
 public:
  /// `found`: gets the first byte of each variable's tensor, if the status is done.
  SafetensorsReader(std::span<const FileVariable> variables, std::span<const std::byte*> found)
      : variables_(variables), found_(found) {
    std::fill(found.begin(), found.end(), nullptr);
  }

  /// Fails for a variable without a tensor.
  RunStatus read(std::span<const std::byte> file) {
    if (!find(file).is_done()) return status_;
    for (std::size_t v = 0; v < variables_.size(); ++v)
      if (found_[v] == nullptr) return wrong("load_safetensors: no tensor for variable "sv, variables_[v].name);
    return {};
  }
  RunStatus find(std::span<const std::byte> file) {
    std::uint64_t header_bytes = 0;
    if (file.size() < sizeof header_bytes) return wrong("load_safetensors: a file that is cut: a whole one expected"sv);
    std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
    buffer_ = file.subspan(sizeof header_bytes);
    if (header_bytes > buffer_.size()) return wrong("load_safetensors: a file that is cut: a whole one expected"sv);
    const auto size = static_cast<std::size_t>(header_bytes);
    const auto* const text = reinterpret_cast<const char*>(buffer_.data());
    JsonReader json({text, size});
    buffer_ = buffer_.subspan(size);
    json.read_object([&](std::string_view name) {
      if (stands_for(name, "__metadata__"sv)) return json.read_object([&](std::string_view) { json.read_text(); });
      const FileTensor tensor = read_tensor(json);
      if (json.is_right() && !add(name, tensor).is_done()) json.fail();
    });
    if (!status_.is_done()) return status_;
    if (size == 0 || text[0] != '{' || !json.is_at_end())
      return wrong("load_safetensors: a header that is no JSON of tensors: that of .safetensors expected"sv);
    if (begins_ != mixed(buffer_.size()) - mixed(0))
      return wrong("load_safetensors: tensors with holes or overlaps: each byte behind the header in one tensor expected"sv);
    return {};
  }

 private:
  RunStatus wrong(std::string_view text, std::string_view name = {}) {
    return status_ = {.result = RunResult::unfit_file, .before = text, .after = name};
  }
  RunStatus add(std::string_view name, const FileTensor& tensor) {
    const auto [first, last] = tensor.data_offsets;
    if (first > last || last > buffer_.size())
      return wrong("load_safetensors: data_offsets outside of the file: bytes behind the header expected"sv);
    begins_ += mixed(last) - mixed(first);
    const auto is_named = [&](const FileVariable& variable) { return stands_for(name, variable.name); };
    const auto variable = std::find_if(variables_.begin(), variables_.end(), is_named);
    if (variable == variables_.end()) return {};
    const std::byte*& found = found_[static_cast<std::size_t>(variable - variables_.begin())];
    if (found != nullptr) return wrong("load_safetensors: two tensors for variable "sv, variable->name);
    if (!tensor.is_like(*variable))
      return wrong("load_safetensors: a tensor of another dtype or shape than variable "sv, variable->name);
    const auto bytes = buffer_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    if (variable->spec.dtype == boolean &&
        std::any_of(bytes.begin(), bytes.end(), [](std::byte each) { return each > std::byte{1}; }))
      return wrong("load_safetensors: a bool that is neither 0 nor 1 for variable "sv, variable->name);
    found = bytes.data();
    return {};
  }
  /// Mixes the bits of an offset (the finaliser of SplitMix64). Tensors cover a buffer without holes and overlaps if each offset
  /// but 0 and its size is as often the end of a tensor as the begin of one: then the sums of mixed offsets are equal.
  static std::uint64_t mixed(std::uint64_t offset) {
    offset += 0x9e3779b97f4a7c15u;
    offset = (offset ^ (offset >> 30)) * 0xbf58476d1ce4e5b9u;
    offset = (offset ^ (offset >> 27)) * 0x94d049bb133111ebu;
    return offset ^ (offset >> 31);
  }

  std::span<const FileVariable> variables_;
  std::span<const std::byte*> found_;
  std::span<const std::byte> buffer_{};  // what follows the header
  std::uint64_t begins_ = 0;  // sum of mixed ends less that of mixed begins
  RunStatus status_{};
};

}  // namespace tilewright::detail
