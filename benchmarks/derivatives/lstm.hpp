#pragma once
// The loss of a recurrent network that foretells the next of c characters, each of 14 bits. Its gates have a weight and a bias
// for each bit. Inputs in order: weights and biases of the l layers' four gates (l, 2, 4, bits), a factor of the input, and a
// factor and a bias of the result (3, bits); then, without derivatives, first hidden states and cells (l, 2, bits), and
// characters (c, bits).
#include <cmath>
#include <random>

#include "problem.hpp"

struct Lstm {
  static constexpr std::size_t bits = 14;
  std::size_t layers = 2, characters = 1024;

  constexpr std::size_t parameters() const { return (8 * layers + 3) * bits; }
  constexpr std::size_t states() const { return 2 * layers * bits; }
  double count() const { return static_cast<double>((characters - 1) * bits); }

  Numbers draw() const {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    Numbers inputs(parameters() + states() + characters * bits);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      inputs[i] = i < parameters() + states() ? normal(random) : static_cast<double>(random() >> 63);
    return inputs;
  }

  template <class T>
  static T sigmoid(const T& x) {
    using std::exp;
    return 1 / (1 + exp(-x));
  }
  /// Plain loops for doubles, and for the numbers of libraries that record what is done with them.
  template <class T>
  T value(const T* weights, const double* first_state, const double* sequence) const {
    using std::exp, std::log, std::tanh;
    const T* extra = weights + 8 * layers * bits;
    std::vector<T> state(first_state, first_state + states()), x(bits);
    T total = 0;
    for (std::size_t t = 0; t + 1 < characters; ++t) {
      for (std::size_t i = 0; i < bits; ++i) x[i] = sequence[t * bits + i] * extra[i];
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const T *w = weights + 8 * layer * bits, *b = w + 4 * bits;
        T *hidden = state.data() + 2 * layer * bits, *cell = hidden + bits;
        for (std::size_t i = 0; i < bits; ++i) {
          const T forget = sigmoid<T>(x[i] * w[i] + b[i]), in = sigmoid<T>(hidden[i] * w[bits + i] + b[bits + i]);
          const T out = sigmoid<T>(x[i] * w[2 * bits + i] + b[2 * bits + i]);
          const T change = tanh(hidden[i] * w[3 * bits + i] + b[3 * bits + i]);
          cell[i] = cell[i] * forget + in * change;
          x[i] = hidden[i] = out * tanh(cell[i]);
        }
      }
      T sum = 2, product = 0, ones = 0;
      for (std::size_t i = 0; i < bits; ++i) {
        const T y = x[i] * extra[bits + i] + extra[2 * bits + i];
        sum += exp(y);
        product += sequence[(t + 1) * bits + i] * y;
        ones += sequence[(t + 1) * bits + i];
      }
      total += product - ones * log(sum);
    }
    return -total / count();
  }
  /// The gradient by hand, back through the stored gates of all steps.
  void gradient(const double* weights, const double* first_state, const double* sequence, double* result) const {
    struct Gate {
      double x, hidden, cell, forget, in, out, change, squashed;
    };
    const double* extra = weights + 8 * layers * bits;
    double* of_extra = result + 8 * layers * bits;
    const std::size_t steps = characters - 1, of_step = layers * bits;
    std::vector<Gate> gates(steps * of_step);
    Numbers state(first_state, first_state + states()), x(bits), y(bits), of_state(states()), of_x(bits), last(steps * bits);
    std::fill_n(result, parameters(), 0.0);
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t i = 0; i < bits; ++i) x[i] = sequence[t * bits + i] * extra[i];
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const double *w = weights + 8 * layer * bits, *b = w + 4 * bits;
        double *hidden = state.data() + 2 * layer * bits, *cell = hidden + bits;
        for (std::size_t i = 0; i < bits; ++i) {
          Gate& gate = gates[t * of_step + layer * bits + i];
          gate = {x[i],
                  hidden[i],
                  cell[i],
                  sigmoid(x[i] * w[i] + b[i]),
                  sigmoid(hidden[i] * w[bits + i] + b[bits + i]),
                  sigmoid(x[i] * w[2 * bits + i] + b[2 * bits + i]),
                  std::tanh(hidden[i] * w[3 * bits + i] + b[3 * bits + i]),
                  0};
          cell[i] = cell[i] * gate.forget + gate.in * gate.change;
          gate.squashed = std::tanh(cell[i]);
          x[i] = hidden[i] = gate.out * gate.squashed;
        }
      }
      std::copy(x.begin(), x.end(), last.data() + t * bits);
    }
    for (std::size_t t = steps; t-- > 0;) {
      const double *h = last.data() + t * bits, *gold = sequence + (t + 1) * bits;
      double sum = 2, ones = 0;
      for (std::size_t i = 0; i < bits; ++i) {
        y[i] = std::exp(h[i] * extra[bits + i] + extra[2 * bits + i]);
        sum += y[i];
        ones += gold[i];
      }
      for (std::size_t i = 0; i < bits; ++i) {
        const double of_y = -(gold[i] - ones * y[i] / sum) / count();
        of_extra[bits + i] += of_y * h[i];
        of_extra[2 * bits + i] += of_y;
        of_x[i] = of_y * extra[bits + i];
      }
      for (std::size_t layer = layers; layer-- > 0;) {
        const double* w = weights + 8 * layer * bits;
        double *of_w = result + 8 * layer * bits, *of_b = of_w + 4 * bits;
        double *of_hidden = of_state.data() + 2 * layer * bits, *of_cell = of_hidden + bits;
        for (std::size_t i = 0; i < bits; ++i) {
          const Gate& gate = gates[t * of_step + layer * bits + i];
          const double of_result = of_x[i] + of_hidden[i];
          const double of_new = of_cell[i] + of_result * gate.out * (1 - gate.squashed * gate.squashed);
          const double of_forget = of_new * gate.cell * gate.forget * (1 - gate.forget);
          const double of_in = of_new * gate.change * gate.in * (1 - gate.in);
          const double of_out = of_result * gate.squashed * gate.out * (1 - gate.out);
          const double of_change = of_new * gate.in * (1 - gate.change * gate.change);
          of_cell[i] = of_new * gate.forget;
          of_hidden[i] = of_in * w[bits + i] + of_change * w[3 * bits + i];
          of_x[i] = of_forget * w[i] + of_out * w[2 * bits + i];
          of_w[i] += of_forget * gate.x, of_b[i] += of_forget;
          of_w[bits + i] += of_in * gate.hidden, of_b[bits + i] += of_in;
          of_w[2 * bits + i] += of_out * gate.x, of_b[2 * bits + i] += of_out;
          of_w[3 * bits + i] += of_change * gate.hidden, of_b[3 * bits + i] += of_change;
        }
      }
      for (std::size_t i = 0; i < bits; ++i) of_extra[i] += of_x[i] * sequence[t * bits + i];
    }
  }
};
