// labels: none
// Wrong numbers as parameters and options of ops.
#include "../../ops/ops.hpp"

#include <deque>

#include "../../catch.hpp"
#include "tilewright/ops/nn/losses.hpp"
#include "tilewright/ops/reduce/grad_reduce_square_add.hpp"
#include "wrong_numbers.hpp"

namespace {
using namespace wrong_numbers;

constexpr Legal window{0, 0x1p20}, stride{1, 0x1p20}, axis_of_4{-4, 3}, one{1, 1};

Tensor seed(const Scene& s) { return s.tensor({2}, tw::uint32); }
Tensor labels(const Scene& s) { return s.tensor({8}, tw::int32); }
Tensor rows(const Scene& s) { return s.x.reshape({8, 36}); }
Tensor line(const Scene& s, int n) { return s.tensor({n}); }
Tensor in_float8(const Scene& s) { return s.tensor({36, 8}, tw::float8_143); }
Tensor attend(const Scene& s, tw::AttentionOptions options) {
  options.seed = seed(s);
  return ops::scaled_dot_product_attention(s.x, s.x, s.x, options);
}
Tensor adam(const Scene& s, tw::AdamOptions options) {
  options.weight = s.x;
  options.time_step = s.tensor({});
  if (!options.beta1) options.beta1 = 0.9;
  if (!options.beta2) options.beta2 = 0.9;
  return ops::adam_updater(s.x, s.x, options);
}

const Case elementwise[] = {
    real("where.a", everything, [](const Scene& s, double n) { return ops::where(ops::less(s.x, 0), n, s.x); }),
    real("where.b", everything, [](const Scene& s, double n) { return ops::where(ops::less(s.x, 0), s.x, n); }),
    real("ScaledAddFactors.a", as_float32, [](const Scene& s, double n) { return ops::scaled_add(s.x, s.x, {.a = n}); }),
    real("ScaledAddFactors.b", as_float32, [](const Scene& s, double n) { return ops::scaled_add(s.x, s.x, {.b = n}); }),
    real("scaled_add.a", as_float32, [](const Scene& s, double n) { return ops::scaled_add(s.x, s.x, n, 1); }),
    real("scaled_add.b", as_float32, [](const Scene& s, double n) { return ops::scaled_add(s.x, s.x, 1, n); }),
    real("scaled_add_.a", as_float32,
         [](const Scene& s, double n) { return ops::scaled_add_(s.tensor({3}), s.tensor({3}), n, 1); }),
    real("scaled_add_.b", as_float32,
         [](const Scene& s, double n) { return ops::scaled_add_(s.tensor({3}), s.tensor({3}), 1, n); }),
};

const Case random_numbers[] = {
    whole("random_uniform.shape", any_outcome, [](const Scene& s, Whole n) { return ops::random_uniform(seed(s), {n, 2}); }),
    real("random_uniform.low", {-0x1.fffffep127, 1, true, false},
         [](const Scene& s, double n) { return ops::random_uniform(seed(s), {3}, n); }),
    real("random_uniform.high", {0, 0x1.fffffep127, false},
         [](const Scene& s, double n) { return ops::random_uniform(seed(s), {3}, 0, n); }),
    whole("random_normal.shape", any_outcome, [](const Scene& s, Whole n) { return ops::random_normal(seed(s), {n, 2}); }),
    real("random_normal.mean", as_float32, [](const Scene& s, double n) { return ops::random_normal(seed(s), {3}, n); }),
    real("random_normal.std", {0, 0x1.fffffep127},
         [](const Scene& s, double n) { return ops::random_normal(seed(s), {3}, 0, n); }),
    real("dropout.p", probability, [](const Scene& s, double n) { return ops::dropout(s.x, seed(s), n); }),
    whole("shaped_dropout.shape", one,
          [](const Scene& s, Whole n) { return ops::shaped_dropout(s.x, seed(s), {n, 4, 6, 6}, 0.5); }),
    real("shaped_dropout.ratio", probability,
         [](const Scene& s, double n) { return ops::shaped_dropout(s.x, seed(s), {2, 1, 6, 6}, n); }),
    whole("create_random_seed.modifier", everything, [](const Scene& s, Whole n) { return ops::create_random_seed(seed(s), n); }),
    narrow("split_random_seed.n", any_outcome,
           [](const Scene& s, Whole n) { return ops::split_random_seed(seed(s), static_cast<int>(n))[0]; }),
};

const Case attention_and_losses[] = {
    real("AttentionOptions.scale", as_float32, [](const Scene& s, double n) { return attend(s, {.scale = n}); }),
    whole("AttentionOptions.window", whole_not_negative,
          [](const Scene& s, Whole n) { return attend(s, {.is_causal = true, .window = n}); }),
    real("AttentionOptions.dropout_p", probability, [](const Scene& s, double n) { return attend(s, {.dropout_p = n}); }),
    real("cross_entropy_with_grad.loss_scaling", finite_only,
         [](const Scene& s, double n) { return ops::cross_entropy_with_grad(rows(s), labels(s), n).gradient; }),
    real("nll_loss_with_softmax_grad.loss_grad", finite_only,
         [](const Scene& s, double n) { return ops::nll_loss_with_softmax_grad(rows(s), labels(s), n).gradient; }),
    whole("NllOptions.ignore_index", everything,
          [](const Scene& s, Whole n) { return ops::cross_entropy(rows(s), labels(s), {.ignore_index = n}); }),
    whole("CrossEntropyOptions.ignore_index", everything,
          [](const Scene& s, Whole n) {
            return ops::cross_entropy(rows(s), labels(s), {.ignore_index = n, .label_smoothing = 0.5});
          }),
    real("CrossEntropyOptions.label_smoothing", part,
         [](const Scene& s, double n) { return ops::cross_entropy(rows(s), labels(s), {.label_smoothing = n}); }),
    real("SmoothL1Options.beta", {0, 0x1.fffffep127},
         [](const Scene& s, double n) { return ops::smooth_l1_loss(s.x, s.x, {.beta = n}); }),
    real("HuberOptions.delta", {0, 0x1.fffffep127, false, true},
         [](const Scene& s, double n) { return ops::huber_loss(s.x, s.x, {.delta = n}); }),
    real("CosineEmbeddingOptions.margin", {-1, 1},
         [](const Scene& s, double n) { return ops::cosine_embedding_loss(s.x, s.x, s.tensor({2, 4, 6}), {.margin = n}); }),
};

const Case norms[] = {
    real("batch_norm_inference.eps", not_negative,
         [](const Scene& s, double n) {
           return ops::batch_norm_inference(s.x, line(s, 4), line(s, 4), line(s, 4), line(s, 4), n);
         }),
    real("batch_norm_inference.momentum", everything,
         [](const Scene& s, double n) {
           return ops::batch_norm_inference(s.x, line(s, 4), line(s, 4), line(s, 4), line(s, 4), 1e-5, n);
         }),
    real("BatchNormOptions.momentum", not_negative,
         [](const Scene& s, double n) {
           return ops::batch_norm(s.x, line(s, 4), line(s, 4), line(s, 4), line(s, 4), {.momentum = n});
         }),
    real("grad_reduce_square_add.loss_scaling", above_0,
         [](const Scene& s, double n) { return ops::grad_reduce_square_add(s.x, n); }),
    real("BatchNormOptions.eps", not_negative,
         [](const Scene& s, double n) {
           return ops::batch_norm(s.x, line(s, 4), line(s, 4), line(s, 4), line(s, 4), {.eps = n});
         }),
    real("layer_norm.eps", not_negative,
         [](const Scene& s, double n) { return ops::layer_norm(s.x, line(s, 6), line(s, 6), n); }),
    whole("group_norm.num_groups", one, [](const Scene& s, Whole n) { return ops::group_norm(s.x, line(s, 4), line(s, 4), n); }),
    real("group_norm.eps", not_negative,
         [](const Scene& s, double n) { return ops::group_norm(s.x, line(s, 4), line(s, 4), 2, n); }),
    narrow("softmax.axis", axis_of_4, [](const Scene& s, Whole n) { return ops::softmax(s.x, static_cast<int>(n)); }),
};

const Case updates[] = {
    real("accumulate_.f", as_float32, [](const Scene& s, double n) { return ops::accumulate_(s.tensor({3}), s.tensor({3}), n); }),
    real("accumulate_square_.f", as_float32,
         [](const Scene& s, double n) { return ops::accumulate_square_(s.tensor({3}), s.tensor({3}), n); }),
    real("accumulate_mean_.step", {0, 0x1p127},
         [](const Scene& s, double n) { return ops::accumulate_mean_(s.tensor({3}), s.tensor({3}), n); }),
    real("accumulate_moving_average_.f", as_float32,
         [](const Scene& s, double n) { return ops::accumulate_moving_average_(s.tensor({3}), s.tensor({3}), n); }),
    real("accumulate_moving_average_square_.f", as_float32,
         [](const Scene& s, double n) { return ops::accumulate_moving_average_square_(s.tensor({3}), s.tensor({3}), n); }),
    real("accumulator_scale_.f", as_float32, [](const Scene& s, double n) { return ops::accumulator_scale_(s.tensor({3}), n); }),
    real("sparse_accumulate_.f", as_float32,
         [](const Scene& s, double n) {
           return ops::sparse_accumulate_(s.tensor({3}), s.tensor({2}), s.tensor({2}, tw::int32), 0, n);
         }),
    narrow("sparse_accumulate_.axis", from(-1, 0),
           [](const Scene& s, Whole n) {
             return ops::sparse_accumulate_(s.tensor({3}), s.tensor({2}), s.tensor({2}, tw::int32), static_cast<int>(n));
           }),
    real("AdamOptions.weight_decay", not_negative, [](const Scene& s, double n) { return adam(s, {.weight_decay = n}); }),
    real("AdamOptions.beta1", probability, [](const Scene& s, double n) { return adam(s, {.beta1 = n}); }),
    real("AdamOptions.beta2", probability, [](const Scene& s, double n) { return adam(s, {.beta2 = n}); }),
    real("AdamOptions.epsilon", not_negative, [](const Scene& s, double n) { return adam(s, {.epsilon = n}); }),
    real("adam_var_update.learning_rate", not_negative,
         [](const Scene& s, double n) {
           return ops::adam_var_update(s.tensor({3}), s.tensor({3}), s.tensor({}), s.tensor({}), n);
         }),
    real("adam_var_update.max_weight_norm", whole_not_negative,
         [](const Scene& s, double n) {
           return ops::adam_var_update(s.tensor({3}), s.tensor({3}), s.tensor({}), s.tensor({}), 1, n);
         }),
};

const Case float8[] = {
    real("pow2scale_then_cast.log2_scale", from(-32, 31),
         [](const Scene& s, double n) { return ops::pow2scale_then_cast(s.x, n, tw::float8_143); }),
    real("cast_then_pow2scale.log2_scale", from(-32, 31),
         [](const Scene& s, double n) { return ops::cast_then_pow2scale(in_float8(s), n, tw::float16); }),
    real("matmul_pow2scaled.log2_scale", from(-32, 31),
         [](const Scene& s, double n) { return ops::matmul_pow2scaled(in_float8(s), in_float8(s).T(), n); }),
    whole("group_quantize_compress.group_size", any_outcome,
          [](const Scene& s, Whole n) { return ops::group_quantize_compress(s.tensor({8}), n).codes; }),
    real("matmul_pow2scaled.available_memory_proportion", part,
         [](const Scene& s, double n) { return ops::matmul_pow2scaled(in_float8(s), in_float8(s).T(), 1, n); }),
    real("conv_pow2scaled.log2_scale", from(-32, 31),
         [](const Scene& s, double n) {
           return ops::conv_pow2scaled(s.tensor({2, 4, 6, 6}, tw::float8_143), s.tensor({4, 4, 3, 3}, tw::float8_143), n);
         }),
    real("conv_transpose_pow2scaled.log2_scale", from(-32, 31),
         [](const Scene& s, double n) {
           return ops::conv_transpose_pow2scaled(s.tensor({2, 4, 6, 6}, tw::float8_143), s.tensor({4, 4, 3, 3}, tw::float8_143),
                                                 n);
         }),
};

Tensor conv(const Scene& s, const tw::ConvOptions& options) { return ops::conv(s.x, s.tensor({4, 4, 3, 3}), options); }
Tensor transposed(const Scene& s, const tw::ConvTransposeOptions& options) {
  return ops::conv_transpose(s.x, s.tensor({4, 4, 3, 3}), options);
}
Tensor pool(const Scene& s, const tw::PoolOptions& options) { return ops::max_pool(s.x, {2, 2}, options); }
const Case windows[] = {
    whole("ConvOptions.stride", any_outcome, [](const Scene& s, Whole n) { return conv(s, {.stride = {n, 1}}); }),
    whole("ConvOptions.stride", any_outcome, [](const Scene& s, Whole n) { return conv(s, {.stride = {1, n}}); }),
    whole("ConvOptions.padding", any_outcome, [](const Scene& s, Whole n) { return conv(s, {.padding = {n, 0, 0, 0}}); }),
    whole("ConvOptions.padding", any_outcome, [](const Scene& s, Whole n) { return conv(s, {.padding = {0, n, 0, 0}}); }),
    whole("ConvOptions.dilation", any_outcome, [](const Scene& s, Whole n) { return conv(s, {.dilation = {n, 1}}); }),
    whole("ConvOptions.dilation", any_outcome, [](const Scene& s, Whole n) { return conv(s, {.dilation = {1, n}}); }),
    whole("ConvOptions.groups", one, [](const Scene& s, Whole n) { return conv(s, {.groups = n}); }),
    real("ConvOptions.available_memory_proportions", part,
         [](const Scene& s, double n) { return conv(s, {.available_memory_proportions = {n}}); }),
    whole("ConvTransposeOptions.stride", any_outcome, [](const Scene& s, Whole n) { return transposed(s, {.stride = {n, 1}}); }),
    whole("ConvTransposeOptions.stride", any_outcome, [](const Scene& s, Whole n) { return transposed(s, {.stride = {1, n}}); }),
    whole("ConvTransposeOptions.padding", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.padding = {n, 0, 0, 0}}); }),
    whole("ConvTransposeOptions.padding", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.padding = {0, n, 0, 0}}); }),
    whole("ConvTransposeOptions.dilation", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.dilation = {n, 1}}); }),
    whole("ConvTransposeOptions.dilation", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.dilation = {1, n}}); }),
    whole("ConvTransposeOptions.groups", one, [](const Scene& s, Whole n) { return transposed(s, {.groups = n}); }),
    whole("ConvTransposeOptions.output_padding", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.stride = {2, 2}, .output_padding = {n, 0}}); }),
    whole("ConvTransposeOptions.output_padding", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.stride = {2, 2}, .output_padding = {0, n}}); }),
    whole("ConvTransposeOptions.output_shape", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.output_shape = {n, 6}}); }),
    whole("ConvTransposeOptions.output_shape", any_outcome,
          [](const Scene& s, Whole n) { return transposed(s, {.output_shape = {6, n}}); }),
    real("ConvTransposeOptions.available_memory_proportions", part,
         [](const Scene& s, double n) { return transposed(s, {.available_memory_proportions = {n}}); }),
    whole("PoolOptions.stride", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.stride = {n, 1}}); }),
    whole("PoolOptions.stride", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.stride = {1, n}}); }),
    whole("PoolOptions.padding", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.padding = {n, 0, 0, 0}}); }),
    whole("PoolOptions.padding", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.padding = {0, n, 0, 0}}); }),
    whole("PoolOptions.out_pads", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.out_pads = {n, 0, 0, 0}}); }),
    whole("PoolOptions.out_pads", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.out_pads = {0, n, 0, 0}}); }),
    whole("PoolOptions.dilation", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.dilation = {n, 1}}); }),
    whole("PoolOptions.dilation", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.dilation = {1, n}}); }),
    whole("PoolOptions.in_dilations", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.in_dilations = {n, 1}}); }),
    whole("PoolOptions.in_dilations", any_outcome, [](const Scene& s, Whole n) { return pool(s, {.in_dilations = {1, n}}); }),
    whole("max_pool.kernel_size", any_outcome, [](const Scene& s, Whole n) { return ops::max_pool(s.x, {n, 2}); }),
    whole("max_pool.kernel_size", any_outcome, [](const Scene& s, Whole n) { return ops::max_pool(s.x, {2, n}); }),
    whole("average_pool.kernel_size", any_outcome, [](const Scene& s, Whole n) { return ops::average_pool(s.x, {n, 2}); }),
    whole("average_pool.kernel_size", any_outcome, [](const Scene& s, Whole n) { return ops::average_pool(s.x, {2, n}); }),
    real("interpolate.scale_factor", any_outcome, [](const Scene& s, double n) { return ops::interpolate(s.x, {1, 1, n, 1}); }),
    whole("RoiAlignOptions.output_size", any_outcome,
          [](const Scene& s, Whole n) {
            return ops::roi_align(s.x, s.tensor({3, 4}), s.tensor({3}, tw::int32), {.output_size = {2, n}});
          }),
    real("RoiAlignOptions.spatial_scale", above_0,
         [](const Scene& s, double n) {
           return ops::roi_align(s.x, s.tensor({3, 4}), s.tensor({3}, tw::int32), {.spatial_scale = n});
         }),
    whole("RoiAlignOptions.sampling_ratio", any_outcome,
          [](const Scene& s, Whole n) {
            return ops::roi_align(s.x, s.tensor({3, 4}), s.tensor({3}, tw::int32), {.sampling_ratio = n});
          }),
    real("MatMulOptions.available_memory_proportion", part,
         [](const Scene& s, double n) { return ops::matmul(s.x, s.tensor({6, 2}), {.available_memory_proportion = n}); }),
};
}  // namespace

TEST_CASE("wrong numbers of tests/ops") {
  struct {
    std::vector<Case> cases{};
    std::deque<std::string> names{};
    Legal numbers = wrong_numbers::numbers, everything = wrong_numbers::everything, as_float32 = wrong_numbers::as_float32,
          any_outcome = wrong_numbers::any_outcome;
    void real(std::string name, Legal legal, Tensor (*use)(const Scene&, double)) {
      cases.push_back(wrong_numbers::real(names.emplace_back(std::move(name)), legal, use));
    }
    void whole(std::string name, Legal legal, Tensor (*use)(const Scene&, Whole)) {
      cases.push_back(wrong_numbers::whole(names.emplace_back(std::move(name)), legal, use));
    }
    /// Of an int.
    void narrow(std::string_view name, Legal legal, Tensor (*use)(const Scene&, Whole)) {
      cases.push_back(wrong_numbers::narrow(name, legal, use));
    }
  } list;
  op_tests::for_each([&](auto test) { test.numbers(list); });
  CHECK(problems(list.cases) == "");
}
TEST_CASE("wrong numbers as factors, bounds and exponents") { CHECK(problems(elementwise) == ""); }
TEST_CASE("wrong numbers as parameters of random numbers") { CHECK(problems(random_numbers) == ""); }
TEST_CASE("wrong numbers as options of attention and losses") { CHECK(problems(attention_and_losses) == ""); }
TEST_CASE("wrong numbers as options of norms") { CHECK(problems(norms) == ""); }
TEST_CASE("wrong numbers as factors of updates") { CHECK(problems(updates) == ""); }
TEST_CASE("wrong numbers as scales of float8") { CHECK(problems(float8) == ""); }
TEST_CASE("wrong numbers as options of windows and products") { CHECK(problems(windows) == ""); }
