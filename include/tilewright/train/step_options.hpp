#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "tilewright/core/flag.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/optim/average.hpp"
#include "tilewright/optim/loss_scaling.hpp"
#include "tilewright/program/number_or_tensor.hpp"

/// Steps that train any loss or a classifier, the loops that run them, metrics, early stopping and logs.
namespace tilewright::train {

namespace detail {
/// Stands for a setting that groups lack, so that the error can say which ones they have.
struct SameForAllGroups {
  constexpr SameForAllGroups() = default;
  constexpr SameForAllGroups(const auto& given) {
    static_assert(sizeof(given) == 0,
                  "groups: lr, weight_decay or frozen expected: other settings are the same for all variables");
  }
};
}  // namespace detail

/// Settings of an optimiser that differ for a group of variables.
struct GroupOptions {
  std::optional<NumberOrTensor> lr{};  ///< learning rate of the group; nothing: the optimiser's
  std::optional<NumberOrTensor> weight_decay{};  ///< weight decay of the group; nothing: the optimiser's
  Flag frozen = false;  ///< whether the variables stay unchanged; no gradients are computed for them
  detail::SameForAllGroups momentum{}, beta1{}, beta2{}, epsilon{};  ///< an error: all variables have the same
};

/// A group of variables, selected by a pattern of their dotted names: `{"*.bias", {.weight_decay = 0}}`. A `*` stands for any
/// characters, dots included. The pattern must match a variable.
struct ParameterGroup {
  std::string_view names;
  GroupOptions options{};
  Flag others = false;  ///< whether the group is all variables that do not match the pattern
};

/// Returns a group of variables that the step does not change: `frozen("encoder.*")`.
[[nodiscard]] constexpr ParameterGroup frozen(std::string_view names) { return {names, {.frozen = true}}; }
/// Returns a group that freezes all variables except these, so the step trains these alone: `only("generator.*")`.
[[nodiscard]] constexpr ParameterGroup only(std::string_view names) { return {names, {.frozen = true}, true}; }

/// Options of a step with any loss.
struct StepOptions {
  std::int64_t micro_batches = 1;  ///< micro-batches of a run, processed in sequence before the variables are updated
  std::string_view optimiser_prefix = "optimiser";  ///< prefix of the names of the optimiser's variables; "": none
  std::string_view input = "image", target = "label";  ///< names of a classifier's streams
  /// Shape of a classifier's targets in a micro-batch: the axes of its output without the last; empty: (batch size,)
  Shape target_shape{};
  double max_norm = 0;  ///< largest norm of all gradients together, see optim::clip_by_global_norm; 0: no clipping
  /// Dtype of the model's floating-point variables if it differs from the dtype of the computation, such as float32 for a model
  /// in float16 ("Mixed Precision Training", arXiv 1710.03740). Each step casts the variables for the model.
  std::optional<DType> variable_dtype{};
  std::optional<optim::LossScaling> loss_scaling{};  ///< scaling of the gradients; nothing: no scaling
  /// Groups of variables with settings of their own. If several groups match a variable, the last one that has a setting counts.
  List<ParameterGroup> groups{};
  /// Moving average of the variables after each step, for tests; nothing: no average
  std::optional<optim::AverageOptions> average{};
  /// Existing variables, such as those that another step of the program returned. The model uses them instead of creating
  /// variables with the same names.
  NamedTensors variables{};
  /// Prefix, with a dot, of all names that the step itself makes: the stream "loss", the optimiser's variables, accumulators and
  /// so on. The model's variables get no prefix. Two steps of one program need two prefixes. "": none.
  std::string_view prefix{};
  List<std::string_view> outputs{};  ///< minimise: names of streams for the outputs after the loss, in their order
};

}  // namespace tilewright::train
