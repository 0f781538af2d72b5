#pragma once
// Another library's program of the same name. It divides, so it can have faults. Names of its own are no names of C.
namespace tw = tilewright;

namespace other {
constexpr void train_step(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("int", {3}, tw::int32));
  const auto w = ir.variable(tw::values({6, 7, 8}), {3}, tw::int32, "net.w");
  const auto ones = ir.variable(tw::values({1, 1, 1}), {3}, tw::int32, "net_w");
  tw::ops::host_store(ir.d2h_stream("1 \"quotient\"\\\n", {3}, tw::int32), w / x * ones);
}
}  // namespace other
