// Lesson 1: a layer.
//
// A layer is a module: a struct with a function `build`, which takes tensors and returns tensors. `build` computes nothing. It
// writes down which ops are to be done, and the library checks each of them at once: names, shapes, dtypes. Weights are not
// stored in the module. `add_variable_input` says that the layer needs one, with its name, initial values and shape.
//
// `create_graph` calls `build`, and gives two things: the graph of the layer, and a factory for each of its variables. It is
// ordinary C++ that also runs while the program compiles: the static_assert below asks the compiler for a shape.
//
// It prints:
//
//     a batch of 2 rows with 4 numbers each becomes (2, 3) float32
//     bias is (3,) float32
//     weight is (4, 3) float32
//
// Try: give the layer 5 outputs. The compiler then says that the static_assert fails. Change its shape to {2, 5}, and the program
// prints the new shapes.
//
// labels: clang
#include <iostream>
#include <tilewright/model.hpp>  // modules and ops; compiles faster than tilewright.hpp

namespace tw = tilewright;

/// y = x W + b
template <int out_features>
struct Linear : tw::Module<Linear<out_features>> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto weight = this->add_variable_input("weight", tw::normal(0, 0.02), {x.shape(-1), out_features});
    const auto bias = this->add_variable_input("bias", tw::zeros(), {out_features});
    return x.matmul(weight) + bias;
  }
};

constexpr int outputs = 3;
constexpr tw::TensorSpec batch{{2, 4}, tw::float32};

constexpr tw::Shape shape_of_result() {
  tw::Ir ir;  // holds the graphs of one program
  return tw::create_graph(ir, Linear<outputs>{}, batch).graph.graph().output(0).shape();
}
static_assert(shape_of_result() == tw::Shape{2, 3});

int main() {
  tw::Ir ir;
  const auto [factories, linear] = tw::create_graph(ir, Linear<outputs>{}, batch);
  std::cout << "a batch of 2 rows with 4 numbers each becomes " << to_text(linear.graph().output(0).spec()) << '\n';
  for (const auto& [name, variable] : factories.init().named_tensors())
    std::cout << name << " is " << to_text(variable.spec()) << '\n';
}
