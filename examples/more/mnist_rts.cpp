// Trains the network of mnist.cpp on four replicas, as mnist_replicas.cpp does, with replicated tensor sharding: each replica
// keeps a quarter of each variable, and updates no more than that. The results are the same to the last bit, and with the
// replicas in two or four processes, too: `./dev launch 2 mnist_rts`.
//
// labels: instances more strict
// test: --limit-batches 100 --threads 1
// last-line-of: mnist_replicas
// processes: 2 4
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --limit-batches 12 --device ipu_model
// strict: --strict
// last-line-of: mnist_replicas
// test: --data $TILEWRIGHT_MNIST --limit-batches 600
// test-needs: TILEWRIGHT_MNIST
// last-line-of: mnist_replicas
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include "../tutorial/net.hpp"
#include "../tutorial/steps.hpp"
#include "../tutorial/training.hpp"

constexpr void train_with_shards(tw::Ir& ir) {
  constexpr int replicas = 4, batch_size = 8;
  ir.set_replication_factor(replicas);
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {batch_size, 28, 28}));
  const auto labels = tw::ops::host_load(ir.h2d_stream("label", {batch_size}, tw::int32));

  // each variable is sharded, but for the last layer's bias: 10 elements cannot be divided by 4
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const tw::NamedTensors shards = factories.replica_sharded().init();
  const auto [gather, variable_names] = tw::all_gather_replica_sharded_graph(ir, shards);
  const auto variables = tw::NamedTensors::pack(variable_names, gather.bind(shards).call());

  const auto call = forward.bind(variables).call_with_info(images);
  const auto [loss, dy] = tw::ops::cross_entropy_with_grad(call.output(0), labels);
  tw::ops::host_store(ir.d2h_stream("loss", loss.spec()), loss);
  const auto backward = tw::autodiff(forward);
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(dy, info.inputs_dict(call));
  const auto gradients = variables.remap(info.fwd_parent_ins_to_grad_parent_outs(call, backward_call));

  // the mean of all replicas' gradients: of each variable the shard that this replica has
  const auto [reduce, gradient_names] = tw::reduce_replica_sharded_graph(ir, gradients, {.op = tw::CollectiveOperator::mean});
  const auto means = tw::NamedTensors::pack(gradient_names, reduce.bind(gradients).call());
  for (const auto& [name, shard] : shards.named_tensors())
    tw::ops::scaled_add_(shard, means[name], {.b = -replicas * learning_rate});
}

int main(int argc, char** argv) {
  return run_mnist<train_with_shards, test_step<Net, 80, 28, 28>>(
      argc, argv, "Trains a network on MNIST, on four replicas that keep a quarter of its variables each, and tests it.");
}
