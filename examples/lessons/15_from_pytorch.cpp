// Lesson 15: a network from PyTorch.
//
// 15_from_pytorch.py trains a network to tell a sine, a square and a saw apart, and writes it as an ONNX file. `./dev import`
// makes C++ of that: the module below is what it writes, and its weights are in a file. `./dev export` makes a C library of the
// programs of this file:
//
//     python3 examples/lessons/15_from_pytorch.py build/waves
//     ./dev import build/waves/model.onnx --out build/waves
//     ./dev export examples/lessons/15_from_pytorch.cpp fine_tune infer_net --c build/waves/net
//
// `fine_tune` teaches the network three other waves. Its convolutions are frozen, and only the head learns. The program does so
// with the weights of the file that it is given, or else with random ones.
//
// It prints:
//
//     before: 1... of 320 waves are right
//     after: 31... of 320 waves are right
//
// Try: ./dev example 15 build/waves/net.safetensors. PyTorch's convolutions are better than random ones.
//
// labels: none
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/model.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  using Conv1 = tw::layers::Conv1d<8, 5, {.stride = 2}>;
  using Conv2 = tw::layers::Conv1d<16, 5, {.stride = 2}>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Conv1, conv1), (Conv2, conv2), (tw::layers::Linear<3>, head));

  /// wave: (32, 1, 64) float32
  /// Result: (32, 3) float32
  constexpr tw::Tensor build(tw::Tensor wave) {
    const tw::Tensor conv1_conv = conv1(wave);  // (32, 8, 30) float32
    const tw::Tensor relu = tw::ops::relu(conv1_conv);  // (32, 8, 30) float32
    const tw::Tensor conv2_conv = conv2(relu);  // (32, 16, 13) float32
    const tw::Tensor relu_1 = tw::ops::relu(conv2_conv);  // (32, 16, 13) float32
    const tw::Tensor flatten = relu_1.reshape({32, 208});  // (32, 208) float32
    const tw::Tensor scores = head(flatten);  // (32, 3) float32
    return scores;
  }
};

/// Computes the outputs of a Net from its inputs, which are streams.
constexpr void infer_net([[maybe_unused]] tw::Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const tw::Tensor wave = tw::ops::host_load(ir.h2d_stream("wave", {32, 1, 64}, tw::float32));
  const auto [factories, graph] = tw::create_graph(ir, Net{}, wave);
  const auto outputs = graph.bind(factories.init()).call(wave);
  tw::ops::host_store(ir.d2h_stream("scores", outputs[0].spec()), outputs[0]);
}

// Yours from here on.
constexpr tw::Tensor loss(Net& net, tw::Tensor wave, tw::Tensor label) { return tw::ops::cross_entropy(net(wave), label); }
constexpr void fine_tune(tw::Ir& ir) {
  tw::train::minimise(ir, Net{}, loss, tw::optim::SgdParameters{.lr = 0.05}, {{"wave", {32, 1, 64}}, {"label", {32}, tw::int32}},
                      {.groups = {tw::train::frozen("conv*")}});
}

#ifdef __cpp_exceptions  // a library for C has no sessions
#include <algorithm>
#include <tilewright/checkpoint/safetensors.hpp>
#include <tilewright/core/random/random.hpp>
#include <tilewright/tilewright.hpp>

using namespace tw::literals;

static struct {
  float wave[32][1][64], scores[32][3];
  std::int32_t label[32];
} drawn;

/// Draws waves, and of which kind each is: a short pulse, the size of a sine or a triangle.
static void draw(tw::Random& random) {
  for (int i = 0; i < 32; ++i) {
    drawn.label[i] = static_cast<std::int32_t>(3 * random.uniform());
    const double start = random.uniform();
    for (int k = 0; k < 64; ++k) {
      const double turn = start + 3 * k / 64.0, part = turn - std::floor(turn);
      const double kinds[] = {part < 0.2 ? 1.0 : -1.0, 2 * std::sin(3.1416 * part) - 1, 1 - 4 * std::abs(part - 0.5)};
      drawn.wave[i][0][k] = static_cast<float>(kinds[drawn.label[i]] + 0.7 * (random.uniform() - 0.5));
    }
  }
}
static void print_right(const char* when, const tw::Session<fine_tune>& tuned) {
  tw::Session<infer_net> session;
  session.load_from_session(tuned);
  tw::Random random(2);
  int right = 0;
  for (int batch = 0; batch < 10; ++batch) {
    draw(random);
    session.run_with_outputs("wave"_s = drawn.wave, "scores"_s = drawn.scores);
    for (int i = 0; i < 32; ++i) right += std::ranges::max_element(drawn.scores[i]) - drawn.scores[i] == drawn.label[i] ? 1 : 0;
  }
  std::printf("%s: %d of 320 waves are right\n", when, right);
}

int main(int argc, char** argv) {
  tw::Session<fine_tune> session({.seed = 1});
  if (argc > 1) session.load_tensors(tw::load_safetensors(argv[1]));
  print_right("before", session);
  tw::Random random(1);
  for (int step = 0; step < 300; ++step) {
    draw(random);
    session.run("wave"_s = drawn.wave, "label"_s = drawn.label);
  }
  print_right("after", session);
}
#endif
