#pragma once
#include <array>
#include <cstdint>

#include "tilewright/kernel/conv/blocks.hpp"
#include "tilewright/operand/indices.hpp"
#include "tilewright/operand/pool_windows.hpp"

namespace tilewright::kernel {

/// Poolings of blocks of images (N, C, blocks, extent, ...), whose views may have any strides, in plain loops. Positions say
/// which blocks a vertex has, so that windows skip what lies beyond the images; results there are 0.
template <PoolBlocks of>
struct BlockPool {
  using Places = std::array<std::int64_t, 3>;  // by axis of the windows
  static constexpr int axes = of.axes, axes_with_blocks = axes > 2 ? 1 : axes;
  static constexpr Window a = of.windows[0], b = of.windows[1], c = of.windows[2];

  /// Calls f(views of a block of one channel, begins of the elements, of the windows and of the gradient there).
  template <class P, class F, class... V>
  static void for_each(P positions, F&& f, V... views) {
    constexpr bool has_two = axes_with_blocks > 1;
    const std::int64_t first = block_begin(positions, 2), second = has_two ? block_begin(positions, 4) : 0;
    for (std::int64_t i = 0; i < P::shape[2]; ++i)
      for (std::int64_t j = 0; j < (has_two ? P::shape[4] : 1); ++j)
        for (std::int64_t n = 0; n < P::shape[0]; ++n)
          for (std::int64_t channel = 0; channel < P::shape[1]; ++channel)
            f(begins(of.elements, first + i, second + j), begins(of.results, first + i, second + j),
              begins(of.gradient, first + i, second + j),
              Block<V>{views.data + n * V::spec.stride(0) + channel * V::spec.stride(1) + block_at<V>(i, j)}...);
  }

  template <class X, class P, class Y>
  static void maximum(X x, P positions, Y y) {
    pool<X>(x, positions, y, [](auto data, const Places& begin, const Places& result) {
      return data.data[offset<decltype(data)>(largest(data, begin, result), begin)];
    });
  }
  template <class X, class P, class Y>
  static void average(X x, P positions, Y y) {
    pool<X>(x, positions, y, [](auto data, const Places& begin, const Places& result) {
      compute_t<typename X::element> sum{}, count{};
      for_each_element(result, [&](const Places& at) {
        sum += static_cast<compute_t<typename X::element>>(data.data[offset<decltype(data)>(at, begin)]), count += 1;
      });
      return sum / count;
    });
  }
  /// dx: in each window, the first of the largest elements gets the gradient, or the last NaN if there is one.
  template <class X, class DY, class P, class DX>
  static void maximum_gradient(X x, DY dy, P positions, DX dx) {
    for_each(
        positions,
        [](const Places& elements, const Places& results, const Places& gradient, auto data, auto of_result, auto to) {
          add_gradients(results, gradient, of_result, to,
                        [&](const Places& result, auto value, auto&& add) { add(largest(data, elements, result), value); });
        },
        x, dy, dx);
  }
  template <class DY, class P, class DX>
  static void average_gradient(DY dy, P positions, DX dx) {
    for_each(
        positions,
        [](const Places&, const Places& results, const Places& gradient, auto of_result, auto to) {
          add_gradients(results, gradient, of_result, to, [](const Places& result, auto value, auto&& add) {
            decltype(value) count{};
            for_each_element(result, [&](const Places&) { count += 1; });
            for_each_element(result, [&](const Places& at) { add(at, value / count); });
          });
        },
        dy, dx);
  }

 private:
  template <class V>
  using Block = View<view_of_block(V::spec, axes_with_blocks)>;

  static constexpr Places begins(const BlockBegins (&of_axes)[3], std::int64_t i, std::int64_t j) {
    Places result{};
    for (int axis = 0; axis < axes_with_blocks; ++axis)
      result[std::size_t(3 - axes + axis)] = of_axes[3 - axes + axis].at(axis == 0 ? i : j);
    return result;
  }
  /// Returns the offset of a place of the images in a view of a block that begins elsewhere.
  template <class V>
  static std::int64_t offset(const Places& at, const Places& begin) {
    std::int64_t result = 0;
    for (std::size_t axis = std::size_t(3 - axes); axis < 3; ++axis)
      result += (at[axis] - begin[axis]) * V::spec.stride(static_cast<int>(axis) - 3);
    return result;
  }
  static bool is_result(const Places& result) {
    bool is_in = true;
    for (std::size_t axis = 0; axis < 3; ++axis)
      is_in = is_in && result[axis] >= 0 && result[axis] < of.windows[static_cast<int>(axis)].out;
    return is_in;
  }
  /// Calls f(its place) for each element of a window.
  static void for_each_element(const Places& result, auto&& f) {
    for_each_index(a.kernel, b.kernel, c.kernel, [&](auto k, auto l, auto p) {
      const Places at{a.at(result[0], k), b.at(result[1], l), c.at(result[2], p)};
      if (a.contains(at[0]) && b.contains(at[1]) && c.contains(at[2])) f(at);
    });
  }
  template <class V>
  static Places largest(V data, const Places& begin, const Places& result) {
    Places found{};
    compute_t<typename V::element> most{};
    bool is_found = false;
    for_each_element(result, [&](const Places& at) {
      const auto value = static_cast<decltype(most)>(data.data[offset<V>(at, begin)]);
      if (is_found && !(value > most) && value == value) return;
      found = at, most = value, is_found = true;
    });
    return found;
  }
  /// Calls f(place among all) for each place of a view of a block.
  template <class V>
  static void for_each_place(const Places& begin, auto&& f) {
    constexpr auto extent = [](int axis) { return axis < 3 - axes ? 1 : V::shape[axis - 1 + axes]; };
    static_assert(V::shape.rank == 2 + axes);
    for_each_index(extent(0), extent(1), extent(2),
                   [&](auto i, auto j, auto o) { f(Places{begin[0] + i, begin[1] + j, begin[2] + o}); });
  }
  template <class X, class P, class Y, class F>
  static void pool(X x, P positions, Y y, F&& f) {
    for_each(
        positions,
        [&](const Places& elements, const Places& results, const Places&, auto data, auto to) {
          using V = decltype(to);
          for_each_place<V>(results, [&](const Places& result) {
            to.data[offset<V>(result, results)] = is_result(result) ? static_cast<typename V::element>(f(data, elements, result))
                                                                    : typename V::element{};
          });
        },
        x, y);
  }
  template <class DY, class DX, class F>
  static void add_gradients(const Places& results, const Places& gradient, DY dy, DX dx, F&& f) {
    using Sum = compute_t<typename DY::element>;
    for_each_place<DX>(gradient, [&](const Places& at) { dx.data[offset<DX>(at, gradient)] = typename DX::element{}; });
    const auto add = [&](const Places& at, Sum value) {
      for (int axis = 3 - axes; axis < 3; ++axis) {
        const std::int64_t in_block = at[std::size_t(axis)] - gradient[std::size_t(axis)];
        if (in_block < 0 || in_block >= DX::shape[axis - 1 + axes]) return;
      }
      auto& to = dx.data[offset<DX>(at, gradient)];
      to = static_cast<typename DX::element>(static_cast<Sum>(to) + value);
    };
    for_each_place<DY>(results, [&](const Places& result) {
      if (is_result(result)) f(result, static_cast<Sum>(dy.data[offset<DY>(result, results)]), add);
    });
  }
};

}  // namespace tilewright::kernel
