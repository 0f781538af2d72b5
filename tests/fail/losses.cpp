// labels: none
// Losses by PyTorch's names that are given what they do not take.
#include <tilewright/ops/nn/losses.hpp>

#include "traced.hpp"

template <auto function>
using Case = InNet<Shape{8, 30}, function>;

constexpr Tensor labels(Tensor x) { return tensor(x, {8}, tw::int32); }

// CASE target_shape
// expect: mse_loss: target (8, 1) float32 for input (8, 30) float32: equal shapes and dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::mse_loss(x, tensor(x, {8, 1})); }> target_shape;

// CASE target_dtype
// expect: l1_loss: target (8, 30) int32 for input (8, 30) float32: equal shapes and dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::l1_loss(x, tensor(x, {8, 30}, tw::int32)); }> target_dtype;

// CASE integers
// expect: huber_loss: input (8, 30) int32: float16, float32, float64 or bfloat16 expected, in Net/layer
Case<[](Tensor x) { return ops::huber_loss(x.cast(tw::int32), x.cast(tw::int32)); }> integers;

// CASE logits_and_labels
// expect: binary_cross_entropy_with_logits: target (8,) int32 for input (8, 30) float32: equal shapes and dtypes expected, in
// expect: Net/layer
Case<[](Tensor x) { return ops::binary_cross_entropy_with_logits(x, labels(x)); }> logits_and_labels;

// CASE distributions
// expect: kl_div: target (30, 8) float32 for input (8, 30) float32: equal shapes and dtypes expected, in Net/layer
Case<[](Tensor x) { return ops::kl_div(x, x.T()); }> distributions;

// CASE beta
// expect: smooth_l1_loss: beta -1: a number of float32 of at least 0 expected, in Net/layer
Case<[](Tensor x) { return ops::smooth_l1_loss(x, x, {.beta = -1}); }> beta;

// CASE delta
// expect: huber_loss: delta 0: a number of float32 above 0 expected, in Net/layer
Case<[](Tensor x) { return ops::huber_loss(x, x, {.delta = 0}); }> delta;

// CASE weight_of_elements
// expect: binary_cross_entropy_with_logits: weight (8,) float32 for input (8, 30) float32: a shape that broadcasts to (8, 30),
// expect: in float32, expected, in Net/layer
Case<[](Tensor x) { return ops::binary_cross_entropy_with_logits(x, x, {.weight = tensor(x, {8})}); }> weight_of_elements;

// CASE weight_of_positives
// expect: binary_cross_entropy_with_logits: pos_weight (2, 8, 30) float32 for input (8, 30) float32: a shape that broadcasts to
// expect: (8, 30), in float32, expected, in Net/layer
Case<[](Tensor x) { return ops::binary_cross_entropy_with_logits(x, x, {.pos_weight = tensor(x, {2, 8, 30})}); }>
    weight_of_positives;

// CASE pairs
// expect: cosine_embedding_loss: target (8, 30) float32 for inputs (8, 30) float32: (8,) of numbers expected, in Net/layer
Case<[](Tensor x) { return ops::cosine_embedding_loss(x, x, x); }> pairs;

// CASE scalars
// expect: cosine_embedding_loss: input () float32: at least one axis expected, in Net/layer
Case<[](Tensor x) { return ops::cosine_embedding_loss(tensor(x, {}), tensor(x, {}), tensor(x, {})); }> scalars;

// CASE margin
// expect: cosine_embedding_loss: margin 2: a number from -1 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::cosine_embedding_loss(x, x, labels(x), {.margin = 2}); }> margin;

// CASE label_smoothing
// expect: WeightedCrossEntropy: label_smoothing 1.5: a number from 0 to 1 expected, in Net/layer
Case<[](Tensor x) { return ops::cross_entropy(x, labels(x), {.label_smoothing = 1.5}); }> label_smoothing;

// CASE weight_of_classes
// expect: WeightedCrossEntropy: weight (8,) float32 for logits (8, 30) float32: (30,) float32 expected, in Net/layer
Case<[](Tensor x) { return ops::cross_entropy(x, labels(x), {.weight = tensor(x, {8})}); }> weight_of_classes;

// CASE weight_of_half_precision
// expect: WeightedCrossEntropy: weight (30,) float64 for logits (8, 30) float16: (30,) float16 or float32 expected, in Net/layer
Case<[](Tensor x) { return ops::cross_entropy(x.cast(tw::float16), labels(x), {.weight = tensor(x, {30}, tw::float64)}); }>
    weight_of_half_precision;

// CASE labels_of_classes
// expect: WeightedCrossEntropy: labels (8,) float32 for logits (8, 30) float32: (8,) int32 or uint32 expected, in Net/layer
Case<[](Tensor x) { return ops::cross_entropy(x, tensor(x, {8}), {.label_smoothing = 0.1}); }> labels_of_classes;
