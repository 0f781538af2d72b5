#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/ops/collective/identical_reduce.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/nn/norm.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright {

namespace detail {
/// Checks the operands of layer_norm_distributed; fails if they do not fit.
constexpr bool check_distributed_norm(Tensor x, Tensor weight, Tensor bias, double eps) {
  if (!x.is_usable() || !weight.is_usable() || !bias.is_usable()) return false;
  const auto fail = [&](const auto&... message) {
    x.ir().fail(text("layer_norm_distributed: ", message..., " expected"));
    return false;
  };
  if (!is_floating_point(x.dtype()) || !has_arithmetic(x.dtype())) return fail(to_text(x.spec()), ": ", floating_point_dtypes());
  if (x.rank() == 0) return fail(to_text(x.spec()), ": at least one axis");
  const TensorSpec line{{x.shape(-1)}, x.dtype()};
  if (weight.spec() != line) return fail("weight ", to_text(weight.spec()), " for ", to_text(x.spec()), ": ", to_text(line));
  if (bias.spec() != line) return fail("bias ", to_text(bias.spec()), " for ", to_text(x.spec()), ": ", to_text(line));
  return check_parameter(x.ir(), "layer_norm_distributed", "eps", eps);
}
}  // namespace detail

namespace ops {
/// Returns ops::layer_norm of lines that are cut over the n replicas of a group: (x - mean) / sqrt(variance + eps) * weight +
/// bias, where mean and variance are those of the whole line. x: (..., w / n) on each replica, float16, bfloat16, float32 or
/// float64; weight, bias: (w / n,), the replica's part, of x's dtype. The result has x's shape and dtype; half precision is
/// computed in float32 and rounded once. The group is by default all replicas.
///
/// For R lines, a run moves what two all-reduces of R sums move, and the gradient as much. Errors: operands of other shapes or
/// dtypes; eps below 0; a group of another Ir; a group without a constant stride.
[[nodiscard]] constexpr Tensor layer_norm_distributed(Tensor x, Tensor weight, Tensor bias, double eps = 1e-5,
                                                      const ReplicaGrouping& group = {}) {
  if (!detail::check_distributed_norm(x, weight, bias, eps)) return Tensor::invalid(x.ir());
  const ReplicaGroups groups = collectives::detail::groups_for("layer_norm_distributed", x, group);
  if (groups.group_size == 1) return layer_norm(x, weight, bias, eps);
  const DType wide = is_half(x.dtype()) ? float32 : x.dtype();
  const auto mean_of_line = [&](Tensor t) {  // all replicas use the mean, so each has a part of its gradient
    const Tensor total = collectives::replicated_all_reduce_identical_grad_inputs(sum(t, -1, true), group);
    return collectives::replicated_all_reduce_identical_inputs(total, group) / (x.shape(-1) * groups.group_size);
  };
  const Tensor elements = x.cast(wide), centred = elements - mean_of_line(elements);
  const Tensor deviation = sqrt(mean_of_line(centred * centred) + eps);
  return (centred / deviation * weight.cast(wide) + bias.cast(wide)).cast(x.dtype());
}

}  // namespace ops

}  // namespace tilewright
