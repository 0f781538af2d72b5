#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/random/random.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/graph/initialiser.hpp"
#include "tilewright/session/replica_parts.hpp"

namespace tilewright {

namespace detail {
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
[[gnu::cold]] void write_elements(std::size_t count, std::span<const double> values, T* elements, bool has_rests) {
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
inline void write_values(DType dtype, std::size_t count, std::span<const double> values, std::byte* memory,
                         bool has_rests = false) {
  if (dtype == float32 && !has_rests) {
    float* const elements = reinterpret_cast<float*>(memory);
    if (values.size() == 1) std::fill_n(elements, count, static_cast<float>(values[0]));
    else
      for (std::size_t i = 0; i < count; ++i) elements[i] = static_cast<float>(values[i]);
    return;
  }
  visit_dtype(dtype,
              [&]<class T>(std::type_identity<T>) { write_elements(count, values, reinterpret_cast<T*>(memory), has_rests); });
}
/// Writes uniform numbers, rounded down in half precision, because rounding to nearest can give the upper bound.
inline void write_uniform(DType dtype, std::span<const double> values, std::byte* memory) {
  const auto write = [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < values.size(); ++i) reinterpret_cast<T*>(memory)[i] = rounded_down<T>(values[i]);
  };
  if (dtype == float16) write(std::type_identity<element_t<float16>>());
  else if (dtype == bfloat16) write(std::type_identity<element_t<bfloat16>>());
  else write_values(dtype, values.size(), values, memory);
}
/// Throws std::invalid_argument for a number of a user's function that a dtype does not have.
[[gnu::cold]] inline void require_fit(std::string_view function, std::span<const double> values, DType dtype) {
  if (const std::ptrdiff_t unfit = find_unfit(values, dtype); unfit >= 0)
    throw std::invalid_argument(text(function, ": ", number_text(values[static_cast<std::size_t>(unfit)]), " as ", to_text(dtype),
                                     ": ", expected_number(dtype), " expected")
                                    .string());
}
inline void scale_values(std::span<double> values, double scale) {
  if (scale == 1) return;
  for (double& value : values) value *= scale;
}
/// Writes the elements of a tensor from a generator.
[[gnu::cold]] inline void write_generator(const Generator& generator, const TensorSpec& spec, std::byte* memory) {
  double block[1024];  // which stays in the nearest cache
  const auto count = static_cast<std::size_t>(spec.nelms());
  for (std::size_t first = 0; first < count; first += std::size(block)) {
    const std::span values(block, (std::min)(std::size(block), count - first));
    generator.write(values, static_cast<std::int64_t>(first), spec.shape, generator.a, generator.b);
    scale_values(values, generator.scale);
    if (generator.is_checked_later) require_fit("computed_by", values, spec.dtype);
    write_values(spec.dtype, values.size(), values, memory + first * static_cast<std::size_t>(size_of(spec.dtype)));
  }
}
}  // namespace detail

/// Writes a program's constants to their memory.
[[gnu::cold]] inline void fill_constants(const internal::ProgramView& program, std::byte* memory) {
  for (const internal::FrozenConstant& constant : program.constants) {
    if (constant.generator.write) detail::write_generator(constant.generator, constant.spec, memory + constant.offset);
    else
      detail::write_values(constant.spec.dtype, static_cast<std::size_t>(constant.spec.nelms()), program.numbers(constant.values),
                           memory + constant.offset, constant.has_rests);
  }
}

/// Writes the initial values of a program's variables, those of variable v to memory_of(v), in the host's layout. Equal seeds
/// give equal values on every machine. Where memory_of(v) is null, random values are drawn, so that those of other variables
/// stay, and nothing is written.
[[gnu::cold]] inline void fill_variables(const internal::ProgramView& program,
                                         const std::function<std::byte*(std::size_t)>& memory_of, std::uint64_t seed) {
  Random random(seed);
  double block[1024];  // which stays in the nearest cache
  for (std::size_t v = 0; v < program.variables.size(); ++v) {
    const internal::FrozenVariable& variable = program.variables[v];
    const auto& distribution = variable.distribution;
    const DType dtype = variable.spec.dtype;
    const std::size_t tensor = static_cast<std::size_t>(distribution.shape.nelms());
    const std::size_t count = tensor * static_cast<std::size_t>(distribution.groups);
    std::byte* const elements = memory_of(v);
    if (elements == nullptr) {
      for (std::size_t first = 0; variable.fill && first < count; first += std::size(block))
        variable.fill({block, (std::min)(std::size(block), count - first)}, variable.a, variable.b, random);
      continue;
    }
    if (variable.generator.write)
      for (int group = 0; group < distribution.groups; ++group)
        detail::write_generator(variable.generator, {distribution.shape, dtype},
                                elements + static_cast<std::size_t>(group) * tensor * static_cast<std::size_t>(size_of(dtype)));
    else if (!variable.fill) detail::write_values(dtype, count, program.numbers(variable.values), elements, variable.has_rests);
    for (std::size_t first = 0; variable.fill && first < count; first += std::size(block)) {
      const std::span values(block, (std::min)(std::size(block), count - first));
      variable.fill(values, variable.a, variable.b, random);
      detail::scale_values(values, variable.scale);
      if (variable.fill != detail::fill_uniform && variable.fill != detail::fill_normal)
        detail::require_fit("drawn_by", values, dtype);
      std::byte* const to = elements + first * static_cast<std::size_t>(size_of(dtype));
      if (variable.fill == detail::fill_uniform) detail::write_uniform(dtype, values, to);
      else detail::write_values(dtype, values.size(), values, to);
    }
    for (int group = 0; variable.zero_count > 0 && group < distribution.groups; ++group)
      std::memset(elements + (static_cast<std::size_t>(group) * tensor + static_cast<std::size_t>(variable.first_zero)) *
                                 static_cast<std::size_t>(size_of(dtype)),
                  0, static_cast<std::size_t>(variable.zero_count) * static_cast<std::size_t>(size_of(dtype)));
    if (!distribution.all_replicas) continue;
    // from the last: groups are numbered as they appear, so that what is still needed is not overwritten
    const std::size_t bytes = tensor * static_cast<std::size_t>(size_of(dtype));
    for (int replica = program.replicas; replica-- > 0;) {
      const std::size_t to = static_cast<std::size_t>(replica), group = group_of(program, variable, replica);
      if (group != to) std::memcpy(elements + to * bytes, elements + group * bytes, bytes);
    }
  }
}

}  // namespace tilewright
