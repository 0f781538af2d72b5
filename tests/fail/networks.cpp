// Ops of networks that are given what they do not take.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

/// The layer without a case; a case's function of a Tensor is preferred.
constexpr auto layer(auto x) { return x; }
/// A tensor of a shape, for weights.
constexpr Tensor zeros(Tensor x, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return x.ir().constant({0}, shape, dtype);
}

// CASE transposed_channels
// expect: ConvTranspose: weight (3, 4, 3, 3) for (2, 4, 5, 6): 4 channels along its first axis expected, in Net/layer
#ifdef CASE_transposed_channels
constexpr Tensor layer(Tensor x) { return ops::conv_transpose(x, zeros(x, {3, 4, 3, 3})); }
#endif

// CASE transposed_groups
// expect: ConvTranspose: 3 groups of 4 channels: a divisor expected, in Net/layer
#ifdef CASE_transposed_groups
constexpr Tensor layer(Tensor x) { return ops::conv_transpose(x, zeros(x, {4, 4, 3, 3}), {.groups = 3}); }
#endif

// CASE output_padding
// expect: ConvTranspose: output_padding 2 for a stride of 2 and a dilation of 1: less than one of them expected, in Net/layer
#ifdef CASE_output_padding
constexpr Tensor layer(Tensor x) {
  return ops::conv_transpose(x, zeros(x, {4, 4, 3, 3}), {.stride = {2, 2}, .output_padding = {1, 2}});
}
#endif

// CASE output_shape_valid
// expect: ConvTranspose: output_shape with pad_type valid, which has no padding: another pad_type expected, in Net/layer
#ifdef CASE_output_shape_valid
constexpr Tensor layer(Tensor x) {
  return ops::conv_transpose(x, zeros(x, {4, 4, 3, 3}), {.pad_type = tw::PadType::valid, .output_shape = {5, 6}});
}
#endif

// CASE output_shape_count
// expect: ConvTranspose: output_shape of 3 numbers for (2, 4, 5, 6): 2 expected, in Net/layer
#ifdef CASE_output_shape_count
constexpr Tensor layer(Tensor x) { return ops::conv_transpose(x, zeros(x, {4, 4, 3, 3}), {.output_shape = {4, 5, 6}}); }
#endif

// CASE nothing_left
// expect: ConvTranspose: (2, 4, 5, 6) float32 with a kernel of (3, 3): axis 2 gets -1 elements, at least 1 expected, in Net/layer
#ifdef CASE_nothing_left
constexpr Tensor layer(Tensor x) { return ops::conv_transpose(x, zeros(x, {4, 4, 3, 3}), {.padding = {4, 0, 4, 0}}); }
#endif

// CASE partials
// expect: Conv: partials_type float64: float16 or float32 expected, in Net/layer
#ifdef CASE_partials
constexpr Tensor layer(Tensor x) { return ops::conv(x, zeros(x, {4, 4, 3, 3}), {.partials_types = {tw::float64}}); }
#endif

// CASE proportion
// expect: MatMul: available_memory_proportion 1.5: a number from 0 to 1 expected, in Net/layer
#ifdef CASE_proportion
constexpr Tensor layer(Tensor x) { return ops::matmul(x, zeros(x, {6, 4}), {.available_memory_proportion = 1.5}); }
#endif

// CASE output_type
// expect: MatMul: output_type int32 of (2, 4, 5, 6) float32: the same, or floating point of floating point, expected, in Net/layer
#ifdef CASE_output_type
constexpr Tensor layer(Tensor x) { return ops::matmul(x, zeros(x, {6, 4}), {.output_type = tw::int32}); }
#endif

// CASE column_order
// expect: MaxPool: storage_order column: row expected, in Net/layer
#ifdef CASE_column_order
constexpr Tensor layer(Tensor x) { return ops::max_pool(x, {2, 2}, {.storage_order = tw::StorageOrder::column}); }
#endif

// CASE only_gaps
// expect: AveragePool: kernel_size (1, 1) on (2, 4, 5, 6): padding that leaves each window an element expected, in Net/layer
#ifdef CASE_only_gaps
constexpr Tensor layer(Tensor x) { return ops::average_pool(x, {1, 1}, {.in_dilations = {2, 1}}); }
#endif

// CASE statistics
// expect: batch_norm: running_var (5,) float32 for (2, 4, 5, 6) float32: (4,) float32 expected, in Net/layer
#ifdef CASE_statistics
constexpr Tensor layer(Tensor x) {
  const Tensor channels = zeros(x, {4});
  return ops::batch_norm(x, channels, channels, channels, zeros(x, {5}));
}
#endif

// CASE one_element
// expect: batch_norm: (1, 240) float32: at least two elements for each channel expected, in Net/layer
#ifdef CASE_one_element
constexpr Tensor layer(Tensor x) {
  const Tensor channels = zeros(x, {240});
  return ops::batch_norm(x.reshape({2, -1}).reshape({1, 240}), channels, channels, channels, channels);
}
#endif

// CASE scale_count
// expect: interpolate: scale_factor of 2 numbers for (2, 4, 5, 6) float32: 4 expected, in Net/layer
#ifdef CASE_scale_count
constexpr Tensor layer(Tensor x) { return ops::interpolate(x, {2, 2}); }
#endif

// CASE scale
// expect: interpolate: scale_factor 0.5: a number of at least 1 expected, in Net/layer
#ifdef CASE_scale
constexpr Tensor layer(Tensor x) { return ops::interpolate(x, {1, 1, 2, 0.5}); }
#endif

// CASE region
// expect: interpolate: coordinate_transformation_mode tf_crop_and_resize: a mode without a region expected, in Net/layer
#ifdef CASE_region
constexpr Tensor layer(Tensor x) {
  return ops::interpolate(x, {1, 1, 2, 2}, {.coordinate_transformation_mode = tw::CoordinateMode::tf_crop_and_resize});
}
#endif

// CASE rois
// expect: RoiAlign: rois (3, 5) float32: (regions, 4) of floating point expected, in Net/layer
#ifdef CASE_rois
constexpr Tensor layer(Tensor x) { return ops::roi_align(x, zeros(x, {3, 5}), zeros(x, {3}, tw::int32)); }
#endif

// CASE batch_index
// expect: RoiAlign: batch_index (2,) int32 for rois (3, 4) float32: (3,) int32 or uint32 expected, in Net/layer
#ifdef CASE_batch_index
constexpr Tensor layer(Tensor x) { return ops::roi_align(x, zeros(x, {3, 4}), zeros(x, {2}, tw::int32)); }
#endif

// CASE loss_grad
// expect: NlllWithSoftmaxGradDirect: loss_grad () int32: one element of floating point expected, in Net/layer
#ifdef CASE_loss_grad
constexpr Tensor layer(Tensor x) {
  return ops::cross_entropy_with_grad(x, zeros(x, {2, 4, 5}, tw::int32), x.ir().constant(1, tw::int32)).gradient;
}
#endif

struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) { return ::layer(x); }
};
struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Layer, layer));
  constexpr Tensor build(Tensor x) { return layer(x); }
};
constexpr void train_step(tw::Ir& ir) {
  const auto images = ops::host_load(ir.h2d_stream("image", {2, 4, 5, 6}));
  tw::create_graph(Net{}, images);
}
tw::Session<train_step> session;
