#pragma once
// What the planner of a host asks of convolutions and their gradients.
#include "tilewright/operand/sum_lengths.hpp"
#include "tilewright/ops/linear/conv.hpp"
#include "tilewright/rules/host/winograd.hpp"

namespace tilewright::detail {

// Which of them have kernels for images with channels as the last axis of memory: lower/host/channels_last.hpp.

/// Returns the tiles of 4 elements along an axis of x.
constexpr std::int64_t winograd_tiles(const TensorSpec& x, int axis) { return kernel::ceil_div(x.shape[axis], 4); }
/// Returns whether a convolution of x to y in Winograd's form, or its gradient of x, has room for a row of tiles: most_points of
/// kernel::WinogradConv.
constexpr bool winograd_takes_pixels(const TensorSpec& x, const TensorSpec& y) {
  return 36 * winograd_tiles(x, 3) * (x.shape[1] + y.shape[1]) <= 65'536;
}
/// Returns whether this also holds for the gradient of weights, whose sums of points are short: kernel::WinogradWeights::fits.
constexpr bool winograd_sums_pixels(const TensorSpec& x, const TensorSpec& y) {
  return winograd_takes_pixels(x, y) && !kernel::is_long_product(x.shape[0] * winograd_tiles(x, 2) * winograd_tiles(x, 3));
}
/// Returns whether x, float32 planes, has so few channels that vectors run along results: kernel::ConvWeightsByResults.
constexpr bool few_channels_to_pixels(const TensorSpec& x, const kernel::Windows& windows) {
  constexpr std::int64_t most_channels = 4, most_taps = 12;
  return x.dtype == float32 && x.shape.rank == 4 && x.shape[1] <= most_channels && windows.kernel() <= most_taps;
}
constexpr bool has_no_padding(const kernel::Windows& windows) {
  for (const kernel::Window& window : windows.axes)
    if (window.first_inner() != 0 || window.last_inner() != window.out) return false;
  return true;
}

inline constexpr HostRules conv_rules{
    .channels_last = [](std::span<const TensorSpec> operands, const PackedAttributes& packed,
                        std::uint32_t asked) -> std::uint32_t {
      const auto attributes = unpack<WindowAttributes>(packed);
      if (attributes.planner.images_together != 0) return winograd_takes_pixels(operands[0], operands[2]) ? asked & 0b101u : 0;
      if (!Conv::takes_epilogue(packed)) return 0;
      const auto windows = windows_of(operands[0].shape, kernel_of(operands[1].shape), attributes);
      return few_channels_to_pixels(operands[0], windows) ? asked & 0b100u : 0;
    },
    .takes_epilogue = Conv::takes_epilogue,
    .epilogue_of_planes = true,
    .with_host_form =
        [](const PackedAttributes& packed, std::span<const TensorSpec> operands, const HostForms& forms) {
          auto attributes = unpack<WindowAttributes>(packed);
          const auto windows = windows_of(operands[0].shape, kernel_of(operands[1].shape), attributes);
          choose_form(attributes, operands[0], operands[2], windows, forms, &WinogradChoice::forward);
          const bool is_plane = operands[0].dtype == float32 && operands[0].shape.rank == 4 && attributes.groups == 1;
          attributes.planner.takes_epilogue = is_plane ? 1 : 0;
          return pack(attributes);
        }};

inline constexpr HostRules conv_data_grad_rules{
    .channels_last =
        [](std::span<const TensorSpec> operands, const PackedAttributes& packed, std::uint32_t asked) {
          const bool is_winograd = unpack<WindowsAttributes>(packed).planner.images_together != 0;
          return is_winograd && winograd_takes_pixels(operands[2], operands[0]) ? asked & 0b101u : 0;
        },
    .with_host_form =
        [](const PackedAttributes& packed, std::span<const TensorSpec> operands, const HostForms& forms) {
          auto attributes = unpack<WindowsAttributes>(packed);
          choose_form(attributes, operands[2], operands[0], attributes.windows(), forms, &WinogradChoice::data_gradient);
          return pack(attributes);
        }};

inline constexpr HostRules conv_weights_grad_rules{
    .channels_last =
        [](std::span<const TensorSpec> operands, const PackedAttributes& packed, std::uint32_t asked) {
          const auto attributes = unpack<WindowsAttributes>(packed);
          if (attributes.planner.images_together != 0) return winograd_sums_pixels(operands[0], operands[1]) ? asked & 0b11u : 0;
          const kernel::Windows windows = attributes.windows();
          const bool fits = attributes.groups == 1 && few_channels_to_pixels(operands[0], windows) && has_no_padding(windows);
          return fits ? asked & 0b10u : 0;
        },
    .with_host_form =
        [](const PackedAttributes& packed, std::span<const TensorSpec> operands, const HostForms& forms) {
          auto attributes = unpack<WindowsAttributes>(packed);
          const WinogradChoice choice = choose_form(attributes, operands[0], operands[1], attributes.windows(), forms,
                                                    &WinogradChoice::weights_gradient);
          if (attributes.planner.partials_type != float16 && choice.has_parts(attributes.planner.images_together != 0))
            attributes.planner.images_of_part = choice.images_of_part;
          return pack(attributes);
        }};

}  // namespace tilewright::detail
