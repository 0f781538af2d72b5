#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/profile/machine_numbers.hpp"

namespace tilewright::lab {

/// A number of tw::IpuModel that a laboratory sets, or one of a target: ipus, io_tiles, partials_bits,
/// banks_as_allocated.
struct Knob {
  std::string name;
  std::string_view unit;
  std::int64_t least = 0;  ///< smallest value that is taken
};

/// Returns all knobs: the numbers of tw::IpuModel in the order of its members, then those of a target.
[[nodiscard]] inline const std::vector<Knob>& knobs() {
  static const std::vector<Knob> all = [] {
    std::vector<Knob> result;
    tilewright::detail::for_each_number(gc200_model, [&](const std::string& name, std::string_view unit, std::int64_t least,
                                                         const auto&) { result.push_back({name, unit, least}); });
    result.push_back({"ipus", "IPUs of a replica", 1});
    result.push_back({"io_tiles", "tiles of an IPU", 0});
    result.push_back({"partials_bits", "bits of sums of float16", 16});
    result.push_back({"banks_as_allocated", "0 or 1", 0});
    return result;
  }();
  return all;
}

namespace detail {

/// Returns how many characters must be added, taken away or replaced to make one text of the other.
inline std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = (std::min)({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}
/// Returns the end of an error about an unknown name: ": one of a, b expected", or the most similar name if there are many.
inline std::string expected_names(std::string_view given, const std::vector<std::string>& known) {
  const auto by_edits = [&](const std::string& a, const std::string& b) { return edits(given, a) < edits(given, b); };
  if (known.size() > 12)
    return ": a name that --knobs lists expected, such as " + *std::min_element(known.begin(), known.end(), by_edits);
  std::string result = ": one of ";
  for (const std::string& each : known) result += (&each == known.data() ? "" : ", ") + each;
  return result + " expected";
}

}  // namespace detail

/// A preset, and the numbers that replace its own.
struct MachineSettings {
  std::string base = "gc200";  ///< name of a simulated IPU in tw::devices
  std::vector<std::pair<std::string, std::int64_t>> numbers{};  ///< by names of knobs
};

/// A simulated IPU with other numbers than a preset. If the memory of a tile is set and its interleaved part is not, this part
/// keeps its share of the preset's memory, in whole pairs of memory elements.
class Machine {
 public:
  /// Throws std::invalid_argument for an unknown base or knob, a number that is too small, and numbers that contradict each
  /// other.
  explicit Machine(const MachineSettings& settings) : base_(settings.base), model_(std::make_unique<IpuModel>()) {
    const Target& preset = preset_of(base_);
    *model_ = *preset.ipu;
    std::int64_t ipus = 1, io_tiles = 0, partials_bits = 32, banks_as_allocated = 0;
    bool sets_interleaved = false;
    for (const auto& [name, value] : settings.numbers) {
      require_valid(name, value);
      sets_interleaved = sets_interleaved || name == "interleaved_bytes";
      if (name == "ipus") ipus = value;
      else if (name == "io_tiles") io_tiles = value;
      else if (name == "partials_bits") partials_bits = value;
      else if (name == "banks_as_allocated") banks_as_allocated = value;
      else set(name, value);
    }
    if (!sets_interleaved) follow_memory(*preset.ipu);
    if (model_->interleaved_bytes > model_->bytes_per_tile)
      throw std::invalid_argument("lab: interleaved_bytes " + std::to_string(model_->interleaved_bytes) +
                                  ": at most bytes_per_tile expected, " + std::to_string(model_->bytes_per_tile));
    if (partials_bits != 16 && partials_bits != 32)
      throw std::invalid_argument("lab: partials_bits " + std::to_string(partials_bits) + ": 16 or 32 expected");
    if (banks_as_allocated > 1)
      throw std::invalid_argument("lab: banks_as_allocated " + std::to_string(banks_as_allocated) + ": 0 or 1 expected");
    if (ipus > Target::max_ipus) throw std::invalid_argument("lab: ipus " + std::to_string(ipus) + ": at most 64 expected");
    target_ = preset.with_ipu(model_.get()).with_ipus(static_cast<int>(ipus));
    if (io_tiles > 0) target_ = target_.with_io_tiles(io_tiles);
    if (partials_bits == 16) target_ = target_.with_partials_type(float16);
    if (banks_as_allocated == 1) target_ = target_.with_banks(BankPolicy::as_allocated);
    changed_ = changed_numbers(target_, preset);
  }

  const std::string& base() const { return base_; }
  const Target& target() const { return target_; }
  const IpuModel& model() const { return *model_; }
  /// Returns what differs from the preset.
  const std::vector<ChangedNumber>& changed() const { return changed_; }
  std::string name() const { return machine_name(base_, changed_); }
  /// Returns the value of a knob.
  std::int64_t number(std::string_view name) const {
    if (name == "ipus") return target_.ipus;
    if (name == "io_tiles") return target_.io_tiles;
    if (name == "partials_bits") return 8 * size_of(target_.partials_type);
    if (name == "banks_as_allocated") return target_.banks == BankPolicy::as_allocated;
    std::int64_t result = 0;
    tilewright::detail::for_each_number(*model_,
                                        [&](const std::string& each, std::string_view, std::int64_t, const auto& number) {
                                          if (each == name) result = number;
                                        });
    return result;
  }

 private:
  static const Target& preset_of(std::string_view base) {
    std::vector<std::string> known;
    for (const Device& device : devices) {
      if (device.target.ipu == nullptr || device.name == "ipu_model") continue;
      if (device.name == base) return device.target;
      known.emplace_back(device.name);
    }
    throw std::invalid_argument("lab: base '" + std::string(base) + "'" + detail::expected_names(base, known));
  }
  static void require_valid(const std::string& name, std::int64_t value) {
    constexpr std::int64_t most = 1'000'000'000'000'000, most_tiles = 1'000'000;
    for (const Knob& knob : knobs()) {
      if (knob.name != name) continue;
      const std::int64_t limit = name == "tiles" ? most_tiles : most;
      if (value >= knob.least && value <= limit) return;
      throw std::invalid_argument("lab: " + name + " " + std::to_string(value) + ": from " + std::to_string(knob.least) + " to " +
                                  std::to_string(limit) + " expected");
    }
    std::vector<std::string> known;
    for (const Knob& knob : knobs()) known.push_back(knob.name);
    throw std::invalid_argument("lab: unknown key '" + name + "'" + detail::expected_names(name, known));
  }
  void set(std::string_view name, std::int64_t value) {
    tilewright::detail::for_each_number(*model_, [&](const std::string& each, std::string_view, std::int64_t, auto& number) {
      if (each == name) number = value;
    });
  }
  void follow_memory(const IpuModel& preset) {
    if (model_->bytes_per_tile == preset.bytes_per_tile || preset.bytes_per_tile == 0) return;
    const std::int64_t pair = std::max<std::int64_t>(1, 2 * model_->memory_element_bytes);
    const double share = static_cast<double>(preset.interleaved_bytes.value) / static_cast<double>(preset.bytes_per_tile.value);
    const auto bytes = static_cast<std::int64_t>(share * static_cast<double>(model_->bytes_per_tile.value) + 0.5);
    model_->interleaved_bytes = bytes / pair * pair;
  }

  std::string base_;
  std::unique_ptr<IpuModel> model_;  // the target points to it
  Target target_{};
  std::vector<ChangedNumber> changed_{};
};

}  // namespace tilewright::lab
