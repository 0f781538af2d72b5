#pragma once
// Products and convolutions of the networks of examples/embedded/mps2, each a program, for loops.c to compare, and a training
// step.
#include <tilewright/ops/linear/conv.hpp>
#include <tilewright/ops/linear/matmul.hpp>

#include "../../examples/embedded/mps2/digits.hpp"

constexpr tw::Tensor load(tw::Ir& ir, const char* name, tw::Shape shape) {
  return tw::ops::host_load(ir.h2d_stream(name, shape));
}
constexpr void store(tw::Ir& ir, tw::Tensor y) { tw::ops::host_store(ir.d2h_stream("y", y.shape()), y); }

/// (8, 784) by (784, 32).
constexpr void product(tw::Ir& ir) { store(ir, tw::ops::matmul(load(ir, "a", {8, 784}), load(ir, "b", {784, 32}))); }
/// The gradient of its second operand: (784, 8) by (8, 32), where the first one is given as (8, 784).
constexpr void weight_gradient(tw::Ir& ir) {
  store(ir, tw::ops::matmul(load(ir, "a", {8, 784}).transpose({1, 0}), load(ir, "b", {8, 32})));
}
/// Images (8, 8, 13, 13) with weights (16, 8, 3, 3).
constexpr void convolution(tw::Ir& ir) { store(ir, tw::ops::conv(load(ir, "a", {8, 8, 13, 13}), load(ir, "b", {16, 8, 3, 3}))); }
