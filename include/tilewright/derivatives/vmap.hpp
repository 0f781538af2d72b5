#pragma once
#include <array>
#include <concepts>
#include <string_view>
#include <utility>

#include "tilewright/derivatives/applied_graph.hpp"
#include "tilewright/derivatives/batched_graph.hpp"

namespace tilewright {

namespace detail {

/// A function of rows, for batches.
template <class F>
class Vmap {
 public:
  static constexpr std::string_view traced_name = "vmap";
  constexpr explicit Vmap(F function) : function_(std::move(function)) {}

  constexpr const F& original() const { return function_; }
  constexpr Vmap of(F function) const { return Vmap(std::move(function)); }

  template <std::convertible_to<Tensor>... Arguments>
  constexpr Results operator()(const Arguments&... arguments) const {
    constexpr std::size_t count = sizeof...(Arguments);
    const std::array<Tensor, count> batches = array_of(arguments...);
    Ir& ir = batches[0].ir();
    const std::int64_t rows = batches[0].rank() > 0 ? batches[0].shape()[0] : 0;
    std::array<Tensor, count> of_row = batches;
    for (std::size_t i = 0; i < count && !ir.failed(); ++i) {
      if (batches[i].rank() > 0 && batches[i].shape()[0] == rows) of_row[i] = batches[i][0];
      else if (i == 0) ir.fail(text("vmap: argument 0, ", to_text(batches[i].spec()), ": a leading axis of rows expected"));
      else ir.fail(text("vmap: argument ", i, ", ", to_text(batches[i].spec()), ": a leading axis of ", rows, " rows expected"));
    }
    if (ir.failed()) return Results(ir);
    const AppliedGraph applied = apply_function(traced_name, function_, of_row);
    if (ir.failed()) return Results(ir);
    List<bool> batched(applied.parents.size(), false);
    List<Tensor> parents = applied.parents, results;
    for (std::size_t i = 0; i < count; ++i) {
      batched[applied.arguments[i]] = true;
      parents[applied.arguments[i]] = batches[i];
    }
    const BatchedGraph graph = Batcher(ir, applied.graph.id(), rows).run(batched);
    if (ir.failed()) return Results(ir);
    const Outputs outputs = call_with_info(ir.graph(graph.graph), parents).outputs();
    for (std::size_t i = 0; i < applied.results; ++i) {
      const Tensor result = outputs[i];
      if (graph.batched[i]) results.push_back(result);
      else results.push_back(ops::expand(result, with_front(rows, result.shape())));
    }
    return Results(ir, std::move(results));
  }

 private:
  F function_;
};

}  // namespace detail

/// Returns a function for batches: `tw::vmap(f)(x)` has f of each row of x as its rows. Each argument has a leading axis of the
/// same extent. f may use elementwise ops, reshape, transpose, expand, slice, concat, tril, triu, reductions, matmul, softmax,
/// cholesky, solve, solve_triangular, detach, and calls of graphs without a derivative by hand. The function is as for vjp.
/// Errors: an argument without that axis; another op.
template <class F>
[[nodiscard]] constexpr auto vmap(F function) {
  return detail::Vmap<F>(std::move(function));
}

}  // namespace tilewright
