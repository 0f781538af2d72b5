#pragma once
// Another library's program of the same name. It divides, so it can have faults.
namespace tw = tilewright;

namespace other {
constexpr void train_step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {3}, tw::int32));
  const auto w = ir.variable(tw::values({6, 7, 8}), {3}, tw::int32, "net.w");
  tw::ops::host_store(ir.d2h_stream("quotient", {3}, tw::int32), w / x);
}
}  // namespace other
