// Ops that are given what they do not take, in a module inside a module.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

/// The layer without a case; a case's function of a Tensor is preferred.
constexpr auto layer(auto x) { return x; }

// CASE inner_dimension
// expect: MatMul: (8, 784) x (783, 512): inner dimensions 784 and 783 differ, in Net/fc1
// expect: layer(
#ifdef CASE_inner_dimension
constexpr Tensor layer(Tensor x) { return x.matmul(x.ir().constant({0}, {783, 512})); }
#endif

// CASE count_of_elements
// expect: Reshape: (8, 784) float32 to (3, -1): a shape of 6272 elements expected, in Net/fc1
// expect: layer(
#ifdef CASE_count_of_elements
constexpr Tensor layer(Tensor x) { return x.reshape({3, -1}); }
#endif

// CASE two_holes
// expect: Reshape: (8, 784) float32 to (-1, 28, -1): at most one -1 expected, in Net/fc1
// expect: layer(
#ifdef CASE_two_holes
constexpr Tensor layer(Tensor x) { return x.reshape({-1, 28, -1}); }
#endif

// CASE permutation
// expect: Transpose: (8, 784) float32 by (1, 1): a permutation of the axes 0 to 1 expected, in Net/fc1
// expect: layer(
#ifdef CASE_permutation
constexpr Tensor layer(Tensor x) { return x.transpose({1, 1}); }
#endif

// CASE broadcast
// expect: Add: (8, 784) and (8,): shapes that broadcast expected, in Net/fc1
// expect: layer(
#ifdef CASE_broadcast
constexpr Tensor layer(Tensor x) { return x + ops::sum(x, 1); }
#endif

// CASE equal_dtypes
// expect: Mul: (8, 784) float32 and (8, 784) float16: equal dtypes expected, in Net/fc1
// expect: layer(
#ifdef CASE_equal_dtypes
constexpr Tensor layer(Tensor x) { return x * x.cast(tw::float16); }
#endif

// CASE floating_point
// expect: Gelu: (8, 784) int32: float16, float32 or float64 expected, in Net/fc1
// expect: layer(
#ifdef CASE_floating_point
constexpr Tensor layer(Tensor x) { return ops::gelu(x.cast(tw::int32)); }
#endif

// CASE axis
// expect: Softmax: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/fc1
// expect: layer(
#ifdef CASE_axis
constexpr Tensor layer(Tensor x) { return ops::softmax(x, 2); }
#endif

// CASE axis_twice
// expect: ReduceMean: axis 1 twice: distinct axes expected, in Net/fc1
// expect: layer(
#ifdef CASE_axis_twice
constexpr Tensor layer(Tensor x) { return ops::mean(x, {1, -1}); }
#endif

// CASE axis_of_shape
// expect: shape: axis 2 of (8, 784): an axis from -2 to 1 expected, in Net/fc1
// expect: layer(
#ifdef CASE_axis_of_shape
constexpr Tensor layer(Tensor x) { return x.reshape({x.shape(2), -1}); }
#endif

// CASE channels
// expect: Conv: weight (4, 2, 3, 3) for (8, 1, 28, 28) in 1 group: 1 channels expected, in Net/fc1
// expect: layer(
#ifdef CASE_channels
constexpr Tensor layer(Tensor x) { return ops::conv(x.reshape({8, 1, 28, 28}), x.ir().constant({0}, {4, 2, 3, 3})); }
#endif

// CASE labels
// expect: Nll: labels (8,) float32 for probabilities (8, 784) float32: (8,) int32 or uint32 expected, in Net/fc1
// expect: layer(
#ifdef CASE_labels
constexpr Tensor layer(Tensor x) { return ops::nll_loss(ops::softmax(x), ops::sum(x, 1)); }
#endif

// CASE store
// expect: HostStore: (8, 784) float32 for stream `loss`: () float32 expected, in Net/fc1
// expect: layer(
#ifdef CASE_store
constexpr Tensor layer(Tensor x) {
  ops::host_store(x.ir().d2h_stream("loss", {}, tw::float32), x);
  return x;
}
#endif

// CASE stream_name
// expect: stream: `image` exists already: stream names are unique, in Net/fc1
// expect: layer(
#ifdef CASE_stream_name
constexpr Tensor layer(Tensor x) { return ops::host_load(x.ir().h2d_stream("image", x.spec())); }
#endif

// CASE count_of_values
// expect: constant: 3 values for shape (2, 2): 4 expected, in Net/fc1
// expect: layer(
#ifdef CASE_count_of_values
constexpr Tensor layer(Tensor x) { return x.ir().constant({1, 2, 3}, {2, 2}); }
#endif

// CASE long_title
// expect: print_tensor: title `a title of many words, with which one would say all about a tensor` of 66 characters: at most 64
// expect: expected, in Net/fc1
// expect: layer(
#ifdef CASE_long_title
constexpr Tensor layer(Tensor x) {
  return ops::print_tensor(x, {.title = "a title of many words, with which one would say all about a tensor"});
}
#endif

// CASE edge_items
// expect: print_tensor: edge_items 0: at least 1 expected, in Net/fc1
// expect: layer(
#ifdef CASE_edge_items
constexpr Tensor layer(Tensor x) { return ops::print_tensor(x, {.edge_items = 0}); }
#endif

// CASE digits
// expect: print_tensor: digits -1: at least 0 expected, in Net/fc1
// expect: layer(
#ifdef CASE_digits
constexpr Tensor layer(Tensor x) { return ops::print_tensor(x, {.digits = -1}); }
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
