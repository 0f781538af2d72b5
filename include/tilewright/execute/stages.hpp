#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/execute/epilogue.hpp"
#include "tilewright/execute/stage_observer.hpp"
#include "tilewright/kernel/copy/streamed_copy.hpp"
#include "tilewright/kernel/reduce/sum.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::internal::detail {

/// Returns whether a stage copies into a tensor that is too large for caches.
template <class B, int s>
constexpr bool is_streamed_copy() {
  if constexpr (op_info<typename B::template OpOf<s>>.has_formula) {
    constexpr int result = B::stage(s).input_count;
    constexpr ViewSpec block = B::slice(s, result);
    return Expression<B, s>::is_copy && B::operand(s, result).source == Source::memory &&
           span_bytes(B::operand(s, result).view) >= kernel::streamed_bytes &&
           block.shape.nelms() * size_of(block.dtype) >= kernel::streamed_vertex_bytes;
  } else {
    return false;
  }
}

/// Returns whether stages are computed in the epilogue of a kernel. Expressions between it and the next kernel may belong to that
/// one.
template <class B, int kernel>
constexpr bool has_epilogue() {
  for (int s = kernel + 1; s < B::set.stage_count && B::stage(s).evaluation != Evaluation::kernel; ++s)
    if (B::stage(s).evaluation == Evaluation::epilogue) return true;
  return false;
}

/// Bytes of the stack for the scratch of a vertex.
template <class B>
inline constexpr std::int64_t scratch_memory_bytes = std::max<std::int64_t>(1, B::set.scratch_bytes);
/// Bytes of the stack for the rows that the epilogue of a stage's kernel converts.
template <class B, int s>
inline constexpr std::int64_t row_memory_bytes = std::max<std::int64_t>(1, Epilogue<B, s>::row_floats) *
                                                 static_cast<std::int64_t>(sizeof(float));

/// Index of a vertex along the axes of its grid, if the sums of parts are added up in the memory of the first part; otherwise
/// null.
using VertexIndex = const std::int64_t*;

/// Returns the axis of the grid along which stage s makes parts of sums: parts are apart along it, but no axis of them follows
/// it.
template <class B, int s>
constexpr int axis_of_parts() {
  constexpr const StageOperand& part = B::operand(s, B::stage(s).input_count);
  unsigned followed = 0;
  for (int axis = 0; axis < part.view.shape.rank; ++axis)
    if (part.grid_axis[axis] >= 0) followed |= 1u << part.grid_axis[axis];
  int axis = B::set.blocks.size() - 1;
  while ((followed >> axis & 1) != 0 || B::stride(axis, part.index) == 0) --axis;
  return axis;
}
/// Returns the epilogue that stores a vertex's part of sums, which is at `part`, or adds it to the first one.
template <class B, int s, class Part>
inline kernel::AddElements<Part> part_of_sums(Part part, VertexIndex added) {
  constexpr int axis = axis_of_parts<B, s>();
  constexpr std::int64_t step = B::stride(axis, B::operand(s, B::stage(s).input_count).index) / size_of(Part::spec.dtype);
  if (added == nullptr) return {part.data};
  return {part.data - added[axis] * step, kernel::SumPart{added[axis]}};
}

/// Whether a stage's kernel has the form that passes elements to an epilogue, because the stage has one, or makes or combines
/// parts of sums.
template <class B, int s>
inline constexpr bool passes_elements = op_info<typename B::template OpOf<s>>.has_epilogue &&
                                        (has_epilogue<B, s>() || B::stage(s).parts != SumParts::apart);

/// View of an operand for the kernel of a stage.
template <class B, int s, std::size_t o>
using OperandView = View<B::slice(s, static_cast<int>(o)), (static_cast<int>(o) < B::stage(s).input_count)>;
template <class B, int s, std::size_t o>
using OperandPointer = PointerTo<typename B::template Element<s, static_cast<int>(o)>, B::address(s, static_cast<int>(o))>;

/// Runs a stage that is a kernel, with its expression or epilogue. For a kernel with pieces, runs some of them.
template <class B, int s>
inline void run_stage(std::byte* const* locations, std::byte* scratch, [[maybe_unused]] VertexIndex added,
                      [[maybe_unused]] const auto&... pieces) {
  using O = typename B::template OpOf<s>;
  constexpr int result = B::stage(s).input_count;
  constexpr SumParts parts = B::stage(s).parts;
  using Result = View<B::slice(s, result)>;
  if constexpr (B::stage(s).can_fault) {
    [&]<std::size_t... o>(std::index_sequence<o...>) {
      O::template compute_checked<B::stage(s).attributes>(
          B::template faults<s>(locations), OperandView<B, s, o>{OperandPointer<B, s, o>::in(locations, scratch)}...);
    }(std::make_index_sequence<static_cast<std::size_t>(B::stage(s).operand_count)>{});
  } else if constexpr (is_streamed_copy<B, s>()) {
    constexpr Leaf source = Expression<B, s>::leaves[0];
    kernel::stream_elements(
        Result{OperandPointer<B, s, result>::in(locations, scratch)},
        View<B::slice(source.stage, source.operand)>{OperandPointer<B, source.stage, source.operand>::in(locations, scratch)});
  } else if constexpr (op_info<O>.has_formula) {
    using E = Expression<B, s>;
    [&]<std::size_t... l>(std::index_sequence<l...>) {
      kernel::assign_elementwise<E>(Result{OperandPointer<B, s, result>::in(locations, scratch)},
                                    View<B::slice(E::leaves[l].stage, E::leaves[l].operand)>{
                                        OperandPointer<B, E::leaves[l].stage, E::leaves[l].operand>::in(locations, scratch)}...);
    }(std::make_index_sequence<E::leaves.size()>{});
  } else if constexpr (passes_elements<B, s>) {
    const auto compute_with = [&](const auto& epilogue, const auto&... last) {
      [&]<std::size_t... o>(std::index_sequence<o...>) {
        O::template compute_with<B::stage(s).attributes, View<B::slice(s, result)>>(
            epilogue, OperandView<B, s, o>{OperandPointer<B, s, o>::in(locations, scratch)}..., last...);
      }(std::make_index_sequence<static_cast<std::size_t>(result)>{});
    };
    if constexpr (parts == SumParts::made) {
      compute_with(part_of_sums<B, s>(Result{OperandPointer<B, s, result>::in(locations, scratch)}, added), pieces...);
    } else if constexpr (!has_epilogue<B, s>()) {
      compute_with(kernel::StoreElements<Result>{Result{OperandPointer<B, s, result>::in(locations, scratch)}.data},
                   added != nullptr);
    } else {
      alignas(memory_alignment) std::byte row_memory[static_cast<std::size_t>(row_memory_bytes<B, s>)];
      const Epilogue<B, s> epilogue(locations, scratch, reinterpret_cast<float*>(row_memory));
      if constexpr (parts == SumParts::combined) compute_with(epilogue, added != nullptr);
      else compute_with(epilogue, pieces...);
    }
  } else {
    [&]<std::size_t... o>(std::index_sequence<o...>) {
      O::template compute<B::stage(s).attributes>(OperandView<B, s, o>{OperandPointer<B, s, o>::in(locations, scratch)}...,
                                                  pieces...);
    }(std::make_index_sequence<static_cast<std::size_t>(B::stage(s).operand_count)>{});
  }
}

/// Returns whether the matrices of a stage's result are one matrix for what its elements are passed to.
template <class B, int s>
consteval bool is_one_matrix_for_epilogue() {
  if constexpr (has_epilogue<B, s>()) return Epilogue<B, s>::rows_are_one_matrix;
  else return true;  // parts of sums are dense
}
/// Returns the bytes of the arrays of a stage of an epilogue on the stack: none of a formula.
template <class B, int s>
consteval std::int64_t stack_of_rows() {
  using O = typename B::template OpOf<s>;
  constexpr PackedAttributes attributes = B::stage(s).attributes;
  if constexpr (op_info<O>.has_formula) return 0;
  else if constexpr (requires { O::template stack_bytes<attributes, OperandView<B, s, 0>, OperandView<B, s, 1>>(); })
    return O::template stack_bytes<attributes, OperandView<B, s, 0>, OperandView<B, s, 1>>();
  else return 0;
}
/// The largest such bytes of the stages in a kernel's epilogue.
template <class B, int kernel>
inline constexpr std::int64_t stack_of_row_readers = []<std::size_t... s>(std::index_sequence<s...>) {
  std::int64_t most = 0;
  bool is_in = true;
  const auto count = [&]<int stage>() {
    is_in = is_in && B::stage(stage).evaluation != Evaluation::kernel;
    if constexpr (B::stage(stage).evaluation == Evaluation::epilogue)
      if (is_in) most = (std::max)(most, stack_of_rows<B, stage>());
  };
  (count.template operator()<kernel + 1 + static_cast<int>(s)>(), ...);
  return most;
}(std::make_index_sequence<static_cast<std::size_t>(B::set.stage_count - kernel - 1)>{});
/// Returns the bytes of the arrays of a stage's kernel and its epilogue on the stack.
template <class B, int s, std::size_t... o>
consteval std::int64_t stack_of_kernel(std::index_sequence<o...>) {
  using O = typename B::template OpOf<s>;
  constexpr PackedAttributes attributes = B::stage(s).attributes;
  std::int64_t bytes = 0;
  if constexpr (op_info<O>.has_epilogue)
    if constexpr (has_epilogue<B, s>()) bytes += row_memory_bytes<B, s> + stack_of_row_readers<B, s>;
  if constexpr (requires { O::template stack_bytes_with<attributes, true, OperandView<B, s, o>...>(); } && passes_elements<B, s>)
    bytes += O::template stack_bytes_with<attributes, is_one_matrix_for_epilogue<B, s>(), OperandView<B, s, o>...>();
  else if constexpr (requires { O::template stack_bytes<attributes, OperandView<B, s, o>...>(); })
    bytes += O::template stack_bytes<attributes, OperandView<B, s, o>...>();
  return bytes;
}
template <class B, int s>
consteval std::int64_t stack_of_stage() {
  if constexpr (B::stage(s).evaluation != Evaluation::kernel) return 0;
  else if constexpr (op_info<typename B::template OpOf<s>>.has_formula) return 0;  // in registers
  else return stack_of_kernel<B, s>(std::make_index_sequence<static_cast<std::size_t>(B::stage(s).operand_count)>{});
}
/// Bytes of arrays on the stack that a codelet may have in addition to those of its largest stage. If there are more, its stages
/// have functions of their own, so that the arrays of two are never there at the same time: compilers differ in whether they put
/// arrays of one function in one place.
inline constexpr std::int64_t most_other_arrays = 4096;
template <class B>
inline constexpr bool are_stages_apart = []<std::size_t... s>(std::index_sequence<s...>) {
  const std::int64_t bytes[] = {0, stack_of_stage<B, static_cast<int>(s)>()...};
  std::int64_t sum = 0, most = 0;
  for (const std::int64_t each : bytes) sum += each, most = (std::max)(most, each);
  return sum - most > most_other_arrays;
}(std::make_index_sequence<static_cast<std::size_t>(B::set.stage_count)>{});
template <class B, int s, class... SomePieces>
[[gnu::noinline]] void run_stage_apart(std::byte* const* locations, std::byte* scratch, VertexIndex added,
                                       const SomePieces&... pieces) {
  run_stage<B, s>(locations, scratch, added, pieces...);
}

/// Numbers of a block's stages that are kernels. The others run as parts of these.
template <class B>
inline constexpr auto kernel_stages = [] {
  constexpr auto is_kernel = [](int s) { return B::stage(s).evaluation == Evaluation::kernel; };
  constexpr std::size_t count = [=] {
    std::size_t kernels = 0;
    for (int s = 0; s < B::set.stage_count; ++s) kernels += is_kernel(s);
    return kernels;
  }();
  std::array<int, count> result{};
  for (int s = 0, i = 0; s < B::set.stage_count; ++s)
    if (is_kernel(s)) result[static_cast<std::size_t>(i++)] = s;
  return result;
}();

/// Whether strict mode watches a stage: in a step of several kernels, and an op that promises to be elementwise. A formula can do
/// nothing that it does not declare.
template <const auto& plan, class B, int s>
inline constexpr bool is_watched = [] {
  constexpr const auto& op = op_info<typename B::template OpOf<s>>;
  return plan.tile_sets.size() > 0 && !op.has_formula && (kernel_stages<B>.size() > 1 || op.elementwise);
}();

template <class B, int s, class... SomePieces>
inline void run_watched_stage(std::byte* const* locations, std::byte* scratch, VertexIndex added, const SomePieces&... pieces) {
  constexpr bool may_run_again = op_info<typename B::template OpOf<s>>.elementwise;
  StageObserver* const observer = stage_observer;
  if (observer != nullptr) observer->before(s, may_run_again, locations, scratch);
  run_stage<B, s>(locations, scratch, added, pieces...);
  if constexpr (may_run_again)
    while (observer != nullptr && observer->after()) run_stage_apart<B, s>(locations, scratch, added, pieces...);
  else if (observer != nullptr) observer->after();
}

/// The codelet of a compute set for vertices of the given extents: runs its kernels in sequence. With pieces, the only kernel
/// supports pieces.
template <const auto& plan, std::size_t set_index, Extents extents, class... SomePieces>
inline void run_stages(std::byte* const* locations, VertexIndex added, const SomePieces&... pieces) {
  using B = Block<plan, set_index, extents>;
  constexpr std::int64_t guard = plan.tile_sets.size() > 0 ? scratch_guard : 0;
  alignas(memory_alignment) std::byte scratch[static_cast<std::size_t>(scratch_memory_bytes<B> + guard)];
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    const auto run = [&]<int stage>() {
      if constexpr (is_watched<plan, B, stage>) run_watched_stage<B, stage>(locations, scratch, added, pieces...);
      else if constexpr (are_stages_apart<B> && stack_of_stage<B, stage>() > 0)
        run_stage_apart<B, stage>(locations, scratch, added, pieces...);
      else run_stage<B, stage>(locations, scratch, added, pieces...);
    };
    (run.template operator()<kernel_stages<B>[k]>(), ...);
  }(std::make_index_sequence<kernel_stages<B>.size()>{});
}

}  // namespace tilewright::internal::detail
