#pragma once
#include "tilewright/core/span.hpp"
#include "tilewright/kernel/mask.hpp"
#include "tilewright/kernel/math.hpp"
#include "tilewright/op/in_place.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/elementwise/unary_with_slope.hpp"
#include "tilewright/ops/memory/remote.hpp"

/// Names for writing ops: see docs/extend/adding-an-op.md. A minor version may change them; CHANGELOG.md then says how to follow.
namespace tilewright::authoring {

// what an op is
using tilewright::CodeKind;
using tilewright::CollectiveWork;
using tilewright::compiled_cost;
using tilewright::Confidence;
using tilewright::CostFormula;
using tilewright::CutRules;
using tilewright::Differentiation;
using tilewright::Effects;
using tilewright::Elementwise;
using tilewright::Fusion;
using tilewright::GradientContext;
using tilewright::GradientFrom;
using tilewright::GradientName;
using tilewright::HostRules;
using tilewright::Inference;
using tilewright::InPlace;
using tilewright::IpuRules;
using tilewright::KernelOperands;
using tilewright::LoopCost;
using tilewright::measured_cost;
using tilewright::Movement;
using tilewright::Op;
using tilewright::OpKind;
using tilewright::OpPart;
using tilewright::OpTexts;
using tilewright::PackedAttributes;
using tilewright::UnaryGrad;
using tilewright::UnaryOp;
using tilewright::UnaryWithSlope;
using tilewright::VertexCost;
using tilewright::WorkKind;

// how its work is cut, and what its result is a view of
using tilewright::Layout;
using tilewright::Partials;
using tilewright::Work;
using tilewright::WorkAxis;
using tilewright::WorkAxisKind;

// what it moves, and what it cannot compute with
using tilewright::CollectiveVolume;
using tilewright::FaultText;
using tilewright::ReplicaGroups;
using tilewright::row_fault;
using tilewright::Transfer;
using tilewright::TransferKind;

// what its kernel gets
using tilewright::compute_t;
using tilewright::Faults;
using tilewright::position_of;
using tilewright::View;
using tilewright::ViewSpec;
namespace math = tilewright::math;

// how it becomes a part of a graph
using tilewright::at_or_invalid;
using tilewright::broadcast;
using tilewright::op_info;
using tilewright::pack;
using tilewright::unpack;

/// Appends an op with one output. A missing member of the op, or one of another type, is a compile error. (Both functions have a
/// constraint, so that they are better than the library's own, which check nothing, where `using` declares both.)
template <class D>
  requires true
constexpr Tensor apply(std::initializer_list<Tensor> inputs, const typename D::Attributes& attributes = {}) {
  static_cast<void>(checked_op_info<D>());
  return tilewright::apply<D>(inputs, attributes);
}
/// Appends an op and returns all its outputs. Checks the op as `apply` does.
template <class D>
  requires true
constexpr List<Tensor> apply_all(Ir& ir, Span<const Tensor> inputs, const typename D::Attributes& attributes = {}) {
  static_cast<void>(checked_op_info<D>());
  return tilewright::apply_all<D>(ir, inputs, attributes);
}

}  // namespace tilewright::authoring
