#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tilewright {

/// Data that cannot be used. The text says who looked, at which file or argument, what was found and what was
/// expected: "read_idx: digits.idx: found rank 1: expected rank 3".
struct DataError : std::runtime_error {
  using std::runtime_error::runtime_error;

  DataError(std::string_view reader, const std::filesystem::path& path, const std::string& found,
             const std::string& expected)
      : std::runtime_error(std::string(reader) + ": " + path.string() + ": found " + found + ": expected " + expected) {}
};

}  // namespace tilewright
