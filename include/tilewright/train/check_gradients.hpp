#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/session/session.hpp"
#include "tilewright/train/minimise.hpp"

namespace tilewright::train {

namespace detail {
/// Sends the gradient of each variable to the stream `gradient.<name>` instead of updating the variable.
constexpr void store_gradient(std::string_view name, Tensor, Tensor gradient) {
  ops::host_store(gradient.ir().d2h_stream(text("gradient.", name).view(), gradient.spec()), gradient);
}
/// Returns the options of a step without those that belong to its updates.
constexpr StepOptions without_updates(StepOptions options) {
  options.max_norm = 0;
  options.average = {};
  if (options.loss_scaling) options.loss_scaling->is_dynamic = false;
  for (ParameterGroup& group : options.groups) group.options.lr = group.options.weight_decay = {};
  return options;
}
constexpr bool checks_whole_loss(Ir& ir, bool counts, const StepOptions& options) {
  if (counts && (options.micro_batches > 1 || ir.replication_factor() > 1))
    ir.fail("gradients: a MeanLoss of several micro-batches or replicas, whose whole is not known: one of one replica expected");
  return !ir.failed();
}
}  // namespace detail

/// A step that computes gradients and updates nothing, for check_gradients. Arguments are those of minimise. A run writes the
/// gradient of each variable that a gradient reaches to the stream `gradient.<name>`. Options of updates, such as clipping, rates
/// and decays, have no effect.
template <std::derived_from<ModuleBase> Loss, std::size_t n>
constexpr void gradients(Ir& ir, const Loss& loss, const Input (&inputs)[n], const StepOptions& options = {}) {
  if (detail::checks_whole_loss(ir, detail::has_count<Loss, n>(), options))
    minimise(ir, loss, detail::store_gradient, inputs, detail::without_updates(options));
}
template <std::derived_from<ModuleBase> Model, class Function, std::size_t n>
constexpr void gradients(Ir& ir, const Model& model, const Function& loss, const Input (&inputs)[n],
                         const StepOptions& options = {}) {
  gradients(ir, detail::LossOfModel<Model, std::decay_t<Function>>(model, loss), inputs, options);
}

struct GradientCheckOptions {
  std::size_t elements = 4;  ///< elements checked in each variable; all of them if it has fewer
  std::string_view names = "*";  ///< pattern of the variables to check; a `*` stands for any characters
  std::uint64_t seed = 0;  ///< seed for the choice of elements; any number
  double step = 0;  ///< step h for an element of about 1; 0: the cube root of the dtype's machine epsilon
  /// Allowed difference, relative to the larger of gradient and difference quotient; rounding of the loss is added
  double tolerance = 0.01;
};

/// Result of check_gradients for one element.
struct CheckedElement {
  std::string variable;
  std::size_t element = 0;  ///< number of the element, in row-major order
  double gradient = 0;  ///< gradient that the program computes
  double difference = 0;  ///< difference quotient of the loss
  double allowed = 0;  ///< largest difference that still passes
  bool agrees() const { return std::abs(gradient - difference) <= allowed; }  // not so for NaN
};
/// Result of check_gradients.
struct CheckedGradients {
  std::vector<CheckedElement> elements{};  ///< all elements that were checked, in the order of the variables
  bool agree() const {
    return std::all_of(elements.begin(), elements.end(), [](const CheckedElement& each) { return each.agrees(); });
  }
  /// Returns one line for each element that fails; "" if all pass.
  std::string text() const {
    std::string result;
    for (const CheckedElement& each : elements)
      if (!each.agrees())
        result += each.variable + "[" + std::to_string(each.element) + "]: gradient " + std::to_string(each.gradient) +
                  ", by differences " + std::to_string(each.difference) + " (+-" + std::to_string(each.allowed) + ")\n";
    return result;
  }
};

namespace detail {

/// Reads a floating-point element from host memory.
template <DType dtype>
double read_element(const std::byte* at) {
  element_t<dtype> value;
  std::memcpy(&value, at, sizeof(value));
  return static_cast<double>(value);
}
inline double read_element(DType dtype, const std::byte* at) {
  if (dtype == float64) return read_element<float64>(at);
  if (dtype == float16) return read_element<float16>(at);
  if (dtype == bfloat16) return read_element<bfloat16>(at);
  return read_element<float32>(at);
}
template <DType dtype>
void write_element(std::byte* at, double number) {
  const auto value = static_cast<element_t<dtype>>(static_cast<std::conditional_t<dtype == float64, double, float>>(number));
  std::memcpy(at, &value, sizeof(value));
}
inline void write_element(DType dtype, std::byte* at, double number) {
  if (dtype == float64) return write_element<float64>(at, number);
  if (dtype == float16) return write_element<float16>(at, number);
  if (dtype == bfloat16) return write_element<bfloat16>(at, number);
  write_element<float32>(at, number);
}
/// Returns the machine epsilon of a dtype: the distance from 1 to the next number.
inline double epsilon_of(DType dtype) {
  if (dtype == float64) return std::numeric_limits<double>::epsilon();
  if (dtype == float16) return 0x1p-10;
  if (dtype == bfloat16) return 0x1p-7;
  return std::numeric_limits<float>::epsilon();
}

/// Draws `count` different numbers below `size` and sorts them; returns all of them if there are fewer.
inline std::vector<std::size_t> choose(std::size_t size, std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> chosen;
  if (count >= size) {
    for (std::size_t i = 0; i < size; ++i) chosen.push_back(i);
    return chosen;
  }
  while (chosen.size() < count) {
    const auto next = static_cast<std::size_t>(random() % size);
    if (std::find(chosen.begin(), chosen.end(), next) == chosen.end()) chosen.push_back(next);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// Copy of a tensor.
struct KeptTensor {
  std::string name;
  TensorSpec spec{};
  std::vector<std::byte> bytes{};
};
inline std::size_t element_size(const KeptTensor& tensor) {
  return tensor.bytes.size() / static_cast<std::size_t>(tensor.spec.shape.nelms());
}
inline std::vector<KeptTensor> keep(std::span<const HostTensor> tensors) {
  std::vector<KeptTensor> kept;
  for (const HostTensor& tensor : tensors)
    kept.push_back({std::string(tensor.name), tensor.spec, {tensor.bytes.begin(), tensor.bytes.end()}});
  return kept;
}

/// Returns the mean of the elements of the stream "loss".
inline double mean_loss(std::span<const HostTensor> outputs) {
  for (const HostTensor& output : outputs) {
    if (output.name != "loss") continue;
    const std::size_t count = static_cast<std::size_t>(output.spec.shape.nelms()), size = output.bytes.size() / count;
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += read_element(output.spec.dtype, output.bytes.data() + i * size);
    return sum / static_cast<double>(count);
  }
  throw std::invalid_argument("check_gradients: no stream 'loss': a session of train::gradients expected");
}

}  // namespace detail

/// Compares gradients with finite differences of the loss. For some elements w of each variable, compares the program's gradient
/// with (loss(w + h) - loss(w - h)) / 2h, which the same program computes. `session`: a session of a program that calls
/// train::gradients. `run(session)` runs it once and returns its outputs; the loss must depend on the variables only. The call
/// restores the session's variables when it returns; if a run throws, their values are unspecified. The loss's dtype limits the
/// precision of the difference, so float64 gives the most reliable result. If relu or max has a kink between w - h and w + h, the
/// element fails. A derivative that is part of the loss counts as the program computes it: the check does not see whether it is
/// one.
///
///     constexpr void gradients(tw::Ir& ir) { tw::train::gradients(ir, Loss{}, {{"x", {8, 4}}, {"y", {8}}}); }
///     tw::Session<gradients> session;
///     const auto checked = tw::train::check_gradients(session, {}, [&](auto& s) { return s.run("x"_s = x, "y"_s = y); });
///     if (!checked.agree()) std::cerr << checked.text();
///
/// Throws std::invalid_argument for a program without gradients, for options that name no variable with a gradient, for 0
/// elements, and for a step or tolerance that is negative, infinite or NaN.
template <class Session, std::invocable<Session&> Run>
CheckedGradients check_gradients(Session& session, const GradientCheckOptions& options, Run&& run) {
  const auto ensure = [](bool fact, const char* name, double number, const char* expected) {
    if (!fact)
      throw std::invalid_argument(std::string("check_gradients: ") + name + " " + std::to_string(number) + ": " + expected +
                                  " expected");
  };
  ensure(options.elements > 0, "elements", 0, "at least 1");
  ensure(options.step >= 0 && std::isfinite(options.step), "step", options.step,
         "a finite number above 0, or 0 for its default,");
  ensure(options.tolerance >= 0 && std::isfinite(options.tolerance), "tolerance", options.tolerance,
         "a finite number of at least 0");
  std::vector<detail::KeptTensor> variables = detail::keep(session.host_tensors());
  const auto write = [&] {
    std::vector<HostTensor> tensors;
    for (const detail::KeptTensor& kept : variables) tensors.push_back({kept.name, kept.spec, kept.bytes});
    session.load_tensors({"check_gradients", tensors});
  };
  const auto loss_now = [&] {
    write();  // a run may have changed others, such as running statistics
    return detail::mean_loss(run(session).host_tensors());
  };
  const std::vector<detail::KeptTensor> outputs = [&] {
    const auto result = run(session);
    return detail::keep(result.host_tensors());
  }();
  const auto find = [&](const std::string& name) {
    return std::find_if(outputs.begin(), outputs.end(), [&](const auto& output) { return output.name == name; });
  };
  const auto loss = find("loss");
  CheckedGradients result;
  std::mt19937_64 random(options.seed);
  for (detail::KeptTensor& variable : variables) {
    const auto gradient = find("gradient." + variable.name);
    if (loss == outputs.end() || gradient == outputs.end()) continue;
    if (!tilewright::detail::matches_pattern(options.names, variable.name)) continue;
    const DType dtype = variable.spec.dtype;
    const auto count = static_cast<std::size_t>(variable.spec.shape.nelms());
    const std::size_t size = detail::element_size(variable), gradient_size = detail::element_size(*gradient);
    const double epsilon = detail::epsilon_of(loss->spec.dtype);
    const double step = options.step != 0 ? options.step : std::cbrt((std::max)(epsilon, detail::epsilon_of(dtype)));
    for (const std::size_t element : detail::choose(count, options.elements, random)) {
      std::byte* const at = variable.bytes.data() + element * size;
      const double value = detail::read_element(dtype, at), change = step * (std::max)(1.0, std::abs(value));
      const auto loss_at = [&](double number, double& used) {
        detail::write_element(dtype, at, number);
        used = detail::read_element(dtype, at);
        return loss_now();
      };
      double above = 0, below = 0;
      const double loss_above = loss_at(value + change, above), loss_below = loss_at(value - change, below);
      detail::write_element(dtype, at, value);
      CheckedElement checked{variable.name, element};
      checked.gradient = detail::read_element(gradient->spec.dtype, gradient->bytes.data() + element * gradient_size);
      checked.difference = (loss_above - loss_below) / (above - below);
      const double rounding = 8 * epsilon * (std::max)(std::abs(loss_above), std::abs(loss_below)) / (above - below);
      checked.allowed = rounding + options.tolerance * (std::max)(std::abs(checked.gradient), std::abs(checked.difference));
      result.elements.push_back(std::move(checked));
    }
  }
  write();
  if (result.elements.empty())
    throw std::invalid_argument(
        "check_gradients: nothing to check: a session of train::gradients, and a pattern of names of its "
        "variables, expected");
  return result;
}

}  // namespace tilewright::train
