#pragma once
// Functions of mathematics, in float32 and float64.
namespace tw = tilewright;

template <tw::DType dtype>
constexpr void add_functions(tw::Ir& ir, std::string_view name) {
  using namespace tw::ops;
  const auto x = host_load(ir.h2d_stream("x", {64}, dtype)), y = host_load(ir.h2d_stream("y", {64}, dtype));
  tw::Tensor sum = pow(x, y) + fmod(x, y) + increment_mod(x, 1.5, 7.0) + logaddexp(x, y);
  for (const auto of : {&abs}) sum = sum + of(x);
  tw::ops::host_store(ir.d2h_stream(name, {64}, dtype), sum);
}
