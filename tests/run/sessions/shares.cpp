// labels: tsan optimised
// Workers that take over parts of steps from each other: whoever computes a part, and when, results are the same, to the bit.
#include "tilewright/execute/threads/shares.hpp"

#include <cmath>
#include <cstring>
#include <thread>
#include <tilewright/execute/executor.hpp>
#include <tilewright/execute/threads/workers.hpp>
#include <tilewright/layers/layer_norm.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/session/initial_values.hpp>
#include <tilewright/train/step.hpp>

#include "../../support/elements.hpp"

using tw::internal::Shares;

TEST_CASE("workers take each part of each step once, also the parts of a worker that never comes") {
  constexpr int workers = 4, steps = 50;
  constexpr std::int64_t parts[] = {9, 1, 64, 5};  // by worker: what it has of each step
  Shares shares(workers);
  for (int missing = 0; missing < workers; ++missing) {
    std::vector<std::atomic<int>> taken(std::size_t(steps * 64 * workers));
    const std::uint32_t before = shares.ticket();
    const auto take_all = [&](int step, int worker, Shares::Side side) {
      while (const Shares::Range range = shares.take(worker, before + 1 + static_cast<unsigned>(step), parts[worker], side,
                                                     Shares::half))
        for (auto part = range.first; part < range.last; ++part)
          ++taken[static_cast<std::size_t>((step * workers + worker) * 64 + part)];
    };
    std::vector<std::thread> threads;
    for (int worker = 0; worker < workers; ++worker)
      if (worker != missing)
        threads.emplace_back([&, worker] {
          for (int step = 0; step < steps; ++step) {
            take_all(step, worker, Shares::Side::first);
            for (int other = 0; other < workers; ++other) take_all(step, other, Shares::Side::last);
          }
        });
    for (auto& thread : threads) thread.join();
    shares.finish(before + steps);
    int wrong = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
      wrong += taken[i] != (static_cast<std::int64_t>(i % 64) < parts[i / 64 % workers] ? 1 : 0);
    CHECK(wrong == 0);
  }
}
TEST_CASE("nothing is left of a step once a later one has begun in its place") {
  Shares shares(1);
  CHECK(shares.take(0, 3, 4, Shares::Side::first, Shares::half).last == 2);
  CHECK(shares.take(0, 3 + Shares::places, 4, Shares::Side::last, Shares::half).first == 2);
  CHECK_FALSE(shares.take(0, 3, 4, Shares::Side::first, Shares::half));
  shares.reset();
  CHECK(shares.take(0, 3, 4, Shares::Side::first, Shares::half));
  for (const std::uint32_t ticket : {0x7fffffffu, 0xfffffff7u, 0xffffffffu, 7u})  // they begin again after the last number
    CHECK(shares.take(0, ticket, 4, Shares::Side::first, Shares::half));
}

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace layers = tw::layers;

struct Block : tw::Module<Block> {
  BOOST_HANA_DEFINE_STRUCT(Block, (layers::LayerNorm<>, norm), (layers::Linear<48>, up), (layers::Linear<24>, down));
  constexpr Tensor build(Tensor x) { return x + down(ops::gelu(up(norm(x)))); }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Block, first), (Block, second), (layers::Linear<10>, head));
  constexpr Tensor build(Tensor x) { return head(second(first(x))); }
};
/// Training, with a batch of which each vertex has some rows.
constexpr void training(Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::AdamWParameters{.lr = 0.01}, {{40, 24}}); }

/// A loop, branches, and elementwise steps that do not wait for each other.
constexpr void control_flow(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {64, 40}));
  const Tensor w = ir.variable(tw::normal(0, 0.1), {40, 40}, tw::float32, "w");
  const auto turn = [](Tensor t, Tensor weight) { return ops::tanh(t.matmul(weight)); };
  const Tensor turned = tw::repeat(ir.create_graph(turn, x, w), 5, {x, w});
  const Tensor total = ops::sum(turned, {0, 1});
  const auto small = [](Tensor t) { return ops::softmax(t, 1); };
  const auto large = [](Tensor t) { return t - ops::mean(t, {0}, true); };
  const Tensor chosen = tw::conditional(ops::greater(total, 0), {ir.create_graph(small, x), {turned}},
                                        {ir.create_graph(large, x), {turned}});
  ops::host_store(ir.d2h_stream("chosen", {64, 40}), chosen);
  ops::host_store(ir.d2h_stream("cumulated", {64, 40}), ops::cumsum(x, 0));
  ops::host_store(ir.d2h_stream("turned", {40, 64}), ops::exp(turned.T()));
  ops::scaled_add_(w, ops::matmul(x.T(), turned), 1.0, 1e-3);
}
/// Two replicas, whose vertices workers share.
constexpr void replicas(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {24, 40}));
  const Tensor w = ir.variable(tw::normal(0, 0.1), {40, 40}, tw::float32, "w");
  const Tensor y = ops::relu(x.matmul(w));
  ops::host_store(ir.d2h_stream("y", {24, 40}), y);
  ops::scaled_add_(w, ops::collectives::replicated_all_reduce(ops::matmul(x.T(), y)), 1.0, 1e-3);
}

/// Products of whose vertices threads share pieces: strips of columns, blocks of rows, matrices.
constexpr void products(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {64, 128}));
  const Tensor w = ir.variable(tw::normal(0, 0.1), {128, 512}, tw::float32, "w");
  const Tensor heads = ops::host_load(ir.h2d_stream("heads", {16, 64, 64}));
  const Tensor y = ops::relu(x.matmul(w) + 1);
  ops::host_store(ir.d2h_stream("y", {64, 512}), y);
  ops::host_store(ir.d2h_stream("back", {64, 128}), y.matmul(w.T()));
  ops::host_store(ir.d2h_stream("scores", {16, 64, 64}), ops::exp(0.01 * ops::matmul(heads, heads.transpose({0, 2, 1}))));
  ops::host_store(ir.d2h_stream("half", {512, 64}),
                  ops::cast(ops::matmul(ops::cast(w.T(), tw::float16), ops::cast(x.T(), tw::float16)), tw::float32));
  ops::scaled_add_(w, ops::matmul(x.T(), y), 1.0, 1e-5);
}
constexpr int most_pieces(const auto& plan) {
  int most = 0;
  for (const auto& set : plan.compute_sets) most = std::max(most, set.pieces);
  return most;
}
static_assert(most_pieces(tw::Program<products>::plan) == 2 && most_pieces(tw::Program<training>::plan) == 1);

/// Products of large weights, whose parts one worker adds up and several workers do not: vertices of equal and of different
/// numbers of rows, columns that are no whole vectors, sums that another product follows, and a single row.
constexpr void parts_of_sums(Ir& ir) {
  ir.set_replication_factor(2);
  const auto weight = [&](const tw::Shape& shape, std::string_view name) {
    return ir.variable(tw::normal(0, 0.1), shape, tw::float32, name);
  };
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2, 136})), row = ops::host_load(ir.h2d_stream("row", {1, 512}));
  const Tensor w = weight({136, 200}, "w");
  const Tensor hidden = ops::gelu(x.matmul(w) + 1);
  ops::host_store(ir.d2h_stream("y", {2, 10}), ops::gelu(hidden.matmul(weight({200, 128}, "v"))).matmul(weight({128, 10}, "u")));
  ops::host_store(ir.d2h_stream("of row", {1, 72}), row.matmul(weight({512, 72}, "t")));
  ops::scaled_add_(w, ops::collectives::replicated_all_reduce(ops::matmul(x.T(), hidden)), 1.0, 1e-3);
}
constexpr int stages_with(const auto& plan, tw::internal::SumParts parts) {
  return static_cast<int>(std::ranges::count_if(plan.stages, [&](const auto& stage) { return stage.parts == parts; }));
}
constexpr bool adds_parts(const auto& plan, int products) {
  return stages_with(plan, tw::internal::SumParts::made) == products &&
         stages_with(plan, tw::internal::SumParts::combined) == products;
}
static_assert(adds_parts(tw::Program<parts_of_sums>::plan, 4) && adds_parts(tw::Program<products>::plan, 0));
static_assert(adds_parts(tw::Program<parts_of_sums,
                                     [] {
                                       tw::Target target = tw::cpu;
                                       target.keeps_weights = false;
                                       return target;
                                     }()>::plan,
                         0));
static_assert(adds_parts(tw::Program<parts_of_sums, tw::ipu_model>::plan, 0), "a simulated IPU adds parts as its tiles would");

using Bytes = std::vector<std::vector<std::byte>>;

/// What runs of a program leave: all streams and all variables.
template <auto program>
class Runs {
 public:
  explicit Runs(int threads) : executor_(tw::Program<program>::view(), threads) { start(); }
  void start() {
    const auto variables = view_.memory.variables;
    for (int replica = 0; replica < view_.replicas; ++replica)
      for (std::int64_t i = 0; i < variables / 4; ++i) {
        const float x = static_cast<float>(std::sin(static_cast<double>(i + 1))) / 8;
        std::memcpy(executor_.variables(replica) + 4 * i, &x, 4);
      }
    tw::fill_constants(view_, executor_.constants());
    streams_.clear();
    for (const auto& stream : tw::Program<program>::plan.streams) {
      streams_.emplace_back(static_cast<std::size_t>(stream.spec.bytes() * view_.replicas));
      for (std::size_t i = 0; i < streams_.back().size() / 4; ++i) {
        const float x = static_cast<float>(std::cos(static_cast<double>(i)));
        const auto label = static_cast<std::int32_t>(i % 10);
        std::memcpy(streams_.back().data() + 4 * i, stream.spec.dtype == tw::int32 ? static_cast<const void*>(&label) : &x, 4);
      }
    }
  }
  Bytes run(std::uint32_t seed) {
    executor_.shuffle(seed);
    std::vector<tw::internal::OperandAddress> pointers;
    for (auto& stream : streams_) pointers.push_back(stream.data());
    executor_.run(pointers);
    Bytes result = streams_;
    for (int replica = 0; replica < view_.replicas; ++replica)
      result.emplace_back(executor_.variables(replica), executor_.variables(replica) + view_.memory.variables);
    return result;
  }

 private:
  tw::internal::ProgramView view_ = tw::Program<program>::view();
  tw::internal::Executor executor_;
  Bytes streams_;
};

/// A run and the next one in 1,000 orders on some numbers of threads, the first order a session's, against one worker's.
template <auto program>
void check_orders() {
  Runs<program> one(1);
  const Bytes first = one.run(0), second = one.run(0);
  CHECK(first != second);
  for (const auto& [threads, orders] : {std::pair(1, 500), {2, 150}, {3, 100}, {5, 100}, {8, 75}, {13, 40}, {16, 25}, {64, 10}}) {
    Runs<program> several(threads);
    int wrong = 0;
    for (int order = 0; order < orders; ++order) {
      several.start();
      wrong += several.run(static_cast<std::uint32_t>(order)) != first;
      wrong += several.run(static_cast<std::uint32_t>(order)) != second;
    }
    INFO(threads << " threads");
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("training has the same bits on any number of threads, in 1,000 orders") { check_orders<training>(); }
TEST_CASE("loops, branches and independent steps have the same bits on any number of threads, in 1,000 orders") {
  check_orders<control_flow>();
}
TEST_CASE("products in pieces have the same bits on any number of threads, in 1,000 orders") { check_orders<products>(); }
TEST_CASE("replicas have the same bits on any number of threads, in 1,000 orders") { check_orders<replicas>(); }
TEST_CASE("parts of sums have the same bits on any number of threads, in 1,000 orders") { check_orders<parts_of_sums>(); }
