#pragma once
#include "tilewright/core/requirements.hpp"

#include <string_view>

#include "tilewright/graph/initialiser.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/module/named_tensors.hpp"
#include "tilewright/ops/elementwise/scaled_add.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/program/check_parameter.hpp"

namespace tilewright::layers {

/// Options of LoraLinear. `alpha` is `lora_alpha` of Hugging Face's LoraConfig; `bias` is torch.nn.Linear's.
struct LoraOptions {
  double alpha = 8;  ///< the adapter's result is multiplied by alpha / rank
  Flag bias = true;  ///< whether the layer has the variable `bias`
};

/// Linear layer with a low-rank adapter: x weight + bias + alpha / rank x A B ("LoRA: Low-Rank Adaptation of Large Language
/// Models", arXiv 2106.09685). A and B have few elements, so fine-tuning trains them alone: `{.groups = {only("*.lora_*")}}`. B
/// starts as zeros, so an untrained adapter changes no result. merge_lora adds adapters to the weights. x: (..., in_features),
/// float16, bfloat16 or float32. Result: (..., out_features), of x's dtype.
///
/// Variables: those of Linear<out_features>, with its names and initial values, and the matrices `lora_A.weight` (in_features,
/// rank) and `lora_B.weight` (rank, out_features). A has Linear's initial values. The names are those of Hugging Face's PEFT,
/// which stores both matrices transposed.
///
/// Errors: a rank below 1; an alpha of 0 or less.
template <int out_features, int rank, LoraOptions options = {}>
struct LoraLinear : Module<LoraLinear<out_features, rank, options>> {
  using Down = Linear<rank, {.bias = false}>;
  using Up = Linear<out_features, {.bias = false, .std = 0}>;
  BOOST_HANA_DEFINE_STRUCT(LoraLinear, (Down, lora_A), (Up, lora_B));

  constexpr Tensor build(Tensor x) {
    if (!tilewright::detail::check_parameter(this->ir(), "LoraLinear", "rank", rank, 1) ||
        !tilewright::detail::check_above_0(this->ir(), "LoraLinear", "alpha", options.alpha))
      return Tensor::invalid(this->ir());
    const Initialiser first_values = detail::within_root(x.shape(-1));
    const Tensor weight = this->add_variable_input("weight", first_values, {x.shape(-1), out_features}, x.dtype());
    Tensor bias;
    if constexpr (options.bias) bias = this->add_variable_input("bias", first_values, {out_features}, x.dtype());
    const Tensor y = detail::linear(x, weight, bias);
    return y + lora_B(lora_A(x)) * (options.alpha / rank);
  }
};

/// Adds the adapters of all LoraLinear layers to their weights: weight + alpha / rank A B, rounded once. Then sets each B to
/// zeros, so the layers give the results that they gave before, up to rounding. A model with Linear in place of LoraLinear can
/// load the weights. `variables`: a model's variables, such as those that `factories.init()` returns. `alpha`: LoraOptions::alpha
/// of the layers. Errors: variables without an adapter; an adapter without its weight; an alpha of 0 or less.
///
///     constexpr void merge(tw::Ir& ir) {
///       const auto [factories, net] = tw::create_graph(ir, Net{}, tw::TensorSpec{{1, 64}, tw::float32});
///       tw::layers::merge_lora(factories.init());
///     }
constexpr void merge_lora(const NamedTensors& variables, double alpha = LoraOptions().alpha) {
  constexpr std::string_view end_of_a = "lora_A.weight";
  const auto named = variables.named_tensors();
  bool found = false;
  for (const auto& [name, a] : named) {
    if (!name.view().ends_with(end_of_a)) continue;
    Ir& ir = a.ir();
    if (!tilewright::detail::check_above_0(ir, "merge_lora", "alpha", alpha)) return;
    const std::string_view layer = name.view().substr(0, name.view().size() - end_of_a.size());
    const Tensor* weight = variables.find(text(layer, "weight").view());
    const Tensor* b = variables.find(text(layer, "lora_B.weight").view());
    if (!weight || !b) {
      ir.fail(text("merge_lora: '", name, "' without '", layer, weight ? "lora_B.weight" : "weight",
                   "': the variables of LoraLinear expected"));
      return;
    }
    ops::scaled_add_(*weight, ops::matmul(a, *b, {.output_type = float32}), {.b = alpha / static_cast<double>(a.shape(1))});
    ops::copy_var_update_(*b, ir.constant(zeros(), b->shape(), b->dtype()));
    found = true;
  }
  if (!found && !named.empty())
    named[0].second.ir().fail(text("merge_lora: ", named.size(), " variables, none of them named '", end_of_a,
                                   "': those of a model with LoraLinear expected"));
}

}  // namespace tilewright::layers
