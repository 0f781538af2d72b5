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
constexpr std::string_view name_of(ConvSums sums) {
  constexpr std::string_view names[] = {"direct", "rounded", "winograd"};
  return names[static_cast<int>(sums)];
}

/// Returns how a convolution adds by its options: whether it rounds sums to float16, and PlannerAttributes::images_together.
constexpr ConvSums conv_sums(bool rounds, std::int64_t images_together) {
  return rounds ? ConvSums::rounded : images_together != 0 ? ConvSums::winograd : ConvSums::direct;
}

}  // namespace tilewright::kernel
