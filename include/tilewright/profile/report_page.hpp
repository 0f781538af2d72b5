#pragma once
#include <string>
#include <string_view>

#include "tilewright/profile/page/balance.hpp"
#include "tilewright/profile/page/base.hpp"
#include "tilewright/profile/page/calls.hpp"
#include "tilewright/profile/page/charts.hpp"
#include "tilewright/profile/page/compare.hpp"
#include "tilewright/profile/page/liveness.hpp"
#include "tilewright/profile/page/main.hpp"
#include "tilewright/profile/page/memory.hpp"
#include "tilewright/profile/page/modules.hpp"
#include "tilewright/profile/page/numbers.hpp"
#include "tilewright/profile/page/steps.hpp"
#include "tilewright/profile/page/style.hpp"
#include "tilewright/profile/page/summary.hpp"
#include "tilewright/profile/page/tile_sets.hpp"
#include "tilewright/profile/page/timeline.hpp"

namespace tilewright::detail {

/// The page of a report: one HTML text with its style, its script and the data, a profile or a list of two as JSON. The parts in
/// page/ are CSS and JavaScript in raw strings, one for each section of the page; the script runs them in this order.
inline std::string report_page(std::string_view json) {
  std::string page = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>tilewright report</title>
<style>)html";
  page += page_style;
  page += R"html(</style>
</head>
<body>
<div id="page"><noscript>This report draws itself with JavaScript.</noscript></div>
<div id="tip" role="tooltip" hidden></div>
<script type="application/json" id="data">)html";
  page += json;
  page += "</script>\n<script>\n(() => {\n'use strict';\n";
  for (const std::string_view part :
       {page_base, page_charts, page_summary, page_compare, page_memory, page_liveness, page_tile_sets, page_timeline, page_steps,
        page_modules, page_balance, page_calls, page_numbers, page_main})
    page += part;
  return page += "})();\n</script>\n</body>\n</html>\n";
}

}  // namespace tilewright::detail
