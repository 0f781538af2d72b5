#pragma once
#include "fusion_checks.hpp"

/// Layer normalisation, attention with a mask, two layers, and additions around them.
struct Encoder : tw::Module<Encoder> {
  constexpr tw::Tensor build(tw::Tensor x) {
    const auto matrix = [&](std::string_view name, std::int64_t rows, std::int64_t columns) {
      return add_variable_input(name, tw::zeros(), {rows, columns}) * 0.25;
    };
    const auto vector = [&](std::string_view name) { return add_variable_input(name, tw::zeros(), {24}); };
    const auto heads = [&](tw::Tensor t, const tw::Shape& order) { return t.reshape({2, 20, 3, 8}).transpose(order); };
    const tw::Tensor normal = tw::ops::layer_norm(x, vector("scale"), vector("shift"));
    const tw::Tensor q = heads(normal.matmul(matrix("q", 24, 24)), {0, 2, 1, 3});
    const tw::Tensor k = heads(normal.matmul(matrix("k", 24, 24)), {0, 2, 3, 1});
    const tw::Tensor v = heads(normal.matmul(matrix("v", 24, 24)), {0, 2, 1, 3});
    const tw::Tensor p = tw::ops::softmax(q.matmul(k) * 0.5 + add_variable_input("mask", tw::zeros(), {20, 20}));
    x = x + p.matmul(v).transpose({0, 2, 1, 3}).reshape({2, 20, 24}).matmul(matrix("out", 24, 24)) + vector("bias");
    return x + tw::ops::gelu(x.matmul(matrix("widen", 24, 96))).matmul(matrix("narrow", 96, 24));
  }
};
constexpr void encoder(tw::Ir& ir) { train<Encoder>(variable(ir, "x", {2, 20, 24}), descend); }
