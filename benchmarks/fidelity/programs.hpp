#pragma once
// What plans of programs say of measured rows: a function for each row. Programs are traced and planned when this runs.
#include <iterator>
#include <string>
#include <utility>

#include "../ipu/bert.hpp"
#include "bert_pipeline.hpp"
#include "formulas.hpp"
#include "heat.hpp"
#include "nano_gpt.hpp"
#include "plans.hpp"
#include "resnet.hpp"

namespace fidelity {

/// A chip with sums of float16, as published, and with those of float32.
inline constexpr tw::Target bow_16 = tw::bow.with_partials_type(tw::float16), c600_16 = tw::c600.with_partials_type(tw::float16);
inline std::string with_float32_sums(double rate) { return "; with sums of float32: " + grouped(rate); }

/// Returns a rate of `items` in a run of a plan, on IPUs that run it all the time.
inline Modelled rate_of(const tw::Plan& plan, const tw::Target& target, double items) {
  Modelled result(items / target.seconds(plan.cycles.total()));
  result.cycles = plan.cycles;
  return result;
}

// ---- rows 17 and 22

/// Returns the images a second of IPUs that run a program all the time, for `images` images in a run of all.
template <class Build>
Modelled image_rate(const Build& build, int64_t images, const tw::Target& target) {
  const auto items = static_cast<double>(images);
  const tw::Target other = target.with_partials_type(tw::float32);
  const tw::Plan now = plan(build, target);
  Modelled result = rate_of(now, target, items);
  result.detail = kinds_of_cycles(now) + "; " + share_of_tile(now, target) +
                  with_float32_sums(rate_of(plan(build, other), other, items).value);
  return result;
}
inline Modelled row_17(const Figure& figure) { return image_rate(ResNetInference{figure.at}, figure.at, c600_16); }
inline constexpr int64_t resnet_batch = 16;  ///< graphcore/examples, vision/cnns/tensorflow2, resnet50_16ipus_8k_bn_pipeline
inline Modelled row_22(const Figure& figure) {
  return image_rate(ResNetTraining{resnet_batch}, resnet_batch * figure.at, bow_16);
}

// ---- rows 19 to 21

inline constexpr int64_t ipus_of_pod16 = 16, micro_batches[] = {1, 2, 4, 8};

/// Returns the rate of a Pod16 whose IPUs all work all the time, for the best of the micro-batches.
template <int layers, class Layer>
Modelled bert_rate(int64_t tokens, int64_t width) {
  const auto planned = [&](const tw::Target& target, int64_t batch) {
    return plan(bert::Training<layers, Layer>{{{batch, tokens, width}, tw::float16}}, target);
  };
  Modelled best;
  double with_float32 = 0;
  std::string rates, kinds;
  for (const int64_t batch : micro_batches) {
    const tw::Plan step = planned(bow_16, batch);
    const auto items = static_cast<double>(batch * ipus_of_pod16);
    const Modelled each = rate_of(step, bow_16, items);
    rates += (rates.empty() ? "" : ", ") + grouped(each.value);
    if (each.value > best.value) best = each, kinds = kinds_of_cycles(step);
    with_float32 = std::max(with_float32, rate_of(planned(tw::bow, batch), tw::bow, items).value);
  }
  best.detail = "micro-batches of 1, 2, 4 and 8: " + rates + "; the best: " + kinds + with_float32_sums(with_float32);
  return best;
}
inline Modelled row_19(const Figure& figure) {
  if (figure.key == "packed") return {0, "texts are not packed here"};
  const BertPipeline published, with_more_memory{.limits_products = false};
  const auto items = static_cast<double>(published.micro_batch * published.steps * ipus_of_pod16 / BertPipeline::ipus);
  const auto planned = [](const BertPipeline& program, const tw::Target& target) {
    return plan(program, target.with_ipus(BertPipeline::ipus));
  };
  const tw::Plan step = planned(published, bow_16);
  Modelled result = rate_of(step, bow_16, items);
  result.detail = kinds_of_cycles(step) + "; " + share_of_tile(step, tw::bow) +
                  with_float32_sums(rate_of(planned(published, tw::bow), tw::bow, items).value) +
                  "; with products in up to 60 % of a tile's memory: " +
                  grouped(rate_of(planned(with_more_memory, bow_16), bow_16, items).value);
  return result;
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
    "loop and its addresses";
inline constexpr std::string_view pipeline_missing =
    "there is no embedding, no loss and no update, one for 2,048 micro-batches; gradients are added up in float32; the plan does "
    "not fit: evenly spread, variables and activations would take 500 KB of a tile, but the fullest tile has 2.2 MB of them, and "
    "0.5 MB of code, most of it for the exchange";
inline constexpr std::string_view bert_missing =
    "one IPU has all layers, and all 16 work all the time: there is no pipeline, no embedding and no loss; no single IPU has so "
    "much memory";
inline constexpr std::string_view resnet_missing =
    "one IPU has the whole network, which the published one cuts over 4, and all work all the time; the update follows each "
    "micro-batch; neither all-reduces nor the reading of images are counted beyond the streams of one IPU";

inline constexpr Model programs[] = {
    {9, row_9, "a plan of examples/more/heat_equation.hpp: a repeat with ops on blocks and their halos", heat_missing},
    {10, row_10, "as row 9", "as row 9"},
    {11, row_11, "row 10's program on several IPUs, which share the first axis",
     "as row 9; the source does not say how the IPUs cut the cube; an IPU between two others exchanges planes with one after the "
     "other, and does not compute meanwhile"},
    {17, row_17, "a plan of the network, whose norms are parts of the convolutions, with its streams",
     "streams and computation come one after the other; the float16 images cross a stream each time"},
    {19, row_19,
     "a plan of four IPUs in a pipeline, with 3, 7, 7 and 7 layers, micro-batches of 8, and layers that are computed again in "
     "the "
     "backward pass, as graphcore/examples has them (nlp/bert/pytorch, pretrain_large_128), times 4",
     pipeline_missing},
    {20, row_20, "plans of encoder layers with gradients and update, on one IPU, times 16", bert_missing},
    {21, row_21, "as row 20",
     "as row 20; the published rate of packed sequences counts the texts in them, while a sequence is one text here"},
    {22, row_22, "a plan of a training step of 16 images, on one IPU, times the IPUs", resnet_missing},
    {27, row_27, "plans of training steps",
     "attention of one op has one vertex for each text and head: 12 of the tiles hold all, where the published chunks are spread "
     "over "
     "all tiles; plain attention has no mask here"},
};

}  // namespace fidelity
