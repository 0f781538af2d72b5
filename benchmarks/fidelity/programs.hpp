#pragma once
// What plans of programs say of measured rows: a function for each row. Programs are traced and planned when this runs.
#include <iterator>
#include <string>
#include <utility>

#include "../ipu/bert.hpp"
#include "../ipu/planned.hpp"
#include "formulas.hpp"
#include "heat.hpp"
#include "nano_gpt.hpp"
#include "resnet.hpp"

namespace fidelity {

template <class Build>
tw::Plan plan(const Build& build, const tw::Target& target) {
  return planned::plan("", build, target).plan;
}
/// Returns how much of a tile's memory a plan needs: "194 % of a tile's memory".
inline std::string share_of_tile(const tw::Plan& plan, const tw::Target& target) {
  const double share = 100 * static_cast<double>(plan.tile.total()) / static_cast<double>(target.bytes_per_tile);
  return decimals(share, 0) + " % of a tile's memory";
}
/// Returns where the cycles of a plan go: "compute 58, exchange 34, barriers 4, streams 4 %".
inline std::string kinds_of_cycles(const tw::Plan& plan) {
  const auto percent = [&](int64_t cycles) {
    return decimals(100 * static_cast<double>(cycles) / static_cast<double>(plan.cycles.total()), 0);
  };
  return "compute " + percent(plan.cycles.compute) + ", exchange " + percent(plan.cycles.exchange) + ", barriers " +
         percent(plan.cycles.sync) + ", streams " + percent(plan.cycles.host) + " %";
}

// ---- rows 9 to 11

inline Modelled heat(const tw::Shape& shape, int64_t more_cycles = 0) {
  const HeatEquation program{shape};
  const tw::Plan steps = plan(program, tw::gc200);
  return {tw::gc200.seconds(steps.cycles.total() + program.steps * more_cycles),
          kinds_of_cycles(steps) + "; " + share_of_tile(steps, tw::gc200)};
}
inline Modelled row_9(const Figure&) { return heat({8000, 8000}); }
inline Modelled row_10(const Figure&) { return heat({360, 360, 360}); }
/// Each IPU has a slab, and exchanges a plane with each neighbour.
inline Modelled row_11(const Figure& figure) {
  const int64_t extent = figure.at == 2 ? 403 : figure.at == 4 ? 508 : figure.at == 8 ? 640 : 806;
  const auto plane = tw::ipu_copy_cycles(tw::gc200_model, 4 * extent * extent, figure.at == 2 ? 0 : 1, figure.at == 2 ? 1 : 2);
  Modelled result = heat({tw::ceil_divide(extent, figure.at) + 2, extent, extent}, plane.cycles);
  result.detail += "; links " + decimals(static_cast<double>(plane.cycles), 0) + " cycles a step";
  return result;
}

// ---- rows 17 and 22

inline Modelled row_17(const Figure& figure) {
  const tw::Plan images = plan(ResNetInference{figure.at}, tw::c600);
  return {static_cast<double>(figure.at) / tw::c600.seconds(images.cycles.total()),
          kinds_of_cycles(images) + "; " + share_of_tile(images, tw::c600)};
}
inline constexpr int64_t resnet_batch = 16;  ///< graphcore/examples, vision/cnns/tensorflow2, resnet50_16ipus_8k_bn_pipeline
inline Modelled row_22(const Figure& figure) {
  const tw::Plan images = plan(ResNetTraining{resnet_batch}, tw::bow);
  return {static_cast<double>(resnet_batch * figure.at) / tw::bow.seconds(images.cycles.total()),
          kinds_of_cycles(images) + "; " + share_of_tile(images, tw::bow)};
}

// ---- rows 19 to 21

/// Bow, if its products with sums of float32 were as fast as those with sums of float16.
inline constexpr tw::IpuModel fast_sums_model = [] {
  tw::IpuModel model = tw::bow_model;
  model.products.float16_float32.units = model.products.float16.units;
  return model;
}();
inline constexpr int64_t ipus_of_pod16 = 16, micro_batches[] = {1, 2, 4, 8};

/// Returns the rate of a Pod16 whose IPUs all work all the time, for the best of the micro-batches.
template <int layers, class Layer>
Modelled bert_rate(int64_t tokens, int64_t width) {
  const auto rate = [&](const tw::Target& target, int64_t batch) {
    const bert::Training<layers, Layer> step{{{batch, tokens, width}, tw::float16}};
    return static_cast<double>(batch * ipus_of_pod16) / target.seconds(plan(step, target).cycles.total());
  };
  Modelled result;
  double fastest = 0;
  std::string batches;
  for (const int64_t batch : micro_batches) {
    const double each = rate(tw::bow, batch);
    result.value = std::max(result.value, each);
    fastest = std::max(fastest, rate(tw::bow.with_ipu(&fast_sums_model), batch));
    batches += (batches.empty() ? "" : ", ") + decimals(each, 0);
  }
  result.detail = "micro-batches of 1, 2, 4 and 8: " + batches +
                  "; the best, if sums of float32 took no more time than those of " + "float16: " + decimals(fastest, 0);
  return result;
}
inline Modelled row_19(const Figure& figure) {
  if (figure.key == "packed") return {0, "texts are not packed here"};
  return bert_rate<24, bert::Layer>(128, bert::hidden);
}
inline Modelled row_20(const Figure& figure) { return bert_rate<12, bert::LayerOf<768, 12>>(figure.at, 768); }
inline Modelled row_21(const Figure& figure) { return bert_rate<24, bert::Layer>(figure.at, bert::hidden); }

// ---- row 27

inline Modelled row_27(const Figure& figure) {
  using Net = NanoGpt<false>;
  if (figure.unit == "MB") return {1e-6 * 4 * Net::batch * Net::heads * Net::context * Net::context};
  const tw::Target& target = tw::gc200;
  const tw::Plan step = figure.at == 1 ? plan(nano_gpt_step<true>, target) : plan(nano_gpt_step<false>, target);
  if (figure.unit == "bytes") return {static_cast<double>(step.tile.total())};
  return {step.tile.total() <= target.bytes_per_tile ? 1.0 : 0.0, share_of_tile(step, target)};
}

inline constexpr std::string_view heat_missing =
    "the plan moves each operand of a sum of slices as a whole, where a program made for the chip exchanges only halos; so its "
    "memory does not fit either";
inline constexpr std::string_view bert_missing =
    "one IPU has all layers, and all 16 work all the time: there is no pipeline, no embedding and no loss; products add in "
    "float32, "
    "which uses half of the units; no single IPU has so much memory";
inline constexpr std::string_view resnet_missing =
    "one IPU has the whole network, and all work all the time; sums are of float32; the update follows each micro-batch; neither "
    "all-reduces nor the reading of images are counted beyond the streams of one IPU";

inline constexpr Model programs[] = {
    {9, row_9, "a plan of a repeat of slices and sums", heat_missing},
    {10, row_10, "a plan of a repeat of slices and sums", heat_missing},
    {11, row_11, "row 10's plan for the slab of an IPU, and a plane over the links in each step",
     "the source does not say how the IPUs cut the cube; the plan is row 10's, whose sums of slices move too much"},
    {17, row_17, "a plan of the network, whose norms are parts of the convolutions, with its streams",
     "streams and computation come one after the other; sums are of float32; the float16 images cross a stream each time"},
    {19, row_19, "plans of encoder layers with gradients and update, on one IPU, times 16", bert_missing},
    {20, row_20, "as row 19", bert_missing},
    {21, row_21, "as row 19", "texts are not packed, while the published rate counts the texts of packed sequences; as row 19"},
    {22, row_22, "a plan of a training step of 16 images, on one IPU, times the IPUs", resnet_missing},
    {27, row_27, "plans of training steps",
     "the published chunks are cut by hand; the attention here is one op of a vertex a head"},
};

}  // namespace fidelity
