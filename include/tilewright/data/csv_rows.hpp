#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/data/file_reader.hpp"

namespace tilewright::data::detail {

/// Divides the text of a CSV file into rows, and rows into fields. (xt::load_csv 0.24 reads 12 from a field 12abc, drops an empty
/// last field, takes rows of 3, 1 and 2 fields for three of 2, knows no quotes, and names no place in its errors.)
class CsvRows {
 public:
  /// `file` is named in errors.
  CsvRows(const FileReader& file, std::string_view text, char delimiter) : file_(file), text_(text), delimiter_(delimiter) {
    if (delimiter == '"' || delimiter == '\n' || delimiter == '\r')
      file.fail("a quote or an end of line as delimiter", "another character");
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // UTF-8's byte order mark
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")) file.fail("text in UTF-16", "UTF-8");
    if (const std::size_t at = text_.find('\0'); at != text_.npos) file.fail("byte 0x00 at byte " + std::to_string(at), "a text");
  }

  /// Reads the next row that is not empty. Returns false at the end of the text.
  bool next() {
    line_ = next_line_;
    while (end_of_line() > 0) {
      at_ += end_of_line();
      line_ = ++next_line_;
    }
    if (at_ == text_.size()) return false;
    count_ = 0;
    do read_field();
    while (take_delimiter());
    fields_.resize(count_);
    at_ += end_of_line();
    ++next_line_;
    return true;
  }
  /// Returns the fields of the row. They are valid until the next one.
  const std::vector<std::string>& fields() const { return fields_; }
  /// Returns the number of the row's first line, from 1.
  std::size_t line() const { return line_; }

 private:
  /// Returns the number of characters of the end of line at this position: 0 if there is none.
  std::size_t end_of_line() const {
    if (at_ == text_.size() || (text_[at_] != '\n' && text_[at_] != '\r')) return 0;
    return text_.substr(at_).starts_with("\r\n") ? 2 : 1;
  }
  bool take_delimiter() {
    const bool is_here = at_ < text_.size() && text_[at_] == delimiter_;
    at_ += is_here;
    return is_here;
  }
  void read_field() {
    if (fields_.size() == count_) fields_.emplace_back();
    std::string& field = fields_[count_++];
    field.clear();
    if (text_.substr(at_).starts_with('"')) return read_quoted(field);
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != delimiter_ && end_of_line() == 0) ++at_;
    field = text_.substr(begin, at_ - begin);
  }
  void read_quoted(std::string& field) {
    const std::size_t begin_line = next_line_;
    for (;;) {
      const std::size_t begin = at_ + 1, end = text_.find('"', begin);
      if (end == text_.npos) fail("a quoted field that does not end, from line ", begin_line, "a closing quote");
      for (at_ = begin; at_ < end; ++at_) next_line_ += text_[at_] == '\n' || (text_[at_] == '\r' && end_of_line() == 1);
      field += text_.substr(begin, end - begin);
      at_ = end + 1;
      if (!text_.substr(at_).starts_with('"')) break;
      field += '"';
    }
    if (at_ < text_.size() && text_[at_] != delimiter_ && end_of_line() == 0)
      fail("text after a quoted field in line ", next_line_, "a delimiter or the end of the line");
  }
  [[noreturn]] void fail(const std::string& found, std::size_t line, const std::string& expected) const {
    file_.fail(found + std::to_string(line), expected);
  }

  const FileReader& file_;
  std::string_view text_;
  char delimiter_;
  std::size_t at_ = 0, line_ = 1, next_line_ = 1;
  std::size_t count_ = 0;  // fields of the row
  std::vector<std::string> fields_{};
};

}  // namespace tilewright::data::detail
