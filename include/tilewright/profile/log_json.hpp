#pragma once
#include <cstddef>

#include "tilewright/profile/json_text.hpp"
#include "tilewright/profile/log_page.hpp"
#include "tilewright/train/log.hpp"

namespace tilewright::detail {

/// Writes a log as charts of lines. A line has the steps at which its column was measured, and the values there; a value that is
/// not finite is null.
inline void write_log(JsonText& json, const train::Log& log) {
  json.begin_array();
  for (const auto& columns : charts_of(log)) {
    json.begin_object().member("title", LogChart(log, columns).title()).key("lines").begin_array();
    for (const std::string& name : columns) {
      const std::size_t i = log.column(name);
      json.begin_object().member("name", name).key("steps").begin_array();
      for (const train::Log::Row& row : log.rows())
        if (row.values[i]) json.value(row.step);
      json.end_array().key("values").begin_array();
      for (const train::Log::Row& row : log.rows())
        if (row.values[i]) json.value(*row.values[i]);
      json.end_array().end_object().line();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace tilewright::detail
