// labels: asan strict tsan ubsan
// Tensors that replicas have shards of: graphs that gather and reduce them, and training with them.
#include <algorithm>
#include <cmath>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"

namespace {

using tw::Ir, tw::NamedTensors, tw::Tensor;
namespace ops = tw::ops;
using support::load;

/// A model whose variables have room for two sets in remote memory.
struct Affine : tw::Module<Affine> {
  constexpr Tensor build(Tensor x) {
    const Tensor scale = add_variable_input("scale", tw::values({1, 2, 3, 4, 5, 6, 7, 8}), {2, 4});
    return x * scale + add_variable_input("bias", tw::values({10, 20, 30}), {3})[0];
  }
};
/// Its shards are loaded, gathered, and stored when they have changed.
constexpr void use_shards_in_remote_memory(Ir& ir, Tensor x) {
  const auto [whole_factories, graph] = Affine().create_graph(x);
  const auto factories = whole_factories.replica_sharded(2);
  const auto buffers = tw::named_variable_buffers(factories, 2);
  factories.init_remote(buffers, 1);
  const NamedTensors shards = tw::load_remote_graph(ir, buffers).call(1);
  const auto gather = tw::all_gather_replica_sharded_graph(ir, shards, factories.shard_groupings());
  store("affine", graph.bind(gather.call(shards)).call(x));
  const NamedTensors changed = shards.transform<Tensor>("", [](std::string_view, Tensor shard) { return shard * 2; });
  tw::store_remote_graph(ir, buffers).bind(changed).call(ir.constant(1, tw::uint32));
}

/// The sums over groups of four of tensors that become shards of four or two, or stay whole; all of them gathered; the above.
constexpr void reduce_and_gather(Ir& ir) {
  ir.set_replication_factor(8);
  const Tensor x = load(ir, "x", {2, 4});
  const NamedTensors tensors = NamedTensors::from_dict(
      {{"a.four", x}, {"a.two", x * 10}, {"odd", x.reshape({8})[tw::slice(0, 3)]}});
  const auto quads = ir.replica_grouping(1, 4), pairs = ir.replica_grouping(1, 2);
  const auto [reduce, reduced_names] = tw::reduce_replica_sharded_graph(
      ir, tensors, {.shard_groups = tw::NamedReplicaGrouping::from_dict({{"a.two", pairs}}), .replica_group = quads});
  const auto reduced = NamedTensors::pack(reduced_names, reduce.bind(tensors).call());
  const auto [gather, names] = tw::all_gather_replica_sharded_graph(
      ir, reduced, tw::NamedReplicaGrouping::from_dict({{"a.four", quads}, {"a.two", pairs}}));
  const auto gathered = NamedTensors::pack(names, gather.bind(reduced).call());
  store("four", reduced["a.four"]);
  store("two", reduced["a.two"]);
  store("odd", reduced["odd"]);
  for (const auto& [name, tensor] : gathered.named_tensors()) store(tw::text("all.", name).view(), tensor);
  use_shards_in_remote_memory(ir, x);
}

/// (x f1) f2 on eight replicas: `parts` of them have a part each of the columns of f1 and of the rows of f2, and as many groups
/// of those as there are have a part each of the batch. The replicas with the same part of the weights keep a shard of it each,
/// and of Adam's moments.
constexpr std::int64_t replicas = 8, batch = 8, inputs = 6, hidden = 8, outputs = 4;
template <int parts>
struct TensorParallel : tw::Module<TensorParallel<parts>> {
  constexpr Tensor build(Tensor x) {
    const tw::VariableInputOptions options{.replica_grouping = this->ir().replica_grouping(parts)};
    const Tensor f1 = this->add_variable_input("f1", tw::zeros(), {inputs, hidden / parts}, tw::float32, options);
    const Tensor f2 = this->add_variable_input("f2", tw::zeros(), {hidden / parts, outputs}, tw::float32, options);
    return x.matmul(f1).matmul(f2);
  }
};
template <int parts>
constexpr void train_tensor_parallel(Ir& ir) {
  ir.set_replication_factor(replicas);
  const std::int64_t rows = batch * parts / replicas;
  const Tensor x = load(ir, "x", {rows, inputs}), target = load(ir, "target", {rows, outputs});
  const auto [whole_factories, forward] = TensorParallel<parts>().create_graph(x);
  const auto factories = whole_factories.replica_sharded();
  const NamedTensors shards = factories.init();
  const auto variables = tw::all_gather_replica_sharded_graph(ir, shards, factories.shard_groupings()).call(shards);

  const auto call = forward.bind(variables).call_with_info(x);
  const Tensor y = ops::collectives::replicated_all_reduce(call.output(0), {.group = ir.replica_grouping(1, parts)});
  store("y", y);
  const auto backward = tw::autodiff(forward);
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info((y - target) * (2.0 / static_cast<double>(rows * outputs)),
                                                     info.inputs_dict(call));
  const NamedTensors gradients = variables.remap(info.fwd_parent_ins_to_grad_parent_outs(call, backward_call));
  const auto copies = ir.replica_grouping(parts);
  const auto means = tw::reduce_replica_sharded_graph(
                         ir, gradients, {.op = tw::CollectiveOperator::mean, .shard_groups = copies, .replica_group = copies})
                         .call(gradients);
  for (const auto& [name, shard] : shards.named_tensors()) {
    const auto [state, adam] = tw::create_graph(tw::optim::Adam(), shard, means[name.view()],
                                                tw::optim::AdamParameters{.lr = 0.01, .first_order_dtype = tw::float32});
    adam.bind(state.init(name.view())).call(shard, means[name.view()]);
  }
}

/// Of each replica the columns of f1, or the rows of f2, that its part of the layer has: an element of the whole matrix.
struct Matrix {
  bool by_columns;
  std::int64_t rows, columns;

  std::size_t element(std::int64_t part, std::int64_t parts, std::int64_t i) const {
    if (!by_columns) return static_cast<std::size_t>(part * rows * columns / parts + i);
    const std::int64_t width = columns / parts;
    return static_cast<std::size_t>(i / width * columns + part * width + i % width);
  }
};
/// What a session should have of a matrix: the parts one behind the other.
Floats in_parts(const std::vector<double>& whole, const Matrix& matrix, std::int64_t parts) {
  Floats result;
  for (std::int64_t part = 0; part < parts; ++part)
    for (std::int64_t i = 0; i < matrix.rows * matrix.columns / parts; ++i)
      result.push_back(static_cast<float>(whole[matrix.element(part, parts, i)]));
  return result;
}
/// The same of what replicas keep for their shards: replica r has shard r / parts of part r mod parts.
Floats in_shards(const std::vector<double>& whole, const Matrix& matrix, std::int64_t parts) {
  const Floats all = in_parts(whole, matrix, parts);
  const std::int64_t shard = static_cast<std::int64_t>(all.size()) / replicas, part = shard * replicas / parts;
  Floats result;
  for (std::int64_t replica = 0; replica < replicas; ++replica)
    for (std::int64_t i = 0; i < shard; ++i)
      result.push_back(all[static_cast<std::size_t>(replica % parts * part + replica / parts * shard + i)]);
  return result;
}
/// The largest difference, as a share of the largest element.
float share_of_difference(const Floats& actual, const Floats& expected) {
  REQUIRE(actual.size() == expected.size());
  float most = 0, largest = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    most = std::max(most, std::abs(actual[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return most / largest;
}

/// Three steps, compared with one machine's.
template <int parts, tw::Target target>
void check_tensor_parallel() {
  const auto of = [](const std::string& name) { return reference().at("tensor_parallel." + name); };
  const Matrix f1{true, inputs, hidden}, f2{false, hidden, outputs};
  TestSession<train_tensor_parallel<parts>, target> session;
  const auto write = [&](auto name, const std::vector<double>& values, const Matrix& matrix) {
    auto array = session.get_tensor_data(name);
    std::ranges::copy(in_parts(values, matrix, parts), array.data());
    session.write_variable_data(name, array);
  };
  write("f1"_s, of("f1"), f1);
  write("f2"_s, of("f2"), f2);
  // of each step, the rows of each replica: those with parts of the weights share them
  static constexpr std::int64_t rows = batch * parts / replicas;
  const auto rows_of_replicas = [](const std::vector<double>& all, std::int64_t step, std::int64_t width) {
    xt::xtensor<float, 3> array({replicas, rows, static_cast<std::size_t>(width)});
    for (std::int64_t replica = 0; replica < replicas; ++replica)
      for (std::int64_t i = 0; i < rows * width; ++i)
        array.data()[replica * rows * width + i] = static_cast<float>(
            all[static_cast<std::size_t>((step * batch + replica / parts * rows) * width + i)]);
    return array;
  };
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto results = session.run("x"_s = rows_of_replicas(of("x"), step, inputs),
                                     "target"_s = rows_of_replicas(of("target"), step, outputs));
    CHECK(share_of_difference(elements(results["y"_s]), elements(rows_of_replicas(of("y"), step, outputs))) < 1e-6F);
  }
  const auto off = [&](auto name, const Floats& expected) {
    return share_of_difference(elements(session.get_tensor_data(name)), expected);
  };
  CHECK(off("f1"_s, in_parts(of("new_f1"), f1, parts)) < 1e-6F);
  CHECK(off("f2"_s, in_parts(of("new_f2"), f2, parts)) < 1e-6F);
  CHECK(off("f1.first_order"_s, in_shards(of("f1.first_order"), f1, parts)) < 1e-6F);
  CHECK(off("f2.first_order"_s, in_shards(of("f2.first_order"), f2, parts)) < 1e-6F);
  // 1 - 0.999 is 0.00099998713 in float32
  CHECK(off("f1.second_order"_s, in_shards(of("f1.second_order"), f1, parts)) < 2e-5F);
  CHECK(off("f2.second_order"_s, in_shards(of("f2.second_order"), f2, parts)) < 2e-5F);
}

/// On groups of four of eight replicas.
template <tw::Target target>
void check_reduced_and_gathered() {
  TestSession<reduce_and_gather, target> session;
  xt::xtensor<float, 3> x({8, 2, 4});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * i % 17);
  const auto results = session.run("x"_s = x);
  Floats sums, tens, four, two, odd, affine;  // of each replica
  for (std::size_t replica = 0; replica < 8; ++replica)
    for (std::size_t i = 0; i < 8; ++i) {
      float sum = 0;
      for (std::size_t member = 0; member < 4; ++member) sum += x.data()[(replica / 4 * 4 + member) * 8 + i];
      sums.push_back(sum);
      tens.push_back(10 * sum);
      if (i / 2 == replica % 4) four.push_back(sum);
      if (i / 4 == replica % 2) two.push_back(10 * sum);
      if (i < 3) odd.push_back(sum);
      affine.push_back(x.data()[replica * 8 + i] * static_cast<float>(i + 1) + 10);
    }
  CHECK(elements(results["four"_s]) == four);
  CHECK(elements(results["two"_s]) == two);
  CHECK(elements(results["odd"_s]) == odd);
  CHECK(elements(results["all.a.four"_s]) == sums);
  CHECK(elements(results["all.a.two"_s]) == tens);
  CHECK(elements(results["all.odd"_s]) == odd);
  CHECK(elements(results["affine"_s]) == affine);
  CHECK(elements(session.get_tensor_data("scale"_s)) == Floats{2, 4, 6, 8, 10, 12, 14, 16});
  CHECK(elements(session.get_tensor_data("bias"_s)) == Floats{20, 40, 60});
  session.run("x"_s = x);
  CHECK(elements(session.get_tensor_data("scale"_s)) == Floats{4, 8, 12, 16, 20, 24, 28, 32});
}

}  // namespace

TEST_CASE("named tensors are reduced to shards, and gathered", "[replica_sharding]") {
  check_reduced_and_gathered<tw::cpu>();
  check_reduced_and_gathered<tw::ipu_model>();
}

TEST_CASE("parts of layers on replicas, with sharded weights and moments, train as one machine does", "[replica_sharding]") {
  check_tensor_parallel<4, tw::cpu>();
  check_tensor_parallel<2, tw::ipu_model>();
}
