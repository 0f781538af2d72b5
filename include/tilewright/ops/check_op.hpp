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
  int name, infer, gradient, work, view, expand, transfer, collective_items, collective_volume, run_collective, fault, compute,
      compute_with, compute_checked, forward;
  int gradiant, gradients, gradeint, graident, backwards, foward, forwards, infere, infers, infer_shape, inference;
  int modifes, modify, modified, works, computes, compute_epilogue, computes_with, views, expands, transfers;
  int side_effect, has_side_effects, has_sideeffect, may_repeats, can_repeat, alias, any_layouts, any_strides, element_wise,
      is_elementwise, has_formular, has_epilog, epilogue, collective_item, run_collectives, code_byte, code_bytes, faults,
      differentation, diferentiation, Attribute, Atributes;
};
template <class D>
struct OpNames : D, HookNames {};

struct Misspelling {
  bool is_absent;
  const char *wrong, *right;  // no std::string_view, whose length would be counted for every op
};
/// The first of an op's names that is a known wrong spelling of a hook's.
template <class D>
constexpr Misspelling misspelling() {
  using Names = OpNames<D>;
  // clang-format off
  const Misspelling all[] = {
      {requires { &Names::gradiant; }, "gradiant", "gradient"},
      {requires { &Names::gradients; }, "gradients", "gradient"},
      {requires { &Names::gradeint; }, "gradeint", "gradient"},
      {requires { &Names::graident; }, "graident", "gradient"},
      {requires { &Names::backwards; }, "backwards", "backward"},
      {requires { &Names::foward; }, "foward", "forward"},
      {requires { &Names::forwards; }, "forwards", "forward"},
      {requires { &Names::infere; }, "infere", "infer"},
      {requires { &Names::infers; }, "infers", "infer"},
      {requires { &Names::infer_shape; }, "infer_shape", "infer"},
      {requires { &Names::inference; }, "inference", "infer"},
      {requires { &Names::modifes; }, "modifes", "modifies"},
      {requires { &Names::modify; }, "modify", "modifies"},
      {requires { &Names::modified; }, "modified", "modifies"},
      {requires { &Names::works; }, "works", "work"},
      {requires { &Names::computes; }, "computes", "compute"},
      {requires { &Names::compute_epilogue; }, "compute_epilogue", "compute_with"},
      {requires { &Names::computes_with; }, "computes_with", "compute_with"},
      {requires { &Names::views; }, "views", "view"},
      {requires { &Names::expands; }, "expands", "expand"},
      {requires { &Names::transfers; }, "transfers", "transfer"},
      {requires { &Names::side_effect; }, "side_effect", "has_side_effect"},
      {requires { &Names::has_side_effects; }, "has_side_effects", "has_side_effect"},
      {requires { &Names::has_sideeffect; }, "has_sideeffect", "has_side_effect"},
      {requires { &Names::may_repeats; }, "may_repeats", "may_repeat"},
      {requires { &Names::can_repeat; }, "can_repeat", "may_repeat"},
      {requires { &Names::alias; }, "alias", "is_alias"},
      {requires { &Names::any_layouts; }, "any_layouts", "any_layout"},
      {requires { &Names::any_strides; }, "any_strides", "any_layout"},
      {requires { &Names::element_wise; }, "element_wise", "elementwise"},
      {requires { &Names::is_elementwise; }, "is_elementwise", "elementwise"},
      {requires { &Names::has_formular; }, "has_formular", "has_formula"},
      {requires { &Names::has_epilog; }, "has_epilog", "has_epilogue"},
      {requires { &Names::epilogue; }, "epilogue", "has_epilogue"},
      {requires { &Names::collective_item; }, "collective_item", "collective_items"},
      {requires { &Names::run_collectives; }, "run_collectives", "run_collective"},
      {requires { &Names::code_byte; }, "code_byte", "code_kind"},
      {requires { &Names::code_bytes; }, "code_bytes", "code_kind"},
      {requires { &Names::faults; }, "faults", "fault"},
      {requires { &Names::differentation; }, "differentation", "differentiation"},
      {requires { &Names::diferentiation; }, "diferentiation", "differentiation"},
      {requires { &Names::Attribute; }, "Attribute", "Attributes"},
      {requires { &Names::Atributes; }, "Atributes", "Attributes"},
  };
  // clang-format on
for (const Misspelling& each : all)
  if (!each.is_absent) return each;
return {true, nullptr, nullptr};
}

/// Whether an op's attributes are numbers of 8 bytes without padding between them, which words can hold.
template <class A>
concept PackableAttributes = sizeof(A) % 8 == 0 && std::is_trivially_copyable_v<A> && requires {
  typename std::bool_constant<(std::bit_cast<std::array<std::int64_t, sizeof(A) / 8>>(A{}), true)>;
};

/// What is wrong with an op type: `<op>: <given>: <expected>`, or nothing.
template <class D>
constexpr Text op_problem() {
  using Names = OpNames<D>;
  constexpr bool has_view = !requires { &Names::view; }, has_expand = !requires { &Names::expand; },
                 has_compute = !requires { &Names::compute; }, has_items = !requires { &Names::collective_items; };
  const auto fail = [](const auto&... message) {
    if constexpr (requires { std::string_view(D::name); }) return text(std::string_view(D::name), ": ", message...);
    else return text(type_name<D>(), ": ", message...);
  };
  if constexpr (constexpr auto found = misspelling<D>(); !found.is_absent)
    return fail("a member `", found.wrong, "`, which nothing reads: `", found.right, "` expected");
  else if constexpr (!requires { std::string_view(D::name); })
    return fail("no name: `static constexpr std::string_view name` expected");
  else if constexpr (!requires { static_cast<decltype(OpInfo::infer)>(D::infer); })
    return fail(
        requires { &Names::infer; } ? "no infer" : "infer of another type, or not public",
        ": `static constexpr void infer(Inference&)` expected");
  else if constexpr (!requires { &Names::gradient; } && !requires { static_cast<decltype(OpInfo::gradient)>(D::gradient); })
    return fail("gradient of another type, or not public: `static constexpr void gradient(GradientContext&)` expected");
  else if constexpr (!requires { &Names::work; } && !requires { static_cast<decltype(OpInfo::work)>(D::work); })
    return fail(
        "work of another type, or not public: `static constexpr Work work(std::span<const TensorSpec> operands, int "
        "input_count, const PackedAttributes&)` expected");
  else if constexpr (has_view && !requires { static_cast<decltype(OpInfo::view)>(D::view); })
    return fail(
        "view of another type, or not public: `static constexpr Layout view(const Shape& input, const Layout&, const "
        "Shape& output, const PackedAttributes&)` expected");
  else if constexpr (has_expand && !requires { static_cast<decltype(OpInfo::expand)>(D::expand); })
    return fail(
        "expand of another type, or not public: `static constexpr List<OpPart> expand(std::span<const TensorSpec> "
        "operands, int input_count, const PackedAttributes&)` expected");
  else if constexpr (!requires { &Names::transfer; } && !requires { static_cast<decltype(OpInfo::transfer)>(D::transfer); })
    return fail(
        "transfer of another type, or not public: `static constexpr Transfer transfer(const PackedAttributes&)` expected");
  else if constexpr (has_items && !requires { static_cast<decltype(OpInfo::collective_items)>(D::collective_items); })
    return fail(
        "collective_items of another type, or not public: `static constexpr std::int64_t collective_items(const "
        "PackedAttributes&, const TensorSpec& input, const TensorSpec& output)` expected");
  else if constexpr (has_view && (has_compute || has_expand || has_items))
    return fail("view and ", has_compute ? "compute" : has_expand ? "expand" : "collective_items", ": one of them expected");
  else if constexpr (has_items && (has_compute || has_expand))
    return fail("collective_items and ", has_compute ? "compute" : "expand", ": one of them expected");
  else if constexpr (has_items == requires { &Names::run_collective; })
    return fail(has_items ? "collective_items without run_collective" : "run_collective without collective_items",
                ": both expected");
  else if constexpr (has_items && !requires { static_cast<decltype(OpInfo::collective_volume)>(D::collective_volume); })
    return fail(
        "collective_items without collective_volume: `static constexpr CollectiveVolume collective_volume(const "
        "PackedAttributes&, const TensorSpec& input, const TensorSpec& output)` expected");
  else if constexpr (
      !requires { &Names::fault; } && !requires { static_cast<FaultRule>(D::fault); } &&
      !requires { static_cast<FaultText (*)(std::span<const TensorSpec>, int)>(D::fault); })
    return fail(
        "fault of another type, or not public: `static constexpr FaultText fault(std::span<const TensorSpec> operands, int "
        "input_count)`, with `const PackedAttributes&` or without, expected");
  else if constexpr (has_compute && !requires { &Names::fault; } && requires { &Names::compute_checked; })
    return fail("fault without compute_checked: both expected");
  else if constexpr (D::is_copy && D::modifies != 0) return fail("is_copy without modifies = 0: both expected");
  else if constexpr (!has_view && !has_compute && !has_expand && !has_items && !D::is_copy && !D::gives_memory &&
                     requires { &Names::transfer; })
    return fail("nothing that gives its result: compute, view, expand or collective_items expected");
  else if constexpr (D::has_epilogue == requires { &Names::compute_with; })
    return fail(D::has_epilogue ? "has_epilogue without compute_with" : "compute_with without has_epilogue", ": both expected");
  else if constexpr (D::has_formula && !has_expand && requires { &Names::forward; })
    return fail("has_formula without forward: both expected");
  else if constexpr (D::takes_positions && D::has_formula)
    return fail("takes_positions and has_formula: has_formula = false, and a compute, expected");
  else if constexpr (D::is_alias && !has_view) return fail("is_alias without view: both expected");
  else if constexpr (D::may_repeat && !D::has_side_effect) return fail("may_repeat without has_side_effect: both expected");
  else if constexpr (D::modifies < -1) return fail("modifies ", D::modifies, ": an input's number, or -1 for none, expected");
  else if constexpr (D::differentiation == Differentiation::rule && requires { &Names::gradient; })
    return fail("differentiation `rule` without gradient: a gradient, `stops` or `refuses` expected");
  else if constexpr (D::differentiation == Differentiation::stops && !requires { &Names::gradient; })
    return fail("differentiation `stops` and a gradient: one of them expected");
  else if constexpr (std::is_empty_v<typename D::Attributes>) return {};
  else if constexpr (sizeof(typename D::Attributes) > 8 * PackedAttributes::capacity)
    return fail("Attributes of ", sizeof(typename D::Attributes), " bytes: at most ", PackedAttributes::capacity,
                " members of 8 bytes expected");
  else if constexpr (!PackableAttributes<typename D::Attributes>)
    return fail("Attributes with members of other than 8 bytes: std::int64_t and double expected");
  else return {};
}

template <class D>
inline constexpr bool has_problem = !op_problem<D>().empty();
}  // namespace detail

/// Whether an op type gives the library what it asks for (ops/op.hpp). If not, the compilation stops with what is wrong.
template <class D>
constexpr bool check_op() {
  if constexpr (std::is_final_v<D>) {
    return true;
  } else if constexpr (!detail::has_problem<D>) {
    return true;
  } else {
    static_assert(sizeof(Report<[] { return detail::op_problem<D>(); }>) > 0);
    return false;
  }
}

}  // namespace tilewright
