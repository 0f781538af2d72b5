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

namespace tilewright {

/// State of a training run after a number of steps.
struct Checkpoint {
  std::uint64_t step = 0;
  TensorFile file;  ///< tensors, metadata of save(), and two entries of the library
  std::vector<std::string> skipped{};  ///< problems of files of later steps, newest first
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
  };

  explicit Checkpoints(std::filesystem::path folder) : Checkpoints(std::move(folder), Options{}) {}
  /// The folder need not exist. Throws std::invalid_argument for an empty path.
  Checkpoints(std::filesystem::path folder, const Options& options) : folder_(std::move(folder)), options_(options) {
    if (folder_.empty()) throw std::invalid_argument("Checkpoints: an empty path: that of a folder expected");
  }

  /// Writes the checkpoint of a step by write_durably(), and creates the folder if it does not exist. Replaces a checkpoint of
  /// the same step. Then removes files of earlier steps, except the newest `keep`, and unfinished files of killed runs. Files of
  /// later steps stay. Throws the exceptions of save_safetensors; the other checkpoints are then unchanged. Several processes may
  /// save and load at the same time.
  void save(std::uint64_t step, std::span<const HostTensor> tensors, Metadata metadata = {}) const {
    create_folder_durably(folder_);
    metadata.set(std::string(step_key), step);
    metadata.set(std::string(checksum_key), std::string(no_checksum));
    detail::SafetensorsParts parts("Checkpoints::save", tensors, metadata);
    const std::size_t place = checksum_place(parts.header);
    parts.header.replace(place, no_checksum.size(), checksum_text(parts.parts));
    write_durably(path_of(step), parts.parts);
    remove_old(step);
  }

  /// Loads the checkpoint of a step. Throws LoadError if there is none or it is damaged.
  Checkpoint load(std::uint64_t step) const { return read(step, detail::read_bytes(function, path_of(step))); }
  /// Parses the checkpoint of a step from the bytes of its file. Throws LoadError if they are damaged.
  Checkpoint read(std::uint64_t step, std::vector<std::byte> bytes) const {
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

  /// Loads the newest intact checkpoint; `skipped` lists damaged files of later steps. Returns nothing if there is no checkpoint
  /// or no folder. Throws LoadError if all checkpoints are damaged, so that a run does not silently start from the beginning.
  /// Also throws it if the folder's path is a file or cannot be read.
  std::optional<Checkpoint> newest() const {
    std::vector<std::string> skipped;
    const auto all = steps();
    for (auto step = all.rbegin(); step != all.rend(); ++step) {
      try {
        Checkpoint checkpoint = load(*step);
        checkpoint.skipped = std::move(skipped);
        return checkpoint;
      } catch (const LoadError& error) {
        skipped.emplace_back(error.what());
      }
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
  static constexpr std::string_view no_checksum = "00000000";  // in its own place, while the checksum is computed

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
