#pragma once
#include "tilewright/op/op.hpp"
#include "tilewright/op/planner_options.hpp"
#include "tilewright/operand/indices.hpp"

namespace tilewright {

/// How elements with one target position are combined.
enum class ScatterReduction : std::int64_t { sum, max, min, none };

struct IndexAttributes {
  std::int64_t axis = 0;
  std::int64_t group_size = 1;
  std::int64_t extent = 0;  ///< of the indexed axis
  kernel::IndexForm form = kernel::IndexForm::rows;
  std::int64_t faults = 1;  ///< whether an index out of range is a fault
  ScatterReduction reduction = ScatterReduction::sum;
  double factor = 1;
  double available_memory_proportion = detail::no_proportion;  ///< reserved for planners

  constexpr int axis_of(int rank) const { return static_cast<int>(axis < 0 ? axis + rank : axis); }
};

/// Base of ops whose indices along an axis are a tensor. Their kernels get the positions of the result's elements.
template <class D>
struct IndexedOp : Op<D> {
  // Loops, not arrays: indices say where elements are.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::indexed}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_positions = true}; }
  using Attributes = IndexAttributes;

  static constexpr bool require_indices(Inference& op, int i) {
    if (is_int(op.input(i).dtype)) return true;
    op.fail("indices ", to_text(op.input(i)), ": integers expected");
    return false;
  }
  constexpr operator OpTexts() const { return OpTexts{.options = options}; }
  static constexpr Text options(const PackedAttributes& packed) {
    if constexpr (requires(typename D::Attributes attributes) { attributes.available_memory_proportion; })
      return detail::proportion_option(unpack<typename D::Attributes>(packed).available_memory_proportion);
    else return {};
  }
  /// Returns the fault for an index out of range. `indices` is the number of the operand.
  static constexpr FaultText index_fault(std::span<const TensorSpec> operands, int indices, std::int64_t extent, bool faults) {
    const DType dtype = operands[static_cast<std::size_t>(indices)].dtype;
    const bool always_right = !detail::dtype_facts[static_cast<std::size_t>(dtype)].is_signed && size_of(dtype) < 4 &&
                              extent >= std::int64_t{1} << 8 * size_of(dtype);
    return {faults && !always_right, "index", text("an index from 0 to ", extent - 1)};
  }

  /// Work on the elements of a table. Each vertex reads all indices that may lie in its block. Members are the table's shape and
  /// the numbers of the operands.
  struct TableWork {
    Shape table;
    int rows, indices, positions;  ///< other operands have the table's shape, except those of one element
  };
  // Elements of a row, by which table_work decides what is cut. In brackets the cases of `./dev bench ops` that are cut otherwise
  // with another number; their rows have 256.

  /// Blocks within a row are multiples of this: four cache lines in float32. [32, and long_row 256: gather_gradient, scatter_sum]
  static constexpr std::int64_t row_piece = 64;
  /// Rows of at least this length are divided before the indexed axis: there are pieces for 8 vertices. [256: gather_gradient,
  /// all scatters]
  static constexpr std::int64_t long_row = 8 * row_piece;
  /// In shorter rows, reading the indices is a considerable part of the work. No case has such rows. [above 256: gather_gradient,
  /// scatter_sum]
  static constexpr std::int64_t short_row = 16;
  static constexpr Work table_work(std::span<const TensorSpec> operands, const Attributes& attributes, const TableWork& of) {
    const Shape &table = of.table, &rows = operands[static_cast<std::size_t>(of.rows)].shape,
                &indices = operands[static_cast<std::size_t>(of.indices)].shape;
    const int rank = table.rank, axis = attributes.axis_of(rank);
    const bool by_element = attributes.form == kernel::IndexForm::elements;
    const int index_axes = by_element ? 1 : indices.rank - (attributes.form == kernel::IndexForm::groups ? 1 : 0);
    const auto rows_axis = [&](int a) { return a < axis ? a : a - 1 + index_axes; };
    const auto fits = [&](int a) {
      return a == axis || (rows[rows_axis(a)] == table[a] && (!by_element || indices[a] == table[a]));
    };
    // Blocks along the indexed axis all read the same indices. That is a small part of the work only if rows are long: other axes
    // are cut first unless their blocks would be short pieces of rows, and that axis is not if it has fewer places than indices.
    std::int64_t length = 1, count = 1;
    for (int a = axis + 1; a < rank; ++a) length *= table[a];
    for (int a = by_element ? 0 : attributes.form == kernel::IndexForm::groups ? 1 : 0; a < indices.rank; ++a)
      count *= indices[a];
    const bool is_last = by_element || length < short_row || (axis < rank - 1 && table[rank - 1] >= long_row);
    const bool is_cut = by_element || length >= short_row || count < table[axis];
    Work work;
    std::array<int, max_rank> work_axis{};
    const auto add = [&](int a) {
      const bool is_inner = a == rank - 1 && a != axis && is_last && length >= long_row;
      work_axis[static_cast<std::size_t>(a)] = work.add_axis(
          {.extent = table[a],
           .kind = fits(a) && (a != axis || is_cut) ? WorkAxisKind::parallel : WorkAxisKind::whole,
           .grain = is_inner ? row_piece : 1,
           .vectorised = !is_inner && a == rank - 1});
    };
    for (int a = 0; a < axis; ++a) add(a);
    if (!is_last) add(axis);
    for (int a = axis + 1; a < rank; ++a) add(a);
    if (is_last) add(axis);
    for (int a = 0; a < rank; ++a) {
      const int to = work_axis[static_cast<std::size_t>(a)];
      for (int o = 0; o < static_cast<int>(operands.size()); ++o)
        if (o != of.rows && o != of.indices && operands[static_cast<std::size_t>(o)].shape == table) work.follow(o, a, to);
      if (a == axis || !fits(a)) continue;
      work.follow(of.rows, rows_axis(a), to);
      if (by_element || (attributes.form == kernel::IndexForm::groups && a == 0)) work.follow(of.indices, a, to);
    }
    return work;
  }

 protected:
  /// Returns whether this is the first of all vertices that read an index. Vertices of a block read the same indices if they
  /// differ only along the axes of the result that the indices do not follow. `axes` has these axes as bits.
  template <unsigned axes, class P>
  static bool is_first_reader(P positions) {
    for (int axis = 0; axis < P::shape.rank; ++axis)
      if ((axes >> axis & 1) != 0 && kernel::block_begin(positions, axis) != 0) return false;
    return true;
  }
  /// Returns the axes of a table's work that the indices do not follow.
  static constexpr unsigned axes_without_indices(const Attributes& attributes, int rank) {
    const unsigned all = (1u << rank) - 1;
    if (attributes.form == kernel::IndexForm::elements) return 1u << attributes.axis_of(rank);
    return attributes.form == kernel::IndexForm::groups ? all & ~1u : all;
  }
};

}  // namespace tilewright
