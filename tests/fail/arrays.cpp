// labels: clang
// Arrays of kernels that are used in a wrong way.
#include <tilewright/array.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

template <tw::DType dtype, tw::Shape shape, bool is_input = true>
using View = tw::View<tw::written_out({dtype, shape, tw::dense_strides(shape)}), is_input>;
using X = View<tw::float32, {8, 4}>;
using Y = View<tw::float32, {8}, false>;

void complete(X x, Y y) { y.array() = xt::sqrt(tw::authoring::sum<1>(xt::square(x.array()))); }

// CASE another_shape
// expect: array() of (8,) = an array of (8, 4): an array that can be broadcast to (8,) expected
void another_shape(X x, Y y) { y.array() = xt::sqrt(x.array()); }

// CASE shapes_that_do_not_fit
// expect: broadcast shapes do not match
void shapes_that_do_not_fit(X x, Y y) { y.array() = x.array() + y.array(); }

// CASE an_input_is_assigned_to
// expect: array() of (8, 4) = ...: the array of an input: that of an output expected
void an_input_is_assigned_to(X x) { x.array() = 2 * x.array(); }

// CASE dtype_without_arrays
// expect: array(): a view of bool: float16, bfloat16, float32, float64 or integers expected
void dtype_without_arrays(View<tw::DType::boolean, {3}> x) { x.array(); }

// CASE an_expression_that_is_none
// expect: array() of (8,) = ...: numbers, arrays, functions of them, and reductions of authoring expected
void an_expression_that_is_none(Y y) { y.array() = xt::xarray<float>(); }

// CASE axis_that_is_none
// expect: an array of (8, 4): axes from -2 to 1 expected
void axis_that_is_none(X x, Y y) { y.array() = tw::authoring::sum<2>(x.array()); }

// CASE mean_of_integers
// expect: mean of integers: an array of floating point expected
void mean_of_integers(View<tw::int32, {3}> x, View<tw::int32, {}, false> y) { y.array() = tw::authoring::mean(x.array()); }

struct RowSums : tw::authoring::Op<RowSums> {
  static constexpr std::string_view name = "RowSums";
  template <tw::authoring::PackedAttributes, class In, class Out>
  static void compute(In x, Out y) {
    y.array() = tw::authoring::sum<0>(x.array());
  }
};

// CASE the_compiler_says_of_which_op
// expect: RowSums::compute
// expect: array() of (8,) = an array of (4,): an array that can be broadcast to (8,) expected
template void RowSums::compute<tw::authoring::PackedAttributes{}>(X x, Y y);
