#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/profile/log_chart.hpp"
#include "tilewright/train/log.hpp"

namespace tilewright::detail {

/// Returns the columns of a log in groups, one for each chart: those whose names have the same last word, at most 8.
inline std::vector<std::vector<std::string>> charts_of(const train::Log& log) {
  constexpr std::size_t most = 8;
  const auto last_word = [](std::string_view name) { return name.substr(name.rfind('_') + 1); };
  std::vector<std::vector<std::string>> charts;
  for (const std::string& name : log.columns()) {
    const auto same = std::find_if(charts.begin(), charts.end(), [&](const auto& chart) {
      return chart.size() < most && last_word(chart[0]) == last_word(name);
    });
    if (same != charts.end()) same->push_back(name);
    else charts.push_back({name});
  }
  return charts;
}

/// Returns an HTML page with the curves of a log. Each chart is an image with a style of its own.
inline std::string log_page(std::string_view title, const train::Log& log) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>";
  const std::string name = escaped_markup(title);
  page += name +
          " – tilewright</title>\n<style>\n"
          "  body { max-width: 760px; margin: 24px auto; padding: 0 16px; font: 14px system-ui, sans-serif; color: #1c2430; "
          "background: #ffffff; }\n"
          "  svg { max-width: 100%; height: auto; }\n"
          "  @media (prefers-color-scheme: dark) { body { color: #e6eaf0; background: #171c24; } }\n"
          "</style>\n</head>\n<body>\n<h1>" +
          name + "</h1>\n";
  if (!log.rows().empty())
    page += "<p>" + std::to_string(log.rows().size()) + " rows, up to step " + std::to_string(log.rows().back().step) + "</p>\n";
  for (const auto& columns : charts_of(log)) page += LogChart(log, columns).svg();
  return page + "</body>\n</html>\n";
}

}  // namespace tilewright::detail
