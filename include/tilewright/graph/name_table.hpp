#pragma once
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/records.hpp"

namespace tilewright::detail {

/// The slot of a name in a graph's table, or the empty slot where it belongs. The table is at most half full, and not empty.
constexpr std::size_t name_slot(const GraphRecord& graph, std::string_view name, std::size_t hashed) {
  std::size_t at = hashed % graph.name_table.size();
  while (graph.name_table[at].second != TensorId::none &&
         (graph.name_table[at].first != hashed || !same_characters(graph.tensors[graph.name_table[at].second].name.view(), name)))
    at = (at + 1) % graph.name_table.size();
  return at;
}
/// The tensor of that name, or none.
constexpr TensorId find_name(const GraphRecord& graph, std::string_view name) {
  if (graph.name_table.empty() || name.empty()) return TensorId::none;
  return graph.name_table[name_slot(graph, name, hash_of(name))].second;
}
/// Enters a name, to which `__t<counter>` is appended as long as it is taken. Returns what it became.
constexpr Text enter_name(GraphRecord& graph, Text name, TensorId id, int& counter) {
  if (2 * (graph.tensors.size() + 1) > graph.name_table.size()) {
    const auto old = std::exchange(graph.name_table, NameTable(4 * graph.tensors.size() + 16, {0, TensorId::none}));
    for (const auto& entry : old)
      if (entry.second != TensorId::none)
        graph.name_table[name_slot(graph, graph.tensors[entry.second].name.view(), entry.first)] = entry;
  }
  const Text wished = name;
  std::size_t hashed = hash_of(name.view()), at = name_slot(graph, name.view(), hashed);
  while (graph.name_table[at].second != TensorId::none) {
    name = text(wished, "__t", counter++);
    hashed = hash_of(name.view());
    at = name_slot(graph, name.view(), hashed);
  }
  graph.name_table[at] = {hashed, id};
  return name;
}

}  // namespace tilewright::detail
