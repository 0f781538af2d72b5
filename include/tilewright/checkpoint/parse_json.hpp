#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

namespace tilewright::detail {

/// Parses a file's JSON. The result is `discarded` for a text that is no JSON, and for one with more than 64 levels of objects
/// and arrays: copies and dumps of a value call themselves for each level.
inline nlohmann::json parse_json(std::string_view text) {
  constexpr int most_levels = 64;
  bool is_deep = false;
  const auto is_kept = [&](int level, nlohmann::json::parse_event_t, const nlohmann::json&) {
    is_deep |= level >= most_levels;
    return !is_deep;
  };
  auto json = nlohmann::json::parse(text, is_kept, false);
  return is_deep ? nlohmann::json(nlohmann::json::value_t::discarded) : json;
}

}  // namespace tilewright::detail
