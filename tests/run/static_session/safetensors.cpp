// labels: asan ubsan
// .safetensors files in memory, without a heap: what sessions write and read, and files that are damaged.
#include "tilewright/checkpoint/safetensors.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/count_allocations.hpp"
#include "tilewright/session/static_session.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using namespace tw::literals;
using tw::RunResult, tw::RunStatus;

namespace {

constexpr void variables(tw::Ir& ir) {
  ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "net.weight");
  ir.variable(tw::normal(0, 1), {3}, tw::float32, "net.\"b\"\\ü\n");
  ir.variable(tw::normal(0, 1), {5}, tw::float16, "half");
  ir.variable(tw::ones(), {2}, tw::boolean, "mask");
  ir.variable(tw::full(7), {}, tw::int64, "steps");
}
using Variables = tw::StaticSession<variables, tw::one_core>;
using File = std::vector<std::byte>;

File saved(Variables& session) {
  File file(Variables::safetensors_bytes());
  REQUIRE(session.save_safetensors(file).is_done());
  return file;
}
bool are_equal(const Variables& a, const Variables& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
std::string text_of(const RunStatus& status) {
  char memory[400];
  return std::string(write_text(status, memory));
}
/// The file of a header and a buffer of some size, of ones.
File file_of(std::string_view header, std::size_t buffer_bytes) {
  File file(8 + header.size() + buffer_bytes, std::byte{1});
  const std::uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof length);
  std::memcpy(file.data() + 8, header.data(), header.size());
  return file;
}
File concatenated(const tw::detail::SafetensorsParts& file) {
  File result;
  for (const auto& part : file.parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

/// Parts of a header that fits, with the keys in PyTorch's order, and tensors in another one.
const std::vector<std::string> entries = {
    R"("mask":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]})",
    R"("net.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[2,26]})",
    R"("net.\u0022b\"\\\u00fc\n" : { "dtype" : "F32" , "shape" : [ 3 ] , "data_offsets" : [ 26 , 38 ] })",
    R"("steps":{"dtype":"I64","shape":[],"data_offsets":[38,46]})",
    R"("half":{"data_offsets":[46,56],"shape":[5],"dtype":"F16"})"};
constexpr std::size_t buffer_bytes = 56;

std::string header_of(const std::vector<std::string>& parts) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  for (const std::string& part : parts) header += "," + part;
  return header + "}  ";
}
/// The header with a part of an entry replaced.
std::string changed(std::size_t entry, std::string_view from, std::string_view to) {
  auto parts = entries;
  const std::size_t place = parts[entry].find(from);
  REQUIRE(place != std::string::npos);
  parts[entry].replace(place, from.size(), to);
  return header_of(parts);
}

}  // namespace

TEST_CASE("an object writes the file of a session, and both read it") {
  Variables one, other;
  REQUIRE(one.init(1).is_done());
  REQUIRE(other.init(2).is_done());
  const File file = saved(one);
  const auto read = tw::parse_safetensors(file, "one");
  for (const tw::HostTensor& expected : one.host_tensors()) {
    const auto* const found = read.find(expected.name);
    REQUIRE(found);
    CHECK(found->spec == expected.spec);
    CHECK(std::ranges::equal(found->bytes, expected.bytes));
  }
  REQUIRE(other.load_safetensors(file).is_done());
  CHECK(are_equal(one, other));
  tw::Session<variables, tw::one_core> session({.seed = 3, .threads = 1});
  const tw::detail::SafetensorsParts parts("test", session.host_tensors(), {});
  REQUIRE(other.load_safetensors(concatenated(parts)).is_done());
  for (std::size_t v = 0; v < 5; ++v) CHECK(std::ranges::equal(other.host_tensors()[v].bytes, session.host_tensors()[v].bytes));
}

namespace {
constexpr void plain(tw::Ir& ir) {
  ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "net.weight");
  ir.variable(tw::normal(0, 1), {3}, tw::float32, "net.bias");
  ir.variable(tw::ones(), {2}, tw::uint8, "Codes");
}
constexpr void small_floats(tw::Ir& ir) { ir.variable(tw::zeros(), {3}, tw::float8_143, "codes"); }
/// Keeps twice the variable's value after an upload, and gives it back before a download.
constexpr void twice(tw::Ir& ir) {
  const tw::Tensor w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  tw::Tensor kept;
  {
    tw::ExecutionContextScope scope(ir, tw::ExecutionContext::WeightsFromHostFragment);
    kept = w * 2;
  }
  tw::ops::host_store(ir.d2h_stream("y", {2}), kept);
}
}  // namespace

TEST_CASE("the bytes of plain names are those that save_safetensors writes") {
  tw::StaticSession<plain, tw::one_core> one;
  REQUIRE(one.init(1).is_done());
  File file(one.safetensors_bytes());
  REQUIRE(one.save_safetensors(file).is_done());
  CHECK(file == concatenated(tw::detail::SafetensorsParts("test", one.host_tensors(), {})));
}
TEST_CASE("float8 is written and read as codes, with its format in the metadata") {
  tw::StaticSession<small_floats, tw::one_core> one;
  REQUIRE(one.init(1).is_done());
  const std::uint8_t codes[3] = {1, 2, 200};
  std::memcpy(one.variable("codes"_s).data(), codes, sizeof codes);
  File file(one.safetensors_bytes());
  REQUIRE(one.save_safetensors(file).is_done());
  CHECK(tw::parse_safetensors(file, "one").find("codes")->spec.dtype == tw::float8_143);
  REQUIRE(one.init(1).is_done());
  REQUIRE(one.load_safetensors(file).is_done());
  CHECK(std::memcmp(one.variable("codes"_s).data(), codes, sizeof codes) == 0);
}
TEST_CASE("ops that follow an upload run after a file is read") {
  tw::StaticSession<twice, tw::one_core> one;
  REQUIRE(one.init(1).is_done());
  REQUIRE(one.run().is_done());
  CHECK(one.stream("y"_s)[0] == 2);
  const File file = [&] {
    File result(one.safetensors_bytes());
    const float ten = 10;
    REQUIRE(one.save_safetensors(result).is_done());
    std::memcpy(result.data() + result.size() - 8, &ten, sizeof ten);
    return result;
  }();
  REQUIRE(one.load_safetensors(file).is_done());
  REQUIRE(one.run().is_done());
  CHECK(one.stream("y"_s)[0] == 20);
}
TEST_CASE("a file may have any order, alignment, escapes, spaces and other tensors") {
  Variables one;
  REQUIRE(one.init(1).is_done());
  File file = file_of(header_of(entries), buffer_bytes);
  file.insert(file.begin(), std::byte{0});
  const auto bytes = std::span<const std::byte>(file).subspan(1);
  const int allocations = support::allocations_of([&] { CHECK(one.load_safetensors(bytes).is_done()); });
  CHECK(allocations == 0);
  CHECK(one.variable("steps"_s)[0] == 0x0101010101010101);
  CHECK(one.variable("mask"_s)[1]);
  auto more = entries;
  more.push_back(R"("optimiser.\ud83d\ude00":{"dtype":"F8_E4M3","shape":[1,1,1,1,2],"data_offsets":[56,58]})");
  more.push_back(R"("empty":{"dtype":"F32","shape":[0],"data_offsets":[58,58]})");
  CHECK(one.load_safetensors(file_of(header_of(more), buffer_bytes + 2)).is_done());
}

TEST_CASE("files that do not fit are refused with a text, and change nothing") {
  Variables one;
  CHECK(one.load_safetensors(file_of(header_of(entries), buffer_bytes)).result == RunResult::not_initialised);
  REQUIRE(one.init(1).is_done());
  const Variables before = one;
  const auto refuses = [&](const File& file, std::string_view text) {
    const RunStatus status = one.load_safetensors(file);
    CHECK(status.result == RunResult::unfit_file);
    CHECK(text_of(status) == "load_safetensors: " + std::string(text));
    CHECK(are_equal(one, before));
  };
  const auto refuses_header = [&](const std::string& header, std::string_view text) {
    CAPTURE(header);
    refuses(file_of(header, buffer_bytes), text);
  };
  const std::string cut = "a file that is cut: a whole one expected",
                    holes = "tensors with holes or overlaps: each byte behind the header in one tensor expected",
                    outside = "data_offsets outside of the file: bytes behind the header expected",
                    json = "a header that is no JSON of tensors: that of .safetensors expected",
                    other = "a tensor of another dtype or shape than variable ";
  refuses({}, cut);
  for (const std::uint64_t length : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{100'000}}) {
    File file = file_of(header_of(entries), buffer_bytes);
    std::memcpy(file.data(), &length, sizeof length);
    refuses(file, cut);
  }
  refuses(file_of(header_of(entries), buffer_bytes + 1), holes);
  refuses_header(changed(3, "[38,46]", "[37,45]"), holes);
  refuses_header(changed(1, "[2,26]", "[26,2]"), outside);
  refuses_header(changed(1, "[2,26]", "[2,9223372036854775808]"), outside);
  refuses_header(changed(1, "[2,26]", "[9223372036854775808,9223372036854775832]"), outside);
  refuses_header(changed(1, "[2,26]", "[2,18446744073709551616]"), json);
  refuses_header(changed(1, "[2,26]", "[2,26,26]"), json);
  refuses_header(changed(1, "[2,26]", "[2]"), json);
  refuses_header(changed(1, "[2,26]", "[-2,26]"), json);
  refuses_header(changed(1, "[2,26]", "[02,26]"), json);
  refuses_header(changed(1, "[2,26]", "[2.0,26]"), json);
  refuses_header(changed(1, "[2,3]", "[3,2]"), other + "net.weight");
  refuses_header(changed(1, "[2,3]", "[6]"), other + "net.weight");
  refuses_header(changed(1, "[2,3]", "[2,3,1,1,1,1,1]"), json);
  refuses_header(changed(1, "F32", "I32"), other + "net.weight");
  refuses_header(changed(1, "[2,26]", "[2,25]"), other + "net.weight");
  refuses_header(changed(1, "net.weight", "net.weights"), "no tensor for variable net.weight");
  refuses_header(changed(3, "\"steps\"", "\"net.weight\""), "two tensors for variable net.weight");
  refuses_header(changed(1, "\"dtype\":\"F32\",", ""), json);
  refuses_header(changed(1, "\"dtype\"", "\"type\""), json);
  refuses_header(changed(1, "\"shape\":[2,3]", "\"dtype\":\"F32\""), json);
  refuses_header(changed(1, "net.weight", "net.\\x"), json);
  refuses_header(changed(1, "net.weight", "net.\\u12"), json);
  refuses_header(changed(1, "net.weight", "net.\n"), json);
  refuses_header(changed(4, "\"dtype\":\"F16\"}", ""), json);
  refuses_header(" " + header_of(entries), json);
  refuses_header(header_of(entries) + "{}", json);
  refuses_header("", json);
  refuses_header(std::string(10'000, '['), json);
  refuses_header(std::string(R"({"net.weight":)") + std::string(10'000, '{'), json);
  auto overlapping = entries;
  overlapping.push_back(R"("more":{"dtype":"U8","shape":[4],"data_offsets":[10,14]})");
  refuses_header(header_of(overlapping), holes);
  File file = file_of(header_of(entries), buffer_bytes);
  file[file.size() - buffer_bytes] = std::byte{2};
  refuses(file, "a bool that is neither 0 nor 1 for variable mask");
}
TEST_CASE("damaged files are refused, or read as a session does") {
  Variables one;
  REQUIRE(one.init(1).is_done());
  const Variables before = one;
  const File whole = file_of(header_of(entries), buffer_bytes);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(one.load_safetensors(std::span(whole).first(size)).result == RunResult::unfit_file);
    CHECK(are_equal(one, before));
  }
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    File file = whole;
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      file[random() % (file.size() - buffer_bytes)] = static_cast<std::byte>("0123456789\"[]{},:\\u \xff"[random() % 22]);
    one = before;
    if (const RunStatus status = one.load_safetensors(file); !status.is_done()) {
      CHECK(status.result == RunResult::unfit_file);
      CHECK(are_equal(one, before));
      continue;
    }
    const auto expected = [&]() -> std::optional<tw::TensorFile> {
      try {
        return tw::parse_safetensors(file, "damaged");
      } catch (const tw::LoadError& error) {  // metadata are read here only
        CHECK(std::string(error.what()).find("UTF-8") != std::string::npos);
        return std::nullopt;
      }
    }();
    if (!expected) continue;
    ++read;
    for (const tw::HostTensor& tensor : one.host_tensors())
      CHECK(std::ranges::equal(tensor.bytes, expected->find(tensor.name)->bytes));
  }
  CHECK(read > 20);
}
TEST_CASE("a file is written into enough memory of an object with values") {
  Variables one;
  File file(Variables::safetensors_bytes() - 1);
  CHECK(one.save_safetensors(file).result == RunResult::not_initialised);
  REQUIRE(one.init(1).is_done());
  const RunStatus status = one.save_safetensors(file);
  CHECK(status.result == RunResult::unfit_file);
  CHECK(text_of(status) == "save_safetensors: memory smaller than the file: safetensors_bytes expected");
  CHECK(file == File(file.size()));
}
