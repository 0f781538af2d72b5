#pragma once
#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/lower/memory/planned_program.hpp"
#include "tilewright/lower/program/code_memory.hpp"

namespace tilewright::internal {

namespace detail {

/// Returns the three largest tensors of the program, for the error text.
constexpr Text largest_tensors(const Ir& ir, const LiveCode& live) {
  struct Named {
    std::int64_t bytes;
    Text name;
  };
  List<Named> all;
  for (const GraphId graph : live.order) {
    const GraphRecord& record = ir.tables.record(graph);
    for (const TensorRecord& tensor : record.tensors) {
      Text name = tensor.name;
      if (name.empty() && tensor.producer != NodeId::none) {
        const Node& node = record.nodes[tensor.producer];
        name = text(node.op->name, ".", node.id);
      }
      if (tensor.kind != TensorKind::input && tensor.kind != TensorKind::remote)
        all.push_back({tensor.spec.bytes(), text(name, " ", to_text(tensor.spec), " ", tensor.spec.bytes(), " bytes")});
    }
  }
  sort_items(all, [](const Named& a, const Named& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name; });
  List<Text> names;
  for (std::size_t i = 0; i < all.size() && i < 3; ++i) names.push_back(all[i].name);
  return join(names, ", ");
}

/// Returns the bytes of tile 0, which has a part of everything: tensors are spread evenly over the tiles, the operands of its
/// vertex come together on it, and it has all code.
constexpr std::int64_t fullest_tile(const MemoryUse& memory, const ComputeSets& sets, const Target& target) {
  const auto share = [&](std::int64_t bytes) { return (bytes + target.tiles - 1) / target.tiles; };
  return share(memory.variables) + share(memory.constants) + share(memory.frame) + memory.code + memory.loaded_code +
         sets.largest_vertex();
}

}  // namespace detail

/// Counts the bytes of the host's fullest tile, after all other memory of the plan is counted. Error: the target's tiles have
/// less.
constexpr void count_even_memory(const List<CodeUse>& code, Planning& planning) {
  const Target& target = planning.target;
  MemoryUse& memory = planning.plan.memory;
  memory.code = code[0].always.total();
  memory.loaded_code = code[0].loaded.total();
  memory.fullest_tile = detail::fullest_tile(memory, planning.compute_sets, target);
  if (target.checks_memory() && memory.fullest_tile > target.bytes_per_tile)
    planning.plan.fail(text(memory_error, "tile 0 of ", target.tiles, " needs ", memory.fullest_tile, " bytes: at most ",
                            target.bytes_per_tile,
                            " expected; largest tensors: ", detail::largest_tensors(planning.ir, planning.live)));
}

}  // namespace tilewright::internal
