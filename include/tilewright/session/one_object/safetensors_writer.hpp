#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/session/one_object/safetensors_reader.hpp"

namespace tilewright {

/// A text as an array: a constant without a pointer.
template <auto make>
inline constexpr auto exported_text = [] {
  std::array<char, make().size()> characters{};
  const Text text = make();
  for (std::size_t i = 0; i < characters.size(); ++i) characters[i] = text.view()[i];
  return characters;
}();

}  // namespace tilewright

namespace tilewright::detail {

/// Returns a text of JSON, with its quotes.
constexpr Text in_json(std::string_view text) {
  Text result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < ' ') {
      const char escape[] = {'\\', 'u', '0', '0', "01"[code >> 4], "0123456789abcdef"[code & 15]};
      result += std::string_view(escape, sizeof escape);
      continue;
    }
    if (c == '"' || c == '\\') result += "\\";
    result += std::string_view(&c, 1);
  }
  result += "\"";
  return result;
}

/// Returns the length and the header of a file of variables, whose bytes follow in their order. For plain names and no float8,
/// the file is that of save_safetensors().
template <const auto& variables>
constexpr Text safetensors_header() {
  std::array<std::size_t, variables.size()> by_name{};
  std::array<std::int64_t, variables.size()> begins{};
  Text metadata, json = "{";
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const auto& [name, dtype, spec, offset] = variables[v];
    if (name == "__metadata__") TW_THROW TraceError("save_safetensors: a variable '__metadata__': another name expected");
    by_name[v] = v;
    if (v > 0) begins[v] = begins[v - 1] + variables[v - 1].spec.bytes();
    if (!is_float8(spec.dtype)) continue;
    metadata += text(metadata.empty() ? "" : ",", in_json(text(name, ".float8_format")), ":", in_json(to_text(spec.dtype)), ",");
    metadata += text(in_json(text(name, ".log2_scale")), ":\"0\"");
  }
  if (!metadata.empty()) json += text("\"__metadata__\":{", metadata, "}");
  std::sort(by_name.begin(), by_name.end(), [](std::size_t a, std::size_t b) { return variables[a].name < variables[b].name; });
  for (const std::size_t v : by_name) {
    const auto& [name, dtype, spec, offset] = variables[v];
    json += text(json.size() > 1 ? "," : "", in_json(name), ":{\"data_offsets\":[", begins[v], ",", begins[v] + spec.bytes());
    json += text("],\"dtype\":\"", dtype, "\",\"shape\":[");
    for (int axis = 0; axis < spec.shape.rank; ++axis) json += text(axis > 0 ? "," : "", spec.shape[axis]);
    json += "]}";
  }
  json += "}";
  while (json.size() % 8 != 0) json += " ";
  Text length;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    const char low = static_cast<char>(static_cast<std::uint64_t>(json.size()) >> 8 * byte & 0xff);
    length += std::string_view(&low, 1);
  }
  return text(length, json);
}
/// Returns the names of variables, with a zero behind each.
template <const auto& variables>
constexpr Text names_of() {
  Text names;
  for (const FileVariable& variable : variables) names += text(variable.name, std::string_view("", 1));
  return names;
}

/// The variables of programs in a file, or their read-only ones. Each is a constant of its own: an executable has those that it
/// uses.
template <class Programs, bool read_only = false>
struct SafetensorsTables {
 private:
  static constexpr auto in_plans = Programs::template file_variables<read_only>();
  static constexpr auto names = exported_text<&names_of<in_plans>>;

 public:
  static constexpr auto header = exported_text<&safetensors_header<in_plans>>;
  static constexpr auto variables = [] {
    auto result = in_plans;
    std::size_t next = 0;
    for (FileVariable& variable : result) {
      variable.name = {names.data() + next, variable.name.size()};
      next += variable.name.size() + 1;
    }
    return result;
  }();
  static constexpr std::size_t bytes = [] {
    std::size_t sum = header.size();
    for (const FileVariable& variable : in_plans) sum += static_cast<std::size_t>(variable.spec.bytes());
    return sum;
  }();
};

}  // namespace tilewright::detail
