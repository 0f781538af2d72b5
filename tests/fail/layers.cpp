// labels: none
// Layers that do not compile.
#include <tilewright/layers/layers.hpp>

#include "traced.hpp"

namespace layers = tw::layers;
constexpr tw::TensorSpec x{{2, 4}, tw::float32};

// CASE no_mode
// expect: Dropout: traced without a mode: tw::training(ir) or tw::evaluation(ir) before create_graph expected
// expect: in Dropout
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Dropout(0.5), x, tw::TensorSpec{{2}, tw::uint32}); }> no_mode;

// CASE no_seed
// expect: Dropout: (2, 4) float32 in training without a seed: dropout(x, seed) expected
Traced<[](Ir& ir) {
  const auto mode = tw::training(ir);
  (void)tw::create_graph(ir, layers::Dropout(0.5), x);
}>
    no_seed;

// CASE head_before_embedding
// expect: Embedding: logits of (2, 4) float32 before the embedding was called: a call expected
struct Head : tw::Module<Head> {
  using Table = layers::Embedding<7, 4>;
  BOOST_HANA_DEFINE_STRUCT(Head, (Table, table));
  constexpr Tensor build(Tensor y) { return table.logits(y); }
};
Traced<[](Ir& ir) { (void)tw::create_graph(ir, Head{}, x); }> head_before_embedding;

// CASE batch_norm_without_a_mode
// expect: BatchNorm: traced without a mode: tw::training(ir) or tw::evaluation(ir) before create_graph expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::BatchNorm<>{}, x); }> batch_norm_without_a_mode;

// CASE batch_norm_without_channels
// expect: BatchNorm: (4,) float32: axes (batch, channels, ...) expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::BatchNorm<>{}, tw::TensorSpec{{4}, tw::float32}); }> no_channels;

// CASE group_norm_without_channels
// expect: GroupNorm: (4,) float32: axes (batch, channels, ...) expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::GroupNorm<2>{}, tw::TensorSpec{{4}, tw::float32}); }> no_groups;

// CASE conv_axes
// expect: Conv2d: (2, 4) float32: axes (batch, channels) and 2 spatial ones expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Conv2d<8, 3>{}, x); }> conv_axes;

// CASE conv_transpose_axes
// expect: ConvTranspose1d: (2, 4) float32: axes (batch, channels) and 1 spatial ones expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::ConvTranspose1d<8, 3>{}, x); }> conv_transpose_axes;

// CASE conv_groups
// expect: Conv1d: 2 groups of the channels of (2, 3, 7) float32: a divisor of 3 expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Conv1d<4, 3, {.groups = 2}>{}, tw::TensorSpec{{2, 3, 7}, tw::float32}); }>
    conv_groups;

// CASE recurrent_axes
// expect: GRU: (2, 4) float32: axes (batch, length, features) with elements expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::GRU<8>{}, x); }> recurrent_axes;

// CASE recurrent_lengths
// expect: GRU: lengths (3,) int32 for x (2, 3, 4) float32: (2,) signed integers expected
constexpr tw::TensorSpec sequences{{2, 3, 4}, tw::float32};
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::GRU<8>{}, sequences, tw::TensorSpec{{3}, tw::int32}); }> recurrent_lengths;

// CASE recurrent_unsigned_lengths
// expect: LSTM: lengths (2,) uint32 for x (2, 3, 4) float32: (2,) signed integers expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::LSTM<8>{}, sequences, tw::TensorSpec{{2}, tw::uint32}); }>
    recurrent_unsigned_lengths;

// CASE recurrent_state
// expect: GRU: initial state (2, 8) float32 for x (2, 3, 4) float32: (2, 2, 8) float32 expected
Traced<[](Ir& ir) {
  (void)tw::create_graph(ir, layers::GRU<8, {.bidirectional = true}>{}, sequences, tw::TensorSpec{{2, 8}, tw::float32});
}>
    recurrent_state;

// CASE recurrent_states
// expect: LSTM: initial states: 1 given, and 2 expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::LSTM<8>{}, sequences, tw::TensorSpec{{1, 2, 8}, tw::float32}); }>
    recurrent_states;

// CASE recurrent_dropout_of_one_layer
// expect: GRU: dropout 0.5 between layers, and num_layers 1: at least 2 layers expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::GRU<8, {.dropout = 0.5}>{}, sequences); }> recurrent_dropout_of_one_layer;

// CASE recurrent_without_a_seed
// expect: LSTM: (2, 3, 4) float32 in training without a seed: a seed, (2,) uint32, as the last argument expected
Traced<[](Ir& ir) {
  const auto mode = tw::training(ir);
  (void)tw::create_graph(ir, layers::LSTM<8, {.num_layers = 2, .dropout = 0.5}>{}, sequences);
}>
    recurrent_without_a_seed;

// CASE padding_idx
// expect: Embedding: padding_idx 7 of 7 rows: a whole number from -7 to 6 expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Embedding<7, 4, {.padding_idx = 7}>{}, tw::TensorSpec{{2}, tw::int32}); }>
    padding_idx;

// CASE adaptive_axes
// expect: AdaptiveAvgPool2d: (2, 3, 4) float32: axes (batch, channels) and 2 spatial ones with elements expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::AdaptiveAvgPool2d<2>{}, sequences); }> adaptive_axes;

// CASE flatten_axes
// expect: Flatten: start_dim 1, end_dim 0 of (2, 4) float32: axes from -2 to 1, the first before the last, expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Flatten<1, 0>{}, x); }> flatten_axes;

// CASE residual_of_another_shape
// expect: Residual: (2, 1) float32 of x (2, 4) float32: a result of the shape and dtype of x expected
// expect: in Residual
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Residual<layers::Linear<1>>{}, x); }> residual_of_another_shape;

// CASE residual_of_a_pair
// expect: Residual: several results of the last element, as of a GRU: one tensor expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Residual<layers::GRU<4>>{}, sequences); }> residual_of_a_pair;

// CASE element_of_two
// expect: Sequential: element 1: a module, or a function of what the element before returns, expected
constexpr auto sum_of_two = [](Tensor a, Tensor b) { return a + b; };
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Sequential(layers::Linear<1>(), sum_of_two), x); }> element_of_two;

// CASE sequential_of_a_pair
// expect: Module: Linear has no build for 1 arguments of these types
// expect: argument 1 is 2 results, as of a GRU
// expect: in Sequential/1
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Sequential<layers::GRU<8>, layers::Linear<1>>{}, sequences); }>
    sequential_of_a_pair;

// CASE list_of_captures
// expect: a list of modules: modules, or lambdas without captures, expected
constexpr auto scaled = [factor = 2](Tensor y) { return y * factor; };
layers::Sequential<layers::Linear<1>, decltype(scaled)> list_of_captures;

// CASE call_of_a_list
// expect: Module: ModuleList has no build for 1 arguments of these types
Traced<[](Ir& ir) { (void)tw::create_graph(ir, tw::from_list(layers::Linear<1>(), layers::Linear<2>()), x); }> call_of_a_list;

// CASE grouped_queries_axes
// expect: GroupedQueryAttention: (2, 4) float32: axes (batch, length, width) expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::GroupedQueryAttention<4, 2, 1>{}, x); }> grouped_queries_axes;

// CASE rotary_head_dim
// expect: rotary_embedding: positions (3,) int32, head_dim 5: positions of one or two axes and an even head_dim
// expect: expected
Traced<[](Ir& ir) { layers::rotary_embedding(ir.constant(tw::range(), {3}, tw::int32), 5); }> rotary_head_dim;

// CASE rotary_length
// expect: apply_rotary: (2, 4) float32 with cosines (3, 2) float32: axes (..., length, head_dim) expected
Traced<[](Ir& ir) {
  const auto rotary = layers::rotary_embedding(ir.constant(tw::range(), {3}, tw::int32), 4);
  layers::apply_rotary(ir.variable(tw::zeros(), {2, 4}, tw::float32, "x"), rotary);
}>
    rotary_length;

// CASE attention_without_a_mode
// expect: MultiheadAttention: traced without a mode: tw::training(ir) or tw::evaluation(ir) before create_graph expected
Traced<[](Ir& ir) {
  (void)tw::create_graph(ir, layers::MultiheadAttention<4, 2, {.dropout = 0.5}>{}, tw::TensorSpec{{1, 2, 4}, tw::float32},
                         tw::TensorSpec{{2}, tw::uint32});
}>
    attention_without_a_mode;

// CASE attention_without_a_seed
// expect: MultiheadAttention: (1, 2, 4) float32 in training without a seed: a seed, (2,) uint32, as the last argument expected
Traced<[](Ir& ir) {
  const auto mode = tw::training(ir);
  (void)tw::create_graph(ir, layers::MultiheadAttention<4, 2, {.dropout = 0.5}>{}, tw::TensorSpec{{1, 2, 4}, tw::float32},
                         tw::TensorSpec{{1, 2}, tw::boolean});
}>
    attention_without_a_seed;

// CASE attention_of_five
// expect: MultiheadAttention: five arguments, the last (1, 2) bool: query, key, value, key_padding_mask and a seed, (2,)
// expect: uint32, expected
Traced<[](Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const tw::TensorSpec given{{1, 2, 4}, tw::float32}, mask{{1, 2}, tw::boolean};
  (void)tw::create_graph(ir, layers::MultiheadAttention<4, 2, {.dropout = 0.5}>{}, given, given, given, mask, mask);
}>
    attention_of_five;

// CASE block_without_a_mode
// expect: TransformerBlock: traced without a mode: tw::training(ir) or tw::evaluation(ir) before create_graph expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::TransformerBlock<4, 2>{}, tw::TensorSpec{{1, 2, 4}, tw::float32}); }>
    block_without_a_mode;

// CASE block_without_a_seed
// expect: TransformerBlock: (1, 2, 4) float32 in training without a seed: a seed, (2,) uint32, as the last argument expected
Traced<[](Ir& ir) {
  const auto mode = tw::training(ir);
  (void)tw::create_graph(ir, layers::TransformerBlock<4, 2>{}, tw::TensorSpec{{1, 2, 4}, tw::float32});
}>
    block_without_a_seed;

// CASE cache_prompt_too_long
// expect: KvCache: a prompt of 5 tokens for a cache of 4: at most 4 expected, in GroupedQueryAttention/cache
constexpr tw::TensorSpec text{{2, 5, 8}, tw::float32}, token{{2, 1, 8}, tw::float32}, position{{1}, tw::int32};
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::GroupedQueryAttention<8, 2, 1, {.cache_length = 4}>{}, text, position); }>
    cache_prompt_too_long;

// CASE cache_position_axes
// expect: GroupedQueryAttention: position (3,) int32 for 2 texts: signed integers of shape (1,) or (2,) expected
Traced<[](Ir& ir) {
  (void)tw::create_graph(ir, layers::GroupedQueryAttention<8, 2, 1, {.cache_length = 4}>{}, token,
                         tw::TensorSpec{{3}, tw::int32});
}>
    cache_position_axes;

// CASE cache_with_a_seed
// expect: KvCache: position (2,) uint32 for 2 texts: signed integers of shape (1,) or (2,) expected
Traced<[](Ir& ir) {
  const auto mode = tw::evaluation(ir);
  (void)tw::create_graph(ir, layers::TransformerBlock<8, 2, {.is_causal = true, .cache_length = 4}>{}, token,
                         tw::TensorSpec{{2}, tw::uint32});
}>
    cache_with_a_seed;

// CASE cache_without_causal
// expect: MultiheadAttention: cache_length 4 without is_causal: is_causal = true expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::MultiheadAttention<8, 2, {.cache_length = 4}>{}, token, position); }>
    cache_without_causal;

// CASE cache_in_training
// expect: MultiheadAttention: cache_length 4 and dropout 0.5 in training: evaluation(ir) expected
Traced<[](Ir& ir) {
  const auto mode = tw::training(ir);
  (void)tw::create_graph(ir, layers::MultiheadAttention<8, 2, {.is_causal = true, .dropout = 0.5, .cache_length = 4}>{}, token,
                         position);
}>
    cache_in_training;

// CASE cache_axes
// expect: KvCache: queries (2, 4, 3, 8) float32, keys (2, 2, 1, 8) float32, values (2, 2, 1, 8) float32: axes (batch, heads,
// expect: length, head_dim) of one length expected
Traced<[](Ir& ir) {
  const tw::TensorSpec q{{2, 4, 3, 8}, tw::float32}, k{{2, 2, 1, 8}, tw::float32};
  (void)tw::create_graph(ir, layers::KvCache<{.length = 4}>{}, q, k, k, position);
}>
    cache_axes;

// CASE window_without_causal
// expect: ScaledDotProductAttention: window without is_causal: is_causal = true expected
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::MultiheadAttention<8, 2, {.sliding_window = 4}>{}, text); }>
    window_without_causal;

// CASE last_token_axes
// expect: last_token: (2, 8) float32: axes (batch, length, width) expected
Traced<[](Ir& ir) {
  layers::last_token(ir.variable(tw::zeros(), {2, 8}, tw::float32, "x"), ir.variable(tw::zeros(), {1}, tw::int32, "position"));
}>
    last_token_axes;
// CASE lora_without_adapters
// expect: merge_lora: 2 variables, none of them named `lora_A.weight`: those of a model with LoraLinear expected
Traced<[](Ir& ir) { layers::merge_lora(tw::create_graph(ir, layers::Linear<8>{}, x).factories.init()); }> lora_without_adapters;

// CASE lora_without_a_weight
// expect: merge_lora: `lora_A.weight` without `lora_B.weight`: the variables of LoraLinear expected
Traced<[](Ir& ir) {
  const auto variables = tw::create_graph(ir, layers::LoraLinear<8, 2>{}, x).factories.init();
  tw::NamedTensors some;
  for (const auto& [name, variable] : variables.named_tensors())
    if (name.view() != "lora_B.weight") some.insert(name.view(), variable);
  layers::merge_lora(some);
}>
    lora_without_a_weight;
