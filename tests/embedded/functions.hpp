#pragma once
// Functions of mathematics, in float32 and float64.
namespace tw = tilewright;

template <tw::DType dtype>
constexpr void apply_all(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {5}, dtype)), y = tw::ops::host_load(ir.h2d_stream("y", {5}, dtype));
  int number = 0;
  const auto store = [&](tw::Tensor result) { tw::ops::host_store(ir.d2h_stream(tw::text("result ", ++number), {5}, dtype), result); };
  using namespace tw::ops;
  for (const auto& each : {exp(x), expm1(x), log(x), log2(x), log1p(x), sqrt(x), rsqrt(x), tanh(x), erf(x), gelu(x)}) store(each);
  for (const auto& each : {sin(x), cos(x), tan(x), asin(x), acos(x), atan(x), sinh(x), cosh(x)}) store(each);
  for (const auto& each : {floor(x), ceil(x), round(x), pow(x, y), fmod(x, y), atan2(x, y)}) store(each);
}
constexpr void float32_functions(tw::Ir& ir) { apply_all<tw::float32>(ir); }
constexpr void float64_functions(tw::Ir& ir) { apply_all<tw::float64>(ir); }
