#include <tilewright/derivatives.hpp>
#include <tilewright/tilewright.hpp>
namespace tw = tilewright;

constexpr tw::Tensor g2(tw::Tensor x, tw::Tensor w) { return tw::ops::exp(x) * w; }
constexpr tw::Tensor g(tw::Tensor x) { return g2(x, x); }
constexpr tw::Tensor f2(tw::Tensor x, tw::Tensor w) { return tw::ops::sum(g2(x, w)); }
constexpr tw::Tensor f(tw::Tensor x) { return tw::ops::sum(g(x)); }
constexpr tw::Tensor h(tw::Tensor s) { return s * s * s; }

constexpr bool all_rows() {
  tw::Ir ir;
  const tw::Tensor x = ir.variable(tw::ones(), {3}, tw::float32, "x"), w = x, dx = x, dw = x, dy = x, v = x;
  const tw::Tensor rows = ir.variable(tw::ones(), {2, 3}, tw::float32, "rows");
  const tw::Tensor s = ir.variable(tw::ones(), {}, tw::float32, "s");
// the block
  return dx == dw && dy == v && rows.valid() && s.valid();
}
static_assert(all_rows());
