#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "tilewright/core/random/random.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/session/arrays/replica_parts.hpp"
#include "tilewright/session/fill_elements.hpp"

namespace tilewright {

namespace detail {
/// Throws std::invalid_argument for a number of a user's function that a dtype does not have.
[[gnu::cold]] inline void require_fit(const UnfitNumber& unfit) {
  if (unfit.function.empty()) return;
  throw std::invalid_argument(text(unfit.function, ": ", number_text(unfit.number), " as ", to_text(unfit.dtype), ": ",
                                   expected_number(unfit.dtype), " expected")
                                  .string());
}
}  // namespace detail

/// Writes a program's constants to their memory.
[[gnu::cold]] inline void fill_constants(const internal::ProgramView& program, std::byte* memory) {
  for (const internal::FrozenConstant& constant : program.constants)
    detail::require_fit(detail::fill_constant(constant, program.numbers(constant.values), memory + constant.offset));
}

/// Writes the initial values of a program's variables, those of variable v to memory_of(v), in the host's layout. Equal seeds
/// give equal values on every machine. Where memory_of(v) is null, random values are drawn, so that those of other variables
/// stay, and nothing is written.
[[gnu::cold]] inline void fill_variables(const internal::ProgramView& program,
                                         const std::function<std::byte*(std::size_t)>& memory_of, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t v = 0; v < program.variables.size(); ++v) {
    const internal::FrozenVariable& variable = program.variables[v];
    std::byte* const elements = memory_of(v);
    if (elements == nullptr) {
      detail::skip_variable(variable, random);
      continue;
    }
    detail::require_fit(detail::fill_variable(variable, program.numbers(variable.values), elements, random));
    if (!variable.distribution.all_replicas) continue;
    // from the last: groups are numbered as they appear, so that what is still needed is not overwritten
    const auto bytes = static_cast<std::size_t>(TensorSpec{variable.distribution.shape, variable.spec.dtype}.bytes());
    for (int replica = program.replicas; replica-- > 0;) {
      const std::size_t to = static_cast<std::size_t>(replica), group = group_of(program, variable, replica);
      if (group != to) std::memcpy(elements + to * bytes, elements + group * bytes, bytes);
    }
  }
}

}  // namespace tilewright
