// Programs of several replicas in 1, 2 or 4 processes: each process checks what it gets, against values worked out by hand or
// against one process with all replicas, bit by bit.
#include "../support/programs.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "../catch.hpp"
#include "../support/count_allocations.hpp"
#include "../support/instance_programs.hpp"
#include "tilewright/data/text_batches.hpp"
#include "tilewright/distributed/distributed.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/xtensor.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using namespace tw::literals;
using support::load, support::store;
using tw::CollectiveOperator, tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;

using Floats = std::vector<float>;
template <class Array>
auto elements(const Array& array) {
  return std::vector(array.data(), array.data() + array.size());
}
tw::distributed::Processes& processes() { return tw::distributed::Processes::world(); }

using namespace instance_programs;

// ---- one program with all kinds of collectives

struct Rounds {
  constexpr Tensor operator()(Tensor x) const { return collectives::replicated_all_reduce(x * 0.3) - x; }
};
struct Reduce {
  constexpr Tensor operator()(Tensor x) const { return collectives::replicated_all_reduce(x); }
};
struct Double {
  constexpr Tensor operator()(Tensor x) const { return x * 2; }
};
/// Groups of neighbours, of replicas in different processes, and of all; tensors that travel with their message and larger ones.
constexpr void exchanges(Ir& ir) {
  ir.set_replication_factor(4);
  ir.set_num_host_transfers(2);
  const auto stream = ir.h2d_stream("x", {70, 50});
  const Tensor x = ops::host_load(stream) + ops::host_load(stream) * 3;
  const Tensor row = ops::sum(x, {0}), half = ops::cast(x, tw::float16), whole = ops::cast(x * 100, tw::int32);
  const auto pairs = ir.replica_grouping(1, 2), halves = ir.replica_grouping(2, 2);
  store("sum", collectives::replicated_all_reduce(x));
  store("row_sum", collectives::replicated_all_reduce(row));
  store("product", collectives::replicated_all_reduce(row, {.op = CollectiveOperator::mul, .group = halves}));
  store("largest", collectives::replicated_all_reduce(x, {.op = CollectiveOperator::max, .group = pairs}));
  store("half_mean", collectives::replicated_all_reduce(half, {.op = CollectiveOperator::mean}));
  store("whole_mean", collectives::replicated_all_reduce(whole, {.op = CollectiveOperator::mean, .group = halves}));
  store("gathered", collectives::replicated_all_gather(x, {.axis = 1, .group = halves}));
  store("row_gathered", collectives::replicated_all_gather(row));
  store("pair_gathered", collectives::replicated_all_gather(x, {.axis = 1, .group = pairs}));
  store("slice", collectives::replicated_slice(x, {.group = pairs}));
  store("scattered", collectives::replicated_reduce_scatter(x));
  store("row_scattered", collectives::replicated_reduce_scatter(row, {.group = halves}));
  const Tensor columns = (x * 1).T();
  collectives::replicated_all_reduce_(columns, {.group = pairs});
  store("columns", columns);
  store("looped", tw::repeat(ir.create_graph(Rounds(), x), 3, x)[0]);
  const Tensor condition = load(ir, "condition", {}, tw::boolean);
  store("branch",
        tw::conditional(condition, {ir.create_graph(Reduce(), row), {row}}, {ir.create_graph(Double(), row), {row}})[0]);
}

/// Numbers of which some are dropped, by a seed of each replica.
constexpr void dropped(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor seed = load(ir, "seed", {2}, tw::uint32);
  store("y", ops::dropout(ops::random_uniform(seed, {100}), seed, 0.5));
}

/// Variables in groups of all kinds, each changed by its replica's input.
constexpr void groups(Ir& ir) {
  ir.set_replication_factor(4);
  const Tensor x = load(ir, "x", {}) + ir.constant({0}, {2});
  const auto mirrored = ir.replica_grouping_from_assignments({0, 1, 1, 0});
  const Tensor variables[] = {
      ir.variable(tw::normal(0, 1), {2}, tw::float32, "all"),
      ir.variable(tw::normal(0, 1), {2}, tw::float32, "pairs", {.replica_grouping = ir.replica_grouping(1, 2)}),
      ir.variable(tw::normal(0, 1), {2}, tw::float32, "halves", {.replica_grouping = ir.replica_grouping(2, 2)}),
      ir.variable(tw::normal(0, 1), {2}, tw::float32, "mirrored", {.replica_grouping = mirrored}),
      ir.variable(tw::normal(0, 1), {2}, tw::float32, "each",
                  {.replica_grouping = mirrored, .retrieval_mode = tw::RetrievalMode::all_replicas})};
  for (const Tensor variable : variables) {
    ops::accumulate_(variable, x);
    store(tw::text(variable.name(), "_out").view(), variable);
  }
}

constexpr void print(Ir& ir) {
  ir.set_replication_factor(4);
  ops::print_tensor(load(ir, "x", {}), {.title = "x"});
}

/// The part of an array that has all replicas on an axis.
template <std::size_t axis, class Array>
auto own_part(const Array& array, std::int64_t first, std::int64_t count) {
  if constexpr (axis == 0) return xt::eval(xt::view(array, xt::range(first, first + count)));
  else return xt::eval(xt::view(array, xt::all(), xt::range(first, first + count)));
}

}  // namespace

TEST_CASE("groups of one replica: each adds to its own values") {
  if (processes().count() > 2) return;
  tw::distributed::Session<add_one> session;
  CHECK(session.instance_replication_factor() == 2 / processes().count());
  session.run();
  const auto v = session.get_tensor_data("v"_s);
  CHECK(v.dimension() == 2);
  CHECK(elements(v) == Floats{1, 2, 3, 4, 5, 6, 7, 8});
}

TEMPLATE_TEST_CASE_SIG("shards that are gathered, and their gradient that is scattered", "", ((auto mean, auto add), mean, add),
                       (shards<CollectiveOperator::mean>, shards<CollectiveOperator::add>),
                       (remote_shards<CollectiveOperator::mean>, remote_shards<CollectiveOperator::add>)) {
  if (processes().count() > 2) return;
  tw::distributed::Session<mean> of_mean;
  const auto outputs = of_mean.run();
  CHECK(elements(outputs["whole"_s]) == Floats(static_cast<std::size_t>(2 * of_mean.instance_replication_factor()), 1.f));
  CHECK(elements(of_mean.get_tensor_data("v"_s)) == Floats{2, 2});
  tw::distributed::Session<add> of_sum;
  of_sum.run();
  CHECK(elements(of_sum.get_tensor_data("v"_s)) == Floats{3, 3});
}

TEST_CASE("groups with a stride, in shards over a part of a group") {
  tw::distributed::Session<strided_shards> session;
  const auto outputs = session.run();
  const auto whole = outputs["whole"_s];
  REQUIRE(whole.shape() == std::array<std::size_t, 3>{static_cast<std::size_t>(16 / processes().count()), 3, 2});
  for (std::int64_t r = 0; r < session.instance_replication_factor(); ++r)
    for (int i = 0; i < 6; ++i) CHECK(whole.data()[r * 6 + i] == static_cast<float>((session.first_replica() + r) % 4 * 6 + i));
  Floats expected;
  for (int i = 0; i < 4 * 6; ++i) expected.push_back(static_cast<float>(i + 1));
  CHECK(elements(session.get_tensor_data("v"_s)) == expected);
}

TEST_CASE("collectives have the bits of one process, for any number of threads") {
  auto x = xt::xtensor<float, 4>::from_shape({2, 4, 70, 50});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 2654435761u % 10007) / 3000.f - 1.5f;
  const xt::xtensor<bool, 2> condition{{true, true, true, true}, {true, true, true, true}};
  tw::Session<exchanges> whole({.threads = 1});
  const auto expected = whole.run("x"_s = x, "condition"_s = condition);
  for (const int threads : {1, 3}) {
    tw::distributed::Session<exchanges> session({.threads = threads});
    const auto first = session.first_replica(), count = session.instance_replication_factor();
    const auto own = own_part<1>(x, first, count);
    const auto own_condition = own_part<1>(condition, first, count);
    for (int run = 0; run < 3; ++run) {
      const auto outputs = session.run("x"_s = own, "condition"_s = own_condition);
      const auto compare = [&](auto name) {
        CHECK(elements(outputs[name]) == elements(own_part<1>(expected[name], first, count)));
      };
      compare("sum"_s), compare("row_sum"_s), compare("product"_s), compare("largest"_s), compare("half_mean"_s);
      compare("whole_mean"_s), compare("gathered"_s), compare("row_gathered"_s), compare("pair_gathered"_s), compare("slice"_s);
      compare("scattered"_s), compare("row_scattered"_s), compare("columns"_s), compare("looped"_s), compare("branch"_s);
    }
    CHECK(support::allocations_of([&] {
            for (int run = 0; run < 20; ++run) session.run("x"_s = own, "condition"_s = own_condition);
          }) == 0);
  }
}

TEST_CASE("variables are those of all replicas on each process, wherever they are") {
  const xt::xtensor<float, 1> x{10, 20, 30, 40};
  tw::Session<groups> whole({.seed = 3});
  tw::distributed::Session<groups> session({.seed = 3});
  const auto first = session.first_replica(), count = session.instance_replication_factor();
  const auto own = own_part<0>(x, first, count);
  const auto compare = [&] {
    const auto expected = whole.run("x"_s = x);
    const auto outputs = session.run("x"_s = own);
    const auto compare_one = [&](auto name, auto output) {
      CHECK(elements(outputs[output]) == elements(own_part<0>(expected[output], first, count)));
      CHECK(elements(session.get_tensor_data(name)) == elements(whole.get_tensor_data(name)));
    };
    compare_one("all"_s, "all_out"_s), compare_one("pairs"_s, "pairs_out"_s), compare_one("halves"_s, "halves_out"_s);
    compare_one("mirrored"_s, "mirrored_out"_s), compare_one("each"_s, "each_out"_s);
  };
  compare();
  const xt::xtensor<float, 2> values{{1, 2}, {3, 4}};
  whole.write_variable_data("mirrored"_s, values), session.write_variable_data("mirrored"_s, values);
  compare();
  whole.weights_to_host(), session.weights_to_host();
  whole.detach(), session.detach();
  whole.attach(), session.attach();
  compare();
  tw::Session<groups> copy;
  copy.load_from_session(session);
  CHECK(elements(copy.get_tensor_data("pairs"_s)) == elements(whole.get_tensor_data("pairs"_s)));
}

TEST_CASE("arrays for streams have an axis of the process's replicas") {
  tw::distributed::Session<groups> session;
  const auto count = static_cast<std::size_t>(session.instance_replication_factor());
  CHECK(session.expected_inputs()[0].host_shape == tw::Shape{static_cast<std::int64_t>(count)});
  const std::string expected = "run: 'x' has shape (3,): (" + std::to_string(count) +
                               ",) expected, where 4 is the replication factor, of which each process has its part";
  CHECK_THROWS_WITH((session.run("x"_s = xt::xtensor<float, 1>{1, 2, 3})), expected);
  CHECK_THROWS_WITH((session.run("x"_s = std::array<float, 3>{})), expected);
  Floats all(2 * count), more(all);
  xt::xtensor<float, 2> pairs({count, 2}), halves(pairs), mirrored(pairs), each(pairs), everything(pairs);
  session.run_with_outputs("x"_s = Floats(count, 1.f), "all_out"_s = everything, "pairs_out"_s = pairs, "halves_out"_s = halves,
                           "mirrored_out"_s = mirrored, "each_out"_s = each);
  CHECK(elements(everything) == elements(session.run("x"_s = Floats(count, 0.f))["all_out"_s]));

  auto outputs = session.create_host_outputs();
  CHECK(outputs["pairs_out"_s].shape() == pairs.shape());
  const Floats x(count, 2.f);
  session.run_with_outputs(outputs, "x"_s = x);
  CHECK(elements(outputs["all_out"_s]) == elements(session.run("x"_s = Floats(count, 0.f))["all_out"_s]));
  outputs["pairs_out"_s] = xt::zeros<float>({3, 2});
  CHECK_THROWS_WITH(session.run_with_outputs(outputs, "x"_s = x),
                    "run_with_outputs: 'pairs_out' has shape (3, 2): (" + std::to_string(count) +
                        ", 2) expected, where 4 is the replication factor, of which each process has its part");
}

TEST_CASE("text batches of the processes are the parts of one batch") {
  std::vector<std::int32_t> text(1000);
  std::iota(text.begin(), text.end(), 0);
  const tw::data::TextBatchesOptions options{.batch_size = 16, .context = 5, .seed = 2};
  tw::distributed::Session<exchanges> session({.threads = 1});  // whose runs take two elements of a stream
  tw::data::TextBatches whole(text, options), part(text, tw::distributed::shard(session, options));
  const auto count = static_cast<std::size_t>(processes().count()), rank = static_cast<std::size_t>(processes().rank());
  const std::size_t run = 16 / 2 / count;
  for (int step = 0; step < 3; ++step) {
    const auto& all = whole.next().tokens;
    const auto& own = part.next().tokens;
    REQUIRE(own.shape(0) == 2 * run);
    for (std::size_t row = 0; row < 2 * run; ++row) CHECK(own(row, 4) == all((row / run * count + rank) * run + row % run, 4));
  }
  CHECK(part.state() == whole.state());
}

TEST_CASE("a run of several processes allocates nothing") {
  tw::distributed::Session<groups> session({.threads = 1});
  const Floats x(static_cast<std::size_t>(session.instance_replication_factor()), 1.f);
  auto outputs = session.create_host_outputs();
  CHECK(support::allocations_of([&] {
          for (int run = 0; run < 20; ++run) session.run("x"_s = x), session.run_with_outputs(outputs, "x"_s = x);
        }) == 0);
  CHECK(support::allocations_of([] { tw::distributed::Session<groups>(); }) > 0);  // the counter works
}

TEST_CASE("random numbers depend on the seeds of the program's replicas") {
  const auto seeds = tw::create_seeds(7, {.replicas = 4});
  tw::Session<dropped> whole;
  tw::distributed::Session<dropped> session;
  const auto first = session.first_replica(), count = session.instance_replication_factor();
  const xt::xtensor<std::uint32_t, 2> all = xt::view(seeds, 0, 0);
  const auto expected = whole.run("seed"_s = all);
  const auto found = session.run("seed"_s = own_part<0>(all, first, count));
  CHECK(elements(found["y"_s]) == elements(own_part<0>(expected["y"_s], first, count)));
  const Floats y = elements(expected["y"_s]);
  CHECK(!std::equal(y.begin(), y.begin() + 100, y.begin() + 100));  // replicas differ
}

TEST_CASE("print_tensor says which replica of the program it is") {
  tw::distributed::Session<print> session({.threads = 1});
  const auto count = session.instance_replication_factor();
  std::ostringstream printed, expected;
  std::ostream* const before = tw::set_print_stream(&printed);
  session.run("x"_s = Floats(static_cast<std::size_t>(count), 1.5f));
  tw::set_print_stream(before);
  for (std::int64_t r = 0; r < count; ++r) expected << "replica " << session.first_replica() + r << ": x: 1.5\n";
  CHECK(printed.str() == expected.str());
}
