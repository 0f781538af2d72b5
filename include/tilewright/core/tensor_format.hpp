#pragma once
#include <cstdint>

namespace tilewright {

/// Notation of floating-point numbers.
enum class FloatFormat : std::uint8_t {
  automatic,  ///< NumPy's rule: scientific if the largest is 1e8 or more, the smallest nonzero below 1e-4, or their ratio above
              ///< 1000
  fixed,  ///< 0.25
  scientific,  ///< 2.5e-01
  none  ///< shortest digits that read back as the same number, each number by itself
};

/// Format of a tensor's text. A structural type of 24 bytes without padding, so that it can be part of an op's attributes.
struct TensorFormat {
  std::int64_t summarise_threshold = 1000;  ///< with more elements, only the edges of each axis are shown; 0: all are shown
  std::int32_t edge_items = 3;  ///< elements at each edge of a summarised axis
  std::int32_t max_line_width = 75;  ///< in characters; longer rows continue in the next line; 0: no limit
  std::int32_t digits = 8;  ///< digits after the point, at most; 0: FloatFormat::none, without padding to a common width
  FloatFormat float_format = FloatFormat::automatic;  ///< notation of floating-point elements
  char separator = ' ';  ///< between elements of a row
  char open_bracket = '[', close_bracket = ']';  ///< around each row and axis
};

}  // namespace tilewright
