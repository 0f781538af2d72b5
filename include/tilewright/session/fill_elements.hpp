#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/random/random.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/graph/initialiser.hpp"

namespace tilewright::detail {

/// Needs of the initial values of a program: code for other dtypes, and for checks, is left out.
struct FillNeeds {
  std::uint32_t dtypes = ~0u;  ///< bit d: those of variables and constants
  bool checks = true;  ///< whether functions of the user give numbers
  constexpr bool has(DType dtype) const { return (dtypes >> static_cast<unsigned>(dtype) & 1) != 0; }
  constexpr bool operator==(const FillNeeds&) const = default;
};
template <FillNeeds needs>
void visit_needed(DType dtype, const auto& f) {
  if constexpr (needs.dtypes == FillNeeds{}.dtypes) visit_dtype(dtype, f);
  else
    [&]<std::size_t... d>(std::index_sequence<d...>) {
      const auto visit = [&]<DType each>() {
        if constexpr (needs.has(each))
          if (each == dtype) f(std::type_identity<element_t<each>>());
      };
      (visit.template operator()<static_cast<DType>(d)>(), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(complex128) + 1>());
}

/// Returns the largest number of half precision that is not above a value.
template <class T>
T rounded_down(double value) {
  const T nearest = static_cast<T>(value);
  if (!(static_cast<double>(nearest) > value)) return nearest;
  const auto bits = std::bit_cast<std::uint16_t>(nearest);
  return std::bit_cast<T>(static_cast<std::uint16_t>(nearest > 0 ? bits - 1 : nearest < 0 ? bits + 1 : 0x8001));
}
/// Writes values as write_values does. It is compiled for size, because each program has it for all dtypes.
template <class T>
[[gnu::cold]] void write_elements(std::size_t count, Span<const double> values, T* elements, bool has_rests) {
  const std::size_t given = has_rests ? values.size() / 2 : values.size();
  const auto element = [&](std::size_t i) {
    if (!has_rests) return static_cast<T>(values[i]);
    const double rest = values[given + i];
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<T>(values[i]) + static_cast<T>(rest));
    else return static_cast<T>(values[i] + rest);
  };
  for (std::size_t i = 0; i < count; ++i) elements[i] = element(given == 1 ? 0 : i);
}
/// Writes `count` values to memory in a dtype; one value fills all elements. With `has_rests`, the rests of all numbers follow
/// after all values, as in Numbers.
template <FillNeeds needs = FillNeeds{}>
void write_values(DType dtype, std::size_t count, Span<const double> values, std::byte* memory, bool has_rests = false) {
  if (needs.has(float32) && dtype == float32 && !has_rests) {
    float* const elements = reinterpret_cast<float*>(memory);
    if (values.size() == 1) std::fill_n(elements, count, static_cast<float>(values[0]));
    else
      for (std::size_t i = 0; i < count; ++i) elements[i] = static_cast<float>(values[i]);
    return;
  }
  visit_needed<needs>(
      dtype, [&]<class T>(std::type_identity<T>) { write_elements(count, values, reinterpret_cast<T*>(memory), has_rests); });
}
/// Writes uniform numbers, rounded down in half precision, because rounding to nearest can give the upper bound.
template <FillNeeds needs = FillNeeds{}>
void write_uniform(DType dtype, Span<const double> values, std::byte* memory) {
  const auto write = [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < values.size(); ++i) reinterpret_cast<T*>(memory)[i] = rounded_down<T>(values[i]);
  };
  if (needs.has(float16) && dtype == float16) write(std::type_identity<element_t<float16>>());
  else if (needs.has(bfloat16) && dtype == bfloat16) write(std::type_identity<element_t<bfloat16>>());
  else write_values<needs>(dtype, values.size(), values, memory);
}
/// A number of a user's function that a dtype does not have.
struct UnfitNumber {
  std::string_view function{};  ///< computed_by or drawn_by; empty: all numbers fit
  double number = 0;
  DType dtype{};
};
inline UnfitNumber find_unfit_of(std::string_view function, Span<const double> values, DType dtype) {
  const std::ptrdiff_t unfit = find_unfit(values, dtype);
  return unfit < 0 ? UnfitNumber{} : UnfitNumber{function, values[static_cast<std::size_t>(unfit)], dtype};
}
inline void scale_values(Span<double> values, double scale) {
  if (scale == 1) return;
  for (double& value : values) value *= scale;
}
/// Writes the elements of a tensor from a generator, up to numbers that do not fit.
template <FillNeeds needs = FillNeeds{}>
[[nodiscard, gnu::cold]] UnfitNumber write_generator(const Generator& generator, const TensorSpec& spec, std::byte* memory) {
  double block[1024];  // which stays in the nearest cache
  const auto count = static_cast<std::size_t>(spec.nelms());
  for (std::size_t first = 0; first < count; first += std::size(block)) {
    const Span values(block, (std::min)(std::size(block), count - first));
    generator.write(values, static_cast<std::int64_t>(first), spec.shape, generator.a, generator.b);
    scale_values(values, generator.scale);
    if (needs.checks && generator.is_checked_later)
      if (const UnfitNumber unfit = find_unfit_of("computed_by", values, spec.dtype); !unfit.function.empty()) return unfit;
    write_values<needs>(spec.dtype, values.size(), values, memory + first * static_cast<std::size_t>(size_of(spec.dtype)));
  }
  return {};
}
/// Writes a constant. `values`: its numbers, if it has no generator.
template <FillNeeds needs = FillNeeds{}>
[[nodiscard, gnu::cold]] UnfitNumber fill_constant(const internal::FrozenConstant& constant, Span<const double> values,
                                                   std::byte* memory) {
  if (constant.generator.write) return write_generator<needs>(constant.generator, constant.spec, memory);
  write_values<needs>(constant.spec.dtype, static_cast<std::size_t>(constant.spec.nelms()), values, memory, constant.has_rests);
  return {};
}
/// Writes the initial values of a variable, of all groups of replicas, up to numbers that do not fit. Random values continue with
/// `random`. `given`: the numbers of an initialiser with explicit values.
template <FillNeeds needs = FillNeeds{}>
[[nodiscard, gnu::cold]] UnfitNumber fill_variable(const internal::FrozenVariable& variable, Span<const double> given,
                                                   std::byte* elements, Random& random) {
  const auto& distribution = variable.distribution;
  const DType dtype = variable.spec.dtype;
  const std::size_t size = static_cast<std::size_t>(size_of(dtype));
  const std::size_t tensor = static_cast<std::size_t>(distribution.shape.nelms());
  const std::size_t count = tensor * static_cast<std::size_t>(distribution.groups);
  if (variable.generator.write) {
    for (int group = 0; group < distribution.groups; ++group)
      if (const UnfitNumber unfit = write_generator<needs>(variable.generator, {distribution.shape, dtype},
                                                           elements + static_cast<std::size_t>(group) * tensor * size);
          !unfit.function.empty())
        return unfit;
  } else if (!variable.fill) {
    write_values<needs>(dtype, count, given, elements, variable.has_rests);
  }
  double block[1024];  // which stays in the nearest cache
  for (std::size_t first = 0; variable.fill && first < count; first += std::size(block)) {
    const Span values(block, (std::min)(std::size(block), count - first));
    variable.fill(values, variable.a, variable.b, random);
    scale_values(values, variable.scale);
    if (needs.checks && variable.fill != fill_uniform && variable.fill != fill_normal)
      if (const UnfitNumber unfit = find_unfit_of("drawn_by", values, dtype); !unfit.function.empty()) return unfit;
    std::byte* const to = elements + first * size;
    if (variable.fill == fill_uniform) write_uniform<needs>(dtype, values, to);
    else write_values<needs>(dtype, values.size(), values, to);
  }
  for (int group = 0; variable.zero_count > 0 && group < distribution.groups; ++group)
    std::memset(elements + (static_cast<std::size_t>(group) * tensor + static_cast<std::size_t>(variable.first_zero)) * size, 0,
                static_cast<std::size_t>(variable.zero_count) * size);
  return {};
}
/// Draws the random values of a variable and drops them, so that those of other variables stay.
[[gnu::cold]] inline void skip_variable(const internal::FrozenVariable& variable, Random& random) {
  if (!variable.fill) return;
  const auto count = static_cast<std::size_t>(variable.distribution.shape.nelms() * variable.distribution.groups);
  double block[1024];
  for (std::size_t first = 0; first < count; first += std::size(block))
    variable.fill({block, (std::min)(std::size(block), count - first)}, variable.a, variable.b, random);
}

}  // namespace tilewright::detail
