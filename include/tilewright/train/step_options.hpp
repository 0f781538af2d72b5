#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/optim/average.hpp"
#include "tilewright/optim/loss_scaling.hpp"
#include "tilewright/program/number_or_tensor.hpp"

/// Steps that train any loss or a classifier, and the loop that runs them. Not yet stable: names and parameters may change in any
/// version.
namespace tilewright::train {

/// What an optimiser does otherwise for some variables.
struct GroupOptions {
  std::optional<NumberOrTensor> lr{};  ///< their learning rate; nothing: the optimiser's
  std::optional<NumberOrTensor> weight_decay{};  ///< their weight decay; nothing: the optimiser's
  bool frozen = false;  ///< whether they stay as they are: nothing is computed for their gradients
};

/// Variables by a pattern of their dotted names, in which a `*` stands for any characters, dots too: `{"*.bias", {.weight_decay =
/// 0}}`. It must match a variable.
struct ParameterGroup {
  std::string_view names;
  GroupOptions options{};
  bool others = false;  ///< whether the group is all variables that the pattern does not match
};

/// The group of variables that a step leaves as they are: `frozen("encoder.*")`.
constexpr ParameterGroup frozen(std::string_view names) { return {names, {.frozen = true}}; }
/// A group for a step that trains these variables alone, and leaves all others as they are: `only("generator.*")`.
constexpr ParameterGroup only(std::string_view names) { return {names, {.frozen = true}, true}; }

/// Options of a step, whichever its loss.
struct StepOptions {
  std::int64_t micro_batches = 1;  ///< how many a run takes, one after the other, before it updates the variables
  std::string_view state = "optimiser";  ///< prefix of the names of the optimiser's variables; "": none
  std::string_view input = "image", target = "label";  ///< names of the streams of a classifier
  Shape target_shape{};  ///< of a classifier's micro-batch: the axes of its output but for the last; empty: (batch size,)
  double max_norm = 0;  ///< of all gradients together: optim::clip_by_global_norm; 0: they stay as they are
  /// Dtype of the model's variables of floating point, if it is another than the one that the model computes with: float32 for a
  /// model of float16 ("Mixed Precision Training", arXiv 1710.03740). Each step casts them for the model.
  std::optional<DType> variable_dtype{};
  std::optional<optim::LossScaling> loss_scaling{};  ///< of gradients; nothing: they are not scaled
  /// Variables that the optimiser treats otherwise, by pattern; where several match, the last that says something counts.
  List<ParameterGroup> groups{};
  std::optional<optim::AverageOptions> average{};  ///< of the variables after each step, for tests; nothing: none is kept
  /// Variables that exist already, such as those of another step of the same program: the model takes them where names are equal.
  NamedTensors variables{};
  /// Before the names of what the step makes itself, with a dot: the stream "loss", the optimiser's variables, accumulators and
  /// so on, but not before the model's variables. Two steps of one program need two. "": none.
  std::string_view prefix{};
  List<std::string_view>
      outputs{};  ///< minimise: names of streams for what the loss returns behind the loss itself, in its order
};

}  // namespace tilewright::train
