#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tilewright/module/graph_cache.hpp"
#include "tilewright/ops/collective/replica_sharding.hpp"
#include "tilewright/ops/memory/named_remote_buffers.hpp"
#include "tilewright/ops/memory/remote_code_load.hpp"
#include "tilewright/train/update.hpp"
#include "tilewright/transform/autodiff.hpp"
#include "tilewright/transform/recompute_graph.hpp"

namespace tilewright::train {

/// Names of layers of one kind, one for each layer. They begin the names of the layers' variables.
class LayerNames {
 public:
  /// Names in the order of the layers: `{"fc2", "fc3"}`.
  constexpr LayerNames(std::initializer_list<std::string_view> names) : count_(static_cast<std::int64_t>(names.size())) {
    for (const std::string_view name : names) names_.push_back(Text(name));
  }
  /// Returns `prefix.0`, `prefix.1` and so on: the names of the elements of a member `prefix` that is an array of layers.
  static constexpr LayerNames numbered(std::string_view prefix, std::int64_t count) {
    LayerNames result{};
    result.prefix_ = Text(prefix);
    result.count_ = count;
    return result;
  }
  constexpr std::int64_t count() const { return count_; }

 private:
  template <OptimiserParameters>
  friend class PhasedLayers;
  constexpr Text name(std::int64_t layer) const {
    if (names_.empty()) return dotted(prefix_.view(), text(layer).view());
    return names_[static_cast<std::size_t>(layer)];
  }

  List<Text> names_{};
  Text prefix_{};
  std::int64_t count_ = 0;
};

/// Options of PhasedLayers.
struct PhasedOptions {
  /// Whether backward returns the gradient of the first layer's input. The input of a network has no use for it.
  Flag input_gradient = true;
  /// Whether each replica keeps a shard of every variable and of its optimiser state, see NamedVariableFactories::replica_sharded
  Flag replica_sharded = false;
  Flag use_io_tiles = false;  ///< whether the IO tiles transfer rows, see RemoteGraphOptions
  /// Whether the code of a phase is loaded before it, see ops::remote_code_load. Otherwise the code of all phases stays on the
  /// machine.
  Flag load_code = false;
  std::string_view optimiser_prefix = "optimiser";  ///< prefix of the names of the optimiser's variables; "": none
};

namespace detail {
/// Graph of an optimiser for one variable.
struct VariableUpdate {
  Text name;
  GraphWithNamedArgs graph;
};

/// Returns a row of remote buffers as a scalar uint32 tensor of the current graph. Fails for a number that is no row.
constexpr Tensor row_tensor(Ir& ir, const RemoteOffset& row, std::int64_t rows) {
  if (row.is_tensor()) return row.tensor();
  if (row.row() >= 0 && row.row() < rows) return ir.constant(static_cast<double>(row.row()), uint32);
  return ir.fail(text("PhasedLayers: layer ", row.row(), " of ", rows, ": a number from 0 to ", rows - 1, " expected"));
}
/// Returns the mean of a gradient over all replicas: a shard of it for a sharded variable.
constexpr Tensor mean_for(const VariableFactory& factory, Tensor gradient, Tensor variable) {
  if (gradient.ir().replication_factor() == 1) return gradient;
  if (!variable.meta_shape()) return ops::collectives::replicated_all_reduce(gradient, {.op = CollectiveOperator::mean});
  return reduce_replica_sharded_tensor(gradient, {.op = CollectiveOperator::mean, .shard_group = factory.shard_grouping()});
}
}  // namespace detail

/// Layers of one kind that take turns on the machine: phased execution. Their variables, the optimiser's state and the inputs
/// that backward needs are rows of remote buffers, one row for each layer. At any time the machine holds the variables of one
/// layer. All layers share the code of one layer, and a loop runs them.
///
/// `forward` of a layer: load its variables, gather shards, store its input, call the layer. `backward` of a layer: load its
/// variables and its input, gather shards, compute the layer again and its gradients, reduce the gradients to their mean over
/// replicas, load the optimiser's state, take a step, store variables and state. So no gradient of a variable leaves its phase.
/// Each of these parts is also a function, for programs that combine them in another way.
///
///     const tw::optim::AdamParameters adam{.lr = 1e-3};
///     tw::train::PhasedLayers blocks(tw::create_graph(Block{}, x), tw::train::LayerNames::numbered("h", 12), adam);
///     const auto y = blocks.forward(x);
///     ...  // the loss and its gradient dy
///     const auto dx = blocks.backward(dy);
///
/// The graph of the layer comes from create_graph: its first input x, any shape and dtype, is the activation; other inputs that
/// are no variables are equal for all layers. It has one output y. Several layers need y of x's shape and dtype, because y is the
/// next layer's x. `parameters` may have tensors, such as a learning rate that a stream gives. The constructor creates the remote
/// variables, `names.<layer>.<variable>`, and the optimiser's, `optimiser.<layer>.<variable>.<state>`, as train_step names those
/// of a model with such members. Variables that no gradient reaches are constant.
///
/// Errors: no layer, or more than 65,536; a name that is in use; an output that does not fit; a layer that changes a variable,
/// such as a running mean, or has side effects; an input that no gradient reaches, with input_gradient. Norms over all gradients,
/// micro-batches and loss scaling are not possible: each layer's step comes before the gradients of the next one.
template <OptimiserParameters Parameters>
class PhasedLayers {
 public:
  /// Creates buffers, variables and graphs for the layers. Call it in the main graph.
  constexpr PhasedLayers(const CreatedGraph& layer, const LayerNames& names, const Parameters& parameters,
                         const PhasedOptions& options = {})
      : factories_(layer.factories),
        graph_(layer.graph),
        backward_graph_(layer.graph),
        parameters_(parameters),
        options_(options),
        layers_(names.count()) {
    if (!validate()) return;
    if (options.replica_sharded) factories_ = factories_.replica_sharded();
    differentiate();
    if (ir().failed()) return;
    buffers_ = named_variable_buffers(factories_, layers_);
    make_transfers(buffers_, load_, store_);
    make_updates();
    if (ir().failed()) return;
    state_buffers_ = named_variable_buffers(state_factories_, layers_);
    make_transfers(state_buffers_, load_state_, store_state_);
    inputs_ = ir().remote_buffer(input().shape(), input().dtype(), layers_);
    for (std::int64_t i = 0; i < layers_ && !ir().failed(); ++i) add_variables(i, names.name(i), options.optimiser_prefix);
  }

  constexpr std::int64_t layers() const { return layers_; }
  /// Returns the graph of a layer. Its named inputs are the variables.
  constexpr const GraphWithNamedArgs& graph() const { return graph_; }
  /// Returns the buffers of the variables by name, with a row for each layer.
  constexpr const NamedRemoteBuffers& buffers() const { return buffers_; }

  // Parts of a phase, for the current graph. `row`: the layer, from 0: a number, or a scalar uint32 tensor.

  /// Loads the variables of a layer; shards of them if they are sharded.
  constexpr NamedTensors load(RemoteOffset row) const { return load_row(load_, row); }
  /// Gathers shards of variables. Returns whole variables unchanged.
  constexpr NamedTensors gather(const NamedTensors& shards) const {
    return shards.transform<Tensor>("", [this](std::string_view name, Tensor shard) {
      return gather_replica_sharded_tensor(shard, factories_[name].shard_grouping());
    });
  }
  /// Reduces gradients to their mean over all replicas; to shards of it for sharded variables. `shards`: what load returned.
  constexpr NamedTensors reduce(const NamedTensors& gradients, const NamedTensors& shards) const {
    return gradients.transform<Tensor>(
        "", [&](std::string_view name, Tensor gradient) { return detail::mean_for(factories_[name], gradient, shards[name]); });
  }
  /// Loads the optimiser's state of a layer.
  constexpr NamedTensors load_state(RemoteOffset row) const { return load_row(load_state_, row); }
  /// Updates variables and state in place: a step of the optimiser for each gradient.
  constexpr void step(const NamedTensors& variables, const NamedTensors& state, const NamedTensors& gradients) const {
    step(variables, state, gradients, parameters_);
  }
  /// Stores the variables and the optimiser's state of a layer.
  constexpr void store(RemoteOffset row, const NamedTensors& variables, const NamedTensors& state) const {
    const Tensor number = detail::row_tensor(ir(), row, layers_);
    if (ir().failed()) return;
    if (store_) store_->bind(variables).call(number);
    if (store_state_) store_state_->bind(state).call(number);
  }

  // All layers.

  /// Calls the layers in order, and keeps the input of each for backward. x: the first layer's input. `others`: the layer's
  /// other inputs. Returns the output of the last layer.
  constexpr Tensor forward(Tensor x, std::initializer_list<Tensor> others = {}) {
    if (!forward_) forward_.emplace(make_forward(true));
    has_inputs_ = true;
    return run(*forward_, x, others);
  }
  /// Calls the layers in order, and keeps nothing for backward: a test of the model.
  constexpr Tensor evaluate(Tensor x, std::initializer_list<Tensor> others = {}) {
    if (!evaluate_) evaluate_.emplace(make_forward(false));
    return run(*evaluate_, x, others);
  }
  /// Updates the layers from the last to the first. dy: gradient of forward's result. `others`: those of forward. Returns the
  /// gradient of x; a Tensor() without input_gradient. Fails before a call of forward.
  constexpr Tensor backward(Tensor dy, std::initializer_list<Tensor> others = {}) {
    if (!ir().failed() && !has_inputs_)
      ir().fail(text("PhasedLayers: backward of ", graph_.graph().name(), " without inputs: a call of forward before expected"));
    if (!backward_) backward_.emplace(make_backward());
    List<Tensor> all(others);
    for (const Tensor& tensor : detail::tensors_of(parameters_)) all.push_back(tensor);
    const Tensor dx = run(*backward_, dy, all);
    if (!options_.input_gradient) return {};
    return dx;
  }

 private:
  constexpr Ir& ir() const { return graph_.ir(); }
  constexpr Tensor input() const { return graph_.graph().input(0); }

  /// Fails unless the layers can take turns.
  constexpr bool validate() const {
    if (ir().failed()) return false;
    const Graph graph = graph_.graph();
    const auto inputs = graph.inputs(), outputs = graph.outputs();
    const auto fail = [&](const auto&... what) {
      ir().fail(text("PhasedLayers: ", graph.name(), " ", what...));
      return false;
    };
    if (layers_ < 1 || layers_ > most_layers) return fail("for ", layers_, " layers: from 1 to ", most_layers, " expected");
    if (inputs.size() <= graph_.args().len_flat() || is_variable(inputs[0]))
      return fail("takes only variables: an input x as the first argument of build expected");
    if (outputs.size() != 1) return fail("has ", outputs.size(), " outputs: one expected");
    if (layers_ > 1 && outputs[0].spec() != inputs[0].spec())
      return fail("makes ", to_text(outputs[0].spec()), " of ", to_text(inputs[0].spec()),
                  ": equal shapes and dtypes, because the output is the input of the next one of ", layers_, " layers, expected");
    for (const auto& [name, variable] : graph_.args().to_dict())
      for (const int changed : ir().tables.record(graph.id()).by_reference)
        if (inputs[static_cast<std::size_t>(changed)] == variable)
          return fail("changes its variable '", name, "': a layer whose variables only the optimiser changes expected");
    return true;
  }
  constexpr bool is_variable(Tensor t) const {
    for (const auto& [name, variable] : graph_.args().to_dict())
      if (variable == t) return true;
    return false;
  }

  /// Creates the remote variables of a layer and of its optimiser.
  constexpr void add_variables(std::int64_t layer, const Text& name, std::string_view optimiser_prefix) const {
    for (const auto& [path, variable] : factories_.init_remote(buffers_, layer, name.view()).to_dict())
      if (const Text expected = dotted(name.view(), path.view()); variable.valid() && variable.name() != expected.view())
        ir().fail(
            text("PhasedLayers: '", expected, "' exists already: another name of layer ", layer, " than '", name, "' expected"));
    state_factories_.init_remote(state_buffers_, layer, dotted(optimiser_prefix, name.view()).view());
  }

  /// Makes the graphs that load and store a row of the buffers; none if there are no buffers.
  constexpr void make_transfers(const NamedRemoteBuffers& buffers, std::optional<LoadRemoteGraph>& load,
                                std::optional<GraphWithNamedArgs>& store) const {
    if (buffers.size() == 0) return;
    load.emplace(load_remote_graph(ir(), buffers, {options_.use_io_tiles}));
    store.emplace(store_remote_graph(ir(), buffers, {options_.use_io_tiles}));
  }
  /// Makes the gradient graph of a layer, which computes the layer again.
  constexpr void differentiate() {
    List<Tensor> required;
    if (needs_input_gradient()) required.push_back(input());
    for (const auto& [name, variable] : graph_.args().to_dict()) required.push_back(variable);
    const GraphWithNamedArgs backward = tilewright::autodiff(
        graph_, {.grads_provided = {{graph_.graph().outputs()[0]}}, .grads_required = required, .skips_unreached = true});
    if (ir().failed()) return;
    backward_graph_ = recompute_graph(backward);
    if (!ir().failed() && needs_input_gradient() && (gradients().empty() || gradients()[0] != input()))
      ir().fail(text("PhasedLayers: no gradient reaches the input ", to_text(input()), " of ", graph_.graph().name(),
                     layers_ > 1 ? ": a differentiable path to it expected" : ": .input_gradient = false expected"));
  }
  constexpr bool needs_input_gradient() const { return options_.input_gradient || layers_ > 1; }
  /// Returns the inputs of the layer whose gradients the gradient graph computes, in its order.
  constexpr List<Tensor> gradients() const { return backward_graph_.grad_graph_info().outputs(); }

  /// Makes the optimiser's graphs of all variables that a gradient reaches, and the factories of its state.
  constexpr void make_updates() {
    if (!load_ || ir().failed()) return;
    const NamedTensors shards = NamedTensors::pack(load_->names, load_->graph.outputs());
    Cached<typename Parameters::Optimiser> optimiser;
    for (const Tensor& of : gradients())
      for (const auto& [name, variable] : graph_.args().to_dict()) {
        if (variable != of || ir().failed()) continue;
        const Tensor shard = shards[name.view()];
        const auto [factories, graph] = optimiser.create_graph(shard, shard.spec(), parameters_);
        if (factories.size() > 0) state_factories_.insert(name.view(), factories);
        updates_.push_back({name, graph});
      }
  }
  constexpr NamedTensors load_row(const std::optional<LoadRemoteGraph>& graph, const RemoteOffset& row) const {
    const Tensor number = detail::row_tensor(ir(), row, layers_);
    if (ir().failed() || !graph) return {};
    return graph->call(number);
  }
  constexpr void step(const NamedTensors& variables, const NamedTensors& state, const NamedTensors& gradients,
                      const Parameters& parameters) const {
    for (const auto& [name, graph] : updates_) {
      if (ir().failed()) return;
      List<Tensor> inputs{variables[name.view()], gradients[name.view()]};
      for (const Tensor& tensor : detail::tensors_of(parameters)) inputs.push_back(tensor);
      NamedTensors own;
      if (state.contains(name.view())) own = state.subtree(name.view());
      graph.bind(own).call_with_inputs(inputs, {});
    }
  }

  /// Adds inputs to the current graph for what all layers share: the layer's inputs but x and the variables.
  constexpr List<Tensor> add_shared_inputs() const {
    List<Tensor> result;
    const auto inputs = graph_.graph().inputs();
    for (std::size_t i = 1; i < inputs.size(); ++i)
      if (!is_variable(inputs[i])) result.push_back(tilewright::detail::graph_input_for(ir(), inputs[i], false));
    return result;
  }
  /// Makes the graph of a forward phase: (x, row, shared inputs) to y and, of several layers, the next row.
  constexpr Graph make_forward(bool keeps_input) const {
    const Graph made = ir().create_empty_graph("forward_phase");
    if (ir().failed()) return made;
    const GraphScope scope(made);
    List<Tensor> inputs{tilewright::detail::graph_input_for(ir(), input(), false)};
    const Tensor row = graph_input(ir(), {}, uint32, "row");
    for (const Tensor& shared : add_shared_inputs()) inputs.push_back(shared);
    if (keeps_input) ops::remote_store(inputs_, row, inputs[0]);
    graph_output(graph_.bind(gather(load(row))).call_with_inputs(std::span(inputs.data(), inputs.size()), {}).output(0));
    if (layers_ > 1) graph_output(row + ir().constant(1, uint32));
    return made;
  }
  /// Makes the graph of a backward phase: (dy, number of the phase, shared inputs, the optimiser's tensors) to dx and the next
  /// number. The last row comes first.
  constexpr Graph make_backward() const {
    const Graph made = ir().create_empty_graph("backward_phase");
    if (ir().failed()) return made;
    const GraphScope scope(made);
    const Tensor dy = tilewright::detail::graph_input_for(ir(), graph_.graph().outputs()[0].spec(), false);
    const Tensor number = graph_input(ir(), {}, uint32, "number");
    const List<Tensor> shared = add_shared_inputs();
    const Parameters parameters = tilewright::detail::graph_argument<void>(ir(), parameters_);
    const Tensor row = ir().constant(static_cast<double>(layers_ - 1), uint32) - number;

    const NamedTensors shards = load(row);
    const CallSiteInfo call = call_backward(dy, ops::remote_load(inputs_, row), shared, gather(shards));
    const TensorMap found = backward_graph_.grad_graph_info().fwd_graph_ins_to_grad_parent_outs(call);
    NamedTensors gradients;
    for (const auto& [name, variable] : graph_.args().to_dict())
      if (const Tensor* gradient = found.find(variable)) gradients.insert(name.view(), *gradient);
    const NamedTensors means = reduce(gradients, shards), state = load_state(row);
    step(shards, state, means, parameters);
    store(row, shards, state);
    if (needs_input_gradient()) graph_output(found[input()]);
    if (layers_ > 1) graph_output(number + ir().constant(1, uint32));
    return made;
  }
  /// Calls the gradient graph with a layer's inputs and variables.
  constexpr CallSiteInfo call_backward(Tensor dy, Tensor x, const List<Tensor>& shared, const NamedTensors& variables) const {
    TensorMap values = graph_.args().to_mapping(variables);
    values.insert(input(), x);
    std::size_t next = 0;
    const auto inputs = graph_.graph().inputs();
    for (std::size_t i = 1; i < inputs.size(); ++i)
      if (!is_variable(inputs[i])) values.insert(inputs[i], shared[next++]);
    const GradGraphInfo info = backward_graph_.grad_graph_info();
    TensorMap args;
    int i = 0;
    for (const auto& [type, tensor] : info.expected_inputs()) {
      Tensor value = dy;
      if (type == ExpectedConnectionType::Fwd) value = values[tensor];
      args.insert(info.graph().input(i), value);
      ++i;
    }
    return backward_graph_.call_with_info(args);
  }
  /// Calls the graph of a phase for each layer. Returns the first output of the last call, if there is one.
  constexpr Tensor run(Graph graph, Tensor x, const List<Tensor>& others) const {
    if (ir().failed()) return Tensor::invalid(ir());
    List<Tensor> inputs{x, ir().constant(0, uint32)};
    for (const Tensor& other : others) inputs.push_back(other);
    const std::span<const Tensor> all(inputs.data(), inputs.size());
    if (options_.load_code) ops::remote_code_load(graph);
    const auto call = [&] {
      if (layers_ > 1) return repeat_with_info(graph, layers_, all);
      return call_with_info(graph, all);
    }();
    if (ir().failed()) return Tensor::invalid(ir());
    if (call.outputs().size() == 0) return {};
    return call.output(0);
  }

  static constexpr std::int64_t most_layers = 65536;  // more are a wrong number, and would take long to trace

  NamedVariableFactories factories_, state_factories_{};
  GraphWithNamedArgs graph_, backward_graph_;
  Parameters parameters_;
  PhasedOptions options_;
  std::int64_t layers_;
  NamedRemoteBuffers buffers_{}, state_buffers_{};
  RemoteBuffer inputs_{};
  std::optional<LoadRemoteGraph> load_{}, load_state_{};
  std::optional<GraphWithNamedArgs> store_{}, store_state_{};
  List<detail::VariableUpdate> updates_{};
  std::optional<Graph> forward_{}, evaluate_{}, backward_{};
  bool has_inputs_ = false;
};

}  // namespace tilewright::train
