#pragma once
#include "tilewright/lower/lower.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/ops/memory/host.hpp"

/// Short forms of what the programs of tests are made of, and what is asked of such a program.
namespace support {

namespace tw = tilewright;

/// A tensor from a new stream.
constexpr tw::Tensor load(tw::Ir& ir, std::string_view name, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return tw::ops::host_load(ir.h2d_stream(name, shape, dtype));
}
/// Stores a tensor in a new stream to the host.
constexpr void store(std::string_view name, tw::Tensor x) { tw::ops::host_store(x.ir().d2h_stream(name, x.spec()), x); }
/// A variable of zeros.
constexpr tw::Tensor variable(tw::Ir& ir, std::string_view name, const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return ir.variable(tw::zeros(), shape, dtype, name);
}

/// The edges of a graph's in_sequence scopes: numbers of a node and of one that runs after it.
using Edges = tw::List<std::pair<int, int>>;
constexpr Edges sequence_of(const tw::Ir& ir, tw::GraphId graph = tw::GraphId::main) {
  Edges edges;
  for (const auto& [before, after] : ir.tables.record(graph).sequence)
    edges.push_back({static_cast<int>(before), static_cast<int>(after)});
  return edges;
}

/// A program, traced and prepared for a target.
constexpr tw::Prepared prepared(auto build, const tw::Target& target = tw::cpu, tw::OnError on_error = tw::OnError::raise) {
  tw::Ir ir(on_error);
  tw::trace_for(target, build, ir);
  return tw::prepare(std::move(ir), target);
}
/// The plan of a program.
constexpr tw::Plan plan_of(auto build, const tw::Target& target = tw::cpu) { return tw::lower(prepared(build, target)); }
constexpr tw::Text plan_text(auto build, const tw::Target& target = tw::cpu) { return tw::print_plan(plan_of(build, target)); }

/// The message of the first error that `trace(ir)` meets; "" if there is none.
constexpr tw::Text failure(auto trace) {
  tw::Ir ir(tw::OnError::record);
  trace(ir);
  return ir.failure();
}

}  // namespace support
