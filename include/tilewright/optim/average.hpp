#pragma once
#include <string_view>

#include "tilewright/core/text.hpp"
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/scaled_add.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::optim {

/// Options of average_variables.
struct AverageOptions {
  double decay = 0.999;  ///< share of the old average that each step keeps: at least 0, below 1
  Flag equal = false;  ///< whether the average is the plain mean over all steps; `decay` has no effect then
  std::string_view prefix = "average";  ///< prefix of the averages' names; a dot follows it
};

/// Updates the moving average of each variable: average = decay average + (1 - decay) variable. The first call sets the averages
/// to the variables, as torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn does. With `equal`, each of the n calls so
/// far has the weight 1 / n (stochastic weight averaging, arXiv 1803.05407), as in AveragedModel without an avg_fn. Returns the
/// averages in the order of the variables. They are variables named `average.<name>`, of the variables' shapes and dtypes, or
/// float32 for half precision. `average_updates`, a float32 scalar, counts the calls. `session.load_from_session(other,
/// "average"_s)` copies them to a program for tests. Errors: a decay below 0, or of 1 or more.
constexpr NamedTensors average_variables(const NamedTensors& variables, const AverageOptions& options = {}) {
  const auto named = variables.named_tensors();
  if (named.empty()) return {};
  Ir& ir = named[0].second.ir();
  if (!tilewright::detail::check_parameter(ir, "average_variables", "decay", options.decay, 0, 1)) return {};
  const Tensor updates = ir.variable(zeros(), {}, float32, text(options.prefix, "_updates").view());
  // 1 - decay, not decay: float32 rounds a decay close to 1 by much of what is left to 1
  const Tensor rest = options.equal ? 1 / (updates + 1) : ops::maximum(1 - updates, 1 - options.decay);
  NamedTensors averages;
  for (const auto& [name, variable] : named) {
    const Tensor average = ir.variable(zeros(), variable.shape(), computed_dtype(variable.dtype()),
                                       dotted(options.prefix, name.view()).view());
    ops::scaled_add_(average, ops::cast(variable, average.dtype()) - average, {.b = rest});
    averages.insert(name.view(), average);
  }
  ops::accumulate_(updates, ir.constant(1));
  return averages;
}

/// Options of copy_variables.
struct CopyOptions {
  double rate = 1;  ///< above 0, up to 1: `to` becomes to + rate (from - to); 1 copies
};

/// Copies variables to those with the same names, such as `online.*` to `target.*`:
///
///     optim::copy_variables(variables.subtree("online"), variables.subtree("target"), {.rate = 0.005});
///
/// Errors: a name that exists on one side only; a rate of 0 or outside of 0 to 1.
constexpr void copy_variables(const NamedTensors& from, const NamedTensors& to, const CopyOptions& options = {}) {
  const auto validate = [&](const Text& name, Tensor variable, const NamedTensors& other, std::string_view where) {
    Ir& ir = variable.ir();
    if (!other.find(name.view()))
      ir.fail(text("copy_variables: '", name, "' is in `", where, "` only: the same names in `from` and `to` expected"));
    else if (!(options.rate > 0 && options.rate <= 1))
      ir.fail(text("copy_variables: rate ", number_text(options.rate), ": above 0, at most 1, expected"));
    return !ir.failed();
  };
  for (const auto& [name, source] : from.to_dict())
    if (!validate(name, source, to, "from")) return;
  for (const auto& [name, copy] : to.to_dict()) {
    if (!validate(name, copy, from, "to")) return;
    const Tensor source = from[name.view()];
    if (options.rate == 1) ops::copy_var_update_(copy, source);
    else ops::accumulate_moving_average_(copy, source, 1 - options.rate);
  }
}

}  // namespace tilewright::optim
