#pragma once
// Random programs: a seed gives a program, which is traced like any other, by the compiler and again when the test runs.
#include <string_view>
#include <vector>

#include "generator_calls.hpp"
#include "generator_elementwise.hpp"
#include "generator_in_place.hpp"
#include "generator_indexing.hpp"
#include "generator_memory.hpp"
#include "generator_networks.hpp"
#include "generator_random.hpp"
#include "generator_reductions.hpp"
#include "generator_slices.hpp"
#include "generator_types.hpp"

namespace random_programs {

/// The extents that a program's variables have.
constexpr std::int64_t extent(Random& random) {
  constexpr std::int64_t all[] = {1, 2, 3, 5, 8, 16, 17, 33};
  return all[random.below(8)];
}

/// What variables of a kind have as elements, by the first letter of their names: numbers from -2, positive ones, integers,
/// bools.
constexpr Elements variable_elements(char kind) {
  switch (kind) {
    case 'p': return {0.0625, 2, 4, 1};
    case 'n': return {0, 6, 0, 0};
    case 'b': return {0, 1, 0, 0};
    default: return {-2, 2, 4, 1};
  }
}

/// Adds a random program to the main graph. Its variables are v<i>, or p<i>, n<i> and b<i>; its results go to streams y<i>, or
/// e<i> if they are exact; with gradients, the loss goes to the stream `loss` and the gradients of the variables to dv<i>. All
/// names begin with the prefix.
constexpr void add_program(Ir& ir, std::uint64_t seed, std::string_view prefix, Features features = {}) {
  Random random(seed);
  const std::int64_t a = extent(random), b = extent(random), c = extent(random);
  const int of_dtype = random.below(8);
  const DType real = features.gradients || of_dtype < 5 ? tw::float32 : of_dtype < 7 ? features.half : tw::float64;
  struct Choice {
    char kind;
    TensorSpec spec;
  };
  const Choice choices[] = {
      {'v', {{a, b}, real}}, {'p', {{b}, real}},      {'v', {{b, c}, real}},        {'v', {{2, a, b}, real}},   {'v', {{}, real}},
      {'p', {{a, b}, real}}, {'n', {{a}, tw::int32}}, {'b', {{a, b}, tw::boolean}}, {'v', {{1, 2, 4, 5}, real}}};
  std::vector<Tensor> variables;
  std::vector<char> kinds;
  for (int i = 0; i < 4; ++i) {
    const Choice& choice = choices[i < 2 ? i : random.below(features.gradients ? 6 : 9)];
    const char name[] = {choice.kind, static_cast<char>('0' + i), 0};
    variables.push_back(ir.variable(tw::zeros(), choice.spec.shape, choice.spec.dtype, tw::text(prefix, name).view()));
    kinds.push_back(choice.kind);
  }
  const auto store = [&](const tw::Text& name, Tensor tensor) {
    ops::host_store(ir.d2h_stream(tw::text(prefix, name).view(), tensor.spec()), tensor);
  };
  const auto fill = [&](Generator& generator, const std::vector<Tensor>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) generator.add(tensors[i], variable_elements(kinds[i]), !features.gradients);
    generator.begin();
    generator.run(features.gradients ? 3 : 4, 1);
  };
  if (!features.gradients) {
    Generator generator(ir, random, features);
    fill(generator, variables);
    int i = 0;
    for (const Known& result : generator.results(3)) store(tw::text(result.exact() ? "e" : "y", i++), result.tensor);
    return;
  }
  const tw::Graph graph = ir.create_graph(
      [&](const std::vector<Tensor>& inputs) {
        Generator generator(ir, random, features);
        fill(generator, inputs);
        Tensor loss = ops::mean(inputs[0]);
        for (const Known& result : generator.results(2)) {
          const Tensor real_result = result.tensor.cast(tw::float32);
          loss = loss + ops::mean(real_result * real_result);
        }
        return loss;
      },
      variables);
  const auto call = tw::call_with_info(graph, variables);
  store("loss", call.output(0));
  if (features.only_loss) return;
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const auto gradient_call = tw::call_with_info(gradient.graph(), ir.constant(1), gradient.inputs_dict(call));
  const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (const Tensor* dv = gradients.find(graph.inputs()[i])) {
      const char name[] = {'d', kinds[i], static_cast<char>('0' + i), 0};
      store(name, *dv);
    }
}

}  // namespace random_programs
