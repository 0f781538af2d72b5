// Any bytes are a table or an error. A table of texts that is written with quotes is the same when it is read again.
#include "tilewright/data/csv.hpp"

#include <cstdlib>

namespace {
namespace data = tilewright::data;

template <class Element>
xt::xtensor<Element, 2> parse(std::string_view text, const data::CsvOptions& options) {
  static const data::FileReader file("fuzz", "/dev/null");
  return data::detail::CsvTable<Element>(file, text, options).array();
}
std::string quoted(const std::string& field) {
  std::string result = "\"";
  for (const char c : field) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + '"';
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const data::CsvOptions options{.delimiter = static_cast<char>(bytes[0]), .header = size % 2 == 0, .missing = 0};
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    parse<float>(text, options);
    parse<std::int8_t>(text, options);
  } catch (const data::DataError&) {
  }
  try {
    const auto table = parse<std::string>(text, options);
    std::string written = options.header ? std::string(table.shape(1) - 1, options.delimiter) + "\n" : "";
    if (options.header && table.shape(1) == 1) written = "\"\"\n";
    for (std::size_t row = 0; row < table.shape(0); ++row)
      for (std::size_t column = 0; column < table.shape(1); ++column)
        written += quoted(table(row, column)) + (column + 1 < table.shape(1) ? options.delimiter : '\n');
    if (table.shape(0) > 0 && parse<std::string>(written, options) != table) std::abort();
  } catch (const data::DataError&) {
  }
  return 0;
}
