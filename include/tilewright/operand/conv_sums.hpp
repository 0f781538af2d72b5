#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright::kernel {

/// How a convolution adds its products.
enum class ConvSums : std::uint8_t {
  direct,  ///< in float32, or float64
  rounded,  ///< rounded to float16
  winograd  ///< in Winograd's form, if its kernel fits the shape
};
/// `images_together`: see PlannerAttributes.
constexpr ConvSums conv_sums(bool rounds, std::int64_t images_together) {
  return rounds ? ConvSums::rounded : images_together != 0 ? ConvSums::winograd : ConvSums::direct;
}
/// Returns the name of a form in printed graphs, which show no other than Winograd's.
constexpr std::string_view form_name(ConvSums sums) { return sums == ConvSums::winograd ? "winograd" : ""; }

}  // namespace tilewright::kernel
