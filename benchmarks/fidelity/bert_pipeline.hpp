#pragma once
// BERT-Large's training as graphcore/examples has it for a Pod16 (nlp/bert/pytorch/configs_pretraining.yml, pretrain_large_128):
// four IPUs a replica with 3, 7, 7 and 7 layers, micro-batches of 8 texts of 128 tokens, gradients added up over 2,048 of them
// (8 x 4 x 2,048 is the published batch of 65,536), every layer computed again in the backward pass, products in 15 % of a tile's
// memory on the first IPU and in 25 % on the others, and partial sums of float16.
#include <vector>

#include "../ipu/bert.hpp"

namespace fidelity {

/// The encoder's layers in a pipeline. There is no embedding and no loss: the first IPU has activations, and the gradient of the
/// last result is the result. Nor is there an update, one for 2,048 micro-batches.
struct BertPipeline {
  std::int64_t micro_batch = 8, steps = 2048;
  bool limits_products = true;  ///< to the published shares of memory; false: to the planner's 60 %
  static constexpr int layers[] = {3, 7, 7, 7}, ipus = 4;

  void operator()(tw::Ir& ir) const {
    const tw::TensorSpec spec{{micro_batch, bert::sequence, bert::hidden}, tw::float16};
    std::vector<Part> parts;
    for (int ipu = 0; ipu < ipus; ++ipu) parts.push_back(Part::make(ir, spec, ipu));
    if (limits_products) tw::set_available_memory_proportion_by_ipu(ir, {0.15, 0.25, 0.25, 0.25});
    tw::Tensor x = [&] {
      const auto device = tw::ipu(ir, 0);
      return ir.variable(tw::zeros(), spec.shape, spec.dtype, "x");
    }();
    auto pipeline = tw::pipelined_execution(ir, steps);
    std::vector<Calls> calls(ipus);
    for (int ipu = 0; ipu + 1 < ipus; ++ipu) {
      const auto stage = pipeline.stage(ipu);
      const auto device = tw::ipu(ir, ipu);
      x = parts[at(ipu)].forward(x, calls[at(ipu)]).copy_to_ipu(ipu + 1);
    }
    for (int ipu = ipus - 1; ipu >= 0; --ipu) {
      const auto stage = pipeline.stage(2 * (ipus - 1) - ipu);
      const auto device = tw::ipu(ir, ipu);
      if (ipu == ipus - 1) x = parts[at(ipu)].forward(x, calls[at(ipu)]);
      x = parts[at(ipu)].backward(x, calls[at(ipu)], pipeline);
      if (ipu > 0) x = x.copy_to_ipu(ipu - 1);
    }
  }

 private:
  using Calls = std::vector<tw::CallSiteInfo>;
  static constexpr std::size_t at(int ipu) { return static_cast<std::size_t>(ipu); }

  /// The layers of an IPU: one graph and one gradient graph, which all layers call with weights and sums of their own.
  struct Part {
    tw::GradGraphInfo info;
    std::vector<tw::BoundGraph> forwards{}, backwards{};

    static Part make(tw::Ir& ir, const tw::TensorSpec& spec, int ipu) {
      const auto device = tw::ipu(ir, ipu);
      const auto [factories, layer] = tw::create_graph(ir, bert::Layer{}, spec);
      const auto [sums, gradient] = tw::autodiff_with_accumulation(layer, layer.args(),
                                                                   {.grads_required = {{layer.graph().input(0)}}});
      const auto again = tw::recompute_graph(gradient);
      Part part{.info = again.grad_graph_info()};
      for (int i = 0; i < layers[ipu]; ++i) {
        part.forwards.push_back(layer.bind(factories.init(tw::text("layers.", ipu, ".", i).view())));
        part.backwards.push_back(again.bind(sums.init(tw::text("sums.", ipu, ".", i).view())));
      }
      return part;
    }
    tw::Tensor forward(tw::Tensor x, Calls& calls) const {
      for (const tw::BoundGraph& layer : forwards) {
        calls.push_back(layer.call_with_info(x));
        x = calls.back().output(0);
      }
      return x;
    }
    tw::Tensor backward(tw::Tensor dy, const Calls& calls, tw::Pipeline& pipeline) const {
      for (std::size_t i = calls.size(); i-- > 0;)
        dy = backwards[i].call(dy, pipeline.stash_and_restore_activations(calls[i], info))[0];
      return dy;
    }
  };
};

}  // namespace fidelity
