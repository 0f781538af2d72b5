#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/random.hpp"
#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

namespace detail {
/// Writes values to a tensor's memory in its dtype; one value stands for all elements.
inline void write_values(const TensorSpec& spec, std::span<const double> values, std::byte* memory) {
  visit_dtype(spec.dtype, [&]<class T>(std::type_identity<T>) {
    const std::span elements(reinterpret_cast<T*>(memory), static_cast<std::size_t>(spec.nelms()));
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<T>(values[values.size() == 1 ? 0 : i]);
  });
}
}  // namespace detail

/// Writes a frozen plan's constants to their memory.
inline void fill_constants(const auto& plan, std::byte* memory) {
  for (const auto& constant : plan.constants)
    detail::write_values(constant.spec, plan.numbers(constant.values), memory + constant.offset);
}

/// Writes the first values of a frozen plan's variables to their memory. The same seed gives the same values everywhere.
inline void fill_variables(const auto& plan, std::byte* memory, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (const auto& variable : plan.variables) {
    if (!variable.fill) {
      detail::write_values(variable.spec, plan.numbers(variable.values), memory + variable.offset);
      continue;
    }
    values.resize(static_cast<std::size_t>(variable.spec.nelms()));
    variable.fill(values, variable.a, variable.b, random);
    detail::write_values(variable.spec, values, memory + variable.offset);
  }
}

}  // namespace tilewright
