// labels: none
// Machines of a laboratory: a knob for each number of a model, what follows another number, names, grids and errors.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tilewright/lab.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

#include "../../catch.hpp"

namespace {

namespace tw = tilewright;
namespace lab = tw::lab;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

lab::Machine machine(std::string base, std::vector<std::pair<std::string, std::int64_t>> numbers = {}) {
  return lab::Machine({std::move(base), std::move(numbers)});
}
/// Returns the text of the error of a grid for the programs a and b.
std::string error_of(const json& grid) {
  try {
    for (const lab::Setting& setting : lab::expand_grid(grid, {"a", "b"})) static_cast<void>(lab::Machine(setting.machine));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("lab: a knob is there for each number of a model") {
  // All bytes of a model are numbers, with their confidence and source, or those of the units for products.
  tw::IpuModel model = tw::gc200_model;
  std::set<const void*> numbers;
  std::size_t bytes = sizeof(tw::Confidence) < sizeof(void*) ? sizeof(void*) : sizeof(tw::Confidence);
  bytes += sizeof(model.products.source);
  tw::detail::for_each_number(model, [&](const std::string&, std::string_view, std::int64_t, auto& number) {
    numbers.insert(&number);
    bytes += sizeof(number);
  });
  CHECK(bytes == sizeof(tw::IpuModel));
  std::size_t count = 0;
  tw::detail::for_each_number(model, [&](const std::string& name, std::string_view, std::int64_t, auto& number) {
    const lab::Knob& knob = lab::knobs()[count++];
    CHECK(knob.name == name);
    CHECK(!knob.unit.empty());
    CHECK(std::int64_t{number} >= knob.least);  // the preset's
  });
  CHECK(numbers.size() == count);
  CHECK(lab::knobs().size() == count + 4);  // and those of a target
}

TEST_CASE("lab: a knob sets its number and no other") {
  for (const lab::Knob& knob : lab::knobs()) {
    if (knob.name == "ipus" || knob.name == "io_tiles" || knob.name == "partials_bits" || knob.name == "banks_as_allocated")
      continue;
    const std::int64_t value = machine("gc200").number(knob.name) + 1;
    std::vector<std::pair<std::string, std::int64_t>> numbers{{knob.name, value}};
    if (knob.name == "bytes_per_tile") numbers.push_back({"interleaved_bytes", tw::gc200_model.interleaved_bytes});
    const lab::Machine changed = machine("gc200", numbers);
    CHECK(changed.number(knob.name) == value);
    REQUIRE(changed.changed().size() == 1);
    CHECK(changed.changed()[0].name == knob.name);
    CHECK(changed.name() == "gc200 with " + knob.name + "=" + std::to_string(value));
  }
  CHECK(machine("bow", {{"ipus", 4}, {"partials_bits", 16}}).name() == "bow with ipus=4, partials_type=float16");
  CHECK(machine("gc2", {{"banks_as_allocated", 1}}).name() == "gc2 with banks=as_allocated");
  CHECK_THROWS_WITH(tw::cpu.with_banks(tw::BankPolicy::best), "with_banks: the host has no banks: a simulated IPU expected");
  CHECK(machine("gc2", {{"io_tiles", 32}}).target().io_tiles == 32);
  CHECK(machine("c600").name() == "c600");
}

TEST_CASE("lab: the interleaved part follows the memory of a tile") {
  constexpr std::int64_t kib = 1024;
  CHECK(machine("gc200").number("interleaved_bytes") == 416 * kib);
  CHECK(machine("gc200", {{"bytes_per_tile", 256 * kib}}).number("interleaved_bytes") == 160 * kib);  // 2/3, in pairs of 16 KiB
  CHECK(machine("gc200", {{"bytes_per_tile", 1248 * kib}}).number("interleaved_bytes") == 832 * kib);
  CHECK(machine("gc2", {{"bytes_per_tile", 512 * kib}}).number("interleaved_bytes") == 256 * kib);
  CHECK(machine("gc2", {{"bytes_per_tile", 512 * kib}, {"interleaved_bytes", 64 * kib}}).number("interleaved_bytes") == 64 * kib);
  CHECK_THROWS_WITH(machine("gc2", {{"interleaved_bytes", 257 * kib}}),
                    "lab: interleaved_bytes 263168: at most bytes_per_tile expected, 262144");
}

TEST_CASE("lab: a grid has all combinations of lists and ranges") {
  const auto settings = lab::expand_grid({{"base", {"gc2", "bow"}},
                                          {"tiles", "8,16..64*2"},
                                          {"bytes_per_tile", json{{"from", 65536}, {"to", 200000}, {"step", 65536}}},
                                          {"program", "b"}},
                                         {"a", "b"});
  REQUIRE(settings.size() == 2 * 4 * 3);
  CHECK(settings[0].program == "b");
  CHECK(settings[0].machine.base == "gc2");
  CHECK(settings[12].machine.base == "bow");
  using Numbers = std::vector<std::pair<std::string, std::int64_t>>;
  CHECK(settings[0].machine.numbers == Numbers{{"tiles", 8}, {"bytes_per_tile", 65536}});
  CHECK(settings[1].machine.numbers == Numbers{{"tiles", 8}, {"bytes_per_tile", 131072}});
  CHECK(settings[11].machine.numbers == Numbers{{"tiles", 64}, {"bytes_per_tile", 196608}});
  CHECK(lab::detail::parse_numbers("k", "1Ki..1Mi*32,3k,5") == std::vector<std::int64_t>{1024, 32768, 1048576, 3000, 5});
  CHECK(lab::detail::parse_numbers("k", "4..11:3") == std::vector<std::int64_t>{4, 7, 10});
  const auto listed = lab::expand_grid(json::array({json{{"tiles", 8}}, json{{"tiles", 9}, {"program", "a"}}}), {"a", "b"});
  CHECK(listed.size() == 3);
}

TEST_CASE("lab: errors name the key, what was given and what is expected") {
  CHECK_THAT(error_of({{"tile", 8}}),
             ContainsSubstring("lab: unknown key 'tile': a name that --knobs lists expected, such as tiles"));
  CHECK_THAT(error_of({{"exchange_bytes", 8}}), ContainsSubstring("lab: unknown key 'exchange_bytes'"));
  CHECK(error_of({{"base", "gc300"}}) == "lab: base 'gc300': one of gc2, gc200, bow, c600 expected");
  CHECK(error_of({{"program", "c"}}) == "lab: program 'c': one of a, b expected");
  CHECK(error_of({{"tiles", 0}}) == "lab: tiles 0: from 1 to 1000000 expected");
  CHECK(error_of({{"partials_bits", 24}}) == "lab: partials_bits 24: 16 or 32 expected");
  CHECK(error_of({{"banks_as_allocated", 2}}) == "lab: banks_as_allocated 2: 0 or 1 expected");
  CHECK(error_of({{"ipus", 65}}) == "lab: ipus 65: at most 64 expected");
  CHECK(error_of(json::array()) == "lab: an empty list of grids: an object expected");
  CHECK_THAT(error_of(7), ContainsSubstring("lab: a grid 7: an object"));
  for (const json& wrong :
       {json("8,"), json("8..4:1"), json("8..16"), json("8..16*1"), json("0..4*2"), json(1.5), json("x"), json("9999999999G"),
        json::array(), json{{"from", 1}, {"to", 2}}, json{{"from", 1}, {"to", 2}, {"step", "x"}}})
    CHECK_THAT(error_of({{"tiles", wrong}}), ContainsSubstring("lab: tiles '"));
}

TEST_CASE("lab: a target that no preset is has the name of the nearest one") {
  CHECK(tw::machine_name(tw::gc200) == "ipu_model");
  CHECK(tw::machine_name(tw::bow.with_tiles(64)) == "bow with tiles=64");
  CHECK(tw::machine_name(tw::cpu) == "cpu");
}
