#pragma once
// A program for C: it adds a variable that counts to products with a constant one.
namespace package {
constexpr void add(tilewright::Ir& ir) {
  const auto x = tilewright::ops::host_load(ir.h2d_stream("x", {3}));
  const auto count = ir.variable(tilewright::ones(), {}, tilewright::float32, "count");
  const auto scale = ir.variable(tilewright::ones(), {}, tilewright::float32, "scale");
  tilewright::ops::host_store(ir.d2h_stream("y", {3}), x * scale + count);
  tilewright::ops::add_(count, ir.constant(1.0));
}
}  // namespace package
