// labels: none
// Which convolutions the planner gives Winograd's form.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

using tw::DType, tw::Ir, tw::Target, tw::Tensor, tw::Text, tw::float32;
namespace ops = tw::ops;

struct Layer {
  std::int64_t images = 32, channels = 32, results = 64, extent = 13, kernel = 3;
  tw::ConvOptions options{};
  DType dtype = float32;
  bool uses_winograd = true;
};
/// Calls f with the prepared nodes of a convolution and its gradients.
constexpr void for_each_node(const Layer& layer, const Target& target, auto f) {
  const auto build = [&](Ir& ir) {
    if (!layer.uses_winograd) tw::uses_winograd(ir, false);
    const tw::Shape x{layer.images, layer.channels, layer.extent, layer.extent};
    const tw::Shape w{layer.results, layer.channels / layer.options.groups, layer.kernel, layer.kernel};
    const auto convolve = [&](Tensor a, Tensor b, Tensor bias) { return ops::conv(a, b, layer.options) + bias; };
    tw::autodiff(ir.create_graph(convolve, tw::TensorSpec{x, layer.dtype}, tw::TensorSpec{w, layer.dtype},
                                 tw::TensorSpec{{layer.results, 1, 1}, layer.dtype}));
  };
  const tw::Prepared program = support::prepared(build, target);
  for (const auto& graph : program.ir().tables.graphs)
    for (const tw::Node& node : graph.nodes) f(node);
}
/// The forms of a convolution and its gradients; those in direct form have no line.
constexpr Text forms_of(const Layer& layer, const Target& target = tw::cpu) {
  Text result;
  for_each_node(layer, target, [&](const tw::Node& node) {
    if (node.op->options)
      if (const Text options = node.op->options(node.attributes); !options.empty())
        result += tw::text(node.op->name, " ", options, "\n");
  });
  return result;
}
/// The smallest number of images of a part of the gradients of weights and bias; 0: they are not divided; -1: differently.
constexpr std::int64_t images_of_part(const Layer& layer, const Target& target = tw::cpu) {
  std::int64_t of_weights = -1, of_bias = -1;
  for_each_node(layer, target, [&](const tw::Node& node) {
    if (node.op == &tw::op_info<tw::ConvWeightsGrad>)
      of_weights = tw::unpack<tw::WindowsAttributes>(node.attributes).planner.images_of_part;
    if (node.op == &tw::op_info<tw::ReduceSum>) of_bias = tw::unpack<tw::ReductionAttributes>(node.attributes).extent_of_part;
  });
  return of_weights == of_bias ? of_weights : -1;
}
constexpr std::string_view all = "Conv form=winograd\nConvDataGrad form=winograd\nConvWeightsGrad form=winograd\n";

TW_SAME(forms_of({}), all);
TW_SAME(forms_of({.images = 1}), all);
TW_SAME(forms_of({.channels = 16, .results = 16, .options = {.padding = {1, 1, 1, 1}}}), all);

// where a user asks, and on simulated IPUs, which alone have a strict mode
static_assert(forms_of({.uses_winograd = false}).empty() && forms_of({}, tw::ipu_model).empty());

// where it does not exist
static_assert(forms_of({.kernel = 5}).empty() && forms_of({.options = {.stride = {2, 2}}}).empty());
static_assert(forms_of({.options = {.dilation = {2, 2}}}).empty() && forms_of({.options = {.groups = 2}}).empty());
static_assert(forms_of({.dtype = tw::float16}).empty() && forms_of({.dtype = tw::float64}).empty());

// where it is not faster: vectors that are not full, and few results
static_assert(forms_of({.channels = 1}).empty() && forms_of({.results = 10}).empty());
TW_SAME(forms_of({.images = 1, .channels = 16, .results = 16, .extent = 6}), "ConvWeightsGrad form=winograd\n");

// gradients of weights and biases are divided by images if each tile gets 4, unless weights are large beside the images
static_assert(images_of_part({}) == 4 && images_of_part({.channels = 1}) == 4);
static_assert(images_of_part({.images = 30}) == 4 && images_of_part({.images = 64}) == 4);
static_assert(images_of_part({.images = 16}) == 0 && images_of_part({.images = 40}) == 0);
static_assert(images_of_part({.extent = 6, .kernel = 5}) == 0);
static_assert(images_of_part({.channels = 1, .uses_winograd = false}) == 4 && images_of_part({}, tw::ipu_model) == 0);
static_assert(images_of_part({.channels = 1, .dtype = tw::float16}) == 0);

}  // namespace
