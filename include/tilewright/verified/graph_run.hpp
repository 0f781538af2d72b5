#pragma once
#include <cstdint>
#include <span>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/graph/callees.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/graph/op_order.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/ops/elementwise/unary.hpp"
#include "tilewright/verified/called_graphs.hpp"
#include "tilewright/verified/graph_tensors.hpp"
#include "tilewright/verified/slices.hpp"
#include "tilewright/verified/terms.hpp"
#include "tilewright/verified/tiles/strips.hpp"

namespace tilewright::internal::proof::detail {

/// Effects of a run that others see.
struct RunEffects {
  List<List<ValueId>> stored{};  ///< by stream: the elements that go to the host, in their order
  List<std::int64_t> loaded{};  ///< by stream: the number of elements that come from the host
  std::int64_t iterations = 0;  ///< of all loops
  List<ValueId> printed{};  ///< results of ops with other effects, in their order
  List<ValueId> variables{};  ///< by variable: its value afterwards; unwritten for one in a remote buffer
  List<ValueId> rows{};  ///< by remote buffer: its rows afterwards
};

/// Runs the graphs of a program on values in place of numbers: it finds the value of each tensor, and what a run changes. Views
/// and ops in place are what the trace says; there is no schedule, no fusion and no place in memory but one for each tensor.
class GraphRun : GraphTensors {
 public:
  /// `stages`: those of a plan that may have convolutions over strips; none: it has no such. `called`: graphs that run once;
  /// those that give what no op wrote are taken from them.
  constexpr GraphRun(const Ir& ir, ValueTerms& terms, const PlanStages& stages, CalledGraphs& called)
      : GraphTensors(terms),
        ir_(ir),
        tables_(ir.tables),
        stages_(stages),
        called_(called),
        results_(ir.tables.graphs.size(), CallResult{}) {}

  constexpr RunEffects run() {
    effects_.stored.resize(tables_.streams.size());
    effects_.loaded.assign(tables_.streams.size(), 0);
    for (const RemoteBufferRecord& buffer : tables_.remote_buffers) {
      TensorSpec rows{{buffer.entries, buffer.spec.nelms()}, buffer.spec.dtype};
      buffers_.push_back(made(rows, terms_.initial(Origin::remote_row, static_cast<std::int64_t>(buffers_.size()))));
    }
    make_given();
    Scope main(tables_.record(GraphId::main));
    if (!tables_.has_contexts) run_nodes(GraphId::main, main, nullptr);
    else
      for (const ExecutionContext context :
           {ExecutionContext::WeightsFromHostFragment, ExecutionContext::Normal, ExecutionContext::WeightsToHostFragment})
        run_nodes(GraphId::main, main, &context);
    finish();
    return std::move(effects_);
  }

 private:
  /// Makes variables and constants, which are there before a run.
  constexpr void make_given() {
    variables_.resize(tables_.variables.size());
    constants_.resize(tables_.constants.size());
    for (const GraphRecord& graph : tables_.graphs)
      for (const TensorRecord& tensor : graph.tensors) {
        const bool is_constant = tensor.kind == TensorKind::constant;
        if (!is_constant && tensor.kind != TensorKind::variable) continue;
        Bound& given = (is_constant ? constants_ : variables_)[static_cast<std::size_t>(tensor.payload)];
        const Origin origin = is_constant ? Origin::constant : Origin::variable;
        if (given.memory < 0) given = made(tensor.spec, terms_.initial(origin, tensor.payload));
      }
  }
  constexpr Bound& bound(Scope& scope, TensorId tensor) { return scope.tensors[static_cast<std::size_t>(tensor)]; }
  /// Returns a tensor that a node reads.
  constexpr Bound input(Scope& scope, TensorId tensor) {
    Bound& known = bound(scope, tensor);
    if (known.memory >= 0) return known;
    const TensorRecord& record = scope.record.tensors[tensor];
    return known = (record.kind == TensorKind::constant ? constants_ : variables_)[static_cast<std::size_t>(record.payload)];
  }

  constexpr void run_nodes(GraphId graph, Scope& scope, const ExecutionContext* context) {
    tilewright::detail::for_each_op(ir_, graph, [&](std::span<const NodeId> nodes) {
      for (const NodeId n : nodes)
        if (const Node& node = scope.record.nodes[n]; context == nullptr || node.context == *context) run_node(scope, node);
    });
  }
  constexpr void run_node(Scope& scope, const Node& node) {
    if (node.op->transfer) return transfer(scope, node);
    if (node.else_graph != GraphId::none) return branch(scope, node);
    if (tilewright::detail::is_loop(node)) return loop(scope, node);
    if (node.called_graph != GraphId::none) return call(scope, node);
    if ((node.op->expand || may_expand_on_tiles(*node.op)) && run_parts(scope, node)) return;
    if (node.op->gives_memory) return void(bound(scope, node.outputs[0]) = made(scope.spec(node.outputs[0])));
    if (node.op->is_copy) return copy(scope, node);
    if (node.op->view) return view(scope, node);
    compute(scope, node);
  }
  constexpr void copy(Scope& scope, const Node& node) {
    const Bound target = input(scope, node.inputs[0]);
    write(target, read(input(scope, node.inputs[1])));
    bound(scope, node.outputs[0]) = target;
  }
  constexpr void view(Scope& scope, const Node& node) {
    Bound from = input(scope, node.inputs[0]);
    if (!node.op->any_layout && !is_dense(from.spec.shape, from.layout)) from = dense(from);
    const TensorSpec& to = scope.spec(node.outputs[0]);
    const Bound result{from.memory, node.op->view(from.spec.shape, from.layout, to.shape, node.attributes), to};
    bound(scope, node.outputs[0]) = node.op->is_alias ? result : copied(result);
  }
  /// Runs the parts of an op that stands for several. Returns whether it has any.
  constexpr bool run_parts(Scope& scope, const Node& node) {
    List<TensorSpec> operands;
    for (const auto* tensors : {&node.inputs, &node.outputs})
      for (const TensorId tensor : *tensors) operands.push_back(scope.spec(tensor));
    const auto parts = parts_in(stages_, *node.op, node.attributes, {operands.data(), operands.size()}, node.inputs.size());
    run_parts(scope, parts, node);
    return !parts.empty();
  }
  constexpr void run_parts(Scope& scope, const List<OpPart>& parts, const Node& node) {
    List<TensorId> tensors = node.inputs;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Node part{.op = parts[p].op, .attributes = parts[p].attributes};
      for (const int number : parts[p].inputs) part.inputs.push_back(tensors[static_cast<std::size_t>(number)]);
      if (p + 1 == parts.size()) part.outputs = node.outputs;
      else
        for (const TensorSpec& spec : parts[p].outputs) {
          part.outputs.push_back(TensorId(scope.tensors.size()));
          scope.tensors.push_back({});
          scope.between.push_back(spec);
        }
      for (const TensorId output : part.outputs) tensors.push_back(output);
      run_node(scope, part);
    }
  }
  constexpr Operand operand(Scope& scope, TensorId tensor) {
    const Bound from = input(scope, tensor);
    return {from.spec, read(from)};
  }
  constexpr void compute(Scope& scope, const Node& node) {
    List<Operand> inputs;
    inputs.reserve(node.inputs.size() + 1);
    for (const TensorId tensor : node.inputs) inputs.push_back(operand(scope, tensor));
    if (node.op->takes_positions) {
      const int of = ipu_rules_of(*node.op).positions_of;
      const TensorSpec positions{of < 0 ? scope.spec(node.outputs[0]).shape : inputs[static_cast<std::size_t>(of)].spec.shape,
                                 uint8};
      inputs.push_back(
          {positions, whole_of(terms_.initial(Origin::position, 0), access_of(0, positions, dense_strides(positions.shape)))});
    }
    terms_.add_op(*node.op);
    if (node.op->tag == op_info<Identity>.tag) return void(bound(scope, node.outputs[0]) = copied(input(scope, node.inputs[0])));
    const bool is_product = is_sliced(*node.op) && node.outputs.size() == 1 && inputs.size() == node.inputs.size();
    List<std::int64_t> term = terms_.term_of(node.op->tag, node.attributes, inputs, 0);
    if (is_product) terms_.add_product_term(term);
    List<ValueId> results;
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      results.push_back(terms_.result(terms_.of_output(term, o), scope.spec(node.outputs[o])));
      terms_.add_known(results.back());
    }
    if (node.op->has_side_effect && node.op->modifies < 0)
      effects_.printed.push_back(terms_.result(terms_.term_of(node.op->tag, node.attributes, inputs, -1), {}));
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const bool in_place = o == 0 && node.op->modifies >= 0;
      const Bound target = in_place ? input(scope, node.inputs[static_cast<std::size_t>(node.op->modifies)])
                                    : made(scope.spec(node.outputs[o]));
      write(bound(scope, node.outputs[o]) = target, results[o]);
    }
    if (!is_product) return;
    terms_.add_product({node.op, node.attributes, std::move(inputs), scope.spec(node.outputs[0]), results[0]});
    if (ipu_rules_of(*node.op).expand_in_blocks && !in_strips_) add_strips(scope, node, results[0]);
  }

  /// Finds the values of a convolution over strips of images, in the elements of the whole convolution.
  constexpr void add_strips(Scope& scope, const Node& node, ValueId whole) {
    List<TensorSpec> operands;
    for (const auto* tensors : {&node.inputs, &node.outputs})
      for (const TensorId tensor : *tensors) operands.push_back(scope.spec(tensor));
    in_strips_ = true;
    for (const Strips& strips : strips_in(stages_, *node.op, node.attributes, {operands.data(), operands.size()})) {
      Node copy{.op = node.op, .inputs = node.inputs, .attributes = node.attributes};
      copy.outputs.push_back(TensorId(scope.tensors.size()));
      scope.tensors.push_back({});
      scope.between.push_back(operands.back());
      const std::size_t product = terms_.products().size();
      run_parts(scope, strips.parts, copy);
      const ValueId value = terms_.products()[product].value;
      if (const Shape& shape = operands.back().shape; strips.shape.nelms() < shape.nelms()) {
        write(bound(scope, node.outputs[0]), data_of(terms_, *node.op, node.attributes, operands, value));
        terms_.add_equal(whole, read(bound(scope, node.outputs[0])), shape);
      } else {
        const ValueId rest = terms_.initial(Origin::position, 1 + static_cast<std::int64_t>(value));  // of the last blocks
        const Content found = read(bound(scope, copy.outputs[0]));
        terms_.add_equal(value, in_elements_of(whole, found, shape, value, strips.shape, rest), strips.shape);
      }
    }
    in_strips_ = false;
  }

  // ---- loads and stores

  constexpr void transfer(Scope& scope, const Node& node) {
    const Transfer transfer = node.op->transfer(node.attributes);
    if (transfer.kind == TransferKind::stream) transfer.stores ? store(scope, node, transfer) : load(scope, node, transfer);
    if (transfer.kind == TransferKind::remote)
      transfer.stores ? store_row(scope, node, transfer) : load_row(scope, node, transfer);
  }
  /// Returns where a load puts its result.
  constexpr Bound target_of(Scope& scope, const Node& node) {
    const Bound target = node.op->modifies >= 0 ? input(scope, node.inputs[static_cast<std::size_t>(node.op->modifies)])
                                                : made(scope.spec(node.outputs[0]));
    return bound(scope, node.outputs[0]) = target;
  }
  constexpr void load(Scope& scope, const Node& node, const Transfer& transfer) {
    const std::int64_t element = effects_.loaded[static_cast<std::size_t>(transfer.number)]++;
    const Bound target = target_of(scope, node);
    write(target, terms_.initial(Origin::stream, transfer.number, element));
  }
  constexpr void store(Scope& scope, const Node& node, const Transfer& transfer) {
    effects_.stored[static_cast<std::size_t>(transfer.number)].push_back(
        number_of(input(scope, node.inputs[static_cast<std::size_t>(transfer.tensor)])));
  }
  /// Returns all rows of a remote buffer, or the one that the trace knows.
  constexpr Bound rows_of(const Transfer& transfer) const {
    Bound table = buffers_[static_cast<std::size_t>(transfer.number)];
    if (transfer.row < 0) return table;
    table.layout.offset += transfer.row * table.spec.shape[1];
    table.spec.shape = {1, table.spec.shape[1]};
    return table;
  }
  constexpr Operand vector_of(Scope& scope, TensorId tensor) {
    const Bound from = dense(input(scope, tensor));
    const Bound vector{from.memory, dense_layout({from.spec.nelms()}), {{from.spec.nelms()}, from.spec.dtype}};
    return {vector.spec, read(vector)};
  }
  constexpr ValueId row_result(const Node& node, const Transfer& transfer, const List<Operand>& inputs, const TensorSpec& spec) {
    const OpInfo& op = transfer.kernel ? *transfer.kernel : *node.op;
    terms_.add_op(op);
    const ValueId result = terms_.result(terms_.term_of(op.tag, {}, inputs, 0), spec);
    terms_.add_known(result);
    return result;
  }
  constexpr void load_row(Scope& scope, const Node& node, const Transfer& transfer) {
    const Bound rows = rows_of(transfer);
    List<Operand> inputs{{rows.spec, read(rows)}};
    if (transfer.offset >= 0) inputs.push_back(vector_of(scope, node.inputs[static_cast<std::size_t>(transfer.offset)]));
    const Bound target = target_of(scope, node);
    const ValueId result = row_result(node, transfer, inputs, {{target.spec.nelms()}, target.spec.dtype});
    write(target, result);
  }
  /// A store to a row that only the run knows depends on the other rows, which stay.
  constexpr void store_row(Scope& scope, const Node& node, const Transfer& transfer) {
    const Bound rows = rows_of(transfer);
    List<Operand> inputs{vector_of(scope, node.inputs[static_cast<std::size_t>(transfer.tensor)])};
    if (transfer.offset >= 0) {
      inputs.push_back(vector_of(scope, node.inputs[static_cast<std::size_t>(transfer.offset)]));
      inputs.push_back({rows.spec, read(rows)});
      terms_.add_row_store((transfer.kernel ? transfer.kernel : node.op)->tag);
    }
    const ValueId result = row_result(node, transfer, inputs, rows.spec);
    write(rows, result);
  }

  // ---- calls

  /// Runs a graph, whose inputs are the node's from `first` on. `inputs`: what it gets, changed ones by reference.
  constexpr List<Bound> run_graph(GraphId graph, const List<Bound>& inputs) {
    List<Operand> operands;
    bool runs_once = called_.runs_once(graph);
    for (std::size_t i = 0; i < inputs.size() && runs_once; ++i) {
      operands.push_back({inputs[i].spec, read(inputs[i])});
      runs_once = is_written(operands.back());
    }
    if (!runs_once || !find_result(graph)) return run_call(graph, inputs);
    const CallResult& result = results_[graph];
    const auto is_changed = [&](std::size_t i) {
      return result.inputs[i] != terms_.initial(Origin::input, static_cast<std::int64_t>(i));
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (inputs[i].memory == inputs[k].memory && (is_changed(i) || is_changed(k))) return run_call(graph, inputs);
    List<Bound> outputs;
    for (std::size_t o = 0; o < result.outputs.size(); ++o) {
      const GraphRecord& record = tables_.record(graph);
      outputs.push_back(made(record.tensors[record.outputs[o]].spec));
      write(outputs.back(), terms_.call(result.outputs[o], outputs.back().spec, operands));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_changed(i)) write(inputs[i], terms_.call(result.inputs[i], inputs[i].spec, operands));
    return outputs;
  }
  /// Finds what a graph makes of any inputs. Returns whether calls may use it.
  constexpr bool find_result(GraphId graph) {
    if (std::exchange(results_[graph].is_known, true)) return called_.runs_once(graph);
    const GraphRecord& record = tables_.record(graph);
    List<Bound> inputs;
    for (const TensorId input : record.inputs)
      inputs.push_back(made(record.tensors[input].spec, terms_.initial(Origin::input, static_cast<std::int64_t>(inputs.size()))));
    const List<Bound> outputs = run_call(graph, inputs);
    const auto numbers_of = [&](const List<Bound>& tensors) {
      List<ValueId> numbers;
      for (const Bound& each : tensors) {
        if (!is_written({each.spec, read(each)})) called_.run_each_call(graph);
        numbers.push_back(number_of(each));
      }
      return numbers;
    };
    results_[graph].inputs = numbers_of(inputs);
    results_[graph].outputs = numbers_of(outputs);
    return called_.runs_once(graph);
  }
  constexpr List<Bound> run_call(GraphId graph, const List<Bound>& inputs) {
    Scope scope(tables_.record(graph));
    for (std::size_t i = 0; i < inputs.size(); ++i) bound(scope, scope.record.inputs[i]) = inputs[i];
    run_nodes(graph, scope, nullptr);
    List<Bound> outputs;
    for (const TensorId output : scope.record.outputs) outputs.push_back(copied(input(scope, output)));
    return outputs;
  }
  constexpr Bound argument(Scope& scope, const Node& node, std::size_t number) {
    const Bound given = input(scope, node.inputs[number]);
    return has_item(node.modified, static_cast<int>(number)) ? given : copied(given);
  }
  constexpr List<Bound> arguments(Scope& scope, const Node& node, GraphId graph, std::size_t first) {
    List<Bound> inputs;
    for (std::size_t i = 0; i < tables_.record(graph).inputs.size(); ++i) inputs.push_back(argument(scope, node, first + i));
    return inputs;
  }
  constexpr void call(Scope& scope, const Node& node) {
    const List<Bound> outputs = run_graph(node.called_graph, arguments(scope, node, node.called_graph, 0));
    for (std::size_t o = 0; o < node.outputs.size(); ++o) bound(scope, node.outputs[o]) = outputs[o];
  }
  constexpr void branch(Scope& scope, const Node& node) {
    const ValueId condition = condition_of(input(scope, node.inputs[0]));
    const auto then_inputs = static_cast<std::size_t>(unpack<ConditionalAttributes>(node.attributes).then_inputs);
    const auto given = arguments(scope, node, node.called_graph, 1);
    const auto otherwise = arguments(scope, node, node.else_graph, 1 + then_inputs);
    const SharedMemories before = memories_;
    List<Bound> outputs = run_graph(node.called_graph, given);
    for (Bound& each : outputs) each = dense(each);
    SharedMemories after = std::move(memories_);
    memories_ = before;
    List<Bound> others = run_graph(node.else_graph, otherwise);
    for (Bound& each : others) each = dense(each);
    const auto choose = [&](const Content& a, const Content& b) { return terms_.choice(condition, a, b); };
    SharedMemories both = SharedMemories::joined(after, memories_, before.size(), choose);
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {  // both are dense in memories of their own
      const int number = both.add(Memory::joined(after.memory(outputs[o].memory), memories_.memory(others[o].memory), choose));
      bound(scope, node.outputs[o]) = {number, outputs[o].layout, outputs[o].spec};
    }
    memories_ = std::move(both);
  }
  constexpr void loop(Scope& scope, const Node& node) {
    const auto attributes = unpack<LoopAttributes>(node.attributes);
    effects_.iterations += attributes.count;
    const auto carried = static_cast<std::size_t>(attributes.carried), sliced = static_cast<std::size_t>(attributes.sliced);
    List<Bound> given;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) given.push_back(argument(scope, node, i));
    List<Bound> outputs;
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      outputs.push_back(o < carried ? given[o] : made(scope.spec(node.outputs[o])));
    for (std::int64_t n = 0; n < attributes.count; ++n) {
      const std::int64_t row = attributes.reversed != 0 ? attributes.count - 1 - n : n;
      List<Bound> inputs = given;
      for (std::size_t i = carried; i < inputs.size(); ++i)
        if (i < carried + sliced) inputs[i] = row_of(given[i], row);
        else if (!has_item(node.modified, static_cast<int>(i))) inputs[i] = copied(given[i]);  // for each iteration
      const List<Bound> results = run_graph(node.called_graph, inputs);
      for (std::size_t o = 0; o < node.outputs.size(); ++o) {
        if (o < carried) given[o] = outputs[o] = results[o];
        else write(row_of(outputs[o], row), read(results[o]));
      }
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) bound(scope, node.outputs[o]) = outputs[o];
  }
  constexpr void finish() {
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const bool is_remote = tables_.variables[v].remote_buffer >= 0;
      effects_.variables.push_back(is_remote ? ValueId::unwritten : number_of(variables_[v]));
    }
    for (const Bound& rows : buffers_) effects_.rows.push_back(number_of(rows));
  }

  const Ir& ir_;
  const IrTables& tables_;
  PlanStages stages_;
  CalledGraphs& called_;
  List<CallResult, GraphId> results_;  // of graphs that run once
  bool in_strips_ = false;  // whether a convolution over strips runs
  List<Bound> variables_{}, constants_{};  // by number
  List<Bound> buffers_{};  // all rows of each remote buffer
  RunEffects effects_{};
};

}  // namespace tilewright::internal::proof::detail
