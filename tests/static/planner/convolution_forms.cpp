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
/// The forms of a convolution and its gradients; those in direct form have no line.
constexpr Text forms_of(const Layer& layer, const Target& target = tw::cpu) {
  const auto build = [&](Ir& ir) {
    if (!layer.uses_winograd) tw::uses_winograd(ir, false);
    const tw::Shape x{layer.images, layer.channels, layer.extent, layer.extent};
    const tw::Shape w{layer.results, layer.channels / layer.options.groups, layer.kernel, layer.kernel};
    tw::autodiff(ir.create_graph([&](Tensor a, Tensor b) { return ops::conv(a, b, layer.options); },
                                 tw::TensorSpec{x, layer.dtype}, tw::TensorSpec{w, layer.dtype}));
  };
  Text result;
  const tw::Prepared program = support::prepared(build, target);
  for (const auto& graph : program.ir().tables.graphs)
    for (const tw::Node& node : graph.nodes)
      if (node.op->options)
        if (const Text options = node.op->options(node.attributes); !options.empty())
          result += tw::text(node.op->name, " ", options, "\n");
  return result;
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

}  // namespace
