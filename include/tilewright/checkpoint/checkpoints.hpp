#pragma once
#include "tilewright/core/requirements.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/safetensors.hpp"
#include "tilewright/checkpoint/tensor_rules.hpp"
#include "tilewright/version.hpp"

namespace tilewright {

/// State of a training run after a number of steps.
struct Checkpoint {
  std::uint64_t step = 0;
  TensorFile file;  ///< tensors, metadata of save(), and four entries of the library
  std::vector<std::string> skipped{};  ///< problems of files of later steps, newest first
};

/// Rules that turn the tensors of a checkpoint of the version before into those of `version`.
struct CheckpointUpgrade {
  std::uint64_t version = 0;  ///< first version that has the new names, shapes and dtypes
  std::vector<TensorRule> rules{};  ///< rules of map_tensors
};

/// A folder with the checkpoints of one run: `step-000000001200.safetensors`, ... Each is one .safetensors file with a checksum
/// of all its bytes. After a kill or a power loss at any moment, the folder still has the last checkpoint whose save() returned,
/// or the next one.
///
///     tw::Checkpoints checkpoints("run1", {.keep = 3});
///     if (const auto last = checkpoints.newest()) session.load_tensors(last->file), first_step = last->step;
///     ...
///     checkpoints.save(step, session.host_tensors(), metadata);
class Checkpoints {
 public:
  struct Options {
    std::size_t keep = 3;  ///< number of newest files to keep; 0: all
    /// Version of the program's variables. Count it up when their names, shapes or dtypes change, for example with another
    /// optimiser, and add an upgrade. A checkpoint without a version has version 0.
    std::uint64_t version = 0;
    /// Upgrades for checkpoints of older versions, in ascending order. Loading applies those above the checkpoint's version, one
    /// after the other.
    std::vector<CheckpointUpgrade> upgrades{};
  };

  explicit Checkpoints(std::filesystem::path folder) : Checkpoints(std::move(folder), Options{}) {}
  /// The folder need not exist. Throws std::invalid_argument for an empty path, and for upgrades that are not in ascending order,
  /// or above the program's version.
  Checkpoints(std::filesystem::path folder, const Options& options) : folder_(std::move(folder)), options_(options) {
    if (folder_.empty()) throw std::invalid_argument("Checkpoints: an empty path: that of a folder expected");
    std::uint64_t before = 0;
    for (const CheckpointUpgrade& upgrade : options_.upgrades) {
      if (upgrade.version <= before || upgrade.version > options_.version)
        throw std::invalid_argument("Checkpoints: an upgrade to version " + std::to_string(upgrade.version) + ": one from " +
                                    std::to_string(before + 1) + " to the program's " + std::to_string(options_.version) +
                                    " expected");
      before = upgrade.version;
    }
  }

  /// Writes the checkpoint of a step by write_durably(), and creates the folder if it does not exist. Replaces a checkpoint of
  /// the same step. Then removes files of earlier steps, except the newest `keep`, and unfinished files of killed runs. Files of
  /// later steps stay. Throws the exceptions of save_safetensors; the other checkpoints are then unchanged. Several processes may
  /// save and load at the same time.
  void save(std::uint64_t step, std::span<const HostTensor> tensors, Metadata metadata = {}) const {
    create_folder_durably(folder_);
    metadata.set(std::string(step_key), step);
    metadata.set(std::string(version_key), options_.version);
    metadata.set(std::string(library_key), TILEWRIGHT_VERSION);
    metadata.set(std::string(checksum_key), std::string(no_checksum));
    detail::SafetensorsParts parts("Checkpoints::save", tensors, metadata);
    const std::size_t place = checksum_place(parts.header);
    parts.header.replace(place, no_checksum.size(), checksum_text(parts.parts));
    write_durably(path_of(step), parts.parts);
    remove_old(step);
  }

  /// Loads the checkpoint of a step, with the upgrades to the program's version. Throws LoadError if there is none, it is
  /// damaged, or it has a later version.
  Checkpoint load(std::uint64_t step) const { return upgraded(load_as_saved(step)); }
  /// Parses the checkpoint of a step from the bytes of its file, with the upgrades to the program's version. Throws LoadError if
  /// they are damaged, or of a later version.
  Checkpoint read(std::uint64_t step, std::vector<std::byte> bytes) const {
    return upgraded(read_as_saved(step, std::move(bytes)));
  }

  /// Loads the newest intact checkpoint; `skipped` lists damaged files of later steps. Returns nothing if there is no checkpoint
  /// or no folder. Throws LoadError if all checkpoints are damaged, so that a run does not silently start from the beginning.
  /// Also throws it if the newest one has a later version, and if the folder's path is a file or cannot be read.
  std::optional<Checkpoint> newest() const {
    std::optional<Checkpoint> found;
    std::vector<std::string> skipped;
    const auto all = steps();
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
      try {
        found = load_as_saved(*step);
        break;
      } catch (const LoadError& error) {
        skipped.emplace_back(error.what());
      }
    }
    if (found) {
      found->skipped = std::move(skipped);
      return upgraded(*std::move(found));
    }
    if (steps() != all) return newest();  // another process saved one, and removed these
    if (!skipped.empty())
      throw LoadError(function, folder_.string(), "", "no checkpoint that is whole (" + skipped.front() + ")", "one");
    return std::nullopt;
  }

  /// Returns the steps of all checkpoints, damaged ones included, in ascending order. Throws LoadError if the folder's path is a
  /// file or cannot be read.
  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> result;
    const auto fail = [this](const std::string& found) { throw LoadError(function, folder_.string(), "", found, "a folder"); };
    std::error_code error;
    const auto status = std::filesystem::status(folder_, error);
    if (status.type() == std::filesystem::file_type::not_found) return result;
    if (status.type() == std::filesystem::file_type::none) fail("a path that cannot be reached (" + error.message() + ")");
    if (!std::filesystem::is_directory(status)) fail("a file");
    for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error))
      if (const auto step = step_of(entry->path().filename().string())) result.push_back(*step);
    if (error) fail("a folder that cannot be read (" + error.message() + ")");
    std::sort(result.begin(), result.end());
    return result;
  }
  std::filesystem::path path_of(std::uint64_t step) const {
    std::string digits = std::to_string(step);
    digits.insert(0, digits.size() < 12 ? 12 - digits.size() : 0, '0');
    return folder_ / (std::string(prefix) + digits + std::string(suffix));
  }

 private:
  static constexpr std::string_view function = "load_checkpoint", prefix = "step-", suffix = ".safetensors";
  static constexpr std::string_view step_key = "tilewright.step", checksum_key = "tilewright.crc32";
  static constexpr std::string_view version_key = "tilewright.program_version", library_key = "tilewright.version";
  static constexpr std::string_view no_checksum = "00000000";  // in its own place, while the checksum is computed

  Checkpoint load_as_saved(std::uint64_t step) const { return read_as_saved(step, detail::read_bytes(function, path_of(step))); }
  Checkpoint read_as_saved(std::uint64_t step, std::vector<std::byte> bytes) const {
    const std::filesystem::path path = path_of(step);
    const auto fail = [&](std::string_view found, std::string_view expected) {
      throw LoadError(function, path.string(), "", found, expected);
    };
    const auto given = take_checksum(bytes);
    const std::string computed = checksum_text({{bytes}});
    TensorFile file = detail::read_safetensors(function, path.string(), std::move(bytes));
    if (!given) fail("no checksum", "a file that Checkpoints::save wrote");
    if (*given != computed) fail("checksum " + computed + " of its bytes", *given);
    if (file.metadata().get<std::uint64_t>(step_key) != step) fail("another step's checkpoint", "that of the file's name");
    file.metadata().set(std::string(checksum_key), *given);
    return {step, std::move(file)};
  }
  Checkpoint upgraded(Checkpoint checkpoint) const {
    const std::uint64_t version = checkpoint.file.metadata().get<std::uint64_t>(version_key).value_or(0);
    if (version > options_.version)
      throw LoadError(function, checkpoint.file.path(), "", "version " + std::to_string(version) + " of the program's variables",
                      std::to_string(options_.version) + " or less");
    for (const CheckpointUpgrade& upgrade : options_.upgrades)
      if (upgrade.version > version) checkpoint.file = map_tensors(std::move(checkpoint.file), upgrade.rules);
    return checkpoint;
  }

  std::optional<std::uint64_t> step_of(std::string_view name) const {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size()) return std::nullopt;
    name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    std::uint64_t step = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    const bool is_step = error == std::errc{} && end == name.data() + name.size();
    return is_step && path_of(step).filename().string() == std::string(prefix) + std::string(name) + std::string(suffix)
               ? std::optional(step)
               : std::nullopt;
  }

  /// Returns the position of the checksum's digits in a file or its header. In JSON, quotes inside a name or text follow a
  /// backslash, so the search finds only the entry.
  static std::size_t checksum_place(std::string_view file) {
    static const std::string entry = "\"" + std::string(checksum_key) + "\":\"";
    const std::size_t found = file.find(entry);
    return found == file.npos || file.size() - found < entry.size() + no_checksum.size() ? file.npos : found + entry.size();
  }
  /// Removes the digits of the checksum from a file and returns them, if there are any.
  static std::optional<std::string> take_checksum(std::span<std::byte> bytes) {
    const std::size_t place = checksum_place({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (place == std::string_view::npos) return std::nullopt;
    const auto digits = bytes.subspan(place, no_checksum.size());
    std::string result(reinterpret_cast<const char*>(digits.data()), digits.size());
    std::memcpy(digits.data(), no_checksum.data(), digits.size());
    return result;
  }
  static std::string checksum_text(const std::vector<std::span<const std::byte>>& parts) {
    auto sum = crc32_z(0, nullptr, 0);
    for (const auto& part : parts) sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
    std::string result;
    for (int shift = 28; shift >= 0; shift -= 4) result += "0123456789abcdef"[sum >> shift & 15];
    return result;
  }

  void remove_old(std::uint64_t newest) const {
    auto kept = steps();
    std::erase_if(kept, [&](std::uint64_t step) { return step > newest; });
    if (options_.keep > 0)
      for (std::size_t i = 0; i + options_.keep < kept.size(); ++i) std::filesystem::remove(path_of(kept[i]));
    detail::PartialFile::remove_abandoned(folder_, [this](std::string_view target) { return step_of(target).has_value(); });
  }

  std::filesystem::path folder_;
  Options options_;
};

}  // namespace tilewright
