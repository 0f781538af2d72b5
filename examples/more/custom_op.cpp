// An op of one's own, as in chapter 7 of PopXL's user guide: a leaky relu with an attribute, a shape rule, a kernel and a
// gradient, in a network that is trained. All of it stands in this file; nothing is registered anywhere.
//
// labels: strict
// test:
// expect: LeakyRelu.100 (%1 [(8, 32) float32]) -> (%2 [(8, 32) float32])
// expect: LeakyReluGrad.101 (%2 [(8, 32) float32], %1 [(8, 32) float32]) -> (%3 [(8, 32) float32])
// expect: leaky_relu of -2, 0, 3: -0.5, 0, 3
// expect: its gradient:           0.25, 0.25, 1
// strict: --strict
// expect-regex: ^(7[5-9]|[89][0-9])\.[0-9] % of the test set are right$
#include <cstdio>
#include <iostream>
#include <string_view>
#include <tilewright/array.hpp>
#include <tilewright/data/data.hpp>
#include <tilewright/execute/strict_executor.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/train.hpp>

namespace tw = tilewright;
using namespace tw::literals;
namespace authoring = tw::authoring;

// ---- the op
//
// This is the long form, which fits any op. An op that is one formula of elements, as this one is, can have it from the base
// authoring::UnaryOp: then `forward` and `backward`, a line each, are all that is left, and the planner may compute it in
// registers where other ops pass over the same memory (docs/extend/adding-an-op.md).

/// The attribute of the op and its gradient op: what is fixed when the program is compiled. Members have 8 bytes each.
struct Slope {
  double alpha = 0.01;  // below 0
};

/// What the op and its gradient op share: one number, any shape, and work that is cut along the first axis.
template <class D>
struct LeakyReluOp : authoring::Op<D> {
  /// The result may take the memory of an input that nobody reads later.
  constexpr operator authoring::Fusion() const { return authoring::Fusion{.elementwise = true}; }
  using Attributes = Slope;

  /// The shape rule: as many elements as the first input has.
  static constexpr void infer(authoring::Inference& op) {
    if (op.attributes<Slope>().alpha < 0) return op.fail("a negative alpha: a slope from 0 expected");
    if (op.require_floating_point(0)) op.output(op.input(0));
  }
  /// Every vertex takes some rows of all operands: those stand one after the other in memory.
  static constexpr authoring::Work work(std::span<const tw::TensorSpec> operands, int, const authoring::PackedAttributes&) {
    authoring::Work work;
    const tw::Shape& shape = operands[0].shape;
    for (int axis = 0; axis < shape.rank; ++axis) {
      const auto kind = axis == 0 ? authoring::WorkAxisKind::parallel : authoring::WorkAxisKind::whole;
      const int work_axis = work.add_axis({.extent = shape[axis], .kind = kind});
      for (std::size_t operand = 0; operand < operands.size(); ++operand) work.follow(static_cast<int>(operand), axis, work_axis);
    }
    return work;
  }
};

/// dy where x is above 0, alpha dy elsewhere.
struct LeakyReluGrad : LeakyReluOp<LeakyReluGrad> {
  static constexpr std::string_view name = "LeakyReluGrad";

  template <authoring::PackedAttributes A, class X, class DY, class DX>
  static void compute(X x, DY dy, DX dx) {
    constexpr double alpha = authoring::unpack<Slope>(A).alpha;
    dx.array() = xt::where(x.array() > 0, dy.array(), alpha * dy.array());
  }
};

/// x where it is above 0, alpha x elsewhere.
struct LeakyRelu : LeakyReluOp<LeakyRelu> {
  static constexpr std::string_view name = "LeakyRelu";

  static constexpr void gradient(authoring::GradientContext& op) {
    op.input_gradient(0, authoring::apply<LeakyReluGrad>({op.input(0), op.output_gradient(0)}, op.attributes<Slope>()));
  }
  /// The kernel of one vertex: an expression of xtensor, of static shape. Half precision is computed in float.
  template <authoring::PackedAttributes A, class X, class Y>
  static void compute(X x, Y y) {
    constexpr double alpha = authoring::unpack<Slope>(A).alpha;
    y.array() = xt::where(x.array() > 0, x.array(), alpha * x.array());
  }
};

/// x where it is above 0, alpha x elsewhere. x: any shape, floating point.
constexpr tw::Tensor leaky_relu(tw::Tensor x, double alpha = 0.01) { return authoring::apply<LeakyRelu>({x}, {alpha}); }

// ---- alone

constexpr void alone(tw::Ir& ir) {
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {3}));
  const tw::Graph graph = ir.create_graph([](tw::Tensor t) { return leaky_relu(t, 0.25); }, x);
  const auto call = tw::call_with_info(graph, x);
  tw::ops::host_store(ir.d2h_stream("y", x.spec()), call.output(0));
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const tw::Tensor dx = tw::call(gradient.graph(), ir.constant({1}, {3}), gradient.inputs_dict(call));
  tw::ops::host_store(ir.d2h_stream("dx", x.spec()), dx);
}

// ---- in a network

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<32>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(leaky_relu(fc1(x.reshape({-1, 28 * 28})), 0.02)); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{80, 28, 28}}); }

// With --strict, the simulated IPU checks that the op reads and writes what it declares.
int main(int argc, char** argv) {
  const bool strict = argc > 1 && std::string_view(argv[1]) == "--strict";
  tw::Ir ir;  // at run time, to look at the graphs
  const tw::Graph graph = ir.create_graph([](tw::Tensor t) { return leaky_relu(t); }, tw::TensorSpec{{8, 32}, tw::float32});
  const tw::Graph backward = tw::autodiff(graph).graph();
  std::cout << print_schedule(graph) << print_schedule(backward);

  tw::Session<alone> both;
  const auto outputs = both.run("x"_s = xt::xtensor<float, 1>{-2, 0, 3});
  const auto y = outputs["y"_s], dx = outputs["dx"_s];
  std::cout << "leaky_relu of -2, 0, 3: " << y(0) << ", " << y(1) << ", " << y(2) << '\n';
  std::cout << "its gradient:           " << dx(0) << ", " << dx(1) << ", " << dx(2) << '\n';

  const auto digits = tw::data::generated_digits(6'000, /*seed*/ 1);
  tw::Session<train_step, tw::ipu_model> session({.seed = 1, .strict = strict});
  tw::data::Loader batches(digits.train, {.batch_size = 8, .shuffle = true, .seed = 1});
  tw::train::run_epochs(session, batches, {.epochs = 2});
  tw::Session<test_step, tw::ipu_model> test({.strict = strict});
  test.load_from_session(session);
  std::printf("%.1f %% of the test set are right\n", 100 * tw::train::accuracy(test, digits.test));
}
