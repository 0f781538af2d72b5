// labels: none
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "report/synthetic_profiles.hpp"
#include "support/temporary_folder.hpp"
#include "tilewright/profile/print_profile.hpp"
#include "tilewright/profile/write_report.hpp"

using namespace tilewright;

namespace {
std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
bool nearly(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }
std::string json_of(auto value) { return tilewright::detail::JsonText().value(value).text(); }
}  // namespace

TEST_CASE("profile: totals count each step as often as a run executes it") {
  const Profile profile = synthetic::small();
  const Profile::Totals totals = profile.totals();
  CHECK(totals.cycles == 150 + 3 * 30);
  CHECK(totals.compute == 100 + 3 * 20);
  CHECK(totals.exchange == 40);
  CHECK(totals.sync == 10 + 3 * 10);
  CHECK(totals.flops == 60);
  CHECK(nearly(totals.seconds, 240e-6));
  CHECK(nearly(totals.runs_per_second, 1e6 / 240));
  CHECK(nearly(totals.flops_per_second, 250e3));
  CHECK(nearly(totals.utilisation, 0.25));
  CHECK(nearly(totals.balance, (100 * 0.5 + 60 / 3.0) / 160));
  CHECK(nearly(totals.assumed, 45.0 / 240));
  CHECK(profile.fullest().total() == 896);
  CHECK(profile.peak_step() == 0);
}

TEST_CASE("profile: what does not fit has no times, and a range stands beside a time") {
  Profile profile = synthetic::small();
  profile.range = {0.5, 2};
  CHECK(profile_to_string(profile).find("A run: 240.00 us (120.00 to 480.00), 4166.7 runs/s") != std::string::npos);
  profile.bytes_per_tile = 640;
  CHECK(profile_to_string(profile).find("It does not fit: 140.0 % of a tile's memory needed") != std::string::npos);
  CHECK(profile_to_string(profile).find("A run:") == std::string::npos);
}

TEST_CASE("profile: one without steps and tiles has totals, too") {
  const Profile profile = synthetic::nothing();
  CHECK(profile.totals().cycles == 0);
  CHECK(profile.totals().runs_per_second == 0);
  CHECK(profile.totals().balance == 1);
  CHECK(profile.fullest().total() == 0);
  CHECK(profile.peak_step() == -1);
}

TEST_CASE("profile: a page of text") {
  const char* const expected =
      R"(two <steps> & "quotes" </script><script>throw 1</script> on three_tiles: 3 tiles

A run: 240.00 us, 4166.7 runs/s, 0.000 TFLOP/s (25.0 % of peak), balance 0.44
18.8 % of the cycles rest on assumed or recalled numbers.

Cycles
compute   160   66.7 %
exchange   40   16.7 %
sync       40   16.7 %
all       240  100.0 %

The 2 steps
step  cycles   share  times  compute  exchange  tiles  balance  ops                module
-------------------------------------------------------------------------------------------
   0     150  62.5 %      1      100        40      3     0.50  MatMul \ <b>)"
      "\x80"
      R"(</b>  Net/fc1
   1      90  37.5 %      3       60         0      1     0.33  ReduceSum

The fullest tile, 1: 896 of 4,096 bytes, 21.9 %
variables  512  12.5 %
frame      256   6.2 %
stack      128   3.1 %

Its largest tensors
bytes  of all tiles  steps  tensor  module
--------------------------------------------
  512         1,536    all  weight  Net/fc1
  192           500    0-1  MatMul  Net/fc1
)";
  CHECK(profile_to_string(synthetic::small()) == expected);

  std::ostringstream stream;
  stream << synthetic::nothing();
  CHECK(stream.str().find("No steps\n\nNo tiles\n") != std::string::npos);
}

TEST_CASE("profile: the page of a large one has the ten dearest steps and the five largest tensors") {
  const Profile profile = synthetic::transformer();
  const std::string page = profile_to_string(profile);
  CHECK(page.find("The 10 dearest of 60 steps") != std::string::npos);
  CHECK(std::count(page.begin(), page.end(), '\n') == 48);
  CHECK(page.find(" \n") == std::string::npos);
}

TEST_CASE("profile: JSON of texts and numbers") {
  CHECK(json_of("a\"\\\n\x01</b>") == R"("a\"\\\u000a\u0001\u003c/b>")");
  CHECK(json_of("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82") == "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82\"");
  // A lone continuation, an overlong form, a surrogate, beyond U+10FFFF, and a sequence that ends early.
  CHECK(json_of("\x80") == R"("\ufffd")");
  CHECK(json_of("\xc0\xaf") == R"("\ufffd\ufffd")");
  CHECK(json_of("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");
  CHECK(json_of("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");
  CHECK(json_of("\xe2\x82") == R"("\ufffd\ufffd")");
  CHECK(json_of(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(json_of(0.1) == "0.1");
  CHECK(json_of(std::nan("")) == "null");
  CHECK(json_of(std::numeric_limits<double>::infinity()) == "null");
  CHECK(json_of(true) == "true");
}

TEST_CASE("profile: JSON has what the profile has") {
  const Profile profile = synthetic::transformer();
  const auto json = nlohmann::json::parse(profile_to_json(profile));
  REQUIRE(json["tiles"].size() == profile.tiles.size());
  CHECK(json["tiles"][417].get<std::vector<std::int64_t>>() ==
        std::vector<std::int64_t>(profile.tiles[417].bytes.begin(), profile.tiles[417].bytes.end()));
  REQUIRE(json["steps"].size() == profile.steps.size());
  CHECK(json["steps"][14]["module"] == profile.steps[14].module);
  CHECK(json["steps"][14]["compute"] == profile.steps[14].compute);
  CHECK(json["steps"][14]["balance"] == profile.steps[14].balance);
  CHECK(json["tensors"].size() == 40);
  CHECK(json["categories"].size() == memory_category_count);
  CHECK(json["calls"].size() == 4);
  CHECK(json["totals"]["cycles"] == profile.totals().cycles);
}

TEST_CASE("report: three files, whose names have one ending") {
  const TemporaryFolder folder;
  write_report(folder.path / "net.v2", synthetic::small());
  write_report(folder.path / "other.html", synthetic::small(), synthetic::nothing());
  for (const char* name : {"net.v2", "other"})
    for (const char* ending : {".json", ".trace.json", ".html"})
      CHECK(std::filesystem::file_size(folder.path / (std::string(name) + ending)) > 0);
  CHECK(nlohmann::json::parse(read(folder.path / "net.v2.json"))["program"] == synthetic::small().program);
  CHECK(nlohmann::json::parse(read(folder.path / "other.json")).size() == 2);
  CHECK(nlohmann::json::parse(read(folder.path / "other.trace.json"))["traceEvents"].size() > 10);

  // Names cannot end the script that has the data.
  const std::string page = read(folder.path / "net.v2.html");
  const std::size_t data = page.find("id=\"data\">");
  REQUIRE(data != std::string::npos);
  CHECK(page.find("throw 1", data) < page.find("</script>", data));
}

TEST_CASE("report: a folder that is not there is an error that names the file") {
  const TemporaryFolder folder;
  try {
    write_report(folder.path / "missing" / "net", synthetic::small());
    FAIL("no error");
  } catch (const std::filesystem::filesystem_error& error) {
    CHECK(error.path1() == folder.path / "missing" / "net.json");
  }
}
