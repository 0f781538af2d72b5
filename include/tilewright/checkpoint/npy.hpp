#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/checked_spec.hpp"

/// NumPy's file of one array (numpy.lib.format): the bytes 0x93 "NUMPY", the version's two bytes, the length of the header as 16
/// bits (version 1) or 32 bits (version 2), least significant byte first; the header, a Python dict of 'descr', 'fortran_order'
/// and 'shape'; the elements.
namespace tilewright::detail {

static_assert(std::endian::native == std::endian::little, "numbers are copied from and to files as they are");

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// NumPy's names of the dtypes, in DType's order.
inline constexpr auto npy_descriptions = dtype_column(&DTypeFacts::npy);

/// Parses the dict. Understands only what NumPy writes for arrays of numbers, and evaluates nothing.
template <class Fail>
class NpyHeader {
 public:
  NpyHeader(std::string_view text, const Fail& fail) : rest_(text), fail_(fail) {}

  TensorSpec read() {
    expect("{");
    while (!accept("}")) {
      const std::string_view key = string();
      expect(":");
      if (key == "descr") description();
      else if (key == "fortran_order") order();
      else if (key == "shape") shape();
      else fail_("a header with the key '" + std::string(key) + "'", "descr, fortran_order and shape");
      if (!accept(",")) {
        expect("}");
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail_("more after the header's dict", "only spaces");
    if (!dtype_ || !is_row_major_ || !extents_) fail_("an incomplete header", "descr, fortran_order and shape");
    return checked_spec(*extents_, *dtype_, fail_);
  }

 private:
  void skip_space() { rest_.remove_prefix((std::min)(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool accept(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token))
      fail_("a header that goes on with `" + std::string(rest_.substr(0, 20)) + "`", "`" + std::string(token) + "`");
  }
  std::string_view string() {
    const char quote = accept("\"") ? '"' : '\'';
    if (quote == '\'') expect("'");
    const std::size_t end = rest_.find(quote);
    if (end == rest_.npos) fail_("a header with a string without an end", "a Python dict");
    const std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return result;
  }
  void once(bool is_first) {
    if (!is_first) fail_("a header with a key twice", "each key once");
  }
  void description() {
    once(!dtype_);
    skip_space();
    if (rest_.starts_with("[")) fail_("a structured dtype", "numbers");
    const std::string_view text = string();
    const auto found = std::find(npy_descriptions.begin(), npy_descriptions.end(), text);
    if (found == npy_descriptions.end())
      fail_("dtype '" + std::string(text) + "'", "a little-endian one of 1 to 8 bytes, such as '<f4'");
    dtype_ = static_cast<DType>(found - npy_descriptions.begin());
  }
  void order() {
    once(!is_row_major_);
    if (accept("True")) fail_("elements in Fortran's order", "row-major elements");
    expect("False");
    is_row_major_ = true;
  }
  void shape() {
    once(!extents_);
    extents_.emplace();
    expect("(");
    bool has_comma = true;  // (3) is no tuple
    while (!accept(")")) {
      if (extents_->size() > max_rank) return (void)checked_spec(*extents_, int8, fail_);
      if (!has_comma) expect(",");
      skip_space();
      std::uint64_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error == std::errc::result_out_of_range) fail_("an extent of 2^64 or more", "a shape that fits in memory");
      if (error != std::errc{}) fail_("a shape that goes on with `" + std::string(rest_.substr(0, 20)) + "`", "an extent");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      extents_->push_back(extent);
      has_comma = accept(",");
    }
    if (extents_->size() == 1 && !has_comma) fail_("a shape that is a number", "a tuple");
  }

  std::string_view rest_;
  const Fail& fail_;
  std::optional<DType> dtype_;
  bool is_row_major_ = false;
  std::optional<std::vector<std::uint64_t>> extents_;
};

struct NpyArray {
  TensorSpec spec{};
  std::span<const std::byte> elements{};
};

/// Parses a whole .npy file. Calls fail(found, expected), which must not return, if it is wrong.
inline NpyArray parse_npy(std::span<const std::byte> file, const auto& fail) {
  const auto characters = [&](std::size_t first, std::size_t count) {
    return std::string_view(reinterpret_cast<const char*>(file.data()) + first, count);
  };
  const auto ensure = [&](std::size_t size) {
    if (file.size() < size) fail(std::to_string(file.size()) + " bytes", std::to_string(size) + " bytes of .npy header");
  };
  if (!characters(0, (std::min)(file.size(), npy_magic.size())).starts_with(npy_magic))
    fail("no .npy magic number", "0x93 'NUMPY' at the start");
  ensure(npy_magic.size() + 2);
  const auto version = std::to_integer<int>(file[6]), minor = std::to_integer<int>(file[7]);
  if (version < 1 || version > 2 || minor != 0)
    fail(".npy version " + std::to_string(version) + "." + std::to_string(minor), "version 1.0 or 2.0");
  const std::size_t length_bytes = version == 1 ? 2 : 4, begin = npy_magic.size() + 2 + length_bytes;
  ensure(begin);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::to_integer<std::size_t>(file[begin - length_bytes + i]) << 8 * i;
  ensure(begin + length);

  const TensorSpec spec = NpyHeader(characters(begin, length), fail).read();
  const auto elements = file.subspan(begin + length);
  if (std::cmp_not_equal(elements.size(), spec.bytes()))
    fail(std::to_string(elements.size()) + " bytes of elements",
         std::to_string(spec.bytes()) + " bytes for " + to_text(spec).string());
  if (!are_elements(spec.dtype, elements)) fail("a bool that is neither 0 nor 1", "0 or 1");
  return {spec, elements};
}

/// Returns the bytes before the elements: version 1.0, padded as in NumPy so that elements begin at a multiple of 64.
inline std::string npy_header(const TensorSpec& spec) {
  const std::string dict = "{'descr': '" + std::string(npy_descriptions[static_cast<std::size_t>(spec.dtype)]) +
                           "', 'fortran_order': False, 'shape': " + to_text(spec.shape).string() + ", }";
  constexpr std::size_t begin = npy_magic.size() + 4;
  const std::size_t length = (begin + dict.size() + 1 + 63) / 64 * 64 - begin;
  std::string result(npy_magic);
  result += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  result += dict;
  result.resize(begin + length - 1, ' ');
  return result + '\n';
}

}  // namespace tilewright::detail
