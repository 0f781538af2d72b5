#pragma once
#include <optional>

#include "tilewright/module/module.hpp"

namespace tilewright::optim::detail {

/// The member of an optimiser's module for what belongs to its parameters, so that the error can say so.
struct InParameters {
  constexpr InParameters() = default;
  constexpr InParameters(const auto& given) {
    static_assert(sizeof(given) == 0, "an optimiser's module: its parameters, such as AdamWParameters{.lr = 1e-3}, expected");
  }
};

/// Adds a variable of an optimiser's state, by reference, and returns it. The variable has the weight's shape and the given
/// dtype; none: the weight's dtype, or float32 for half precision. The state of a shard has one instance per replica, so the
/// host's array has a first axis over all replicas.
constexpr Tensor add_state(ModuleBase& module, std::string_view name, Tensor weight, std::optional<DType> dtype = {},
                           const Initialiser& first = zeros()) {
  VariableInputOptions options{.by_ref = true};
  if (weight.meta_shape()) options.replica_grouping = weight.ir().replica_grouping(1, 1);
  return module.add_variable_input(name, first, weight.shape(), dtype.value_or(computed_dtype(weight.dtype())), options);
}

}  // namespace tilewright::optim::detail
