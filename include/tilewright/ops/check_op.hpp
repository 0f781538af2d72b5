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

/// Names that an op may have or miss, and wrong spellings. A class that also has one of them in another base cannot say which it
/// means, so `&OpNames<D>::gradient` compiles only if D has no `gradient`, be it a function, a template or a number.
struct HookNames {
  int name, infer, gradient, work, view, expand, expand_in_blocks, transfer, collective_items, collective_volume, run_collective,
      fault, partials, memory_proportion, result_placement, compute, compute_with, compute_checked, forward, vertex_cost;
  int gradiant, gradients, gradeint, graident, backwards, foward, forwards, infere, infers, infer_shape, inference;
  int modifes, modify, modified, works, computes, compute_epilogue, computes_with, views, expands, transfers;
  int side_effect, has_side_effects, has_sideeffect, may_repeats, can_repeat, alias, any_layouts, any_strides, element_wise,
      is_elementwise, has_formular, has_epilog, epilogue, collective_item, run_collectives, code_byte, code_bytes, faults,
      differentation, diferentiation, Attribute, Atributes, vertex_costs, vertexcost, cost;
};
template <class D>
struct OpNames : D, HookNames {};

/// Whether an op has none of the known wrong spellings of hooks. One expression for all: it is evaluated for every op.
template <class D, class Names = OpNames<D>>
concept HasNoMisspelling = requires {
  // clang-format off
    &Names::gradiant; &Names::gradients; &Names::gradeint; &Names::graident; &Names::backwards; &Names::foward;
    &Names::forwards; &Names::infere; &Names::infers; &Names::infer_shape; &Names::inference; &Names::modifes;
    &Names::modify; &Names::modified; &Names::works; &Names::computes; &Names::compute_epilogue;
    &Names::computes_with; &Names::views; &Names::expands; &Names::transfers; &Names::side_effect;
    &Names::has_side_effects; &Names::has_sideeffect; &Names::may_repeats; &Names::can_repeat; &Names::alias;
    &Names::any_layouts; &Names::any_strides; &Names::element_wise; &Names::is_elementwise; &Names::has_formular;
    &Names::has_epilog; &Names::epilogue; &Names::collective_item; &Names::run_collectives; &Names::code_byte;
    &Names::code_bytes; &Names::faults; &Names::differentation; &Names::diferentiation; &Names::Attribute;
    &Names::Atributes; &Names::vertex_costs; &Names::vertexcost; &Names::cost;
  // clang-format on
};
struct Misspelling {
  std::string_view wrong{}, right{};
};
/// The first of an op's names that is a known wrong spelling of a hook's.
template <class D>
constexpr Misspelling misspelling() {
  using Names = OpNames<D>;
  // clang-format off
  if (!requires { &Names::gradiant; }) return {"gradiant", "gradient"};
  if (!requires { &Names::gradients; }) return {"gradients", "gradient"};
  if (!requires { &Names::gradeint; }) return {"gradeint", "gradient"};
  if (!requires { &Names::graident; }) return {"graident", "gradient"};
  if (!requires { &Names::backwards; }) return {"backwards", "backward"};
  if (!requires { &Names::foward; }) return {"foward", "forward"};
  if (!requires { &Names::forwards; }) return {"forwards", "forward"};
  if (!requires { &Names::infere; }) return {"infere", "infer"};
  if (!requires { &Names::infers; }) return {"infers", "infer"};
  if (!requires { &Names::infer_shape; }) return {"infer_shape", "infer"};
  if (!requires { &Names::inference; }) return {"inference", "infer"};
  if (!requires { &Names::modifes; }) return {"modifes", "modifies"};
  if (!requires { &Names::modify; }) return {"modify", "modifies"};
  if (!requires { &Names::modified; }) return {"modified", "modifies"};
  if (!requires { &Names::works; }) return {"works", "work"};
  if (!requires { &Names::computes; }) return {"computes", "compute"};
  if (!requires { &Names::compute_epilogue; }) return {"compute_epilogue", "compute_with"};
  if (!requires { &Names::computes_with; }) return {"computes_with", "compute_with"};
  if (!requires { &Names::views; }) return {"views", "view"};
  if (!requires { &Names::expands; }) return {"expands", "expand"};
  if (!requires { &Names::transfers; }) return {"transfers", "transfer"};
  if (!requires { &Names::side_effect; }) return {"side_effect", "has_side_effect"};
  if (!requires { &Names::has_side_effects; }) return {"has_side_effects", "has_side_effect"};
  if (!requires { &Names::has_sideeffect; }) return {"has_sideeffect", "has_side_effect"};
  if (!requires { &Names::may_repeats; }) return {"may_repeats", "may_repeat"};
  if (!requires { &Names::can_repeat; }) return {"can_repeat", "may_repeat"};
  if (!requires { &Names::alias; }) return {"alias", "is_alias"};
  if (!requires { &Names::any_layouts; }) return {"any_layouts", "any_layout"};
  if (!requires { &Names::any_strides; }) return {"any_strides", "any_layout"};
  if (!requires { &Names::element_wise; }) return {"element_wise", "elementwise"};
  if (!requires { &Names::is_elementwise; }) return {"is_elementwise", "elementwise"};
  if (!requires { &Names::has_formular; }) return {"has_formular", "has_formula"};
  if (!requires { &Names::has_epilog; }) return {"has_epilog", "has_epilogue"};
  if (!requires { &Names::epilogue; }) return {"epilogue", "has_epilogue"};
  if (!requires { &Names::collective_item; }) return {"collective_item", "collective_items"};
  if (!requires { &Names::run_collectives; }) return {"run_collectives", "run_collective"};
  if (!requires { &Names::code_byte; }) return {"code_byte", "code_kind"};
  if (!requires { &Names::code_bytes; }) return {"code_bytes", "code_kind"};
  if (!requires { &Names::faults; }) return {"faults", "fault"};
  if (!requires { &Names::differentation; }) return {"differentation", "differentiation"};
  if (!requires { &Names::diferentiation; }) return {"diferentiation", "differentiation"};
  if (!requires { &Names::Attribute; }) return {"Attribute", "Attributes"};
  if (!requires { &Names::Atributes; }) return {"Atributes", "Attributes"};
  if (!requires { &Names::vertex_costs; }) return {"vertex_costs", "vertex_cost"};
  if (!requires { &Names::vertexcost; }) return {"vertexcost", "vertex_cost"};
  if (!requires { &Names::cost; }) return {"cost", "vertex_cost"};
  // clang-format on
  return {};
}

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

/// What is wrong with an op type: `<op>: <given>: <expected>`, or nothing.
template <class D>
constexpr Text op_problem() {
  using Names = OpNames<D>;
  constexpr bool has_view = !requires { &Names::view; }, has_expand = !requires { &Names::expand; },
                 has_compute = !requires { &Names::compute; }, has_items = !requires { &Names::collective_items; };
  if constexpr (!HasNoMisspelling<D>)
    return problem_text<D>("a member `", misspelling<D>().wrong, "`, which nothing reads: `", misspelling<D>().right,
                           "` expected");
  else if constexpr (!requires { std::string_view(D::name); })
    return problem_text<D>("no name: `static constexpr std::string_view name` expected");
  else if constexpr (!requires { static_cast<decltype(OpInfo::infer)>(D::infer); })
    return problem_text<D>(
        requires { &Names::infer; } ? "no infer" : "infer of another type, or not public",
        ": `static constexpr void infer(Inference&)` expected");
  else if constexpr (!requires { &Names::gradient; } && !requires { static_cast<decltype(OpInfo::gradient)>(D::gradient); })
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
  else if constexpr (
      !requires { &Names::expand_in_blocks; } &&
      !requires { static_cast<decltype(OpInfo::expand_in_blocks)>(D::expand_in_blocks); })
    return problem_text<D>(
        "expand_in_blocks of another type, or not public: `static constexpr List<OpPart> expand_in_blocks(std::span<const "
        "TensorSpec> operands, int input_count, const PackedAttributes&, std::int64_t blocks)` expected");
  else if constexpr (!requires { &Names::transfer; } && !requires { static_cast<decltype(OpInfo::transfer)>(D::transfer); })
    return problem_text<D>(
        "transfer of another type, or not public: `static constexpr Transfer transfer(const PackedAttributes&)` expected");
  else if constexpr (has_items && !requires { static_cast<decltype(OpInfo::collective_items)>(D::collective_items); })
    return problem_text<D>(
        "collective_items of another type, or not public: `static constexpr std::int64_t collective_items(const "
        "PackedAttributes&, const TensorSpec& input, const TensorSpec& output)` expected");
  else if constexpr (has_view && (has_compute || has_expand || has_items))
    return problem_text<D>("view and ",
                           has_compute  ? "compute"
                           : has_expand ? "expand"
                                        : "collective_items",
                           ": one of them expected");
  else if constexpr (has_items && (has_compute || has_expand))
    return problem_text<D>("collective_items and ", has_compute ? "compute" : "expand", ": one of them expected");
  else if constexpr (has_items == requires { &Names::run_collective; })
    return problem_text<D>(has_items ? "collective_items without run_collective" : "run_collective without collective_items",
                           ": both expected");
  else if constexpr (has_items && !requires { static_cast<decltype(OpInfo::collective_volume)>(D::collective_volume); })
    return problem_text<D>(
        "collective_items without collective_volume: `static constexpr CollectiveVolume collective_volume(const "
        "PackedAttributes&, const TensorSpec& input, const TensorSpec& output)` expected");
  else if constexpr (!requires { &Names::partials; } && !requires { static_cast<decltype(OpInfo::partials)>(D::partials); })
    return problem_text<D>(
        "partials of another type, or not public: `static constexpr Partials partials(const PackedAttributes&)` expected");
  else if constexpr (
      !requires { &Names::memory_proportion; } &&
      !requires { static_cast<decltype(OpInfo::memory_proportion)>(D::memory_proportion); })
    return problem_text<D>(
        "memory_proportion of another type, or not public: `static constexpr double memory_proportion(const PackedAttributes&)` "
        "expected");
  else if constexpr (
      !requires { &Names::result_placement; } &&
      !requires { static_cast<decltype(OpInfo::result_placement)>(D::result_placement); })
    return problem_text<D>(
        "result_placement of another type, or not public: `static constexpr Placement result_placement(const "
        "PackedAttributes&, const Placement& input)` expected");
  else if constexpr (
      !requires { &Names::fault; } && !requires { static_cast<FaultRule>(D::fault); } &&
      !requires { static_cast<FaultText (*)(std::span<const TensorSpec>, int)>(D::fault); })
    return problem_text<D>(
        "fault of another type, or not public: `static constexpr FaultText fault(std::span<const TensorSpec> operands, int "
        "input_count)`, with `const PackedAttributes&` or without, expected");
  else if constexpr (has_compute && !requires { &Names::fault; } && requires { &Names::compute_checked; })
    return problem_text<D>("fault without compute_checked: both expected");
  else if constexpr (!requires { &Names::vertex_cost; } && !requires { std::bool_constant<D::vertex_cost.is_complete()>{}; })
    return problem_text<D>("vertex_cost of another type, or not public: `static constexpr VertexCost vertex_cost` expected");
  else if constexpr (!requires { &Names::vertex_cost; } && !requires { requires D::vertex_cost.is_complete(); })
    return problem_text<D>(
        "vertex_cost with loops of no cycles or no elements: at least 1 of both, for float32 and for float16, expected");
  else if constexpr (D::is_copy && D::modifies != 0) return problem_text<D>("is_copy without modifies = 0: both expected");
  else if constexpr (!has_view && !has_compute && !has_expand && !has_items && !D::is_copy && !D::gives_memory &&
                     requires { &Names::transfer; })
    return problem_text<D>("nothing that gives its result: compute, view, expand or collective_items expected");
  else if constexpr (D::has_epilogue == requires { &Names::compute_with; })
    return problem_text<D>(D::has_epilogue ? "has_epilogue without compute_with" : "compute_with without has_epilogue",
                           ": both expected");
  else if constexpr (D::has_formula && !has_expand && requires { &Names::forward; })
    return problem_text<D>("has_formula without forward: both expected");
  else if constexpr (D::takes_positions && D::has_formula)
    return problem_text<D>("takes_positions and has_formula: has_formula = false, and a compute, expected");
  else if constexpr (D::is_alias && !has_view) return problem_text<D>("is_alias without view: both expected");
  else if constexpr (D::may_repeat && !D::has_side_effect)
    return problem_text<D>("may_repeat without has_side_effect: both expected");
  else if constexpr (D::modifies < -1)
    return problem_text<D>("modifies ", D::modifies, ": an input's number, or -1 for none, expected");
  else if constexpr (D::differentiation == Differentiation::rule && requires { &Names::gradient; })
    return problem_text<D>("differentiation `rule` without gradient: a gradient, `stops` or `refuses` expected");
  else if constexpr (D::differentiation == Differentiation::stops && !requires { &Names::gradient; })
    return problem_text<D>("differentiation `stops` and a gradient: one of them expected");
  else if constexpr (__is_empty(typename D::Attributes)) return {};
  else if constexpr (sizeof(typename D::Attributes) > 8 * PackedAttributes::capacity)
    return problem_text<D>("Attributes of ", sizeof(typename D::Attributes), " bytes: at most ", PackedAttributes::capacity,
                           " members of 8 bytes expected");
  else if constexpr (!PackableAttributes<typename D::Attributes>)
    return problem_text<D>("Attributes with members of other than 8 bytes: std::int64_t and double expected");
  else return {};
}

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
