#pragma once
#include <algorithm>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/op/op.hpp"
#include "tilewright/op/planner_options.hpp"
#include "tilewright/operand/window.hpp"

namespace tilewright {

/// Padding of a convolution or pooling. not_set: the numbers of `padding`. same_upper, same_lower: the padding that gives ceil(in
/// / stride) results, with an odd element at the end (upper) or at the beginning (lower). valid: none.
enum class PadType : std::int32_t { not_set, same_upper, same_lower, valid };

constexpr std::string_view to_text(PadType type) {
  constexpr std::string_view names[] = {"not_set", "same_upper", "same_lower", "valid"};
  return names[static_cast<std::size_t>(type)];
}

/// The windows of an op on tensors (N, C, spatial...) as attributes: 12 words. Lists have the length of the spatial axes, or
/// 0 for the default; padding has twice that, all beginnings first.
struct WindowAttributes {
  static constexpr int most_axes = 3;
  std::array<std::int32_t, most_axes> kernel{}, stride{}, dilation{};
  std::array<std::int32_t, 2 * most_axes> padding{};
  std::int8_t kernel_count = 0, stride_count = 0, dilation_count = 0, padding_count = 0;
  PadType pad_type = PadType::not_set;
  std::int32_t ceil_mode = 0;
  std::int64_t groups = 1;
  PlannerAttributes planner{};

  /// Largest stride, dilation or padding. Beyond it, planning would take minutes for tensors that no machine can hold.
  static constexpr std::int32_t most = 1 << 20;
  /// Largest number of an attribute, which stands for all larger ones.
  static constexpr std::int32_t limit = 0x7fffffff;
  /// Limits a number to the attribute's range. The shape rule refuses numbers beyond `most`.
  static constexpr std::int32_t limited(std::int64_t number) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, -limit, limit));
  }
  /// Copies the part of a list that fits, but stores the whole length, so that the shape rule can refuse a list that is too long.
  template <std::size_t n>
  static constexpr void set(std::array<std::int32_t, n>& to, std::int8_t& count, const List<std::int64_t>& list) {
    count = static_cast<std::int8_t>(std::min<std::size_t>(list.size(), 127));
    for (std::size_t i = 0; i < list.size() && i < n; ++i) to[i] = limited(list[i]);
  }
  /// Copies the lists that options of all ops with windows have.
  template <class Options>
  constexpr void set_lists(const Options& options) {
    set(stride, stride_count, options.stride);
    set(padding, padding_count, options.padding);
    set(dilation, dilation_count, options.dilation);
  }
};

/// Attributes of the gradients of ops with windows: the windows themselves. 12 words.
struct WindowsAttributes {
  std::array<std::int32_t, 18> numbers{};
  std::int64_t groups = 1;
  PlannerAttributes planner{};

  static constexpr WindowsAttributes make(const kernel::Windows& windows, std::int64_t groups = 1,
                                          const PlannerAttributes& planner = {}) {
    WindowsAttributes result{.groups = groups, .planner = planner};
    std::size_t i = 0;
    for (const kernel::Window& w : windows.axes)
      for (std::int64_t number : {w.in, w.out, w.kernel, w.stride, w.dilation, w.begin})
        result.numbers[i++] = static_cast<std::int32_t>(number);
    return result;
  }
  constexpr kernel::Windows windows() const {
    kernel::Windows result;
    const std::int32_t* number = numbers.data();
    for (kernel::Window& w : result.axes) {
      w = {number[0], number[1], number[2], number[3], number[4], number[5]};
      number += 6;
    }
    return result;
  }
};

namespace detail {
/// Returns the list for a message.
constexpr Text to_text(Span<const std::int32_t> list) {
  Text result = "(";
  for (std::size_t i = 0; i < list.size(); ++i) {
    constexpr std::int32_t limit = WindowAttributes::limit;
    const std::string_view rest = list[i] == limit ? " or more" : list[i] == -limit ? " or less" : "";
    result += text(i > 0 ? ", " : "", std::int64_t{list[i]}, rest);
  }
  result += list.size() == 1 ? ",)" : ")";
  return result;
}

/// Returns the windows along the spatial axes of x (N, C, spatial...), with the attributes' stride, dilation and padding and a
/// kernel of the given extents. Checks nothing.
constexpr kernel::Windows windows_of(const Shape& x, const Shape& kernel, const WindowAttributes& attributes) {
  kernel::Windows result;
  const int axes = x.rank - 2;
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    kernel::Window& window = result.axes[3 - axes + axis];
    window.in = x[2 + axis];
    window.kernel = kernel[axis];
    if (attributes.stride_count > 0) window.stride = attributes.stride[i];
    if (attributes.dilation_count > 0) window.dilation = attributes.dilation[i];
    std::int64_t end = 0;
    if (attributes.pad_type == PadType::not_set && attributes.padding_count > 0) {
      window.begin = attributes.padding[i];
      end = attributes.padding[i + static_cast<std::size_t>(axes)];
    } else if (attributes.pad_type == PadType::same_upper || attributes.pad_type == PadType::same_lower) {
      const std::int64_t out = (window.in + window.stride - 1) / window.stride;
      const std::int64_t total = std::max<std::int64_t>((out - 1) * window.stride + window.span() - window.in, 0);
      window.begin = (total + (attributes.pad_type == PadType::same_lower ? 1 : 0)) / 2;
      end = total - window.begin;
    }
    const std::int64_t room = window.in + window.begin + end - window.span();
    window.out = room < 0 ? 0 : room / window.stride + 1;
    // with ceil_mode one more window, if it begins before the padding at the end
    if (attributes.ceil_mode != 0 && room >= 0 && room % window.stride != 0 && window.at(window.out, 0) < window.in) ++window.out;
  }
  return result;
}

/// Checks that a list is empty, or has the expected number of elements, of which none is too small.
constexpr bool check_list(Inference& op, const Shape& x, std::string_view what, Span<const std::int32_t> list, int count,
                          int expected, std::int64_t least) {
  if (count == 0) return true;
  if (count != expected)
    return op.fail(what, " of ", std::int64_t{count}, " numbers for ", to_text(x), ": ", std::int64_t{expected}, " expected"),
           false;
  for (std::int32_t value : list.first(static_cast<std::size_t>(count)))
    if (value < least || value > WindowAttributes::most)
      return op.fail(what, " ", to_text(list.first(static_cast<std::size_t>(count))), ": numbers from ", least, " to ",
                     std::int64_t{WindowAttributes::most}, " expected"),
             false;
  return true;
}
constexpr bool check_lists(Inference& op, const Shape& x, const WindowAttributes& attributes) {
  const int axes = x.rank - 2;
  return check_list(op, x, "stride", attributes.stride, attributes.stride_count, axes, 1) &&
         check_list(op, x, "dilation", attributes.dilation, attributes.dilation_count, axes, 1) &&
         check_list(op, x, "padding", attributes.padding, attributes.padding_count, 2 * axes, 0);
}
inline constexpr std::int64_t most_colours = 4;  ///< images: a last axis of at most this extent may be the channels
/// Returns advice for images whose channels are the last axis, from the number of channels of the weights.
constexpr Text advice_on_channels(const Shape& x, std::int64_t channels) {
  if (x[-1] != channels) return {};
  Text order = "{0, ";
  order += x.rank - 1;
  for (int axis = 1; axis < x.rank - 1; ++axis) order += text(", ", axis);
  return text("; channels are axis 1: if they stand last, x.transpose(", order, "})");
}

/// Checks lists and extents; fails with what is wrong.
constexpr bool check_windows(Inference& op, const Shape& x, const Shape& kernel, const WindowAttributes& attributes) {
  const int axes = x.rank - 2;
  if (!check_lists(op, x, attributes)) return false;
  const kernel::Windows windows = windows_of(x, kernel, attributes);
  for (int axis = 0; axis < axes; ++axis) {
    const kernel::Window& window = windows[3 - axes + axis];
    if (window.out < 1)
      return op.fail(to_text(x), " with a kernel of ", to_text(kernel), ": axis ", std::int64_t{axis} + 2, " has ", window.in,
                     " elements, at least ", window.span(), " with padding expected",
                     advice_on_channels(x, axis == axes - 1 && x[-1] <= most_colours ? x[-1] : 0)),
             false;
  }
  return true;
}

/// Returns (n, c, spatial...) with the numbers of windows along the spatial axes.
constexpr Shape windows_shape(std::int64_t n, std::int64_t c, const kernel::Windows& windows, int axes) {
  Shape result{n, c};
  for (int axis = 3 - axes; axis < 3; ++axis) result.push_back(windows[axis].out);
  return result;
}
}  // namespace detail

}  // namespace tilewright
