// labels: alone asan ubsan
#include "tilewright/data/csv.hpp"

#include <zlib.h>

#include <clocale>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>
#if __has_include(<xtensor/io/xcsv.hpp>)
#include <xtensor/io/xcsv.hpp>
#else
#include <xtensor/xcsv.hpp>
#endif

#include "../../catch.hpp"
#include "../../support/temporary_folder.hpp"

namespace {

namespace data = tilewright::data;
namespace fs = std::filesystem;
using data::CsvOptions, data::read_csv;
using Table = xt::xtensor<float, 2>;
using Texts = xt::xtensor<std::string, 2>;

/// A file with a text, named table.csv in errors.
struct File {
  TemporaryFolder folder{};
  fs::path path = folder.path / "table.csv";
  explicit File(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
};
template <class Element = float>
xt::xtensor<Element, 2> read(const std::string& text, const CsvOptions& options = {}) {
  return read_csv<Element>(File(text).path, options);
}
/// The text of the error, from the name of the file on.
template <class Element = float>
std::string error(const std::string& text, const CsvOptions& options = {}) {
  try {
    read<Element>(text, options);
  } catch (const data::DataError& thrown) {
    const std::string what = thrown.what();
    return what.starts_with("read_csv: ") ? what.substr(std::min(what.size(), what.find("table.csv"))) : what;
  }
  return "no error";
}
const CsvOptions without_header{.header = false};

TEST_CASE("read_csv: columns by name, by number, or all") {
  const std::string text = "area,rooms,price\n50.5,2,1e5\n-70,3,+2.5e5\n";
  CHECK((read(text) == Table{{50.5F, 2, 1e5F}, {-70, 3, 2.5e5F}}));
  CHECK((read(text, {.columns = {"price", "area"}}) == Table{{1e5F, 50.5F}, {2.5e5F, -70}}));
  CHECK((read(text, {.indices = {1, 1}}) == Table{{2, 2}, {3, 3}}));
  CHECK((read("1;2\n3;4\n", {.delimiter = ';', .header = false}) == Table{{1, 2}, {3, 4}}));
  CHECK((read("1\t2\n", {.delimiter = '\t', .header = false, .indices = {1}}) == Table{{2}}));
  CHECK(read<std::int64_t>("9007199254740993,-1\n", without_header)(0, 0) == 9007199254740993);
  CHECK(read("a,b\n").shape() == std::array<std::size_t, 2>{0, 2});

  CHECK(error(text, {.columns = {"prize"}}) == "table.csv: no column 'prize': one of area, rooms, price expected");
  CHECK(error(text, {.indices = {3}}) == "table.csv: no column 3: one of 0 to 2 expected");
  CHECK(error(text, {.header = false, .columns = {"area"}}) ==
        "table.csv: columns by name without a header: names of a header, or indices expected");
  CHECK(error(text, {.columns = {"area"}, .indices = {0}}) ==
        "table.csv: both columns and indices: names of a header, or indices expected");
  CHECK(error(text, {.delimiter = '"'}) == "table.csv: a quote or an end of line as delimiter: another character expected");
}

TEST_CASE("read_csv: a plain table, as xtensor reads it") {
  std::string text;
  for (int row = 0; row < 40; ++row) {
    for (int column = 0; column < 5; ++column)
      text += (column > 0 ? "," : "") + std::to_string(std::sin(7 * row + column) * std::pow(10, column - 2));
    text += '\n';
  }
  std::istringstream stream(text);
  const xt::xtensor<double, 2> expected = xt::load_csv<double>(stream);
  REQUIRE(expected.shape() == std::array<std::size_t, 2>{40, 5});
  CHECK((read<double>(text, without_header) == expected));
}

TEST_CASE("read_csv: fields that are no numbers") {
  CHECK(error("a,b\n1,2\n3,x4\n") == "table.csv: 'x4' in line 3, column 2 (b): a number of float32 expected");
  CHECK(error("1,12abc\n", without_header) == "table.csv: '12abc' in line 1, column 2: a number of float32 expected");
  CHECK(error("a,b\n,2\n") == "table.csv: an empty field in line 2, column 1 (a): a number of float32 expected");
  CHECK(error("a,b\n1,\n") == "table.csv: an empty field in line 2, column 2 (b): a number of float32 expected");
  CHECK(error("a\n1e39\n") == "table.csv: '1e39' in line 2, column 1 (a): a number of float32 expected");
  CHECK(error<std::int32_t>("a\n1.0\n") == "table.csv: '1.0' in line 2, column 1 (a): a number of int32 expected");
  CHECK(error<std::uint8_t>("a\n256\n") == "table.csv: '256' in line 2, column 1 (a): a number of uint8 expected");
  CHECK(error<std::uint8_t>("a\n-1\n") == "table.csv: '-1' in line 2, column 1 (a): a number of uint8 expected");
  for (const char* field : {"1,5", "0x10", "--1", "+-1", "1 2", "1e", "e5", "."})
    CHECK(error(std::string("a;b\n") + field + ";1\n", {.delimiter = ';'}) ==
          "table.csv: '" + std::string(field) + "' in line 2, column 1 (a): a number of float32 expected");
  CHECK((read("a,name\n1,x\n", {.columns = {"a"}}) == Table{{1}}));  // a column that is not read may hold texts
}

TEST_CASE("read_csv: spaces around numbers, infinities, NaN and tiny numbers") {
  const Table found = read(" 1 ,\t-2\ninf,-inf\nnan,1e-50\n", without_header);
  CHECK(found(0, 0) == 1);
  CHECK(found(0, 1) == -2);
  CHECK(found(1, 0) == std::numeric_limits<float>::infinity());
  CHECK(found(1, 1) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(found(2, 0)));
  CHECK(found(2, 1) == 0);
}

TEST_CASE("read_csv: numbers are rounded once, and the rule for small and large ones is the same for both types") {
  // A bit above the middle of 1 and 1 + 2^-23, of which the nearest double is exactly the middle.
  const Table found = read("1.0000000596046447754,-1.0000000596046447754,1.00000005960464477539,16777217\n", without_header);
  CHECK(found(0, 0) == 1 + 0x1p-23F);
  CHECK(found(0, 1) == -1 - 0x1p-23F);
  CHECK(found(0, 2) == 1);  // a bit below the middle
  CHECK(found(0, 3) == 16777216);
  // The middle of the smallest number and 0 is 0.70064923e-45 for float, and 2.47e-324 for double.
  CHECK((read("1e-45,7.1e-46,7e-46,-1e-46,0.00001e-43,1e-400,1e-99999999999999999999,340282350000000000000000e15\n",
              without_header) == Table{{0x1p-149F, 0x1p-149F, 0, 0, 0, 0, 0, std::numeric_limits<float>::max()}}));
  CHECK((read<double>("2.5e-324,2.4e-324,0.001e-322,-1e-400,1e-99999999999999999999,17976931348623157e292\n", without_header) ==
         xt::xtensor<double, 2>{{0x1p-1074, 0, 0, 0, 0, std::numeric_limits<double>::max()}}));
  CHECK(std::signbit(read("-1e-46\n", without_header)(0, 0)));
  for (const std::string field : {"3.4028236e38", "-1e39", "1e400", "1e99999999999999999999", "1000000000000000000000e20"})
    CHECK(error(field + "\n", without_header) == "table.csv: '" + field + "' in line 1, column 1: a number of float32 expected");
  for (const std::string field : {"1.7976931348623159e308", "-1e309", "0.0001e400"})
    CHECK(error<double>(field + "\n", without_header).ends_with(": a number of float64 expected"));
  CHECK(error("a,b\n,2\n", {.missing = 1e300}).ends_with(": a number of float32 expected"));
}

TEST_CASE("read_csv: empty fields with a value for them") {
  const Table found = read("a,b\n,2\n3,\n", {.missing = NAN});
  CHECK(std::isnan(found(0, 0)));
  CHECK(found(0, 1) == 2);
  CHECK(std::isnan(found(1, 1)));
  CHECK((read<int>("a,b\n,2\n", {.missing = -1}) == xt::xtensor<int, 2>{{-1, 2}}));
  for (const double missing : {0.5, 1e10, -1e10, static_cast<double>(NAN)})
    CHECK(error<int>("a,b\n,2\n", {.missing = missing}).ends_with(": a number of int32 expected"));
}

TEST_CASE("read_csv: rows of different lengths") {
  CHECK(error("a,b,c\n1,2,3\n1,2\n") == "table.csv: 2 fields in line 3: 3, as in line 1, expected");
  CHECK(error("1,2\n1,2,3\n", without_header) == "table.csv: 3 fields in line 2: 2, as in line 1, expected");
  CHECK(error("a,b\n1,2,\n") == "table.csv: 3 fields in line 2: 2, as in line 1, expected");
  CHECK(error("1,2,3\n4\n5,6\n", without_header) ==  // 6 fields, as three rows of two
        "table.csv: 1 fields in line 2: 3, as in line 1, expected");
}

TEST_CASE("read_csv: ends of lines, empty lines, and a byte order mark") {
  const Table expected{{1, 2}, {3, 4}};
  for (const char* text :
       {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r\n1,2\r\n3,4\r", "a,b\n1,2\n3,4\n\n\n",
        "\n\na,b\n\r\n1,2\n\n3,4\n", "a,b\r1,2\r3,4\r", "a,b\r1,2\r3,4", "\r\ra,b\n1,2\r\r\n3,4\n\r",
        "\xef\xbb\xbf"
        "a,b\n1,2\n3,4\n"})
    CHECK((read(text, {.columns = {"a", "b"}}) == expected));
  CHECK(error("a,b\n\n\r\n1,x\n") == "table.csv: 'x' in line 4, column 2 (b): a number of float32 expected");
  CHECK(error("") == "table.csv: no rows: a table expected");
  CHECK(error("\n\r\n\n") == "table.csv: no rows: a table expected");
  CHECK(error("\r\r") == "table.csv: no rows: a table expected");
  CHECK(error("a,b\r\r1,x\r") == "table.csv: 'x' in line 3, column 2 (b): a number of float32 expected");
  const std::string zero(1, '\0');
  CHECK(error("\xff\xfe"
              "a" +
              zero + "\n" + zero) == "table.csv: text in UTF-16: UTF-8 expected");
  CHECK(error("\xfe\xff" + zero + "a") == "table.csv: text in UTF-16: UTF-8 expected");
  CHECK(error<std::string>("a\n" + zero + "1\n") == "table.csv: byte 0x00 at byte 2: a text expected");
}

TEST_CASE("read_csv: quoted fields") {
  CHECK((read<std::string>("\"a,b\",\"\"\"x\"\" y\",\"\"\n\"1\r\n2\",,z\"z\n", without_header) ==
         Texts{{"a,b", "\"x\" y", ""}, {"1\r\n2", "", "z\"z"}}));
  CHECK((read<std::string>("a\r\"1\r2\"\r3\r") == Texts{{"1\r2"}, {"3"}}));
  CHECK(error("a,b\r\"1\r\r\n\",2\r3,x\r").starts_with("table.csv: '1\r\r\n' in line 2, column 1 (a)"));
  CHECK(error<std::string>("a,b\r1,\"\r\r\n2\"\r3,x,y\r") == "table.csv: 3 fields in line 5: 2, as in line 1, expected");
  CHECK((read("\"a\",\"b, c\"\n\"1.5\",2\n", {.columns = {"b, c", "a"}}) == Table{{2, 1.5F}}));
  CHECK(error("a,b\n\"1\n\n\",2\n3,x\n") == "table.csv: '1\n\n' in line 2, column 1 (a): a number of float32 expected");
  CHECK(error<std::string>("\"a\n\",b\n1,\"x\n2,3\n") ==
        "table.csv: a quoted field that does not end, from line 3: a closing quote expected");
  CHECK(error<std::string>("a,b\n\"1\"2,3\n") ==
        "table.csv: text after a quoted field in line 2: a delimiter or the end of the line expected");
}

TEST_CASE("read_csv: compressed, whatever the locale, and files that are not there") {
  const File file("");
  const gzFile compressed = gzopen(file.path.string().c_str(), "wb");
  REQUIRE(gzputs(compressed, "a,b\n1.5,2\n") == 10);
  REQUIRE(gzclose(compressed) == Z_OK);
  for (const char* locale : {"de_DE.UTF-8", "C"}) {
    std::setlocale(LC_ALL, locale);  // without effect where it is not installed
    CHECK((read_csv(file.path) == Table{{1.5F, 2}}));
  }
  CHECK_THROWS_WITH(read_csv(file.folder.path / "none.csv"),
                    "read_csv: " + (file.folder.path / "none.csv").string() + ": no such file: a readable file expected");
}

TEST_CASE("classes: numbers of texts in ascending order") {
  const auto [labels, names] = data::classes(read<std::string>("kind\nrose\niris\nrose\naster\n"));
  CHECK((labels == xt::xtensor<std::int32_t, 1>{2, 1, 2, 0}));
  CHECK(names == std::vector<std::string>{"aster", "iris", "rose"});
}

}  // namespace
