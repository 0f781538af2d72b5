// labels: none
// Layers: their variables, and what the mode of a trace makes of them.
#include <tilewright/core/random/square_root.hpp>
#include <tilewright/layers/layers.hpp>

#include "../support/programs.hpp"
#include "../support/same.hpp"
#include "programs/models.hpp"

using tw::Ir, tw::Tensor, tw::Text;
namespace layers = tw::layers;

/// The ops of a module's graph for two arguments, in a scope of the mode.
template <class Module>
constexpr Text ops_of(const Module& module, tw::Mode mode) {
  Ir ir;
  const tw::ModeScope scope(ir, mode);
  const auto [factories, graph] = tw::create_graph(ir, module, tw::TensorSpec{{2, 4}, tw::float32},
                                                   tw::TensorSpec{{2}, tw::uint32});
  Text names;
  for (const auto& node : ir.tables.record(graph.graph().id()).nodes) names += tw::text(node.op->name, " ");
  return names;
}
TW_SAME(ops_of(layers::Dropout(0.1), tw::Mode::training), "Dropout ");
TW_SAME(ops_of(layers::Dropout(0.1), tw::Mode::evaluation), "");
TW_SAME(ops_of(layers::Dropout(0), tw::Mode::training), "");

constexpr Text modes() {
  support::Facts facts;
  Ir ir;
  facts.check(!tw::mode_of(ir), "no mode without a scope");
  const Tensor x = support::variable(ir, "x", {2}), seed = ir.variable(tw::zeros(), {2}, tw::uint32, "seed");
  tw::GraphCache cache;
  {
    const auto outer = tw::training(ir);
    (void)cache.create_graph(layers::Dropout(0.5), x, seed);
    {
      const auto inner = tw::evaluation(ir);
      facts.check(tw::mode_of(ir) == tw::Mode::evaluation, "the innermost scope counts");
      (void)cache.create_graph(layers::Dropout(0.5), x, seed);
    }
    facts.check(tw::mode_of(ir) == tw::Mode::training, "the outer scope is back");
    (void)cache.create_graph(layers::Dropout(0.5), x, seed);
    facts.check(cache.size() == 2, "a cache keeps modes apart");
    (void)cache.create_graph(layers::Dropout(0.25), x, seed);
    facts.check(cache.size() == 3, "and probabilities");
  }
  return facts.check(!tw::mode_of(ir), "no mode after the scopes");
}
TW_SAME(modes(), "");

/// Names and specs of a module's variables.
template <class Module, tw::Shape shape, tw::DType dtype = tw::float32>
constexpr Text variables_of() {
  Ir ir;
  const auto [factories, graph] = tw::create_graph(ir, Module{}, tw::TensorSpec{shape, dtype});
  Text result;
  for (const auto& [name, variable] : factories.init().named_tensors())
    result += tw::text(name, " ", to_text(variable.spec()), "; ");
  return result;
}
TW_SAME((variables_of<layers::Embedding<65, 8>, tw::Shape{2, 3}, tw::int32>()), "weight (65, 8) float32; ");
TW_SAME((variables_of<layers::LayerNorm<>, tw::Shape{2, 3}>()), "bias (3,) float32; weight (3,) float32; ");
TW_SAME((variables_of<layers::LayerNorm<{.bias = false}>, tw::Shape{2, 3}, tw::float16>()), "weight (3,) float16; ");
TW_SAME((variables_of<layers::MultiheadAttention<8, 2>, tw::Shape{2, 3, 8}>()),
        "in_proj_bias (24,) float32; in_proj_weight (8, 24) float32; out_proj.bias (8,) float32; "
        "out_proj.weight (8, 8) float32; ");
TW_SAME((variables_of<layers::RMSNorm<>, tw::Shape{2, 3}, tw::float16>()), "weight (3,) float16; ");
TW_SAME((variables_of<layers::GroupNorm<2>, tw::Shape{2, 4, 3}>()), "bias (4,) float32; weight (4,) float32; ");
TW_SAME((variables_of<layers::Conv2d<8, {3, 5}, {.groups = 2}>, tw::Shape{1, 4, 9, 9}>()),
        "bias (8,) float32; weight (8, 2, 3, 5) float32; ");
TW_SAME((variables_of<layers::ConvTranspose1d<8, 3, {.groups = 2, .bias = false}>, tw::Shape{1, 4, 9}>()),
        "weight (4, 4, 3) float32; ");
TW_SAME((variables_of<layers::MaxPool2d<2>, tw::Shape{1, 4, 9, 9}>()), "");
TW_SAME((variables_of<layers::GRU<4, {.num_layers = 2, .bias = false}>, tw::Shape{2, 5, 3}>()),
        "weight_hh_l0 (4, 12) float32; weight_hh_l1 (4, 12) float32; weight_ih_l0 (3, 12) float32; "
        "weight_ih_l1 (4, 12) float32; ");
TW_SAME((variables_of<layers::LSTM<4>, tw::Shape{2, 5, 3}>()),
        "bias_hh_l0 (16,) float32; bias_ih_l0 (16,) float32; weight_hh_l0 (4, 16) float32; weight_ih_l0 (3, 16) float32; ");
TW_SAME((variables_of<layers::GRU<2, {.bias = false, .bidirectional = true}>, tw::Shape{2, 5, 3}>()),
        "weight_hh_l0 (2, 6) float32; weight_hh_l0_reverse (2, 6) float32; weight_ih_l0 (3, 6) float32; "
        "weight_ih_l0_reverse (3, 6) float32; ");
TW_SAME((variables_of<layers::LSTM<2, {.num_layers = 2, .bias = false, .bidirectional = true}>, tw::Shape{2, 5, 3}>()),
        "weight_hh_l0 (2, 8) float32; weight_hh_l0_reverse (2, 8) float32; weight_hh_l1 (2, 8) float32; "
        "weight_hh_l1_reverse (2, 8) float32; weight_ih_l0 (3, 8) float32; weight_ih_l0_reverse (3, 8) float32; "
        "weight_ih_l1 (4, 8) float32; weight_ih_l1_reverse (4, 8) float32; ");
TW_SAME((variables_of<layers::LlamaBlock<8, 12, 4, 2>, tw::Shape{2, 3, 8}>()),
        "input_layernorm.weight (8,) float32; mlp.down_proj.weight (12, 8) float32; mlp.gate_proj.weight (8, 12) float32; "
        "mlp.up_proj.weight (8, 12) float32; post_attention_layernorm.weight (8,) float32; self_attn.k_proj.weight (8, 4) "
        "float32; self_attn.o_proj.weight (8, 8) float32; self_attn.q_proj.weight (8, 8) float32; self_attn.v_proj.weight (8, "
        "4) float32; ");

TW_SAME((variables_of<layers::LoraLinear<6, 2>, tw::Shape{3, 4}>()),
        "bias (6,) float32; lora_A.weight (4, 2) float32; lora_B.weight (2, 6) float32; weight (4, 6) float32; ");

/// Lists of different modules.
using Double = decltype([](Tensor x) { return x * 2; });
using Body = layers::Sequential<layers::Linear<4, {.bias = false}>, layers::Apply<tw::ops::relu>, Double,
                                layers::Residual<layers::LayerNorm<{.bias = false}>>>;
TW_SAME((variables_of<Body, tw::Shape{2, 3}>()), "0.weight (3, 4) float32; 3.0.weight (4,) float32; ");
struct OfLists : tw::Module<OfLists> {
  using Norm = layers::LayerNorm<{.bias = false}>;
  using Pair = std::tuple<layers::Linear<4, {.bias = false}>, Norm>;
  using Listed = tw::ModuleList<Norm, layers::Linear<2>>;
  BOOST_HANA_DEFINE_STRUCT(OfLists, (Pair, pair), (Listed, listed), (Body, body));
  constexpr Tensor build(Tensor x) {
    x = std::get<1>(pair)(std::get<0>(pair)(x));
    listed.for_each([&](auto& layer) { x = layer(x); });
    return body(x);
  }
};
TW_SAME((variables_of<OfLists, tw::Shape{2, 3}>()),
        "body.0.weight (2, 4) float32; body.3.0.weight (4,) float32; listed.0.weight (4,) float32; listed.1.bias (2,) float32; "
        "listed.1.weight (4, 2) float32; pair.0.weight (3, 4) float32; pair.1.weight (4,) float32; ");
constexpr Text lists_of_values() {
  support::Facts facts;
  auto list = tw::from_list(layers::Dropout(0.25), layers::Linear<4>());
  facts.check(list.size() == 2 && list.get<0>().p == 0.25, "from_list keeps the values of modules");
  Ir ir;
  const auto mode = tw::training(ir);
  tw::GraphCache cache;
  const Tensor x = support::variable(ir, "x", {2}), seed = ir.variable(tw::zeros(), {2}, tw::uint32, "seed");
  for (const double p : {0.5, 0.25, 0.5}) {
    const layers::Sequential net(layers::Dropout(p), [](Tensor y) { return y + 1; });
    static_assert(net.takes_seed && !Body::takes_seed);
    (void)cache.create_graph(net, x, seed);
  }
  return facts.check(cache.size() == 2, "a cache keeps the elements of a list apart");
}
TW_SAME(lists_of_values(), "");
/// Each element of a list that takes a seed has one of its own.
TW_SAME(ops_of(layers::Sequential(layers::Dropout(0.1), layers::Apply<tw::ops::relu>(), layers::Residual(layers::Dropout(0.2))),
               tw::Mode::training),
        "CreateRandomSeed Dropout Relu CreateRandomSeed CreateRandomSeed Dropout Add ");
TW_SAME(ops_of(layers::Sequential(layers::Dropout(0.1)), tw::Mode::evaluation), "CreateRandomSeed ");  // which nothing uses

/// How many dropouts a recurrent layer has.
template <class Layer, class... Specs>
constexpr int dropouts_between_layers(tw::Mode mode, const Specs&... others) {
  Ir ir;
  const tw::ModeScope scope(ir, mode);
  const auto [factories, graph] = tw::create_graph(ir, Layer{}, tw::TensorSpec{{3, 2, 8}, tw::float32}, others...);
  int count = 0;
  for (const auto& node : ir.tables.record(graph.graph().id()).nodes) count += node.op->name == "Dropout";
  return count;
}
using Stacked = layers::GRU<4, {.num_layers = 3, .dropout = 0.5}>;
constexpr tw::TensorSpec of_seed{{2}, tw::uint32}, of_lengths{{3}, tw::int32};
static_assert(Stacked::takes_seed && !layers::GRU<4>::takes_seed);
static_assert(dropouts_between_layers<Stacked>(tw::Mode::training, of_seed) == 2);
static_assert(dropouts_between_layers<Stacked>(tw::Mode::training, of_lengths, of_seed) == 2);
static_assert(dropouts_between_layers<Stacked>(tw::Mode::evaluation) == 0);
static_assert(dropouts_between_layers<Stacked>(tw::Mode::evaluation, of_lengths, of_seed) == 0);
/// Names and specs of a cache's variables, which are by reference.
template <class Layer>
constexpr Text cache_of(std::int64_t length, std::int64_t positions, tw::DType dtype = tw::float32) {
  Ir ir;
  const auto [factories, graph] = tw::create_graph(ir, Layer{}, tw::TensorSpec{{2, length, 8}, dtype},
                                                   tw::TensorSpec{{positions}, tw::int32});
  Text result;
  for (const auto& [name, variable] : factories.init().named_tensors())
    if (std::string_view(name).find("cache.") != std::string_view::npos)
      result += tw::text(name, " ", to_text(variable.spec()), "; ");
  return result;
}
template <int sliding_window>
using Cached = layers::GroupedQueryAttention<8, 4, 2, {.sliding_window = sliding_window, .cache_length = 6}>;
TW_SAME(cache_of<Cached<0>>(1, 2), "cache.keys (2, 2, 6, 2) float32; cache.values (2, 2, 6, 2) float32; ");
TW_SAME(cache_of<Cached<0>>(6, 1), cache_of<Cached<0>>(1, 2));
TW_SAME(cache_of<Cached<4>>(9, 1), "cache.keys (2, 2, 4, 2) float32; cache.values (2, 2, 4, 2) float32; ");
TW_SAME(cache_of<Cached<7>>(1, 1), cache_of<Cached<0>>(1, 1));  // no position leaves the window
TW_SAME((cache_of<layers::MultiheadAttention<8, 2, {.is_causal = true, .cache_length = 5}>>(1, 1, tw::float16)),
        "cache.keys (2, 2, 5, 4) float16; cache.values (2, 2, 5, 4) float16; ");
TW_SAME((cache_of<layers::LlamaBlock<8, 12, 4, 2, {.attention = {.cache_length = 6}}>>(1, 2)),
        "self_attn.cache.keys (2, 2, 6, 2) float32; self_attn.cache.values (2, 2, 6, 2) float32; ");

/// The window of a layer's attention.
template <class Layer>
constexpr std::int64_t window_of() {
  Ir ir;
  const auto [factories, graph] = tw::create_graph(ir, Layer{}, tw::TensorSpec{{2, 5, 8}, tw::float32});
  for (const auto& node : ir.tables.record(graph.graph().id()).nodes)
    if (node.op->name == "ScaledDotProductAttention")
      return tw::unpack<tw::ScaledDotProductAttention::Attributes>(node.attributes).window;
  return -1;
}
static_assert(window_of<layers::GroupedQueryAttention<8, 4, 2, {.sliding_window = 3}>>() == 3);
static_assert(window_of<layers::MultiheadAttention<8, 4, {.is_causal = true, .sliding_window = 3}>>() == 3);
static_assert(window_of<Cached<3>>() == 3 && window_of<Cached<0>>() == 0);

/// Spec of a result with rotary positions of their own for each text.
constexpr Text with_positions_by_text() {
  Ir ir;
  const auto [factories, graph] = tw::create_graph(ir, layers::GroupedQueryAttention<8, 4, 2>{},
                                                   tw::TensorSpec{{2, 3, 8}, tw::float32}, tw::TensorSpec{{2, 3}, tw::int32});
  return to_text(graph.graph().output(0).spec());
}
TW_SAME(with_positions_by_text(), "(2, 3, 8) float32");

/// How many dropouts a transformer block with its defaults has, besides those of attention's weights.
template <class... Specs>
constexpr int dropouts(tw::Mode mode, const Specs&... mask_and_seed) {
  Ir ir;
  const tw::ModeScope scope(ir, mode);
  const auto [factories, graph] = tw::create_graph(ir, layers::TransformerBlock<8, 2>{}, tw::TensorSpec{{2, 3, 8}, tw::float32},
                                                   mask_and_seed...);
  int count = 0;
  for (const auto& node : ir.tables.record(graph.graph().id()).nodes) count += node.op->name == "Dropout";
  return count;
}
constexpr tw::TensorSpec mask{{2, 3}, tw::boolean}, seed{{2}, tw::uint32};
static_assert(dropouts(tw::Mode::training, seed) == 3 && dropouts(tw::Mode::training, mask, seed) == 3);
static_assert(dropouts(tw::Mode::evaluation) == 0 && dropouts(tw::Mode::evaluation, mask) == 0);
static_assert(dropouts(tw::Mode::evaluation, seed) == 0 && dropouts(tw::Mode::evaluation, mask, seed) == 0);

/// A module's variables are the same in training and evaluation, so that both programs share them.
constexpr Text statistics(tw::Mode mode) {
  Ir ir;
  const tw::ModeScope scope(ir, mode);
  const auto [factories, graph] = tw::create_graph(ir, layers::BatchNorm<>{}, tw::TensorSpec{{2, 3, 4}, tw::float16});
  Text result;
  for (const auto& [name, variable] : factories.init().named_tensors())
    result += tw::text(name, " ", to_text(variable.spec()), "; ");
  return result;
}
TW_SAME(statistics(tw::Mode::training),
        "bias (3,) float16; running_mean (3,) float32; running_var (3,) float32; weight (3,) float16; ");
static_assert(statistics(tw::Mode::evaluation) == statistics(tw::Mode::training));

static_assert(tw::detail::square_root(64) == 8 && tw::detail::square_root(0.25) == 0.5 && tw::detail::square_root(0) == 0);
static_assert(tw::detail::square_root(2) > 1.4142135623730947 && tw::detail::square_root(2) < 1.4142135623730955);
