#pragma once

#include "tilewright/core/pair.hpp"
#include "tilewright/ops/index/scatter.hpp"
#include "tilewright/ops/index/split_gather.hpp"
#include "tilewright/ops/linear/float8.hpp"
#include "tilewright/rules/ipu/convolution_blocks.hpp"
#include "tilewright/rules/ipu/ipu_rules.hpp"
#include "tilewright/rules/ipu/pool_blocks.hpp"

namespace tilewright {

namespace detail {
/// Returns the rules of a product or a convolution whose attributes have the planner's options.
template <class Attributes>
constexpr IpuRules rules_of_product() {
  return {.memory_proportion = [](const PackedAttributes& of) { return unpack<Attributes>(of).planner.memory_proportion(); },
          .with_memory_proportion =
              [](const PackedAttributes& of, double proportion) {
                auto attributes = unpack<Attributes>(of);
                attributes.planner.available_memory_proportion = proportion;
                attributes.planner.has_proportion = 1;
                return pack(attributes);
              }};
}
/// The rule IpuRules::expand of the gather D.
template <class D>
constexpr List<OpPart> as_split_gather(std::span<const TensorSpec> operands, int, const PackedAttributes& packed, const Target&) {
  auto attributes = unpack<IndexAttributes>(packed);
  const Shape& t = operands[0].shape;
  if (operands[2].shape.rank == max_rank) return {};  // parts have one more axis
  attributes.extent = t[attributes.axis_of(t.rank)];
  List<OpPart> parts;
  parts.push_back({.op = &op_info<SplitGather<D>>, .attributes = pack(attributes), .inputs = {0, 1}});
  return parts;
}
/// Returns the rules of D, a convolution or one of its gradients.
template <class D>
constexpr IpuRules rules_of_convolution(BlockRule expand_in_blocks = nullptr, bool result_in_blocks = false) {
  IpuRules rules = rules_of_product<typename D::Attributes>();
  rules.expand_in_blocks = expand_in_blocks;
  rules.convolution_form = form_of_convolution<D>;
  rules.result_in_blocks = result_in_blocks;
  return rules;
}
inline constexpr Pair<const OpTag*, IpuRules> ipu_rules[] = {
    {&op_tag<MatMul>, rules_of_product<MatMul::Attributes>()},
    {&op_tag<Conv>, rules_of_convolution<Conv>(in_blocks<Conv>)},
    {&op_tag<ConvDataGrad>, rules_of_convolution<ConvDataGrad>(in_blocks<ConvDataGrad>)},
    {&op_tag<ConvWeightsGrad>, rules_of_convolution<ConvWeightsGrad>(in_blocks<ConvWeightsGrad>)},
    {&op_tag<ConvTranspose>, rules_of_convolution<ConvTranspose>(in_blocks<ConvTranspose>)},
    {&op_tag<ConvTransposeDataGrad>, rules_of_convolution<ConvTransposeDataGrad>(in_blocks<ConvTransposeDataGrad>)},
    {&op_tag<ConvInBlocks>, rules_of_convolution<ConvInBlocks>(nullptr, true)},
    {&op_tag<ConvDataGradInBlocks>, rules_of_convolution<ConvDataGradInBlocks>(nullptr, true)},
    {&op_tag<ConvWeightsGradInBlocks>, rules_of_convolution<ConvWeightsGradInBlocks>()},
    {&op_tag<MatMulPow2Scaled>, rules_of_product<MatMul::Attributes>()},
    {&op_tag<ConvPow2Scaled>, rules_of_product<Conv::Attributes>()},
    {&op_tag<ConvTransposePow2Scaled>, rules_of_product<ConvTranspose::Attributes>()},
    {&op_tag<Gather>, {.expand = as_split_gather<Gather>}},
    {&op_tag<TiedGather>, {.expand = as_split_gather<TiedGather>}},
    {&op_tag<SplitGather<Gather>>, {.positions_of = 0, .indexed = {.table = 0, .indices = 1}}},
    {&op_tag<SplitGather<TiedGather>>, {.positions_of = 0, .indexed = {.table = 0, .indices = 1}}},
    {&op_tag<GatherGrad>, {.indexed = {.rows = 0, .indices = 1}}},
    {&op_tag<Scatter>, {.indexed = {.rows = 0, .indices = 1}}},
    {&op_tag<ScatterReduce>, {.indexed = {.rows = 0, .indices = 1}}},
    {&op_tag<SparseAccumulate>, {.indexed = {.table = 0, .rows = 1, .indices = 2}}},
    {&op_tag<MaxPool>, {.expand = pool_in_blocks<MaxPool>, .window_form = form_of_pool<MaxPool>}},
    {&op_tag<MaxPoolGrad>, {.expand = pool_in_blocks<MaxPoolGrad>, .window_form = form_of_pool<MaxPoolGrad>}},
    {&op_tag<AveragePool>, {.expand = pool_in_blocks<AveragePool>, .window_form = form_of_pool<AveragePool>}},
    {&op_tag<AveragePoolGrad>, {.expand = pool_in_blocks<AveragePoolGrad>, .window_form = form_of_pool<AveragePoolGrad>}},
    {&op_tag<PoolInBlocks<MaxPool>>, {.result_in_blocks = true, .window_form = form_of_pool<PoolInBlocks<MaxPool>>}},
    {&op_tag<PoolInBlocks<MaxPoolGrad>>, {.result_in_blocks = true, .window_form = form_of_pool<PoolInBlocks<MaxPoolGrad>>}},
    {&op_tag<PoolInBlocks<AveragePool>>, {.result_in_blocks = true, .window_form = form_of_pool<PoolInBlocks<AveragePool>>}},
    {&op_tag<PoolInBlocks<AveragePoolGrad>>,
     {.result_in_blocks = true, .window_form = form_of_pool<PoolInBlocks<AveragePoolGrad>>}},
    {},  // no rules
};
}  // namespace detail

/// Returns the rules that an op states, or those of its tag among the library's ops, or none.
constexpr const IpuRules& ipu_rules_of(const OpInfo& op) {
  if (op.machine_rules.ipu) return *op.machine_rules.ipu;
  const auto* each = detail::ipu_rules;
  while (each->first != op.tag && each->first != nullptr) ++each;
  return each->second;
}

}  // namespace tilewright
