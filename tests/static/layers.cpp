// Layers: their variables, and what the mode of a trace makes of them.
#include <tilewright/layers/attention.hpp>
#include <tilewright/layers/dropout.hpp>
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/layer_norm.hpp>

#include "../support/programs.hpp"
#include "../support/same.hpp"
#include "models.hpp"

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
  for (const auto& node : ir.record(graph.graph().id()).nodes) names += tw::text(node.op->name, " ");
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

static_assert(layers::detail::square_root(64) == 8 && layers::detail::square_root(0.25) == 0.5);
static_assert(layers::detail::square_root(2) > 1.4142135623730947 && layers::detail::square_root(2) < 1.4142135623730955);
