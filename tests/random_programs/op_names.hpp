#pragma once
// The ops that random programs have.
#include <set>
#include <string>

#include "program.hpp"

namespace random_programs {

/// Adds the names of an op and of those that it stands for.
inline void add_names(std::set<std::string>& names, const tw::OpInfo& op, std::vector<TensorSpec> operands, int inputs,
                      const tw::PackedAttributes& attributes) {
  names.insert(std::string(op.name));
  if (!op.expand) return;
  std::vector<TensorSpec> known(operands.begin(), operands.begin() + inputs);
  for (const tw::OpPart& part : op.expand(operands, inputs, attributes)) {
    std::vector<TensorSpec> of_part;
    for (const int input : part.inputs) of_part.push_back(known[static_cast<std::size_t>(input)]);
    const auto count = static_cast<int>(of_part.size());
    tw::List<TensorSpec> outputs = part.outputs;
    if (outputs.empty()) outputs.push_back(operands[static_cast<std::size_t>(inputs)]);
    for (const TensorSpec& output : outputs) of_part.push_back(output), known.push_back(output);
    add_names(names, *part.op, of_part, count, part.attributes);
  }
}
/// Of the programs of so many seeds, with and without gradients.
inline std::set<std::string> op_names(std::uint64_t first, std::uint64_t count) {
  std::set<std::string> names;
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    for (const bool gradients : {false, true}) {
      Ir ir;
      add_program(ir, seed, "s.", {.gradients = gradients});
      for (const tw::GraphRecord& graph : ir.tables.graphs)
        for (const tw::Node& node : graph.nodes) {
          std::vector<TensorSpec> operands;
          for (const tw::TensorId input : node.inputs) operands.push_back(graph.tensors[input].spec);
          for (const tw::TensorId output : node.outputs) operands.push_back(graph.tensors[output].spec);
          add_names(names, *node.op, operands, static_cast<int>(node.inputs.size()), node.attributes);
        }
    }
  return names;
}

}  // namespace random_programs
