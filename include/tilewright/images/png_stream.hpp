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

/// Rows and columns of an image that a pass through its file has.
struct PngPass {
  std::size_t first_row = 0, row_step = 1, first_column = 0, column_step = 1;
};

/// Reads a PNG file from memory, row by row. All functions that return bool return false if the data is damaged.
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
      stored_row_bytes_ = png_get_rowbytes(png_, info_);
      if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE) {
        png_get_PLTE(png_, info_, &palette_, &palette_size_);
        png_get_tRNS(png_, info_, &alphas_, &alpha_count_, nullptr);
        png_set_packing(png_);  // a byte for each index
      } else {
        png_set_expand(png_);  // fewer bits to 8, transparent colours to alpha
      }
      png_read_update_info(png_, info_);
    });
  }
  /// Returns the number of passes: 7 of an interlaced file. Each has its rows one after the other.
  unsigned passes() const { return png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE ? 1 : PNG_INTERLACE_ADAM7_PASSES; }
  PngPass pass(unsigned number) const {
    if (passes() == 1) return {};
    return {PNG_PASS_START_ROW(number), std::size_t{1} << PNG_PASS_ROW_SHIFT(number), PNG_PASS_START_COL(number),
            std::size_t{1} << PNG_PASS_COL_SHIFT(number)};
  }
  /// Reads the next row of a pass, of `pixels` pixels, to memory for a row of the image.
  bool read_row(std::uint8_t* row, std::size_t pixels) {
    return guarded(png_, [this, row, pixels] {
      png_read_row(png_, row, nullptr);
      if (palette_ == nullptr) return;
      for (std::size_t i = pixels; i-- > 0;) {  // from the end: colours take more room than indices
        const int index = row[i];
        if (index >= palette_size_) png_error(png_, "a palette index beyond the palette");
        const png_color colour = palette_[index];
        std::uint8_t* const to = row + i * channels();
        to[0] = colour.red, to[1] = colour.green, to[2] = colour.blue;
        if (alpha_count_ > 0) to[3] = index < alpha_count_ ? alphas_[index] : 0xff;
      }
    });
  }
  /// Reads what comes after the pixels.
  bool read_end() {
    return guarded(png_, [this] { png_read_end(png_, nullptr); });
  }
  std::size_t height() const { return png_get_image_height(png_, info_); }
  std::size_t width() const { return png_get_image_width(png_, info_); }
  std::size_t channels() const {
    if (palette_ != nullptr) return alpha_count_ > 0 ? 4 : 3;
    return png_get_channels(png_, info_);
  }
  std::size_t bits() const { return png_get_bit_depth(png_, info_); }
  /// Returns the bytes of a row in the file, where a pixel may have 1 bit.
  std::size_t stored_row_bytes() const { return stored_row_bytes_; }
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
  png_colorp palette_ = nullptr;  // null: none
  png_bytep alphas_ = nullptr;  // of the palette's first colours
  int palette_size_ = 0, alpha_count_ = 0;
  std::size_t stored_row_bytes_ = 0;
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
