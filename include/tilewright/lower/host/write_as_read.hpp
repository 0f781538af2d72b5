#pragma once
// takes: operations
// gives: layouts of products whose only reader is one formula
// keeps: all else
#include "tilewright/lower/host/moved_layout.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"

namespace tilewright::internal {

namespace detail {

/// Returns the product whose only reader has this operand, if nothing else uses its result; or none.
constexpr Operation* product_read_by(BodyDraft& draft, const Value& read) {
  Operation* product = nullptr;
  int uses = 0;
  for (Operation& operation : draft.operations)
    for (std::size_t o = 0; o < operation.operands.size(); ++o) {
      if (operation.operands[o].storage != read.storage) continue;
      if (++uses > 2) return nullptr;
      if (operation.is_output(static_cast<int>(o))) product = &operation;
    }
  if (uses != 2 || product == nullptr || product->is_call() || product->op->work_kind != WorkKind::product) return nullptr;
  return host_rules_of(*product->op).any_result_layout ? product : nullptr;
}
/// Makes the product that computes an operand of a formula write it in the order in which the formula reads it.
constexpr void write_in_order(BodyDraft& draft, Value& read) {
  if (!draft.in_frame(read.storage) || is_dense(read.spec.shape, read.layout)) return;
  Operation* const product = product_read_by(draft, read);
  if (product == nullptr) return;
  Value& result = product->operands[product->input_count];
  if (!is_whole_and_dense(result, draft.storage(result.storage))) return;
  const Layout order = dense_layout(read.spec.shape);
  const auto layout = moved_layout(result, read, order);
  // Products have no kernel whose results follow each other along another axis than these.
  const int rank = result.spec.shape.rank;
  if (!layout ||
      (layout->strides[static_cast<std::size_t>(rank - 1)] != 1 && layout->strides[static_cast<std::size_t>(rank - 2)] != 1))
    return;
  result.layout = *layout;
  read.layout = order;
}

}  // namespace detail

/// Makes a product write its result in the order of its reader, if only a formula reads it, with its axes in another order. Loops
/// of formulas are fast only on contiguous elements, and products can be stored in either order at the same cost.
constexpr void write_as_read(BodyDraft& draft) {
  for (Operation& operation : draft.operations) {
    if (operation.is_call() || !operation.op->has_formula) continue;
    for (int o = 0; o < operation.input_count; ++o)
      if (Value& read = operation.operands[o]; !has_runs(read.spec.shape, read.layout)) detail::write_in_order(draft, read);
  }
}

}  // namespace tilewright::internal
