#pragma once
// What plans of programs say of measured rows: a function for each row. Programs are traced and planned when this runs.
#include <iterator>
#include <string>
#include <utility>

#include "../ipu/bert.hpp"
#include "../ipu/tables.hpp"
#include "formulas.hpp"
#include "heat.hpp"
#include "nano_gpt.hpp"
#include "resnet.hpp"

namespace fidelity {

/// 1,234,567
inline std::string grouped(double number) { return planned::grouped(static_cast<int64_t>(std::llround(number))); }

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

inline Modelled heat_steps(const tw::Shape& shape, int ipus = 1) {
  const heat::HeatEquation program = heat_equation(shape, ipus, tw::gc200.tiles);
  const tw::Target target = tw::gc200.with_ipus(ipus);
  const tw::Plan steps = plan(program, target);
  std::string detail = kinds_of_cycles(steps) + "; " + share_of_tile(steps, target);
  if (ipus > 1) {
    const auto in_a_step = [&](int64_t cycles) { return grouped(static_cast<double>(cycles / program.steps)); };
    detail += "; links " + in_a_step(steps.cycles.links) + " and waiting " + in_a_step(steps.cycles.waiting) + " cycles a step";
  }
  return {target.seconds(steps.cycles.total()), detail};
}
inline Modelled row_9(const Figure&) { return heat_steps({8000, 8000}); }
inline Modelled row_10(const Figure&) { return heat_steps({360, 360, 360}); }
inline Modelled row_11(const Figure& figure) {
  const int64_t extent = figure.at == 2 ? 403 : figure.at == 4 ? 508 : figure.at == 8 ? 640 : 806;
  return heat_steps({extent, extent, extent}, static_cast<int>(figure.at));
}

/// A model whose products with sums of float32 are as fast as those with sums of float16.
constexpr tw::IpuModel with_fast_sums(tw::IpuModel model) {
  model.products.float16_float32.units = model.products.float16.units;
  return model;
}
inline constexpr tw::IpuModel fast_bow = with_fast_sums(tw::bow_model), fast_c600 = with_fast_sums(tw::c600_model);
inline constexpr tw::Target bow_with_fast_sums = tw::bow.with_ipu(&fast_bow), c600_with_fast_sums = tw::c600.with_ipu(&fast_c600);
inline std::string if_sums_were_fast(double rate) {
  return "; if sums of float32 took no more time than those of float16: " + grouped(rate);
}

// ---- rows 17 and 22

/// Returns the images a second of IPUs that run a program all the time, for `images` images in a run of all.
template <class Build>
Modelled image_rate(const Build& build, int64_t images, const tw::Target& target, const tw::Target& with_fast_sums) {
  const auto rate = [&](const tw::Plan& plan, const tw::Target& of) {
    return static_cast<double>(images) / of.seconds(plan.cycles.total());
  };
  const tw::Plan now = plan(build, target);
  return {rate(now, target), kinds_of_cycles(now) + "; " + share_of_tile(now, target) +
                                 if_sums_were_fast(rate(plan(build, with_fast_sums), with_fast_sums))};
}
inline Modelled row_17(const Figure& figure) {
  return image_rate(ResNetInference{figure.at}, figure.at, tw::c600, c600_with_fast_sums);
}
inline constexpr int64_t resnet_batch = 16;  ///< graphcore/examples, vision/cnns/tensorflow2, resnet50_16ipus_8k_bn_pipeline
inline Modelled row_22(const Figure& figure) {
  return image_rate(ResNetTraining{resnet_batch}, resnet_batch * figure.at, tw::bow, bow_with_fast_sums);
}

// ---- rows 19 to 21

inline constexpr int64_t ipus_of_pod16 = 16, micro_batches[] = {1, 2, 4, 8};

/// Returns the rate of a Pod16 whose IPUs all work all the time, for the best of the micro-batches.
template <int layers, class Layer>
Modelled bert_rate(int64_t tokens, int64_t width) {
  const auto planned = [&](const tw::Target& target, int64_t batch) {
    return plan(bert::Training<layers, Layer>{{{batch, tokens, width}, tw::float16}}, target);
  };
  const auto rate = [](const tw::Plan& plan, const tw::Target& target, int64_t batch) {
    return static_cast<double>(batch * ipus_of_pod16) / target.seconds(plan.cycles.total());
  };
  Modelled best;
  double fastest = 0;
  std::string rates, kinds;
  for (const int64_t batch : micro_batches) {
    const tw::Plan step = planned(tw::bow, batch);
    const double each = rate(step, tw::bow, batch);
    rates += (rates.empty() ? "" : ", ") + grouped(each);
    if (each > best.value) best.value = each, kinds = kinds_of_cycles(step);
    fastest = std::max(fastest, rate(planned(bow_with_fast_sums, batch), bow_with_fast_sums, batch));
  }
  best.detail = "micro-batches of 1, 2, 4 and 8: " + rates + "; the best: " + kinds + if_sums_were_fast(fastest);
  return best;
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
    "an element takes an instruction for each load and for the store; the published time has 2 or 3 more, such as those of a "
    "loop and its addresses; here halos move twice, as a part of a tensor has no place of its own";
inline constexpr std::string_view bert_missing =
    "one IPU has all layers, and all 16 work all the time: there is no pipeline, no embedding and no loss; products add in "
    "float32, "
    "which uses half of the units; no single IPU has so much memory; with micro-batches of 4 and 8, the sum of a product's parts "
    "and "
    "an addition are a step of only 20 or 40 vertices, which takes a fifth of the cycles or more";
inline constexpr std::string_view resnet_missing =
    "one IPU has the whole network, which the published one cuts over 4, and all work all the time; sums are of float32; the "
    "update "
    "follows each micro-batch; neither all-reduces nor the reading of images are counted beyond the streams of one IPU";

inline constexpr Model programs[] = {
    {9, row_9, "a plan of examples/more/heat_equation.hpp: a repeat with ops on blocks and their halos", heat_missing},
    {10, row_10, "as row 9", "as row 9"},
    {11, row_11, "row 10's program on several IPUs, which share the first axis",
     "as row 9; the source does not say how the IPUs cut the cube; an IPU between two others exchanges planes with one after the "
     "other, and does not compute meanwhile"},
    {17, row_17, "a plan of the network, whose norms are parts of the convolutions, with its streams",
     "streams and computation come one after the other; sums are of float32; the float16 images cross a stream each time"},
    {19, row_19, "plans of encoder layers with gradients and update, on one IPU, times 16", bert_missing},
    {20, row_20, "as row 19", "as row 19"},
    {21, row_21, "as row 19",
     "as row 19; the published rate of packed sequences counts the texts in them, while a sequence is one text here"},
    {22, row_22, "a plan of a training step of 16 images, on one IPU, times the IPUs", resnet_missing},
    {27, row_27, "plans of training steps",
     "attention of one op has one vertex for each text and head: 12 of the tiles hold all, where the published chunks are spread "
     "over "
     "all tiles; plain attention has no mask here"},
};

}  // namespace fidelity
