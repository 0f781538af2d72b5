#pragma once
#include <initializer_list>
#include <type_traits>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/graph/emit.hpp"
#include "tilewright/op/check_op.hpp"
#include "tilewright/op/gradient_context.hpp"

namespace tilewright {

/// Maps an op's tag back to its C++ type: `op_of(ByTag<tag>{})` returns std::type_identity of the type.
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
/// Base of every op, the library's and the user's. An op type D is one struct with
///  - `static constexpr std::string_view name`: the name in print_schedule;
///  - `struct Attributes` (optional): members of 8 bytes each (std::int64_t, double);
///  - `static constexpr void infer(Inference&)`: checks the inputs and sets the outputs' specs;
///  - `static constexpr void gradient(GradientContext&)` (optional): gradients of the inputs as graph code. Without it
///    autodiff refuses the op, or stops there if `differentiation` is Differentiation::stops;
///  - `static constexpr Work work(operands, input_count, attributes)`: its iteration space, which the planner divides
///    into vertices; or `static constexpr Layout view(...)`: its result is a view of its first input and costs nothing; or
///    `static constexpr List<OpPart> expand(operands, input_count, attributes)`: the ops into which it expands;
///  - `template <PackedAttributes A, class... V> static void compute(V... views)`: the codelet, that is the kernel
///    for one vertex, on views of statically shaped slices of the inputs, then of the outputs.
/// Everything else is in groups, the structs of graph/op_info/op_groups.hpp, in VertexCost, and for one kind of machine in
/// HostRules and IpuRules. An op states a group by a conversion to it:
///
///   constexpr operator Effects() const { return Effects{.modifies = 0}; }
///
/// docs/extend/op-members.md lists all members. Families (op/elementwise.hpp, ops/reduce/sum.hpp) define all except a few lines
/// of an op. authoring::apply makes a missing member, or one of another type, a compile error (op/check_op.hpp).
template <class D, class Defaults = OpDefaults>
struct Op : Defaults {
  friend constexpr auto op_of(ByTag<&op_tag<D>>) { return std::type_identity<D>{}; }
};

/// The description of an op. The ops of the library are not checked in each program; authoring::apply checks those of users.
template <class D>
#ifndef TILEWRIGHT_CHECK_ALL_OPS  // a test defines it
inline constexpr const OpInfo& op_info = detail::stated_op_info<D>;
#else
inline constexpr const OpInfo& op_info = checked_op_info<D>();
#endif

/// Appends an op to the graph that is being built and returns all its outputs.
template <class D>
constexpr List<Tensor> apply_all(Ir& ir, Span<const Tensor> inputs, const typename D::Attributes& attributes = {}) {
  if constexpr (__is_empty(typename D::Attributes)) return emit_op(ir, op_info<D>, inputs);
  else return emit_op(ir, op_info<D>, inputs, pack(attributes));
}
/// Appends an op with one output.
template <class D>
constexpr Tensor apply(std::initializer_list<Tensor> inputs, const typename D::Attributes& attributes = {}) {
  if constexpr (__is_empty(typename D::Attributes)) return emit_op_of_one(op_info<D>, inputs);
  else return emit_op_of_one(op_info<D>, inputs, pack(attributes));
}

namespace detail {
template <std::size_t size>
struct Letters {
  char characters[size]{};
};
/// Concatenates two texts; `size` is the length of the result.
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
