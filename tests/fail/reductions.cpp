// Reductions, indices and running sums of what they do not take.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

/// The layer without a case; a case's function of a Tensor is preferred.
constexpr auto layer(auto x) { return x; }

// CASE axis
// expect: ReduceMax: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/fc1
// expect: layer(
#ifdef CASE_axis
constexpr Tensor layer(Tensor x) { return ops::max(x, 2); }
#endif

// CASE floating_point
// expect: ReduceL2: (8, 784) int32: float16, float32 or float64 expected, in Net/fc1
// expect: layer(
#ifdef CASE_floating_point
constexpr Tensor layer(Tensor x) { return ops::l2(x.cast(tw::int32)); }
#endif

// CASE number
// expect: ArgMax: (8, 784) bool: a dtype of numbers expected: cast it first, in Net/fc1
// expect: layer(
#ifdef CASE_number
constexpr Tensor layer(Tensor x) { return ops::argmax(x.cast(tw::boolean)); }
#endif

// CASE top
// expect: TopK: 9 of axis 0 of (8, 784) float32: from 1 to 8 expected, in Net/fc1
// expect: layer(
#ifdef CASE_top
constexpr Tensor layer(Tensor x) { return ops::topk(x, 9, 0).values; }
#endif

// CASE levels
// expect: Histogram: level 1 after 2: levels that increase expected, in Net/fc1
// expect: layer(
#ifdef CASE_levels
constexpr Tensor layer(Tensor x) { return ops::histogram(x, {0, 2, 1}); }
#endif

struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) { return layer(x); }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Layer, fc1));
  constexpr Tensor build(Tensor x) { return fc1(x.reshape({-1, 28 * 28})); }
};
constexpr void train_step(tw::Ir& ir) {
  const auto images = ops::host_load(ir.h2d_stream("image", {8, 28, 28}));
  tw::create_graph(Net{}, images);
}
tw::Session<train_step> session;
