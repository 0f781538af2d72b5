#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/ops/collective/shard_indices.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/nn/binary_cross_entropy.hpp"
#include "tilewright/ops/nn/cross_entropy.hpp"
#include "tilewright/ops/reduce/reductions.hpp"
#include "tilewright/ops/shape/concat.hpp"
#include "tilewright/ops/shape/subscript.hpp"

namespace tilewright {

/// Options of cross_entropy_sharded_loss.
struct ShardedLossOptions {
  std::optional<std::int64_t> ignore_index{};  ///< labels of this value are ignored
  Reduction reduction = Reduction::mean;  ///< mean divides by the number of labels that are not ignored
  ReplicaGrouping group{};  ///< replicas that have a shard of the classes each; by default all
};

namespace detail {
/// Checks logits and labels of cross_entropy_sharded_loss; fails if they do not fit.
constexpr bool check_sharded_loss(Tensor logits, Tensor labels) {
  if (!logits.is_usable() || !labels.is_usable()) return false;
  const auto fail = [&](const auto&... message) {
    logits.ir().fail(text("cross_entropy_sharded_loss: ", message..., " expected"));
    return false;
  };
  if (!is_floating_point(logits.dtype()) || !has_arithmetic(logits.dtype()))
    return fail("logits ", to_text(logits.spec()), ": ", floating_point_dtypes());
  if (logits.rank() == 0) return fail("logits ", to_text(logits.spec()), ": at least one axis");
  Shape rows = logits.shape();
  rows.extents[--rows.rank] = 0;
  if (labels.shape() == rows && (labels.dtype() == int32 || labels.dtype() == uint32)) return true;
  return fail("labels ", to_text(labels.spec()), " for logits ", to_text(logits.spec()), ": ", to_text(rows), " int32 or uint32");
}
}  // namespace detail

namespace ops {
/// Returns ops::cross_entropy of logits whose classes are cut over the replicas of a group: log(sum(exp(x))) - x[label], over the
/// classes of all replicas. logits: (..., classes / n) on each of n replicas, float16, bfloat16, float32 or float64; replica i
/// has the i-th part of the classes. labels: (...), int32 or uint32, numbers from 0 to classes - 1, equal on all replicas of the
/// group. Result, equal on these replicas: a scalar, or (...) without a reduction, in logits' dtype; computed in float32, or
/// float64. The gradient of the logits is (softmax(x) - onehot(label)) dloss on each replica. Ignored labels, and labels that are
/// not a class, follow the rules of nll_loss.
///
/// For R rows, a run moves what all-reduces of R maxima and of 2 R sums move, however many classes there are. The gradient moves
/// nothing. Errors: logits or labels of another dtype or shape; a group of another Ir; a group without a constant stride.
///
///     const Tensor logits = head(x);  // a ColumnParallelLinear: (rows, classes / replicas)
///     const Tensor loss = ops::cross_entropy_sharded_loss(logits, labels);
[[nodiscard]] constexpr Tensor cross_entropy_sharded_loss(Tensor logits, Tensor labels, const ShardedLossOptions& options = {}) {
  if (!detail::check_sharded_loss(logits, labels)) return Tensor::invalid(logits.ir());
  const ReplicaGroups groups = collectives::detail::groups_for("cross_entropy_sharded_loss", logits, options.group);
  if (groups.group_size == 1)
    return cross_entropy(logits, labels, {.ignore_index = options.ignore_index, .reduction = options.reduction});
  Ir& ir = logits.ir();
  const ReplicaGrouping group = ir.replica_grouping(groups.stride, groups.group_size);
  const std::int64_t shard = logits.shape(-1);
  const Tensor x = detail::widened(logits);
  const Tensor largest = collectives::replicated_all_reduce((max)(x.detach(), -1, true),
                                                            {.op = CollectiveOperator::max, .group = group});
  const Tensor below = x - largest;  // at most 0, so that no exponential is infinite
  const Tensor places = detail::shard_indices(collectives::replicated_all_reduce_identical_inputs(labels, group), shard, group,
                                              options.ignore_index);
  Shape one_of_each = labels.shape();
  one_of_each.push_back(1);
  const Tensor is_label = equal(ir.constant(range(), {shard}, int32), places.reshape(one_of_each));
  const Tensor sums[] = {sum(exp(below), -1, true), sum(where(is_label, below, 0), -1, true)};
  const Tensor of_all = collectives::replicated_all_reduce_identical_grad_inputs(concat(sums, -1), group);
  const auto part = [&](int number) { return of_all[{ellipsis, number}]; };
  const Tensor counts = greater_equal(places, 0);
  const Tensor losses = where(counts, log(part(0)) - part(1), 0);
  if (options.reduction == Reduction::none) return losses.cast(logits.dtype());
  const Tensor total = sum(losses);
  if (options.reduction == Reduction::sum) return total.cast(logits.dtype());
  return (total / maximum(sum(counts.cast(x.dtype())), 1)).cast(logits.dtype());
}

}  // namespace ops

}  // namespace tilewright
