#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tilewright/core/memory/with_memory.hpp"
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
/// Data that needs memory, for with_memory: "batches of 8 samples".
struct Amount {
  std::string_view before;
  std::uint64_t count;
  std::string_view after;
  [[gnu::cold, gnu::noinline]] std::string operator()() const { return text(before, count, after).string(); }
};
[[gnu::cold, gnu::noinline]] inline DataError memory_error(std::string_view reader, const std::string& found,
                                                           std::uint64_t bytes) {
  const std::string size = bytes == ~std::uint64_t{0} ? "2^64 bytes or more" : std::to_string(bytes) + " bytes";
  return {reader, found + (bytes == 0 ? "" : ", " + size), "as much as fits in memory"};
}
/// Returns the result of make(), which takes `bytes` bytes, or an unknown number if `bytes` is 0. If memory runs out, throws
/// DataError, which names the reader, the data that needs memory, found(), and the bytes.
auto with_memory(std::string_view reader, const auto& found, std::uint64_t bytes, const auto& make) {
  return tilewright::detail::with_memory(bytes, make, [&] { return memory_error(reader, found(), bytes); });
}
}  // namespace detail

}  // namespace tilewright::data
