#pragma once
#include "tilewright/core/requirements.hpp"

#include <utility>

#include "tilewright/layers/first_values.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/activation.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/shape/concat.hpp"
#include "tilewright/ops/shape/subscript.hpp"

namespace tilewright::layers {

/// Options of GRU and LSTM, those of torch.nn.GRU and torch.nn.LSTM.
struct RecurrentOptions {
  int num_layers = 1;  ///< number of stacked layers; each reads the results of the previous one
  bool bias = true;  ///< whether the layers have the variables `bias_ih_l{i}` and `bias_hh_l{i}`
};

namespace detail {

/// Base of GRU and LSTM. D defines `gates`, the number of parts of a weight; `states`, the number of tensors that a step passes
/// to the next one, the result first; and `step`.
template <class D, int hidden_size, RecurrentOptions options>
struct Recurrent : Module<D> {
  static constexpr int most_layers = 1000;
  /// Returns the results of all steps of the last layer, and the states after the last step with a leading axis for layers.
  constexpr std::pair<Tensor, List<Tensor>> run(Tensor x, std::string_view layer) {
    Ir& ir = this->ir();
    if (x.rank() != 3 || x.nelms() == 0) {
      const Tensor invalid = ir.fail(
          text(layer, ": ", to_text(x.spec()), ": axes (batch, length, features) with elements expected"));
      return {invalid, List<Tensor>(D::states, invalid)};
    }
    if (hidden_size < 1 || options.num_layers < 1 || options.num_layers > most_layers) {
      const Tensor invalid = ir.fail(text(layer, ": hidden_size ", hidden_size, ", num_layers ", options.num_layers,
                                          ": both at least 1, and at most ", most_layers, " layers, expected"));
      return {invalid, List<Tensor>(D::states, invalid)};
    }
    List<List<Tensor>> last(D::states);
    for (int number = 0; number < options.num_layers; ++number) {
      const List<Tensor> states = run_layer(x, number);
      for (int i = 0; i < D::states; ++i) last[i].push_back(states[i].reshape({1, x.shape(0), hidden_size}));
    }
    List<Tensor> result;
    for (const List<Tensor>& of_layers : last) result.push_back(ops::concat({of_layers.begin(), of_layers.end()}, 0));
    return {x, result};
  }

 private:
  /// Replaces x by the results of a layer, and returns the states after the last step.
  constexpr List<Tensor> run_layer(Tensor& x, int number) {
    Ir& ir = this->ir();
    const std::int64_t batch = x.shape(0), length = x.shape(1), features = x.shape(2);
    const Initialiser initial = detail::within_root(hidden_size);
    constexpr std::int64_t columns = std::int64_t{D::gates} * hidden_size;
    const auto variable = [&](std::string_view name, const Shape& shape) {
      return this->add_variable_input(text(name, "_l", number).view(), initial, shape, x.dtype());
    };
    const Tensor input_weight = variable("weight_ih", {features, columns}),
                 weight = variable("weight_hh", {hidden_size, columns});
    Tensor inputs = x.matmul(input_weight), bias = ir.constant(zeros(), {columns}, x.dtype(), "no_bias");
    if constexpr (options.bias) {
      inputs = inputs + variable("bias_ih", {columns});
      bias = variable("bias_hh", {columns});
    }
    List<Tensor> states(D::states, ir.constant(zeros(), {batch, hidden_size}, x.dtype(), "initial_state"));
    const auto step_input = [&](std::int64_t step) { return inputs[{all, static_cast<int>(step)}]; };
    const auto step = [](Tensor input, const List<Tensor>& before, Tensor w, Tensor b) {
      return D::step(input, before, before[0].matmul(w) + b);
    };
    const Graph cell = ir.create_graph(step, step_input(0), states, weight, bias);  // one graph for all steps
    List<Tensor> results;
    for (std::int64_t i = 0; i < length; ++i) {
      List<Tensor> given{step_input(i)};
      for (const Tensor& state : states) given.push_back(state);
      given.push_back(weight);
      given.push_back(bias);
      const Outputs next = call_with_info(cell, {given.begin(), given.end()}).outputs();
      for (int s = 0; s < D::states; ++s) states[s] = next[static_cast<std::size_t>(s)];
      results.push_back(states[0].reshape({batch, 1, hidden_size}));
    }
    x = ops::concat({results.begin(), results.end()}, 1);
    return states;
  }
};
/// Returns part `number` of the gates, each of which has hidden_size columns.
template <int hidden_size>
constexpr Tensor gate(Tensor all_gates, int number) {
  return all_gates[{all, slice(std::int64_t{number} * hidden_size, (std::int64_t{number} + 1) * hidden_size)}];
}

}  // namespace detail

/// Gated recurrent units ("Learning Phrase Representations using RNN Encoder-Decoder", arXiv 1406.1078): torch.nn.GRU with
/// batch_first=True. x: (batch, length, features), float16, bfloat16 or float32. The first result holds all steps of the last
/// layer, (batch, length, hidden_size); the second holds the last step of each layer, (num_layers, batch, hidden_size). The
/// initial state is 0. Formula: r = sigmoid(x W_ir + b_ir + h W_hr + b_hr), z = sigmoid(x W_iz + b_iz + h W_hz + b_hz), n =
/// tanh(x W_in + b_in + r (h W_hn + b_hn)); the next h is (1 - z) n + z h.
///
/// Variables of layer i, with the parts r, z, n side by side: `weight_ih_l{i}` (features, 3 hidden_size), `weight_hh_l{i}`
/// (hidden_size, 3 hidden_size), `bias_ih_l{i}` and `bias_hh_l{i}` (3 hidden_size,). Initial values are PyTorch's: uniform within
/// 1 / sqrt(hidden_size). PyTorch stores the weights transposed.
template <int hidden_size, RecurrentOptions options = {}>
struct GRU : detail::Recurrent<GRU<hidden_size, options>, hidden_size, options> {
  static constexpr int gates = 3, states = 1;

  constexpr std::pair<Tensor, Tensor> build(Tensor x) {
    const auto [results, last] = this->run(x, "GRU");
    return {results, last[0]};
  }
  static constexpr List<Tensor> step(Tensor input, const List<Tensor>& before, Tensor recurrent) {
    const auto both = [&](int number) {
      return ops::sigmoid(detail::gate<hidden_size>(input, number) + detail::gate<hidden_size>(recurrent, number));
    };
    const Tensor r = both(0), z = both(1);
    const Tensor n = ops::tanh(detail::gate<hidden_size>(input, 2) + r * detail::gate<hidden_size>(recurrent, 2));
    return {n + z * (before[0] - n)};
  }
};

/// Long short-term memory ("Long Short-Term Memory", Neural Computation 9(8), 1997, with the forget gate of "Learning to Forget",
/// 1999): torch.nn.LSTM with batch_first=True. x: (batch, length, features), float16, bfloat16 or float32. The first result holds
/// all steps of the last layer, (batch, length, hidden_size). The second and third are the result h and the memory c of each
/// layer after the last step, both (num_layers, batch, hidden_size). The initial states are 0. Formula: i = sigmoid(x W_ii + b_ii
/// + h W_hi + b_hi), f and o are computed like i with their own weights, g = tanh(x W_ig + b_ig + h W_hg + b_hg); the next c is f
/// c + i g, and the next h is o tanh(c).
///
/// Variables of layer i, with the parts i, f, g, o side by side: `weight_ih_l{i}` (features, 4 hidden_size), `weight_hh_l{i}`
/// (hidden_size, 4 hidden_size), `bias_ih_l{i}` and `bias_hh_l{i}` (4 hidden_size,). Initial values are PyTorch's: uniform within
/// 1 / sqrt(hidden_size). PyTorch stores the weights transposed.
template <int hidden_size, RecurrentOptions options = {}>
struct LSTM : detail::Recurrent<LSTM<hidden_size, options>, hidden_size, options> {
  static constexpr int gates = 4, states = 2;

  constexpr std::tuple<Tensor, Tensor, Tensor> build(Tensor x) {
    const auto [results, last] = this->run(x, "LSTM");
    return {results, last[0], last[1]};
  }
  static constexpr List<Tensor> step(Tensor input, const List<Tensor>& before, Tensor recurrent) {
    const Tensor sum = input + recurrent;
    const auto part = [&](int number) { return detail::gate<hidden_size>(sum, number); };
    const Tensor c = ops::sigmoid(part(1)) * before[1] + ops::sigmoid(part(0)) * ops::tanh(part(2));
    return {ops::sigmoid(part(3)) * ops::tanh(c), c};
  }
};

}  // namespace tilewright::layers
