#pragma once
#include <algorithm>
#include <bit>

#include "tilewright/kernel/reduce/reduction.hpp"

namespace tilewright::kernel {

/// Unsigned integers in the order of elements of type T. NaN is the largest, and -0 equals 0.
template <class T>
using order_key_t = std::make_unsigned_t<std::conditional_t<sizeof(wide_t<T>) == 8, std::int64_t, std::int32_t>>;

template <class T>
[[gnu::always_inline]] inline order_key_t<T> order_key(T element) {
  using Key = order_key_t<T>;
  constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
  const auto x = static_cast<wide_t<T>>(element);
  if constexpr (std::is_floating_point_v<wide_t<T>>) {
    const Key bits = std::bit_cast<Key>(x + wide_t<T>(0));
    const Key key = bits ^ (bits >= sign ? ~Key(0) : sign);
    return x != x ? ~Key(0) : key;
  } else {
    return static_cast<Key>(x) ^ (std::is_signed_v<T> ? sign : Key(0));
  }
}
/// Returns the element, or one equal to it.
template <class T>
inline T element_of_key(order_key_t<T> key) {
  using Key = order_key_t<T>;
  constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<wide_t<T>>)
    return static_cast<T>(std::bit_cast<wide_t<T>>(key >= sign ? Key(key ^ sign) : Key(~key)));
  else return static_cast<T>(key ^ (std::is_signed_v<T> ? sign : Key(0)));
}

/// Bytes of assign_median's array on the stack: counts of bytes.
inline constexpr std::int64_t median_stack_bytes = sizeof(std::array<std::int64_t, 256>);

/// Computes y = the median of the reduced elements, which is the lower one of two in the middle; NaN if one element is NaN. Finds
/// the median's key byte by byte, from the highest byte on, by counting the elements that agree so far. Moves no elements.
template <std::uint64_t reduced, class X, class Y>
inline void assign_median(X x, Y y) {
  using T = typename X::element;
  using Key = order_key_t<T>;
  static constexpr auto loops = reduction_loops<reduced, false, X, Y>();
  for_each_offset<2>(loops.kept, loops.kept_strides, [&](const auto& at) {
    const T* from = x.data + at[0];
    std::int64_t rank = (loops.reduced.nelms() - 1) / 2;
    Key found = 0, known = 0;
    bool has_nan = false;
    for (int shift = 8 * sizeof(Key) - 8; shift >= 0; shift -= 8) {
      std::array<std::int64_t, 256> counts{};
      for_each_offset<2>(loops.reduced, loops.reduced_strides, [&](const auto& row) {
        const Key key = order_key(from[row[0]]);
        if constexpr (std::is_floating_point_v<wide_t<T>>) has_nan = has_nan || key == ~Key(0);
        if ((key & known) == found) ++counts[key >> shift & 255];
      });
      if (has_nan) break;
      std::size_t digit = 0;
      for (; rank >= counts[digit]; ++digit) rank -= counts[digit];
      found |= static_cast<Key>(digit) << shift;
      known |= Key(255) << shift;
    }
    y.data[at[1]] = element_of_key<T>(has_nan ? ~Key(0) : found);
  });
}

/// Finds the k largest keys of a line, and their indices. `largest` false: the smallest elements.
template <class T, std::int64_t step, std::int64_t n, std::int64_t k, bool largest>
class TopOfLine {
 public:
  using Key = order_key_t<T>;

  explicit TopOfLine(const T* from) : from_(from) {
    if constexpr (n <= keys_at_once) load(0, n);
  }
  /// Whether the elements are sorted before they are returned: there are few.
  static constexpr bool is_in_order = k <= 1024;
  /// Calls give(index) for the k elements, sorted if is_in_order, otherwise by index.
  template <class F>
  void select(F&& give) {
    const auto [above, equal] = find_threshold();
    Ranked ranked[std::size_t(ranked_size)];
    std::int64_t count = 0, equal_left = equal;
    for_each_chunk([&](std::int64_t first, std::int64_t size) {
      if constexpr (is_in_order) {
        for (std::int64_t i = 0; i < size; ++i) {  // a branch for each element would cost more
          ranked[count] = rank_of(keys_[i], first + i);
          count += keys_[i] > above;
        }
        for (std::int64_t i = 0; i < size && equal_left > 0; ++i)
          if (keys_[i] == above) ranked[count++] = rank_of(above, first + i), --equal_left;
      } else {
        for (std::int64_t i = 0; i < size; ++i) {
          const bool is_equal = keys_[i] == above && equal_left > 0;
          equal_left -= is_equal;
          if (keys_[i] > above || is_equal) give(first + i);
        }
      }
    });
    if constexpr (is_in_order) {
      if constexpr (k > 128 || !std::is_integral_v<Ranked>) {
        std::sort(ranked, ranked + k, [](const Ranked& a, const Ranked& b) { return b < a; });
        for (std::int64_t i = 0; i < k; ++i) give(index_of(ranked[i]));
      } else {  // the place of each is the number of those before it
        std::array<std::int32_t, std::size_t(k)> order;
        for (std::int64_t i = 0; i < k; ++i) {
          std::uint64_t place = 0;
          for (std::int64_t j = 0; j < k; ++j) place += ranked[j] > ranked[i];
          order[place] = static_cast<std::int32_t>(index_of(ranked[i]));
        }
        for (const std::int32_t index : order) give(index);
      }
    }
  }
  /// Returns whether the element at `a` precedes that at `b`.
  static bool before(const T* from, std::int64_t a, std::int64_t b) {
    const Key key_a = key_of(from[a * step]), key_b = key_of(from[b * step]);
    return key_a > key_b || (key_a == key_b && a < b);
  }

 private:
  static constexpr std::int64_t keys_at_once = 4096;
  struct KeyAndIndex {
    Key key;
    std::int64_t index;
    bool operator<(const KeyAndIndex& other) const { return key != other.key ? key < other.key : index > other.index; }
  };
  using Ranked = std::conditional_t<sizeof(Key) == 4, std::uint64_t, KeyAndIndex>;
  static constexpr std::int64_t ranked_size = is_in_order ? k + 1 : 1;

  template <class E>  // T, or the type that holds it
  static Key key_of(E element) {
    return largest ? order_key(element) : static_cast<Key>(~order_key(element));
  }
  static Ranked rank_of(Key key, std::int64_t index) {
    if constexpr (sizeof(Key) == 4) return std::uint64_t{key} << 32 | static_cast<std::uint32_t>(~index);
    else return {key, index};
  }
  static std::int64_t index_of(const Ranked& ranked) {
    if constexpr (sizeof(Key) == 4) return static_cast<std::uint32_t>(~ranked);
    else return ranked.index;
  }
  void load(std::int64_t first, std::int64_t size) {
    constexpr std::int64_t at_once = 256;
    alignas(64) wide_t<T> elements[at_once];
    for (std::int64_t block = 0; block < size; block += at_once) {
      const std::int64_t count = (std::min)(size - block, at_once);
      load_wide<step>(from_ + (first + block) * step, count, elements);
      for (std::int64_t i = 0; i < count; ++i) keys_[block + i] = key_of(elements[i]);
    }
  }
  /// Calls f(first, size) for the parts of a line, whose keys are in keys_ one part at a time.
  template <class F>
  void for_each_chunk(F&& f) {
    if constexpr (n <= keys_at_once) return f(std::int64_t{0}, n);
    for (std::int64_t first = 0; first < n; first += keys_at_once) {
      const std::int64_t size = (std::min)(n - first, keys_at_once);
      load(first, size);
      f(first, size);
    }
  }
  std::int64_t count_from(Key threshold) {
    std::int64_t count = 0;
    for_each_chunk([&](std::int64_t, std::int64_t size) {
      constexpr std::int64_t width = pack_size<Key>;
      using Mask = decltype(Pack<Key>{} >= Pack<Key>{});
      const Pack<Key> thresholds = spread<Pack<Key>>(threshold);
      Mask even{}, odd{};
      std::int64_t i = 0;
      for (; i + 2 * width <= size; i += 2 * width) {
        even -= load_pack(keys_ + i) >= thresholds;
        odd -= load_pack(keys_ + i + width) >= thresholds;
      }
      even += odd;
      for (std::int64_t each = 0; each < width; ++each) count += even[each];
      for (; i < size; ++i) count += keys_[i] >= threshold;
    });
    return count;
  }
  struct Threshold {
    Key above;  ///< keys above it are selected
    std::int64_t equal;  ///< number of keys equal to it that are selected: the first ones
  };
  /// Finds bit by bit the largest threshold that k keys reach, until exactly k do.
  Threshold find_threshold() {
    Key threshold = 0;
    for (int bit = 8 * sizeof(Key) - 1; bit >= 0; --bit) {
      const Key next = threshold | Key(1) << bit;
      const std::int64_t count = count_from(next);
      if (count == k) return {static_cast<Key>(next - 1), 0};
      if (count > k) threshold = next;
    }
    return {threshold, k - (threshold == ~Key(0) ? 0 : count_from(threshold + 1))};
  }

  const T* from_;
  alignas(64) Key keys_[std::size_t((std::min)(n, keys_at_once))];

 public:
  /// Returns the bytes of an object and of select(): the sorted elements, an order of up to 128 of them, and elements of load().
  static constexpr std::int64_t stack_bytes() {
    constexpr std::size_t sorted = static_cast<std::size_t>(ranked_size) + 64;
    return static_cast<std::int64_t>(sizeof(TopOfLine) + sorted * sizeof(Ranked) + 256 * sizeof(wide_t<T>));
  }
};

/// Sorts `size` elements by exchanges: before(a, b) of their indices, exchange(a, b).
template <class Before, class Exchange>
inline void heap_sort(std::int64_t size, Before&& before, Exchange&& exchange) {
  const auto sink = [&](std::int64_t root, std::int64_t end) {
    for (std::int64_t child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && before(child, child + 1)) ++child;
      if (!before(root, child)) return;
      exchange(root, child);
    }
  };
  for (std::int64_t root = size / 2; root-- > 0;) sink(root, size);
  for (std::int64_t end = size; --end > 0;) {
    exchange(0, end);
    sink(0, end);
  }
}

template <bool largest, int axis, class X, class Values>
using TopOf = TopOfLine<typename X::element, X::spec.stride(axis), X::shape[axis], Values::shape[axis], largest>;

/// Bytes of assign_top's arrays on the stack.
template <bool largest, int axis, class X, class Values>
inline constexpr std::int64_t top_stack_bytes = TopOf<largest, axis, X, Values>::stack_bytes();

/// Computes values, indices = the k largest or smallest elements along an axis, in order. Among equal elements, the first is
/// taken. NaN is the largest.
template <bool largest, int axis, class X, class Values, class Indices>
inline void assign_top(X x, Values values, Indices indices) {
  using T = typename X::element;
  static constexpr auto loops = reduction_loops<std::uint64_t{1} << axis, false, X, Values, Indices>();
  constexpr std::int64_t k = Values::shape[axis], step = X::spec.stride(axis);
  constexpr std::int64_t value_step = Values::spec.stride(axis), index_step = Indices::spec.stride(axis);
  using Top = TopOf<largest, axis, X, Values>;
  for_each_offset<3>(loops.kept, loops.kept_strides, [&](const auto& at) {
    const T* from = x.data + at[0];
    T* value = values.data + at[1];
    std::int32_t* index = indices.data + at[2];
    std::int64_t count = 0;
    Top top(from);
    top.select([&](std::int64_t i) { index[count++ * index_step] = static_cast<std::int32_t>(i); });
    if constexpr (!Top::is_in_order)
      heap_sort(
          k, [&](std::int64_t a, std::int64_t b) { return Top::before(from, index[a * index_step], index[b * index_step]); },
          [&](std::int64_t a, std::int64_t b) { std::swap(index[a * index_step], index[b * index_step]); });
    for (std::int64_t i = 0; i < k; ++i) value[i * value_step] = from[index[i * index_step] * step];
  });
}

/// Computes dx = dy at the indices along an axis, 0 elsewhere.
template <int axis, class DY, class Indices, class DX>
inline void assign_at_indices(DY dy, Indices indices, DX dx) {
  static constexpr auto loops = reduction_loops<std::uint64_t{1} << axis, false, DX, DY, Indices>();
  constexpr std::int64_t n = DX::shape[axis], k = DY::shape[axis], step = DX::spec.stride(axis);
  for_each_offset<3>(loops.kept, loops.kept_strides, [&](const auto& at) {
    auto* to = dx.data + at[0];
    for (std::int64_t i = 0; i < n; ++i) to[i * step] = {};
    for (std::int64_t i = 0; i < k; ++i)
      to[indices.data[at[2] + i * Indices::spec.stride(axis)] * step] = dy.data[at[1] + i * DY::spec.stride(axis)];
  });
}

/// Counts elements by pair of neighbouring levels: from the first to below the second; for the last pair, up to the second.
template <bool absolute, class X, class Levels, class Counts>
inline void assign_histogram(X x, Levels levels, Counts counts) {
  using L = typename Levels::element;
  constexpr std::int64_t n = Levels::shape[0], step = Levels::spec.stride(0);
  static constexpr auto loops = reduction_loops<~std::uint64_t{0}, false, X>();
  for (std::int64_t i = 0; i + 1 < n; ++i) counts.data[i * Counts::spec.stride(0)] = 0;
  const L lowest = levels.data[0], highest = levels.data[(n - 1) * step];
  for_each_offset<1>(loops.reduced, loops.reduced_strides, [&](const auto& at) {
    L value = static_cast<L>(x.data[at[0]]);
    if constexpr (absolute) value = value < 0 ? -value : value;
    if (!(value >= lowest && value <= highest)) return;
    std::int64_t first = 0;  // the last level that is not above the value is one of `size` from here
    for (std::int64_t size = n - 1; size > 1;) {
      const std::int64_t half = size / 2;
      first += value >= levels.data[(first + half) * step] ? half : 0;
      size -= half;
    }
    ++counts.data[first * Counts::spec.stride(0)];
  });
}

}  // namespace tilewright::kernel
