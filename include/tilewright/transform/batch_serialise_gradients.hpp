#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/transform/batch_serialise.hpp"

namespace tilewright {

/// The serialised forward graph, and its serialised gradient graph.
struct BatchSerialFwdAndGrad {
  BatchSerialResult forward, gradient;
};

namespace detail {
/// Divides options between a forward graph and its gradient graph, and adds buffers for activations.
class SerialGradients {
 public:
  constexpr SerialGradients(const GraphWithNamedArgs& forward, const GraphWithNamedArgs& gradient,
                            const DotTree<Tensor>& named_inputs, std::int64_t steps, const BatchSerialOptions& options)
      : forward_(forward), gradient_(gradient), named_(named_inputs.to_dict()), steps_(steps), args_(gradient.args()) {
    for (BatchSerialOptions* each : {&of_forward_, &of_gradient_}) {
      each->rows = options.rows;
      each->io_mode = options.io_mode;
    }
    if (options.seed_input.valid()) options_for(options.seed_input).seed_input = options.seed_input;
    for (const auto& each : options.load_handles) options_for(each.first).load_handles.push_back(each);
    for (const auto& each : options.store_streams) options_for(each.first).store_streams.push_back(each);
    for (const auto& each : options.store_buffers) options_for(each.first).store_buffers.push_back(each);
  }

  constexpr BatchSerialFwdAndGrad run() {
    connect_inputs();
    const GraphWithNamedArgs gradient(gradient_.graph(), args_);
    BatchSerialFwdAndGrad result{batch_serialise(forward_, steps_, of_forward_), {gradient}};
    if (!forward_.ir().failed()) result.gradient = batch_serialise(gradient, steps_, of_gradient_);
    return result;
  }

 private:
  constexpr BatchSerialOptions& options_for(Tensor t) { return gradient_.graph().contains(t) ? of_gradient_ : of_forward_; }
  template <class T>
  static constexpr const T* find(const List<std::pair<Tensor, T>>& entries, Tensor key) {
    for (const auto& [tensor, value] : entries)
      if (tensor == key) return &value;
    return nullptr;
  }
  /// Gives each input of the gradient graph a name or a handle.
  constexpr void connect_inputs() {
    Ir& ir = forward_.ir();
    const GradGraphInfo info = gradient_.grad_graph_info();
    if (!ir.failed() && info.forward_graph() != forward_.graph())
      ir.fail(text("batch_serialise_fwd_and_grad: ", forward_.graph().name(), " and ", gradient_.graph().name(), ": ",
                   info.forward_graph().name(), " and its gradient graph expected"));
    if (ir.failed() || !can_make_buffers()) return;
    const auto connections = info.expected_inputs();
    for (std::size_t i = 0; i < connections.size() && !ir.failed(); ++i) {
      const Tensor input = gradient_.graph().input(static_cast<int>(i)), forward = connections[i].fwd_tensor;
      if (find(of_gradient_.load_handles, input) || input == of_gradient_.seed_input) continue;
      if (connections[i].connection_type == ExpectedConnectionType::FwdGrad)
        ir.fail(text("batch_serialise_fwd_and_grad: input ", i, " of ", gradient_.graph().name(), ", the gradient of ",
                     to_text(forward), ", has no load handle: one expected"));
      else if (!bind_by_name(input, forward)) of_gradient_.load_handles.push_back({input, LoadHandle(rows_of(forward))});
    }
  }
  /// Returns whether buffers can be made; batch_serialise reports it if not.
  constexpr bool can_make_buffers() const { return steps_ >= 1 && steps_ <= most_batch_steps && of_forward_.rows >= 1; }
  constexpr bool bind_by_name(Tensor input, Tensor forward) {
    for (const auto& [name, tensor] : named_) {
      if (tensor != forward) continue;
      args_.insert(name.view(), input);
      return true;
    }
    return false;
  }
  /// Returns rows that have a forward tensor: those from which it is loaded, those in which it is stored, or new ones.
  constexpr RemoteHandle rows_of(Tensor forward) {
    if (const LoadHandle* load = find(of_forward_.load_handles, forward); load && load->rows()) return *load->rows();
    if (const RemoteHandle* stored = find(of_forward_.store_buffers, forward)) return *stored;
    const RemoteHandle rows{batch_serial_buffer(forward, steps_, of_forward_.rows)};
    of_forward_.store_buffers.push_back({forward, rows});
    return rows;
  }

  const GraphWithNamedArgs& forward_;
  const GraphWithNamedArgs& gradient_;
  List<std::pair<Text, Tensor>> named_;
  std::int64_t steps_;
  NamedTensors args_;  // of the gradient graph
  BatchSerialOptions of_forward_{}, of_gradient_{};
};
}  // namespace detail

/// Serialises a graph and its gradient graph: batch_serialise of both. What the gradient graph needs of the forward graph comes
/// from remote buffers. Forward tensors of `named_inputs_for_grad_graph`, such as `forward.args()`, are not stored: they become
/// inputs of the gradient graph with their names. Inputs that the forward graph loads from rows are loaded from there again. For
/// all other tensors, activations among them, the forward graph stores them in new buffers with a row for each step and index.
///
/// The options have handles for tensors of both graphs. The gradients of the forward graph's outputs are inputs of the gradient
/// graph, such as `gradient.graph().input(0)`. Each needs a load handle.
///
/// Errors: those of batch_serialise; a gradient graph of another graph; a gradient of an output without a load handle.
TILEWRIGHT_KEPT constexpr BatchSerialFwdAndGrad&& batch_serialise_fwd_and_grad(const GraphWithNamedArgs& forward,
                                                                               const GraphWithNamedArgs& gradient,
                                                                               const DotTree<Tensor>& named_inputs_for_grad_graph,
                                                                               std::int64_t steps,
                                                                               const BatchSerialOptions& options = {}) {
  return detail::keep(forward.ir(),
                      detail::SerialGradients(forward, gradient, named_inputs_for_grad_graph, steps, options).run());
}

}  // namespace tilewright
