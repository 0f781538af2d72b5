#pragma once
#include "tilewright/core/requirements.hpp"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tilewright/core/text.hpp"

namespace tilewright::data {

/// Thrown for data that cannot be used. The text names the reader, the data, what was found and what was expected: "read_idx:
/// digits.idx: rank 1: rank 3 expected".
struct DataError : std::runtime_error {
  [[gnu::cold]] DataError(std::string_view reader, const std::string& found, const std::string& expected)
      : std::runtime_error(text(reader, ": ", found, ": ", expected, " expected").string()) {}
  [[gnu::cold]] DataError(std::string_view reader, const std::filesystem::path& path, const std::string& found,
                          const std::string& expected)
      : DataError(reader, path.string() + ": " + found, expected) {}
};

namespace detail {
/// Returns the result of make(). If memory runs out, throws DataError, which names the reader and the data that needs memory.
auto with_memory(std::string_view reader, const auto& found, const auto& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw DataError(reader, found(), "as much as fits in memory");
}
}  // namespace detail

}  // namespace tilewright::data
