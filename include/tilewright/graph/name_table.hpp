#pragma once
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/records.hpp"

namespace tilewright::detail {

/// Returns the slot of a name in a table, or the empty slot where it belongs. The table is at most half full, and not empty.
template <class Number>
constexpr std::size_t name_slot(const NameTable<Number>& table, const auto& records, std::string_view name, std::size_t hashed) {
  std::size_t at = hashed % table.size();
  while (table[at].second != Number(-1) &&
         (table[at].first != hashed || !same_characters(records[table[at].second].name.view(), name)))
    at = (at + 1) % table.size();
  return at;
}
/// Makes room for the name of one more record.
template <class Number>
constexpr void make_room_for_name(NameTable<Number>& table, const auto& records) {
  if (2 * (records.size() + 1) <= table.size()) return;
  const auto old = std::exchange(table, NameTable<Number>(4 * records.size() + 16, {0, Number(-1)}));
  for (const auto& entry : old)
    if (entry.second != Number(-1)) table[name_slot(table, records, records[entry.second].name.view(), entry.first)] = entry;
}
/// Returns the tensor with the given name, or none.
constexpr TensorId find_name(const GraphRecord& graph, std::string_view name) {
  if (graph.name_table.empty() || name.empty()) return TensorId::none;
  return graph.name_table[name_slot(graph.name_table, graph.tensors, name, hash_of(name))].second;
}
/// Enters a tensor's name, with `__t<counter>` appended while the name is taken. Returns the final name.
constexpr Text enter_name(GraphRecord& graph, Text name, TensorId id, int& counter) {
  auto& table = graph.name_table;
  make_room_for_name(table, graph.tensors);
  const Text wished = name;
  std::size_t hashed = hash_of(name.view()), at = name_slot(table, graph.tensors, name.view(), hashed);
  while (table[at].second != TensorId::none) {
    name = text(wished, "__t", counter++);
    hashed = hash_of(name.view());
    at = name_slot(table, graph.tensors, name.view(), hashed);
  }
  table[at] = {hashed, id};
  return name;
}

}  // namespace tilewright::detail
