// labels: none
// Shapes, views, concats and splits that cannot be, and changes in place of what has no memory of its own.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{8, 5}, function>;

constexpr Tensor column(Tensor x) { return ops::sum(x, 1); }
constexpr Tensor scalar(Tensor x) { return tensor(x, {}); }

// CASE count_of_elements
// expect: Reshape: (8, 5) float32 to (3, -1): a shape of 40 elements expected
Case<[](Tensor x) { return x.reshape({3, -1}); }> count_of_elements;

// CASE two_holes
// expect: Reshape: (8, 5) float32 to (-1, 5, -1): at most one -1 expected, in Net/layer
Case<[](Tensor x) { return x.reshape({-1, 5, -1}); }> two_holes;

// CASE extent_0
// expect: Reshape: (8, 5) float32 to (0, 5): extents above 0, or one -1, expected, in Net/layer
Case<[](Tensor x) { return x.reshape({0, 5}); }> extent_0;

// CASE negative_extent
// expect: Reshape: (8, 5) float32 to (-2, -20): extents above 0, or one -1, expected, in Net/layer
Case<[](Tensor x) { return x.reshape({-2, -20}); }> negative_extent;

// CASE count_of_elements_in_place
// expect: ReshapeInplace: (8, 5) float32 to (39,): a shape of 40 elements expected
Case<[](Tensor x) { return x.reshape_({39}); }> count_of_elements_in_place;

// CASE order_of_elements
// expect: ReshapeInplace: Tensor[float32 (5, 8)], whose elements stand in another order, to (40,): reshape, or reshape_ before
// expect: transpose_, expected, in Net/layer
Case<[](Tensor x) { return ops::transpose_(x).reshape_({40}); }> order_of_elements;

// CASE permutation
// expect: Transpose: (8, 5) float32 by (1, 1): a permutation of the axes 0 to 1 expected, in Net/layer
Case<[](Tensor x) { return x.transpose({1, 1}); }> permutation;

// CASE permutation_of_other_axes
// expect: Transpose: (8, 5) float32 by (2, 0): a permutation of the axes 0 to 1 expected, in Net/layer
Case<[](Tensor x) { return x.transpose({2, 0}); }> permutation_of_other_axes;

// CASE short_permutation
// expect: TransposeInplace: (8, 5) float32 by (0,): a permutation of the axes 0 to 1 expected, in Net/layer
Case<[](Tensor x) { return x.transpose_({0}); }> short_permutation;

// CASE nine_axes
// expect-in-source: TW_THROW TraceError(text("Shape: ", to_text(*this), " and an axis of ", extent, ": at most 6 axes expected")
Case<[](Tensor x) { return x.reshape({1, 1, 1, 1, 1, 1, 1, 8, 5}); }> nine_axes;

// CASE expand
// expect: Expand: (8,) float32 to (8, 5): a shape that it broadcasts to expected, in Net/layer
Case<[](Tensor x) { return column(x).expand({8, 5}); }> expand;

// CASE axis_of_shape
// expect: shape: axis 2 of (8, 5): an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return x.reshape({x.shape(2), -1}); }> axis_of_shape;

// CASE squeeze
// expect: Squeeze: (8, 5) float32 without axis 0, whose extent is 8: an extent of 1 expected, in Net/layer
Case<[](Tensor x) { return x.squeeze(0); }> squeeze;

// CASE squeeze_axis
// expect: Squeeze: (8, 5) float32 without axis 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return x.squeeze(2); }> squeeze_axis;

// CASE squeeze_twice
// expect: Squeeze: (1, 40) float32 without axis -2, which is given twice: distinct axes expected, in Net/layer
Case<[](Tensor x) { return x.reshape({1, 40}).squeeze({0, -2}); }> squeeze_twice;

// CASE diagonal
// expect: Diagonal: (8, 5, 1) float32: a matrix or a vector expected, in Net/layer
Case<[](Tensor x) { return x.reshape({8, 5, 1}).diag(); }> diagonal;

// CASE empty
// expect: Slice: (8, 5) float32, [5:2] along axis 0: at least one element expected, in Net/layer
// expect: take_range(
Case<[](Tensor x) { return x[tw::slice(5, 2)]; }> empty;

// CASE step
// expect: Slice: (8, 5) float32, [::0] along axis 0: a step that is not 0 expected, in Net/layer
Case<[](Tensor x) { return ops::slice(x, {}, {}, 0); }> step;

// CASE slice_axis
// expect: Slice: (8, 5) float32 along axis 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::slice(x, 1, tw::none, tw::none, 2); }> slice_axis;

// CASE slice_axis_twice
// expect: Slice: (8, 5) float32 along axis 0 twice: distinct axes expected, in Net/layer
Case<[](Tensor x) { return ops::slice(x, {1, 1}, tw::none, tw::none, {0, -2}); }> slice_axis_twice;

// CASE lists
// expect: Slice: (8, 5) float32, with 1 and with 2 positions: lists of one length expected, in Net/layer
Case<[](Tensor x) { return ops::slice(x, {1, 2}, 3); }> lists;

// CASE lists_and_axes
// expect: Slice: (8, 5) float32, with 2 positions along 1 axes: equal numbers of positions and axes expected, in Net/layer
Case<[](Tensor x) { return ops::slice_(x, {1, 1}, tw::none, tw::none, 0); }> lists_and_axes;

// CASE long_lists
// expect: Slice: (8, 5) float32, with 3 positions: at most one for each of its 2 axes expected, in Net/layer
Case<[](Tensor x) { return ops::slice(x, {1, 1, 1}); }> long_lists;

// CASE element
// expect: Slice: (8, 5) float32, element 8 along axis 0: one from -8 to 7 expected, in Net/layer
Case<[](Tensor x) { return x[{8, tw::ellipsis}]; }> element;

// CASE indices
// expect: Slice: (8, 5) float32 by 3 indices: at most one for each of its 2 axes expected, in Net/layer
Case<[](Tensor x) { return x[{0, 0, 0}]; }> indices;

// CASE ellipses
// expect: Slice: (8, 5) float32 by 2 ellipses: at most one expected, in Net/layer
Case<[](Tensor x) { return x[{tw::ellipsis, tw::ellipsis}]; }> ellipses;

// CASE tensor_as_index
// expect: x[...]: Tensor[float32 (8, 5)] as index of Tensor[float32 (8, 5)]: integers, or a mask of bools, expected, in Net/layer
Case<[](Tensor x) { return x[x]; }> tensor_as_index;

// CASE truth
// expect: operator[]
Case<[](auto x) { return x[true]; }> truth;

// CASE strides
// expect: Subsample: (8, 5) float32 by (1, 1, 2): at most a stride for each axis expected, in Net/layer
Case<[](Tensor x) { return ops::subsample(x, {1, 1, 2}); }> strides;

// CASE stride_0
// expect: Subsample: (8, 5) float32 by (0,): strides above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::subsample(x, 0); }> stride_0;

// CASE concat
// expect: Concat: (8, 5) and (5, 8) along axis 0: shapes that are equal but for that axis expected, in Net/layer
Case<[](Tensor x) { return ops::concat({x, x.T()}); }> concat;

// CASE concat_ranks
// expect: Concat: (8, 5) and (8,) along axis 1: shapes that are equal but for that axis expected, in Net/layer
Case<[](Tensor x) { return ops::concat({x, column(x)}, 1); }> concat_ranks;

// CASE concat_dtypes
// expect: Concat: (8, 5) float32 and (8, 5) int32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::concat({x, x.cast(tw::int32)}); }> concat_dtypes;

// CASE concat_axis
// expect: ConcatInplace: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::concat_({x, x}, 2); }> concat_axis;

// CASE concat_of_scalars
// expect: Concat: axis 0 of a scalar: a tensor with axes expected, in Net/layer
Case<[](Tensor x) { return ops::concat({scalar(x), scalar(x)}); }> concat_of_scalars;

// CASE concat_of_nothing
// expect-in-source: Concat: no tensors: at least one expected
Case<[](Tensor x) { return ops::concat({}, x.rank()); }> concat_of_nothing;

// CASE split
// expect: Split: (8, 5) float32 into 3 parts along axis 0: a number that divides 8 expected, in Net/layer
Case<[](Tensor x) { return ops::split(x, 3)[0]; }> split;

// CASE split_lengths
// expect: Split: (8, 5) float32 into parts with the sum 7 along axis 0: the sum 8 expected, in Net/layer
Case<[](Tensor x) { return ops::split(x, {3, 4})[0]; }> split_lengths;

// CASE split_into_a_long_part
// expect: Split: (8, 5) float32 into a part of 9 along axis 0: at most 8 expected, in Net/layer
Case<[](Tensor x) { return ops::split(x, {9})[0]; }> split_into_a_long_part;

// CASE split_length_0
// expect: Split: (8, 5) float32 into parts of 0 along axis 1: extents above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::split(x, {5, 0}, 1)[0]; }> split_length_0;

// CASE split_axis
// expect: Split: (8, 5) float32 along axis -3: an axis from -2 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::split(x, 2, -3)[0]; }> split_axis;

// CASE split_of_a_scalar
// expect: Split: () float32: a tensor with axes expected, in Net/layer
Case<[](Tensor x) { return ops::split(scalar(x), 1)[0]; }> split_of_a_scalar;

// CASE expanded
// expect: Accumulate: Tensor[float32 (8, 5)], which is a broadcast view of Tensor[float32 (5,)]: a tensor with memory for each
// expect: element expected, in Net/layer
Case<[](Tensor x) { return ops::accumulate_(x[0].expand({8, 5}), x); }> expanded;

// CASE concat_in_place
// expect: Accumulate: Tensor[float32 (16, 5)] of ConcatInplace, which is a copy: a tensor that may change in place expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::accumulate_(ops::concat_({x, x}), x); }> concat_in_place;

// CASE elements
// expect: Slice: (8, 5) float32, elements 3 to 8 along axis 0: elements from 0 to 7 expected, in Net/layer
Case<[](Tensor x) {
  auto taken = tw::SliceAttributes::of_all(x.shape());
  taken.take(0, 3, 1, 6);
  return tw::apply<tw::Slice>({x}, taken);
}>
    elements;

// CASE dropped_axis
// expect: Squeeze: (8, 5) float32 without axis 1 of extent 5: an extent of 1 expected, in Net/layer
Case<[](Tensor x) {
  auto taken = tw::SliceAttributes::of_all(x.shape());
  taken.dropped = 2;
  return tw::apply<tw::Squeeze>({x}, taken);
}>
    dropped_axis;
