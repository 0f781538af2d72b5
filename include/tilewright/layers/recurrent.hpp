#pragma once
#include "tilewright/core/requirements.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "tilewright/layers/first_values.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/activation.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/random/random.hpp"
#include "tilewright/ops/shape/concat.hpp"
#include "tilewright/ops/shape/subscript.hpp"

namespace tilewright::layers {

/// Options of GRU and LSTM, those of torch.nn.GRU and torch.nn.LSTM.
struct RecurrentOptions {
  int num_layers = 1;  ///< number of stacked layers; each reads the results of the previous one
  Flag bias = true;  ///< whether the layers have the variables `bias_ih_l{i}` and `bias_hh_l{i}`
  /// Probability of the dropout between layers: of the results of each layer except the last. If it is above 0, `build` takes a
  /// seed, and num_layers is at least 2
  double dropout = 0;
  Flag bidirectional = false;  ///< whether each layer also reads the sequences from their ends, with variables of its own
};

namespace detail {

/// Base of GRU and LSTM. D defines `gates`, the number of parts of a weight; `states`, the number of tensors that a step passes
/// to the next one, the result first; and `step`.
template <class D, int hidden_size, RecurrentOptions options>
struct Recurrent : Module<D> {
  static constexpr int most_layers = 1000, directions = options.bidirectional ? 2 : 1;
  static constexpr bool takes_seed = options.dropout > 0;

  /// Returns the results of all steps of the last layer, and the states after the last step with a leading axis for layers and
  /// their directions. `arguments` are those of build after x.
  constexpr std::pair<Tensor, List<Tensor>> run(Tensor x, std::string_view layer, std::initializer_list<Tensor> arguments) {
    Call call;
    Text fault = faults(x, {arguments.begin(), arguments.size()}, call);
    const bool drops = fault.empty() && takes_seed && require_mode(this->ir(), layer) == Mode::training;
    if (drops && !call.seed.valid())
      fault = text(to_text(x.spec()), " in training without a seed: a seed, (2,) uint32, as the last argument");
    if (!fault.empty()) {
      const Tensor invalid = this->ir().fail(text(layer, ": ", fault, " expected"));
      return {invalid, List<Tensor>(static_cast<std::size_t>(D::states), invalid)};
    }
    if (call.lengths.valid()) x = ops::where(call.within, x, 0);
    for (int number = 0; number < options.num_layers; ++number) {
      if (drops && number > 0) x = ops::dropout(x, ops::create_random_seed(call.seed, number - 1), options.dropout);
      const Tensor forward = run_direction(x, number, false, call);
      x = directions == 1 ? forward : ops::concat({forward, run_direction(x, number, true, call)}, 2);
    }
    if (call.lengths.valid()) x = ops::where(call.within, x, 0);
    List<Tensor> last;
    for (const List<Tensor>& states : call.last) last.push_back(ops::concat({states.begin(), states.end()}, 0));
    return {x, last};
  }

 private:
  /// State of a call, which all its layers share.
  struct Call {
    Tensor lengths{}, seed{};  ///< invalid if the call has none
    Tensor within{};  ///< (batch, length, 1) bool: whether a step is one of the sequence; only with lengths
    List<Tensor> first{};  ///< states before the first step, (layers and directions, batch, hidden_size); empty: zeros
    List<List<Tensor>> last{};  ///< by state: after the last step of each layer and direction, (1, batch, hidden_size)
    std::optional<Graph> step{};  ///< the graph of a step, for all steps of all layers
  };

  /// Reads the arguments of build. Returns what is wrong, and what is expected; empty if nothing is wrong.
  static constexpr Text faults(Tensor x, std::span<const Tensor> arguments, Call& call) {
    if (x.rank() != 3 || x.nelms() == 0) return text(to_text(x.spec()), ": axes (batch, length, features) with elements");
    if (hidden_size < 1 || options.num_layers < 1 || options.num_layers > most_layers)
      return text("hidden_size ", hidden_size, ", num_layers ", options.num_layers, ": both at least 1, and at most ",
                  most_layers, " layers,");
    if (!(options.dropout >= 0 && options.dropout < 1))
      return text("dropout ", number_text(options.dropout), ": a number of at least 0, and below 1,");
    if (takes_seed && options.num_layers == 1)
      return text("dropout ", number_text(options.dropout), " between layers, and num_layers 1: at least 2 layers");
    if (takes_seed && !arguments.empty() && arguments.back().dtype() == uint32) {
      call.seed = arguments.back();
      arguments = arguments.first(arguments.size() - 1);
    }
    const std::int64_t batch = x.shape(0), length = x.shape(1);
    if (!arguments.empty() && is_int(arguments[0].dtype())) {
      call.lengths = arguments[0];
      arguments = arguments.subspan(1);
      const TensorSpec& spec = call.lengths.spec();
      if (spec.shape != Shape{batch} || !is_signed(spec.dtype))
        return text("lengths ", to_text(spec), " for x ", to_text(x.spec()), ": (", batch, ",) signed integers");
      const Tensor steps = x.ir().constant(range(), {1, length}, spec.dtype, "steps");
      call.within = ops::less(steps, call.lengths.reshape({batch, 1})).reshape({batch, length, 1});
    }
    const TensorSpec state{{std::int64_t{options.num_layers} * directions, batch, hidden_size}, x.dtype()};
    for (const Tensor& given : arguments) {
      if (given.spec() != state)
        return text("initial state ", to_text(given.spec()), " for x ", to_text(x.spec()), ": ", to_text(state));
      call.first.push_back(given);
    }
    if (!arguments.empty() && arguments.size() != static_cast<std::size_t>(D::states))
      return text("initial states: ", static_cast<int>(arguments.size()), " given, and ", D::states);
    call.last.resize(static_cast<std::size_t>(D::states));
    return {};
  }
  /// Returns the results of a layer in one direction, and adds the states after its last step to `last`.
  constexpr Tensor run_direction(Tensor x, int number, bool reverse, Call& call) {
    Ir& ir = this->ir();
    const std::int64_t batch = x.shape(0), length = x.shape(1);
    const Initialiser initial = detail::within_root(hidden_size);
    constexpr std::int64_t columns = std::int64_t{D::gates} * hidden_size;
    const auto variable = [&](std::string_view name, const Shape& shape) {
      return this->add_variable_input(text(name, "_l", number, reverse ? "_reverse" : "").view(), initial, shape, x.dtype());
    };
    const Tensor input_weight = variable("weight_ih", {x.shape(2), columns}),
                 weight = variable("weight_hh", {hidden_size, columns});
    Tensor inputs = x.matmul(input_weight), bias;
    if constexpr (options.bias) {
      inputs = inputs + variable("bias_ih", {columns});
      bias = variable("bias_hh", {columns});
    } else {
      bias = ir.constant(zeros(), {columns}, x.dtype(), "no_bias");
    }
    List<Tensor> states = first_states(x, directions * number + reverse, call);
    List<Tensor> results(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) {
      const int at = static_cast<int>(reverse ? length - 1 - i : i);
      List<Tensor> given{inputs[{all, at}], weight, bias};
      for (const Tensor& state : states) given.push_back(state);
      if (call.lengths.valid()) given.push_back(call.within[{all, at}]);
      if (!call.step) call.step = create_step(given);
      const Outputs next = call_with_info(*call.step, {given.begin(), given.end()}).outputs();
      for (int s = 0; s < D::states; ++s) states[s] = next[static_cast<std::size_t>(s)];
      results[at] = states[0].reshape({batch, 1, hidden_size});
    }
    for (int s = 0; s < D::states; ++s) call.last[s].push_back(states[s].reshape({1, batch, hidden_size}));
    return ops::concat({results.begin(), results.end()}, 1);
  }
  /// Returns the states before the first step of layer and direction `place`.
  constexpr List<Tensor> first_states(Tensor x, int place, const Call& call) {
    List<Tensor> states;
    for (const Tensor& all_states : call.first) states.push_back(all_states[place]);
    if (states.empty())
      states.resize(static_cast<std::size_t>(D::states),
                    this->ir().constant(zeros(), {x.shape(0), hidden_size}, x.dtype(), "initial_state"));
    return states;
  }
  /// Creates the graph of one step. `given`: the inputs of the step times their weight, the weight and the bias of the state, the
  /// states before the step, and with lengths whether the step is one of each sequence, (batch, 1) bool. If it is not, the states
  /// stay as they are: a sequence keeps its last states, and in reverse it begins with its first ones.
  constexpr Graph create_step(const List<Tensor>& given) {
    const auto step = [](const List<Tensor>& inputs) {
      const List<Tensor> before(inputs.begin() + 3, inputs.begin() + 3 + D::states);
      List<Tensor> next = D::step(inputs[0], before, before[0].matmul(inputs[1]) + inputs[2]);
      for (int s = 0; s < D::states && inputs.size() > static_cast<std::size_t>(3 + D::states); ++s)
        next[s] = ops::where(inputs.back(), next[s], before[s]);
      return next;
    };
    return this->ir().create_graph(step, given);
  }
};
/// Returns part `number` of the gates, each of which has hidden_size columns.
template <int hidden_size>
constexpr Tensor gate(Tensor all_gates, int number) {
  return all_gates[{all, slice(std::int64_t{number} * hidden_size, (std::int64_t{number} + 1) * hidden_size)}];
}

}  // namespace detail

/// Gated recurrent units ("Learning Phrase Representations using RNN Encoder-Decoder", arXiv 1406.1078): torch.nn.GRU with
/// batch_first=True. build(x), build(x, lengths), build(x, state) or build(x, lengths, state), with dropout each with a seed as
/// the last argument. x: (batch, length, features), float16, bfloat16 or float32. The first result holds all steps of the last
/// layer, (batch, length, directions hidden_size), where `directions` is 2 if the layer is bidirectional, and otherwise 1; the
/// results of the reverse direction come second. The second result holds the last state of each layer and direction,
/// (num_layers directions, batch, hidden_size), in PyTorch's order. Formula: r = sigmoid(x W_ir + b_ir + h W_hr + b_hr), z =
/// sigmoid(x W_iz + b_iz + h W_hz + b_hz), n = tanh(x W_in + b_in + r (h W_hn + b_hn)); the next h is (1 - z) n + z h.
///
/// lengths: (batch,) signed integers, the number of steps of each sequence, in any order. What x has beyond them changes nothing.
/// Results beyond them are 0, last states are those of each sequence's last step, and the reverse direction begins there: the
/// results of PyTorch's pack_padded_sequence and pad_packed_sequence with total_length. A length below 0 counts as 0, and one
/// above x's as x's. state: of the shape and dtype of the second result, the states before the first step; otherwise these are 0.
/// seed: (2,) uint32; with dropout, training requires it, and the trace needs a mode scope, `training(ir)` or `evaluation(ir)`.
///
/// Variables of layer i, with the parts r, z, n side by side: `weight_ih_l{i}` (features, 3 hidden_size), `weight_hh_l{i}`
/// (hidden_size, 3 hidden_size), `bias_ih_l{i}` and `bias_hh_l{i}` (3 hidden_size,); in reverse `weight_ih_l{i}_reverse` and so
/// on. Layers above the first have (directions hidden_size) features. Initial values are PyTorch's: uniform within 1 /
/// sqrt(hidden_size). PyTorch stores the weights transposed.
///
/// Errors: other axes; lengths or a state of another shape or dtype; dropout of a single layer, outside of its range, without a
/// mode, or in training without a seed.
template <int hidden_size, RecurrentOptions options = {}>
struct GRU : detail::Recurrent<GRU<hidden_size, options>, hidden_size, options> {
  static constexpr int gates = 3, states = 1;

  constexpr std::pair<Tensor, Tensor> build(Tensor x, std::same_as<Tensor> auto... given)
    requires(sizeof...(given) <= 3)
  {
    const auto [results, last] = this->run(x, "GRU", {given...});
    return {results, last[0]};
  }
  static constexpr List<Tensor> step(Tensor input, const List<Tensor>& before, Tensor recurrent) {
    const auto both = [&](int number) {
      const Tensor of_input = detail::gate<hidden_size>(input, number);
      return ops::sigmoid(of_input + detail::gate<hidden_size>(recurrent, number));
    };
    const Tensor r = both(0), z = both(1), of_input = detail::gate<hidden_size>(input, 2);
    const Tensor n = ops::tanh(of_input + r * detail::gate<hidden_size>(recurrent, 2));
    return {n + z * (before[0] - n)};
  }
};

/// Long short-term memory ("Long Short-Term Memory", Neural Computation 9(8), 1997, with the forget gate of "Learning to Forget",
/// 1999): torch.nn.LSTM with batch_first=True. build(x), build(x, lengths), build(x, h, c) or build(x, lengths, h, c), with
/// dropout each with a seed as the last argument. x: (batch, length, features), float16, bfloat16 or float32. The first result
/// holds all steps of the last layer, (batch, length, directions hidden_size). The second and third are the last results h and
/// memories c of each layer and direction, both (num_layers directions, batch, hidden_size). Arguments, the order of directions
/// and errors are those of GRU, and h and c are of the shape of the last ones. Formula: i = sigmoid(x W_ii + b_ii + h W_hi +
/// b_hi), f and o are computed like i with their own weights, g = tanh(x W_ig + b_ig + h W_hg + b_hg); the next c is f c + i g,
/// and the next h is o tanh(c).
///
/// Variables of layer i, with the parts i, f, g, o side by side: `weight_ih_l{i}` (features, 4 hidden_size), `weight_hh_l{i}`
/// (hidden_size, 4 hidden_size), `bias_ih_l{i}` and `bias_hh_l{i}` (4 hidden_size,); in reverse as in GRU. Initial values are
/// PyTorch's: uniform within 1 / sqrt(hidden_size). PyTorch stores the weights transposed.
template <int hidden_size, RecurrentOptions options = {}>
struct LSTM : detail::Recurrent<LSTM<hidden_size, options>, hidden_size, options> {
  static constexpr int gates = 4, states = 2;

  constexpr std::tuple<Tensor, Tensor, Tensor> build(Tensor x, std::same_as<Tensor> auto... given)
    requires(sizeof...(given) <= 4)
  {
    const auto [results, last] = this->run(x, "LSTM", {given...});
    return {results, last[0], last[1]};
  }
  static constexpr List<Tensor> step(Tensor input, const List<Tensor>& before, Tensor recurrent) {
    const Tensor sum = input + recurrent;
    const auto part = [&](int number) { return detail::gate<hidden_size>(sum, number); };
    const Tensor kept = ops::sigmoid(part(1)) * before[1], i = ops::sigmoid(part(0));
    const Tensor c = kept + i * ops::tanh(part(2)), o = ops::sigmoid(part(3));
    return {o * ops::tanh(c), c};
  }
};

}  // namespace tilewright::layers
