#pragma once
#include <initializer_list>
#include <type_traits>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/emit.hpp"
#include "tilewright/graph/gradient_context.hpp"
#include "tilewright/ops/check_op.hpp"

namespace tilewright {

/// From an op's tag back to its C++ type: `op_of(ByTag<tag>{})` returns std::type_identity of the type.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <const OpTag* tag>
struct ByTag {
  friend constexpr auto op_of(ByTag<tag>);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <class D>
inline constexpr OpTag op_tag{};

/// What an op is unless it says something else.
struct OpDefaults {
  struct Attributes {};
  static constexpr Differentiation differentiation = Differentiation::refuses;
  static constexpr bool gradient_needs_no_result = false;  ///< whether its gradient rule does not ask for its results
  static constexpr int modifies = -1;
  static constexpr bool has_side_effect = false;
  static constexpr bool may_repeat = false;  ///< whether its side effect may come again when a graph is computed again
  static constexpr bool is_alias = false;  ///< whether a view is the same tensor: what changes one changes the other
  static constexpr bool any_layout = false;  ///< whether the codelet takes inputs of any strides (else they are dense)
  static constexpr bool any_result_layout = false;  ///< whether the codelet writes results of any strides, as every formula does
  static constexpr bool elementwise = false;
  static constexpr bool has_formula = false;
  static constexpr bool has_epilogue = false;
  /// Whether its formula takes and gives bools as lanes of masks (kernel/mask.hpp) where it gets batches. Otherwise it gets bools
  /// one by one.
  static constexpr bool bools_are_masks = false;
  /// Whether it writes input 1 into all of input 0, which it modifies, and does nothing else. It has no `compute`.
  static constexpr bool is_copy = false;
  static constexpr bool result_stays = false;  ///< whether ops in place are refused on its result
  /// Whether it gives memory and writes nothing: the elements are undefined. It has no `compute`.
  static constexpr bool gives_memory = false;
  /// Whether an element depends on its position, its number in the row-major order of output 0. `work` and `compute` then have
  /// one more input, after the others: a view of output 0's shape, of which `position_of` gives the first element's position.
  static constexpr bool takes_positions = false;
};

/// Base of every op, the library's and the user's alike. An op type D is one struct with
///  - `static constexpr std::string_view name`: as print_schedule shows it;
///  - `struct Attributes` (optional): members of 8 bytes each (std::int64_t, double);
///  - `static constexpr void infer(Inference&)`: checks the inputs and gives the outputs' specs;
///  - `static constexpr void gradient(GradientContext&)` (optional): gradients of the inputs as graph code; without it
///    autodiff refuses the op, or passes no gradient on if `differentiation` is Differentiation::stops;
///  - `static constexpr Work work(operands, input_count, attributes)`: its iteration space, which the planner cuts
///    into vertices; or `static constexpr Layout view(...)`: its result is a view of its first input and costs nothing; or
///    `static constexpr List<OpPart> expand(operands, input_count, attributes)`: the ops that it stands for;
///  - `static constexpr List<OpPart> expand_in_blocks(operands, input_count, attributes, std::int64_t blocks)` (optional): see
///  OpInfo;
///  - `template <PackedAttributes A, class... V> static void compute(V... views)`: the codelet, that is the kernel
///    for one vertex: views of statically shaped slices of the inputs, then of the outputs; or, with
///    `collective_items`, the `run_collective` that ops/collectives.hpp describes; or `transfer`: what it moves;
///  - `template <PackedAttributes A, class... V> static constexpr std::int64_t stack_bytes()` (optional): bytes of the arrays
///  that the
///    kernel has on the stack for such views, if they are more than some hundred; of a collective with A and the specs of an
///    input and an output. tw::stack_bytes counts them;
///  - `static constexpr Text options(const PackedAttributes&)` (optional): what its line in a printed graph has at its end;
///  - `static constexpr Partials partials(const PackedAttributes&)` (optional): see OpInfo;
///  - `static constexpr DType partials_dtype(const PackedAttributes&, DType output)` (optional): see OpInfo;
///  - `static constexpr double memory_proportion(const PackedAttributes&)` (optional): see OpInfo;
///  - `static constexpr Placement result_placement(const PackedAttributes&, const Placement& input)` (optional): see OpInfo;
///  - `static constexpr bool takes_float8` (optional): whether operands may be float8, with which nothing is computed. Views,
///    transfers and ops of CodeKind::copy do without saying so;
///  - `static constexpr WorkKind work_kind` and `static constexpr CodeKind code_kind` (optional), where they do not follow from
///    the rest: see make_op_info;
///  - `static constexpr VertexCost vertex_cost` (optional): what its kernel costs on an IPU; else it is a guess by its work_kind.
/// Families (ops/elementwise.hpp, ops/sum.hpp) give all but a few lines of it. What is missing, misspelt or of another type is a
/// compile error (ops/check_op.hpp).
template <class D>
struct Op : OpDefaults {
  friend constexpr auto op_of(ByTag<&op_tag<D>>) { return std::type_identity<D>{}; }
};

namespace detail {
/// The kind that an op states; else the one that its other members show.
template <class D>
constexpr WorkKind work_kind_of() {
  if constexpr (requires { D::work_kind; }) return D::work_kind;
  else if constexpr (requires { D::collective_items; }) return WorkKind::collective;
  else if constexpr (requires { D::transfer; }) return WorkKind::transfer;
  else if constexpr (requires { D::view; }) return WorkKind::view;
  else if constexpr (D::elementwise) return WorkKind::map;
  else if constexpr (requires { D::expand; }) return WorkKind::composite;
  else return WorkKind::other;
}
/// The cost that an op states; else that of its kind.
template <class D>
constexpr VertexCost vertex_cost_of() {
  if constexpr (requires { D::vertex_cost; }) return D::vertex_cost;
  else if constexpr (requires { D::code_kind; }) return default_vertex_cost(work_kind_of<D>(), D::code_kind);
  else return default_vertex_cost(work_kind_of<D>(), code_kind_of(work_kind_of<D>()));
}
/// A FaultRule from an op's `fault` without attributes. A function: GCC 14 refuses the call of a lambda's pointer in a constant
/// expression of another function.
template <class D>
constexpr FaultText fault_without_attributes(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
  return D::fault(operands, input_count);
}
template <class D>
constexpr OpInfo make_op_info() {
  OpInfo info{.tag = &op_tag<D>,
              .name = D::name,
              .infer = D::infer,
              .differentiation = D::differentiation,
              .modifies = D::modifies,
              .has_side_effect = D::has_side_effect,
              .gradient_needs_no_result = D::gradient_needs_no_result,
              .any_result_layout = D::any_result_layout,
              .any_layout = D::any_layout,
              .elementwise = D::elementwise,
              .has_formula = D::has_formula,
              .has_epilogue = D::has_epilogue,
              .bools_are_masks = D::bools_are_masks,
              .is_copy = D::is_copy,
              .result_stays = D::result_stays,
              .gives_memory = D::gives_memory,
              .takes_positions = D::takes_positions,
              .work_kind = work_kind_of<D>(),
              .code_kind = code_kind_of(work_kind_of<D>()),
              .is_alias = D::is_alias,
              .may_repeat = D::may_repeat};
  if constexpr (requires { D::code_kind; }) info.code_kind = D::code_kind;
  if constexpr (requires { D::vertex_cost; }) info.vertex_cost = D::vertex_cost;
  else info.vertex_cost = default_vertex_cost(info.work_kind, info.code_kind);
  info.takes_float8 = info.code_kind == CodeKind::copy || info.work_kind == WorkKind::view;
  if constexpr (requires { D::takes_float8; }) info.takes_float8 = D::takes_float8;
  if constexpr (requires { D::gradient; }) {
    info.differentiation = Differentiation::rule;
    info.gradient = D::gradient;
  }
  if constexpr (requires { D::view; }) info.view = D::view;
  if constexpr (requires { D::work; }) info.work = D::work;
  if constexpr (requires { D::expand; }) info.expand = D::expand;
  if constexpr (requires { D::expand_in_blocks; }) info.expand_in_blocks = D::expand_in_blocks;
  if constexpr (requires { static_cast<FaultRule>(D::fault); }) info.fault = D::fault;
  else if constexpr (requires { D::fault; }) info.fault = fault_without_attributes<D>;
  if constexpr (requires { D::options; }) info.options = D::options;
  if constexpr (requires { D::partials; }) info.partials = D::partials;
  if constexpr (requires { D::partials_dtype; }) info.partials_dtype = D::partials_dtype;
  if constexpr (requires { D::memory_proportion; }) info.memory_proportion = D::memory_proportion;
  if constexpr (requires { D::transfer; }) info.transfer = D::transfer;
  if constexpr (requires { D::result_placement; }) info.result_placement = D::result_placement;
  if constexpr (requires { D::collective_items; }) {
    info.collective_items = D::collective_items;
    info.collective_volume = D::collective_volume;
  }
  return info;
}
template <class D>
constexpr OpInfo checked_op_info() {
  if constexpr (check_op<D>()) return make_op_info<D>();
  else return {};
}
}  // namespace detail

template <class D>
inline constexpr OpInfo op_info = detail::checked_op_info<D>();

/// Appends an op to the graph that is being built and returns all its outputs.
template <class D>
constexpr List<Tensor> apply_all(Ir& ir, std::span<const Tensor> inputs, const typename D::Attributes& attributes = {}) {
  if constexpr (__is_empty(typename D::Attributes)) return emit(ir, op_info<D>, inputs);
  else return emit(ir, op_info<D>, inputs, pack(attributes));
}
/// Appends an op with one output.
template <class D>
constexpr Tensor apply(std::initializer_list<Tensor> inputs, const typename D::Attributes& attributes = {}) {
  Ir& ir = inputs.begin()->ir();
  return at_or_invalid(ir, apply_all<D>(ir, {inputs.begin(), inputs.size()}, attributes), 0);
}

namespace detail {
template <std::size_t size>
struct Letters {
  char characters[size]{};
};
/// The texts, one after the other; `size` is that of both.
template <std::size_t size>
constexpr Letters<size> joined_letters(std::string_view first, std::string_view second) {
  Letters<size> result;
  for (std::size_t i = 0; i < first.size(); ++i) result.characters[i] = first[i];
  for (std::size_t i = 0; i < second.size(); ++i) result.characters[first.size() + i] = second[i];
  return result;
}
}  // namespace detail

/// The name of an op with letters after it.
template <class D, char... suffix>
struct NameWith {
  static constexpr char letters[]{suffix...};
  static constexpr auto joined = detail::joined_letters<D::name.size() + sizeof...(suffix)>(D::name,
                                                                                            {letters, sizeof...(suffix)});
  static constexpr std::string_view value{joined.characters, D::name.size() + sizeof...(suffix)};
};
/// The name of an op's gradient op: `GeluGrad` for Gelu.
template <class D>
using GradientName = NameWith<D, 'G', 'r', 'a', 'd'>;
/// The name of an op's form in place: `GeluInplace` for Gelu.
template <class D>
using InPlaceName = NameWith<D, 'I', 'n', 'p', 'l', 'a', 'c', 'e'>;

}  // namespace tilewright
