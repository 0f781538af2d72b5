// labels: none
// The text of a tensor, as NumPy writes it. The texts are in tests/reference/prints.txt.
#include "tilewright/core/format_tensor.hpp"

#include <bit>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>

#include "../../catch.hpp"
#include "tilewright/core/text/table_text.hpp"

namespace {

namespace tw = tilewright;

struct Case {
  std::string name{}, dtype{};
  tw::Shape shape{};
  tw::TensorFormat format{};
  std::vector<std::string> elements{};
  std::string text{};
};

std::vector<Case> read_cases(const char* path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    Case next;
    std::istringstream head(line);
    int rank = 0, lines = 0;
    std::string form, separator, brackets;
    head >> next.name >> next.dtype >> rank;
    for (std::int64_t extent = 0; rank > 0 && head >> extent; --rank) next.shape.push_back(extent);
    tw::TensorFormat& format = next.format;
    head >> format.summarise_threshold >> format.edge_items >> format.max_line_width >> format.digits >> form >> separator >>
        brackets >> lines;
    format.separator = separator == "_" ? ' ' : separator.at(0);
    format.open_bracket = brackets.at(0), format.close_bracket = brackets.at(1);
    if (form == "fixed") format.float_format = tw::FloatFormat::fixed;
    if (form == "scientific") format.float_format = tw::FloatFormat::scientific;
    if (form == "none") format.float_format = tw::FloatFormat::none;
    std::getline(file, line);
    std::istringstream elements(line);
    for (std::string element; elements >> element;) next.elements.push_back(element);
    for (int i = 0; i < lines && std::getline(file, line); ++i) next.text += (i == 0 ? "" : "\n") + line;
    cases.push_back(next);
  }
  return cases;
}
template <class T>
std::string text_of(const Case& given) {
  const auto elements = std::make_unique<T[]>(given.elements.size());
  for (std::size_t i = 0; i < given.elements.size(); ++i) {
    const char* const element = given.elements[i].c_str();
    if constexpr (std::is_same_v<T, std::int64_t>) elements[i] = std::strtoll(element, nullptr, 10);
    else elements[i] = static_cast<T>(std::strtod(element, nullptr));
  }
  return tw::format_tensor(elements.get(), given.shape, given.format);
}
std::string text_of_any(const Case& given) {
  if (given.dtype == "float32") return text_of<float>(given);
  if (given.dtype == "float16") return text_of<tw::float16_t>(given);
  if (given.dtype == "float64") return text_of<double>(given);
  if (given.dtype == "int32") return text_of<std::int32_t>(given);
  if (given.dtype == "int64") return text_of<std::int64_t>(given);
  if (given.dtype == "uint8") return text_of<std::uint8_t>(given);
  if (given.dtype == "bool") return text_of<bool>(given);
  return "no such dtype: " + given.dtype;
}

TEST_CASE("format_tensor: the texts are NumPy's") {
  const auto cases = read_cases(TILEWRIGHT_REFERENCE_DIR "/prints.txt");
  CHECK(cases.size() > 50);
  for (const Case& given : cases) {
    INFO(given.name);
    CHECK(text_of_any(given) == given.text);
  }
}

TEST_CASE("format_tensor: numbers by themselves are read back as they were") {
  for (std::uint16_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = std::bit_cast<tw::float16_t>(bits);
    const std::string text = tw::format_tensor(&half, {}, {.float_format = tw::FloatFormat::none});
    if (static_cast<tw::float16_t>(std::strtof(text.c_str(), nullptr)) != half) FAIL(text);
  }
  const float number = 0x1.fffffep-1f, denormal = 1e-45f;
  CHECK(tw::format_tensor(&number, {}, {.float_format = tw::FloatFormat::none}) == "0.99999994");
  CHECK(tw::format_tensor(&denormal, {}, {.float_format = tw::FloatFormat::none}) == "1e-45");
}

TEST_CASE("table_to_string: columns of one width, and dashes as long as the first line with its end") {
  const std::vector<std::vector<std::string>> rows{{"num", "foo", "name"}, {"1", "foobar", "x"}, {"22", "", "seventy"}};
  CHECK(tw::table_to_string(rows) ==
        "num | foo    | name   \n"
        "-----------------------\n"
        "1   | foobar | x      \n"
        "22  |        | seventy\n");
  CHECK(tw::table_to_string(rows, ",", false) == "num,foo   ,name   \n1  ,foobar,x      \n22 ,      ,seventy\n");
  CHECK(tw::table_to_string(std::vector<std::vector<int>>{{1, 20}}) == "1 | 20\n");
  CHECK(tw::table_to_string(std::vector<std::vector<int>>{{1}, {2, 30}}, " ") == "1\n--\n2 30\n");
}

TEST_CASE("format_tensor: numbers of a format that it cannot follow, and the largest") {
  const float elements[] = {1.25F, -3e-20F, 1e30F, 2};
  const auto text = [&](const tw::TensorFormat& format) { return tw::format_tensor(elements, {4}, format); };
  CHECK_THROWS_WITH(text({.edge_items = 0}), "format_tensor: edge_items 0: 1 or more expected");
  CHECK_THROWS_WITH(text({.digits = -1}), "format_tensor: digits -1: 0 or more expected");
  CHECK_THROWS_AS(text({.summarise_threshold = -1}), std::invalid_argument);
  CHECK_THROWS_AS(text({.max_line_width = -1}), std::invalid_argument);
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  CHECK(text({.edge_items = most}) == text({}));
  CHECK(text({.max_line_width = most}) == text({}));
  CHECK(text({.digits = most}) == text({.digits = 1000}));
}

TEST_CASE("format_tensor: a tensor without elements") { CHECK(tw::format_tensor<float>(nullptr, {2, 0}) == "[]"); }

}  // namespace
