#pragma once
#include "../op_test.hpp"
#include "tilewright/ops/collective/distributed_norm.hpp"
#include "tilewright/ops/collective/sharded_loss.hpp"

namespace op_tests {

/// Programs of several replicas have their values: run/kernels/collectives and run/programs.
struct Collectives : OpTest {
  static constexpr std::string_view op = "ReplicatedAllReduce";
  static constexpr void handles(auto& list) {
    list.add("replicated_all_reduce", [] { (void)ops::collectives::replicated_all_reduce(Tensor()); });
    list.add("replicated_all_reduce_", [] { (void)ops::collectives::replicated_all_reduce_(Tensor()); });
    list.add("replicated_reduce_scatter", [] { (void)ops::collectives::replicated_reduce_scatter(Tensor()); });
    list.add("replica_sharded_slice", [] { (void)ops::collectives::replica_sharded_slice(Tensor()); });
    list.add("replicated_slice", [] { (void)ops::collectives::replicated_slice(Tensor()); });
    list.add("replicated_all_gather", [] { (void)ops::collectives::replicated_all_gather(Tensor()); });
    list.add("replicated_all_reduce_identical_inputs",
             [] { (void)ops::collectives::replicated_all_reduce_identical_inputs(Tensor()); });
    list.add("replicated_all_reduce_identical_grad_inputs",
             [] { (void)ops::collectives::replicated_all_reduce_identical_grad_inputs(Tensor()); });
    list.add("cross_entropy_sharded_loss", [] { (void)ops::cross_entropy_sharded_loss(Tensor(), Tensor()); });
    list.add("layer_norm_distributed", [] { (void)ops::layer_norm_distributed(Tensor(), Tensor(), Tensor()); });
    list.add("all_reduce", [] { (void)ops::collectives::all_reduce(tw::List<Tensor>{Tensor()}); });
    list.add("all_reduce_identical_inputs",
             [] { (void)ops::collectives::all_reduce_identical_inputs(tw::List<Tensor>{Tensor()}); });
    list.add("all_reduce_identical_grad_inputs",
             [] { (void)ops::collectives::all_reduce_identical_grad_inputs(tw::List<Tensor>{Tensor()}); });
  }
};

}  // namespace op_tests
