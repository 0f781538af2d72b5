#pragma once
#include "tilewright/graph/op_info/op_info.hpp"

namespace tilewright {

template <class D>
inline constexpr OpTag op_tag{};

/// Type of a missing template of an op.
struct NotGiven {};

/// Defaults of all ops, which an op or its family can replace.
struct OpDefaults {
  struct Attributes {};
  static constexpr Differentiation differentiation = Differentiation::refuses;
  static constexpr decltype(OpInfo::infer) infer = nullptr;
  static constexpr decltype(OpInfo::gradient) gradient = nullptr;
  static constexpr decltype(OpInfo::work) work = nullptr;
  static constexpr decltype(OpInfo::view) view = nullptr;
  static constexpr decltype(OpInfo::expand) expand = nullptr;
  static constexpr NotGiven compute{}, compute_checked{}, compute_with{}, compute_rows{}, run_collective{}, forward{};

  // its groups (graph/op_info/op_groups.hpp)
  constexpr operator Effects() const { return {}; }
  constexpr operator KernelOperands() const { return {}; }
  constexpr operator Fusion() const { return {}; }
  constexpr operator CutRules() const { return {}; }
  constexpr operator Movement() const { return {}; }
  constexpr operator CollectiveWork() const { return {}; }
  constexpr operator OpTexts() const { return {}; }
  constexpr operator OpKind() const { return {}; }
  constexpr operator VertexCost() const { return {.passes = 0}; }  // none: that of its kind
};

namespace detail {

/// An op, for conversion to its groups.
template <class D>
inline constexpr D op_object{};

/// Returns the kind of an op that states none, derived from its other members.
constexpr WorkKind shown_work_kind(const OpInfo& op) {
  if (op.collective_items) return WorkKind::collective;
  if (op.transfer) return WorkKind::transfer;
  if (op.view) return WorkKind::view;
  if (op.elementwise) return WorkKind::map;
  return op.expand ? WorkKind::composite : WorkKind::other;
}
/// Adds members that follow from the rest of an op.
constexpr OpInfo completed(OpInfo op) {
  if (op.gradient) op.differentiation = Differentiation::rule;
  if (op.work_kind == WorkKind::other) {
    op.work_kind = shown_work_kind(op);
    if (op.code_kind == CodeKind::other) op.code_kind = code_kind_of(op.work_kind);
  }
  if (!op.vertex_cost.is_stated()) op.vertex_cost = default_vertex_cost(op.work_kind, op.code_kind);
  if (op.code_kind == CodeKind::copy || op.work_kind == WorkKind::view) op.takes_float8 = true;
  return op;
}

template <class D, class Rules>
inline constexpr Rules stated_rules = op_object<D>.operator Rules();
/// Returns the rules for one kind of machine that an op states by a conversion to them, or null.
template <class D, class Rules>
constexpr const Rules* rules_of() {
  if constexpr (requires { op_object<D>.operator Rules(); }) return &stated_rules<D, Rules>;
  else return nullptr;
}
/// Returns an object of op D, for conversion to its groups.
template <class D>
constexpr const D& groups_of() {
  return op_object<D>;
}
/// Description of an op, if its members have the right types (op/check_op.hpp). Conversions are called by name, because overload
/// resolution among all of them needs much compiler memory.
template <class D>
inline constexpr OpInfo stated_op_info = completed({{op_object<D>.operator Effects()},
                                                    {op_object<D>.operator KernelOperands()},
                                                    {op_object<D>.operator Fusion()},
                                                    {op_object<D>.operator CutRules()},
                                                    {op_object<D>.operator Movement()},
                                                    {op_object<D>.operator CollectiveWork()},
                                                    {op_object<D>.operator OpTexts()},
                                                    {op_object<D>.operator OpKind()},
                                                    &op_tag<D>,
                                                    D::name,
                                                    D::infer,
                                                    D::differentiation,
                                                    D::gradient,
                                                    D::view,
                                                    D::work,
                                                    D::expand,
                                                    op_object<D>.operator VertexCost(),
                                                    {rules_of<D, HostRules>(), rules_of<D, IpuRules>()}});
}  // namespace detail

}  // namespace tilewright
