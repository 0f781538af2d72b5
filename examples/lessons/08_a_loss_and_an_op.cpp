// Lesson 8: a loss and an op of your own.
//
// `tw::train::minimise` makes a step of training from any loss: a function of the model and of the inputs, which are streams.
// Here it is the quantile loss. The model then learns a number that 90 % of the targets are below.
//
// Most ops are functions that call other ops. One that needs a kernel of its own is a struct. `infer` gives its shapes. `work`
// says how it may be cut into pieces, for threads and tiles. `compute` is the kernel of one piece: `array()` of what it gets is
// an array of xtensor, so the kernel reads like NumPy. `gradient` is written with ops, as a graph is.
//
// It prints:
//
//     about 90 % of the targets are below the prediction
//
// Try: give the loss 0.5 in place of 0.9. The model then learns the median.
//
// labels: clang
#include <cstdio>
#include <random>
#include <span>
#include <string_view>
#include <tilewright/array.hpp>  // array()
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;
using namespace tw::literals;
namespace authoring = tw::authoring;

/// exp(-(x - centre)^2) for each x and each centre. x: (rows, 1); centres: (1, columns); result: (rows, columns).
struct Bumps : authoring::Op<Bumps> {
  static constexpr std::string_view name = "Bumps";

  /// Gives the result's shape and dtype. An input of integers is an error.
  static constexpr void infer(authoring::Inference& op) {
    if (op.require_floating_point(0)) op.output({{op.input(0).shape[0], op.input(1).shape[1]}, op.input(0).dtype});
  }
  /// A piece of the work is some of the rows, with all columns. Operands 0 and 1 are the inputs, operand 2 is the result. The int
  /// is the number of inputs. PackedAttributes holds the settings of an op, such as an axis; this op has none.
  static constexpr authoring::Work work(std::span<const tw::TensorSpec> operands, int, const authoring::PackedAttributes&) {
    authoring::Work work;
    // parallel: pieces do not need each other, so the planner may cut here; whole: it never cuts
    const int rows = work.add_axis({.extent = operands[2].shape[0], .kind = authoring::WorkAxisKind::parallel});
    const int columns = work.add_axis({.extent = operands[2].shape[1], .kind = authoring::WorkAxisKind::whole});
    work.follow(0, 0, rows);  // axis 0 of operand 0 is cut as `rows` is
    work.follow(1, 1, columns);
    work.follow(2, 0, rows);
    work.follow(2, 1, columns);
    return work;
  }
  template <authoring::PackedAttributes, class X, class Centres, class Y>
  static void compute(X x, Centres centres, Y y) {
    y.array() = xt::exp(-xt::square(x.array() - centres.array()));
  }
  static constexpr void gradient(authoring::GradientContext& op) {
    const tw::Tensor slope = -2 * (op.input(0) - op.input(1)) * op.output(0) * op.output_gradient(0);
    if (op.needs(0)) op.input_gradient(0, tw::ops::sum_to(slope, op.input_spec(0).shape));
    if (op.needs(1)) op.input_gradient(1, tw::ops::sum_to(-slope, op.input_spec(1).shape));
  }
};

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<1>, sum));
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto centres = add_variable_input("centres", tw::normal(0, 1), {1, 32});
    return sum(authoring::apply<Bumps>({x, centres}));
  }
};

/// The mean error, weighted by `quantile` where a target is above the prediction, and by 1 - `quantile` where it is below.
constexpr tw::Tensor quantile_loss(tw::Tensor prediction, tw::Tensor target, double quantile) {
  const tw::Tensor error = target - prediction;
  return tw::ops::mean(tw::ops::maximum(quantile * error, (quantile - 1) * error));
}
constexpr tw::Tensor loss(Net& net, tw::Tensor x, tw::Tensor target) { return quantile_loss(net(x), target, 0.9); }

constexpr int points = 256;
constexpr void train_step(tw::Ir& ir) {
  tw::train::minimise(ir, Net{}, loss, tw::optim::AdamParameters{.lr = 0.01}, {{"x", {points, 1}}, {"target", {points, 1}}});
}
constexpr void predict(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {points, 1}));
  const auto [factories, net] = tw::create_graph(Net{}, x);
  tw::ops::host_store(ir.d2h_stream("prediction", {points, 1}), net.bind(factories.init()).call(x));
}

int main() {
  // a parabola and noise, which is the larger the further to the right
  xt::xtensor<float, 2> x({points, 1}), target({points, 1});
  std::mt19937 random(1);
  for (std::size_t i = 0; i < points; ++i) {
    x(i, 0) = static_cast<float>(i) / (points / 2) - 1;
    const float noise = static_cast<float>(random() % 1000) / 1000;
    target(i, 0) = x(i, 0) * x(i, 0) + noise * (1 + x(i, 0));
  }
  tw::Session<train_step> session({.seed = 1});
  for (int step = 0; step < 1000; ++step) session.run("x"_s = x, "target"_s = target);

  tw::Session<predict> prediction;
  prediction.load_from_session(session);
  const auto outputs = prediction.run("x"_s = x);
  const auto predicted = outputs["prediction"_s];
  int below = 0;
  for (std::size_t i = 0; i < points; ++i) below += target(i, 0) < predicted(i, 0);
  std::printf("about %.0f0 %% of the targets are below the prediction\n", 10.0 * below / points);
}
