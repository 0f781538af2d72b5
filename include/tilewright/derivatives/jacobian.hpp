#pragma once
#include <string_view>
#include <utility>

#include "tilewright/derivatives/batched_graph.hpp"
#include "tilewright/derivatives/grad.hpp"
#include "tilewright/derivatives/linearize.hpp"
#include "tilewright/graph/initialiser.hpp"

namespace tilewright {

/// How a Jacobian is computed.
enum class JacobianMode : std::uint8_t {
  automatic,  ///< forward if the argument has fewer elements than the result, reverse otherwise
  forward,    ///< column by column, from the tangents of the argument's elements
  reverse     ///< row by row, from the gradients of the result's elements
};

/// Options of jacobian and hessian.
struct JacobianOptions {
  int argnum = 0;  ///< number of the argument
  JacobianMode mode = JacobianMode::automatic;  ///< by columns or by rows
};

namespace detail {

/// Returns the shape (extents of a, then those of b). Fails for too many axes.
constexpr Shape joined_shape(Ir& ir, std::string_view what, const Shape& a, const Shape& b) {
  Shape result = a;
  if (a.rank + b.rank > max_rank) {
    ir.fail(text(what, ": ", to_text(a), " by ", to_text(b), ": at most ", max_rank, " axes expected"));
    return result;
  }
  for (int axis = 0; axis < b.rank; ++axis) result.push_back(b[axis]);
  return result;
}
/// Calls a graph that is linear in its input 0 with each element of the basis of that input: at once with a leading axis if each
/// op has a form for a batch, otherwise in a loop. Returns output `output` of all calls, with the leading axis of the basis.
/// `values`: the other inputs.
constexpr Tensor call_with_basis(Ir& ir, std::string_view what, Graph graph, const List<Tensor>& values, int output) {
  const TensorSpec spec = graph.input(0).spec(), result = graph.output(output).spec();
  const std::int64_t count = spec.nelms();
  joined_shape(ir, what, {count}, result.shape);
  const Shape basis_shape = joined_shape(ir, what, {count}, spec.shape);
  if (ir.failed()) return Tensor::invalid(ir);
  List<Tensor> inputs{ir.constant(eye(), {count, count}, spec.dtype).reshape(basis_shape)};
  for (const Tensor& value : values) inputs.push_back(value);
  if (!has_batched_form(ir, graph.id()))
    return append_loop(graph, {.count = count, .carried = 0, .sliced = 1}, inputs).output(output);
  List<bool> batched(inputs.size(), false);
  batched[0] = true;
  const BatchedGraph all = Batcher(ir, graph.id(), count).run(batched);
  if (ir.failed()) return Tensor::invalid(ir);
  const Tensor rows = call_with_info(ir.graph(all.graph), inputs).output(output);
  return all.batched[output] ? rows : ops::expand(rows, with_front(count, result.shape));
}

template <class F>
class Jacobian {
 public:
  static constexpr std::string_view traced_name = "jacobian";
  constexpr Jacobian(F function, JacobianOptions options) : function_(std::move(function)), options_(options) {}

  constexpr const F& original() const { return function_; }
  constexpr Jacobian of(F function) const { return {std::move(function), options_}; }

  template <std::convertible_to<Tensor>... Arguments>
  constexpr Tensor operator()(const Arguments&... arguments) const {
    const AppliedGraph applied = apply_function(traced_name, function_, array_of(arguments...));
    check_result(applied, traced_name, false);
    check_argnums(applied, traced_name, {&options_.argnum, 1});
    Ir& ir = applied.ir();
    if (ir.failed()) return Tensor::invalid(ir);
    const Tensor y = applied.result(0);
    const TensorSpec x = applied.argument_spec(static_cast<std::size_t>(options_.argnum));
    const Shape shape = joined_shape(ir, traced_name, y.shape(), x.shape);
    const bool is_forward = options_.mode == JacobianMode::forward ||
                            (options_.mode == JacobianMode::automatic && x.nelms() < y.nelms());
    const DifferentiatedCall call = call_and_differentiate(applied, {options_.argnum});
    if (ir.failed()) return Tensor::invalid(ir);
    if (call.output_of(options_.argnum) < 0) return zeros_like(ir, {shape, y.dtype()});
    if (!is_forward) return call_with_basis(ir, traced_name, call.gradient.graph(), call.forward_values(), 0).reshape(shape);
    const LinearCall linear(call);
    if (ir.failed()) return Tensor::invalid(ir);
    const int output = linear.output_of(0);
    if (output < 0) return zeros_like(ir, {shape, y.dtype()});
    const Tensor columns = call_with_basis(ir, traced_name, linear.info().graph(), linear.values(), output);
    return columns.reshape({x.nelms(), y.nelms()}).T().reshape(shape);
  }

 private:
  F function_;
  JacobianOptions options_;
};

}  // namespace detail

/// Returns the Jacobian of a function: `tw::jacobian(f)(x)` has the axes of f(x), then those of x, and the dtype of f(x). It is
/// computed forward or reverse, with the basis of x or f(x) as a leading axis; in a loop over the basis if an op has no form for
/// a batch (see vmap). Functions, arguments and errors are those of grad, but the result may have any shape. Error: more than 6
/// axes.
template <class F>
[[nodiscard]] constexpr auto jacobian(F function, JacobianOptions options = {}) {
  return detail::Jacobian<F>(std::move(function), options);
}
/// Returns the Hessian of a function with a result of one element: `tw::hessian(f)(x)` has the axes of x twice. It is the
/// Jacobian of the gradient.
template <class F>
[[nodiscard]] constexpr auto hessian(F function, JacobianOptions options = {}) {
  return jacobian(grad(std::move(function), options.argnum), options);
}

}  // namespace tilewright
