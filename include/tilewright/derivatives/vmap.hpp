#pragma once
#include <array>
#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/derivatives/applied_graph.hpp"
#include "tilewright/derivatives/batched_graph.hpp"

namespace tilewright {

namespace detail {

/// A function of rows, for batches. `Axes`: an array of the arguments' axes, or an empty struct for leading ones.
template <class F, class Axes>
class Vmap {
 public:
  static constexpr std::string_view traced_name = "vmap";
  constexpr Vmap(F function, Axes axes) : function_(std::move(function)), axes_(axes) {}

  constexpr const F& original() const { return function_; }
  constexpr Vmap of(F function) const { return {std::move(function), axes_}; }

  template <std::convertible_to<Tensor>... Arguments>
  constexpr Results operator()(const Arguments&... arguments) const {
    constexpr std::size_t count = sizeof...(Arguments);
    std::array<Tensor, count> batches = array_of(arguments...), of_row = batches;
    Ir& ir = batches[0].ir();
    const std::array<std::optional<int>, count> axes = axes_of<count>();
    std::int64_t rows = -1;
    for (std::size_t i = 0; i < count && !ir.failed(); ++i) {
      if (!axes[i]) continue;
      const int rank = batches[i].rank(), axis = *axes[i] + (*axes[i] < 0 ? rank : 0);
      const bool is_there = axis >= 0 && axis < rank;
      if (is_there && rows < 0) rows = batches[i].shape()[axis];
      if (is_there && batches[i].shape()[axis] == rows) {
        batches[i] = with_axis_in_front(batches[i], axis);
        of_row[i] = batches[i][0];
      } else {
        Text expected = text("a leading axis of ");
        if (*axes[i] != 0) expected = text("axis ", *axes[i], " of ");
        if (rows >= 0) expected = text(expected, rows, " ");
        ir.fail(text("vmap: argument ", i, ", ", to_text(batches[i].spec()), ": ", expected, "rows expected"));
      }
    }
    if (rows < 0 && !ir.failed()) ir.fail("vmap: no argument has an axis of rows: one expected");
    if (ir.failed()) return Results(ir);
    const AppliedGraph applied = apply_function(traced_name, function_, of_row);
    if (ir.failed()) return Results(ir);
    List<bool> batched(applied.parents.size(), false);
    List<Tensor> parents = applied.parents, results;
    for (std::size_t i = 0; i < count; ++i) {
      batched[applied.arguments[i]] = axes[i].has_value();
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
  template <std::size_t count>
  constexpr std::array<std::optional<int>, count> axes_of() const {
    if constexpr (std::is_empty_v<Axes>) {
      std::array<std::optional<int>, count> axes;
      axes.fill(0);
      return axes;
    } else {
      static_assert(std::tuple_size_v<Axes> == count, "vmap: an axis, or std::nullopt, for each argument expected");
      return axes_;
    }
  }

  F function_;
  Axes axes_;
};

}  // namespace detail

/// Returns a function for batches: `tw::vmap(f)(x)` has f of each row of x as its rows. Each argument has a leading axis of the
/// same extent. f may use elementwise ops, reshape, transpose, expand, slice, concat, tril, triu, reductions, matmul, gather,
/// softmax, cholesky, solve, solve_triangular, detach, and calls of graphs without a derivative by hand. The function is as for
/// vjp. Errors: an argument without that axis; another op.
template <class F>
[[nodiscard]] constexpr auto vmap(F function) {
  struct LeadingAxes {};
  return detail::Vmap<F, LeadingAxes>(std::move(function), {});
}
/// Returns a function for batches whose rows lie along an axis of each argument, or which is the same for each row:
/// `tw::vmap(f, {1, std::nullopt})(x, w)` has f(x[:, i], w) as row i. A negative axis counts from the last one. Error: an axis
/// out of range; none at all.
template <class F, std::size_t count>
[[nodiscard]] constexpr auto vmap(F function, const std::optional<int> (&in_axes)[count]) {
  return detail::Vmap<F, std::array<std::optional<int>, count>>(std::move(function), std::to_array(in_axes));
}

}  // namespace tilewright
