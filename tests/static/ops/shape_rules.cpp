// labels: quick
// Shapes and dtypes of every op's results, and the errors of operands that do not fit.
#include "../../support/op_results.hpp"
#include "../programs/models.hpp"
#include "tilewright/ops/nn/losses.hpp"

using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;
using namespace op_results;

// ---- elementwise: NumPy's broadcasting, equal dtypes
static_assert(result([](Tensor x) { return 1 - (x * 2 + 1) / 3; }, f16(2, 3)) == f16(2, 3), "numbers take the tensor's dtype");
static_assert(result([](Tensor x) { return 2 * x - 1; }, i32(4)) == i32(4));

static_assert(result(ops::detach, f16(2, 3)) == f16(2, 3));
static_assert(result([](Tensor x) { return -x; }, f32(3)) == f32(3));

// ---- cast
static_assert(result([](Tensor x) { return x.cast(tw::float16); }, f32(2, 3)) == f16(2, 3));
static_assert(result([](Tensor x) { return x.cast(tw::boolean); }, i32(2)) == TensorSpec{{2}, tw::boolean});
constexpr bool a_cast_to_the_same_dtype_is_no_op() {
  Ir ir;
  return ir.create_graph([](Tensor x) { return x.cast(tw::float32); }, f32(2)).op_count() == 0;
}
static_assert(a_cast_to_the_same_dtype_is_no_op());

// ---- matmul: numpy.matmul
constexpr auto matmul = [](Tensor a, Tensor b) { return a.matmul(b); };
static_assert(result(matmul, f32(8, 784), f32(784, 512)) == f32(8, 512));
static_assert(result(matmul, f32(3, 8, 4), f32(4, 5)) == f32(3, 8, 5));
static_assert(result(matmul, f32(8, 4), f32(3, 4, 5)) == f32(3, 8, 5));
static_assert(result(matmul, f32(6, 1, 8, 4), f32(3, 4, 5)) == f32(6, 3, 8, 5));
static_assert(result(matmul, f32(4), f32(4, 5)) == f32(5));
static_assert(result(matmul, f32(8, 4), f32(4)) == f32(8));
static_assert(result(matmul, f32(4), f32(4)) == f32());
static_assert(result(matmul, f32(4), f32(3, 4, 5)) == f32(3, 5));
static_assert(result(matmul, f32(3, 8, 4), f32(4)) == f32(3, 8));
static_assert(result(matmul, f16(2, 3), f16(3, 2)) == f16(2, 2));
TW_SAME(failure(matmul, f32(8, 784), f32(783, 512)),
        "MatMul: (8, 784) x (783, 512): inner dimensions 784 and 783 differ, in graph");
TW_SAME(failure(matmul, f32(2, 8, 4), f32(3, 4, 5)),
        "MatMul: (2, 8, 4) x (3, 4, 5): leading axes that broadcast expected, in graph");
TW_SAME(failure(matmul, f32(), f32(4, 5)), "MatMul: () x (4, 5): vectors or matrices expected, in graph");
TW_SAME(failure(matmul, f32(2, 3), f16(3, 2)), "MatMul: (2, 3) float32 and (3, 2) float16: equal dtypes expected, in graph");

// ---- reshape and flatten
constexpr auto reshaped(const Shape& shape) {
  return [shape](Tensor x) { return x.reshape(shape); };
}
static_assert(result(reshaped({-1, 784}), f32(28, 28)) == f32(1, 784));
static_assert(result(reshaped({2, -1, 2}), f32(4, 5)) == f32(2, 5, 2));
static_assert(result(reshaped({}), f32(1, 1)) == f32());
static_assert(result(reshaped({-1}), f32()) == f32(1));
static_assert(result([](Tensor x) { return x.flatten(); }, f32(2, 3, 4)) == f32(24));
TW_SAME(failure(reshaped({5, 4}), f32(2, 3)), "Reshape: (2, 3) float32 to (5, 4): a shape of 6 elements expected, in graph");
TW_SAME(failure(reshaped({4, -1}), f32(2, 3)), "Reshape: (2, 3) float32 to (4, -1): a shape of 6 elements expected, in graph");
TW_SAME(failure(reshaped({-1, -1}), f32(2, 3)), "Reshape: (2, 3) float32 to (-1, -1): at most one -1 expected, in graph");
TW_SAME(failure(reshaped({0, 6}), f32(2, 3)),
        "Reshape: (2, 3) float32 to (0, 6): extents above 0, or one -1, expected, in graph");
TW_SAME(failure(reshaped({-2, -3}), f32(2, 3)),
        "Reshape: (2, 3) float32 to (-2, -3): extents above 0, or one -1, expected, in graph");

// ---- transpose
constexpr auto transposed(const Shape& permutation) {
  return [permutation](Tensor x) { return x.transpose(permutation); };
}
static_assert(result([](Tensor x) { return x.T(); }, f32(2, 3, 4)) == f32(4, 3, 2));
static_assert(result([](Tensor x) { return x.T(); }, f32()) == f32());
static_assert(result(transposed({1, 2, 0}), f32(2, 3, 4)) == f32(3, 4, 2));
TW_SAME(failure(transposed({0, 0}), f32(2, 3)),
        "Transpose: (2, 3) float32 by (0, 0): a permutation of the axes 0 to 1 expected, in graph");
TW_SAME(failure(transposed({0}), f32(2, 3)),
        "Transpose: (2, 3) float32 by (0,): a permutation of the axes 0 to 1 expected, in graph");
TW_SAME(failure(transposed({0, 2}), f32(2, 3)),
        "Transpose: (2, 3) float32 by (0, 2): a permutation of the axes 0 to 1 expected, in graph");

// ---- expand
constexpr auto expanded(const Shape& shape) {
  return [shape](Tensor x) { return ops::expand(x, shape); };
}
static_assert(result(expanded({5, 2, 3}), f32(2, 1)) == f32(5, 2, 3));
static_assert(result(expanded({4}), f32()) == f32(4));
TW_SAME(failure(expanded({2, 4}), f32(2, 3)),
        "Expand: (2, 3) float32 to (2, 4): a shape that it broadcasts to expected, in graph");
TW_SAME(failure(expanded({3}), f32(2, 3)), "Expand: (2, 3) float32 to (3,): a shape that it broadcasts to expected, in graph");
TW_SAME(failure(expanded({-1, 3}), f32(3)), "Expand: (3,) float32 to (-1, 3): a shape that it broadcasts to expected, in graph");

// ---- softmax
static_assert(result([](Tensor x) { return ops::softmax(x); }, f32(8, 10)) == f32(8, 10));
static_assert(result([](Tensor x) { return ops::softmax(x, -2); }, f16(8, 10)) == f16(8, 10));
TW_SAME(failure([](Tensor x) { return ops::softmax(x, 2); }, f32(8, 10)),
        "Softmax: axis 2 of a tensor of rank 2: an axis from -2 to 1 expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::softmax(x); }, i32(8)),
        "Softmax: (8,) int32: float16, float32, float64 or bfloat16 expected, in graph");

// ---- attention
constexpr auto attention = [](Tensor q, Tensor k) { return ops::scaled_dot_product_attention(q, k, k); };
static_assert(result(attention, f32(2, 4, 5, 6), f32(2, 4, 7, 6)) == f32(2, 4, 5, 6));
static_assert(result(attention, f32(2, 4, 5, 6), f32(2, 2, 7, 6)) == f32(2, 4, 5, 6), "heads in groups");
TW_SAME(
    failure(attention, f32(2, 4, 5, 6), f32(3, 4, 7, 6)),
    "ScaledDotProductAttention: queries (2, 4, 5, 6) float32 and keys (3, 4, 7, 6) float32: the same batch and width expected, "
    "in graph");

// ---- negative log-likelihood
constexpr auto nll(const tw::NllOptions& options = {}) {
  return [options](Tensor probs, Tensor labels) { return ops::nll_loss(probs, labels, options); };
}
static_assert(result(nll(), f32(8, 10), i32(8)) == f32());
static_assert(result(nll({.reduction = tw::Reduction::sum}), f16(8, 10), i32(8)) == f16());
static_assert(result(nll({.reduction = tw::Reduction::none}), f32(2, 8, 10), i32(2, 8)) == f32(2, 8));
static_assert(result(nll(), f32(10), TensorSpec{{}, tw::uint32}) == f32());
TW_SAME(failure(nll(), f32(8, 10), i32(7)),
        "Nll: labels (7,) int32 for probabilities (8, 10) float32: (8,) int32 or uint32 expected, in graph");
TW_SAME(failure(nll(), f32(8, 10), f32(8)),
        "Nll: labels (8,) float32 for probabilities (8, 10) float32: (8,) int32 or uint32 expected, in graph");
TW_SAME(failure(nll(), i32(8, 10), i32(8)), "Nll: (8, 10) int32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure(nll(), f32(), i32()), "Nll: probabilities () float32: at least one axis expected, in graph");

constexpr bool loss_and_gradient_have_the_logits_dtype() {
  Ir ir;
  const auto graph = ir.create_graph(
      [](Tensor x, Tensor labels) {
        const auto [loss, gradient] = ops::cross_entropy_with_grad(x, labels);
        return std::pair(loss, gradient);
      },
      f16(8, 10), i32(8));
  return graph.output(0).spec() == f16() && graph.output(1).spec() == f16(8, 10);
}
static_assert(loss_and_gradient_have_the_logits_dtype());
static_assert(result([](Tensor x, Tensor labels) { return ops::cross_entropy(x, labels); }, f32(8, 10), i32(8)) == f32());
TW_SAME(failure([](Tensor p, Tensor labels, Tensor scale) { return ops::nll_loss_with_softmax_grad(p, labels, scale).loss; },
                f32(8, 10), i32(8), f32(2)),
        "NlllWithSoftmaxGradDirect: loss_grad (2,) float32: one element of floating point expected, in graph");

// ---- losses by PyTorch's names: a scalar, or a loss for each element or row
static_assert(result([](Tensor x, Tensor t) { return ops::mse_loss(x, t); }, f16(8, 10), f16(8, 10)) == f16());
static_assert(result([](Tensor x, Tensor t) { return ops::kl_div(x, t, {.reduction = tw::Reduction::none}); }, f16(8, 10),
                     f16(8, 10)) == f16(8, 10));
static_assert(result([](Tensor a, Tensor b,
                        Tensor t) { return ops::cosine_embedding_loss(a, b, t, {.reduction = tw::Reduction::none}); },
                     f32(4, 8, 10), f32(4, 8, 10), i32(4, 8)) == f32(4, 8));
constexpr auto smoothed = [](Tensor x, Tensor labels, Tensor weight) {
  return ops::cross_entropy(x, labels, {.reduction = tw::Reduction::none, .label_smoothing = 0.1, .weight = weight});
};
static_assert(result(smoothed, f16(2, 8, 10), i32(2, 8), f32(10)) == f16(2, 8));
TW_SAME(failure(smoothed, f32(2, 8, 10), i32(2, 8), f16(10)),
        "WeightedCrossEntropy: weight (10,) float16 for logits (2, 8, 10) float32: (10,) float32 expected, in graph");

// ---- scaled_add: equal shapes, the first one's dtype
static_assert(result([](Tensor x, Tensor y) { return ops::scaled_add(x, y, {.b = -0.5}); }, f32(2, 3), f16(2, 3)) == f32(2, 3));
static_assert(result([](Tensor x, Tensor y) { return ops::scaled_add_(x, y, {.b = -0.5}); }, f16(2, 3), f32(2, 3)) == f16(2, 3));
static_assert(result([](Tensor x, Tensor y, Tensor a) { return ops::scaled_add(x, y, a, a); }, f32(3), f32(3), f32(1)) == f32(3));
TW_SAME(failure([](Tensor x, Tensor y) { return ops::scaled_add(x, y); }, f32(2, 3), f32(3)),
        "ScaledAdd: (2, 3) float32 and (3,) float32: equal shapes expected, in graph");
TW_SAME(failure([](Tensor x, Tensor y, Tensor a) { return ops::scaled_add(x, y, a, a); }, f32(3), f32(3), f32(3)),
        "ScaledAdd: factor (3,) float32: one element expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::scaled_add_(x.ir().constant(1.0), x); }, f32()),
        "ScaledAddLhsInplace: Tensor[float32 ()] is a constant: a tensor that may change in place expected, in graph");

// ---- layer_norm and group_norm: weight and bias for each element of a line, or each channel
constexpr auto layer_norm = [](Tensor x, Tensor weight, Tensor bias) { return ops::layer_norm(x, weight, bias); };
constexpr auto group_norm(std::int64_t num_groups) {
  return [num_groups](Tensor x, Tensor weight, Tensor bias) { return ops::group_norm(x, weight, bias, num_groups); };
}
static_assert(result(layer_norm, f32(2, 8, 10), f32(10), f32(10)) == f32(2, 8, 10));
static_assert(result(layer_norm, f16(10), f16(10), f16(10)) == f16(10));
TW_SAME(failure(layer_norm, f32(8, 10), f32(8), f32(8)),
        "GroupNormalization: weight (8,) float32 for (8, 10) float32: (10,) float32 expected, in graph");
TW_SAME(failure(layer_norm, f16(8, 10), f16(10), f32(10)),
        "GroupNormalization: bias (10,) float32 for (8, 10) float16: (10,) float16 expected, in graph");
TW_SAME(failure(layer_norm, i32(8, 10), i32(10), i32(10)),
        "GroupNormalization: (8, 10) int32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure(layer_norm, f32(), f32(1), f32(1)), "GroupNormalization: () float32: at least one axis expected, in graph");
static_assert(result(group_norm(2), f32(8, 6, 5, 5), f32(6), f32(6)) == f32(8, 6, 5, 5));
TW_SAME(failure(group_norm(4), f32(8, 6, 5, 5), f32(6), f32(6)),
        "GroupNormalization: 4 groups of the 6 channels of (8, 6, 5, 5) float32: a divisor of 6 expected, in graph");
TW_SAME(failure(group_norm(0), f32(8, 6), f32(6), f32(6)),
        "GroupNormalization: 0 groups of the 6 channels of (8, 6) float32: a divisor of 6 expected, in graph");
TW_SAME(failure(group_norm(1), f32(8), f32(8), f32(8)),
        "GroupNormalization: (8,) float32: at least 2 axes, for samples and channels, expected, in graph");
TW_SAME(failure(group_norm(1), f32(8, 6, 5), f32(5), f32(5)),
        "GroupNormalization: weight (5,) float32 for (8, 6, 5) float32: (6,) float32 expected, in graph");

// ---- updates of variables: equal shapes, the variable's dtype
constexpr auto accumulate = [](Tensor t, Tensor x) { return ops::accumulate_(t, x); };
constexpr auto accumulate_scaled = [](Tensor t, Tensor x, Tensor f) { return ops::accumulate_(t, x, f); };
static_assert(result(accumulate, f16(2, 3), f32(2, 3)) == f16(2, 3));
static_assert(result([](Tensor t, Tensor x) { return ops::var_updates::copy_var_update_(t, x); }, f32(2), f32(2)) == f32(2));
static_assert(result([](Tensor t, Tensor x, Tensor i) { return ops::var_updates::sparse_accumulate_(t, x, i); }, f32(5), f32(2),
                     i32(2)) == f32(5));
static_assert(result(accumulate_scaled, f32(2, 3), f16(2, 3), f32()) == f32(2, 3));
TW_SAME(failure(accumulate, f32(2, 3), f32(3)), "Accumulate: (2, 3) float32 and (3,) float32: equal shapes expected, in graph");
TW_SAME(failure(accumulate, f32(2), i32(2)), "Accumulate: (2,) int32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure(accumulate_scaled, f32(3), f32(3), f32(3)), "Accumulate: factor (3,) float32: one element expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::accumulator_zero_(x.ir().constant(1.0)); }, f32()),
        "AccumulatorScale: Tensor[float32 ()] is a constant: a tensor that may change in place expected, in graph");
constexpr auto adam(const tw::NumberOrTensor& weight_decay) {
  return [=](Tensor m, Tensor v, Tensor w) { return ops::adam_updater(m, v, {.weight = w, .weight_decay = weight_decay}); };
}
static_assert(result([](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, f16(2, 3), f32(2, 3)) == f16(2, 3));
static_assert(result(adam(0.5), f16(2, 3), f32(2, 3), f32(2, 3)) == f32(2, 3));
static_assert(result(adam(0), f16(2, 3), f32(2, 3), f32(2, 3)) == f16(2, 3), "a weight that does not decay is not an input");
TW_SAME(failure([](Tensor m, Tensor v) { return ops::adam_updater(m, v, {.weight_decay = 0.5}); }, f32(2), f32(2)),
        "AdamUpdater: weight_decay without weight: the weight that decays expected, in graph");
TW_SAME(failure([](Tensor m, Tensor v, Tensor t) { return ops::adam_updater(m, v, {.time_step = t, .beta1 = 0.9}); }, f32(2),
                f32(2), f32()),
        "AdamUpdater: time_step without beta1 or beta2: both expected, to correct the moments, in graph");
TW_SAME(failure([](Tensor m, Tensor v) { return ops::adam_updater(m, v); }, f32(2), f32(3)),
        "AdamUpdater: moments (2,) float32 and (3,) float32: equal shapes expected, in graph");
TW_SAME(failure(adam(0.5), f32(2), f32(2), f32(3)),
        "AdamUpdater: moments (2,) float32 of weight (3,) float32: equal shapes expected, in graph");
TW_SAME(failure([](Tensor m, Tensor v,
                   Tensor t) { return ops::adam_updater(m, v, {.time_step = t, .beta1 = 0.9, .beta2 = 0.99}); },
                f32(2), f32(2), f32(2)),
        "AdamUpdater: factor (2,) float32: one element expected, in graph");
TW_SAME(
    failure([](Tensor m,
               Tensor v) { return ops::adam_updater(m, v, {.time_step = m.ir().constant(1.0), .beta1 = 0.9, .beta2 = 0.99}); },
            f32(2), f32(2)),
    "AdamUpdater: Tensor[float32 ()] is a constant: a tensor that may change in place expected, in graph");
TW_SAME(failure([](Tensor m, Tensor v) { return ops::adamax_updater(m, v, {}); }, f32(2), f32(2)),
        "AdamUpdater: Adamax without time_step: a time step expected, in graph");
static_assert(result(ops::lamb_square, f16(2, 3)) == f32());
TW_SAME(failure(ops::lamb_square, i32(2)), "LambSquare: (2,) int32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure([](Tensor t, Tensor r) { return ops::adam_var_update(t, t, r, r, 0.5); }, f32(2), f32(2)),
        "AdamVarUpdate: factor (2,) float32: one element expected, in graph");

// ---- errors name the place in the model, and only the first is kept
struct Wide : tw::Module<Wide> {
  BOOST_HANA_DEFINE_STRUCT(Wide, (Linear<4>, fc1));
  constexpr Tensor build(Tensor x) {
    const Tensor y = fc1(x);
    return ops::matmul(y, x) + ops::exp(y.cast(tw::int32));
  }
};
struct Deep : tw::Module<Deep> {
  BOOST_HANA_DEFINE_STRUCT(Deep, (Wide, left), (Wide, right));
  constexpr Tensor build(Tensor x) { return left(x.reshape({2, 3})) + right(x); }
};
constexpr Text module_failure(auto module, const TensorSpec& spec) {
  Ir ir(tw::OnError::record);
  tw::create_graph(ir, module, spec);
  return ir.failure();
}
TW_SAME(module_failure(Wide{}, f32(2, 3)), "MatMul: (2, 4) x (2, 3): inner dimensions 4 and 2 differ, in Wide");
TW_SAME(module_failure(Deep{}, f32(6)), "MatMul: (2, 4) x (2, 3): inner dimensions 4 and 2 differ, in Deep/left");
TW_SAME(module_failure(Net{}, f32(5)), "Reshape: (5,) float32 to (-1, 784): a shape of 5 elements expected, in Net");

// ---- convolution: (N, C, spatial) with (M, C / groups, kernel)
constexpr auto conv(const tw::ConvOptions& options = {}) {
  return [options](Tensor x, Tensor weight) { return ops::conv(x, weight, options); };
}
using tw::PadType;
static_assert(result(conv(), f32(8, 3, 28, 27), f32(16, 3, 3, 5)) == f32(8, 16, 26, 23));
static_assert(result(conv({.stride = {2, 3}, .padding = {0, 1, 2, 3}}), f32(8, 3, 28, 27), f32(16, 3, 3, 5)) ==
              f32(8, 16, 14, 9));
static_assert(result(conv({.dilation = {3, 2}}), f16(8, 3, 28, 27), f16(16, 3, 3, 5)) == f16(8, 16, 22, 19));
static_assert(result(conv({.groups = 4}), f32(8, 12, 9, 9), f32(16, 3, 3, 3)) == f32(8, 16, 7, 7));
static_assert(result(conv({.stride = {2}}), f32(1, 1, 10), f32(1, 1, 3)) == f32(1, 1, 4));
static_assert(result(conv({.stride = {1, 1, 2}}), f32(1, 2, 4, 5, 6), f32(3, 2, 1, 2, 3)) == f32(1, 3, 4, 4, 2));
static_assert(result(conv({.stride = {2, 3}, .pad_type = PadType::same_upper}), f32(1, 1, 7, 7), f32(1, 1, 3, 3)) ==
              f32(1, 1, 4, 3));
static_assert(result(conv({.stride = {2, 3}, .pad_type = PadType::same_lower}), f32(1, 1, 8, 9), f32(1, 1, 5, 2)) ==
              f32(1, 1, 4, 3));
static_assert(result(conv({.stride = {2, 2}, .padding = {9, 9, 9, 9}, .pad_type = PadType::valid}), f32(1, 1, 8, 9),
                     f32(1, 1, 3, 3)) == f32(1, 1, 3, 4));
TW_SAME(failure(conv(), f32(8, 9), f32(9, 8)),
        "Conv: (8, 9) float32: (N, C, spatial) with 1 to 3 spatial axes expected, in graph");
TW_SAME(failure(conv(), i32(1, 1, 9), i32(1, 1, 3)),
        "Conv: (1, 1, 9) int32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure(conv(), f32(1, 1, 9), f16(1, 1, 3)),
        "Conv: (1, 1, 9) float32 and (1, 1, 3) float16: equal dtypes expected, in graph");
TW_SAME(failure(conv(), f32(8, 3, 9, 9), f32(4, 3, 3)), "Conv: weight (4, 3, 3) for (8, 3, 9, 9): rank 4 expected, in graph");
TW_SAME(failure(conv(), f32(8, 3, 9, 9), f32(4, 2, 3, 3)),
        "Conv: weight (4, 2, 3, 3) for (8, 3, 9, 9) in 1 group: 3 channels expected, in graph");
TW_SAME(failure(conv({.groups = 2}), f32(8, 4, 9, 9), f32(4, 4, 3, 3)),
        "Conv: weight (4, 4, 3, 3) for (8, 4, 9, 9) in 2 groups: 2 channels expected, in graph");
TW_SAME(failure(conv({.groups = 3}), f32(8, 3, 9, 9), f32(4, 1, 3, 3)),
        "Conv: 3 groups for 3 input channels and 4 output channels: a divisor of 3 and 4 expected, in graph");
TW_SAME(failure(conv({.groups = 0}), f32(8, 3, 9, 9), f32(4, 1, 3, 3)),
        "Conv: 0 groups for 3 input channels and 4 output channels: a divisor of 3 and 4 expected, in graph");
TW_SAME(failure(conv({.stride = {1}}), f32(8, 3, 9, 9), f32(4, 3, 3, 3)),
        "Conv: stride of 1 numbers for (8, 3, 9, 9): 2 expected, in graph");
TW_SAME(failure(conv({.padding = {1, 1}}), f32(8, 3, 9, 9), f32(4, 3, 3, 3)),
        "Conv: padding of 2 numbers for (8, 3, 9, 9): 4 expected, in graph");
TW_SAME(failure(conv({.dilation = {1, 0}}), f32(8, 3, 9, 9), f32(4, 3, 3, 3)),
        "Conv: dilation (1, 0): numbers from 1 to 1048576 expected, in graph");
TW_SAME(failure(conv({.padding = {0, 0, 0, -1}}), f32(8, 3, 9, 9), f32(4, 3, 3, 3)),
        "Conv: padding (0, 0, 0, -1): numbers from 0 to 1048576 expected, in graph");
TW_SAME(failure(conv({.padding = {0, 1, 0, 0}, .dilation = {1, 4}}), f32(8, 3, 9, 7), f32(4, 3, 3, 3)),
        "Conv: (8, 3, 9, 7) with a kernel of (3, 3): axis 3 has 7 elements, at least 9 with padding expected, in graph");

// ---- pooling: (N, C, spatial)
constexpr auto max_pool(const std::vector<std::int64_t>& kernel, const tw::PoolOptions& options = {}) {
  return [=](Tensor x) { return ops::max_pool(x, kernel, options); };
}
static_assert(result(max_pool({2, 3}), f32(2, 3, 7, 6)) == f32(2, 3, 6, 4));
static_assert(result(max_pool({2, 2}, {.stride = {2, 3}}), f16(2, 3, 7, 6)) == f16(2, 3, 3, 2));
static_assert(result(max_pool({2, 2}, {.stride = {2, 3}, .ceil_mode = true}), f32(2, 3, 7, 6)) == f32(2, 3, 4, 2));
static_assert(result(max_pool({3}, {.stride = {2}, .padding = {1, 1}}), f32(2, 3, 7)) == f32(2, 3, 4));
static_assert(result(max_pool({2, 2}, {.stride = {2, 2}, .auto_pad = PadType::same_lower}), f32(2, 3, 7, 6)) == f32(2, 3, 4, 3));
static_assert(result([](Tensor x) { return ops::average_pool(x, {2, 2, 2}); }, f32(2, 3, 4, 5, 6)) == f32(2, 3, 3, 4, 5));
TW_SAME(failure(max_pool({2, 2}), i32(2, 3, 7, 6)),
        "MaxPool: (2, 3, 7, 6) int32: float16, float32, float64 or bfloat16 expected, in graph");
TW_SAME(failure(max_pool({2}), f32(2, 3, 7, 6)), "MaxPool: kernel_size of 1 numbers for (2, 3, 7, 6): 2 expected, in graph");
TW_SAME(failure(max_pool({2, 0}), f32(2, 3, 7, 6)), "MaxPool: kernel_size (2, 0): numbers from 1 to 1048576 expected, in graph");
TW_SAME(failure(max_pool({2, 7}), f32(2, 3, 7, 6)),
        "MaxPool: (2, 3, 7, 6) with a kernel of (2, 7): axis 3 has 6 elements, at least 7 with padding expected, in graph");
TW_SAME(failure(max_pool({2, 2}, {.padding = {0, 2, 0, 0}}), f32(2, 3, 7, 6)),
        "MaxPool: kernel_size (2, 2) on (2, 3, 7, 6): padding that leaves each window an element expected, in graph");
TW_SAME(failure([](Tensor x) { return ops::average_pool(x, {2, 2}, {.stride = {0, 1}}); }, f32(2, 3, 7, 6)),
        "AveragePool: stride (0, 1): numbers from 1 to 1048576 expected, in graph");
