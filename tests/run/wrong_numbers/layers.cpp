// labels: more
// Wrong numbers as arguments and options of layers, optimisers and training.
#include "tilewright/layers/layers.hpp"

#include "../../catch.hpp"
#include "tilewright/optim/optim.hpp"
#include "tilewright/train/minimise.hpp"
#include "tilewright/train/phased_layers.hpp"
#include "tilewright/train/step.hpp"
#include "wrong_numbers.hpp"

namespace {
using namespace wrong_numbers;
namespace layers = tw::layers;
namespace optim = tw::optim;

/// Calls a layer of the main graph in training.
template <class Layer, class... Inputs>
Tensor run(const Layer& layer, const Scene& s, Inputs... inputs) {
  const tw::ModeScope mode = tw::training(s.ir);
  const auto [factories, graph] = tw::create_graph(s.ir, layer, inputs...);
  return graph.bind(factories.init()).call(inputs...)[0];
}
Tensor seed(const Scene& s) { return s.tensor({2}, tw::uint32); }
Tensor text(const Scene& s) { return s.tensor({2, 3, 8}); }
Tensor head(const Scene& s) { return s.tensor({2, 1, 3, 8}); }
Tensor indices(const Scene& s) { return s.tensor({2, 3}, tw::int32); }

const Case reals[] = {
    real_argument<[]<double n>(const Scene& s) { return run(layers::Embedding<5, 4, {.std = n}>(), s, indices(s)); }>(
        "EmbeddingOptions.std", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::Embedding<5, 4, {.padding_idx = n}>(), s, indices(s)); }>(
        "EmbeddingOptions.padding_idx", from(-5, 4)),
    real_argument<[]<double n>(const Scene& s) {
      using Layer = layers::GRU<4, {.num_layers = 2, .dropout = n}>;
      if constexpr ((n > 0)) return run(Layer(), s, text(s), seed(s));
      else return run(Layer(), s, text(s));
    }>("RecurrentOptions.dropout", probability),
    real_argument<[]<double n>(const Scene& s) { return run(layers::Linear<4, {.std = n}>(), s, text(s)); }>(
        "LinearOptionsOf.std", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::RowParallelLinear<4, {.std = n}>(), s, text(s)); }>(
        "TensorParallelOptions.std", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::FeedForward<8, 4, {.std = n}>(), s, text(s)); }>(
        "FeedForwardOptions.std", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::SwigluFeedForward<8, 4, {.std = n}>(), s, text(s)); }>(
        "SwigluFeedForwardOptions.std", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::MultiheadAttention<8, 2, {.std = n}>(), s, text(s)); }>(
        "MultiheadAttentionOptions.std", not_negative),
    real_argument<[]<double n>(const Scene& s) {
      return run(layers::TransformerBlock<8, 2, {.dropout = 0, .std = n}>(), s, text(s));
    }>("TransformerBlockOptions.std", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::GroupedQueryAttention<8, 2, 1, {.std = n}>(), s, text(s)); }>(
        "GroupedQueryAttentionOptions.std", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::LayerNorm<{.eps = n}>(), s, text(s)); }>(
        "LayerNormOptions.eps", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::GroupNorm<2, {.eps = n}>(), s, s.x); }>(
        "GroupNormOptions.eps", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::RMSNorm<{.eps = n}>(), s, text(s)); }>("RMSNormOptions.eps",
                                                                                                           not_negative),
    real_argument<[]<double n>(const Scene& s) {
      if constexpr ((n > 0)) return run(layers::MultiheadAttention<8, 2, {.dropout = n}>(), s, text(s), seed(s));
      else return run(layers::MultiheadAttention<8, 2, {.dropout = n}>(), s, text(s));
    }>("MultiheadAttentionOptions.dropout", probability),
    real_argument<[]<double n>(const Scene& s) {
      if constexpr ((n > 0)) return run(layers::TransformerBlock<8, 2, {.dropout = n}>(), s, text(s), seed(s));
      else return run(layers::TransformerBlock<8, 2, {.dropout = n}>(), s, text(s));
    }>("TransformerBlockOptions.dropout", probability),
    real_argument<[]<double n>(const Scene& s) {
      return run(layers::TransformerBlock<8, 2, {.layer_norm_eps = n, .dropout = 0}>(), s, text(s));
    }>("TransformerBlockOptions.layer_norm_eps", not_negative),
    real_argument<[]<double n>(const Scene& s) {
      return run(layers::GroupedQueryAttention<8, 2, 1, {.rope_theta = n}>(), s, text(s));
    }>("GroupedQueryAttentionOptions.rope_theta", above_0),
    real_argument<[]<double n>(const Scene& s) {
      return run(layers::LlamaBlock<8, 4, 2, 1, {.rms_norm_eps = n}>(), s, text(s));
    }>("LlamaBlockOptions.rms_norm_eps", not_negative),
    real_argument<[]<double n>(const Scene& s) { return run(layers::LoraLinear<4, 2, {.alpha = n}>(), s, text(s)); }>(
        "LoraOptions.alpha", above_0),
};

const Case wholes[] = {
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Embedding<n, 4>(), s, indices(s)); }>(
        "Embedding.num_embeddings", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Embedding<5, n>(), s, indices(s)); }>(
        "Embedding.embedding_dim", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Linear<n>(), s, text(s)); }>("Linear.out_features",
                                                                                                at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::ColumnParallelLinear<n>(), s, text(s)); }>(
        "ColumnParallelLinear.out_features", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::RowParallelLinear<n>(), s, text(s)); }>(
        "RowParallelLinear.out_features", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::RowParallelLinear<4, {.group_size = n}>(), s, text(s)); }>(
        "TensorParallelOptions.group_size", from(0, 1)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::VocabParallelEmbedding<n, 4>(), s, indices(s)); }>(
        "VocabParallelEmbedding.num_embeddings", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::VocabParallelEmbedding<5, n>(), s, indices(s)); }>(
        "VocabParallelEmbedding.embedding_dim", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::LoraLinear<n, 2>(), s, text(s)); }>("LoraLinear.out_features",
                                                                                                       at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::LoraLinear<4, n>(), s, text(s)); }>("LoraLinear.rank",
                                                                                                       at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::GroupNorm<n>(), s, s.x); }>("GroupNorm.num_groups",
                                                                                               from(1, 4)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::FeedForward<8, n>(), s, text(s)); }>("FeedForward.hidden",
                                                                                                        at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::FeedForward<n, 8>(), s, text(s)); }>("FeedForward.width",
                                                                                                        at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::SwigluFeedForward<8, n>(), s, text(s)); }>(
        "SwigluFeedForward.hidden", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::SwigluFeedForward<n, 8>(), s, text(s)); }>(
        "SwigluFeedForward.width", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::MultiheadAttention<8, n>(), s, text(s)); }>(
        "MultiheadAttention.num_heads", from(1, 8)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::MultiheadAttention<n, 1>(), s, text(s)); }>(
        "MultiheadAttention.embed_dim", from(8, 8)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::TransformerBlock<8, n, {.dropout = 0}>(), s, text(s)); }>(
        "TransformerBlock.num_heads", from(1, 8)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::TransformerBlock<n, 1, {.dropout = 0}>(), s, text(s)); }>(
        "TransformerBlock.embed_dim", from(8, 8)),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::TransformerBlock<8, 2, {.dim_feedforward = n, .dropout = 0}>(), s, text(s));
    }>("TransformerBlockOptions.dim_feedforward", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::GroupedQueryAttention<8, n, 1>(), s, text(s)); }>(
        "GroupedQueryAttention.num_heads", from(1, 8)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::GroupedQueryAttention<8, 2, n>(), s, text(s)); }>(
        "GroupedQueryAttention.num_key_value_heads", from(1, 2)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::GroupedQueryAttention<n, 1, 1>(), s, text(s)); }>(
        "GroupedQueryAttention.width", from(8, 8)),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::GroupedQueryAttention<8, 2, 1, {.sliding_window = n}>(), s, text(s));
    }>("GroupedQueryAttentionOptions.sliding_window", whole_not_negative),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::GroupedQueryAttention<8, 2, 1, {.cache_length = n}>(), s, text(s));
    }>("GroupedQueryAttentionOptions.cache_length", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::MultiheadAttention<8, 2, {.is_causal = true, .sliding_window = n}>(), s, text(s));
    }>("MultiheadAttentionOptions.sliding_window", whole_not_negative),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::MultiheadAttention<8, 2, {.is_causal = true, .cache_length = n}>(), s, text(s));
    }>("MultiheadAttentionOptions.cache_length", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::TransformerBlock<8, 2, {.is_causal = true, .dropout = 0, .sliding_window = n}>(), s, text(s));
    }>("TransformerBlockOptions.sliding_window", whole_not_negative),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::TransformerBlock<8, 2, {.is_causal = true, .dropout = 0, .cache_length = n}>(), s, text(s));
    }>("TransformerBlockOptions.cache_length", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::KvCache<{.length = n}>(), s, head(s), head(s), head(s)); }>(
        "KvCacheOptions.length", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(layers::KvCache<{.length = 4, .sliding_window = n}>(), s, head(s), head(s), head(s));
    }>("KvCacheOptions.sliding_window", whole_not_negative),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::LlamaBlock<8, n, 2, 1>(), s, text(s)); }>("LlamaBlock.hidden",
                                                                                                             at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::LlamaBlock<8, 4, n, 1>(), s, text(s)); }>(
        "LlamaBlock.num_heads", from(1, 8)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::LlamaBlock<8, 4, 2, n>(), s, text(s)); }>(
        "LlamaBlock.num_key_value_heads", from(1, 2)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::LlamaBlock<n, 4, 1, 1>(), s, text(s)); }>("LlamaBlock.width",
                                                                                                             from(8, 8)),
    narrow_argument<[]<int n>(const Scene& s) {
      return run(
          layers::Llama<{
              .vocab_size = 5, .hidden_size = 4, .intermediate_size = 4, .num_hidden_layers = n, .num_attention_heads = 2}>(),
          s, indices(s));
    }>("LlamaConfig.num_hidden_layers", from(1, 1000)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::GRU<n>(), s, text(s)); }>("GRU.hidden_size", from(1, 0x1p20)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::LSTM<n>(), s, text(s)); }>("LSTM.hidden_size",
                                                                                              from(1, 0x1p20)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::GRU<4, {.num_layers = n}>(), s, text(s)); }>(
        "RecurrentOptions.num_layers", from(1, 1000)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Conv2d<n, 3>(), s, s.x); }>("Conv.out_channels", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Conv2d<4, n>(), s, s.x); }>("Conv.kernel_size", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::ConvTranspose2d<n, 3>(), s, s.x); }>(
        "ConvTranspose.out_channels", at_least_1),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::ConvTranspose2d<4, n>(), s, s.x); }>(
        "ConvTranspose.kernel_size", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Conv2d<4, 3, {.stride = n}>(), s, s.x); }>(
        "ConvLayerOptions.stride", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Conv2d<4, 3, {.padding = n}>(), s, s.x); }>(
        "ConvLayerOptions.padding", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Conv2d<4, 3, {.dilation = n}>(), s, s.x); }>(
        "ConvLayerOptions.dilation", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Conv2d<4, 3, {.groups = n}>(), s, s.x); }>(
        "ConvLayerOptions.groups", from(1, 4)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::ConvTranspose2d<4, 3, {.groups = n}>(), s, s.x); }>(
        "ConvLayerOptions.groups", from(1, 4)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::ConvTranspose2d<4, 3, {.output_padding = n}>(), s, s.x); }>(
        "ConvLayerOptions.output_padding", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::MaxPool2d<n>(), s, s.x); }>("MaxPool.kernel_size",
                                                                                               any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::AvgPool2d<n>(), s, s.x); }>("AvgPool.kernel_size",
                                                                                               any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::MaxPool2d<2, {.stride = n}>(), s, s.x); }>(
        "PoolLayerOptions.stride", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::MaxPool2d<2, {.padding = n}>(), s, s.x); }>(
        "PoolLayerOptions.padding", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::MaxPool2d<2, {.dilation = n}>(), s, s.x); }>(
        "PoolLayerOptions.dilation", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::AvgPool2d<2, {.stride = n}>(), s, s.x); }>(
        "AvgPoolLayerOptions.stride", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::AvgPool2d<2, {.padding = n}>(), s, s.x); }>(
        "AvgPoolLayerOptions.padding", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::AvgPool2d<2, {.dilation = n}>(), s, s.x); }>(
        "AvgPoolLayerOptions.dilation", any_outcome),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::AvgPool2d<2, {.divisor_override = n}>(), s, s.x); }>(
        "AvgPoolLayerOptions.divisor_override", everything),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::AdaptiveAvgPool2d<n>(), s, s.x); }>(
        "AdaptiveAvgPool.output_size", from(1, 1000)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::AdaptiveMaxPool2d<n>(), s, s.x); }>(
        "AdaptiveMaxPool.output_size", from(1, 1000)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Flatten<n>(), s, s.x); }>("Flatten.start_dim", from(-4, 3)),
    narrow_argument<[]<int n>(const Scene& s) { return run(layers::Flatten<0, n>(), s, s.x); }>("Flatten.end_dim", from(-4, 3)),
};

Tensor merge(const Scene& s, double alpha) {
  const auto variables = tw::create_graph(s.ir, layers::LoraLinear<4, 2>(), text(s)).factories.init();
  layers::merge_lora(variables, alpha);
  return variables["weight"];
}
const Case functions[] = {
    whole("split_heads.heads", any_outcome, [](const Scene& s, Whole n) { return layers::split_heads(text(s), n); }),
    narrow("rotary_embedding.head_dim", any_outcome,
           [](const Scene& s, Whole n) { return layers::rotary_embedding(s.tensor({3}, tw::int32), static_cast<int>(n)).cos; }),
    real("rotary_embedding.theta", {0, 0x1p127, false, true},
         [](const Scene& s, double n) { return layers::rotary_embedding(s.tensor({3}, tw::int32), 4, n).cos; }),
    real("Dropout.p", probability,
         [](const Scene& s, double n) {
           layers::Dropout dropout;
           dropout.p = n;
           return run(dropout, s, s.tensor({4}), seed(s));
         }),
    real("Dropout::Dropout.probability", probability,
         [](const Scene& s, double n) { return run(layers::Dropout(n), s, s.tensor({4}), seed(s)); }),
    real("merge_lora.alpha", above_0, merge),
};

/// One step of an optimiser.
template <class Parameters>
Tensor update(const Scene& s, const Parameters& parameters) {
  const Tensor weight = s.ir.variable(tw::ones(), {4}, tw::float32, "w");
  typename Parameters::Optimiser optimiser;
  const auto [factories, graph] = tw::create_graph(s.ir, optimiser, weight, weight.spec(), parameters);
  graph.bind(factories.init("state")).call(weight, s.tensor({4}));
  return weight;
}
Tensor scaled(const Scene& s, const optim::LossScaling& scaling) { return optim::LossScaler(s.ir, scaling).scale(); }
Tensor clip(const Scene& s, double n) {
  Tensor gradients[] = {s.tensor({4}), s.tensor({2})};
  optim::clip_by_global_norm(gradients, n);
  return gradients[0];
}
Tensor step_of_scaler(const Scene& s, double n) {
  Tensor gradients[] = {s.tensor({4}), s.tensor({2})};
  optim::LossScaler(s.ir, {}).step(gradients, n, [] {});
  return s.x;
}
struct Classifier : tw::Module<Classifier> {
  BOOST_HANA_DEFINE_STRUCT(Classifier, (layers::Linear<3>, fc));
  constexpr Tensor build(Tensor x) { return fc(x); }
};
Tensor train(const Scene& s, const tw::train::StepOptions& options) {
  tw::train::train_step(s.ir, Classifier{}, optim::SgdParameters{.lr = 0.1}, TensorSpec{{2, 4}, tw::float32}, options);
  return s.x;
}
Tensor minimise(const Scene& s, const tw::train::StepOptions& options, const Shape& shape = {2, 4}) {
  const auto loss = [](Classifier& net, Tensor x) { return tw::ops::mean(net(x)); };
  tw::train::minimise(s.ir, Classifier{}, loss, optim::SgdParameters{.lr = 0.1, .momentum = 0.5}, {{"in", shape}}, options);
  return s.x;
}
Tensor copy(const Scene& s, double rate) {
  const tw::NamedTensors from(tw::DotTree<Tensor>::from_dict({{"w", s.ir.variable(tw::ones(), {4}, tw::float32, "from")}})),
      to(tw::DotTree<Tensor>::from_dict({{"w", s.ir.variable(tw::ones(), {4}, tw::float32, "to")}}));
  optim::copy_variables(from, to, {.rate = rate});
  return s.x;
}
using optim::AdagradParameters, optim::AdamParameters, optim::AdamWParameters, optim::LambParameters, optim::LionParameters,
    optim::RmsPropParameters, optim::SgdParameters;
const Case optimisers[] = {
    real("AdamParameters.lr", not_negative, [](const Scene& s, double n) { return update(s, AdamParameters{.lr = n}); }),
    real("AdamParameters.beta1", probability, [](const Scene& s, double n) { return update(s, AdamParameters{.beta1 = n}); }),
    real("AdamParameters.beta2", probability, [](const Scene& s, double n) { return update(s, AdamParameters{.beta2 = n}); }),
    real("AdamParameters.epsilon", not_negative,
         [](const Scene& s, double n) { return update(s, AdamParameters{.epsilon = n}); }),
    real("AdamParameters.weight_decay", not_negative,
         [](const Scene& s, double n) { return update(s, AdamParameters{.weight_decay = n}); }),
    real("AdamWParameters.lr", not_negative, [](const Scene& s, double n) { return update(s, AdamWParameters{.lr = n}); }),
    real("AdamWParameters.beta1", probability, [](const Scene& s, double n) { return update(s, AdamWParameters{.beta1 = n}); }),
    real("AdamWParameters.beta2", probability, [](const Scene& s, double n) { return update(s, AdamWParameters{.beta2 = n}); }),
    real("AdamWParameters.epsilon", not_negative,
         [](const Scene& s, double n) { return update(s, AdamWParameters{.epsilon = n}); }),
    real("AdamWParameters.weight_decay", not_negative,
         [](const Scene& s, double n) { return update(s, AdamWParameters{.weight_decay = n}); }),
    real("LambParameters.lr", not_negative, [](const Scene& s, double n) { return update(s, LambParameters{.lr = n}); }),
    real("LambParameters.beta1", probability, [](const Scene& s, double n) { return update(s, LambParameters{.beta1 = n}); }),
    real("LambParameters.beta2", probability, [](const Scene& s, double n) { return update(s, LambParameters{.beta2 = n}); }),
    real("LambParameters.epsilon", not_negative,
         [](const Scene& s, double n) { return update(s, LambParameters{.epsilon = n}); }),
    real("LambParameters.weight_decay", not_negative,
         [](const Scene& s, double n) { return update(s, LambParameters{.weight_decay = n}); }),
    real("LambParameters.max_weight_norm", whole_not_negative,
         [](const Scene& s, double n) { return update(s, LambParameters{.max_weight_norm = n}); }),
    real("SgdParameters.lr", not_negative, [](const Scene& s, double n) { return update(s, SgdParameters{.lr = n}); }),
    real("SgdParameters.momentum", not_negative,
         [](const Scene& s, double n) { return update(s, SgdParameters{.momentum = n}); }),
    real("SgdParameters.weight_decay", not_negative,
         [](const Scene& s, double n) { return update(s, SgdParameters{.weight_decay = n}); }),
    real("RmsPropParameters.lr", not_negative, [](const Scene& s, double n) { return update(s, RmsPropParameters{.lr = n}); }),
    real("RmsPropParameters.alpha", probability,
         [](const Scene& s, double n) { return update(s, RmsPropParameters{.alpha = n}); }),
    real("RmsPropParameters.epsilon", not_negative,
         [](const Scene& s, double n) { return update(s, RmsPropParameters{.epsilon = n}); }),
    real("RmsPropParameters.weight_decay", not_negative,
         [](const Scene& s, double n) { return update(s, RmsPropParameters{.weight_decay = n}); }),
    real("RmsPropParameters.momentum", not_negative,
         [](const Scene& s, double n) { return update(s, RmsPropParameters{.momentum = n}); }),
    real("AdagradParameters.lr", not_negative, [](const Scene& s, double n) { return update(s, AdagradParameters{.lr = n}); }),
    real("AdagradParameters.lr_decay", not_negative,
         [](const Scene& s, double n) { return update(s, AdagradParameters{.lr_decay = n}); }),
    real("AdagradParameters.weight_decay", not_negative,
         [](const Scene& s, double n) { return update(s, AdagradParameters{.weight_decay = n}); }),
    real("AdagradParameters.initial_accumulator_value", not_negative,
         [](const Scene& s, double n) { return update(s, AdagradParameters{.initial_accumulator_value = n}); }),
    real("AdagradParameters.epsilon", not_negative,
         [](const Scene& s, double n) { return update(s, AdagradParameters{.epsilon = n}); }),
    real("LionParameters.lr", not_negative, [](const Scene& s, double n) { return update(s, LionParameters{.lr = n}); }),
    real("LionParameters.beta1", probability, [](const Scene& s, double n) { return update(s, LionParameters{.beta1 = n}); }),
    real("LionParameters.beta2", probability, [](const Scene& s, double n) { return update(s, LionParameters{.beta2 = n}); }),
    real("LionParameters.weight_decay", not_negative,
         [](const Scene& s, double n) { return update(s, LionParameters{.weight_decay = n}); }),
    real("clip_by_global_norm.max_norm", {0, infinity, false, true}, clip),
    real("LossScaler::step.max_norm", whole_not_negative, step_of_scaler),
    real("LossScaling.init_scale", {0, 0x1p126, false, true},
         [](const Scene& s, double n) { return scaled(s, {.init_scale = n}); }),
    real("LossScaling.growth_factor", {0, 0x1p126, false, true},
         [](const Scene& s, double n) { return scaled(s, {.growth_factor = n}); }),
    real("LossScaling.backoff_factor", {0, 1, false, true},
         [](const Scene& s, double n) { return scaled(s, {.backoff_factor = n}); }),
    whole("LossScaling.growth_interval", from(1, 0x1p31 - 1),
          [](const Scene& s, Whole n) { return scaled(s, {.growth_interval = n}); }),
    real("static_loss_scaling.scale", {0, 0x1p126, false, true},
         [](const Scene& s, double n) { return scaled(s, optim::static_loss_scaling(n)); }),
    whole("StepOptions.micro_batches", from(1, 0x1p31 - 1),
          [](const Scene& s, Whole n) { return train(s, {.micro_batches = n}); }),
    whole("LayerNames::numbered.count", from(1, 65536),
          [](const Scene& s, Whole n) {
            tw::train::PhasedLayers(tw::create_graph(Classifier{}, s.tensor({2, 3})), tw::train::LayerNames::numbered("a", n),
                                    SgdParameters{.lr = 0.1});
            return s.x;
          }),
    whole("StepOptions.target_shape", any_outcome, [](const Scene& s, Whole n) { return train(s, {.target_shape = {n}}); }),
    whole("Input::Input.shape", any_outcome, [](const Scene& s, Whole n) { return minimise(s, {}, {2, n}); }),
    real("GroupOptions.lr", not_negative, [](const Scene& s, double n) { return minimise(s, {.groups = {{"*", {.lr = n}}}}); }),
    real("GroupOptions.weight_decay", not_negative,
         [](const Scene& s, double n) { return minimise(s, {.groups = {{"*", {.weight_decay = n}}}}); }),
    real("AverageOptions.decay", probability,
         [](const Scene& s, double n) { return minimise(s, {.average = optim::AverageOptions{.decay = n}}); }),
    real("CopyOptions.rate", {0, 1, false, true}, copy),
    real("StepOptions.max_norm", whole_not_negative, [](const Scene& s, double n) { return train(s, {.max_norm = n}); }),
};
}  // namespace

TEST_CASE("wrong numbers as options of layers") { CHECK(problems(reals) == ""); }
TEST_CASE("wrong numbers as sizes of layers") { CHECK(problems(wholes) == ""); }
TEST_CASE("wrong numbers as parameters of functions of layers") { CHECK(in_main_problems(functions) == ""); }
TEST_CASE("wrong numbers as parameters of optimisers and steps") { CHECK(in_main_problems(optimisers) == ""); }
