// Adam as a module: its graphs for one variable, one step of it, and the MNIST network trained with it.
//
// labels: more
// test: --limit-batches 400 --threads 1
// expect: Adam with float learning rate
// expect: Graph : Adam_subgraph(0)
// expect:   (%1, %2, first_order=%3, second_order=%4, step=%5) -> () {
// expect:     Accumulate.100 (%3 [(2, 2) float16], %2 [(2, 2) float32]) -> (%6 [(2, 2) float16])
// expect:     Accumulate.101 (%4 [(2, 2) float32], %2 [(2, 2) float32]) -> (%7 [(2, 2) float32])
// expect:     AdamUpdater.102 (%3 [(2, 2) float16], %4 [(2, 2) float32], %5 [() float32]) -> (%8 [(2, 2) float16])
// expect:     ScaledAddLhsInplace.103 (%1 [(2, 2) float32], %8 [(2, 2) float16]) -> (%9 [(2, 2) float32])
// expect: Adam with tensor learning rate
// expect: Graph : Adam_subgraph(1)
// expect:   (%1, %2, %3, first_order=%4, second_order=%5, step=%6) -> () {
// expect:     Accumulate.104 (%4 [(2, 2) float16], %2 [(2, 2) float32]) -> (%7 [(2, 2) float16])
// expect:     Accumulate.105 (%5 [(2, 2) float32], %2 [(2, 2) float32]) -> (%8 [(2, 2) float32])
// expect:     AdamUpdater.106 (%4 [(2, 2) float16], %5 [(2, 2) float32], %6 [() float32]) -> (%9 [(2, 2) float16])
// expect:     Neg.107 (%3 [() float32]) -> (%10 [() float32])
// expect:     ScaledAddLhsInplace.108 (%1 [(2, 2) float32], %9 [(2, 2) float16], %10 [() float32]) -> (%11 [(2, 2) float32])
// expect: first_order: 0.009995 0.009995 0.009995 0.009995
// expect: second_order: 9.9998715e-06 9.9998715e-06 9.9998715e-06 9.9998715e-06
// expect: step: 1
// expect-regex: ^Trained 400 steps in [0-9.]+ s: [0-9]+ it/s$
// expect-regex: ^Accuracy on test set: [4-9][0-9]\.[0-9]{2}%$
// test: --data $TILEWRIGHT_MNIST --limit-batches 1500
// test-needs: TILEWRIGHT_MNIST
// expect-regex: ^Accuracy on test set: (8[5-9]|9[0-9])\.[0-9]{2}%$
#include <iomanip>
#include <iostream>

#include "../tutorial/net.hpp"
#include "../tutorial/steps.hpp"
#include "../tutorial/training.hpp"

using namespace tw::literals;

/// Adam's graphs for a variable of 2 x 2: with the learning rate in the graph, and with one that each call gives.
struct Graphs {
  tw::CreatedGraph with_number, with_tensor;

  constexpr explicit Graphs(tw::Tensor variable)
      : with_number(tw::optim::Adam().create_graph(variable, variable.spec(),
                                                   tw::optim::AdamParameters{.lr = 1e-3, .first_order_dtype = tw::float16})),
        with_tensor(tw::optim::Adam().create_graph(
            variable, variable.spec(),
            tw::optim::AdamParameters{.lr = tw::TensorSpec{{}, tw::float32}, .first_order_dtype = tw::float16})) {}
};

/// One step of each.
constexpr void steps(tw::Ir& ir) {
  const auto variable = ir.variable(tw::ones(), {2, 2}, tw::float32, "variable");
  const auto gradient = ir.variable(tw::full(0.1), {2, 2}, tw::float32, "gradient");
  const Graphs graphs(variable);
  graphs.with_number.graph.bind(graphs.with_number.factories.init("number")).call(variable, gradient);
  graphs.with_tensor.graph.bind(graphs.with_tensor.factories.init("tensor")).call(variable, gradient, ir.constant(1e-3));
}

/// Prints as many digits as the dtype has.
void print(const char* name, const auto& values) {
  std::cout << name << ':' << std::setprecision(sizeof(*values.begin()) == 2 ? 4 : 8);
  for (const auto value : values) std::cout << ' ' << static_cast<float>(value);
  std::cout << '\n';
}

void show_graphs_and_step() {
  tw::Ir ir;
  const Graphs graphs(ir.variable(tw::ones(), {2, 2}, tw::float32, "variable"));
  std::cout << "Adam with float learning rate\n" << graphs.with_number.graph.print_schedule();
  std::cout << "Adam with tensor learning rate\n" << graphs.with_tensor.graph.print_schedule();

  tw::Session<steps> session;
  session.run();
  print("variable", session.get_tensor_data("variable"_s));
  print("first_order", session.get_tensor_data("number.first_order"_s));
  print("second_order", session.get_tensor_data("number.second_order"_s));
  print("step", session.get_tensor_data("number.step"_s));
}

/// A step of the MNIST network. Each variable has state of its own, `adam.fc1.weight.first_order` and so on; those of one shape
/// share a graph.
constexpr void train_with_adam(tw::Ir& ir) {
  constexpr tw::optim::AdamParameters parameters{.lr = 1e-3, .first_order_dtype = tw::float16, .bias_correction = false};
  tw::train::train_step(ir, Net{}, parameters, {{8, 28, 28}}, {.optimiser_prefix = "adam"});
}

int main(int argc, char** argv) {
  show_graphs_and_step();
  return run_mnist<train_with_adam, test_step<Net, 80, 28, 28>>(
      argc, argv, "Trains and tests a network of four linear layers on MNIST with Adam.");
}
