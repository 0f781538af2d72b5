#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/core/type_name.hpp"
#include "tilewright/graph/op_info.hpp"

namespace tilewright {

namespace detail {

/// Names that an op may have or miss. A class that also has one of them in another base cannot say which it means, so
/// `&OpNames<D>::gradient` compiles only if D has no `gradient`, be it a function, a template or a number.
struct OptionalNames {
  int infer, gradient, work, view, expand, compute, compute_with, compute_checked, run_collective, forward;
};
template <class D>
struct OpNames : D, OptionalNames {};

/// Whether an op's attributes are numbers of 8 bytes without padding between them, which words can hold.
template <class A>
concept PackableAttributes = sizeof(A) % 8 == 0 && __is_trivially_copyable(A) && requires {
  typename std::bool_constant<(std::bit_cast<std::array<std::int64_t, sizeof(A) / 8>>(A{}), true)>;
};

/// The op's name, or that of its type, and a message.
template <class D, class... Pieces>
constexpr Text problem_text(const Pieces&... message) {
  if constexpr (requires { std::string_view(D::name); }) return text(std::string_view(D::name), ": ", message...);
  else return text(type_name<D>(), ": ", message...);
}

/// Which members an op has, and the `differentiation` that it states.
struct OpMembers {
  bool view, expand, compute, gradient, run_collective, compute_checked, compute_with, forward;
  Differentiation differentiation;
};

/// What is wrong with the groups of an op, as op_problem says it. No group is of another type, as the op is converted to it.
constexpr Text group_problem(const OpInfo& op, const OpMembers& has) {
  const auto problem = [&](std::string_view given, std::string_view expected = "both expected") {
    return text(op.name, ": ", given, ": ", expected);
  };
  const bool has_items = op.collective_items;
  if (has.view && (has.compute || has.expand || has_items))
    return problem(has.compute  ? "view and compute"
                   : has.expand ? "view and expand"
                                : "view and collective_items",
                   "one of them expected");
  if (has_items && (has.compute || has.expand))
    return problem(has.compute ? "collective_items and compute" : "collective_items and expand", "one of them expected");
  if (has_items != has.run_collective)
    return problem(has_items ? "collective_items without run_collective" : "run_collective without collective_items");
  if (has_items == !op.collective_volume)
    return problem(has_items ? "collective_items without collective_volume" : "collective_volume without collective_items");
  if (has.compute && op.fault && !has.compute_checked) return problem("fault without compute_checked");
  if (!op.vertex_cost.is_complete())
    return problem("VertexCost with loops of no cycles or no elements",
                   "at least 1 of both, for float32 and for float16, expected");
  if (op.is_copy && op.modifies != 0) return problem("is_copy without modifies = 0");
  if (!has.view && !has.compute && !has.expand && !has_items && !op.is_copy && !op.gives_memory && !op.transfer)
    return problem("nothing that gives its result", "compute, view, expand or collective_items expected");
  if (op.has_epilogue != has.compute_with)
    return problem(op.has_epilogue ? "has_epilogue without compute_with" : "compute_with without has_epilogue");
  if (op.has_formula && !has.expand && !has.forward) return problem("has_formula without forward");
  if (op.takes_positions && op.has_formula)
    return problem("takes_positions and has_formula", "has_formula = false, and a compute, expected");
  if (op.is_alias && !has.view) return problem("is_alias without view");
  if (op.may_repeat && !op.has_side_effect) return problem("may_repeat without has_side_effect");
  if (op.modifies < -1) return text(op.name, ": modifies ", op.modifies, ": an input's number, or -1 for none, expected");
  if (has.differentiation == Differentiation::rule && !has.gradient)
    return problem("differentiation `rule` without gradient", "a gradient, `stops` or `refuses` expected");
  if (has.differentiation == Differentiation::stops && has.gradient)
    return problem("differentiation `stops` and a gradient", "one of them expected");
  return {};
}

template <class D>
constexpr OpInfo make_op_info();
/// What an op says, if its members are of the right types.
template <class D>
inline constexpr OpInfo stated_op_info = make_op_info<D>();

/// What is wrong with an op type: `<op>: <given>: <expected>`, or nothing.
template <class D>
constexpr Text op_problem() {
  using Names = OpNames<D>;
  constexpr bool has_view = !requires { &Names::view; }, has_expand = !requires { &Names::expand; }, has_compute = !requires {
    &Names::compute;
  }, has_gradient = !requires { &Names::gradient; }, runs_collective = !requires { &Names::run_collective; };
  if constexpr (!requires { std::string_view(D::name); })
    return problem_text<D>("no name: `static constexpr std::string_view name` expected");
  else if constexpr (!requires { static_cast<decltype(OpInfo::infer)>(D::infer); })
    return problem_text<D>(
        requires { &Names::infer; } ? "no infer" : "infer of another type, or not public",
        ": `static constexpr void infer(Inference&)` expected");
  else if constexpr (has_gradient && !requires { static_cast<decltype(OpInfo::gradient)>(D::gradient); })
    return problem_text<D>(
        "gradient of another type, or not public: `static constexpr void gradient(GradientContext&)` expected");
  else if constexpr (!requires { &Names::work; } && !requires { static_cast<decltype(OpInfo::work)>(D::work); })
    return problem_text<D>(
        "work of another type, or not public: `static constexpr Work work(std::span<const TensorSpec> operands, int "
        "input_count, const PackedAttributes&)` expected");
  else if constexpr (has_view && !requires { static_cast<decltype(OpInfo::view)>(D::view); })
    return problem_text<D>(
        "view of another type, or not public: `static constexpr Layout view(const Shape& input, const Layout&, const "
        "Shape& output, const PackedAttributes&)` expected");
  else if constexpr (has_expand && !requires { static_cast<decltype(OpInfo::expand)>(D::expand); })
    return problem_text<D>(
        "expand of another type, or not public: `static constexpr List<OpPart> expand(std::span<const TensorSpec> "
        "operands, int input_count, const PackedAttributes&)` expected");
  else if constexpr (sizeof(typename D::Attributes) > 8 * PackedAttributes::capacity)
    return problem_text<D>("Attributes of ", sizeof(typename D::Attributes), " bytes: at most ", PackedAttributes::capacity,
                           " members of 8 bytes expected");
  else if constexpr (!__is_empty(typename D::Attributes) && !PackableAttributes<typename D::Attributes>)
    return problem_text<D>("Attributes with members of other than 8 bytes: std::int64_t and double expected");
  else
    return group_problem(stated_op_info<D>, {.view = has_view,
                                             .expand = has_expand,
                                             .compute = has_compute,
                                             .gradient = has_gradient,
                                             .run_collective = runs_collective,
                                             .compute_checked = !requires { &Names::compute_checked;
}
, .compute_with = !requires { &Names::compute_with; }, .forward = !requires { &Names::forward; },
    .differentiation = D::differentiation
}  // namespace detail
);
}  // namespace tilewright

template <class D>
inline constexpr bool has_problem = !op_problem<D>().empty();
}  // namespace detail

/// Whether an op type gives the library what it asks for (ops/op.hpp). If not, the compilation stops with what is wrong.
template <class D>
constexpr bool check_op() {
  if constexpr (__is_final(D)) {
    return true;
  } else if constexpr (!detail::has_problem<D>) {
    return true;
  } else {
    static_assert(sizeof(Report<[] { return detail::op_problem<D>(); }>) > 0);
    return false;
  }
}

}  // namespace tilewright
