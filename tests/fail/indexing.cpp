// Ops with indices that are given what they do not take, in a module inside a module.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

/// The layer without a case; a case's function of a Tensor is preferred.
constexpr auto layer(auto x) { return x; }

// CASE gather_indices
// expect: Gather: indices (8, 784) float32: integers expected, in Net/fc1
// expect: layer(
#ifdef CASE_gather_indices
constexpr Tensor layer(Tensor x) { return ops::gather(x, x); }
#endif

// CASE gather_group
// expect: Gather: axis 0 with groups: an axis after the first, which is that of the groups, expected, in Net/fc1
// expect: layer(
#ifdef CASE_gather_group
constexpr Tensor layer(Tensor x) { return ops::groupedgather(x, x.cast(tw::int32), 0, 8); }
#endif

// CASE scatter_shapes
// expect: Scatter: data (8, 784) float32 at indices (8, 784) int32 along axis 0 of (8, 1): tensors of one rank
// expect: layer(
#ifdef CASE_scatter_shapes
constexpr Tensor layer(Tensor x) { return ops::scatter(ops::sum(x, 1, true), x.cast(tw::int32), x); }
#endif

// CASE scatter_reduce_size
// expect: ScatterReduce: neither initial_values nor axis_size: one of them expected, in Net/fc1
// expect: layer(
#ifdef CASE_scatter_reduce_size
constexpr Tensor layer(Tensor x) { return ops::scatter_reduce(x, x.cast(tw::int32), tw::ScatterReduction::sum, {}); }
#endif

// CASE sparse_accumulate_constant
// expect: SparseAccumulate: Tensor[float32 (8, 784)] is a constant: a tensor that may change in place expected
// expect: layer(
#ifdef CASE_sparse_accumulate_constant
constexpr Tensor layer(Tensor x) {
  return ops::sparse_accumulate_(x.ir().constant({0}, {8, 784}), x, x.ir().constant({0}, {8}, tw::int32));
}
#endif

// CASE dynamic_slice_size
// expect: DynamicSlice: size 9 along axis 0 of (8, 784) float32: a size from 1 to 8 expected, in Net/fc1
// expect: layer(
#ifdef CASE_dynamic_slice_size
constexpr Tensor layer(Tensor x) { return ops::dynamic_slice(x, x.ir().constant({0}, {1}, tw::int32), {0}, {9}); }
#endif

// CASE dynamic_update_shape
// expect: DynamicUpdate: t_update (8, 784) float32 for a slice of (8, 784) float32: (4, 784) expected, in Net/fc1
// expect: layer(
#ifdef CASE_dynamic_update_shape
constexpr Tensor layer(Tensor x) { return ops::dynamic_update(x, x.ir().constant({0}, {1}, tw::int32), x, {0}, {4}); }
#endif

// CASE onehot_classes
// expect: OneHot: num_classes (8,) int32: a number, or a constant of one, expected, in Net/fc1
// expect: layer(
#ifdef CASE_onehot_classes
constexpr Tensor layer(Tensor x) {
  const Tensor labels = ops::sum(x, 1).cast(tw::int32);
  return ops::onehot(labels, labels, x.ir().constant({0, 1}, {2}));
}
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
