// labels: none
// The dtype of partial sums as a choice of the target: which ops get it, and what it costs on a simulated IPU.
#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "tilewright/layers/attention.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

using std::int64_t, tw::DType, tw::Ir, tw::Target, tw::Tensor, tw::Text, tw::float16, tw::float32;
namespace ops = tw::ops;

/// Products and a convolution with their gradients. One product has an option of its own.
template <DType dtype>
constexpr void network(Ir& ir) {
  const auto build = [](Tensor x, Tensor kernel, Tensor weight, Tensor other) {
    const Tensor y = ops::relu(ops::conv(x, kernel)).reshape({4, 64});
    return ops::matmul(y, weight) + ops::matmul(y, other, {.partials_type = float32});
  };
  tw::autodiff(ir.create_graph(build, tw::TensorSpec{{4, 3, 6, 6}, dtype}, tw::TensorSpec{{4, 3, 3, 3}, dtype},
                               tw::TensorSpec{{64, 8}, dtype}, tw::TensorSpec{{64, 8}, dtype}));
}
/// The name and the options of each op that has options.
constexpr Text options_of(auto build, const Target& target) {
  Text result;
  const tw::Prepared program = support::prepared(build, target);
  for (const auto& graph : program.ir().tables.graphs)
    for (const tw::Node& node : graph.nodes)
      if (node.op->options)
        if (const Text options = node.op->options(node.attributes); !options.empty())
          result += tw::text(node.op->name, " ", options, "\n");
  return result;
}
constexpr Target host = tw::cpu.with_partials_type(float16);
TW_SAME(options_of(network<float16>, host),
        "Conv partials_type=float16\n"
        "MatMul partials_type=float16\n"
        "MatMul partials_type=float32\n"
        "MatMul partials_type=float32\n"
        "MatMul partials_type=float32\n"
        "MatMul partials_type=float16\n"
        "MatMul partials_type=float16\n"
        "ConvDataGrad partials_type=float16\n"
        "ConvWeightsGrad partials_type=float16\n");
TW_SAME(options_of(network<float32>, host),
        "MatMul partials_type=float32\n"
        "MatMul partials_type=float32\n"
        "MatMul partials_type=float32\n");
static_assert(options_of(network<float16>, tw::cpu) == options_of(network<float32>, host));
static_assert(tw::cpu.with_partials_type(float32) == tw::cpu);

// ---- what sums of float16 cost

/// A product whose sums are cut.
template <DType dtype>
constexpr void product(Ir& ir) {
  support::store("y", support::load(ir, "a", {256, 1024}, dtype).matmul(support::load(ir, "b", {1024, 256}, dtype)));
}
struct Use {
  int64_t compute, exchange, memory;
};
constexpr Use use_of(auto build, const Target& target) {
  const tw::Plan plan = support::plan_of(build, target);
  return {plan.cycles.compute, plan.cycles.exchange, plan.tile.total()};
}
constexpr Target ipu = tw::gc200.with_partials_type(float16);
constexpr Use with_float32 = use_of(product<float16>, tw::gc200), with_float16 = use_of(product<float16>, ipu);
static_assert(4 * with_float16.compute < 3 * with_float32.compute);
static_assert(with_float16.exchange < with_float32.exchange);
static_assert(with_float16.memory <= with_float32.memory);
// The unit has no sums of float16 for operands of float32.
static_assert(support::plan_text(product<float32>, ipu) == support::plan_text(product<float32>, tw::gc200));

// ---- attention: one op, and composed of products

/// Attention of one op with its gradients, or composed attention.
template <DType dtype, bool is_causal, bool is_own = false>
constexpr void attention(Ir& ir) {
  const auto load = [&](const char* name) { return support::load(ir, name, {1, 2, 64, 64}, dtype); };
  tw::AttentionOptions options{.is_causal = is_causal};
  if (is_own) options.partials_type = float32;
  const auto build = [&](Tensor q, Tensor k, Tensor v) { return tw::layers::attend(q, k, v, options); };
  const Tensor q = load("q"), k = load("k"), v = load("v"), dy = load("dy");
  const auto forward = ir.create_graph(build, q, k, v);
  const auto call = tw::call_with_info(forward, {q, k, v});
  const auto backward = tw::autodiff(forward);
  support::store("dq", tw::call(backward.graph(), dy, backward.inputs_dict(call))[0]);
}
TW_SAME(options_of(attention<float16, true>, host), "ScaledDotProductAttention is_causal, partials_type=float16\n");
TW_SAME(options_of(attention<float16, true, true>, host), "ScaledDotProductAttention is_causal, partials_type=float32\n");
TW_SAME(options_of(attention<float32, true>, host), "ScaledDotProductAttention is_causal\n");
template <bool is_causal>
constexpr bool follows_the_target() {
  const int64_t compute = use_of(attention<float16, is_causal>, tw::gc200).compute;
  return use_of(attention<float16, is_causal>, ipu).compute < compute &&
         use_of(attention<float16, is_causal, true>, ipu).compute == compute;
}
static_assert(follows_the_target<true>(), "one op");
static_assert(follows_the_target<false>(), "composed");

}  // namespace
