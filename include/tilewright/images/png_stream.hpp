#pragma once
#include "tilewright/core/requirements.hpp"

#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace tilewright::images::detail {

/// Text of libpng's last error. libpng reports an error by a call that must not return; on_error jumps back to `guarded`.
struct PngError {
  char text[128] = "";
};

[[noreturn]] inline void on_error(png_structp png, png_const_charp message) {
  auto* error = static_cast<PngError*>(png_get_error_ptr(png));
  std::snprintf(error->text, sizeof error->text, "%s", message);
  png_longjmp(png, 1);
}
inline void on_warning(png_structp, png_const_charp) {}

/// Calls f(), which calls libpng. Returns false if libpng reported an error: then f was left by a jump. f, and what it calls,
/// must have no variables with destructors.
bool guarded(png_structp png, auto f) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  f();
  return true;
}

/// Reads a PNG file from memory. All functions that return bool return false if the data is damaged.
class PngInput {
 public:
  explicit PngInput(std::span<const std::uint8_t> bytes)
      : source_{bytes}, png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &error_, on_error, on_warning)) {
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) throw_no_memory();
  }
  PngInput(const PngInput&) = delete;
  PngInput& operator=(const PngInput&) = delete;
  ~PngInput() { png_destroy_read_struct(&png_, &info_, nullptr); }

  bool has_signature() const { return source_.rest.size() >= 8 && png_sig_cmp(source_.rest.data(), 0, 8) == 0; }
  /// Reads what comes before the pixels. Then rows are of 8 or 16 bits for each of 1 to 4 channels.
  bool read_header() {
    return guarded(png_, [this] {
      png_set_read_fn(png_, &source_, read);
      png_read_info(png_, info_);
      png_set_expand(png_);  // palettes to RGB, fewer bits to 8, transparent colours to alpha
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
  }
  bool read_rows(std::uint8_t** rows) {
    return guarded(png_, [this, rows] {
      png_read_image(png_, rows);
      png_read_end(png_, nullptr);
    });
  }
  std::size_t height() const { return png_get_image_height(png_, info_); }
  std::size_t width() const { return png_get_image_width(png_, info_); }
  std::size_t channels() const { return png_get_channels(png_, info_); }
  std::size_t bits() const { return png_get_bit_depth(png_, info_); }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  const char* error() const { return error_.text; }

 private:
  struct Source {
    std::span<const std::uint8_t> rest;
  };
  [[noreturn]] void throw_no_memory() {
    png_destroy_read_struct(&png_, &info_, nullptr);
    throw std::bad_alloc();
  }
  static void read(png_structp png, png_bytep to, std::size_t count) {
    auto& rest = static_cast<Source*>(png_get_io_ptr(png))->rest;
    if (rest.size() < count) png_error(png, "the file ends early");
    std::memcpy(to, rest.data(), count);
    rest = rest.subspan(count);
  }

  Source source_;
  PngError error_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

/// Makes a PNG file in memory.
class PngOutput {
 public:
  PngOutput() : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, &error_, on_error, on_warning)) {
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_write_struct(&png_, &info_);
      throw std::bad_alloc();
    }
  }
  PngOutput(const PngOutput&) = delete;
  PngOutput& operator=(const PngOutput&) = delete;
  ~PngOutput() { png_destroy_write_struct(&png_, &info_); }

  /// Appends a file of `height` rows of 8 or 16 bits for each of 1 to 4 channels. Returns false after an error of libpng.
  bool write(std::size_t height, std::size_t width, int channels, int bits, std::uint8_t** rows) {
    constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const auto rows_of_file = static_cast<png_uint_32>(height), columns = static_cast<png_uint_32>(width);
    return guarded(png_, [=, this] {
      png_set_write_fn(png_, &bytes_, append, nullptr);
      png_set_IHDR(png_, info_, columns, rows_of_file, bits, types[channels - 1], PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      png_write_image(png_, rows);
      png_write_end(png_, info_);
    });
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  const char* error() const { return error_.text; }

 private:
  static void append(png_structp png, png_bytep from, std::size_t count) {
    if (!try_append(*static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png)), from, count)) png_error(png, "no memory");
  }
  static bool try_append(std::vector<std::uint8_t>& bytes, const std::uint8_t* from, std::size_t count) try {
    bytes.insert(bytes.end(), from, from + count);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::vector<std::uint8_t> bytes_{};
  PngError error_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace tilewright::images::detail
