#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include "tilewright/execute/codelet.hpp"
#include "tilewright/execute/library/formulas.hpp"
#include "tilewright/execute/library/library_program.hpp"
#include "tilewright/ops/linear/matmul.hpp"
#include "tilewright/ops/nn/cross_entropy.hpp"
#include "tilewright/ops/reduce/mean.hpp"

namespace tilewright::internal::detail {

template <class O>
consteval LibraryKernel library_kernel_of() {
  if constexpr (std::is_same_v<O, MatMul>) return LibraryKernel::product;
  else if constexpr (std::is_same_v<O, ReduceSum> || std::is_same_v<O, ReduceMean>) return LibraryKernel::sum;
  else if constexpr (std::is_same_v<O, CrossEntropy>) return LibraryKernel::loss;
  else if constexpr (std::is_same_v<O, CrossEntropyGrad>) return LibraryKernel::loss_gradient;
  else if constexpr (std::is_same_v<O, CrossEntropyWithGrad>) return LibraryKernel::loss_with_gradient;
  else if constexpr (op_info<O>.has_formula && !op_info<O>.takes_positions) return LibraryKernel::formula;
  else return LibraryKernel::none;
}

/// Returns whether the library's kernels support an operand: floats of at most 32 bits, or labels.
constexpr bool suits_library(const StageOperand& operand, bool may_be_labels) {
  const DType dtype = operand.view.dtype;
  return !operand.by_image && !is_channels_last(operand.view) &&
         (dtype == float32 || is_half(dtype) || (may_be_labels && (dtype == int32 || dtype == uint32)));
}
/// Returns whether the library has a kernel for a stage.
template <const auto& plan, std::size_t s>
consteval bool is_in_library() {
  constexpr const Stage& stage = plan.stages[s];
  constexpr LibraryKernel kernel = library_kernel_of<OpType<plan.stages[s].op>>();
  const auto* const operands = plan.operands.data() + stage.first_operand;
  if (kernel == LibraryKernel::none || stage.input_count > most_formula_inputs) return false;
  if (stage.can_fault && kernel < LibraryKernel::loss) return false;
  for (int o = 0; o < stage.operand_count; ++o)
    if (!suits_library(operands[o], o > 0 && kernel >= LibraryKernel::loss)) return false;
  if (stage.parts == SumParts::made && operands[stage.input_count].view.dtype != float32) return false;
  if (kernel == LibraryKernel::product)
    return !unpack<MatMul::Attributes>(stage.attributes).planner.rounds_sums(operands[0].view.dtype);
  return true;
}
/// Whether the library has kernels for all stages of a set. Otherwise the program compiles kernels for all of them.
template <const auto& plan, std::size_t index>
inline constexpr bool is_library_set = []<std::size_t... s>(std::index_sequence<s...>) {
  constexpr std::size_t first = static_cast<std::size_t>(plan.compute_sets[index].first_stage);
  return (is_in_library<plan, first + s>() && ...);
}(std::make_index_sequence<static_cast<std::size_t>(plan.compute_sets[index].stage_count)>{});

template <const auto& plan, std::size_t s>
consteval LibraryCode library_code() {
  using O = OpType<plan.stages[s].op>;
  constexpr LibraryKernel kernel = is_in_library<plan, s>() ? library_kernel_of<O>() : LibraryKernel::none;
  if constexpr (kernel != LibraryKernel::formula) return {kernel, nullptr};
  else return {kernel, formula_loop<O, static_cast<std::size_t>(plan.stages[s].input_count)>()};
}
template <const auto& plan>
inline constexpr auto library_codes = []<std::size_t... s>(std::index_sequence<s...>) {
  return std::array<LibraryCode, sizeof...(s)>{library_code<plan, s>()...};
}(std::make_index_sequence<plan.stages.size()>{});

/// The sets of a plan that the library runs, for execute/codelet.hpp.
template <const auto& plan>
struct LibrarySets {
  static constexpr std::int64_t stack_bytes = library_stack_bytes;
  template <std::size_t index>
  static constexpr bool has = is_library_set<plan, index>;

  /// Returns the sets of the plan that the library runs; made at the first call.
  static const LibraryProgram<ThisBuild>& program() {
    static const LibraryProgram<ThisBuild> program({.compute_sets = plan.compute_sets,
                                                    .stages = plan.stages,
                                                    .operands = plan.operands,
                                                    .strides = plan.strides,
                                                    .codes = library_codes<plan>});
    return program;
  }
  /// Runs pieces of a set's vertices.
  template <std::size_t index>
  static void run(std::byte* const* operands, std::int64_t first, std::int64_t last, bool adds_parts) {
    alignas(memory_alignment) std::byte scratch[static_cast<std::size_t>(scratch_memory_bytes<Block<plan, index, Extents{}>>)];
    program().run(index, operands, first, last, adds_parts, scratch);
  }
};

}  // namespace tilewright::internal::detail
