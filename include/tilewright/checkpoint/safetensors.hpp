#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/checked_spec.hpp"
#include "tilewright/checkpoint/read_bytes.hpp"
#include "tilewright/checkpoint/safetensors_header.hpp"
#include "tilewright/checkpoint/safetensors_index.hpp"
#include "tilewright/checkpoint/tensor_file.hpp"
#include "tilewright/checkpoint/write_durably.hpp"

/// The .safetensors format (https://huggingface.co/docs/safetensors): the length of the header as 64 bits, least significant byte
/// first; the header, a JSON object of {"dtype", "shape", "data_offsets"} by tensor name, and of texts by name under
/// "__metadata__", padded with spaces; then a buffer that the tensors' offsets cover without holes or overlaps.
namespace tilewright {

namespace detail {

static_assert(std::endian::native == std::endian::little, "numbers are copied from and to files as they are");

/// The format's names of the dtypes, in DType's order.
inline constexpr auto safetensors_dtypes = dtype_column(&DTypeFacts::safetensors);
inline constexpr std::uint64_t most_header_bytes = 100'000'000;  // the format's limit

/// Returns the JSON object at the start of a file, after its length. Calls `fail` if there is none.
template <class Fail>
std::span<const char> header_of(std::span<const std::byte> file, const Fail& fail) {
  std::uint64_t header_bytes = 0;
  if (file.size() < sizeof(header_bytes)) fail("", std::to_string(file.size()) + " bytes", "the 8 bytes of a header's length");
  std::memcpy(&header_bytes, file.data(), sizeof(header_bytes));
  const std::size_t left = file.size() - sizeof(header_bytes);
  if (header_bytes > most_header_bytes)
    fail("", "a header of " + std::to_string(header_bytes) + " bytes", "at most " + std::to_string(most_header_bytes));
  if (header_bytes > left)
    fail("", "a header of " + std::to_string(header_bytes) + " bytes", "at most the " + std::to_string(left) + " that follow");
  const auto* const header = reinterpret_cast<const char*>(file.data()) + sizeof(header_bytes);
  if (header_bytes == 0 || header[0] != '{') fail("", "a header without '{' at its start", "a JSON object");
  return {header, header_bytes};
}

/// Returns the dtype and the scale of float8 codes from the metadata; nothing for integers. Calls `fail` for another format.
template <class Fail>
std::optional<std::pair<DType, int>> float8_of(const Metadata& metadata, const std::string& name, const Fail& fail) {
  const auto format = metadata.get<std::string>(float8_format_key(name));
  if (!format) return std::nullopt;
  const auto scale = metadata.get<int>(log2_scale_key(name));
  if ((*format != to_text(float8_143) && *format != to_text(float8_152)) || !scale)
    fail("float8_format " + *format + (scale ? "" : " without a log2_scale"), "float8_143 or float8_152, and a log2_scale");
  return std::pair(*format == to_text(float8_143) ? float8_143 : float8_152, *scale);
}

inline TensorFile read_safetensors(std::string_view function, std::string path, std::vector<std::byte> file) {
  const auto fail = [&](std::string_view tensor, const std::string& found, const std::string& expected) {
    throw LoadError(function, path, tensor, found, expected);
  };
  const std::span<const char> header = header_of(file, fail);
  SafetensorsHeader events(fail);
  nlohmann::json::sax_parse(header.data(), header.data() + header.size(), &events);

  TensorFile result(path);
  result.metadata() = std::move(events.metadata);
  const std::size_t before_buffer = sizeof(std::uint64_t) + header.size();
  const auto buffer = std::span(result.keep(std::move(file))).subspan(before_buffer);
  std::sort(events.entries.begin(), events.entries.end(),
            [](const auto& a, const auto& b) { return a.data_offsets < b.data_offsets; });
  std::uint64_t end = 0;
  for (auto& [name, dtype_name, shape, offsets] : events.entries) {
    const auto fail_here = [&, &tensor = name](const std::string& found, const std::string& expected) {
      fail(tensor, found, expected);
    };
    if (dtype_name->starts_with("F8_"))
      fail_here("dtype " + *dtype_name,
                "F16 or F32, of which pow2scale_then_cast makes float8; its codes stand for other numbers than float8_143's and "
                "float8_152's, so they are");
    const auto dtype = std::find(safetensors_dtypes.begin(), safetensors_dtypes.end(), *dtype_name);
    if (dtype == safetensors_dtypes.end())
      fail_here("dtype " + *dtype_name, "one of BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64, BF16");
    auto spec = checked_spec(*shape, static_cast<DType>(dtype - safetensors_dtypes.begin()), fail_here);
    const std::uint64_t first = (*offsets)[0], last = (*offsets)[1];
    const std::string range = "data_offsets " + std::to_string(first) + " to " + std::to_string(last);
    if (first != end) fail_here(range, "bytes from " + std::to_string(end) + " on, without holes or overlaps");
    if (last < first || last > buffer.size())
      fail_here(range, "bytes of the " + std::to_string(buffer.size()) + " in the buffer");
    if (std::cmp_not_equal(last - first, spec.bytes()))
      fail_here(range, std::to_string(spec.bytes()) + " bytes for " + to_text(spec).string());
    const auto bytes = buffer.subspan(first, last - first);
    if (!are_elements(spec.dtype, bytes)) fail_here("a bool that is neither 0 nor 1", "0 or 1");
    int log2_scale = 0;
    if (spec.dtype == uint8)
      if (const auto float8 = float8_of(result.metadata(), name, fail_here)) std::tie(spec.dtype, log2_scale) = *float8;
    result.add(std::move(name), spec, bytes, log2_scale);
    end = last;
  }
  if (end != buffer.size())
    fail("", std::to_string(buffer.size()) + " bytes in the buffer", "the tensors' " + std::to_string(end));
  return result;
}

/// A .safetensors file as consecutive parts.
struct SafetensorsParts {
  std::string header;  ///< length and text of the header
  std::vector<std::span<const std::byte>> parts;  ///< the first is the header

  SafetensorsParts(std::string_view function, std::span<const HostTensor> tensors, Metadata metadata) {
    // wide elements first: then all are aligned
    check_tensors(function, tensors);
    std::vector<const HostTensor*> order;
    for (const HostTensor& tensor : tensors) {
      order.push_back(&tensor);
      if (!is_float8(tensor.spec.dtype)) continue;
      metadata.set(float8_format_key(tensor.name), std::string(to_text(tensor.spec.dtype)));
      metadata.set(log2_scale_key(tensor.name), tensor.log2_scale);
    }
    std::sort(order.begin(), order.end(), [](const HostTensor* a, const HostTensor* b) {
      return std::pair(-size_of(a->spec.dtype), a->name) < std::pair(-size_of(b->spec.dtype), b->name);
    });
    nlohmann::json json = nlohmann::json::object();
    if (!metadata.entries().empty()) json[metadata_key] = metadata.entries();
    parts.emplace_back();
    std::uint64_t offset = 0;
    for (const HostTensor* tensor : order) {
      const std::string name(tensor->name);
      if (name == metadata_key)
        throw std::invalid_argument(std::string(function) + ": a tensor called '" + name + "': another name expected");
      const auto& extents = tensor->spec.shape.extents;
      json[name] = {{"dtype", safetensors_dtypes[static_cast<std::size_t>(tensor->spec.dtype)]},
                    {"shape", std::vector(extents, extents + tensor->spec.shape.rank)},
                    {"data_offsets", {offset, offset + tensor->bytes.size()}}};
      offset += tensor->bytes.size();
      parts.push_back(tensor->bytes);
    }
    std::string text;
    try {
      text = json.dump();
    } catch (const nlohmann::json::exception& error) {  // not UTF-8
      throw std::invalid_argument(std::string(function) + ": a name or metadata (" + error.what() + "): UTF-8 expected");
    }
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    if (length > most_header_bytes)
      throw std::invalid_argument(std::string(function) + ": names and metadata of " + std::to_string(length) +
                                  " bytes: at most 100000000 expected");
    header.assign(reinterpret_cast<const char*>(&length), sizeof(length));
    header += text;
    parts.front() = std::as_bytes(std::span(header));
  }
  SafetensorsParts(const SafetensorsParts&) = delete;
  SafetensorsParts& operator=(const SafetensorsParts&) = delete;
};

}  // namespace detail

/// Parses tensors from the bytes of a .safetensors file; `name` replaces its path in errors.
[[nodiscard]] inline TensorFile parse_safetensors(std::vector<std::byte> bytes, std::string name) {
  return detail::read_safetensors("load_safetensors", std::move(name), std::move(bytes));
}

namespace detail {
/// Loads all files of an index as one.
inline TensorFile load_indexed(std::string_view function, const std::filesystem::path& path) {
  TensorFile result(path.string());
  for (const auto& [name, tensors] : read_index(function, path.string(), read_bytes(function, path))) {
    const std::filesystem::path part = path.parent_path() / name;
    TensorFile file = read_safetensors(function, part.string(), read_bytes(function, part));
    check_indexed(function, path.string(), name, tensors, file.tensors());
    for (const HostTensor& tensor : file.tensors()) result.add(tensor);
    for (const auto& [key, text] : file.metadata().entries()) result.metadata().set(key, text);
    result.keep(std::move(file));
  }
  return result;
}
}  // namespace detail

/// Loads all tensors and the metadata of a .safetensors file, or of several files by their index, whose name ends with
/// `.index.json`: `load_safetensors("model.safetensors.index.json")`. Throws LoadError for a file that violates the format, for
/// unsupported dtypes such as F8_E4M3, for more than six axes, and for files that do not have the tensors of the index.
[[nodiscard]] inline TensorFile load_safetensors(const std::filesystem::path& path) {
  constexpr std::string_view function = "load_safetensors";
  if (path.filename().string().ends_with(detail::index_suffix)) return detail::load_indexed(function, path);
  return parse_safetensors(detail::read_bytes(function, path), path.string());
}

/// Writes tensors and metadata as a .safetensors file, by write_durably(). Equal contents give equal bytes. The format has no
/// checksum; save_npz and Checkpoints write one. float8 tensors are written as bytes, U8. <name>.float8_format and
/// <name>.log2_scale in the metadata restore them. Throws std::invalid_argument for names that are not UTF-8 or occur twice and
/// bytes that do not fit their spec, and std::filesystem::filesystem_error.
inline void save_safetensors(const std::filesystem::path& path, std::span<const HostTensor> tensors,
                             const Metadata& metadata = {}) {
  write_durably(path, detail::SafetensorsParts("save_safetensors", tensors, metadata).parts);
}

}  // namespace tilewright
