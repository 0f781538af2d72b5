#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/target/devices.hpp"

namespace tilewright {

namespace detail {

/// Visits the numbers of an IpuModel by name. A member that a list here lacks ends the compilation.
template <class Visit>
class NumberWalk {
 public:
  explicit NumberWalk(Visit& visit) : visit_(visit) {}

  void model(auto& of) {
    auto& [tiles, bytes_per_tile, clock_hz, workers, data_path_bytes, load_bytes, interleaved_load_bytes, store_bytes, copy_bytes,
           accumulator_bytes, memory_element_bytes, interleaved_bytes, launch_cycles, copy_call_cycles, products,
           exchange_bytes_per_cycle, tiles_per_exchange_bus, sync_cycles, nearest_sync_cycles, hop_cycles, fragment_instructions,
           host, streaming_memory, link, code] = of;
    number("tiles", "tiles", 1, tiles);
    number("bytes_per_tile", "bytes", 1, bytes_per_tile);
    number("clock_hz", "Hz", 1, clock_hz);
    number("workers", "workers of a tile", 1, workers);
    number("data_path_bytes", "bytes", 1, data_path_bytes);
    number("load_bytes", "bytes/cycle", 1, load_bytes);
    number("interleaved_load_bytes", "bytes/cycle", 1, interleaved_load_bytes);
    number("store_bytes", "bytes/cycle", 1, store_bytes);
    number("copy_bytes", "bytes/instruction", 1, copy_bytes);
    number("accumulator_bytes", "bytes", 1, accumulator_bytes);
    number("memory_element_bytes", "bytes", 0, memory_element_bytes);
    number("interleaved_bytes", "bytes of a tile", 0, interleaved_bytes);
    number("launch_cycles", "cycles", 0, launch_cycles);
    number("copy_call_cycles", "cycles", 0, copy_call_cycles);
    units(products);
    number("exchange_bytes_per_cycle", "bytes/cycle", 1, exchange_bytes_per_cycle);
    number("tiles_per_exchange_bus", "tiles", 1, tiles_per_exchange_bus);
    number("sync_cycles", "cycles", 0, sync_cycles);
    number("nearest_sync_cycles", "cycles", 0, nearest_sync_cycles);
    number("hop_cycles", "cycles", 0, hop_cycles);
    number("fragment_instructions", "instructions", 0, fragment_instructions);
    path("host.", host);
    path("streaming_memory.", streaming_memory);
    links(link);
    sizes(code);
  }

 private:
  void number(std::string_view name, std::string_view unit, std::int64_t least, auto& value) {
    visit_(prefix_ + std::string(name), unit, least, value);
  }
  void units(auto& of) {
    auto& [float16, float16_float32, float32, confidence, source] = of;
    static_cast<void>(confidence), static_cast<void>(source);
    unit("products.float16.", float16);
    unit("products.float16_float32.", float16_float32);
    unit("products.float32.", float32);
  }
  void unit(std::string_view prefix, auto& of) {
    auto& [units, channels, row_cycles, element_bytes, partial_bytes, load_bytes, more_block_cycles] = of;
    prefix_ = prefix;
    number("units", "columns of a block", 1, units);
    number("channels", "channels of a block", 1, channels);
    number("row_cycles", "cycles", 1, row_cycles);
    number("element_bytes", "bytes", 2, element_bytes);
    number("partial_bytes", "bytes", 2, partial_bytes);
    number("load_bytes", "bytes/cycle", 1, load_bytes);
    number("more_block_cycles", "cycles", 0, more_block_cycles);
    prefix_.clear();
  }
  void path(std::string_view prefix, auto& of) {
    auto& [bytes_per_second, sync_cycles, latency_cycles, exchange_blocks, packet_bytes] = of;
    prefix_ = prefix;
    number("bytes_per_second", "bytes/s", 0, bytes_per_second);
    number("sync_cycles", "cycles", 0, sync_cycles);
    number("latency_cycles", "cycles", 0, latency_cycles);
    number("exchange_blocks", "blocks", 1, exchange_blocks);
    number("packet_bytes", "bytes", 1, packet_bytes);
    prefix_.clear();
  }
  void links(auto& of) {
    auto& [bytes_per_second, links, pair_links, sync_cycles, linked_ipus, gateway_bytes_per_second] = of;
    prefix_ = "link.";
    number("bytes_per_second", "bytes/s", 0, bytes_per_second);
    number("links", "links", 1, links);
    number("pair_links", "links", 1, pair_links);
    number("sync_cycles", "cycles", 0, sync_cycles);
    number("linked_ipus", "IPUs", 1, linked_ipus);
    number("gateway_bytes_per_second", "bytes/s", 0, gateway_bytes_per_second);
    prefix_.clear();
  }
  void sizes(auto& of) {
    auto& [vertex_code, vertex, operand, step, exchange, branch, exchange_instruction, stack, reserve] = of;
    constexpr std::string_view kinds[] = {"other", "map", "copy", "reduction", "product", "softmax", "norm"};
    static_assert(std::size(kinds) == code_kinds);
    prefix_ = "code.vertex_code.";
    for (std::size_t kind = 0; kind < code_kinds; ++kind) number(kinds[kind], "bytes", 0, vertex_code[kind]);
    prefix_ = "code.";
    number("vertex", "bytes", 0, vertex);
    number("operand", "bytes", 0, operand);
    number("step", "bytes", 0, step);
    number("exchange", "bytes", 0, exchange);
    number("branch", "bytes", 0, branch);
    number("exchange_instruction", "bytes", 0, exchange_instruction);
    number("stack", "bytes of a tile", 0, stack);
    number("reserve", "bytes of a tile", 0, reserve);
    prefix_.clear();
  }

  Visit& visit_;
  std::string prefix_;
};

/// Calls visit(name, unit, least value, number) for each number of a model. A name is the path of the member: "tiles",
/// "products.float16.units". A number is a Figure or a std::int64_t.
void for_each_number(auto& model, auto&& visit) { NumberWalk(visit).model(model); }

}  // namespace detail

/// A number in which a machine differs from a preset.
struct ChangedNumber {
  std::string name;  ///< path of the member of IpuModel, or of Target for tiles, bytes_per_tile, ipus, io_tiles, partials_type
                     ///< and banks
  std::string value, preset_value;
};

/// Returns in which numbers a simulated IPU differs from another, in the order of IpuModel's members; Target's own come last.
[[nodiscard]] inline std::vector<ChangedNumber> changed_numbers(const Target& target, const Target& preset) {
  std::vector<std::int64_t> numbers;
  detail::for_each_number(*preset.ipu, [&](const std::string& name, std::string_view, std::int64_t, const auto& number) {
    numbers.push_back(name == "tiles" ? preset.tiles : name == "bytes_per_tile" ? preset.bytes_per_tile : std::int64_t{number});
  });
  std::vector<ChangedNumber> result;
  const auto compare = [&](const std::string& name, std::int64_t value, std::int64_t other) {
    if (value != other) result.push_back({name, std::to_string(value), std::to_string(other)});
  };
  std::size_t at = 0;
  detail::for_each_number(*target.ipu, [&](const std::string& name, std::string_view, std::int64_t, const auto& number) {
    compare(name,
            name == "tiles"            ? target.tiles
            : name == "bytes_per_tile" ? target.bytes_per_tile
                                       : std::int64_t{number},
            numbers[at++]);
  });
  compare("ipus", target.ipus, preset.ipus);
  compare("io_tiles", target.io_tiles, preset.io_tiles);
  if (target.partials_type != preset.partials_type)
    result.push_back({"partials_type", std::string(to_text(target.partials_type)), std::string(to_text(preset.partials_type))});
  if (target.banks != preset.banks)
    result.push_back({"banks", std::string(name_of(target.banks)), std::string(name_of(preset.banks))});
  return result;
}

/// Returns the preset that a simulated IPU differs from in the fewest numbers; the first of tw::devices if there are several.
[[nodiscard]] inline const Device& nearest_preset(const Target& target) {
  const Device* nearest = nullptr;
  std::size_t fewest = 0;
  for (const Device& device : devices) {
    if (device.target.ipu == nullptr || device.name == "ipu_model") continue;  // that is gc200
    const std::size_t changes = changed_numbers(target, device.target).size();
    if (nearest == nullptr || changes < fewest) nearest = &device, fewest = changes;
  }
  return *nearest;
}

/// Returns the name of a preset and what differs from it: "gc200 with tiles=736, sync_cycles=60".
[[nodiscard]] inline std::string machine_name(std::string_view preset, const std::vector<ChangedNumber>& changes) {
  std::string result(preset);
  for (const ChangedNumber& change : changes)
    result += (&change == changes.data() ? " with " : ", ") + change.name + "=" + change.value;
  return result;
}
/// Returns the name of a target: that of tw::devices, or the nearest preset and what differs from it.
[[nodiscard]] inline std::string machine_name(const Target& target) {
  const std::string_view known = device_name(target);
  if (target.ipu == nullptr || known != "custom") return std::string(known);
  const Device& preset = nearest_preset(target);
  return machine_name(preset.name, changed_numbers(target, preset.target));
}

}  // namespace tilewright
