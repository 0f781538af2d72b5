// Slices, concats and splits that are none, and changes in place of what has no memory of its own, in a module inside a module.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

/// The layer without a case; a case's function of a Tensor is preferred.
constexpr auto layer(auto x) { return x; }

// CASE empty
// expect: Slice: (8, 784) float32, [5:2] along axis 0: at least one element expected, in Net/fc1
// expect: layer(
#ifdef CASE_empty
constexpr Tensor layer(Tensor x) { return x[tw::slice(5, 2)]; }
#endif

// CASE element
// expect: Slice: (8, 784) float32, element 8 along axis 0: one from -8 to 7 expected, in Net/fc1
// expect: layer(
#ifdef CASE_element
constexpr Tensor layer(Tensor x) { return x[{8, tw::ellipsis}]; }
#endif

// CASE lists
// expect: Slice: (8, 784) float32, with 1 and with 2 positions: lists of one length expected, in Net/fc1
// expect: layer(
#ifdef CASE_lists
constexpr Tensor layer(Tensor x) { return ops::slice(x, {1, 2}, 3); }
#endif

// CASE truth
// expect: operator[]
#ifdef CASE_truth
constexpr Tensor layer(Tensor x) { return x[true]; }
#endif

// CASE concat
// expect: Concat: (8, 784) and (784, 8) along axis 0: shapes that are equal but for that axis expected, in Net/fc1
// expect: layer(
#ifdef CASE_concat
constexpr Tensor layer(Tensor x) { return ops::concat({x, x.T()}); }
#endif

// CASE concat_of_nothing
// expect-in-source: Concat: no tensors: at least one expected
#ifdef CASE_concat_of_nothing
constexpr Tensor layer(Tensor x) { return ops::concat({}, x.rank()); }
#endif

// CASE split
// expect: Split: (8, 784) float32 into 3 parts along axis 0: a number that divides 8 expected, in Net/fc1
// expect: layer(
#ifdef CASE_split
constexpr Tensor layer(Tensor x) { return ops::split(x, 3)[0]; }
#endif

// CASE squeeze
// expect: Squeeze: (8, 784) float32 without axis 0, whose extent is 8: an extent of 1 expected, in Net/fc1
// expect: layer(
#ifdef CASE_squeeze
constexpr Tensor layer(Tensor x) { return x.squeeze(0); }
#endif

// CASE expanded
// expect: Accumulate: Tensor[float32 (8, 784)], which repeats the elements of Tensor[float32 (784,)]: a tensor with memory for
// expect: each element expected, in Net/fc1
// expect: layer(
#ifdef CASE_expanded
constexpr Tensor layer(Tensor x) { return ops::accumulate_(x[0].expand({8, 784}), x); }
#endif

// CASE concat_in_place
// expect: Accumulate: Tensor[float32 (16, 784)] of ConcatInplace, which is a copy: a tensor that may change in place expected
// expect: layer(
#ifdef CASE_concat_in_place
constexpr Tensor layer(Tensor x) { return ops::accumulate_(ops::concat_({x, x}), x); }
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
