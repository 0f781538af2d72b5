// labels: none
// Ops of networks that are given what they do not take.
#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{2, 4, 5, 6}, function>;

constexpr Tensor ints(Tensor x) { return x.cast(tw::int32); }
constexpr Tensor halves(Tensor x) { return x.cast(tw::float16); }

// CASE inner_dimension
// expect: MatMul: (2, 4, 5, 6) x (7, 3): inner dimensions 6 and 7 differ, in Net/layer
Case<[](Tensor x) { return x.matmul(tensor(x, {7, 3})); }> inner_dimension;

// CASE inner_dimension_of_a_vector
// expect: MatMul: (2, 4, 5, 6) x (5, 1): inner dimensions 6 and 5 differ, in Net/layer
Case<[](Tensor x) { return x.matmul(tensor(x, {5})); }> inner_dimension_of_a_vector;

// CASE leading_axes
// expect: MatMul: (2, 4, 5, 6) x (3, 6, 5): leading axes that broadcast expected, in Net/layer
Case<[](Tensor x) { return x.matmul(tensor(x, {3, 6, 5})); }> leading_axes;

// CASE product_of_a_scalar
// expect: MatMul: (2, 4, 5, 6) x (): vectors or matrices expected, in Net/layer
Case<[](Tensor x) { return x.matmul(tensor(x, {})); }> product_of_a_scalar;

// CASE product_of_a_vector
// expect: MatMul: (2, 4, 5, 6) x (6,): matrices expected, in Net/layer
Case<[](Tensor x) { return tw::apply<tw::MatMul>({x, tensor(x, {6})}); }> product_of_a_vector;

// CASE product_dtypes
// expect: MatMul: (2, 4, 5, 6) float32 and (6, 3) float16: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return x.matmul(tensor(x, {6, 3}, tw::float16)); }> product_dtypes;

// CASE product_of_bools
// expect: MatMul: (2, 4, 5, 6) bool: numbers expected, in Net/layer
Case<[](Tensor x) { return x.cast(tw::boolean).matmul(tensor(x, {6, 3}, tw::boolean)); }> product_of_bools;

// CASE proportion
// expect: MatMul: available_memory_proportion 1.5: a number from 0 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::matmul(x, tensor(x, {6, 4}), {.available_memory_proportion = 1.5}); }> proportion;

// CASE output_type
// expect: MatMul: output_type int32 of (2, 4, 5, 6) float32: the same, or floating point of floating point, expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::matmul(x, tensor(x, {6, 4}), {.output_type = tw::int32}); }> output_type;

// CASE partials_type
// expect: MatMul: partials_type float64: float16 or float32 expected, in Net/layer
Case<[](Tensor x) { return ops::matmul(x, tensor(x, {6, 4}), {.partials_type = tw::float64}); }> partials_type;

// CASE conv_rank
// expect: Conv: (8, 30) float32: (N, C, spatial) with 1 to 3 spatial axes expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x.reshape({8, 30}), tensor(x, {4, 30})); }> conv_rank;

// CASE conv_weight_rank
// expect: Conv: weight (4, 4, 3) for (2, 4, 5, 6): rank 4 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 4, 3})); }> conv_weight_rank;

// CASE conv_of_integers
// expect: Conv: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(ints(x), tensor(x, {4, 4, 3, 3}, tw::int32)); }> conv_of_integers;

// CASE conv_dtypes
// expect: Conv: (2, 4, 5, 6) float16 and (4, 4, 3, 3) float32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::conv(halves(x), tensor(x, {4, 4, 3, 3})); }> conv_dtypes;

// CASE conv_channels
// expect: Conv: weight (4, 2, 3, 3) for (2, 4, 5, 6) in 1 group: 4 channels expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 2, 3, 3})); }> conv_channels;

// CASE conv_groups
// expect: Conv: 3 groups for 4 input channels and 3 output channels: a divisor of 4 and 3 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {3, 1, 3, 3}), {.groups = 3}); }> conv_groups;

// CASE conv_many_groups
// expect: Conv: 4294967297 groups for 4 input channels and 3 output channels: a divisor of 4 and 3 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {3, 4, 3, 3}), {.groups = (std::int64_t{1} << 32) + 1}); }> conv_many_groups;

// CASE conv_stride
// expect: Conv: stride of 1 numbers for (2, 4, 5, 6): 2 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 4, 3, 3}), {.stride = {1}}); }> conv_stride;

// CASE conv_padding
// expect: Conv: padding (0, 0, 0, -1): numbers from 0 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 4, 3, 3}), {.padding = {0, 0, 0, -1}}); }> conv_padding;

// CASE far_padding
// expect: Conv: padding (2147483647 or more, 0, 0, 0): numbers from 0 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {1, 4, 3, 3}), {.padding = {std::int64_t{1} << 40, 0, 0, 0}}); }> far_padding;

// CASE conv_dilation
// expect: Conv: dilation (1, 0): numbers from 1 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 4, 3, 3}), {.dilation = {1, 0}}); }> conv_dilation;

// CASE conv_kernel
// expect: Conv: (2, 4, 5, 6) with a kernel of (3, 7): axis 3 has 6 elements, at least 7 with padding expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 4, 3, 7})); }> conv_kernel;

// CASE conv_partials
// expect: Conv: partials_type float64: float16 or float32 expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 4, 3, 3}), {.partials_types = {tw::float64}}); }> conv_partials;

// CASE conv_lists
// expect: Conv: available_memory_proportions of several elements: one, or none, expected, in Net/layer
Case<[](Tensor x) { return ops::conv(x, tensor(x, {4, 4, 3, 3}), {.available_memory_proportions = {0.5, 0.5}}); }> conv_lists;

// CASE transposed_rank
// expect: ConvTranspose: (8, 30) float32: (N, C, spatial) with 1 to 3 spatial axes expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x.reshape({8, 30}), tensor(x, {30, 4})); }> transposed_rank;

// CASE transposed_of_integers
// expect: ConvTranspose: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(ints(x), tensor(x, {4, 4, 3, 3})); }> transposed_of_integers;

// CASE transposed_dtypes
// expect: ConvTranspose: (2, 4, 5, 6) float16 and (4, 4, 3, 3) float32: equal dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(halves(x), tensor(x, {4, 4, 3, 3})); }> transposed_dtypes;

// CASE transposed_channels
// expect: ConvTranspose: weight (3, 4, 3, 3) for (2, 4, 5, 6): 4 channels along axis 0 of the weight expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x, tensor(x, {3, 4, 3, 3})); }> transposed_channels;

// CASE transposed_groups
// expect: ConvTranspose: 3 groups of 4 channels: a divisor expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x, tensor(x, {4, 4, 3, 3}), {.groups = 3}); }> transposed_groups;

// CASE transposed_stride
// expect: ConvTranspose: stride (2, 0): numbers from 1 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x, tensor(x, {4, 4, 3, 3}), {.stride = {2, 0}}); }> transposed_stride;

// CASE output_padding
// expect: ConvTranspose: output_padding 2 for a stride of 2 and a dilation of 1: less than the stride or the dilation expected,
// expect: in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x, tensor(x, {4, 4, 3, 3}), {.stride = {2, 2}, .output_padding = {1, 2}}); }>
    output_padding;

// CASE output_shape_valid
// expect: ConvTranspose: output_shape with pad_type valid, which has no padding: another pad_type expected, in Net/layer
Case<[](Tensor x) {
  return ops::conv_transpose(x, tensor(x, {4, 4, 3, 3}), {.pad_type = tw::PadType::valid, .output_shape = {5, 6}});
}>
    output_shape_valid;

// CASE output_shape_count
// expect: ConvTranspose: output_shape of 3 numbers for (2, 4, 5, 6): 2 expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x, tensor(x, {4, 4, 3, 3}), {.output_shape = {4, 5, 6}}); }> output_shape_count;

// CASE output_shape_channels
// expect: ConvTranspose: output_shape (2, 3, 7, 8): 2 and 4 for samples and channels expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x, tensor(x, {4, 4, 3, 3}), {.output_shape = {2, 3, 7, 8}}); }>
    output_shape_channels;

// CASE nothing_left
// expect: ConvTranspose: (2, 4, 5, 6) float32 with a kernel of (3, 3): axis 2 gets -1 elements, at least 1 expected, in Net/layer
Case<[](Tensor x) { return ops::conv_transpose(x, tensor(x, {4, 4, 3, 3}), {.padding = {4, 0, 4, 0}}); }> nothing_left;

// CASE pool_rank
// expect: AveragePool: (8, 30) float32: (N, C, spatial) with 1 to 3 spatial axes expected, in Net/layer
Case<[](Tensor x) { return ops::average_pool(x.reshape({8, 30}), {2}); }> pool_rank;

// CASE pool_of_integers
// expect: MaxPool: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::max_pool(ints(x), {2, 2}); }> pool_of_integers;

// CASE pool_kernel_count
// expect: MaxPool: kernel_size of 1 numbers for (2, 4, 5, 6): 2 expected, in Net/layer
Case<[](Tensor x) { return ops::max_pool(x, {2}); }> pool_kernel_count;

// CASE pool_kernel
// expect: MaxPool: kernel_size (2, 0): numbers from 1 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::max_pool(x, {2, 0}); }> pool_kernel;

// CASE large_pool_kernel
// expect: MaxPool: (2, 4, 5, 6) with a kernel of (2, 7): axis 3 has 6 elements, at least 7 with padding expected, in Net/layer
Case<[](Tensor x) { return ops::max_pool(x, {2, 7}); }> large_pool_kernel;

// CASE pool_stride
// expect: AveragePool: stride (0, 1): numbers from 1 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::average_pool(x, {2, 2}, {.stride = {0, 1}}); }> pool_stride;

// CASE pool_in_dilations
// expect: AveragePool: in_dilations of 3 numbers for (2, 4, 5, 6): 2 expected, in Net/layer
Case<[](Tensor x) { return ops::average_pool(x, {2, 2}, {.in_dilations = {1, 1, 1}}); }> pool_in_dilations;

// CASE pool_out_pads
// expect: MaxPool: out_pads (0, 0, 0, -1): numbers from 0 to 1048576 expected, in Net/layer
Case<[](Tensor x) { return ops::max_pool(x, {2, 2}, {.out_pads = {0, 0, 0, -1}}); }> pool_out_pads;

// CASE column_order
// expect: MaxPool: storage_order column: row expected, in Net/layer
Case<[](Tensor x) { return ops::max_pool(x, {2, 2}, {.storage_order = tw::StorageOrder::column}); }> column_order;

// CASE only_gaps
// expect: AveragePool: kernel_size (1, 1) on (2, 4, 5, 6): padding that leaves each window an element expected, in Net/layer
Case<[](Tensor x) { return ops::average_pool(x, {1, 1}, {.in_dilations = {2, 1}}); }> only_gaps;

// CASE statistics
// expect: batch_norm: running_var (5,) float32 for (2, 4, 5, 6) float32: (4,) float32 expected, in Net/layer
Case<[](Tensor x) {
  const Tensor channels = tensor(x, {4});
  return ops::batch_norm(x, channels, channels, channels, tensor(x, {5}));
}>
    statistics;

// CASE constant_statistics
// expect: RunningStatistic: Tensor[float32 (4,)] is a constant: a tensor that may change in place expected, in Net/layer
Case<[](Tensor x) {
  const Tensor channels = x.ir().constant({0}, {4});
  return ops::batch_norm(x, channels, channels, channels, channels);
}>
    constant_statistics;

// CASE one_element
// expect: batch_norm: (1, 240) float32: at least two elements for each channel expected, in Net/layer
Case<[](Tensor x) {
  const Tensor channels = tensor(x, {240});
  return ops::batch_norm(x.reshape({1, 240}), channels, channels, channels, channels);
}>
    one_element;

// CASE scale_dtype
// expect: batch_norm_inference: scale (4,) float16 for (2, 4, 5, 6) float32: (4,) float32 expected, in Net/layer
Case<[](Tensor x) {
  const Tensor channels = tensor(x, {4});
  return ops::batch_norm_inference(x, halves(channels), channels, channels, channels);
}>
    scale_dtype;

// CASE batch_norm_rank
// expect: batch_norm_inference: (240,) float32: at least 2 axes, for samples and channels, expected, in Net/layer
Case<[](Tensor x) { return ops::batch_norm_inference(x.flatten(), x, x, x, x); }> batch_norm_rank;

// CASE batch_norm_of_integers
// expect: batch_norm_inference: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::batch_norm_inference(ints(x), x, x, x, x); }> batch_norm_of_integers;

// CASE attention_dtype
// expect: ScaledDotProductAttention: (2, 4, 5, 6) int32: float16, float32 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, ints(x), ints(x)); }> attention_dtype;

// CASE attention_dtypes
// expect: ScaledDotProductAttention: queries (2, 4, 5, 6) float32 and keys (2, 4, 5, 6) float16: equal dtypes expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, halves(x), halves(x)); }> attention_dtypes;

// CASE attention_mask
// expect: ScaledDotProductAttention: mask (2, 5) float32 for keys (2, 4, 5, 6) float32: axes (batch, keys) of bool expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x, x, tensor(x, {2, 5})); }> attention_mask;

// CASE attention_axes
// expect: ScaledDotProductAttention: (8, 30) float32: axes (batch, heads, length, width) with elements expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x.reshape({8, 30}), x); }> attention_axes;

// CASE attention_values
// expect: ScaledDotProductAttention: keys (2, 4, 5, 6) float32 and values (2, 4, 7, 6) float32: equal shapes expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x, tensor(x, {2, 4, 7, 6})); }> attention_values;

// CASE attention_width
// expect: ScaledDotProductAttention: queries (2, 4, 5, 6) float32 and keys (2, 4, 5, 3) float32: the same batch and width
// expect: expected, in Net/layer
Case<[](Tensor x) {
  const Tensor keys = tensor(x, {2, 4, 5, 3});
  return ops::scaled_dot_product_attention(x, keys, keys);
}>
    attention_width;

// CASE attention_heads
// expect: ScaledDotProductAttention: 3 heads of keys for 4 of queries: a divisor of 4 expected, in Net/layer
Case<[](Tensor x) {
  const Tensor keys = tensor(x, {2, 3, 5, 6});
  return ops::scaled_dot_product_attention(x, keys, keys);
}>
    attention_heads;

// CASE causal_attention
// expect: ScaledDotProductAttention: is_causal with 5 queries and 7 keys: as many keys as queries, or alignment = upper_left or
// expect: lower_right, expected, in Net/layer
Case<[](Tensor x) {
  const Tensor keys = tensor(x, {2, 4, 7, 6});
  return ops::scaled_dot_product_attention(x, keys, keys, {.is_causal = true});
}>
    causal_attention;

// CASE attention_window
// expect: ScaledDotProductAttention: window without is_causal: is_causal = true expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x, x, {.window = 3}); }> attention_window;

// CASE attention_window_of_none
// expect: ScaledDotProductAttention: window -1: at least 1, or 0 for all keys, expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x, x, {.is_causal = true, .window = -1}); }>
    attention_window_of_none;

// CASE attention_partials
// expect: ScaledDotProductAttention: partials_type float64: float16 or float32 expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x, x, {.partials_type = tw::float64}); }> attention_partials;

// CASE attention_dropout
// expect: ScaledDotProductAttention: dropout_p 0.1 without a seed: .seed = (2,) uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x, x, {.dropout_p = 0.1}); }> attention_dropout;

// CASE attention_dropout_of_all
// expect: ScaledDotProductAttention: dropout_p 1: a number of at least 0, and below 1, expected, in Net/layer
Case<[](Tensor x) {
  return ops::scaled_dot_product_attention(x, x, x, {.dropout_p = 1, .seed = tensor(x, {2}).cast(tw::uint32)});
}>
    attention_dropout_of_all;

// CASE attention_seed
// expect: ScaledDotProductAttention: seed (2,) float32: (2,) uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::scaled_dot_product_attention(x, x, x, {.dropout_p = 0.5, .seed = tensor(x, {2})}); }>
    attention_seed;

// CASE layer_norm_weight
// expect: GroupNormalization: weight (5,) float32 for (2, 4, 5, 6) float32: (6,) float32 expected, in Net/layer
Case<[](Tensor x) { return ops::layer_norm(x, tensor(x, {5}), tensor(x, {6})); }> layer_norm_weight;

// CASE layer_norm_of_a_scalar
// expect: GroupNormalization: () float32: at least one axis expected, in Net/layer
Case<[](Tensor x) { return ops::layer_norm(tensor(x, {}), tensor(x, {1}), tensor(x, {1})); }> layer_norm_of_a_scalar;

// CASE layer_norm_eps
// expect: layer_norm: eps -1: a finite number of at least 0 expected, in Net/layer
Case<[](Tensor x) { return ops::layer_norm(x, tensor(x, {6}), tensor(x, {6}), -1); }> layer_norm_eps;

// CASE layer_norm_of_integers
// expect: GroupNormalization: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::layer_norm(ints(x), tensor(x, {6}), tensor(x, {6})); }> layer_norm_of_integers;

// CASE group_norm_bias
// expect: GroupNormalization: bias (4,) float16 for (2, 4, 5, 6) float32: (4,) float32 expected, in Net/layer
Case<[](Tensor x) { return ops::group_norm(x, tensor(x, {4}), tensor(x, {4}, tw::float16), 2); }> group_norm_bias;

// CASE group_norm_groups
// expect: GroupNormalization: 3 groups of the 4 channels of (2, 4, 5, 6) float32: a divisor of 4 expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::group_norm(x, tensor(x, {4}), tensor(x, {4}), 3); }> group_norm_groups;

// CASE group_norm_rank
// expect: GroupNormalization: (240,) float32: at least 2 axes, for samples and channels, expected, in Net/layer
Case<[](Tensor x) { return ops::group_norm(x.flatten(), tensor(x, {240}), tensor(x, {240}), 2); }> group_norm_rank;

// CASE labels_dtype
// expect: CrossEntropy: labels (8,) float32 for logits (8, 30) float32: (8,) int32 or uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::cross_entropy(x.reshape({8, 30}), tensor(x, {8})); }> labels_dtype;

// CASE logarithms_of_probabilities
// expect: CrossEntropy: log_prob is an option of nll_loss: logits expected, not logarithms of probabilities, in Net/layer
Case<[](Tensor x) { return ops::cross_entropy(x, tensor(x, {2, 4, 5}, tw::int32), {.log_prob = true}); }>
    logarithms_of_probabilities;

// CASE labels_shape
// expect: Nll: labels (7,) int32 for probabilities (8, 30) float32: (8,) int32 or uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::nll_loss(x.reshape({8, 30}), tensor(x, {7}, tw::int32)); }> labels_shape;

// CASE probabilities
// expect: Nll: probabilities () float32: at least one axis expected, in Net/layer
Case<[](Tensor x) { return ops::nll_loss(tensor(x, {}), tensor(x, {}, tw::int32)); }> probabilities;

// CASE probabilities_of_integers
// expect: Nll: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::nll_loss(ints(x), tensor(x, {2, 4, 5}, tw::int32)); }> probabilities_of_integers;

// CASE labels_of_gradients
// expect: NlllWithSoftmaxGradDirect: labels (2, 4, 6) int32 for probabilities (2, 4, 5, 6) float32: (2, 4, 5) int32 or uint32
// expect: expected, in Net/layer
Case<[](Tensor x) { return ops::nll_loss_with_softmax_grad(x, tensor(x, {2, 4, 6}, tw::int32)).loss; }> labels_of_gradients;

// CASE loss_grad
// expect: CrossEntropyWithGrad: loss_grad () int32: one element of floating point expected, in Net/layer
Case<[](Tensor x) { return ops::cross_entropy_with_grad(x, tensor(x, {2, 4, 5}, tw::int32), tensor(x, {}, tw::int32)).gradient; }>
    loss_grad;

// CASE loss_grad_shape
// expect: NlllWithSoftmaxGradDirect: loss_grad (2,) float32: one element of floating point expected, in Net/layer
Case<[](Tensor x) { return ops::nll_loss_with_softmax_grad(x, tensor(x, {2, 4, 5}, tw::int32), tensor(x, {2})).gradient; }>
    loss_grad_shape;

// CASE scale_count
// expect: interpolate: scale_factor of 2 numbers for (2, 4, 5, 6) float32: 4 expected, in Net/layer
Case<[](Tensor x) { return ops::interpolate(x, {2, 2}); }> scale_count;

// CASE scale
// expect: interpolate: scale_factor -0.5: a number above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::interpolate(x, {1, 1, 2, -0.5}); }> scale;

// CASE interpolation_of_integers
// expect: interpolate: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::interpolate(ints(x), {1, 1, 2, 2}); }> interpolation_of_integers;

// CASE region
// expect: interpolate: coordinate_transformation_mode tf_crop_and_resize: another mode, without roi, expected, in Net/layer
Case<[](Tensor x) {
  return ops::interpolate(x, {1, 1, 2, 2}, {.coordinate_transformation_mode = tw::CoordinateMode::tf_crop_and_resize});
}>
    region;

// CASE rois
// expect: RoiAlign: rois (3, 5) float32: (regions, 4) of floating point expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(x, tensor(x, {3, 5}), tensor(x, {3}, tw::int32)); }> rois;

// CASE batch_index
// expect: RoiAlign: batch_index (2,) int32 for rois (3, 4) float32: (3,) int32 or uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(x, tensor(x, {3, 4}), tensor(x, {2}, tw::int32)); }> batch_index;

// CASE roi_rank
// expect: RoiAlign: (8, 30) float32: (N, C, height, width) expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(x.reshape({8, 30}), tensor(x, {3, 4}), tensor(x, {3}, tw::int32)); }> roi_rank;

// CASE rois_of_integers
// expect: RoiAlign: (2, 4, 5, 6) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(ints(x), tensor(x, {3, 4}), tensor(x, {3}, tw::int32)); }> rois_of_integers;

// CASE roi_output_size
// expect: RoiAlign: output_size (7, 0): numbers of at least 1 expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(x, tensor(x, {3, 4}), tensor(x, {3}, tw::int32), {.output_size = {7, 0}}); }>
    roi_output_size;

// CASE roi_output_sizes
// expect: RoiAlign: output_size of 3 numbers: 2 expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(x, tensor(x, {3, 4}), tensor(x, {3}, tw::int32), {.output_size = {7, 7, 7}}); }>
    roi_output_sizes;

// CASE roi_sampling_ratio
// expect: RoiAlign: sampling_ratio -1: a number of at least 0 expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(x, tensor(x, {3, 4}), tensor(x, {3}, tw::int32), {.sampling_ratio = -1}); }>
    roi_sampling_ratio;

// CASE roi_spatial_scale
// expect: RoiAlign: spatial_scale 0: a number above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::roi_align(x, tensor(x, {3, 4}), tensor(x, {3}, tw::int32), {.spatial_scale = 0}); }>
    roi_spatial_scale;
