#pragma once
#include "tilewright/core/requirements.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tilewright::data {

/// Data that cannot be used. The text says who looked at what, what was found and what was expected:
/// "read_idx: digits.idx: rank 1: rank 3 expected".
struct DataError : std::runtime_error {
  DataError(std::string_view reader, const std::string& found, const std::string& expected)
      : std::runtime_error(std::string(reader) + ": " + found + ": " + expected + " expected") {}
  DataError(std::string_view reader, const std::filesystem::path& path, const std::string& found, const std::string& expected)
      : DataError(reader, path.string() + ": " + found, expected) {}
};

}  // namespace tilewright::data
