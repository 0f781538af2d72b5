#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tilewright/core/built_with.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// Computes a formula for `count` elements of float: to[i] = f(from[0][i], from[1][i], ...). `to` may be one of `from`.
using FormulaLoop = void (*)(const PackedAttributes& attributes, const float* const* from, float* to, std::int64_t count);

/// The kernel of the library that computes an op.
enum class LibraryKernel : std::uint8_t {
  none,  ///< the op has a kernel of static shape only
  formula,
  product,
  sum,
  loss,  ///< a loss of logits
  loss_gradient,
  loss_with_gradient
};
/// Code of a stage.
struct LibraryCode {
  LibraryKernel kernel = LibraryKernel::none;
  FormulaLoop loop = nullptr;  ///< of a formula; null: the library's own, by the op's tag
};
/// Tables of a frozen plan, and the code of each of its stages.
struct LibraryTables {
  std::span<const ComputeSet> compute_sets;
  std::span<const Stage> stages;
  std::span<const StageOperand> operands;
  std::span<const std::int64_t> strides;
  std::span<const LibraryCode> codes;
};

/// Most inputs of a formula with a kernel of the library.
inline constexpr int most_formula_inputs = 7;
/// Bytes of stack that kernels of the library need in addition to a vertex's scratch.
inline constexpr std::int64_t library_stack_bytes = 288 * 1024;

/// Compute sets of a plan that run on kernels of the library: their extents are arguments. `Build`: the options that the kernels
/// are compiled with, as a part of the names of their functions.
template <class Build>
class LibraryProgram {
 public:
  explicit LibraryProgram(const LibraryTables& tables);
  LibraryProgram(const LibraryProgram&) = delete;
  LibraryProgram& operator=(const LibraryProgram&) = delete;
  ~LibraryProgram();

  /// Runs pieces of a set's vertices, as a ComputeFunction does. `scratch`: that of a vertex.
  void run(std::size_t set, std::byte* const* operands, std::int64_t first, std::int64_t last, bool adds_parts,
           std::byte* scratch) const;

 private:
  struct Sets;
  std::unique_ptr<Sets> sets_;
};

}  // namespace tilewright::internal
