// Lesson 7: a loop and a branch.
//
// A for loop in `build` runs while the program is traced: the graph of lesson 6 has a call for each layer. `tw::repeat` is one
// loop in the graph. It calls a graph again and again: what the graph returns is its first input in the next iteration, and the
// other inputs stay. `tw::conditional` runs one of two graphs, by a number that is known only when the program runs.
//
// `tw::autodiff` makes the graph of the gradients of a graph, through loops and branches, too. Its first input is the gradient of
// the output; `inputs_dict` gives it what it needs from the forward call.
//
// The program computes square roots by Newton's method; the root of a negative number is that of its opposite, with a minus.
//
// It prints:
//
//     x = 2: root 1.41421, gradient 0.353553
//     x = 9: root 3, gradient 0.166667
//     x = -9: root -3, gradient 0.166667
//
// Try: 2 iterations in place of 8. The root of 2 is then 1.41667, but that of 9 is 3.4: the first guess was further away. A
// gradient is that of what the loop computes, so it is off, too.
//
// labels: none
#include <iostream>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

/// The next guess of the root of x.
constexpr tw::Tensor newton_step(tw::Tensor guess, tw::Tensor x) { return 0.5 * (guess + x / guess); }

constexpr tw::Tensor positive_root(tw::Tensor x) {
  const auto step = x.ir().create_graph(newton_step, x, x);
  return tw::repeat(step, 8, {x, x});  // the first guess is x itself
}
constexpr tw::Tensor negative_root(tw::Tensor x) { return -positive_root(-x); }

/// The root of x, or of -x with a minus.
constexpr tw::Tensor signed_root(tw::Tensor x) {
  const auto positive = x.ir().create_graph(positive_root, x), negative = x.ir().create_graph(negative_root, x);
  return tw::conditional(tw::ops::greater(x, 0.0), {positive, {x}}, {negative, {x}});
}

constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {}));  // a number
  const auto forward = ir.create_graph(signed_root, x);
  const auto call = tw::call_with_info(forward, x);
  tw::ops::host_store(ir.d2h_stream("root", {}), call.output(0));

  const auto backward = tw::autodiff(forward);
  const tw::Tensor gradient = tw::call(backward.graph(), ir.constant(1.0), backward.inputs_dict(call));
  tw::ops::host_store(ir.d2h_stream("gradient", {}), gradient);
}

int main() {
  tw::Session<program> session;
  for (const float x : {2.0f, 9.0f, -9.0f}) {
    const auto outputs = session.run("x"_s = x);
    std::cout << "x = " << x << ": root " << outputs["root"_s]() << ", gradient " << outputs["gradient"_s]() << '\n';
  }
}
