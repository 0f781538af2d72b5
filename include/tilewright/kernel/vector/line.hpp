#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/vector/half.hpp"
#include "tilewright/operand/sum_lengths.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// Elements of a tensor at equal steps, as batches of the type in which kernels compute. Contiguous ones are loaded directly, or
/// converted from half precision; others are gathered into batches element by element.
template <class T, std::int64_t step>
struct Line {
  using Element = std::remove_const_t<T>;
  using Compute = compute_t<Element>;
  using Batch = simd::batch<Compute>;
  static constexpr auto width = static_cast<std::int64_t>(Batch::size);
  static constexpr bool contiguous = step == 1 && std::is_same_v<Element, Compute>;
  static constexpr bool is_half = step == 1 && is_half_type<Element>;

  T* data;

  /// Loads `count` elements from the k-th on; the batch's others are `rest`.
  template <std::int64_t count = width>
  Batch load(std::int64_t k, Compute rest = 0) const {
    if constexpr (contiguous && count == width) {
      return Batch::load_unaligned(data + k);
    } else if constexpr (is_half && count == width) {
      return load_floats<Batch>(data + k);
    } else if constexpr (is_half) {
      return load_first_floats<Batch, count>(data + k, rest);
#if defined(__AVX512F__)
    } else if constexpr (contiguous && std::is_same_v<Compute, float> && width == 16) {
      return Batch(_mm512_mask_loadu_ps(Batch(rest), mask<count>, data + k));
#endif
    } else {
      alignas(Batch) Compute elements[static_cast<std::size_t>(width)];
      for (std::int64_t i = 0; i < count; ++i) elements[i] = static_cast<Compute>(data[(k + i) * step]);
      for (std::int64_t i = count; i < width; ++i) elements[i] = rest;
      return Batch::load_aligned(elements);
    }
  }
  /// Writes the first `count` elements of the batch from the k-th on.
  template <std::int64_t count = width>
  void store(std::int64_t k, const Batch& batch) const {
    if constexpr (contiguous && count == width) {
      batch.store_unaligned(data + k);
    } else if constexpr (is_half && count == width) {
      store_floats(data + k, batch);
    } else if constexpr (is_half) {
      store_first_floats<count>(data + k, batch);
#if defined(__AVX512F__)
    } else if constexpr (contiguous && std::is_same_v<Compute, float> && width == 16) {
      _mm512_mask_storeu_ps(data + k, mask<count>, batch);
#endif
    } else {
      alignas(Batch) Compute elements[static_cast<std::size_t>(width)];
      batch.store_aligned(elements);
      for (std::int64_t i = 0; i < count; ++i) data[(k + i) * step] = static_cast<T>(elements[i]);
    }
  }

 private:
  template <std::int64_t count>
  static constexpr auto mask = static_cast<std::uint16_t>((std::uint32_t{1} << count) - 1);
};

/// A batch of which only the first `count` elements count, for example at the end of a row.
template <std::int64_t elements, class Batch>
struct PartOfBatch {
  static constexpr std::int64_t count = elements;
  Batch batch;
};
template <class X>
inline constexpr bool is_part_of_batch = false;
template <std::int64_t elements, class Batch>
inline constexpr bool is_part_of_batch<PartOfBatch<elements, Batch>> = true;

/// Writes a batch, or the elements of a batch that count, to a line from its k-th element on.
template <class L, class X>
[[gnu::always_inline]] inline void store_batch(L line, std::int64_t k, const X& x) {
  if constexpr (is_part_of_batch<X>) line.template store<X::count>(k, x.batch);
  else line.store(k, x);
}

/// One number as a line of any length.
template <class T>
struct BroadcastLine {
  using Batch = simd::batch<compute_t<T>>;
  Batch value;
  template <std::int64_t = 0>
  Batch load(std::int64_t) const {
    return value;
  }
};

/// Returns the line through a view's element at `offset` along an axis.
template <int axis, class V>
inline auto line_at(V view, std::int64_t offset) {
  return Line<typename V::element, V::spec.stride(axis)>{view.data + offset};
}

/// Calls f(first element, number of elements as a constant) for every batch of a line of n elements.
template <std::int64_t n, std::int64_t width, class F>
inline void for_each_batch(F&& f) {
  for (std::int64_t k = 0; k + width <= n; k += width) f(k, std::integral_constant<std::int64_t, width>());
  if constexpr (n % width != 0) f(n / width * width, std::integral_constant<std::int64_t, n % width>());
}
/// Returns the batch with `rest` instead of all elements after the first `count`.
template <std::int64_t count, class T, class A>
inline simd::batch<T, A> first_elements(const simd::batch<T, A>& x, T rest = T(0)) {
  if constexpr (count == static_cast<std::int64_t>(simd::batch<T, A>::size)) return x;
  else {
    constexpr auto is_first = [] {
      std::array<T, simd::batch<T, A>::size> result{};
      for (std::int64_t i = 0; i < count; ++i) result[static_cast<std::size_t>(i)] = 1;
      return result;
    };
    alignas(simd::batch<T, A>) static constexpr std::array<T, simd::batch<T, A>::size> ones = is_first();
    return math::select(simd::batch<T, A>::load_aligned(ones.data()) > simd::batch<T, A>(T(0)), x, simd::batch<T, A>(rest));
  }
}

/// Returns the largest of a line's n elements.
template <std::int64_t n, class L>
inline typename L::Compute line_max(L line) {
  using Batch = typename L::Batch;
  constexpr auto lowest = -std::numeric_limits<typename L::Compute>::infinity();
  Batch largest(lowest);
  for_each_batch<n, L::width>(
      [&](std::int64_t k, auto count) { largest = (math::max)(largest, line.template load<count()>(k, lowest)); });
  return (math::max)(largest);
}

/// Computes to[k] = f(from[k]...) for a line of n elements, batch by batch.
template <std::int64_t n, class F, class To, class... From>
inline void line_assign(F&& f, To to, From... from) {
  for_each_batch<n, To::width>(
      [&](std::int64_t k, auto count) { to.template store<count()>(k, f(from.template load<count()>(k)...)); });
}

/// Divides a line of n elements into parts and returns the sum of part(first, size as a constant) over them; adds in float64 if
/// there are several parts.
template <class Compute, std::int64_t n, std::int64_t of_part, class F>
inline Compute sum_of_parts(F&& part) {
  if constexpr (n <= of_part) {
    return part(std::int64_t{0}, std::integral_constant<std::int64_t, n>());
  } else {
    double total = 0;
    for_each_batch<n, of_part>([&](std::int64_t k, auto terms) { total += static_cast<double>(part(k, terms)); });
    return static_cast<Compute>(total);
  }
}

/// Assigns f(elements of `from`...) to a line of n elements, and returns the sum of f's results.
template <std::int64_t n, class F, class To, class... From>
inline typename To::Compute line_assign_and_sum(F&& f, To to, From... from) {
  using Compute = typename To::Compute;
  return sum_of_parts<Compute, n, To::width * terms_of_accumulator>([&](std::int64_t first, auto terms) {
    typename To::Batch sum(Compute(0));
    for_each_batch<terms(), To::width>([&](std::int64_t k, auto count) {
      const typename To::Batch result = f(from.template load<count()>(first + k)...);
      to.template store<count()>(first + k, result);
      sum += first_elements<count()>(result);
    });
    return math::sum(sum);
  });
}

/// Returns the sum of f(from[k]...) over a line of n elements, in two independent partial sums of batches.
template <std::int64_t n, class F, class First, class... From>
inline typename First::Compute line_sum(F&& f, First first, From... from) {
  using Compute = typename First::Compute;
  constexpr std::int64_t width = First::width;
  return sum_of_parts<Compute, n, 2 * width * terms_of_accumulator>([&](std::int64_t k, auto terms) {
    typename First::Batch even(Compute(0)), odd = even;
    const std::int64_t end = k + terms;
    for (; k + 2 * width <= end; k += 2 * width) {
      even += f(first.load(k), from.load(k)...);
      odd += f(first.load(k + width), from.load(k + width)...);
    }
    if constexpr (terms() % (2 * width) >= width) {
      even += f(first.load(k), from.load(k)...);
      k += width;
    }
    if constexpr (constexpr std::int64_t rest = terms() % width; rest != 0)
      odd += first_elements<rest>(f(first.template load<rest>(k), from.template load<rest>(k)...));
    return math::sum(even + odd);
  });
}

}  // namespace tilewright::kernel
