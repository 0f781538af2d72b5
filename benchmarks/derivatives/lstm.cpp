// A recurrent network: lstm.hpp says what it is.
#include "lstm.hpp"

#include "serve_program.hpp"

namespace {

constexpr std::int64_t bits = Lstm::bits;

/// The loss for weights (l, 2, 4, bits), factors (3, bits), a state (l, 2, bits) and characters (c, bits).
constexpr Tensor loss(Tensor weights, Tensor factors, Tensor first_state, Tensor characters) {
  tw::Ir& ir = weights.ir();
  const auto step = [](Tensor state, Tensor total, Tensor t, Tensor w, Tensor extra, Tensor all) {
    const Tensor two = ops::dynamic_slice(all, t.reshape({1}), {0}, {2}), given = two[0], next = two[1];
    Tensor x = given * extra[0];
    tw::List<Tensor> states;
    for (int layer = 0; layer < static_cast<int>(state.shape(0)); ++layer) {
      const Tensor hidden = state[layer][0], factor = w[layer][0], bias = w[layer][1];
      const Tensor forget = ops::sigmoid(x * factor[0] + bias[0]), in = ops::sigmoid(hidden * factor[1] + bias[1]);
      const Tensor out = ops::sigmoid(x * factor[2] + bias[2]), change = ops::tanh(hidden * factor[3] + bias[3]);
      const Tensor cell = state[layer][1] * forget + in * change;
      x = out * ops::tanh(cell);
      states.push_back(x.reshape({1, bits}));
      states.push_back(cell.reshape({1, bits}));
    }
    const Tensor y = x * extra[1] + extra[2];
    const Tensor of_step = ops::sum(next * y) - ops::sum(next) * ops::log(ops::sum(ops::exp(y)) + 2);
    return std::array<Tensor, 3>{ops::concat(states).reshape(state.shape()), total + of_step, t + 1};
  };
  const Tensor zero = ir.constant(0.0, tw::float64), first = ir.constant(0, tw::int32);
  const tw::Graph graph = ir.create_graph(step, first_state, zero, first, weights, factors, characters);
  const std::int64_t steps = characters.shape(0) - 1;
  return tw::repeat(graph, steps, {first_state, zero, first, weights, factors, characters})[1] /
         static_cast<double>(-steps * bits);
}

template <Lstm lstm>
constexpr auto inputs_of(tw::Ir& ir) {
  constexpr auto layers = static_cast<std::int64_t>(lstm.layers), characters = static_cast<std::int64_t>(lstm.characters);
  return load_inputs(ir, {{{layers, 2, 4, bits}, tw::float64},
                          {{3, bits}, tw::float64},
                          {{layers, 2, bits}, tw::float64},
                          {{characters, bits}, tw::float64}});
}
template <Lstm lstm>
constexpr void value(tw::Ir& ir) {
  const auto [weights, factors, state, characters] = inputs_of<lstm>(ir);
  store_results(ir, {loss(weights, factors, state, characters)});
}
template <Lstm lstm>
constexpr void derivatives(tw::Ir& ir) {
  const auto [weights, factors, state, characters] = inputs_of<lstm>(ir);
  const auto both = tw::grad(loss, {0, 1})(weights, factors, state, characters);
  store_results(ir, {both[0], both[1]});
}

template <Lstm lstm>
int serve_lstm(const Problem& problem, bool is_value) {
  const std::span<const double> all(problem.inputs);
  const std::size_t of_weights = 8 * lstm.layers * Lstm::bits, parameters = lstm.parameters(), states = lstm.states();
  const auto serve_with = [&]<auto program>(const Numbers& expected) {
    return serve_program<program>(expected, all.first(of_weights), all.subspan(of_weights, 3 * Lstm::bits),
                                  all.subspan(parameters, states), all.subspan(parameters + states));
  };
  if (is_value) return serve_with.template operator()<value<lstm>>(problem.value);
  return serve_with.template operator()<derivatives<lstm>>(problem.derivatives);
}

}  // namespace

int main(int, char** arguments) {
  const bool is_value = std::string_view(arguments[2]) == "value";
  const Problem problem = Problem::read(arguments[3]);
  if (std::string_view(arguments[1]) == "lstm-2-1024") return serve_lstm<Lstm{2}>(problem, is_value);
  return serve_lstm<Lstm{4}>(problem, is_value);
}
