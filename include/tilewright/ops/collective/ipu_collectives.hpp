#pragma once
#include <algorithm>
#include <string_view>

#include "tilewright/core/collective_operator.hpp"
#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/elementwise/cast.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/logical.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/ops/memory/ipu_copy.hpp"
#include "tilewright/program/call.hpp"
#include "tilewright/program/grad_graph_info.hpp"

// Collectives between the IPUs of a replica: copies to the first IPU, the reduction there, and copies back.

namespace tilewright::ops::collectives {

using tilewright::CollectiveOperator;

/// Options of collectives between IPUs. `ipus` are those of the tensors, in their order; they are required if Tensor::ipu does
/// not know one.
struct IpuReduceOptions {
  CollectiveOperator op = CollectiveOperator::add;  ///< how elements are combined
  List<int> ipus{};  ///< by tensor; empty: where the tensors are
};

namespace detail {

/// Returns the IPUs of tensors, which must be on different IPUs and have one shape and dtype. Returns nothing after a failure,
/// which names `what`.
constexpr List<int> ipus_of(std::string_view what, Ir& ir, const List<Tensor>& tensors, const IpuReduceOptions& options) {
  List<int> result;
  const auto fail = [&](const auto&... problem) {
    ir.fail(text(what, ": ", problem..., " expected"));
    return List<int>();
  };
  for (const Tensor& t : tensors)
    if (!t.valid()) return {};
  if (!options.ipus.empty() && options.ipus.size() != tensors.size())
    return fail(options.ipus.size(), " IPUs for ", tensors.size(), " tensors: one for each");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor t = tensors[i];
    const std::optional<int> known = t.ipu();
    if (!known && options.ipus.empty()) return fail(to_text(t), " is on no IPU yet, as no op has used it: the option ipus");
    const int ipu = options.ipus.empty() ? *known : options.ipus[i];
    if (known && *known != ipu) return fail(to_text(t), " is on IPU ", *known, ": that IPU, not ", ipu, ", in the option ipus");
    if (has_item(result, ipu)) return fail(to_text(t), " is on IPU ", ipu, ", as another one: tensors on different IPUs");
    if (t.spec() != tensors[0].spec()) return fail(to_text(tensors[0]), " and ", to_text(t), ": equal shapes and dtypes");
    const DType dtype = t.dtype();
    if (dtype != float16 && dtype != float32 && dtype != int32 && dtype != uint32)
      return fail(to_text(t), ": float16, float32, int32 or uint32");
    result.push_back(ipu);
  }
  return result;
}
/// Reduces tensors on one IPU.
constexpr Tensor reduced(CollectiveOperator op, const List<Tensor>& given) {
  const DType dtype = given[0].dtype(), wide = dtype == float16 ? float32 : dtype;
  const auto fold = [&](auto&& first, auto&& next) {
    Tensor result = first(given[0]);
    for (std::size_t i = 1; i < given.size(); ++i) result = next(result, first(given[i]));
    return result;
  };
  const auto same = [wide](Tensor t) { return t.cast(wide); };
  const auto sum = [](Tensor a, Tensor b) { return a + b; };
  switch (op) {
    case CollectiveOperator::mean:
      if (is_int(dtype)) return (fold([](Tensor t) { return t.cast(int64); }, sum) / static_cast<int>(given.size())).cast(dtype);
      return (fold(same, sum) / static_cast<int>(given.size())).cast(dtype);
    case CollectiveOperator::mul: return fold(same, [](Tensor a, Tensor b) { return a * b; }).cast(dtype);
    case CollectiveOperator::min: return fold(same, [](Tensor a, Tensor b) { return ops::minimum(a, b); }).cast(dtype);
    case CollectiveOperator::max: return fold(same, [](Tensor a, Tensor b) { return ops::maximum(a, b); }).cast(dtype);
    case CollectiveOperator::logical_and:
      return fold([](Tensor t) { return t.cast(boolean); }, [](Tensor a, Tensor b) { return a & b; }).cast(dtype);
    case CollectiveOperator::logical_or:
      return fold([](Tensor t) { return t.cast(boolean); }, [](Tensor a, Tensor b) { return a | b; }).cast(dtype);
    case CollectiveOperator::square_add: return fold([same](Tensor t) { return t = same(t), t * t; }, sum).cast(dtype);
    default: return fold(same, sum).cast(dtype);
  }
}
constexpr List<Tensor> reduce_between(const List<Tensor>& tensors, const List<int>& ipus, CollectiveOperator op) {
  List<Tensor> gathered, results;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    gathered.push_back(i == 0 ? tensors[0] : ipu_copy(tensors[i], ipus[0], ipus[i]));
  const auto first = ipu(tensors[0].ir(), ipus[0]);
  const Tensor result = reduced(op, gathered);
  for (const int destination : ipus) results.push_back(destination == ipus[0] ? result : ipu_copy(result, destination));
  return results;
}
/// Calls a graph of the tensors whose gradient graph is different: one of the two reduces, and the other one returns its inputs.
constexpr List<Tensor> reduce_one_way(std::string_view what, const List<Tensor>& tensors, const IpuReduceOptions& options,
                                      bool reduces_forward) {
  if (tensors.empty()) return {};
  Ir& ir = tensors[0].ir();
  const List<int> ipus = ipus_of(what, ir, tensors, options);
  if (ir.failed()) return {};
  const auto make = [&](bool reduces, std::string_view name) {
    const Graph graph = ir.create_empty_graph(name);
    const GraphScope scope(graph);
    const tilewright::detail::PlacementScope anywhere(ir, {});
    List<Tensor> inputs;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      inputs.push_back(tilewright::detail::add_graph_input(ir, tensors[i].spec()));
      ir.tables.record(inputs.back()).placement = {ipus[i]};
    }
    List<Tensor> outputs;
    if (reduces) outputs = reduce_between(inputs, ipus, options.op);
    else
      for (const Tensor& input : inputs) outputs.push_back(ops::identity(input));
    for (const Tensor& output : outputs) graph_output(output);
    return graph;
  };
  const Graph forward = make(reduces_forward, what), backward = make(!reduces_forward, text(what, "_bwd").view());
  List<ExpectedConnection> connections;
  for (const Tensor& output : forward.outputs()) connections.push_back({ExpectedConnectionType::FwdGrad, output});
  ir.tables.record(forward.id()).gradient = GradGraphInfo(backward, forward, connections, forward.inputs()).record();
  List<Tensor> results;
  for (const Tensor& result : call_with_info(forward, {tensors.data(), tensors.size()}).outputs()) results.push_back(result);
  return results;
}

}  // namespace detail

/// Reduces tensors on different IPUs of a replica, element by element; returns one result on each of these IPUs. ts: one shape;
/// float16, which is reduced in float32 and rounded once, float32, int32 or uint32. The results have their shape and dtype.
/// Tensors are combined in their order, so results have equal bits on all IPUs. The gradient is that of the operator: for `add`,
/// the sum of the gradients. Errors: tensors of different shapes or dtypes, or on one IPU; an unknown IPU; `local`.
[[nodiscard]] constexpr List<Tensor> all_reduce(const List<Tensor>& ts, const IpuReduceOptions& options = {}) {
  if (ts.empty() || !ts[0].is_usable()) return {};
  Ir& ir = ts[0].ir();
  const List<int> ipus = detail::ipus_of("all_reduce", ir, ts, options);
  if (!ir.failed() && options.op == CollectiveOperator::local)
    ir.fail("all_reduce: `local` between IPUs: an operator that reduces expected");
  if (ir.failed()) return {};
  return detail::reduce_between(ts, ipus, options.op);
}
/// Returns the tensors unchanged; the caller guarantees that they are equal on all IPUs. The gradient of each is the sum of all
/// gradients. It begins a part of a network whose weights are divided among IPUs; all_reduce_identical_grad_inputs ends it (arXiv
/// 1909.08053, f and g).
[[nodiscard]] constexpr List<Tensor> all_reduce_identical_inputs(const List<Tensor>& ts, const IpuReduceOptions& options = {}) {
  return detail::reduce_one_way("all_reduce_identical_inputs", ts, options, false);
}
/// Reduces tensors as all_reduce with `add` does. The gradients, which are equal on all IPUs, pass through unchanged.
[[nodiscard]] constexpr List<Tensor> all_reduce_identical_grad_inputs(const List<Tensor>& ts,
                                                                      const IpuReduceOptions& options = {}) {
  return detail::reduce_one_way("all_reduce_identical_grad_inputs", ts, options, true);
}

}  // namespace tilewright::ops::collectives
