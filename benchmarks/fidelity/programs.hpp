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
#include "steps_of_one_op.hpp"
#include "triads.hpp"

namespace fidelity {

/// A chip with sums of float16, as published, and with those of float32.
inline constexpr tw::Target bow_16 = tw::bow.with_partials_type(tw::float16), c600_16 = tw::c600.with_partials_type(tw::float16);
inline std::string with_float32_sums(double rate) { return rate > 0 ? "; with sums of float32: " + grouped(rate) : ""; }

/// Returns a rate of `items` in a run of a plan, on IPUs that run it all the time; 0 if it does not fit.
inline Modelled rate_of(const Planned& planned, const tw::Target& target, double items) {
  Modelled result = modelled(planned, items / target.seconds(planned.cycles()));
  if (planned.fits()) result.cycles = planned.plan.cycles;
  return result;
}

// ---- rows 2 and 3

/// A product of variables, whose result goes to the host.
struct ProductProgram {
  int64_t rows, inner;
  tw::DType dtype;

  void operator()(tw::Ir& ir) const {
    const auto x = ir.variable(tw::zeros(), {rows, inner}, dtype, "x"), w = ir.variable(tw::zeros(), {inner, inner}, dtype, "w");
    const auto y = x.matmul(w);
    tw::ops::host_store(ir.d2h_stream("y", y.spec()), y);
  }
};
/// Returns a plan for a Bow, with sums of float16 for products of float16.
inline Planned planned_product(const ProductPoint& point, tw::DType dtype) {
  return plan(ProductProgram{point.n, point.m, dtype}, dtype == tw::float16 ? bow_16 : tw::bow);
}

// ---- rows 17 and 22

/// Returns the images a second of IPUs that run a program all the time, for `images` images in a run of all.
template <class Build>
Modelled image_rate(const Build& build, int64_t images, const tw::Target& target) {
  const auto items = static_cast<double>(images);
  const tw::Target other = target.with_partials_type(tw::float32);
  const Planned now = plan(build, target);
  Modelled result = rate_of(now, target, items);
  result.detail = summary(now) + with_float32_sums(rate_of(plan(build, other), other, items).value);
  return result;
}
inline Modelled row_17(const Figure& figure) { return image_rate(ResNetInference{figure.at}, figure.at, c600_16); }
/// Of the published micro-batch of 16 images (graphcore/examples, vision/cnns/tensorflow2, resnet50_16ipus_8k_bn_pipeline), as
/// many as fit an IPU.
inline Modelled row_22(const Figure& figure) {
  std::string larger;
  for (int64_t batch = 16;; batch /= 2) {
    Modelled result = image_rate(ResNetTraining{batch}, batch * figure.at, bow_16);
    result.detail = larger + grouped(static_cast<double>(batch)) + " images: " + result.detail;
    if (result.fits || batch == 1) {
      if (figure.at > 16) result.detail.clear();
      return result;
    }
    larger = result.detail + "; ";
  }
}

// ---- rows 19 to 21, M14 and M15

inline constexpr int64_t ipus_of_pod16 = 16, micro_batches[] = {1, 2, 4, 8};

/// Returns the rate of a Pod16 whose IPUs each have all layers and work all the time, for the best of the micro-batches. A layer
/// is planned alone, with its update; its cycles count for each layer, and its streams once.
template <int layers, class Layer>
Modelled bert_rate(int64_t tokens, int64_t width) {
  const auto rate = [&](const tw::Target& target, int64_t batch) {
    Planned layer = plan(bert::Training<1, Layer>{{{batch, tokens, width}, tw::float16}}, target);
    tw::CycleUse& cycles = layer.plan.cycles;
    const int64_t streams = cycles.host;
    for (int64_t tw::CycleUse::* figure : {&tw::CycleUse::compute, &tw::CycleUse::exchange, &tw::CycleUse::sync})
      cycles.*figure *= layers;
    for (int64_t& kind : layer.kinds) kind *= layers;
    layer.kinds.back() -= (layers - 1) * streams;
    Modelled result = rate_of(layer, target, static_cast<double>(batch * ipus_of_pod16));
    result.detail = layer.fits() ? kinds_of_cycles(cycles) : "";
    return result;
  };
  Modelled best;
  best.fits = false;
  double with_float32 = 0;
  std::string rates;
  for (const int64_t batch : micro_batches) {
    const Modelled each = rate(bow_16, batch);
    rates += (rates.empty() ? "" : ", ") + (each.fits ? grouped(each.value) : std::string("does not fit"));
    if (each.value > best.value) best = each;
    with_float32 = std::max(with_float32, rate(tw::bow, batch).value);
  }
  best.detail = "micro-batches of 1, 2, 4 and 8: " + rates + "; the best: " + best.detail + with_float32_sums(with_float32);
  return best;
}
inline Modelled row_19(const Figure& figure) {
  if (figure.key == "packed") return {0, "texts are not packed here"};
  const BertPipeline published;
  const auto items = static_cast<double>(published.micro_batch * published.steps * ipus_of_pod16 / BertPipeline::ipus);
  const Planned step = plan(published, bow_16.with_ipus(BertPipeline::ipus));
  Modelled result = rate_of(step, bow_16, items);
  result.detail = summary(step);
  return result;
}
inline Modelled base_rate(const Figure& figure) { return bert_rate<12, bert::LayerOf<768, 12>>(figure.at, 768); }
inline Modelled large_rate(const Figure& figure) { return bert_rate<24, bert::Layer>(figure.at, bert::hidden); }

// ---- row 27

inline Modelled row_27(const Figure& figure) {
  using Net = NanoGpt<false>;
  if (figure.unit == "MB") return {1e-6 * 4 * Net::batch * Net::heads * Net::context * Net::context};
  const Planned step = figure.at == 1 ? plan(nano_gpt_step<true>, tw::gc200) : plan(nano_gpt_step<false>, tw::gc200);
  if (figure.unit == "bytes") return {static_cast<double>(step.plan.tile.total())};
  return {step.fits() ? 1.0 : 0.0, share_of_tile(step)};
}

// ---- row M12

inline Modelled row_m12(const Figure&) { return static_cast<double>(tw::gc2_model.link.sync_cycles); }

inline constexpr std::string_view heat_missing =
    "the op counts loads, stores and operations of the source's vertices by the rule for loops of C++; the columns that these "
    "vertices compute one by one count as the others";
inline constexpr std::string_view pipeline_missing =
    "there is no embedding, no loss and no update, one for 2,048 micro-batches; gradients are added up in float32; evenly "
    "spread, "
    "variables and activations would take 500 KB of a tile, but the fullest tile has 2.2 MB of them, and 0.5 MB of code, most of "
    "it "
    "for the exchange";
inline constexpr std::string_view bert_missing =
    "one IPU holds all layers, and all 16 work all the time: there is no pipeline, no embedding and no loss; no single IPU has "
    "so "
    "much memory, but a layer fits";
inline constexpr std::string_view resnet_missing =
    "one IPU has the whole network, which the published one cuts over 4, and all work all the time; the micro-batch is the "
    "largest "
    "that fits, where the published one is 16; the update follows each micro-batch; neither all-reduces nor the reading of "
    "images "
    "are counted beyond the streams of one IPU";

inline constexpr Model programs[] = {
    {4, row_4, "a plan of a scaled addition of 19,200 elements a tile, in the best banks, for which its author asks",
     "the measured codelet is written by hand; whether its figure has a barrier, the source does not say"},
    {5, row_5,
     "12,000 elements a tile: the vendor's primitives are a plan of a copy and a scaled addition; assembly is one loop of both, "
     "and "
     "plain C++ the rule for its loops: formulas",
     "the source does not say how many elements there are; one loop of assembly loads and stores in 3 instructions here, and a "
     "copy "
     "moves 8 bytes in each cycle"},
    {6, row_6, "24,000 elements a tile, as row 5", "as row 5"},
    {9, row_9, "a plan of examples/more/heat_equation.hpp: a repeat with ops on blocks and their halos", heat_missing},
    {10, row_10, "as row 9", "as row 9"},
    {11, row_11, "row 10's program on several IPUs, which share the first axis",
     "as row 9; the source does not say how it cuts the cube, and its code cuts the last axis; an IPU does not compute while it "
     "exchanges planes"},
    {17, row_17, "a plan of the network, whose norms are parts of the convolutions, with its streams",
     "streams and computation come one after the other; the float16 images cross a stream each time"},
    {19, row_19,
     "a plan of four IPUs in a pipeline, with 3, 7, 7 and 7 layers, micro-batches of 8, and layers that are computed again in "
     "the "
     "backward pass, as graphcore/examples has them (nlp/bert/pytorch, pretrain_large_128), times 4",
     pipeline_missing},
    {20, base_rate, "a plan of an encoder layer with gradients and update, times the layers, and its streams; times 16 IPUs",
     bert_missing},
    {21, large_rate, "as row 20",
     "as row 20; the published rate of packed sequences counts the texts in them, while a sequence is one text here"},
    {22, row_22, "a plan of a training step, on one IPU, times the IPUs", resnet_missing},
    {27, row_27, "plans of training steps",
     "attention of one op has one vertex for each text and head: 12 of the tiles hold all, where the published chunks are spread "
     "over all tiles; plain attention has no mask here"},
    {101, row_m1, "a plan for one tile: the step without its barrier",
     "the launch in the formula, 97 cycles where poplibs has 57 to 63, was derived from these figures"},
    {103, blur, "a plan of a convolution in a loop, whose result takes the place of the image", ""},
    {104, blur, "as row M3", ""},
    {107, blur, "as row M3", ""},
    {108, plates, "row 9's program on several IPUs", "as rows 9 and 11"},
    {109, plates, "as row M8", "as row M8"},
    {112, row_m12, "the chip's number", "gc2's number is this figure"},
    {114, base_rate, "as row 20", bert_missing},
    {115, large_rate, "as row 20", bert_missing},
};

}  // namespace fidelity
