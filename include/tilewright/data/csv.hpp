#pragma once
// Tables in text files. Needs zlib.
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/flag.hpp"
#include "tilewright/core/text/parse_number.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/data/csv_rows.hpp"
#include "tilewright/data/data_error.hpp"
#include "tilewright/data/file_reader.hpp"

namespace tilewright::data {

/// Options of read_csv.
struct CsvOptions {
  char delimiter = ',';  ///< character between the fields of a row, such as ';' or '\t'
  Flag header = true;  ///< whether the first row has the names of the columns
  std::vector<std::string> columns{};  ///< names of the columns to read, in this order; empty: see `indices`
  std::vector<std::size_t> indices{};  ///< numbers of the columns to read, from 0, in this order; empty: all columns
  std::optional<double> missing{};  ///< value of an empty field, such as NaN; nothing: an empty field is an error
};

/// Whether read_csv gives elements of this type: integers, float, double and std::string.
template <class T>
concept CsvElement = std::same_as<T, std::string> || std::floating_point<T> ||
                     (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>);

namespace detail {

inline std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view spaces = " \t";
  const std::size_t begin = text.find_first_not_of(spaces);
  return begin == text.npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
}

/// A table of a file: which columns to read, and the elements of its rows.
template <CsvElement Element>
class CsvTable {
 public:
  CsvTable(const FileReader& file, std::string_view text, const CsvOptions& options)
      : file_(file), options_(options), rows_(file, text, options.delimiter) {
    if (!options.columns.empty() && (!options.header || !options.indices.empty()))
      file.fail(options.header ? "both columns and indices" : "columns by name without a header",
                "names of a header, or indices");
    if (!rows_.next()) file.fail("no rows", "a table");
    count_ = rows_.fields().size();
    first_line_ = rows_.line();
    if (options.header) header_ = rows_.fields();
    select_columns();
    if (!options.header) add_row();
    while (rows_.next()) add_row();
  }

  xt::xtensor<Element, 2> array() const {
    const std::size_t columns = selected_.size();
    auto result = xt::xtensor<Element, 2>::from_shape({elements_.size() / columns, columns});
    std::copy(elements_.begin(), elements_.end(), result.data());
    return result;
  }

 private:
  void select_columns() {
    selected_ = options_.indices;
    for (const std::string& name : options_.columns) selected_.push_back(column_of(name));
    for (const std::size_t index : selected_)
      if (index >= count_) file_.fail("no column " + std::to_string(index), "one of 0 to " + std::to_string(count_ - 1));
    if (!selected_.empty()) return;
    selected_.resize(count_);
    std::iota(selected_.begin(), selected_.end(), std::size_t{0});
  }
  std::size_t column_of(const std::string& name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
    std::string names;
    for (const std::string& known : header_) names += (names.empty() ? "" : ", ") + known;
    file_.fail("no column '" + name + "'", "one of " + names);
  }
  void add_row() {
    const auto& fields = rows_.fields();
    if (fields.size() != count_)
      file_.fail(std::to_string(fields.size()) + " fields in line " + std::to_string(rows_.line()),
                 std::to_string(count_) + ", as in line " + std::to_string(first_line_) + ",");
    for (const std::size_t column : selected_) elements_.push_back(element(fields[column], column));
  }
  Element element(const std::string& field, std::size_t column) const {
    if constexpr (std::same_as<Element, std::string>) {
      return field;
    } else {
      const std::string_view text = without_spaces(field);
      if (text.empty() && options_.missing) return missing();
      if (const auto number = tilewright::detail::parse_number<Element>(text)) return *number;
      file_.fail((text.empty() ? "an empty field" : "'" + std::string(text.substr(0, 40)) + "'") + " in line " +
                     std::to_string(rows_.line()) + ", column " + name_of(column),
                 "a number of " + std::string(to_text(dtype_of<Element>)));
    }
  }
  /// Returns options.missing as an element.
  Element missing() const {
    const double value = *options_.missing;
    bool fits = !std::isfinite(value) || std::abs(value) <= static_cast<double>((std::numeric_limits<Element>::max)());
    if constexpr (std::integral<Element>)
      fits = value >= static_cast<double>((std::numeric_limits<Element>::min)()) &&
             value < std::ldexp(1.0, std::numeric_limits<Element>::digits) && value == std::trunc(value);
    if (!fits) file_.fail("missing = " + std::to_string(value), "a number of " + std::string(to_text(dtype_of<Element>)));
    return static_cast<Element>(value);
  }
  /// Returns a column's number from 1, and its name if there is a header.
  std::string name_of(std::size_t column) const {
    return std::to_string(column + 1) + (column < header_.size() ? " (" + header_[column] + ")" : "");
  }

  const FileReader& file_;
  const CsvOptions& options_;
  CsvRows rows_;
  std::size_t count_ = 0, first_line_ = 0;  // fields of each row, and the line of the first row
  std::vector<std::string> header_{};  // empty: no header
  std::vector<std::size_t> selected_{};  // columns
  std::vector<Element> elements_{};
};

}  // namespace detail

/// Reads a table of numbers or texts from a CSV file (RFC 4180), plain or gzip-compressed: (rows, columns). A field may be in
/// quotes; two quotes in it are one. Lines end with LF, CR LF or CR, and empty lines are skipped. A table of a header alone has
/// no rows. Numbers have a decimal point, whatever the locale; an element is the nearest number of its type, and 0 if the number
/// is too small for it. Throws DataError, which names the file, the line and the column, for a field that is not a number of the
/// element's type or is beyond its largest, for rows of different lengths, for quotes that do not end, for an unknown column, for
/// an empty or unreadable file and for text in UTF-16.
///
///     const auto houses = tw::data::read_csv("houses.csv", {.columns = {"area", "rooms", "price"}});  // float32
///     const auto names = tw::data::read_csv<std::string>("iris.csv", {.delimiter = ';', .indices = {4}});
template <CsvElement Element = float>
[[nodiscard]] xt::xtensor<Element, 2> read_csv(const std::filesystem::path& path, const CsvOptions& options = {}) {
  FileReader file("read_csv", path);
  const auto bytes = file.read((std::numeric_limits<std::uint64_t>::max)());
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return detail::with_memory(
      "read_csv", [&] { return path.string() + ": a table of " + std::to_string(bytes.size()) + " bytes of text"; }, 0,
      [&] { return detail::CsvTable<Element>(file, text, options).array(); });
}

/// Numbers of classes and their names, for texts that name classes.
struct Classes {
  xt::xtensor<std::int32_t, 1> labels;  ///< of each text, the position of its class in `names`
  std::vector<std::string> names;  ///< the different texts, in ascending order
};
/// Returns the class of each text, for example of a column of read_csv<std::string>.
///
///     const auto [labels, names] = tw::data::classes(tw::data::read_csv<std::string>("iris.csv", {.columns = {"species"}}));
[[nodiscard]] inline Classes classes(const auto& texts) {
  Classes result;
  result.names.assign(texts.begin(), texts.end());
  std::sort(result.names.begin(), result.names.end());
  result.names.erase(std::unique(result.names.begin(), result.names.end()), result.names.end());
  result.labels = xt::xtensor<std::int32_t, 1>::from_shape({static_cast<std::size_t>(texts.size())});
  std::transform(texts.begin(), texts.end(), result.labels.data(), [&](const std::string& text) {
    return static_cast<std::int32_t>(std::lower_bound(result.names.begin(), result.names.end(), text) - result.names.begin());
  });
  return result;
}

}  // namespace tilewright::data
