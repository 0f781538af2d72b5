// labels: none
// Plans are proven whose products and convolutions are computed in slices, over strips of images, and as sums of parts in stages.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tilewright/tilewright.hpp>
#include <tilewright/verified/verified.hpp>
#include <utility>

#include "../../catch.hpp"
#include "../../support/programs.hpp"

namespace tw = tilewright;

namespace {

using support::load, support::store;
using Build = std::function<void(tw::Ir&)>;

tw::Prepared prepared(const Build& build, const tw::Target& target) { return tw::prepare(*tw::trace(build, target), target); }
tw::Target ipu(int tiles) { return tw::gc200.with_tiles(tiles); }

/// Swaps the results of steps that run the same code, two by two. Returns how many plans that gives, all of which are refused.
int count_swapped(const tw::Prepared& program, const tw::Plan& plan) {
  int count = 0;
  for (std::size_t a = 0; a < plan.steps.size(); ++a)
    for (std::size_t b = a + 1; b < plan.steps.size(); ++b) {
      const auto &one = plan.steps[a], &other = plan.steps[b];
      if (one.kind != tw::internal::StepKind::compute || other.kind != one.kind || one.compute_set != other.compute_set) continue;
      tw::Plan changed = plan;
      const auto last = [&](const auto& step) { return static_cast<std::size_t>(step.first_location + step.location_count - 1); };
      if (changed.locations[last(one)] == changed.locations[last(other)]) continue;
      std::swap(changed.locations[last(one)], changed.locations[last(other)]);
      INFO("steps " << a << " and " << b);
      CHECK(tw::fault_of_plan(program, changed).string() != "");
      ++count;
    }
  return count;
}

/// A product, with the thousandths of a tile's memory that it may take: with few, it is computed in slices.
Build product(std::int64_t rows, std::int64_t inner, std::int64_t columns, double thousandths, tw::DType dtype = tw::float32) {
  return [=](tw::Ir& ir) {
    const tw::MatMulOptions options{.available_memory_proportion = thousandths / 1000};
    store("y", tw::ops::matmul(load(ir, "x", {rows, inner}, dtype), load(ir, "w", {inner, columns}, dtype), options));
  };
}
/// A convolution, and the gradients of its data and weights.
Build convolution(const tw::Shape& x_shape, const tw::Shape& w_shape, double thousandths) {
  return [=](tw::Ir& ir) {
    const auto build = [=](tw::Tensor x, tw::Tensor w) {
      return tw::ops::conv(x, w, {.padding = {1, 1, 1, 1}, .available_memory_proportions = {thousandths / 1000}});
    };
    const tw::Graph forward = ir.create_graph(build, tw::TensorSpec{x_shape, tw::float32}, tw::TensorSpec{w_shape, tw::float32});
    const auto call = tw::call_with_info(forward, {load(ir, "x", x_shape), load(ir, "w", w_shape)});
    store("y", call.outputs()[0]);
    const tw::GradGraphInfo backward = tw::autodiff(forward);
    const auto gradients = backward.fwd_graph_ins_to_grad_parent_outs(
        tw::call_with_info(backward.graph(), {load(ir, "dy", call.outputs()[0].shape())}, backward.inputs_dict(call)));
    store("dx", *gradients.find(forward.inputs()[0]));
    store("dw", *gradients.find(forward.inputs()[1]));
  };
}

TEST_CASE("verified: products in slices of columns and of their sums are proven, swapped slices refused") {
  const std::pair<Build, int> cases[] = {{product(8, 64, 80, 5), 4},
                                         {product(8, 512, 16, 5), 16},
                                         {product(64, 512, 84, 5), 4},
                                         {product(8, 512, 16, 5, tw::float16), 8},
                                         {product(64, 512, 84, 5, tw::float16), 4}};
  int swapped = 0;
  for (const auto& [build, tiles] : cases) {
    const tw::Prepared program = prepared(build, ipu(tiles));
    const tw::Plan plan = tw::lower(program);
    CHECK(plan.steps.size() > 2);
    CHECK(tw::fault_of_plan(program, plan).string() == "");
    swapped += count_swapped(program, plan);
  }
  CHECK(swapped >= 10);
}

TEST_CASE("verified: convolutions and their gradients in slices are proven") {
  for (const double thousandths : {600., 5., 2., 1.}) {
    INFO(thousandths);
    const tw::Prepared program = prepared(convolution({2, 8, 6, 6}, {48, 8, 3, 3}, thousandths), ipu(4));
    const tw::Plan plan = tw::lower(program);
    CHECK(tw::fault_of_plan(program, plan).string() == "");
  }
}

TEST_CASE("verified: convolutions and their gradients over strips of images are proven") {
  // the last one has sums of parts, too
  const std::pair<tw::Shape, tw::Shape> cases[] = {
      {{1, 3, 64, 64}, {8, 3, 3, 3}}, {{2, 4, 48, 40}, {4, 4, 3, 3}}, {{2, 64, 13, 11}, {64, 64, 3, 3}}};
  for (const auto& [x, w] : cases) {
    INFO(x[2]);
    const tw::Prepared program = prepared(convolution(x, w, 600), tw::gc200);
    const tw::Plan plan = tw::lower(program);
    CHECK(plan.steps.size() > tw::lower(prepared(convolution(x, w, 600), ipu(4))).steps.size());
    CHECK(tw::fault_of_plan(program, plan).string() == "");
  }
}

/// A convolution, or a transposed one, of samples with 1 or 2 spatial axes.
struct Windows {
  tw::Shape x, w;
  bool is_transposed = false;
  std::int64_t stride = 1, dilation = 1, padding = 0, groups = 1;

  /// The op, and the gradients of both operands.
  void add_to(tw::Ir& ir) const {
    const auto build = [this](tw::Tensor data, tw::Tensor weight) {
      const auto add_options = [&](auto options) {
        for (int axis = 2; axis < x.rank; ++axis) {
          options.stride.push_back(stride), options.dilation.push_back(dilation);
          options.padding.push_back(padding), options.padding.push_back(padding);
        }
        options.groups = groups;
        return options;
      };
      if (is_transposed) return tw::ops::conv_transpose(data, weight, add_options(tw::ConvTransposeOptions{}));
      return tw::ops::conv(data, weight, add_options(tw::ConvOptions{}));
    };
    const tw::Graph forward = ir.create_graph(build, tw::TensorSpec{x, tw::float32}, tw::TensorSpec{w, tw::float32});
    const auto call = tw::call_with_info(forward, {load(ir, "x", x), load(ir, "w", w)});
    store("y", call.outputs()[0]);
    const tw::GradGraphInfo backward = tw::autodiff(forward);
    const auto gradients = backward.fwd_graph_ins_to_grad_parent_outs(
        tw::call_with_info(backward.graph(), {load(ir, "dy", call.outputs()[0].shape())}, backward.inputs_dict(call)));
    for (const tw::Tensor input : forward.inputs()) store(input == forward.inputs()[0] ? "dx" : "dw", *gradients.find(input));
  }
};
/// Returns how many convolutions of a plan are over blocks of images.
int count_blocks(const tw::Plan& plan) {
  int count = 0;
  for (const auto& stage : plan.stages) count += stage.name.ends_with("InBlocks");
  return count;
}

TEST_CASE(
    "verified: convolutions of 1 and 2 axes over blocks of samples are proven, with zeros between elements, and in groups") {
  const std::array<std::int64_t, 4> options[] = {{1, 1, 0, 1}, {2, 1, 0, 1}, {1, 2, 1, 1},
                                                 {2, 2, 1, 2}, {3, 1, 1, 2}, {2, 3, 2, 4}};
  int blocks_of_one_axis = 0, blocks_of_two_axes = 0;
  for (const bool is_transposed : {false, true})
    for (const bool has_two_axes : {false, true})
      for (const auto& [stride, dilation, padding, groups] : options) {
        const std::int64_t channels = 4, of_weight = channels / groups;
        const Windows windows{.x = has_two_axes ? tw::Shape{2, channels, 48, 10} : tw::Shape{2, channels, 240},
                              .w = has_two_axes ? tw::Shape{channels, of_weight, 3, 3} : tw::Shape{channels, of_weight, 3},
                              .is_transposed = is_transposed,
                              .stride = stride,
                              .dilation = dilation,
                              .padding = padding,
                              .groups = groups};
        INFO((is_transposed ? "transposed, " : "")
             << (has_two_axes ? "2 axes" : "1 axis") << ", stride " << stride << ", dilation " << dilation << ", padding "
             << padding << ", groups " << groups);
        const tw::Prepared program = prepared([&](tw::Ir& ir) { windows.add_to(ir); }, tw::gc200);
        const tw::Plan plan = tw::lower(program);
        CHECK(tw::fault_of_plan(program, plan).string() == "");
        (has_two_axes ? blocks_of_two_axes : blocks_of_one_axis) += count_blocks(plan);
      }
  INFO(blocks_of_one_axis << " of one axis, " << blocks_of_two_axes << " of two");
  CHECK(blocks_of_one_axis >= 10);
  CHECK(blocks_of_two_axes >= 10);
}

TEST_CASE("verified: reductions and losses whose parts are combined in stages are proven") {
  const Build cases[] = {
      [](tw::Ir& ir) { store("y", load(ir, "x", {100'003}, tw::int32).sum()); },
      [](tw::Ir& ir) { store("y", load(ir, "x", {40'000, 5}).sum(tw::Axes(0))); },
      [](tw::Ir& ir) { store("y", tw::ops::max(load(ir, "x", {40'000, 5}, tw::float16), tw::Axes(0))); },
      [](tw::Ir& ir) { store("y", tw::ops::logsumexp(load(ir, "x", {90'000}))); },
      [](tw::Ir& ir) {
        store("y", tw::ops::nll_loss(tw::ops::softmax(load(ir, "x", {9000, 10}), 1), load(ir, "t", {9000}, tw::int32)));
      }};
  int number = 0;
  for (const Build& build : cases) {
    INFO(number++);
    const tw::Prepared program = prepared(build, tw::gc200);
    CHECK(tw::fault_of_plan(program, tw::lower(program)).string() == "");
  }
}

}  // namespace
