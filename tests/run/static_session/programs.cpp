// labels: none
// Programs of one object leave the bits of a session.
#include "../../support/programs.hpp"

#include "../../support/both_sessions.hpp"
#include "tilewright/layers/conv.hpp"
#include "tilewright/layers/dropout.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/layers/recurrent.hpp"
#include "tilewright/ops/nn/losses.hpp"
#include "tilewright/program/named_streams.hpp"
#include "tilewright/train/minimise.hpp"
#include "tilewright/train/train.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using support::BothSessions;
using tw::Ir, tw::Tensor, tw::layers::Linear;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<512>, fc1), (Linear<512>, fc2), (Linear<10>, fc3));
  constexpr Tensor build(Tensor x) {
    x = ops::gelu(fc1(x.reshape({-1, 28 * 28})));
    return fc3(ops::gelu(fc2(x)));
  }
};
constexpr void train_step(Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }
constexpr void test_step(Ir& ir) { tw::train::test_step(ir, Net{}, {{20, 28, 28}}); }

struct Dropped : tw::Module<Dropped> {
  BOOST_HANA_DEFINE_STRUCT(Dropped, (Linear<8>, hidden), (tw::layers::Dropout, dropout), (Linear<1>, head));
  constexpr Tensor build(Tensor x, Tensor seed) { return head(dropout(ops::tanh(hidden(x)), seed)); }
};
constexpr Tensor square_error(Dropped& net, Tensor x, Tensor y, Tensor seed) { return ops::mse_loss(net(x, seed), y); }
/// Micro-batches in a loop, and masks that are random.
constexpr void train_with_dropout(Ir& ir) {
  const Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  const tw::InputStreams inputs(ir, {{"x", {4, 6}}, {"y", {4, 1}}});
  tw::train::minimise(ir, Dropped{}, square_error, tw::optim::AdamWParameters{.lr = rate},
                      {inputs["x"], inputs["y"], {"seed", {2}, tw::uint32}}, {.micro_batches = 3});
}

struct Sequence : tw::Module<Sequence> {
  BOOST_HANA_DEFINE_STRUCT(Sequence, (tw::layers::LSTM<20>, lstm), (Linear<3>, head));
  constexpr Tensor build(Tensor x) {
    const auto [states, last, cell] = lstm(x);
    return head(states);
  }
};
constexpr Tensor sequence_error(Sequence& net, Tensor x, Tensor y) { return ops::mse_loss(net(x), y); }
/// Loops forward and back, whose graphs take slices of tensors.
constexpr void train_lstm(Ir& ir) {
  tw::train::minimise(ir, Sequence{}, sequence_error, tw::optim::AdamParameters{.lr = 0.01},
                      {{"x", {5, 9, 4}}, {"y", {5, 9, 3}}});
}

struct Images : tw::Module<Images> {
  BOOST_HANA_DEFINE_STRUCT(Images, (tw::layers::Conv2d<8, 3, {.padding = 1}>, conv1), (tw::layers::Conv2d<8, 3>, conv2),
                           (Linear<10>, head));
  constexpr Tensor build(Tensor x) {
    x = ops::max_pool(ops::relu(conv1(x.reshape({-1, 1, 12, 12}))), {2, 2});
    return head(ops::relu(conv2(x)).reshape({-1, 8 * 9 * 9}));
  }
};
constexpr void train_images(Ir& ir) {
  tw::train::train_step(ir, Images{}, tw::optim::SgdParameters{.lr = 0.05, .momentum = 0.9}, {{4, 12, 12}});
}

constexpr Tensor newton_step(Tensor guess, Tensor x) { return 0.5 * (guess + x / guess); }
constexpr Tensor positive_root(Tensor x) { return tw::repeat(x.ir().create_graph(newton_step, x, x), 7, {x, x}); }
constexpr Tensor negative_root(Tensor x) { return -positive_root(-x); }
constexpr Tensor signed_root(Tensor x) {
  const auto positive = x.ir().create_graph(positive_root, x), negative = x.ir().create_graph(negative_root, x);
  return tw::conditional(ops::greater(x, 0.0), {positive, {x}}, {negative, {x}});
}
/// The gradient of loops in two branches.
constexpr void roots(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {}));
  const auto forward = ir.create_graph(signed_root, x);
  const auto call = tw::call_with_info(forward, x);
  ops::host_store(ir.d2h_stream("root", {}), call.output(0));
  const auto backward = tw::autodiff(forward);
  ops::host_store(ir.d2h_stream("gradient", {}), tw::call(backward.graph(), ir.constant(1.0), backward.inputs_dict(call)));
}

/// Random numbers from a seed that each run changes, initial values of all kinds, and dtypes.
constexpr void numbers(Ir& ir) {
  const auto [variable, seed] = tw::seed_variable(ir, 42);
  const auto [next, now] = ops::split_random_seed(seed).as<2>();
  support::store("uniform", ops::random_uniform(now, {33}));
  support::store("normal", ops::random_normal(now, {33}, 1, 2));
  ops::copy_var_update_(seed, next);
  const auto causal = [](std::int64_t row, std::int64_t column) { return column <= row ? 1.0 : 0.0; };
  const auto sparse = [](tw::Random& random) { return random.uniform() < 0.1 ? 1.0 : 0.0; };
  const Tensor mask = ir.variable(tw::computed_by(causal), {8, 8}, tw::float16, "mask");
  const Tensor drawn = ir.variable(tw::drawn_by(sparse), {8, 8}, tw::float16, "drawn");
  ir.variable(tw::uniform(-1, 1), {1100}, tw::bfloat16, "uniform_half");
  ir.variable(tw::normal(3, 0.1), {1101}, tw::float64, "normal_double");
  ir.variable(tw::pow2scaled(tw::normal(0, 1), 3), {40}, tw::float8_143, "float8");
  ir.variable(tw::full(std::int64_t{1} << 62), {2}, tw::int64, "large");
  ir.variable(tw::eye(), {3, 3}, tw::uint8, "eye");
  const Tensor range = ir.constant(tw::range(0, 0.25), {8, 8}, tw::float16, "range");
  support::store("sum", (mask + drawn) * range);
}

constexpr void contexts(Ir& ir) {
  const Tensor w = ir.variable(tw::full(8), {3}, tw::float32, "w"), x = ops::host_load(ir.h2d_stream("x", {}));
  Tensor kept;
  {
    const auto upload = tw::execution_context(ir, tw::ExecutionContext::WeightsFromHostFragment);
    ops::mul_(w, ir.constant(0.5));
    kept = w + 3;
  }
  support::store("wx", w * x + kept);
  ops::add_(w, ir.constant(1.0));
  const auto download = tw::execution_context(ir, tw::ExecutionContext::WeightsToHostFragment);
  ops::mul_(w, ir.constant(2.0));
}

/// Streams that move several times in a run, also in a called graph.
constexpr void transfers(Ir& ir) {
  const auto in = ir.h2d_stream("in", {2});
  const auto out = ir.d2h_stream("out", {2});
  const Tensor first = ops::host_load(in), second = ops::host_load(in);
  ops::host_store(out, second);
  const tw::Graph add_next = ir.create_graph([&](Tensor t) { return t + ops::host_load(in); }, first);
  ops::host_store(out, tw::call(add_next, first));
  ops::host_store(out, tw::call(add_next, first));
}

}  // namespace

TEST_CASE("one object trains and tests the README's network with a session's bits") {
  BothSessions<train_step> both;
  both.run(20);
  BothSessions<train_step, tw::one_core>(3).run(3);
  BothSessions<test_step> test;
  CHECK(test.one().load_from_session(both.one()).is_done());
  test.session().load_from_session(both.one());
  test.run(2);
}
TEST_CASE("one object runs dropout and micro-batches with a session's bits") { BothSessions<train_with_dropout>().run(10); }
TEST_CASE("one object trains an LSTM with a session's bits") {
  BothSessions<train_lstm>().run(5);
  BothSessions<train_lstm, tw::one_core>().run(5);
}
TEST_CASE("one object trains a convolutional network with a session's bits") {
  BothSessions<train_images>().run(5);
  BothSessions<train_images, tw::one_core>().run(5);
}
TEST_CASE("one object runs loops and branches with a session's bits") { BothSessions<roots>().run(10); }
TEST_CASE("one object has a session's initial values and random numbers") {
  BothSessions<numbers> both(5);
  both.check_variables();
  both.run(3);
}
TEST_CASE("one object runs ops of uploads and downloads as a session does") {
  BothSessions<contexts> both;
  both.run(3);
  both.draw_variables();
  both.run(2);
}
TEST_CASE("one object moves streams as a session does") { BothSessions<transfers>().run(2); }
