#pragma once
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

/// Attributes of an op without inputs: the spec of its result.
struct InitAttributes {
  detail::AxisList shape{};
  std::int64_t dtype = 0;
  constexpr TensorSpec spec() const { return {shape.shape(), static_cast<DType>(dtype)}; }
};
[[nodiscard]] constexpr InitAttributes init_attributes(const TensorSpec& spec) {
  return {detail::axis_list(spec.shape), static_cast<std::int64_t>(spec.dtype)};
}

/// Memory whose elements are undefined.
struct InitUndefined : Op<InitUndefined> {
  static constexpr std::string_view name = "InitUndefined";
  constexpr operator Movement() const { return Movement{.gives_memory = true}; }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::view}; }
  using Attributes = InitAttributes;
  static constexpr void infer(Inference& op) { op.output(op.attributes<Attributes>().spec()); }
};
/// Elements of 0.
struct InitZero : Op<InitZero> {
  static constexpr std::string_view name = "InitZero";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::fill, Confidence::published); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map}; }
  constexpr operator KernelOperands() const { return KernelOperands{.takes_float8 = true}; }
  using Attributes = InitAttributes;
  static constexpr void infer(Inference& op) { op.output(op.attributes<Attributes>().spec()); }
  static constexpr Work work(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    Work work;
    const Shape& shape = operands[0].shape;
    for (int axis = 0; axis < shape.rank; ++axis)
      work.follow(0, axis, work.add_axis({.extent = shape[axis], .vectorised = axis == shape.rank - 1}));
    return work;
  }
  template <PackedAttributes, class Out>
  static void compute(Out out);
};
/// Writes input 1 into all of input 0, which is usually a view of a larger tensor.
struct CopyInto : Op<CopyInto> {
  static constexpr std::string_view name = "CopyInto";
  constexpr operator VertexCost() const { return formula_cost(CostFormula::copy, Confidence::published); }
  constexpr operator Effects() const { return Effects{.modifies = 0}; }
  constexpr operator Movement() const { return Movement{.is_copy = true}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map, .code_kind = CodeKind::copy}; }
  static constexpr void infer(Inference& op) {
    if (op.input(0) != op.input(1))
      return op.fail(to_text(op.input(1)), " into ", to_text(op.input(0)), ": equal shapes and dtypes expected");
    op.output(op.input(0));
  }
};

namespace detail {
/// An op whose result is a larger tensor: memory, and copies of inputs into views of it.
class AssembledResult {
 public:
  /// `input_count`: that of the op that is expanded.
  constexpr AssembledResult(const TensorSpec& whole, int input_count, bool zero) : whole_(whole), memory_(input_count) {
    add({zero ? &op_info<InitZero> : &op_info<InitUndefined>, pack(init_attributes(whole)), {}, {whole}});
  }
  /// Copies an input of the op into the view of the result that View describes.
  template <class View>
  constexpr void copy(int input, const typename View::Attributes& attributes, const TensorSpec& part) {
    PackedAttributes packed;
    if constexpr (!std::is_empty_v<typename View::Attributes>) packed = pack(attributes);
    const int view = memory_ + static_cast<int>(parts_.size());
    add({&op_info<View>, packed, {memory_}, {part}});
    add({&op_info<CopyInto>, {}, {view, input}, {part}});
  }
  constexpr List<OpPart> parts() {
    add({&op_info<DetachInplace>, {}, {memory_}, {whole_}});
    return std::move(parts_);
  }

 private:
  constexpr void add(OpPart&& part) {
    make_room(parts_);
    parts_.push_back(std::move(part));
  }

  TensorSpec whole_;
  int memory_;  // its number among the inputs of parts
  List<OpPart> parts_{};
};
}  // namespace detail

/// Initial elements of a new tensor.
enum class InitType : std::uint8_t { zero, undef };

namespace ops {
/// Creates a new tensor of any shape and dtype, in any graph. Its elements are zeros, or undefined until an in-place op writes
/// them. It is not a variable: the host cannot read it. It gets the name, if one is given. It has no inputs, so no gradient.
///
///     const Tensor sums = ops::init(x.ir(), {8, 16}, tw::float32);
///     ops::copy_var_update_(ops::slice_(sums, 0, 4), x);
[[nodiscard]] constexpr Tensor init(Ir& ir, const Shape& shape, DType dtype = float32, InitType type = InitType::zero,
                                    std::string_view name = "") {
  const InitAttributes attributes = init_attributes({shape, dtype});
  Tensor result;
  if (type == InitType::undef) result = at_or_invalid(ir, apply_all<InitUndefined>(ir, {}, attributes), 0);
  else result = at_or_invalid(ir, apply_all<InitZero>(ir, {}, attributes), 0);
  detail::name_result(result, name);
  return result;
}
}  // namespace ops

}  // namespace tilewright
