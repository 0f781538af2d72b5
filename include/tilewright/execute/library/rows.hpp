#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/execute/library/library_program.hpp"
#include "tilewright/kernel/vector/half.hpp"

namespace tilewright::internal {

/// Most elements of a row that formulas compute at a time: 1 KB a value, so that those of a kernel are in a first-level cache.
inline constexpr std::int64_t library_columns = 256;

/// Calls f with a null pointer to elements of a dtype: float32, float16 or bfloat16.
template <class F>
void with_float_type(DType dtype, const F& f) {
  if (dtype == float32) f(static_cast<float*>(nullptr));
  else if (dtype == float16) f(static_cast<element_t<float16>*>(nullptr));
  else f(static_cast<element_t<bfloat16>*>(nullptr));
}

/// An operand, seen from the result of a stage's kernel.
struct RowOperand {
  Source source = Source::memory;
  int index = 0;  ///< of a location, a byte of the scratch, or a stage, as in StageOperand
  DType dtype = float32;
  std::int64_t rows[max_rank]{};  ///< bytes between neighbours along each of the leading axes
  std::int64_t column = 0;  ///< bytes between neighbours of a row

  std::byte* base(std::byte* const* locations, std::byte* scratch) const {
    return source == Source::memory ? locations[index] : scratch + index;
  }
  std::int64_t offset_of_row(const Shape& leading, std::int64_t row) const {
    if (leading.rank == 1) return row * rows[0];  // without divisions
    std::int64_t offset = 0;
    for (int axis = leading.rank; axis-- > 0; row /= leading[axis])
      offset += row % leading[axis] * rows[static_cast<std::size_t>(axis)];
    return offset;
  }
  bool is_float_row() const { return dtype == float32 && column == size_of(float32); }
};

/// Returns `count` elements as floats: the elements themselves, or a copy in `memory`.
inline const float* load_row(const RowOperand& operand, const std::byte* from, std::int64_t count, float* memory) {
  if (operand.is_float_row()) return reinterpret_cast<const float*>(from);
  with_float_type(operand.dtype, [&]<class T>(T*) {
    const auto* const elements = reinterpret_cast<const T*>(from);
    const std::int64_t step = operand.column / static_cast<std::int64_t>(sizeof(T));
    if (step == 0) std::fill_n(memory, count, static_cast<float>(*elements));
    else if (step == 1)
      for (std::int64_t i = 0; i < count; ++i) memory[i] = static_cast<float>(elements[i]);
    else
      for (std::int64_t i = 0; i < count; ++i) memory[i] = static_cast<float>(elements[i * step]);
  });
  return memory;
}
inline void store_row(const RowOperand& operand, std::byte* to, std::int64_t count, const float* from) {
  with_float_type(operand.dtype, [&]<class T>(T*) {
    auto* const elements = reinterpret_cast<T*>(to);
    const std::int64_t step = operand.column / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) elements[i * step] = static_cast<T>(from[i]);
  });
}
/// Rounds values as memory of a dtype would.
inline void round_row(DType dtype, float* values, std::int64_t count) {
  if (dtype == float32) return;
  with_float_type(dtype, [&]<class T>(T*) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(static_cast<T>(values[i]));
  });
}

/// A formula of a kernel: operands are the inputs, and then the result.
struct RowFormula {
  const OpTag* op = nullptr;
  FormulaLoop loop = nullptr;
  const PackedAttributes* attributes = nullptr;
  int stage = 0;
  int inputs = 0;
  bool is_read = false;  ///< whether a later formula reads the value, and not memory
  RowOperand operands[most_formula_inputs + 1]{};
};
/// A stage with a kernel of its own, for blocks of one size, and the formulas that follow in it.
struct LibraryCall {
  LibraryKernel kernel = LibraryKernel::none;
  const Stage* stage = nullptr;
  int number = 0;  ///< of the stage in its set
  int fault = 0;  ///< number of its fault record
  std::vector<StageOperand> operands{};  ///< of the stage, as slices
  Shape leading{};  ///< axes of rows: those of the result before the last one
  std::int64_t columns = 1;  ///< of a row
  RowOperand result{};
  int axis_of_parts = -1;  ///< of the grid, if the stage makes parts of sums
  std::int64_t part_bytes = 0;  ///< from one part to the next
  std::vector<RowFormula> formulas{};
  bool updates = false;  ///< whether it adds a multiple of a product to a matrix, and does nothing else

  std::int64_t rows() const { return leading.nelms(); }
  RowOperand address(std::size_t o) const { return {.source = operands[o].source, .index = operands[o].index}; }
};

/// Finishes rows of a vertex: stores what a kernel computed, and computes formulas of it.
class RowEnd {
 public:
  RowEnd(const LibraryCall& call, std::byte* const* locations, std::byte* scratch, const std::int64_t* added)
      : call_(call), locations_(locations), scratch_(scratch), added_(added) {}

  /// `sums`: elements of a row from a column on, at most library_columns; null if the kernel is a formula. They are overwritten.
  void operator()(std::int64_t row, std::int64_t column, std::int64_t count, float* sums) {
    if (sums != nullptr) finish_sums(row, column, count, sums);
    for (const RowFormula& formula : call_.formulas) compute(formula, row, column, count);
  }

  /// Prefetches the operands of a row that differ from row to row.
  void prefetch(std::int64_t row, std::int64_t column, std::int64_t count) const {
    for (const RowFormula& formula : call_.formulas)
      for (int i = 0; i < formula.inputs; ++i) {
        const RowOperand& operand = formula.operands[i];
        if (operand.source != Source::memory || !operand.is_float_row() || call_.leading.rank == 0) continue;
        if (operand.rows[static_cast<std::size_t>(call_.leading.rank - 1)] == 0) continue;
        const std::byte* const from = address(operand, row, column);
        for (std::int64_t byte = 0; byte < count * operand.column; byte += memory_alignment) __builtin_prefetch(from + byte, 1);
      }
  }

 private:
  std::byte* address(const RowOperand& operand, std::int64_t row, std::int64_t column) const {
    return operand.base(locations_, scratch_) + operand.offset_of_row(call_.leading, row) + column * operand.column;
  }
  void finish_sums(std::int64_t row, std::int64_t column, std::int64_t count, float* sums) {
    const RowOperand& result = call_.result;
    if (call_.axis_of_parts >= 0) return add_part(reinterpret_cast<float*>(address(result, row, column)), count, sums);
    round_row(result.dtype, sums, count);
    values_[call_.number] = sums;
    if (result.source != Source::value) store_row(result, address(result, row, column), count, sums);
  }
  /// Stores parts of sums, or adds them to the first part.
  void add_part(float* part, std::int64_t count, const float* sums) const {
    const std::int64_t number = added_ == nullptr ? 0 : added_[call_.axis_of_parts];
    float* const to = part - number * (call_.part_bytes / size_of(float32));
    if (number == 0) std::copy_n(sums, count, to);
    else
      for (std::int64_t i = 0; i < count; ++i) to[i] += sums[i];
  }
  void compute(const RowFormula& formula, std::int64_t row, std::int64_t column, std::int64_t count) {
    const float* from[most_formula_inputs];
    for (int i = 0; i < formula.inputs; ++i) {
      const RowOperand& operand = formula.operands[i];
      from[i] = operand.source == Source::value ? values_[operand.index]
                                                : load_row(operand, address(operand, row, column), count, loaded_[i]);
    }
    const RowOperand& result = formula.operands[formula.inputs];
    std::byte* const to = result.source == Source::value ? nullptr : address(result, row, column);
    const bool is_direct = to != nullptr && result.is_float_row() && !formula.is_read;
    float* const value = is_direct ? reinterpret_cast<float*>(to) : computed_[formula.stage];
    formula.loop(*formula.attributes, from, value, count);
    round_row(result.dtype, value, count);
    if (to != nullptr && !is_direct) store_row(result, to, count, value);
    values_[formula.stage] = value;
  }

  const LibraryCall& call_;
  std::byte* const* locations_;
  std::byte* scratch_;
  const std::int64_t* added_;
  const float* values_[max_stages];  // by stage
  alignas(memory_alignment) float computed_[max_stages][library_columns];
  alignas(memory_alignment) float loaded_[most_formula_inputs][library_columns];
};

}  // namespace tilewright::internal
