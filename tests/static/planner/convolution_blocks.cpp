// labels: none
// How convolutions are cut for the tiles of an IPU: blocks of images, with what lies around them, and products.
#include "tilewright/lower/products/convolution_blocks.hpp"

#include <algorithm>

#include "../../support/programs.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
using std::int64_t;
using tw::detail::BlockedAxis, tw::detail::blocks_of_data, tw::detail::blocks_of_results;
using tw::internal::ProductProblem;

// ---- blocks along an axis

constexpr BlockedAxis thirds = blocks_of_results({.in = 10, .out = 10, .kernel = 3, .begin = 1}, 3);
static_assert(thirds.window.in == 6 && thirds.window.out == 4 && thirds.window.begin == 0, "4 results, one element on each side");
static_assert(thirds.data.first == -1 && thirds.data.step == 4 && thirds.data.blocks == 3 && thirds.data.end() == 13,
              "the last block has two results that no image has");
constexpr BlockedAxis strided = blocks_of_results({.in = 25, .out = 11, .kernel = 3, .stride = 2, .dilation = 3, .begin = 2}, 2);
static_assert(strided.window.in == 5 * 2 + 7 && strided.data.step == 12 && strided.results.extent == 6);
constexpr BlockedAxis back = blocks_of_data({.in = 8, .out = 4, .kernel = 3, .stride = 2, .begin = 1}, 2);
static_assert(back.is_valid && back.data.extent == 4 && back.results.first == 0 && back.results.step == 2 &&
                  back.results.extent == 3,
              "three windows overlap four elements");
static_assert(blocks_of_data({.in = 9, .out = 5, .kernel = 3, .stride = 2, .begin = 1}, 2).data.end() == 12, "whole strides");
static_assert(blocks_of_results({.in = 10, .out = 10, .kernel = 3, .begin = 1}, 1).window.begin == 1,
              "padding stays where it is");

// ---- the ops of a plan

template <int rows, int columns, int channels, int results, int kernel, int stride = 1, int groups = 1>
constexpr void gradients(tw::Ir& ir) {
  const tw::Shape x{1, channels, rows, columns}, w{results, channels / groups, kernel, kernel};
  const tw::Graph forward = ir.create_graph(
      [](tw::Tensor data, tw::Tensor weight) {
        constexpr int padding = kernel / 2;
        return tw::ops::conv(data, weight,
                             {.stride = {stride, stride}, .padding = {padding, padding, padding, padding}, .groups = groups});
      },
      tw::TensorSpec{x, tw::float16}, tw::TensorSpec{w, tw::float16});
  const auto call = tw::call_with_info(forward, {support::load(ir, "x", x, tw::float16), support::load(ir, "w", w, tw::float16)});
  support::store("y", call.outputs()[0]);
  const tw::GradGraphInfo backward = tw::autodiff(forward);
  const auto found = backward.fwd_graph_ins_to_grad_parent_outs(tw::call_with_info(
      backward.graph(), {support::load(ir, "dy", call.outputs()[0].shape(), tw::float16)}, backward.inputs_dict(call)));
  support::store("dx", *found.find(forward.inputs()[0]));
  support::store("dw", *found.find(forward.inputs()[1]));
}
/// Shapes of the first inputs of convolutions in blocks, in the order of a plan; steps of a plan.
struct Cuts {
  tw::List<tw::Shape> images{};
  int64_t steps = 0;
};
constexpr Cuts cuts_of(auto build, const tw::Target& target) {
  const tw::Plan plan = support::plan_of(build, target);
  Cuts result{.steps = static_cast<int64_t>(plan.steps.size())};
  for (const auto& stage : plan.stages)
    if (stage.name.ends_with("InBlocks"))
      result.images.push_back(plan.operands[static_cast<std::size_t>(stage.first_operand)].view.shape);
  return result;
}
constexpr std::int64_t products_in(const Cuts& cuts, std::int64_t places) {
  return std::ranges::count_if(cuts.images,
                               [=](const tw::Shape& shape) { return shape.rank == 4 && shape[2] == places && shape[3] == 1; });
}
static_assert(products_in(cuts_of(gradients<14, 12, 64, 32, 1>, tw::gc200), 14 * 12) == 3, "axes of the image become one");
static_assert(products_in(cuts_of(gradients<28, 24, 64, 32, 1, 2>, tw::gc200), 14 * 12) == 3, "strided data are read once");
static_assert(cuts_of(gradients<14, 12, 64, 32, 1>, tw::gc200).images.size() == 3);

/// Copies of data that a plan reads at strides, and those of them whose tiles have the data.
struct StridedCopies {
  int all = 0, local = 0;
};
constexpr StridedCopies strided_copies(auto build) {
  const tw::Plan plan = support::plan_of(build, tw::gc200);
  StridedCopies result;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const tw::internal::Step& step = plan.steps[i];
    if (step.compute_set < 0) continue;
    const auto& stage = plan.stages[static_cast<std::size_t>(plan.compute_sets[step.compute_set].first_stage)];
    const tw::ViewSpec& read = plan.operands[static_cast<std::size_t>(stage.first_operand)].view;
    if (stage.name != "Identity" || read.shape.rank == 0 || read.stride(read.shape.rank - 1) == 1) continue;
    ++result.all;
    result.local += plan.moves[i].before.is_empty() && plan.moves[i].after.is_empty();
  }
  return result;
}
/// Variables, of which the copy is the first reader: x (2, 64, 28, 24), and a kernel of one element.
template <int stride>
constexpr void strided_variables(tw::Ir& ir) {
  const tw::Tensor x = support::variable(ir, "x", {2, 64, 28, 24}), w = support::variable(ir, "w", {32, 64, 1, 1});
  support::store("y", tw::ops::conv(x, w, {.stride = {stride, stride}}));
}
static_assert(strided_copies(strided_variables<1>).all == 0);
static_assert(strided_copies(strided_variables<2>).all == 1 && strided_copies(strided_variables<2>).local == 1);
static_assert(strided_copies(strided_variables<3>).all == 1 && strided_copies(strided_variables<3>).local == 1);
static_assert(strided_copies(gradients<28, 24, 64, 32, 1, 2>).all == 2 &&
                  strided_copies(gradients<28, 24, 64, 32, 1, 2>).local == 2,
              "strided data come to the products only, which exchange them as one list of fragments");

/// The images that a tile has a part of, in a product of a and b on a gc200.
template <class Op>
constexpr int64_t images_on_a_tile(const tw::Shape& a, const tw::Shape& b, const tw::Shape& result) {
  const tw::TensorSpec operands[] = {{a, tw::float16}, {b, tw::float16}, {result, tw::float16}};
  const tw::PackedAttributes attributes = tw::pack(tw::WindowsAttributes::make({}, 1, {}));
  const tw::OpInfo& op = tw::op_info<Op>;
  tw::Work work = tw::work_of(op, operands, 2, attributes);
  tw::internal::ProductPartitions partitions(tw::internal::product_machine(tw::gc200));
  set_blocks(work, cut_product_on_tiles(op, operands, attributes, work, tw::gc200, partitions));
  return work.axes[0].block;
}
static_assert(images_on_a_tile<tw::ConvInBlocks>({32, 256, 784, 1}, {512, 256, 1}, {32, 512, 784, 1}) <= 4,
              "an exchange has a piece for each channel of an image that is divided");
static_assert(images_on_a_tile<tw::ConvWeightsGradInBlocks>({16, 256, 784, 1}, {16, 512, 784, 1}, {512, 256, 1}) <= 2,
              "also where images are summed over");
template <int count, int rows, int results>
constexpr void images(tw::Ir& ir) {
  support::store("y", tw::ops::conv(support::load(ir, "x", {count, 512, rows, rows}, tw::float16),
                                    support::load(ir, "w", {results, 512, 1, 1}, tw::float16)));
}
static_assert(cuts_of(images<2, 14, 256>, tw::gc200).images.size() == 1);
static_assert(cuts_of(images<16, 7, 2048>, tw::gc200).images.empty(),
              "images stay whole where parts of them would be many pieces");
static_assert(
    [] {
      const Cuts cuts = cuts_of(gradients<60, 50, 4, 4, 3>, tw::gc200);
      return cuts.images.size() >= 2 && cuts.images[0].rank == 6 && cuts.images[0][2] > 1 && cuts.images[0][4] > 1;
    }(),
    "blocks along both axes");
static_assert(
    [] {
      const Cuts cuts = cuts_of(gradients<48, 48, 32, 32, 3, 1, 32>, tw::gc200);
      return cuts.images.size() >= 2 && cuts.images[0][2] > 1 && cuts.images[0][4] > 1;
    }(),
    "groups, too");

// ---- the product of a vertex

constexpr ProductProblem of_gradient{.rows = 64 * 9,
                                     .inner = 4 * 14,
                                     .columns = 64,
                                     .element_bytes = 2,
                                     .partial_bytes = 2,
                                     .row_grain = 9,
                                     .inner_grain = 4,
                                     .is_convolution = true,
                                     .sums_positions = true,
                                     .axes = {{}, {.field = 3, .kernel = 2}, {.field = 3, .kernel = 28}}};
constexpr int64_t cycles_of(const ProductProblem& problem) {
  return tw::internal::partition_product(problem, tw::internal::product_machine(tw::gc200)).cycles.total();
}
static_assert(2 * cycles_of(of_gradient) < cycles_of([] {
                ProductProblem of_kernel = of_gradient;
                of_kernel.sums_positions = false;
                return of_kernel;
              }()),
              "a sum over places of 4 images is not padded to 16 channels for each place");
constexpr tw::internal::ConvolutionAxis spaced{.field = 224, .kernel = 7, .spacing = 2};
static_assert(spaced.taps() == 4 && spaced.input(14) == 7 + 4, "every second element of the kernel meets a zero");

}  // namespace
