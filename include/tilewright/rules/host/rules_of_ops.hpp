#pragma once

#include "tilewright/core/pair.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/nn/attention.hpp"
#include "tilewright/ops/nn/pool.hpp"
#include "tilewright/ops/reduce/line_results.hpp"
#include "tilewright/ops/reduce/mean.hpp"
#include "tilewright/ops/shape/triangle.hpp"
#include "tilewright/rules/host/convolutions.hpp"

namespace tilewright {

namespace detail {

/// Sums over all axes but that of the channels are sums of vectors.
inline constexpr HostRules sum_rules{
    .channels_last = [](std::span<const TensorSpec> operands, const PackedAttributes& packed, std::uint32_t asked) {
      const int rank = operands[0].shape.rank;
      const bool keeps_channels = rank == 4 && ReductionRules::axis_bits(unpack<ReductionAttributes>(packed), rank) == 0b1101u;
      return keeps_channels ? asked & 1u : 0;
    }};

/// Returns whether kernel::PoolPixels takes the maxima of windows of x.
constexpr bool pools_pixels(const TensorSpec& x, const kernel::Windows& windows, const kernel::PoolGaps& gaps) {
  return x.dtype == float32 && x.shape.rank == 4 && gaps.none() && kernel::is_in_pairs(windows);
}
/// Returns whether windows of planes of two axes do not overlap.
constexpr bool pools_rows(const PackedAttributes& packed, const TensorSpec& x) {
  const auto attributes = unpack<PoolAttributes>(packed);
  if (x.shape.rank != 4 || !attributes.gaps(2).none()) return false;
  const kernel::Windows windows = windows_of(x.shape, attributes.kernel_size(), attributes.windows);
  const auto are_apart = [](kernel::Window window) {
    if (window.out == 1) window.stride = window.kernel;
    return window.tiles();
  };
  return are_apart(windows[1]) && are_apart(windows[2]);
}
inline constexpr HostRules max_pool_rules{
    .channels_last =
        [](std::span<const TensorSpec> operands, const PackedAttributes& packed, std::uint32_t asked) {
          const auto attributes = unpack<PoolAttributes>(packed);
          const auto windows = windows_of(attributes.spread(operands[0].shape), attributes.kernel_size(), attributes.windows);
          const bool fits = pools_pixels(operands[0], windows, attributes.gaps(operands[0].shape.rank - 2));
          return fits && (asked & 0b1u) != 0 ? asked & 0b11u : 0;
        },
    .reads_rows = pools_rows};
inline constexpr HostRules max_pool_grad_rules{
    .channels_last =
        [](std::span<const TensorSpec> operands, const PackedAttributes& packed, std::uint32_t asked) {
          const auto attributes = unpack<PoolGradAttributes>(packed);
          const bool fits = pools_pixels(operands[0], attributes.windows.windows(), attributes.gaps());
          return fits && (asked & 0b101u) == 0b101u ? asked & 0b111u : 0;
        },
    .takes_epilogue = MaxPoolGrad::takes_epilogue};

inline constexpr Pair<const OpTag*, HostRules> host_rules[] = {
    {&op_tag<MatMul>, {.any_result_layout = true, .takes_pieces = true}},
    {&op_tag<ReduceSum>, sum_rules},
    {&op_tag<Conv>, conv_rules},
    {&op_tag<ConvDataGrad>, conv_data_grad_rules},
    {&op_tag<ConvWeightsGrad>, conv_weights_grad_rules},
    {&op_tag<MaxPool>, max_pool_rules},
    {&op_tag<MaxPoolGrad>, max_pool_grad_rules},
    {&op_tag<AveragePool>, {.reads_rows = pools_rows}},
    {&op_tag<ReduceMean>, sum_rules},
    {&op_tag<ScaledDotProductAttention>, {.any_result_layout = true}},
    {&op_tag<ScaledDotProductAttentionGrad>, {.any_result_layout = true}},
    {&op_tag<LinearRecurrence>, {.any_result_layout = true}},
    {&op_tag<Triangle>, {.any_result_layout = true}},
    {},  // no rules
};

}  // namespace detail

/// Returns the rules that an op states, or those of its tag among the library's ops, or none.
constexpr const HostRules& host_rules_of(const OpInfo& op) {
  if (op.machine_rules.host) return *op.machine_rules.host;
  const auto* each = detail::host_rules;
  while (each->first != op.tag && each->first != nullptr) ++each;
  return each->second;
}

}  // namespace tilewright
