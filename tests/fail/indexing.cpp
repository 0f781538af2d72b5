// labels: none
// Ops with indices that are given what they do not take.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{8, 5}, function>;

constexpr Tensor indices(Tensor x, const Shape& shape) { return tensor(x, shape, tw::int32); }

// CASE gather_indices
// expect: Gather: indices (8, 5) float32: integers expected, in Net/layer
Case<[](Tensor x) { return ops::gather(x, x); }> gather_indices;

// CASE gather_axis
// expect: PopartTiedGather: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::tied_gather(x, indices(x, {3}), 2); }> gather_axis;

// CASE gather_from_a_scalar
// expect: Gather: axis 0 of a scalar: a tensor with axes expected, in Net/layer
Case<[](Tensor x) { return ops::gather(tensor(x, {}), indices(x, {3})); }> gather_from_a_scalar;

// CASE gather_rank
// expect: Gather: (2, 2, 2, 5) float32 at indices (1, 1, 1, 1) int32, a result of 7 axes: at most 6 axes expected, in Net/layer
Case<[](Tensor x) { return ops::gather(x.reshape({2, 2, 2, 5}), indices(x, {1, 1, 1, 1})); }> gather_rank;

#pragma GCC diagnostic error "-Wdeprecated-declarations"
// CASE gather_proportion
// expect: Gather: available_memory_proportion 1.5: a number from 0 to 1 expected, in Net/layer
// expect: since 0.3.0: use the op without this option, which has no effect
Case<[](Tensor x) { return ops::gather(x, indices(x, {3}), 0, {.available_memory_proportion = 1.5}); }> gather_proportion;

// CASE gather_group_axis
// expect: Gather: axis 0 with group_size 8: an axis other than 0, the axis of the groups, expected, in Net/layer
Case<[](Tensor x) { return ops::groupedgather(x, x.cast(tw::int32), 0, 8); }> gather_group_axis;

// CASE gather_group_size
// expect: Gather: group_size 0: a number above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::groupedgather(x, x.cast(tw::int32), 1, 0); }> gather_group_size;

// CASE gather_groups
// expect: Gather: (8, 5) float32 and indices (4, 3) int32 with group_size 8: 8 elements along axis 0 of both tensors expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::groupedgather(x, indices(x, {4, 3}), 1, 8); }> gather_groups;

// CASE scatter_indices
// expect: Scatter: indices (8, 5) float32: integers expected, in Net/layer
Case<[](Tensor x) { return ops::scatter(x, x, x); }> scatter_indices;

// CASE scatter_axis
// expect: Scatter: axis -3 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::scatter(x, x.cast(tw::int32), x, -3); }> scatter_axis;

// CASE scatter_dtypes
// expect: Scatter: (8, 5) float16 and (8, 5) float32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::scatter(x, x.cast(tw::int32), x.cast(tw::float16)); }> scatter_dtypes;

// CASE scatter_shapes
// expect: Scatter: data (8, 5) float32 at indices (8, 5) int32 along axis 0 of (8, 1): tensors of one rank, and indices
// expect: that are no longer than the data and, along other axes, than the result expected, in Net/layer
Case<[](Tensor x) { return ops::scatter(ops::sum(x, 1, true), x.cast(tw::int32), x); }> scatter_shapes;

// CASE scatter_reduce_indices
// expect: ScatterReduce: indices (8, 5) float32: integers expected, in Net/layer
Case<[](Tensor x) { return ops::scatter_reduce(x, x, tw::ScatterReduction::sum, {.axis_size = 9}); }> scatter_reduce_indices;

// CASE scatter_reduce_size
// expect: ScatterReduce: neither initial_values nor axis_size: one of them expected, in Net/layer
Case<[](Tensor x) { return ops::scatter_reduce(x, x.cast(tw::int32), tw::ScatterReduction::sum, {}); }> scatter_reduce_size;

// CASE scatter_reduce_size_0
// expect: ScatterReduce: axis_size 0: a number above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::scatter_reduce(x, x.cast(tw::int32), tw::ScatterReduction::max, {.axis_size = 0}); }>
    scatter_reduce_size_0;

// CASE scatter_reduce_two_sizes
// expect: ScatterReduce: axis_size 9 with initial_values (8, 5) float32: 8 expected, in Net/layer
Case<[](Tensor x) {
  return ops::scatter_reduce(x, x.cast(tw::int32), tw::ScatterReduction::sum, {.initial_values = x, .axis_size = 9});
}>
    scatter_reduce_two_sizes;

// CASE scatter_reduce_axis
// expect: ScatterReduce: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::scatter_reduce(x, x.cast(tw::int32), tw::ScatterReduction::sum, {.axis = 2, .axis_size = 9}); }>
    scatter_reduce_axis;

// CASE scatter_reduce_broadcast
// expect: ScatterReduce: indices (5,) int32 for data (8, 5) float32 along axis 0: the data`s shape, or one index for each place
// expect: along the axis, expected, in Net/layer
Case<[](Tensor x) { return ops::scatter_reduce(x, indices(x, {5}), tw::ScatterReduction::min, {.axis_size = 9}); }>
    scatter_reduce_broadcast;

// CASE scatter_reduce_initial_values
// expect: ScatterReduce: data (8, 5) float32 at indices (8,) int32 along axis 0 of (9, 4):
Case<[](Tensor x) {
  return ops::scatter_reduce(x, indices(x, {8}), tw::ScatterReduction::sum, {.initial_values = tensor(x, {9, 4})});
}>
    scatter_reduce_initial_values;

// CASE scatter_reduce_dtypes
// expect: ScatterReduce: (8, 5) float32 and (8, 5) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) {
  return ops::scatter_reduce(x, indices(x, {8}), tw::ScatterReduction::sum, {.initial_values = x.cast(tw::int32)});
}>
    scatter_reduce_dtypes;

// CASE scatter_reduce_of_bools
// expect: ScatterReduce: (8, 5) bool: numbers, or a reduction that is none, expected, in Net/layer
Case<[](Tensor x) {
  return ops::scatter_reduce(x.cast(tw::boolean), indices(x, {8}), tw::ScatterReduction::sum, {.axis_size = 9});
}>
    scatter_reduce_of_bools;

// CASE scatter_reduce_group_size
// expect: ScatterReduce: group_size 0: a number above 0 expected, in Net/layer
Case<[](Tensor x) {
  return ops::grouped_scatter_reduce(x, indices(x, {8, 5}), tw::ScatterReduction::sum, 0, {.axis = 1, .axis_size = 9});
}>
    scatter_reduce_group_size;

// CASE scatter_reduce_groups
// expect: ScatterReduce: (8, 5) float32 along axis 1 with group_size 4: 4 elements along axis 0, and another axis than 0,
// expect: expected, in Net/layer
Case<[](Tensor x) {
  return ops::grouped_scatter_reduce(x, indices(x, {8, 5}), tw::ScatterReduction::sum, 4, {.axis = 1, .axis_size = 9});
}>
    scatter_reduce_groups;

// CASE scatter_reduce_proportion
// expect: ScatterReduce: available_memory_proportion -0.5: a number from 0 to 1 expected, in Net/layer
Case<[](Tensor x) {
  return ops::scatter_reduce(x, indices(x, {8}), tw::ScatterReduction::sum,
                             {.axis_size = 9, .available_memory_proportion = -0.5});
}>
    scatter_reduce_proportion;

// CASE sparse_accumulate_constant
// expect: SparseAccumulate: Tensor[float32 (8, 5)] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) { return ops::sparse_accumulate_(x.ir().constant({0}, {8, 5}), x, indices(x, {8})); }>
    sparse_accumulate_constant;

// CASE sparse_accumulate_shape
// expect: SparseAccumulate: (8, 5) float32 to (9, 4) float32 at indices (8,) int32: the shape of a gather from (9, 4) float32
// expect: expected
Case<[](Tensor x) { return ops::sparse_accumulate_(tensor(x, {9, 4}), x, indices(x, {8})); }> sparse_accumulate_shape;

// CASE sparse_accumulate_indices
// expect: SparseAccumulate: indices (8,) float32: integers expected, in Net/layer
Case<[](Tensor x) { return ops::sparse_accumulate_(tensor(x, {9, 5}), x, tensor(x, {8})); }> sparse_accumulate_indices;

// CASE sparse_accumulate_axis
// expect: SparseAccumulate: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::sparse_accumulate_(tensor(x, {9, 5}), x, indices(x, {8}), 2); }> sparse_accumulate_axis;

// CASE sparse_accumulate_dtype
// expect: SparseAccumulate: (8, 5) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::sparse_accumulate_(tensor(x, {9, 5}), x.cast(tw::int32), indices(x, {8})); }>
    sparse_accumulate_dtype;

// CASE sparse_accumulate_factor
// expect: SparseAccumulate: factor (5,) float32: one floating point element expected, in Net/layer
Case<[](Tensor x) { return ops::sparse_accumulate_(tensor(x, {9, 5}), x, indices(x, {8}), 0, tensor(x, {5})); }>
    sparse_accumulate_factor;

// CASE sparse_accumulate_table
// expect: SparseAccumulate: W (8, 5) float32 for (9, 5) float32: equal shapes expected, in Net/layer
Case<[](Tensor x) { return ops::sparse_accumulate_(tensor(x, {9, 5}), x, indices(x, {8}), 0, 1, x); }> sparse_accumulate_table;

// CASE dynamic_slice_size
// expect: DynamicSlice: size 9 along axis 0 of (8, 5) float32: a size from 1 to 8 expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_slice(x, indices(x, {1}), {0}, {9}); }> dynamic_slice_size;

// CASE dynamic_slice_axis
// expect: DynamicSlice: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_slice(x, indices(x, {1}), {2}, {1}); }> dynamic_slice_axis;

// CASE dynamic_slice_axis_twice
// expect: DynamicSlice: axis -2 twice: distinct axes expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_slice(x, indices(x, {2}), {0, -2}, {1, 1}); }> dynamic_slice_axis_twice;

// CASE dynamic_slice_lists
// expect: DynamicSlice: axes (0, 1) and sizes (1,): as many sizes as axes expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_slice(x, indices(x, {2}), {0, 1}, {1}); }> dynamic_slice_lists;

// CASE dynamic_slice_index
// expect: DynamicSlice: index (2,) int32 for 1 axes: integers of shape (1,) expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_slice(x, indices(x, {2}), {0}, {1}); }> dynamic_slice_index;

// CASE dynamic_slice_index_dtype
// expect: DynamicSlice: index (1,) float32 for 1 axes: integers of shape (1,) expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_slice(x, tensor(x, {1}), {0}, {1}); }> dynamic_slice_index_dtype;

// CASE dynamic_update_shape
// expect: DynamicUpdate: t_update (8, 5) float32 for a slice of (8, 5) float32: (4, 5) expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_update(x, indices(x, {1}), x, {0}, {4}); }> dynamic_update_shape;

// CASE dynamic_update_dtype
// expect: DynamicUpdate: (8, 5) float32 and (4, 5) float16: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_update(x, indices(x, {1}), tensor(x, {4, 5}, tw::float16), {0}, {4}); }>
    dynamic_update_dtype;

// CASE dynamic_update_size
// expect: DynamicUpdateInplace: size 0 along axis 1 of (8, 5) float32: a size from 1 to 5 expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_update_(tensor(x, {8, 5}), indices(x, {1}), x, {1}, {0}); }> dynamic_update_size;

// CASE dynamic_update_constant
// expect: DynamicUpdateInplace: Tensor[float32 (8, 5)] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) { return ops::dynamic_update_(x.ir().constant({0}, {8, 5}), indices(x, {1}), x, {0}, {8}); }>
    dynamic_update_constant;

// CASE onehot_classes
// expect: OneHot: num_classes (8,) int32: a number, or a constant of one, expected, in Net/layer
Case<[](Tensor x) { return ops::onehot(indices(x, {8}), indices(x, {8}), tensor(x, {2})); }> onehot_classes;

// CASE onehot_no_classes
// expect: OneHot: num_classes 0: a whole number above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::onehot(indices(x, {8}), 0, tensor(x, {2})); }> onehot_no_classes;

// CASE onehot_fractional_classes
// expect: OneHot: num_classes 2.5: a whole number above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::onehot(indices(x, {8}), 2.5, tensor(x, {2})); }> onehot_fractional_classes;

// CASE onehot_values
// expect: OneHot: values (3,) float32: two elements, off and on, expected, in Net/layer
Case<[](Tensor x) { return ops::onehot(indices(x, {8}), 4, tensor(x, {3})); }> onehot_values;

// CASE onehot_indices
// expect: OneHot: indices (8, 5) float32: integers expected, in Net/layer
Case<[](Tensor x) { return ops::onehot(x, 4, tensor(x, {2})); }> onehot_indices;

// CASE onehot_axis
// expect: OneHot: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::onehot(indices(x, {8}), 4, tensor(x, {2}), 2); }> onehot_axis;

// CASE onehot_rank
// expect: OneHot: indices (1, 1, 1, 1, 1, 1) int32: at most 5 axes expected, in Net/layer
Case<[](Tensor x) { return ops::onehot(indices(x, {1, 1, 1, 1, 1, 1}), 4, tensor(x, {2})); }> onehot_rank;
