#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/checkpoint/parse_json.hpp"
#include "tilewright/session/host_tensor.hpp"

/// The index of tensors that are spread over several .safetensors files, as Hugging Face's transformers writes it: a JSON object,
/// model.safetensors.index.json, whose "weight_map" has the name of a file in the same folder for each name of a tensor.
namespace tilewright::detail {

inline constexpr std::string_view index_suffix = ".index.json";

/// Names of tensors by name of the file.
using SafetensorsIndex = std::map<std::string, std::set<std::string, std::less<>>>;

/// Parses an index. Names of files have no folder, so that an index reads no file outside of its own. Throws LoadError.
inline SafetensorsIndex read_index(std::string_view function, const std::string& path, std::span<const std::byte> bytes) {
  const auto fail = [&](std::string_view tensor, const std::string& found, const std::string& expected) {
    throw LoadError(function, path, tensor, found, expected);
  };
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const auto json = parse_json({text, bytes.size()});
  const auto names = json.is_object() ? json.find("weight_map") : json.end();
  if (names == json.end() || !names->is_object()) fail("", "no \"weight_map\"", "a JSON object with files by tensor");
  for (const auto& [key, value] : json.items())
    if (key != "weight_map" && key != "metadata") fail("", "the key '" + key + "'", "weight_map and metadata");
  SafetensorsIndex result;
  for (const auto& [tensor, file] : names->items()) {
    if (!file.is_string()) fail(tensor, "a file that is no text", "a file's name");
    auto name = file.template get<std::string>();
    if (!name.ends_with(".safetensors") || name.find_first_of("/\\:") != name.npos || name.find('\0') != name.npos)
      fail(tensor, "file '" + name + "'", "the name of a .safetensors file in the index's folder");
    result[std::move(name)].insert(tensor);
  }
  return result;
}

/// Checks that a file of an index has the tensors that the index says, and no others. Throws LoadError.
inline void check_indexed(std::string_view function, const std::string& index_path, const std::string& file,
                          const std::set<std::string, std::less<>>& expected, std::span<const HostTensor> tensors) {
  std::set<std::string_view> found;
  for (const HostTensor& tensor : tensors) {
    if (!expected.contains(tensor.name))
      throw LoadError(function, index_path, tensor.name, "a tensor of " + file + " that is not in the index", "one of the index");
    found.insert(tensor.name);
  }
  for (const std::string& name : expected)
    if (!found.contains(name)) throw LoadError(function, index_path, name, "no tensor of this name in " + file, "one");
}

}  // namespace tilewright::detail
