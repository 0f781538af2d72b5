#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tilewright/core/text.hpp"

namespace tilewright {

/// Returns a table as text. Columns are padded to the width of their longest cell, and joined by the delimiter; a row ends with a
/// line break. With a header, dashes follow the first row if there are others. Rows are lists of texts or numbers, and may have
/// different lengths.
///
///     std::cout << tw::table_to_string(std::vector<std::vector<std::string>>{{"num", "name"}, {"1", "foo"}});
template <class Rows>
std::string table_to_string(const Rows& rows, std::string_view delimiter = " | ", bool header = true) {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    auto& line = cells.emplace_back();
    for (const auto& cell : row) {
      if constexpr (std::is_convertible_v<decltype(cell), std::string_view>) line.emplace_back(std::string_view(cell));
      else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(cell)>>) line.push_back(std::to_string(cell));
      else line.push_back(to_text(cell).string());
      if (line.size() > widths.size()) widths.push_back(0);
      widths[line.size() - 1] = (std::max)(widths[line.size() - 1], line.back().size());
    }
  }
  std::string result;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t column = 0; column < cells[i].size(); ++column) {
      std::string& cell = cells[i][column];
      cell.resize(widths[column], ' ');
      if (column > 0) result += delimiter;
      result += cell;
    }
    result += '\n';
    if (header && i == 0 && cells.size() > 1) result.append(result.size(), '-') += '\n';
  }
  return result;
}

}  // namespace tilewright
