#pragma once
#include "tilewright/core/requirements.hpp"

#include <span>

#include "tilewright/core/text.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/lower/verify.hpp"

namespace tilewright::internal {

namespace detail {

constexpr Text print_extents(const auto& extents) {
  Text result;
  for (int axis = 0; axis < extents.size(); ++axis) result += text(axis > 0 ? " x " : "", extents[axis]);
  return result;
}
/// Returns the text of a set of tiles; an empty text for the first set.
constexpr Text print_set(int set) {
  if (set == 0) return {};
  return text(" of set ", set);
}
/// Returns the number of places of blocks or vertices: 64 places on tiles.
constexpr Text print_places(const Places& places) {
  Text result = text(places.count, " places on tiles", print_set(places.set));
  if (places.first_tile != 0) result += text(" from tile ", places.first_tile);
  return result;
}
/// Returns the extents of a storage's blocks, the axis of the largest stride first, and their places.
constexpr Text print_layout(const TileLayout& layout) {
  Text result = "blocks of ";
  for (int axis = 0; axis < layout.axes.size(); ++axis) result += text(axis > 0 ? " x " : "", layout.axes[axis].block);
  if (layout.axes.size() == 0) result += "1";
  return result += text(" in ", print_places(layout.places));
}
/// Returns a room on tiles, and the groups that use it.
constexpr Text print_room(const Room& room) {
  constexpr std::string_view kinds[] = {"storage", "received of storage", "sent of storage", "scratch", "called bodies"};
  Text result = text("  room on tiles", print_set(room.set), ": ", kinds[static_cast<int>(room.kind)]);
  if (room.storage != StorageId::none) result += text(" ", room.storage);
  return result += text(", bytes ", room.address, " to ", room.address + room.bytes, ", groups ", room.first, " to ", room.last,
                        "\n");
}
constexpr Text print_storage(const BodyDraft& draft, const TileMap* tiles, StorageId s) {
  const Storage& storage = draft.storage(s);
  Text result = text("  storage ", s, ": ", to_text(storage.whole), ", ", name_of(storage.location.base));
  if (storage.location.base == Base::argument || storage.location.base == Base::stream)
    result += text(" ", storage.location.index);
  if (storage.location.offset != 0) result += text(" + ", storage.location.offset);
  if (storage.internal) result += ", internal";
  if (storage.reuses != StorageId::none) result += text(", reuses storage ", storage.reuses);
  if (tiles != nullptr && !tiles->layouts.empty() && tiles->layouts[s].is_decided())
    result += text(", ", print_layout(tiles->layouts[s]));
  return result += "\n";
}
/// Returns a storage's number; for a part of it also the offset in elements, and the shape.
constexpr Text print_value(const BodyDraft& draft, const Value& value) {
  Text result = text(value.storage);
  if (is_whole_and_dense(value, draft.storage(value.storage))) return result;
  if (is_whole_with_channels_last(value, draft.storage(value.storage))) return result += "[channels last]";
  return result += text("[", value.layout.offset, ": ", to_text(value.spec.shape), "]");
}
/// Returns an operation as text, with the storages of inputs and outputs: MatMul(0, 1) -> 2.
constexpr Text print_operation(const BodyDraft& draft, int i) {
  const Operation& operation = draft.operations[i];
  const Calling& calling = operation.calling;
  Text result = text("operation ", i, ": ");
  if (operation.op) result += operation.op->name;
  else result += text(operation.loads_code ? "load the code of body " : "call body ", calling.body);
  if (calling.else_body != BodyId::none) result += text(" or ", calling.else_body);
  if (calling.loop) result += text(" ", calling.loop->count, " times");
  if (operation.loads_code) return result;
  for (std::size_t o = 0; o < operation.operands.size(); ++o) {
    const bool is_output = operation.is_output(static_cast<int>(o));
    if (is_output && static_cast<int>(o) == operation.input_count) result += o == 0 ? "() -> " : ") -> ";
    else result += o == 0 ? "(" : ", ";
    result += print_value(draft, operation.operands[o]);
  }
  if (operation.partial) result += ", partials";
  if (operation.stream >= 0) result += text(", moves stream ", operation.stream);
  if (operation.exchange >= 0) result += text(", exchange ", operation.exchange);
  return result;
}
constexpr Text print_group(const BodyDraft& draft, const TileMap* tiles, int g) {
  constexpr std::string_view evaluations[] = {"", " (in an expression)", " (in an epilogue)"};
  const Group& group = draft.groups[g];
  FixedVector<std::int64_t, max_work_axes> extents;
  for (const WorkAxis& axis : group.grid) extents.push_back(axis.extent);
  const bool is_cut = !draft.cuts.empty() && !draft.cuts[g].evaluations.kinds.empty();
  Text result = text("  group ", g);
  if (extents.size() > 0) result += text(" over ", print_extents(extents));
  if (is_cut)
    result += text(": ", draft.cuts[g].partition.vertices, " vertices of ", print_extents(draft.cuts[g].partition.blocks));
  if (tiles != nullptr && !tiles->groups.empty() && tiles->groups[g].grid.places.count > 0)
    result += text(" in ", print_places(tiles->groups[g].grid.places));
  result += "\n";
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    result += text("    ", print_operation(draft, group.members[m].operation));
    if (is_cut) result += evaluations[static_cast<int>(draft.cuts[g].evaluations.kinds[m])];
    if (is_cut && draft.cuts[g].evaluations.in_registers[m]) result += ", in registers";
    if (is_cut && (draft.cuts[g].evaluations.by_image >> m & 1) != 0) result += ", one image at a time";
    result += "\n";
  }
  return result;
}

}  // namespace detail

/// Returns a draft as text: its storages, its operations, in groups if it has them, and their rooms on tiles. Operands are
/// numbers of storages.
constexpr Text print_draft(const BodyDraft& draft, const TileMap* tiles = nullptr) {
  Text result;
  for (std::size_t s = 0; s < draft.storages.size(); ++s) result += detail::print_storage(draft, tiles, StorageId(s));
  if (draft.groups.empty())
    for (std::size_t i = 0; i < draft.operations.size(); ++i)
      result += text("  ", detail::print_operation(draft, static_cast<int>(i)), "\n");
  for (std::size_t g = 0; g < draft.groups.size(); ++g) result += detail::print_group(draft, tiles, static_cast<int>(g));
  if (tiles != nullptr)
    for (const Room& room : tiles->rooms) result += detail::print_room(room);
  return result;
}

namespace detail {
/// An observer of `lower` that prints the result of each pass, and its first violation.
class PassPrinter {
 public:
  constexpr void operator()(Pass after, BodyId body, const auto& draft, const Plan& plan) {
    printed_ += text("Body ", body, " after ", name_of(after), "\n");
    if (!changes_draft(after)) return;
    printed_ += print_draft(draft, tiles_of(draft));
    if (const Text violation = find_violation(draft, after, body, plan); !violation.empty())
      printed_ += text("  VIOLATION ", violation, "\n");
  }
  constexpr void operator()(const Plan& plan) { printed_ += print_plan(plan); }
  constexpr const Text& printed() const { return printed_; }

 private:
  Text printed_{};
};

}  // namespace detail

/// Plans a prepared program and prints the list of the machine's passes, the result of each pass, and finally the plan, to show
/// how the planner works. Called bodies come first. A violation of a pass's contract is a line `VIOLATION`. Errors: those of
/// `lower`.
constexpr Text print_passes(const Prepared& prepared) {
  detail::PassPrinter printer;
  lower(prepared, printer);
  const auto list = prepared.target().ipu == nullptr ? planner_for(prepared.target()).passes : std::span(IpuPlanner::passes);
  Text names;
  for (const Pass pass : list) names += text(names.empty() ? "Passes: " : ", ", name_of(pass));
  return text(names, "\n", printer.printed());
}

}  // namespace tilewright::internal

namespace tilewright {
using internal::print_passes;
}  // namespace tilewright
