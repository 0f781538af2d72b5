#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tilewright {

/// Half precision on the host: the compiler's own type, IEEE binary16.
using float16_t = _Float16;

/// Element types, with PopXL's names.
enum class DType : std::uint8_t { boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64 };

inline constexpr DType boolean = DType::boolean, int8 = DType::int8, int16 = DType::int16, int32 = DType::int32,
                       int64 = DType::int64, uint8 = DType::uint8, uint16 = DType::uint16, uint32 = DType::uint32,
                       uint64 = DType::uint64, float16 = DType::float16, float32 = DType::float32, float64 = DType::float64;

constexpr std::string_view to_text(DType dtype) {
  constexpr std::string_view names[] = {"bool",   "int8",   "int16",  "int32",   "int64",   "uint8",
                                        "uint16", "uint32", "uint64", "float16", "float32", "float64"};
  return names[static_cast<std::size_t>(dtype)];
}

constexpr bool is_floating_point(DType dtype) { return dtype >= DType::float16; }
/// Whether kernels compute on its elements in float32.
constexpr bool computes_in_float(DType dtype) { return dtype == DType::float16 || dtype == DType::float32; }
constexpr bool is_int(DType dtype) { return dtype > DType::boolean && dtype < DType::float16; }

/// Bytes of one element.
constexpr std::int64_t size_of(DType dtype) {
  constexpr std::int64_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
  return sizes[static_cast<std::size_t>(dtype)];
}

namespace detail {
template <DType>
struct Element;
template <> struct Element<DType::boolean> {
  using type = bool;
};
template <> struct Element<DType::int8> {
  using type = std::int8_t;
};
template <> struct Element<DType::int16> {
  using type = std::int16_t;
};
template <> struct Element<DType::int32> {
  using type = std::int32_t;
};
template <> struct Element<DType::int64> {
  using type = std::int64_t;
};
template <> struct Element<DType::uint8> {
  using type = std::uint8_t;
};
template <> struct Element<DType::uint16> {
  using type = std::uint16_t;
};
template <> struct Element<DType::uint32> {
  using type = std::uint32_t;
};
template <> struct Element<DType::uint64> {
  using type = std::uint64_t;
};
template <> struct Element<DType::float16> {
  using type = float16_t;
};
template <> struct Element<DType::float32> {
  using type = float;
};
template <> struct Element<DType::float64> {
  using type = double;
};
}  // namespace detail

/// The C++ type of an element: element_t<tw::float32> is float.
template <DType dtype>
using element_t = typename detail::Element<dtype>::type;

/// The dtype of a C++ type: dtype_of<float> is float32. Other types do not compile.
template <class T>
constexpr DType dtype_of_type() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  else if constexpr (std::is_same_v<T, float16_t>) return DType::float16;
  else if constexpr (std::is_same_v<T, float>) return DType::float32;
  else if constexpr (std::is_same_v<T, double>) return DType::float64;
  else {
    static_assert(std::is_integral_v<T>, "this C++ type is no tilewright dtype");
    constexpr DType of_size[2][4] = {{DType::uint8, DType::uint16, DType::uint32, DType::uint64},
                                     {DType::int8, DType::int16, DType::int32, DType::int64}};
    return of_size[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
  }
}
template <class T>
inline constexpr DType dtype_of = dtype_of_type<std::remove_cvref_t<T>>();

/// Calls f with std::type_identity of the dtype's C++ type.
template <class F>
constexpr decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f(std::type_identity<bool>{});
    case DType::int8: return f(std::type_identity<std::int8_t>{});
    case DType::int16: return f(std::type_identity<std::int16_t>{});
    case DType::int32: return f(std::type_identity<std::int32_t>{});
    case DType::int64: return f(std::type_identity<std::int64_t>{});
    case DType::uint8: return f(std::type_identity<std::uint8_t>{});
    case DType::uint16: return f(std::type_identity<std::uint16_t>{});
    case DType::uint32: return f(std::type_identity<std::uint32_t>{});
    case DType::uint64: return f(std::type_identity<std::uint64_t>{});
    case DType::float16: return f(std::type_identity<float16_t>{});
    case DType::float64: return f(std::type_identity<double>{});
    case DType::float32: break;
  }
  return f(std::type_identity<float>{});
}

}  // namespace tilewright
