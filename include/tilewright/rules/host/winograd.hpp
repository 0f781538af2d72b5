#pragma once
// When convolutions on the host have Winograd's form (kernel/conv/winograd.hpp), and what it costs.
#include <algorithm>
#include <cstdint>

#include "tilewright/graph/emit.hpp"
#include "tilewright/operand/blocks.hpp"
#include "tilewright/operand/window.hpp"
#include "tilewright/rules/host/host_rules.hpp"

namespace tilewright::detail {

/// Estimated times of the parts of Winograd's form in multiply-adds of vectors of 16 floats, as fractions of those of the direct
/// form: measured with 32 channels of 13 x 13 to 64 on an AMD EPYC (Zen 4, 0.277 ns for each multiply-add, in both forms).
struct WinogradCost {
  std::int64_t points = 36;  ///< products of a tile, for each term and vector of results
  std::int64_t weights = 195;  ///< points of the weights, for each term and vector
  std::int64_t elements = 325, results = 160;  ///< of a tile, for each vector of channels: to points, and from points
  std::int64_t gradients = 256, elements_back = 285;  ///< the times of their transposes
  /// Of a part of the weights' gradient, for each result and vector of channels: to make it from points, and to add it.
  std::int64_t part = 180;
};
inline constexpr WinogradCost winograd_cost;

/// A convolution of one group by its shape, for the choice of its form.
struct WinogradChoice {
  static constexpr std::int64_t lanes = 16, most_images = 4, most_channels = 64;
  /// Smallest number of images of a part of the weights' gradient, and smallest ratio of the elements of y to those of all parts,
  /// which a sum reads.
  static constexpr std::int64_t images_of_part = 4, least_ratio = 8;
  std::int64_t images = 0, channels = 0, results = 0;
  kernel::Window h{}, v{};
  std::int64_t tiles_of_host = 1;

  constexpr std::int64_t x_vectors() const { return kernel::ceil_div(channels, lanes); }
  constexpr std::int64_t y_vectors() const { return kernel::ceil_div(results, lanes); }
  constexpr std::int64_t tiles() const { return kernel::ceil_div(h.out, 4) * kernel::ceil_div(v.out, 4); }
  /// Returns whether the form exists, all vectors of channels are full, and kernels have room for the points of the weights.
  constexpr bool exists() const {
    const auto fits = [](const kernel::Window& w) { return w.kernel == 3 && w.stride == 1 && w.dilation == 1; };
    return fits(h) && fits(v) && channels % lanes == 0 && results % lanes == 0 && (std::max)(channels, results) <= most_channels;
  }
  /// Number of images of a vertex, which share the points of the weights: no more than the host's tiles leave to each.
  constexpr std::int64_t images_together() const { return std::clamp<std::int64_t>(images / tiles_of_host, 1, most_images); }
  constexpr std::int64_t direct() const { return h.out * v.out * h.kernel * v.kernel * channels * y_vectors(); }
  constexpr std::int64_t products() const { return tiles() * winograd_cost.points * channels * y_vectors(); }
  /// Return the times for each image.
  constexpr std::int64_t forward() const {
    return products() + tiles() * (winograd_cost.elements * x_vectors() + winograd_cost.results * y_vectors()) +
           winograd_cost.weights * channels * y_vectors() / images_together();
  }
  constexpr std::int64_t data_gradient() const {
    return products() + tiles() * (winograd_cost.gradients * y_vectors() + winograd_cost.elements_back * x_vectors()) +
           winograd_cost.weights * results * x_vectors() / images_together();
  }
  /// Returns the number of parts of the weights' gradient, as the planner cuts images into vertices.
  constexpr std::int64_t parts() const {
    if (images == 0) return 0;
    const std::int64_t most = kernel::ceil_div(images, images_of_part);
    return kernel::ceil_div(most, kernel::ceil_div(most, tiles_of_host));
  }
  /// Returns whether all tiles have a part, so that work is spread as evenly as over blocks of channels.
  constexpr bool parts_fill_tiles() const { return tiles_of_host > 1 && parts() == tiles_of_host; }
  /// Vertices have all channels and some images.
  constexpr std::int64_t weights_gradient_in_parts() const {
    return products() + tiles() * (winograd_cost.elements * x_vectors() + winograd_cost.gradients * y_vectors()) +
           parts() * results * x_vectors() * winograd_cost.part / images;
  }
  /// Vertices have all images and one vector of each kind of channels.
  constexpr std::int64_t weights_gradient_of_all() const {
    return products() + tiles() * (winograd_cost.elements + winograd_cost.gradients) * x_vectors() * y_vectors();
  }
  constexpr std::int64_t weights_gradient() const {
    const std::int64_t of_all = weights_gradient_of_all();
    return parts_fill_tiles() ? (std::min)(weights_gradient_in_parts(), of_all) : of_all;
  }
  /// Returns whether vertices of the weights' gradient have some images each, and make parts of the sums.
  constexpr bool has_parts(bool winograd) const {
    if (!parts_fill_tiles()) return false;
    if (winograd) return weights_gradient_in_parts() < weights_gradient_of_all();
    return least_ratio * parts() * results * channels * h.kernel * v.kernel <= images * results * h.out * v.out;
  }
  /// Returns the images of a vertex if Winograd's form takes at most 9/10 of the direct form's time, otherwise 0.
  constexpr std::int8_t images_if_faster(std::int64_t (WinogradChoice::*cost)() const) const {
    if (!exists()) return 0;
    return static_cast<std::int8_t>(10 * (this->*cost)() <= 9 * direct() ? images_together() : 0);
  }
};

/// Gives a convolution of x to y, or one of its gradients, the form that is faster for float32 on a host; `cost` is the op's time
/// in Winograd's form. Returns the convolution as a choice; images 0: it is not of float32 and one group.
template <class Attributes>
constexpr WinogradChoice choose_form(Attributes& attributes, const TensorSpec& x, const TensorSpec& y,
                                     const kernel::Windows& windows, const HostForms& forms,
                                     std::int64_t (WinogradChoice::*cost)() const) {
  if (x.dtype != float32 || x.shape.rank != 4 || attributes.groups != 1) return {.tiles_of_host = forms.tiles};
  const WinogradChoice choice{x.shape[0], x.shape[1], y.shape[1], windows[1], windows[2], forms.tiles};
  if (choice.images > 0 && forms.winograd) attributes.planner.images_together = choice.images_if_faster(cost);
  return choice;
}

}  // namespace tilewright::detail
