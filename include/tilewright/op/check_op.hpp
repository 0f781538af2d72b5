#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/core/text/type_name.hpp"
#include "tilewright/op/stated_op.hpp"

namespace tilewright {

namespace detail {

/// Whether an op's attributes are numbers of 8 bytes without padding, which fit into words.
template <class A>
concept PackableAttributes = sizeof(A) % 8 == 0 && __is_trivially_copyable(A) && requires {
  typename std::bool_constant<(std::bit_cast<std::array<std::int64_t, sizeof(A) / 8>>(A{}), true)>;
};

/// Returns a message that begins with the op's name, or that of its type.
template <class D, class... Pieces>
constexpr Text problem_text(const Pieces&... message) {
  if constexpr (requires { std::string_view(D::name); }) return text(std::string_view(D::name), ": ", message...);
  else return text(type_name<D>(), ": ", message...);
}

/// The templates that an op defines, and what it states beside them.
struct OpTemplates {
  bool compute, compute_checked, compute_with, compute_rows, run_collective, forward, reads_rows;
  Differentiation differentiation;
};

/// Returns what is wrong with the groups of an op, as op_problem does. A group always has the right type, because the op is
/// converted to it.
constexpr Text group_problem(const OpInfo& op, const OpTemplates& has) {
  const auto problem = [&](std::string_view given, std::string_view expected = "both expected") {
    return text(op.name, ": ", given, ": ", expected);
  };
  if (!op.infer) return problem("no infer", "`static constexpr void infer(Inference&)` expected");
  const bool has_items = op.collective_items;
  if (op.view && (has.compute || op.expand || has_items))
    return problem(has.compute ? "view and compute"
                   : op.expand ? "view and expand"
                               : "view and collective_items",
                   "one of them expected");
  if (has_items && (has.compute || op.expand))
    return problem(has.compute ? "collective_items and compute" : "collective_items and expand", "one of them expected");
  if (has_items != has.run_collective)
    return problem(has_items ? "collective_items without run_collective" : "run_collective without collective_items");
  if (has_items ? !op.collective_volume : op.collective_volume && !op.view)  // a view's: which replicas have the same
    return problem(has_items ? "collective_items without collective_volume" : "collective_volume without collective_items");
  if (has.compute && op.fault && !has.compute_checked) return problem("fault without compute_checked");
  if (!op.vertex_cost.is_complete())
    return problem("VertexCost with loops of no cycles or no elements",
                   "at least 1 cycle and 1 element, for float32 and for float16, expected");
  if (op.is_copy && op.modifies != 0) return problem("is_copy without modifies = 0");
  if (!op.view && !has.compute && !op.expand && !has_items && !op.is_copy && !op.gives_memory && !op.transfer)
    return problem("nothing that gives its result", "compute, view, expand or collective_items expected");
  if (op.has_epilogue != has.compute_with)
    return problem(op.has_epilogue ? "has_epilogue without compute_with" : "compute_with without has_epilogue");
  if (has.reads_rows && !has.compute_rows) return problem("reads_rows without compute_rows");
  if (op.has_formula && !op.expand && !has.forward) return problem("has_formula without forward");
  if (op.takes_positions && op.has_formula)
    return problem("takes_positions with has_formula = true", "has_formula = false and a compute function expected");
  if (op.is_alias && !op.view) return problem("is_alias without view");
  if (op.may_repeat && !op.has_side_effect) return problem("may_repeat without has_side_effect");
  if (op.modifies < -1) return text(op.name, ": modifies ", op.modifies, ": an input's number, or -1 for none, expected");
  if (has.differentiation == Differentiation::rule && !op.gradient)
    return problem("differentiation `rule` without gradient", "a gradient, `stops` or `refuses` expected");
  if (has.differentiation == Differentiation::stops && op.gradient)
    return problem("differentiation `stops` and a gradient", "one of them expected");
  return {};
}

/// The members that all ops have, whose types are in OpInfo.
struct OpMembers {
  std::string_view name;
  decltype(OpInfo::infer) infer;
  decltype(OpInfo::gradient) gradient;
  decltype(OpInfo::work) work;
  decltype(OpInfo::view) view;
  decltype(OpInfo::expand) expand;
};
template <class D>
concept HasOpMembers = requires { OpMembers{D::name, D::infer, D::gradient, D::work, D::view, D::expand}; };

/// Returns what is wrong with the members that all ops have.
template <class D>
constexpr std::string_view member_problem() {
  if constexpr (!requires { std::string_view(D::name); }) return "no name: `static constexpr std::string_view name` expected";
  else if constexpr (!requires { static_cast<decltype(OpInfo::infer)>(D::infer); })
    return "infer of another type, or not public: `static constexpr void infer(Inference&)` expected";
  else if constexpr (!requires { static_cast<decltype(OpInfo::gradient)>(D::gradient); })
    return "gradient of another type, or not public: `static constexpr void gradient(GradientContext&)` expected";
  else if constexpr (!requires { static_cast<decltype(OpInfo::work)>(D::work); })
    return "work of another type, or not public: `static constexpr Work work(std::span<const TensorSpec> operands, int "
           "input_count, const PackedAttributes&)` expected";
  else if constexpr (!requires { static_cast<decltype(OpInfo::view)>(D::view); })
    return "view of another type, or not public: `static constexpr Layout view(const Shape& input, const Layout&, const Shape& "
           "output, const PackedAttributes&)` expected";
  else
    return "expand of another type, or not public: `static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, "
           "int input_count, const PackedAttributes&)` expected";
}

/// Returns what is wrong with an op type, `<op>: <given>: <expected>`, or nothing.
template <class D>
constexpr Text op_problem() {
  if constexpr (!HasOpMembers<D>) {
    return problem_text<D>(member_problem<D>());
  } else if constexpr (sizeof(typename D::Attributes) > 8 * PackedAttributes::capacity) {
    return problem_text<D>("Attributes of ", sizeof(typename D::Attributes), " bytes: at most ", PackedAttributes::capacity,
                           " members of 8 bytes expected");
  } else if constexpr (!__is_empty(typename D::Attributes) && !PackableAttributes<typename D::Attributes>) {
    return problem_text<D>("Attributes with members of other than 8 bytes: std::int64_t and double expected");
  } else {
    return group_problem(stated_op_info<D>, {!requires { requires __is_same(decltype(D::compute), const NotGiven);
  }
  , !requires { requires __is_same(decltype(D::compute_checked), const NotGiven); },
      !requires { requires __is_same(decltype(D::compute_with), const NotGiven); },
      !requires { requires __is_same(decltype(D::compute_rows), const NotGiven); },
      !requires { requires __is_same(decltype(D::run_collective), const NotGiven); },
      !requires { requires __is_same(decltype(D::forward), const NotGiven); },
      requires { requires op_object<D>.operator HostRules().reads_rows != nullptr; }, D::differentiation
});
}  // namespace detail
}  // namespace tilewright

template <class D>
inline constexpr bool has_problem = !op_problem<D>().empty();

inline constexpr OpInfo no_op_info{};
}  // namespace detail

/// Returns the description of an op, if the op has all required members (op/op.hpp). Otherwise the compilation stops with what is
/// wrong.
template <class D>
constexpr const OpInfo& checked_op_info() {
  if constexpr (!detail::has_problem<D>) {
    return detail::stated_op_info<D>;
  } else {
    static_assert(sizeof(Report<[] { return detail::op_problem<D>(); }>) > 0);
    return detail::no_op_info;
  }
}

}  // namespace tilewright
