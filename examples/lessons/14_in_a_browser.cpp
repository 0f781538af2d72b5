// Lesson 14: a network in a browser.
//
// All that you need is in lessons 1 to 4. A StaticSession is a program and its memory in one object, without heap, threads and
// exceptions. Such programs also run in a page. This file is both. As a program of the host it trains a network to tell two
// spirals apart. These commands make one HTML file that trains the same network, and open it:
//
//     ./dev setup wasm
//     python3 examples/browser/make_page.py examples/lessons/14_in_a_browser.cpp build/spirals.html
//     xdg-open build/spirals.html
//
// 14_in_a_browser.worker.js has the page's own JavaScript: it draws points, trains a step, and tests. The curve and the buttons
// are those of all such pages.
//
// It prints:
//
//     untrained: 1... of 256 points are right
//     trained: 25... of 256 points are right
//
// Try: Linear<8> in place of Linear<32>, and look at the curve of both.
//
// labels: none
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <tilewright/core/random/random.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/model.hpp>
#include <tilewright/session/static_session.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
using namespace tw::literals;

struct Net : tw::Module<Net> {
  using Hidden = tw::layers::Linear<32>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Hidden, fc1), (Hidden, fc2), (tw::layers::Linear<2>, fc3));
  constexpr tw::Tensor build(tw::Tensor x) { return fc3(tw::ops::tanh(fc2(tw::ops::tanh(fc1(x))))); }
};
constexpr tw::train::StepOptions of_points{.input = "points"};
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::AdamParameters{.lr = 0.01}, {{64, 2}}, of_points);
}
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{256, 2}}, of_points); }

#ifndef __wasm__  // a page draws by its JavaScript
/// Draws points of both spirals in turn, and says of which one each is.
static void draw(std::span<float> points, std::span<std::int32_t> labels, tw::Random& random) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int32_t>(i % 2);
    const double turns = 1.5 * std::sqrt(random.uniform()), angle = 6.2832 * turns + 3.1416 * labels[i];
    points[2 * i] = static_cast<float>(turns * std::cos(angle));
    points[2 * i + 1] = static_cast<float>(turns * std::sin(angle));
  }
}

constinit static tw::StaticSession<train_step, tw::one_core> session;
constinit static tw::StaticSession<test_step, tw::one_core> test;

static bool print_right(const char* when, tw::Random& random) {
  std::int32_t labels[256];
  draw(test.stream("points"_s), labels, random);
  if (!test.load_from_session(session).is_done() || !test.run().is_done()) return false;
  const auto logits = test.stream("outputs"_s);
  int right = 0;
  for (std::size_t i = 0; i < 256; ++i) right += (logits[2 * i + 1] > logits[2 * i]) == (labels[i] == 1);
  std::printf("%s: %d of 256 points are right\n", when, right);
  return true;
}

int main() {
  tw::Random random(1);
  if (!session.init(1).is_done() || !test.init().is_done() || !print_right("untrained", random)) return 1;
  for (int step = 0; step < 3000; ++step) {
    draw(session.stream("points"_s), session.stream("label"_s), random);
    if (!session.run().is_done()) return 1;  // a fault: session throws nothing
  }
  return print_right("trained", random) ? 0 : 1;
}
#endif
