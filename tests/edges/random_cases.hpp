#pragma once
// Random programs, which tests/reference/make_edge_values.py writes and computes.
#include "cases.hpp"

namespace edges {

constexpr Tensor random_0([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::expand(ops::sum(t0, 0, true), {3, 4});
  const Tensor t3 = ops::relu(t2);
  const Tensor t4 = ops::tanh(t3);
  const Tensor t5 = ops::expand(ops::sum(t3, 0, true), {3, 4});
  const Tensor t6 = ops::expand(ops::sum(t4, 0, true), {3, 4});
  const Tensor t7 = ops::expand(ops::sum(t5, 0, true), {3, 4});
  return t7 + t6;
}

constexpr Tensor random_1([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::cumsum(t0, 1);
  const Tensor t3 = ops::tanh(t2);
  const Tensor t4 = ops::maximum(t3, t1);
  const Tensor t5 = t4 * t1;
  return t5 + t4;
}

constexpr Tensor random_2([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::abs(t1);
  const Tensor t3 = ops::sqrt(t1 * t1 + 1);
  const Tensor t4 = ops::sigmoid(t3);
  const Tensor t5 = t3 - t4;
  const Tensor t6 = -t4;
  const Tensor t7 = t6 - ops::mean(t6, 1, true);
  return t7 + t6;
}

constexpr Tensor random_3([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::sigmoid(t1);
  const Tensor t3 = -t1;
  const Tensor t4 = t3 - ops::mean(t3, 1, true);
  const Tensor t5 = ops::relu(t4);
  const Tensor t6 = ops::softmax(t5);
  const Tensor t7 = t5 - ops::logsumexp(t5, 1, true);
  return t7 + t6;
}

constexpr Tensor random_4([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::maximum(t0, t1);
  const Tensor t3 = ops::maximum(t1, t2);
  const Tensor t4 = ops::sigmoid(t3);
  const Tensor t5 = ops::abs(t4);
  const Tensor t6 = t4 - t1;
  return t6 + t5;
}

constexpr Tensor random_5([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t1 - t1;
  const Tensor t3 = ops::softmax(t1);
  const Tensor t4 = ops::abs(t2);
  const Tensor t5 = ops::abs(t4);
  const Tensor t6 = ops::sqrt(t5 * t5 + 1);
  return t6 + t5;
}

constexpr Tensor random_6([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::cumsum(t0, 1);
  const Tensor t3 = ops::maximum(t2, t1);
  const Tensor t4 = t3 * 0.5;
  const Tensor t5 = -t3;
  return t5 + t4;
}

constexpr Tensor random_7([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::expand(ops::sum(t0, 0, true), {3, 4});
  const Tensor t3 = t1 - ops::mean(t1, 1, true);
  const Tensor t4 = ops::softplus(t3);
  const Tensor t5 = ops::abs(t3);
  const Tensor t6 = ops::tanh(t5);
  const Tensor t7 = ops::swish(t5);
  return t7 + t6;
}

constexpr Tensor random_8([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::relu(t1);
  const Tensor t3 = -t2;
  const Tensor t4 = t2 + t3;
  const Tensor t5 = ops::tanh(t4);
  const Tensor t6 = ops::sqrt(t5 * t5 + 1);
  return t6 + t5;
}

constexpr Tensor random_9([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t0 * t0;
  const Tensor t3 = ops::swish(t1);
  const Tensor t4 = t2 + t2;
  const Tensor t5 = ops::maximum(t3, t4);
  return t5 + t4;
}

constexpr Tensor random_10([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t1 / (ops::abs(t0) + 1);
  const Tensor t3 = t1 + t1;
  const Tensor t4 = ops::swish(t2);
  const Tensor t5 = -t4;
  const Tensor t6 = t5 - ops::logsumexp(t5, 1, true);
  const Tensor t7 = ops::tanh(t6);
  return t7 + t6;
}

constexpr Tensor random_11([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::swish(t0);
  const Tensor t3 = t1 - ops::mean(t1, 1, true);
  const Tensor t4 = ops::tanh(t3);
  return t4 + t3;
}

constexpr Tensor random_12([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::abs(t0);
  const Tensor t3 = ops::sigmoid(t2);
  const Tensor t4 = -t2;
  const Tensor t5 = ops::softmax(t4);
  const Tensor t6 = t4 - ops::logsumexp(t4, 1, true);
  return t6 + t5;
}

constexpr Tensor random_13([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t0 * t1;
  const Tensor t3 = ops::sigmoid(t1);
  const Tensor t4 = ops::abs(t3);
  const Tensor t5 = t3 + t3;
  const Tensor t6 = ops::expand(ops::sum(t4, 0, true), {3, 4});
  const Tensor t7 = t5 - t0;
  return t7 + t6;
}

constexpr Tensor random_14([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t0 - t0;
  const Tensor t3 = ops::sigmoid(t1);
  const Tensor t4 = t3 * t2;
  return t4 + t3;
}

constexpr Tensor random_15([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t0 - ops::logsumexp(t0, 1, true);
  const Tensor t3 = ops::softplus(t2);
  const Tensor t4 = ops::tanh(t3);
  const Tensor t5 = t4 / (ops::abs(t4) + 1);
  const Tensor t6 = ops::gather(t5, t5.ir().constant({1, 0, 1}, {3}, tw::int32));
  const Tensor t7 = t6 - ops::logsumexp(t6, 1, true);
  return t7 + t6;
}

constexpr Tensor random_16([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t0 - ops::mean(t0, 1, true);
  const Tensor t3 = t2 + t1;
  const Tensor t4 = ops::relu(t3);
  const Tensor t5 = ops::softmax(t4);
  const Tensor t6 = t5 * t5;
  return t6 + t5;
}

constexpr Tensor random_17([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t1 - t0;
  const Tensor t3 = ops::softmax(t1);
  const Tensor t4 = t3 * 0.5;
  const Tensor t5 = ops::softmax(t4);
  const Tensor t6 = ops::sqrt(t4 * t4 + 1);
  return t6 + t5;
}

constexpr Tensor random_18([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t1 * 0.5;
  const Tensor t3 = t2 * t1;
  const Tensor t4 = ops::sigmoid(t2);
  const Tensor t5 = t3 - ops::logsumexp(t3, 1, true);
  const Tensor t6 = ops::expand(ops::sum(t4, 0, true), {3, 4});
  const Tensor t7 = t6 + t2;
  return t7 + t6;
}

constexpr Tensor random_19([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::sqrt(t1 * t1 + 1);
  const Tensor t3 = t2 * 0.5;
  const Tensor t4 = ops::sigmoid(t3);
  const Tensor t5 = ops::tanh(t3);
  const Tensor t6 = t5 + t3;
  return t6 + t5;
}

constexpr Tensor random_20([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = ops::abs(t1);
  const Tensor t3 = t2 * t0;
  const Tensor t4 = ops::cumsum(t3, 1);
  const Tensor t5 = ops::relu(t4);
  const Tensor t6 = ops::sigmoid(t4);
  const Tensor t7 = ops::maximum(t5, t6);
  return t7 + t6;
}

constexpr Tensor random_21([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t1 + t1;
  const Tensor t3 = ops::softmax(t1);
  const Tensor t4 = ops::sigmoid(t3);
  const Tensor t5 = ops::expand(ops::sum(t3, 0, true), {3, 4});
  return t5 + t4;
}

constexpr Tensor random_22([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t0 * 0.5;
  const Tensor t3 = ops::maximum(t2, t0);
  const Tensor t4 = t3 - ops::logsumexp(t3, 1, true);
  const Tensor t5 = ops::swish(t3);
  const Tensor t6 = t5 * t5;
  const Tensor t7 = ops::sigmoid(t6);
  return t7 + t6;
}

constexpr Tensor random_23([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {
  const Tensor t2 = t1 - ops::logsumexp(t1, 1, true);
  const Tensor t3 = ops::abs(t2);
  const Tensor t4 = ops::swish(t3);
  return t4 + t3;
}

constexpr void random_programs(const Cases& c) {
  const auto x = c.real({3, 4});
  c.add("random_0", random_0, x, x);
  c.add("random_1", random_1, x, x);
  c.add("random_2", random_2, x, x);
  c.add("random_3", random_3, x, x);
  c.add("random_4", random_4, x, x);
  c.add("random_5", random_5, x, x);
  c.add("random_6", random_6, x, x);
  c.add("random_7", random_7, x, x);
  c.add("random_8", random_8, x, x);
  c.add("random_9", random_9, x, x);
  c.add("random_10", random_10, x, x);
  c.add("random_11", random_11, x, x);
  c.add("random_12", random_12, x, x);
  c.add("random_13", random_13, x, x);
  c.add("random_14", random_14, x, x);
  c.add("random_15", random_15, x, x);
  c.add("random_16", random_16, x, x);
  c.add("random_17", random_17, x, x);
  c.add("random_18", random_18, x, x);
  c.add("random_19", random_19, x, x);
  c.add("random_20", random_20, x, x);
  c.add("random_21", random_21, x, x);
  c.add("random_22", random_22, x, x);
  c.add("random_23", random_23, x, x);
}

}  // namespace edges
