#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <string_view>

#include "tilewright/layers/linear.hpp"
#include "tilewright/ops/collective/identical_reduce.hpp"
#include "tilewright/ops/collective/shard_indices.hpp"
#include "tilewright/ops/index/gather.hpp"

// Layers whose weights are divided among replicas (tensor parallelism, "Megatron-LM", arXiv 1909.08053).

namespace tilewright::layers {

/// Options of layers whose weights are divided among the replicas of a group. Groups have neighbouring replicas.
struct TensorParallelOptions {
  int group_size = 0;  ///< number of replicas that have a part of the weights each; 0: all replicas
  Flag bias = true;  ///< of linear layers: whether the layer has the variable `bias`
  OptionalNumber std{};  ///< standard deviation of normal initial weights, with zero biases; none: the layer's default
};

namespace detail {
/// Returns the groups of replicas that have the parts of a layer. Fails for a group size that does not divide the number of
/// replicas, or the extent that is divided, called `name` in errors. Without a name, no extent is checked.
constexpr ReplicaGrouping tensor_parallel_group(Ir& ir, std::string_view layer, const TensorParallelOptions& options,
                                                std::string_view name = {}, std::int64_t extent = 0) {
  const std::int64_t replicas = ir.replication_factor(), size = options.group_size == 0 ? replicas : options.group_size;
  if (size < 1 || replicas % size != 0) {
    ir.fail(text(layer, ": group_size ", options.group_size, " of ", replicas, " replicas: a divisor of ", replicas,
                 ", or 0 for all, expected"));
    return {};
  }
  if (!name.empty() && (extent < 1 || extent % size != 0)) {
    ir.fail(text(layer, ": ", name, " ", extent, " over groups of ", size, " replicas: a multiple of ", size, " expected"));
    return {};
  }
  return ir.replica_grouping(1, size);
}
/// Returns the initialiser of a linear layer's weights, or of its biases, for `inputs` features.
constexpr Initialiser first_values_of_linear(const TensorParallelOptions& options, std::int64_t inputs, bool is_bias) {
  if (!options.std.given) return within_root(inputs);
  return is_bias ? zeros() : normal(0, options.std.value);
}
}  // namespace detail

/// torch.nn.Linear whose columns are divided among the n replicas of a group: each computes its part of the results' features. x:
/// (..., in_features), equal on all replicas of the group; float16, bfloat16 or float32. Result: (..., out_features / n), the
/// replica's part of x weight + bias. Its gradient with respect to x is summed over the group.
///
/// Variables, of x's dtype, with a part for each replica of a group: `weight` (in_features, out_features / n), columns of
/// Linear's weight, and `bias` (out_features / n,). Initial values are those of Linear. Errors: a group size that does not divide
/// out_features, or the number of replicas.
template <int out_features, TensorParallelOptions options = {}>
struct ColumnParallelLinear : Module<ColumnParallelLinear<out_features, options>> {
  constexpr Tensor build(Tensor x) {
    const ReplicaGrouping group = detail::tensor_parallel_group(this->ir(), "ColumnParallelLinear", options, "out_features",
                                                                out_features);
    if (!group.valid()) return Tensor::invalid(this->ir());
    const std::int64_t part = out_features / group.group_size();
    const VariableInputOptions of_part{.replica_grouping = group.transpose()};
    const auto first = [&](bool is_bias) { return detail::first_values_of_linear(options, x.shape(-1), is_bias); };
    const Tensor weight = this->add_variable_input("weight", first(false), {x.shape(-1), part}, x.dtype(), of_part);
    Tensor bias;
    if constexpr (options.bias) bias = this->add_variable_input("bias", first(true), {part}, x.dtype(), of_part);
    return detail::linear(ops::collectives::replicated_all_reduce_identical_inputs(x, group), weight, bias);
  }
};

/// torch.nn.Linear whose rows are divided among the n replicas of a group, and whose result is the sum over the group. x: (...,
/// in_features / n), the replica's part of the features, such as the result of a ColumnParallelLinear; float16, bfloat16 or
/// float32. Result: (..., out_features), x weight + bias of the whole x, equal on all replicas of the group.
///
/// Variables, of x's dtype: `weight` (in_features / n, out_features), rows of Linear's weight, with a part for each replica of a
/// group; `bias` (out_features,), the same on all replicas. Initial values are those of Linear. Errors: a group size that does
/// not divide the number of replicas.
template <int out_features, TensorParallelOptions options = {}>
struct RowParallelLinear : Module<RowParallelLinear<out_features, options>> {
  constexpr Tensor build(Tensor x) {
    const ReplicaGrouping group = detail::tensor_parallel_group(this->ir(), "RowParallelLinear", options);
    if (!group.valid()) return Tensor::invalid(this->ir());
    const VariableInputOptions of_part{.replica_grouping = group.transpose()};
    const auto first = [&](bool is_bias) {
      return detail::first_values_of_linear(options, x.shape(-1) * group.group_size(), is_bias);
    };
    const Tensor weight = this->add_variable_input("weight", first(false), {x.shape(-1), out_features}, x.dtype(), of_part);
    const Tensor sum = ops::collectives::replicated_all_reduce_identical_grad_inputs(x.matmul(weight), group);
    if constexpr (!options.bias) return sum;
    else return sum + this->add_variable_input("bias", first(true), {out_features}, x.dtype());
  }
};

/// torch.nn.Embedding whose rows, a vocabulary, are divided among the n replicas of a group: replica i of a group has the i-th
/// part. indices: (...), integers from 0 to num_embeddings - 1, equal on all replicas of the group. Result: (..., embedding_dim),
/// float32, equal on all replicas of the group. An index outside of the table is a fault: the run throws FaultError when it ends.
///
/// Variable: `weight` (num_embeddings / n, embedding_dim), with a part for each replica of a group. Initial values: normal with
/// mean 0 and the standard deviation `std`, by default 1. Errors: indices that are not integers; a group size that does not
/// divide num_embeddings, or the number of replicas.
template <int num_embeddings, int embedding_dim, TensorParallelOptions options = {}>
struct VocabParallelEmbedding : Module<VocabParallelEmbedding<num_embeddings, embedding_dim, options>> {
  constexpr Tensor build(Tensor indices) {
    namespace collectives = ops::collectives;
    group_ = detail::tensor_parallel_group(this->ir(), "VocabParallelEmbedding", options, "num_embeddings", num_embeddings);
    if (!group_.valid()) return Tensor::invalid(this->ir());
    const std::int64_t part = num_embeddings / group_.group_size();
    const double std = options.std.given ? options.std.value : 1;
    weight_ = this->add_variable_input("weight", normal(0, std), {part, embedding_dim}, float32,
                                       {.replica_grouping = group_.transpose()});
    const Tensor places = tilewright::detail::shard_indices(collectives::replicated_all_reduce_identical_inputs(indices, group_),
                                                            part, group_);
    const Tensor rows = ops::tied_gather(weight_, places, 0, {.zero_OOR = true});  // of other replicas' indices: zeros
    return collectives::replicated_all_reduce_identical_grad_inputs(rows, group_);
  }
  /// Returns the replica's part of x weight^T, (..., num_embeddings / n): logits for ops::cross_entropy_sharded_loss. Call it
  /// after the embedding, in the same graph. x: (..., embedding_dim), float32, equal on all replicas of the group.
  constexpr Tensor logits(Tensor x) const {
    if (!weight_.valid())
      return x.ir().fail(
          text("VocabParallelEmbedding: logits of ", to_text(x.spec()), " before the embedding was called: a call expected"));
    return ops::collectives::replicated_all_reduce_identical_inputs(x, group_).matmul(weight_.T());
  }

 private:
  Tensor weight_;
  ReplicaGrouping group_;
};

}  // namespace tilewright::layers
