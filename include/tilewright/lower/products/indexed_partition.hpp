#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/lower/products/product_partition.hpp"
#include "tilewright/rules/ipu/rules_of_ops.hpp"
#include "tilewright/target/ipu_exchange_cycles.hpp"
#include "tilewright/target/ipu_indexed_cycles.hpp"
#include "tilewright/target/ipu_reduction_cycles.hpp"

namespace tilewright::internal {

/// Role of an axis in the work of an op whose indices map rows of a table to those of another operand.
enum class IndexedAxis : std::uint8_t {
  entry,   ///< the indexed axis of the table
  lookup,  ///< an axis of the indices
  outer,   ///< an axis of both tensors before the indexed one, or of all operands
  row      ///< an axis of both tensors after the indexed one
};

/// Returns whether it is an indexed op whose cut is chosen by cycles.
constexpr bool is_cut_by_index(const Operation& operation) {
  return operation.op->work_kind == WorkKind::indexed && ipu_rules_of(*operation.op).indexed.are_given();
}

/// Operands of such an op.
class IndexedRoles {
 public:
  constexpr explicit IndexedRoles(const Operation& operation) : operation_(operation) {
    const IndexedOperands& of = ipu_rules_of(*operation.op).indexed;
    table_ = of.table < 0 ? operation.input_count : of.table;
    rows_ = of.rows < 0 ? operation.input_count : of.rows;
    indices_ = of.indices;
    const Work& work = operation.work;
    const Shape& table = operation.operands[table_].spec.shape;
    for (int axis = 0; axis < table.rank; ++axis)
      if (const int to = work.follows(table_, axis); to < 0 || !work.has_follower(rows_, to)) entry_ = axis;
  }
  constexpr int table() const { return table_; }
  constexpr int rows() const { return rows_; }
  constexpr int indices() const { return indices_; }
  constexpr IndexedAxis role(int axis) const {
    const Work& work = operation_.work;
    if (!work.has_follower(table_, axis)) return IndexedAxis::lookup;
    if (!work.has_follower(rows_, axis)) return IndexedAxis::entry;
    if (work.has_follower(indices_, axis)) return IndexedAxis::outer;
    for (int a = entry_ + 1; a < operation_.operands[table_].spec.shape.rank; ++a)
      if (work.follows(table_, a) == axis) return IndexedAxis::row;
    return IndexedAxis::outer;
  }
  /// Returns the elements of a row that follow each other, of a block of the table. `extent_of`: of an axis of the work.
  constexpr std::int64_t row_elements(const auto& extent_of) const {
    const Shape& table = operation_.operands[table_].spec.shape;
    std::int64_t elements = 1;
    for (int a = entry_ + 1; a < table.rank; ++a) {
      const int axis = operation_.work.follows(table_, a);
      if (axis < 0 || role(axis) == IndexedAxis::row) elements *= axis < 0 ? table[a] : extent_of(axis);
    }
    return elements;
  }

 private:
  const Operation& operation_;
  int table_ = 0, rows_ = 0, indices_ = 0;
  int entry_ = 0;  // the indexed axis of the table
};

/// Extents by role: those of an op, or the parts into which it is cut.
struct IndexedExtents {
  std::int64_t entries = 1, lookups = 1, outer = 1, row = 1;
  constexpr std::int64_t all() const { return entries * lookups * outer * row; }
};

namespace detail {

/// Searches for the cut of an indexed op with the fewest cycles, as poplibs plans multiSlice and multiUpdateAdd together
/// (sdk-release-3.4): the op has the same cut for reading a table and for its update, so that the table
/// lies where both need it. Indices are assumed to be evenly distributed.
class IndexedSearch {
 public:
  constexpr IndexedSearch(const IndexedExtents& of, DType dtype, std::int64_t index_bytes, const Target& target)
      : of_(of), dtype_(dtype), index_bytes_(index_bytes), target_(target), model_{*target.ipu} {}

  constexpr IndexedExtents best() {
    const std::int64_t grain = std::max<std::int64_t>(1, model_.data_path_bytes / size_of(dtype_));
    const std::int64_t grains = block_count(of_.row, grain), most_rows = (std::min)(grains, target_.tiles);
    for (std::int64_t outer = 1;; outer = (std::min)(2 * outer, of_.outer)) {
      for (std::int64_t row = 1; row <= most_rows && outer * row <= target_.tiles; row = next_count(grains, row))
        for (std::int64_t lookups = 1; lookups <= of_.lookups && outer * row * lookups <= target_.tiles; lookups *= 2)
          consider({1, lookups, outer, row});
      if (outer >= (std::min)(of_.outer, target_.tiles)) break;
    }
    return best_;
  }

 private:
  /// Returns the smallest number of parts that makes blocks of `extent` smaller than `parts` parts do.
  static constexpr std::int64_t next_count(std::int64_t extent, std::int64_t parts) {
    const std::int64_t block = block_count(extent, parts);
    return block == 1 ? extent + 1 : block_count(extent, block - 1);
  }
  /// Tries numbers of parts of the table's entries: as many as there are tiles, and fewer.
  constexpr void consider(IndexedExtents parts) {
    const std::int64_t most = (std::min)(target_.tiles / parts.all(), std::max<std::int64_t>(1, of_.entries / least_entries));
    for (parts.entries = most;; parts.entries /= 2) {
      price(parts);
      if (parts.entries == 1) return;
    }
  }
  constexpr void price(const IndexedExtents& parts) {
    const IndexedExtents tile{block_count(of_.entries, parts.entries), block_count(of_.lookups, parts.lookups),
                              block_count(of_.outer, parts.outer), block_count(of_.row, parts.row)};
    const std::int64_t bytes_per_element = size_of(dtype_);
    const std::int64_t table = tile.entries * tile.outer * tile.row * bytes_per_element;
    const std::int64_t spread = block_count(of_.entries * of_.outer * of_.row * bytes_per_element, target_.tiles);
    const std::int64_t offsets = tile.lookups * tile.outer, rows = offsets * tile.row * bytes_per_element;
    // an update adds all rows where the table's are, in a part of the block for each of the tiles that read it
    const std::int64_t added = of_.lookups * tile.outer, added_bytes = added * tile.row * bytes_per_element;
    const std::int64_t bytes = (parts.lookups > 1 ? table : 0) + added * index_bytes_ + (std::max)(2 * rows, added_bytes);
    const auto limit = static_cast<std::int64_t>(default_memory_proportion * static_cast<double>(target_.bytes_per_tile));
    const bool fits = !target_.checks_memory() || bytes <= limit;
    // A table that does not lie evenly on tiles costs as much as its exchange, so that a large one uses all tiles.
    std::int64_t cycles = phase(offsets * index_bytes_) + phase(table > spread ? table - spread : 0);
    const std::int64_t of_worker = block_count(offsets, model_.workers), read = hits(of_worker, tile.entries);
    cycles += gather_cycles(model_, read, of_worker - read, tile.row);
    if (parts.entries > 1) {  // a second step chooses among the parts
      const std::int64_t results = block_count(tile.lookups, parts.entries) * tile.outer * tile.row;
      cycles += phase(rows) + reduce_rows_cycles(model_, dtype_, dtype_, results, parts.entries) + 2 * sync_cycles(model_).cycles;
    }
    const std::int64_t sums = hits(added, block_count(tile.entries, parts.lookups * model_.workers));
    cycles += phase(added * index_bytes_) + phase(added_bytes) + scatter_add_cycles(model_, dtype_, sums, added - sums, tile.row);
    if (fits < fits_ || (fits == fits_ && (fits ? cycles >= cycles_ : bytes >= bytes_))) return;
    best_ = parts, fits_ = fits, cycles_ = cycles, bytes_ = bytes;
  }
  /// Returns the number of `offsets` indices that are in a block of entries.
  constexpr std::int64_t hits(std::int64_t offsets, std::int64_t entries) const {
    return (std::min)(offsets, block_count(offsets * entries, of_.entries));
  }
  constexpr std::int64_t phase(std::int64_t bytes) const {
    return exchange_cycles(model_, {payload_cycles(model_, {.in = bytes}), Confidence::published}).cycles;
  }

  /// Entries of a table on a tile, at least: fewer have costs that are not measured (poplibs).
  static constexpr std::int64_t least_entries = 2;

  IndexedExtents of_;
  DType dtype_;
  std::int64_t index_bytes_;
  const Target& target_;
  const IpuModel& model_;
  IndexedExtents best_{};
  bool fits_ = false;
  std::int64_t cycles_ = (std::numeric_limits<std::int64_t>::max)(), bytes_ = cycles_;
};

/// Divides the axes of one role into `parts` blocks altogether, from the first axis to the last. `grain`: of the last axis.
constexpr void cut_role(Work& work, const IndexedRoles& roles, IndexedAxis role, std::int64_t parts, std::int64_t grain = 1) {
  for (int i = 0; i < work.axes.size(); ++i) {
    WorkAxis& axis = work.axes[i];
    if (axis.kind == WorkAxisKind::whole || roles.role(i) != role) continue;
    const bool is_last = i + 1 == work.axes.size() || roles.role(i + 1) != role;
    axis.block = block_for(axis, is_last ? grain : 1, parts);
    parts /= block_count(axis.extent, axis.block);
  }
}

}  // namespace detail

/// Sets the blocks of an indexed op on a simulated IPU.
constexpr void cut_indexed(Operation& operation, const Target& target) {
  const IndexedRoles roles(operation);
  Work& work = operation.work;
  IndexedExtents extents;
  for (int axis = 0; axis < work.axes.size(); ++axis) {
    const std::int64_t extent = work.axes[axis].extent;
    switch (roles.role(axis)) {
      case IndexedAxis::entry: extents.entries *= extent; break;
      case IndexedAxis::lookup: break;
      case IndexedAxis::outer: extents.outer *= extent; break;
      case IndexedAxis::row: extents.row *= extent; break;
    }
  }
  const TensorSpec &rows = operation.operands[roles.rows()].spec, &indices = operation.operands[roles.indices()].spec;
  if (extents.all() == 0) return;
  extents.lookups = std::max<std::int64_t>(1, rows.nelms() / (extents.outer * extents.row));
  const IndexedExtents parts = detail::IndexedSearch(extents, rows.dtype, size_of(indices.dtype), target).best();
  bool has_lookups = false;
  for (int axis = 0; axis < work.axes.size(); ++axis) has_lookups = has_lookups || roles.role(axis) == IndexedAxis::lookup;
  detail::cut_role(work, roles, IndexedAxis::outer, parts.outer);
  detail::cut_role(work, roles, IndexedAxis::row, parts.row, std::max<std::int64_t>(1, 8 / size_of(rows.dtype)));
  detail::cut_role(work, roles, IndexedAxis::lookup, parts.lookups);
  // tiles that share a block of the table for different indices have parts of it; all indices reach each of them in an update
  if (has_lookups) detail::cut_role(work, roles, IndexedAxis::entry, parts.entries, parts.lookups);
  else detail::cut_role(work, roles, IndexedAxis::entry, parts.entries * parts.lookups);
}

/// Sets the blocks of the op that combines `parts` parts of the result of an indexed op: those of the op, with fewer lookups.
constexpr void cut_merging(Operation& merging, const Operation& operation, std::int64_t parts) {
  const IndexedRoles roles(operation);
  const Work& cut = operation.work;
  merging.work.axes[0].kind = WorkAxisKind::whole;
  for (int i = 0; i + 1 < merging.work.axes.size(); ++i) {  // its first axis is that of the parts
    WorkAxis& axis = merging.work.axes[i + 1];
    axis.block = cut.axes[i].block;
    if (roles.role(i) != IndexedAxis::lookup) continue;
    const std::int64_t blocks = block_count(axis.extent, axis.block);
    axis.block = block_count(axis.block, parts);
    parts /= (std::min)(parts, block_count(axis.extent, axis.block) / blocks);
  }
}

}  // namespace tilewright::internal
