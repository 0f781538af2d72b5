#pragma once
#include <array>
#include <vector>

#include "tilewright/execute/expression.hpp"
#include "tilewright/execute/library/formulas.hpp"
#include "tilewright/execute/library/losses.hpp"
#include "tilewright/execute/library/products.hpp"
#include "tilewright/execute/library/sums.hpp"

namespace tilewright::internal {

namespace detail {

/// Returns the loop of the library for a formula.
template <class... O, std::size_t... inputs>
FormulaLoop listed_loop(const Stage& stage, FormulaList<FormulaOf<O, inputs>...>) {
  FormulaLoop loop = nullptr;
  ((&op_tag<O> == stage.op && inputs == static_cast<std::size_t>(stage.input_count) ? void(loop = &FormulaOf<O, inputs>::run)
                                                                                    : void()),
   ...);
  return loop;
}

/// Makes the calls of a set's vertices of one size.
template <class Build>
class LibraryCalls {
 public:
  LibraryCalls(const LibraryTables& tables, const ComputeSet& set, const Extents& extents)
      : tables_(tables), set_(set), extents_(extents) {}

  std::vector<LibraryCall> all() const {
    std::vector<LibraryCall> calls;
    int faults = 0;
    for (int s = 0; s < set_.stage_count; ++s) {
      if (stage(s).evaluation == Evaluation::kernel) calls.push_back(call_of(s, faults));
      faults += stage(s).can_fault ? 1 : 0;
    }
    return calls;
  }

 private:
  const Stage& stage(int s) const { return tables_.stages[static_cast<std::size_t>(set_.first_stage + s)]; }
  const LibraryCode& code(int s) const { return tables_.codes[static_cast<std::size_t>(set_.first_stage + s)]; }
  const StageOperand& operand(int s, int o) const {
    return tables_.operands[static_cast<std::size_t>(stage(s).first_operand + o)];
  }
  LibraryCall call_of(int s, int fault) const {
    LibraryCall call{.kernel = code(s).kernel, .stage = &stage(s), .number = s, .fault = fault};
    for (int o = 0; o < stage(s).operand_count; ++o) {
      call.operands.push_back(operand(s, o));
      call.operands.back().view = slice_of(operand(s, o), extents_);
    }
    const Shape& shape = call.operands[static_cast<std::size_t>(stage(s).input_count)].view.shape;
    for (int axis = 0; axis + 1 < shape.rank; ++axis) call.leading.push_back(shape[axis]);
    call.columns = shape.rank > 0 ? shape[-1] : 1;
    call.result = row_operand(s, stage(s).input_count, shape);
    if (stage(s).parts == SumParts::made) set_parts(call, operand(s, stage(s).input_count));
    if (call.kernel == LibraryKernel::formula) add_formula(call, s, shape), join_axes(call);
    for (int next = s + 1; next < set_.stage_count && stage(next).evaluation != Evaluation::kernel; ++next)
      if (stage(next).evaluation == Evaluation::epilogue) add_formula(call, next, shape);
    call.updates = is_update(call);
    return call;
  }
  RowOperand row_operand(int s, int o, const Shape& shape) const {
    const StageOperand& given = operand(s, o);
    const ViewSpec view = slice_of(given, extents_);
    RowOperand result{.source = given.source, .index = given.index, .dtype = view.dtype};
    for (int axis = 2; axis <= shape.rank; ++axis)
      result.rows[static_cast<std::size_t>(shape.rank - axis)] = broadcast_stride(view, -axis) * size_of(view.dtype);
    result.column = shape.rank > 0 ? broadcast_stride(view, -1) * size_of(view.dtype) : 0;
    if (shape.rank == 0 || shape[-1] == 1) result.column = size_of(view.dtype);
    return result;
  }
  /// Adds a formula, after those that are nested in it.
  void add_formula(LibraryCall& call, int s, const Shape& shape) const {
    for (int i = 0; i < stage(s).input_count; ++i)
      if (const StageOperand& input = operand(s, i);
          input.source == Source::value && stage(input.index).evaluation == Evaluation::expression)
        add_formula(call, input.index, shape);
    RowFormula formula{
        .op = stage(s).op, .loop = code(s).loop, .attributes = &stage(s).attributes, .stage = s, .inputs = stage(s).input_count};
    if (formula.loop == nullptr) formula.loop = listed_loop(stage(s), LibraryFormulas{});
    for (int o = 0; o <= formula.inputs; ++o) formula.operands[o] = row_operand(s, o, shape);
    for (int reader = s + 1; reader < set_.stage_count; ++reader)
      for (int i = 0; i < stage(reader).input_count; ++i)
        if (operand(reader, i).source == Source::value && operand(reader, i).index == s) formula.is_read = true;
    call.formulas.push_back(formula);
  }
  static bool is_update(const LibraryCall& call) {
    if (call.kernel != LibraryKernel::product || call.leading.rank != 1 || call.formulas.size() != 1) return false;
    const RowFormula& formula = call.formulas[0];
    const RowOperand &to = formula.operands[0], &sum = formula.operands[1], &result = formula.operands[2];
    const bool is_sum = formula.inputs == 2 && formula.op == &op_tag<ScaledAddLhsInplace>;
    return is_sum && to.source == Source::memory && result.source == to.source && result.index == to.index && to.is_float_row() &&
           sum.source == Source::value && call.result.source == Source::value && call.result.dtype == float32;
  }
  /// Sets the axis of the grid along which parts are apart: no axis of them follows it.
  void set_parts(LibraryCall& call, const StageOperand& part) const {
    unsigned followed = 0;
    for (int axis = 0; axis < part.view.shape.rank; ++axis)
      if (part.grid_axis[axis] >= 0) followed |= 1u << part.grid_axis[axis];
    for (int axis = 0; axis < set_.blocks.size(); ++axis) {
      const std::int64_t bytes =
          tables_.strides[static_cast<std::size_t>(set_.first_stride + axis + part.index * set_.blocks.size())];
      if ((followed >> axis & 1) == 0 && bytes != 0) call.axis_of_parts = axis, call.part_bytes = bytes;
    }
  }
  /// Makes the rows of a formula's loop as long as all operands allow.
  static void join_axes(LibraryCall& call) {
    const auto each = [&](const auto& f) {
      for (RowFormula& formula : call.formulas)
        for (int o = 0; o <= formula.inputs; ++o) f(formula.operands[o]);
    };
    while (call.leading.rank > 0) {
      const auto last = static_cast<std::size_t>(call.leading.rank - 1);
      const std::int64_t extent = call.leading[-1];
      bool joins = true;
      if (extent != 1 && call.columns != 1)
        each([&](const RowOperand& operand) {
          if (operand.source != Source::value && operand.rows[last] != operand.column * call.columns) joins = false;
        });
      if (!joins) return;
      if (extent != 1 && call.columns == 1) each([&](RowOperand& operand) { operand.column = operand.rows[last]; });
      if (extent != 1) call.columns *= extent;
      call.leading.extents[--call.leading.rank] = 0;
    }
  }

  const LibraryTables& tables_;
  const ComputeSet& set_;
  const Extents& extents_;
};

/// A compute set that runs on kernels of the library.
template <class Build>
struct LibrarySet {
  int axes = 0;
  std::int64_t pieces = 1;
  std::size_t locations = 0;
  unsigned variant_bits = 0;  ///< axes whose last block is shorter
  bool can_fault = false;
  std::array<std::int64_t, max_work_axes> counts{};  ///< of blocks along each axis
  const std::int64_t* strides = nullptr;
  std::vector<std::vector<LibraryCall>> variants;  ///< calls by variant; empty for those that cannot occur

  LibrarySet(const LibraryTables& tables, const ComputeSet& set)
      : axes(set.blocks.size()),
        pieces(set.pieces),
        locations(static_cast<std::size_t>(set.location_count)),
        strides(tables.strides.data() + set.first_stride) {
    for (int s = 0; s < set.stage_count; ++s) {
      const auto stage = static_cast<std::size_t>(set.first_stage + s);
      if (tables.codes[stage].kernel == LibraryKernel::none) return;  // the program has kernels for it
      can_fault = can_fault || tables.stages[stage].can_fault;
    }
    for (int a = 0; a < axes; ++a) {
      counts[static_cast<std::size_t>(a)] = block_count(set.extents[a], set.blocks[a]);
      if (set.extents[a] % set.blocks[a] != 0) variant_bits |= 1u << a;
    }
    variants.resize(variant_bits + 1);
    for (unsigned variant = 0; variant <= variant_bits; ++variant) {
      if ((variant & ~variant_bits) != 0) continue;
      Extents extents = set.blocks;
      for (int a = 0; a < axes; ++a)
        if ((variant >> a & 1) != 0) extents[a] = set.extents[a] % set.blocks[a];
      variants[variant] = LibraryCalls<Build>(tables, set, extents).all();
    }
  }

  void run_vertex(const std::vector<LibraryCall>& calls, std::byte* const* at, std::byte* scratch, const std::int64_t* added,
                  const kernel::Pieces& some) const {
    for (const LibraryCall& call : calls) {
      RowEnd end(call, at, scratch, added);
      if (call.kernel == LibraryKernel::product) {
        run_product(call, at, scratch, end, some);
      } else if (call.kernel == LibraryKernel::sum) {
        run_sum(call, at, scratch, end, call.stage->parts == SumParts::combined && added != nullptr);
      } else if (call.kernel == LibraryKernel::formula) {
        for (std::int64_t row = 0; row < call.rows(); ++row)
          for (std::int64_t j = 0; j < call.columns; j += library_columns)
            end(row, j, (std::min)(library_columns, call.columns - j), nullptr);
      } else {
        run_loss(call, at, scratch, call.stage->can_fault ? reinterpret_cast<FaultRecord*>(at[locations]) + call.fault : nullptr);
      }
    }
  }
  void run(std::byte* const* operands, std::int64_t first, std::int64_t last, bool adds_parts, std::byte* scratch) const {
    std::array<std::byte*, static_cast<std::size_t>(max_locations) + 1> at{};
    std::array<std::int64_t, max_work_axes> index{};
    if (can_fault) at[locations] = operands[locations];
    for (std::int64_t next = first; next < last;) {
      const std::int64_t vertex = next / pieces, before = vertex * pieces, end = (std::min)(last, before + pieces);
      unsigned variant = 0;
      for (std::size_t o = 0; o < locations; ++o) at[o] = operands[o];
      std::int64_t rest = vertex;
      for (int a = axes; a-- > 0;) {
        const auto axis = static_cast<std::size_t>(a);
        index[axis] = rest % counts[axis];
        rest /= counts[axis];
        if (index[axis] == counts[axis] - 1) variant |= 1u << a;
        for (std::size_t o = 0; o < locations; ++o) at[o] += index[axis] * strides[axis + o * static_cast<std::size_t>(axes)];
      }
      run_vertex(variants[variant & variant_bits], at.data(), scratch, adds_parts ? index.data() : nullptr,
                 kernel::Pieces{next - before, end - before, pieces});
      next = end;
    }
  }
};

}  // namespace detail

template <class Build>
struct LibraryProgram<Build>::Sets {
  std::vector<detail::LibrarySet<Build>> sets;
};

template <class Build>
[[gnu::cold, gnu::noinline]] LibraryProgram<Build>::LibraryProgram(const LibraryTables& tables)
    : sets_(std::make_unique<Sets>()) {
  for (const ComputeSet& set : tables.compute_sets) sets_->sets.emplace_back(tables, set);
}
template <class Build>
[[gnu::noinline]] LibraryProgram<Build>::~LibraryProgram() = default;
template <class Build>
[[gnu::noinline]] void LibraryProgram<Build>::run(std::size_t set, std::byte* const* operands, std::int64_t first,
                                                  std::int64_t last, bool adds_parts, std::byte* scratch) const {
  sets_->sets[set].run(operands, first, last, adds_parts, scratch);
}

}  // namespace tilewright::internal
