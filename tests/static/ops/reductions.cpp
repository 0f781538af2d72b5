// labels: none
// How reductions are planned, and that indices stop gradients.
#include "../../support/op_results.hpp"
#include "../programs/models.hpp"

using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;
using namespace op_results;

// Integers have no gradient, and indices and counts stop one.
constexpr bool stops(auto function) {
  Ir ir;
  const tw::Graph graph = ir.create_graph([&](Tensor x) { return ops::sum(function(x).cast(tw::float32)) + ops::sum(x); },
                                          f32(4));
  return tw::autodiff(graph).graph().op_count() < 4;
}
static_assert(stops([](Tensor x) { return ops::argmax(x); }));

// ---- a target with tiles left over cuts reductions: vertices of the widest step that is no transfer

constexpr std::int64_t widest(auto build, const tw::Target& target = tw::ipu_model) {
  std::int64_t result = 0;
  for (const tw::internal::Step& step : support::plan_of(build, target).steps)
    if (step.stream < 0) result = std::max(result, step.vertices);
  return result;
}
constexpr auto of_all(auto function) {
  return [function](Ir& ir) { support::store("y", function(support::load(ir, "x", {4096}), tw::Axes(), false)); };
}
static_assert(widest(of_all(ops::max)) == 4096 / tw::ipu_model.shortest_reduction);
static_assert(widest(of_all(ops::min)) == widest(of_all(ops::sum)));
static_assert(widest(of_all(ops::prod)) == widest(of_all(ops::sum)));
static_assert(widest(of_all(ops::sumsquare)) == widest(of_all(ops::sum)));
static_assert(widest(of_all(ops::logsumexp)) == widest(of_all(ops::sum)));
static_assert(widest(of_all(ops::median)) == 1, "which no parts give");
static_assert(widest(of_all(ops::max), tw::cpu) == 1, "as sums are not cut");

constexpr auto loss(bool with_gradient) {
  return [=](Ir& ir) {
    const Tensor probs = support::load(ir, "p", {4096, 10}), labels = support::load(ir, "t", {4096}, tw::int32);
    if (!with_gradient) return support::store("loss", ops::nll_loss(probs, labels, {.ignore_index = 3}));
    const auto [loss, gradient] = ops::nll_loss_with_softmax_grad(probs, labels);
    support::store("loss", loss), support::store("dx", gradient);
  };
}
TW_SAME(support::plan_text(loss(false), tw::ipu_model),
        "Body 0 : 3 steps, 576 bytes\n"
        "  128 of 32: Nll\n"
        "  --\n"
        "  11 of 12: ReduceSum\n"
        "  --\n"
        "  1 of 11: ReduceSum [Identity]\n");
TW_SAME(support::plan_text(loss(true), tw::ipu_model),
        "Body 0 : 4 steps, 164416 bytes\n"
        "  128 of 32: NlllWithSoftmaxGradDirect\n"
        "  --\n"
        "  11 of 12: ReduceSum\n"
        "  --\n"
        "  1 of 11: ReduceSum [Identity]\n"
        "  128 of 32 x 10: Identity\n");
static_assert(widest(loss(false), tw::cpu) == 1, "the labels that are not ignored are counted once");

// ---- sums in parts

/// Whether the operations that give parts of sums are cut into as many as their storages hold.
template <class Trace>
constexpr bool fills_parts(Trace trace) {
  namespace internal = tw::internal;
  int partial = 0;
  bool fills = true;
  struct Watch {
    int* partial;
    bool* fills;
    constexpr void operator()(internal::Pass pass, internal::BodyId, const internal::BodyDraft& draft, const tw::Plan&) const {
      if (pass != internal::Pass::cut_groups) return;
      for (std::size_t g = 0; g < draft.groups.size(); ++g) {
        const internal::Operation& first = draft.operation(draft.groups[g].members[0]);
        if (first.is_call() || !first.partial) continue;
        ++*partial;
        *fills = *fills && draft.storage(first.operands.back().storage).whole.shape[0] == draft.cuts[g].partition.partials;
      }
    }
    constexpr void operator()(const tw::Plan&) const {}
  };
  tw::lower(support::prepared(trace, tw::ipu_model), Watch{&partial, &fills});
  return fills && partial == 1;
}
constexpr auto sum_of_rows = [](DType dtype) {
  return [=](Ir& ir) { support::store("y", ops::sum(support::load(ir, "x", {128, 4096}, dtype), {0})); };
};
static_assert(fills_parts(sum_of_rows(tw::float32)));
static_assert(fills_parts(sum_of_rows(tw::float16)), "float16 is summed in parts of float32, of which a vector has fewer");
