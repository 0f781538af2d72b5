#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "tilewright/core/platform/vectors.hpp"
#include "tilewright/kernel/functions/float64.hpp"

#ifdef TILEWRIGHT_VECTOR_BYTES
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Vectors of the compiler with the part of xsimd's interface that kernels use, for machines that xsimd does not know. GCC and
/// Clang compute with them by the instructions of any machine, or by single elements where it has no vectors.
namespace tilewright::simd {

/// A machine whose vectors have this many bytes. Types that are larger have vectors of one element.
template <std::size_t vector_bytes>
struct Machine {
  static constexpr std::size_t bytes = vector_bytes;
};

namespace detail {
template <std::size_t bytes>
struct IntegerOf;
template <> struct IntegerOf<1> : std::type_identity<std::int8_t> {};
template <> struct IntegerOf<2> : std::type_identity<std::int16_t> {};
template <> struct IntegerOf<4> : std::type_identity<std::int32_t> {};
template <> struct IntegerOf<8> : std::type_identity<std::int64_t> {};
template <class T, std::size_t count>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * count), may_alias));
};
}  // namespace detail

template <class T, class A = Machine<TILEWRIGHT_VECTOR_BYTES>>
class batch;

/// Bools of a batch: integers of its elements' size, 0 or -1, as comparisons of the compiler's vectors are.
template <class T, class A>
class batch_bool {
 public:
  using batch_type = batch<T, A>;
  using value_type = bool;
  static constexpr std::size_t size = std::max<std::size_t>(1, A::bytes / sizeof(T));
  using Integer = typename detail::IntegerOf<sizeof(T)>::type;
  using register_type = typename detail::VectorOf<Integer, size>::type;

  batch_bool() = default;
  batch_bool(register_type bits) : bits_(bits) {}
  explicit batch_bool(bool value) {
    for (std::size_t i = 0; i < size; ++i) bits_[i] = value ? -1 : 0;
  }
  operator register_type() const { return bits_; }
  bool get(std::size_t i) const { return bits_[i] != 0; }

  friend batch_bool operator&(const batch_bool& a, const batch_bool& b) { return a.bits_ & b.bits_; }
  friend batch_bool operator|(const batch_bool& a, const batch_bool& b) { return a.bits_ | b.bits_; }
  friend batch_bool operator&&(const batch_bool& a, const batch_bool& b) { return a.bits_ & b.bits_; }
  friend batch_bool operator||(const batch_bool& a, const batch_bool& b) { return a.bits_ | b.bits_; }
  friend batch_bool operator~(const batch_bool& a) { return ~a.bits_; }
  friend batch_bool operator!(const batch_bool& a) { return ~a.bits_; }

 private:
  register_type bits_;
};

/// Elements of type T that are computed with together.
template <class T, class A>
class batch {
 public:
  using value_type = T;
  using arch_type = A;
  using batch_bool_type = batch_bool<T, A>;
  static constexpr std::size_t size = batch_bool_type::size;
  using register_type = typename detail::VectorOf<T, size>::type;

  batch() = default;
  batch(register_type elements) : elements_(elements) {}
  batch(T value) {
    for (std::size_t i = 0; i < size; ++i) elements_[i] = value;
  }
  static batch load_unaligned(const T* data) {
    batch result;
    std::memcpy(&result.elements_, data, sizeof(result));
    return result;
  }
  static batch load_aligned(const T* data) { return load_unaligned(std::assume_aligned<alignof(batch)>(data)); }
  void store_unaligned(T* data) const { std::memcpy(data, &elements_, sizeof(*this)); }
  void store_aligned(T* data) const { store_unaligned(std::assume_aligned<alignof(batch)>(data)); }
  operator register_type() const { return elements_; }
  T get(std::size_t i) const { return elements_[i]; }

  friend batch operator+(const batch& a, const batch& b) { return a.elements_ + b.elements_; }
  friend batch operator-(const batch& a, const batch& b) { return a.elements_ - b.elements_; }
  friend batch operator*(const batch& a, const batch& b) { return a.elements_ * b.elements_; }
  friend batch operator/(const batch& a, const batch& b) { return a.elements_ / b.elements_; }
  friend batch operator-(const batch& a) { return -a.elements_; }
  friend batch operator&(const batch& a, const batch& b) { return of_bits(a.bits() & b.bits()); }
  friend batch operator|(const batch& a, const batch& b) { return of_bits(a.bits() | b.bits()); }
  friend batch operator~(const batch& a) { return of_bits(~a.bits()); }
  batch& operator+=(const batch& b) { return *this = *this + b; }
  batch& operator-=(const batch& b) { return *this = *this - b; }
  batch& operator*=(const batch& b) { return *this = *this * b; }
  batch& operator/=(const batch& b) { return *this = *this / b; }

  friend batch_bool_type operator==(const batch& a, const batch& b) { return compared(a.elements_ == b.elements_); }
  friend batch_bool_type operator!=(const batch& a, const batch& b) { return compared(a.elements_ != b.elements_); }
  friend batch_bool_type operator<(const batch& a, const batch& b) { return compared(a.elements_ < b.elements_); }
  friend batch_bool_type operator<=(const batch& a, const batch& b) { return compared(a.elements_ <= b.elements_); }
  friend batch_bool_type operator>(const batch& a, const batch& b) { return compared(a.elements_ > b.elements_); }
  friend batch_bool_type operator>=(const batch& a, const batch& b) { return compared(a.elements_ >= b.elements_); }

 private:
  using Bits = typename batch_bool_type::register_type;
  Bits bits() const { return std::bit_cast<Bits>(elements_); }
  static batch of_bits(Bits bits) { return std::bit_cast<register_type>(bits); }
  template <class Compared>
  static batch_bool_type compared(Compared result) {
    return std::bit_cast<Bits>(result);
  }

  register_type elements_;
};

// By the names of xsimd, which has no other documentation of them here than operand/math.hpp.
template <class T, class A>
inline batch<T, A> select(const batch_bool<T, A>& condition, const batch<T, A>& a, const batch<T, A>& b) {
  using Register = typename batch<T, A>::register_type;
  return static_cast<typename batch_bool<T, A>::register_type>(condition) ? static_cast<Register>(a) : static_cast<Register>(b);
}
template <class T, class A>
inline bool any(const batch_bool<T, A>& mask) {
  bool result = false;
  for (std::size_t i = 0; i < mask.size; ++i) result |= mask.get(i);
  return result;
}
template <class T, class A>
inline batch<T, A>(max)(const batch<T, A>& a, const batch<T, A>& b) {
  return simd::select(a > b, a, b);
}
template <class T, class A>
inline batch<T, A>(min)(const batch<T, A>& a, const batch<T, A>& b) {
  return simd::select(a < b, a, b);
}
// with -Os, products would call it for each sum, and take twice the instructions
template <class T, class A>
[[gnu::always_inline]] inline batch<T, A> fma(const batch<T, A>& a, const batch<T, A>& b, const batch<T, A>& c) {
  if constexpr (fuses<T>) {
    typename batch<T, A>::register_type result;
    for (std::size_t i = 0; i < a.size; ++i) result[i] = std::fma(a.get(i), b.get(i), c.get(i));
    return result;
  } else {
    return a * b + c;
  }
}

namespace detail {
template <class T, class A, class F>
inline batch<T, A> of_each(const batch<T, A>& x, F&& f) {
  typename batch<T, A>::register_type result;
  for (std::size_t i = 0; i < x.size; ++i) result[i] = f(x.get(i));
  return result;
}
/// Combines the second half of the elements with the first one, and so on, until one is left.
template <class T, class A, class F>
inline T reduce(const batch<T, A>& x, F&& f) {
  T elements[batch<T, A>::size];
  x.store_unaligned(elements);
  for (std::size_t half = x.size / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) elements[i] = f(elements[i], elements[i + half]);
  return elements[0];
}
}  // namespace detail

template <class T, class A>
inline T reduce_add(const batch<T, A>& x) {
  return detail::reduce(x, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T, class A>
inline T reduce_max(const batch<T, A>& x) {
  return detail::reduce(x, [](T a, T b) { return a > b ? a : b; });
}
template <class T, class A>
inline batch<T, A> abs(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return std::fabs(element); });
}
template <class T, class A>
inline batch<T, A> sqrt(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return std::sqrt(element); });
}
template <class T, class A>
inline batch<T, A> floor(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return std::floor(element); });
}
template <class T, class A>
inline batch<T, A> ceil(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return std::ceil(element); });
}
template <class T, class A>
inline batch<T, A> trunc(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return std::trunc(element); });
}
template <class T, class A>
inline batch<T, A> exp(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return math::detail::exp_of_double(element); });
}
template <class T, class A>
inline batch<T, A> log(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return math::detail::log_of_double(element); });
}
template <class T, class A>
inline batch<T, A> tanh(const batch<T, A>& x) {
  return detail::of_each(x, [](T element) { return math::detail::tanh_of_double(element); });
}

/// A batch of `count` elements.
template <class T, std::size_t count>
using make_sized_batch_t = batch<T, Machine<count * sizeof(T)>>;

}  // namespace tilewright::simd
#endif
