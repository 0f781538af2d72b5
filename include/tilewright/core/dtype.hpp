#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "tilewright/core/bfloat16.hpp"
#include "tilewright/core/float8.hpp"

namespace tilewright {

/// Element types, with PopXL's names, and bfloat16. Each has a row in detail::dtype_table, in the same order. Those from
/// float8_143 on have no arithmetic. The complex ones are names only: no tensor can have them.
enum class DType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8_143,
  float8_152,
  complex64,
  complex128
};
using enum DType;

namespace detail {
/// Names of a dtype whose elements have type T on the host: in messages, in NumPy's files (the `descr` of numpy.lib.format), and
/// in .safetensors.
template <DType d, class T>
struct DTypeRow {
  std::string_view name, npy, safetensors;
};
template <class... Rows>
struct DTypeTable : Rows... {};
template <class... Rows>
DTypeTable(Rows...) -> DTypeTable<Rows...>;

/// All facts about dtypes; the functions below derive the rest.
inline constexpr DTypeTable dtype_table{
    DTypeRow<DType::boolean, bool>{"bool", "|b1", "BOOL"},
    DTypeRow<DType::int8, std::int8_t>{"int8", "|i1", "I8"},
    DTypeRow<DType::int16, std::int16_t>{"int16", "<i2", "I16"},
    DTypeRow<DType::int32, std::int32_t>{"int32", "<i4", "I32"},
    DTypeRow<DType::int64, std::int64_t>{"int64", "<i8", "I64"},
    DTypeRow<DType::uint8, std::uint8_t>{"uint8", "|u1", "U8"},
    DTypeRow<DType::uint16, std::uint16_t>{"uint16", "<u2", "U16"},
    DTypeRow<DType::uint32, std::uint32_t>{"uint32", "<u4", "U32"},
    DTypeRow<DType::uint64, std::uint64_t>{"uint64", "<u8", "U64"},
    DTypeRow<DType::float16, float16_t>{"float16", "<f2", "F16"},
    DTypeRow<DType::float32, float>{"float32", "<f4", "F32"},
    DTypeRow<DType::float64, double>{"float64", "<f8", "F64"},
    // NumPy has no bfloat16. Its files have 2 bytes without a meaning, as those of the package ml_dtypes.
    DTypeRow<DType::bfloat16, bfloat16_t>{"bfloat16", "<V2", "BF16"},
    // Files hold their codes as bytes. Those of F8_E4M3 and F8_E5M2 are other numbers.
    DTypeRow<DType::float8_143, float8_143_t>{"float8_143", "|u1", "U8"},
    DTypeRow<DType::float8_152, float8_152_t>{"float8_152", "|u1", "U8"},
};

/// A row of dtype_table for code that selects the dtype at run time.
struct DTypeFacts {
  DType dtype{};
  std::string_view name{}, npy{}, safetensors{};
  std::int64_t size = 0;  ///< bytes of an element
  bool is_floating_point = false, is_int = false, is_signed = false, is_complex = false;
};
template <std::size_t rows>
struct DTypeFactsTable {
  DTypeFacts row[rows];
};
template <DType... d, class... T>
constexpr auto facts_of(const DTypeTable<DTypeRow<d, T>...>& table) {
  constexpr auto facts = []<DType dtype, class E>(const DTypeRow<dtype, E>& row) {
    constexpr bool is_int = std::is_integral_v<E> && !std::is_same_v<E, bool>;
    constexpr bool is_floating_point = !std::is_integral_v<E>;
    return DTypeFacts{dtype,     row.name,          row.npy, row.safetensors,
                      sizeof(E), is_floating_point, is_int,  is_floating_point || std::is_signed_v<E>};
  };
  return DTypeFactsTable<sizeof...(T) + 2>{
      {facts(static_cast<const DTypeRow<d, T>&>(table))...,
       {.dtype = DType::complex64, .name = "complex64", .size = 8, .is_signed = true, .is_complex = true},
       {.dtype = DType::complex128, .name = "complex128", .size = 16, .is_signed = true, .is_complex = true}}};
}
inline constexpr auto dtype_facts_table = facts_of(dtype_table);
inline constexpr const auto& dtype_facts = dtype_facts_table.row;
inline constexpr std::size_t dtype_count = std::size(dtype_facts);
/// By dtype: `size` of its facts, for programs that need no other facts.
inline constexpr auto dtype_sizes = [] {
  std::array<std::uint8_t, dtype_count> sizes{};
  for (std::size_t i = 0; i < dtype_count; ++i) sizes[i] = static_cast<std::uint8_t>(dtype_facts[i].size);
  return sizes;
}();

constexpr bool is_in_order() {
  std::size_t i = 0;
  for (const DTypeFacts& row : dtype_facts)
    if (static_cast<std::size_t>(row.dtype) != i++) return false;
  return true;
}
static_assert(is_in_order(), "a row for each enumerator of DType, in their order, expected");

/// Returns a column of names, in DType's order.
constexpr auto dtype_column(std::string_view DTypeFacts::* name) {
  std::array<std::string_view, dtype_count> result;
  for (std::size_t i = 0; i < dtype_count; ++i) result[i] = dtype_facts[i].*name;
  return result;
}

template <DType dtype, class T>
constexpr std::type_identity<T> element_of(const DTypeRow<dtype, T>&);
template <DType dtype>
struct Element : decltype(element_of<dtype>(dtype_table)) {};

template <class T, DType dtype>
constexpr DType dtype_with(const DTypeRow<dtype, T>&) {
  return dtype;
}
/// Returns the row of integers with this size and sign, or null.
constexpr const DTypeFacts* find_integer(std::size_t size, bool is_signed) {
  for (const DTypeFacts& row : dtype_facts)
    if (row.is_int && static_cast<std::size_t>(row.size) == size && row.is_signed == is_signed) return &row;
  return nullptr;
}
}  // namespace detail

constexpr std::string_view to_text(DType dtype) { return detail::dtype_facts[static_cast<std::size_t>(dtype)].name; }

constexpr bool is_floating_point(DType dtype) { return detail::dtype_facts[static_cast<std::size_t>(dtype)].is_floating_point; }
constexpr bool is_int(DType dtype) { return detail::dtype_facts[static_cast<std::size_t>(dtype)].is_int; }
/// Returns true for int8 to int64, and for all floating-point and complex dtypes.
constexpr bool is_signed(DType dtype) { return detail::dtype_facts[static_cast<std::size_t>(dtype)].is_signed; }
constexpr bool is_complex(DType dtype) { return dtype == complex64 || dtype == complex128; }
/// Returns true for floating-point dtypes of 16 bits. Kernels compute with them in float32.
constexpr bool is_half(DType dtype) { return dtype == float16 || dtype == bfloat16; }
constexpr bool is_float8(DType dtype) { return dtype == float8_143 || dtype == float8_152; }

/// Returns the dtype with a name such as "float32". PopXL's names "half", "float" and "double" work, too. Throws
/// std::invalid_argument for another text; in a constant expression it does not compile.
constexpr DType dtype_from_name(std::string_view name) {
  for (const auto& row : detail::dtype_facts)
    if (row.name == name) return row.dtype;
  if (name == "half") return float16;
  if (name == "float") return float32;
  if (name == "double") return float64;
  TW_THROW std::invalid_argument("dtype_from_name: '" + std::string(name) + "': a dtype's name, such as 'float32', expected");
}

/// Returns the bytes of one element.
constexpr std::int64_t size_of(DType dtype) { return detail::dtype_sizes[static_cast<std::size_t>(dtype)]; }

/// Returns whether kernels compute in float32 on elements of the dtype.
constexpr bool computes_in_float(DType dtype) { return is_half(dtype) || dtype == float32; }
/// Returns the dtype in which ops compute and sum: float32 for half precision, otherwise the dtype itself.
constexpr DType computed_dtype(DType dtype) { return is_half(dtype) ? float32 : dtype; }
/// Returns whether ops compute with elements of the dtype. Other dtypes can only be moved, and converted by the pow2scale ops.
constexpr bool has_arithmetic(DType dtype) { return dtype < float8_143; }

/// C++ type of an element: element_t<tw::float32> is float.
template <DType dtype>
using element_t = typename detail::Element<dtype>::type;

/// Whether elements are floating-point numbers of 16 bits.
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>;

/// Returns the dtype of a C++ type: dtype_of<float> is float32. An integer type that is in no row, such as long long, has the
/// dtype of its size and sign. Other types do not compile.
template <class T>
constexpr DType dtype_of_type() {
  if constexpr (requires { detail::dtype_with<T>(detail::dtype_table); }) {
    return detail::dtype_with<T>(detail::dtype_table);
  } else {
    constexpr const detail::DTypeFacts* row = detail::find_integer(std::is_integral_v<T> ? sizeof(T) : 0, std::is_signed_v<T>);
    static_assert(row != nullptr, "this C++ type is no tilewright dtype");
    return row->dtype;
  }
}
template <class T>
inline constexpr DType dtype_of = dtype_of_type<std::remove_cvref_t<T>>();

namespace detail {
template <class F, class T>
constexpr decltype(auto) call_with_type(F& f) {
  return f(std::type_identity<T>{});
}
template <class F, DType... d, class... T>
constexpr decltype(auto) visit_row(const DTypeTable<DTypeRow<d, T>...>&, DType dtype, F& f) {
  constexpr std::common_type_t<decltype(&call_with_type<F, T>)...> calls[] = {&call_with_type<F, T>...};
  return calls[static_cast<std::size_t>(dtype)](f);
}
}  // namespace detail

/// Calls f with std::type_identity of the dtype's C++ type. Complex dtypes have none. f must return the same type for all dtypes.
template <class F>
constexpr decltype(auto) visit_dtype(DType dtype, F&& f) {
  return detail::visit_row(detail::dtype_table, dtype, f);
}

}  // namespace tilewright
