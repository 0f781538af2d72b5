#pragma once
#include <cstddef>
#include <span>

#include "tilewright/graph/ir.hpp"
#include "tilewright/ops/reduce/sum.hpp"
#include "tilewright/verified/terms.hpp"
#include "tilewright/verified/tiles/strips.hpp"

namespace tilewright::internal::proof::detail {

/// Records which ops a plan of a program may have, with which attributes and numbers of operands: those of the graphs, of the
/// parts that stand for them, and those that combine partial results. The functions of an op are called for no others.
class OpUses {
 public:
  constexpr OpUses(const Ir& ir, ValueTerms& terms, const PlanStages& stages) : ir_(ir), terms_(terms), stages_(stages) {}

  constexpr void run() {
    terms_.add_use(op_info<ReduceSum>.tag, pack(ReduceSum::make(Axes(0), false)), 1, 1);
    for (const GraphRecord& graph : ir_.tables.graphs)
      for (const Node& node : graph.nodes) {
        List<TensorSpec> specs;
        for (const auto* tensors : {&node.inputs, &node.outputs})
          for (const TensorId tensor : *tensors) specs.push_back(graph.tensors[tensor].spec);
        if (node.called_graph == GraphId::none) add(*node.op, node.attributes, specs, node.inputs.size());
      }
  }

 private:
  using Specs = List<TensorSpec>;

  constexpr void add(const OpInfo& op, const PackedAttributes& attributes, const Specs& specs, std::size_t inputs) {
    if (op.transfer) {
      const Transfer transfer = op.transfer(attributes);
      if (transfer.kind == TransferKind::remote)
        terms_.add_use((transfer.kernel ? transfer.kernel : &op)->tag, {}, transfer.offset >= 0 ? 2 : 1, 1);
      return;
    }
    const std::span<const TensorSpec> all(specs.data(), specs.size());
    if (const List<OpPart> parts = parts_in(stages_, op, attributes, all, inputs); !parts.empty())
      return add_parts(parts, specs, inputs);
    const std::size_t given = inputs + (op.takes_positions ? 1 : 0), outputs = specs.size() - inputs;
    terms_.add_use(op.tag, attributes, given, outputs);
    if (op.partials) {
      const Partials how = op.partials(attributes);
      if (how.combiner) terms_.add_use(how.combiner->tag, how.attributes, 1, 1);
      if (how.whole_input >= 0) terms_.add_use(op.tag, attributes, given + 1, outputs);
    }
    if (ipu_rules_of(op).expand_in_blocks && !in_strips_) {
      in_strips_ = true;
      for (const Strips& strips : strips_in(stages_, op, attributes, all)) add_parts(strips.parts, specs, inputs);
      in_strips_ = false;
    }
  }
  /// `specs`: of the inputs and outputs of the op for which the parts stand.
  constexpr void add_parts(const List<OpPart>& parts, const Specs& specs, std::size_t inputs) {
    Specs tensors(specs.begin(), specs.begin() + inputs);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Specs own;
      for (const int number : parts[p].inputs) own.push_back(tensors[static_cast<std::size_t>(number)]);
      const std::size_t count = own.size();
      if (p + 1 == parts.size()) {
        for (std::size_t o = inputs; o < specs.size(); ++o) own.push_back(specs[o]);
      } else {
        for (const TensorSpec& spec : parts[p].outputs) own.push_back(spec);
      }
      for (std::size_t o = count; o < own.size(); ++o) tensors.push_back(own[o]);
      add(*parts[p].op, parts[p].attributes, own, count);
    }
  }

  const Ir& ir_;
  ValueTerms& terms_;
  PlanStages stages_;
  bool in_strips_ = false;
};

}  // namespace tilewright::internal::proof::detail
