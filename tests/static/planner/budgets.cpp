// labels: none
// What tw::require_budget takes, and what the peaks of frames are made of.
#include "../../support/programs.hpp"
#include "../programs/models.hpp"
#include "tilewright/budget.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/train/step.hpp"

namespace {

using tw::Ir, tw::Limits, tw::Target, tw::Tensor;
using tw::internal::FramePart, tw::internal::FramePeak, tw::internal::FramePeaks, tw::internal::TileHomes;
namespace ops = tw::ops;

constexpr Target ipu = tw::gc200.with_tiles(16);

// ---- limits that hold: the figures themselves

constexpr void train_step(Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }
constexpr auto& host_plan = tw::Program<train_step>::plan;
static_assert(tw::require_budget<train_step, tw::cpu, Limits{}>());
static_assert(tw::require_budget<train_step, tw::cpu,
                                 Limits{.variables = host_plan.memory.variables,
                                        .frame = host_plan.memory.frame,
                                        .stack = tw::stack_bytes<train_step>,
                                        .code = host_plan.memory.code}>());
constexpr tw::TileMemory tile = tw::peak_memory<train_step, tw::ipu_model>;
static_assert(tw::require_budget<train_step, tw::ipu_model,
                                 Limits{.variables = tile.variables,
                                        .frame = tile.frame + tile.padding,
                                        .code = tile.code.total(),
                                        .cycles = tw::cycles<train_step, tw::ipu_model>}>());
constexpr bool is_within(const Limits& limits) {
  Ir ir(tw::OnError::record);
  tw::trace_for(tw::ipu_model, train_step, ir);
  for (const tw::Text& error : tw::internal::budget_errors(std::move(ir), tw::ipu_model, limits))
    if (!error.empty()) return false;
  return true;
}
static_assert(!is_within({.frame = tile.frame + tile.padding - 1}));
static_assert(!is_within({.cycles = tw::cycles<train_step, tw::ipu_model> - 1}));

// ---- limits that make no sense

constexpr auto negative = -Limits::none - 1;
static_assert(tw::internal::check_limits({.variables = negative}, tw::cpu) ==
              "require_budget: variables -9223372036854775808: at least 0 expected");
static_assert(tw::internal::check_limits({.stack = -1}, ipu) == "require_budget: stack -1: at least 0 expected");
static_assert(tw::internal::check_limits({.variables = 0, .frame = 0, .stack = 0, .code = 0}, tw::cpu).empty());
static_assert(tw::internal::check_limits({.cycles = 0}, tw::cpu).view().ends_with("a simulated IPU, such as gc200, expected"));

// ---- what a peak is made of

/// Bytes of a frame: of all its parts with the gaps between them, and those of each.
struct Parts {
  std::int64_t frame = 0, gaps = 0, sum = 0;
  std::int64_t of[5]{};
  constexpr std::int64_t operator[](FramePart part) const { return of[static_cast<int>(part)]; }
};
constexpr Parts parts_of(auto program, const Target& target) {
  const tw::Prepared prepared = support::prepared(program, target);
  FramePeaks peaks(prepared.ir(), prepared.target());
  TileHomes homes;
  const tw::Plan plan = tw::lower(prepared, peaks, &homes);
  Parts parts{.frame = target.ipu == nullptr ? plan.memory.frame : plan.tile.frame + plan.tile.padding,
              .gaps = plan.tile.padding};
  for (const auto& tensor : peaks.peak(tw::internal::BodyId::main, 0).tensors) {
    parts.sum += tensor.bytes;
    parts.of[static_cast<int>(tensor.part)] += tensor.bytes;
  }
  return parts;
}
/// Four calls of a graph of four exponentials of gelus, and its gradient, which may compute the graph again.
struct Deep : tw::Module<Deep> {
  constexpr Tensor build(Tensor x) {
    for (int i = 0; i < 4; ++i) x = ops::exp(ops::gelu(x));
    return x;
  }
};
template <bool recomputes>
constexpr void deep_step(Ir& ir) {
  const Tensor x = support::load(ir, "x", {1024});
  tw::List<tw::CallSiteInfo> calls;
  const auto created = tw::create_graph(Deep{}, x);
  auto gradient = tw::autodiff(created.graph);
  if (recomputes) gradient = tw::recompute_graph(gradient);
  Tensor y = x;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(created.graph.call_with_info(y));
    y = calls.back().output(0);
  }
  for (int i = 4; i-- > 0;) y = gradient.call_with_info(y, gradient.grad_graph_info().inputs_dict(calls[i])).output(0);
  support::store("dx", y);
}
constexpr std::int64_t vector = 1024 * 4;
constexpr Parts kept = parts_of(deep_step<false>, tw::cpu), recomputed = parts_of(deep_step<true>, tw::cpu);
constexpr Parts kept_on_ipu = parts_of(deep_step<false>, ipu), recomputed_on_ipu = parts_of(deep_step<true>, ipu);
// 4 blocks of 4 kept tensors (an exp's result is what the next gelu reads); or 4 outputs, and one block's tensors
static_assert(kept[FramePart::kept] == 16 * vector && kept[FramePart::gradients] == vector && kept.sum == kept.frame);
static_assert(recomputed[FramePart::kept] == 8 * vector && recomputed[FramePart::gradients] == vector);
static_assert(recomputed.sum == recomputed.frame);
static_assert(kept_on_ipu[FramePart::kept] == 16 * vector / ipu.tiles && kept_on_ipu.sum == kept_on_ipu.frame);
static_assert(recomputed_on_ipu[FramePart::kept] == 8 * vector / ipu.tiles && recomputed_on_ipu.sum == recomputed_on_ipu.frame);

/// A product whose weight all tiles need: tiles receive slices of it. A gap lies between its input and its sums.
constexpr void product(Ir& ir) {
  support::store("y", support::load(ir, "x", {64, 512}).matmul(support::variable(ir, "w", {512, 64})));
}
constexpr Parts of_product = parts_of(product, ipu), of_product_on_host = parts_of(product, tw::cpu);
static_assert(of_product[FramePart::exchanged] > 0 && of_product[FramePart::kept] == 0);
static_assert(of_product.gaps > 0 && of_product.sum + of_product.gaps == of_product.frame);
static_assert(of_product_on_host[FramePart::exchanged] == 0);

}  // namespace
