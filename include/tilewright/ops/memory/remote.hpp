#pragma once
#include <algorithm>

#include "tilewright/op/op.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/program/remote_buffer.hpp"

namespace tilewright {

struct RemoteAttributes {
  std::int64_t buffer = -1;  ///< index in the Ir
  std::int64_t row = -1;  ///< -1: the last input is the row
};

/// Returns the fault of a kernel that moves a row of a table: an offset without a row. `operands`: those of the kernel.
constexpr FaultText row_fault(std::span<const TensorSpec> operands, const TensorSpec& table) {
  if (operands.size() < 3) return {};  // the row is known
  return {true, "offset", text("an offset from 0 to ", table.shape[0] - 1), true};
}

/// Base of loads and stores. In a graph, the inputs are `tensors` tensors, one or none, and the offset, if it is a tensor.
/// Kernels have other operands, see Transfer.
template <class D>
struct RemoteOp : Op<D> {
  constexpr operator Effects() const { return Effects{.has_side_effect = true}; }
  using Attributes = RemoteAttributes;

  constexpr operator Movement() const { return Movement{.transfer = transfer}; }
  static constexpr Transfer transfer(const PackedAttributes& packed) {
    const auto [buffer, row] = unpack<Attributes>(packed);
    return {.kind = TransferKind::remote, .number = buffer, .stores = D::stores, .offset = row < 0 ? D::tensors : -1, .row = row};
  }
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const RemoteBuffer buffer(op.ir(), static_cast<int>(attributes.buffer));
    if (D::tensors > 0 && op.input(0) != buffer.spec())
      return op.fail(to_text(op.input(0)), " for ", to_text(buffer), ": ", to_text(buffer.spec()), " expected");
    if (attributes.row < 0) {
      const TensorSpec& offset = op.input(D::tensors);
      if (offset.nelms() != 1 || (offset.dtype != int32 && offset.dtype != uint32))
        return op.fail("offset ", to_text(offset), ": one int32 or uint32 element expected");
    }
    if (!D::stores) op.output(buffer.spec());
  }
  constexpr operator OpTexts() const { return OpTexts{.fault = fault}; }
  static constexpr FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return row_fault(operands, D::stores ? operands.back() : operands.front());
  }
  /// Returns the work: vertices take blocks of a row's elements.
  static constexpr Work row_work(std::span<const TensorSpec> operands, int table, int tensor) {
    Work work;
    const int axis = work.add_axis({.extent = operands[static_cast<std::size_t>(tensor)].shape[0], .vectorised = true});
    work.follow(table, 1, axis);
    work.follow(tensor, 0, axis);
    return work;
  }

 protected:
  /// Returns a vertex's part of the row at a tensor's offset. If there is no such row, reports a fault and returns null.
  template <class Table, class Offset>
  static typename Table::element* row(Faults faults, Table table, Offset offset) {
    const auto number = static_cast<std::int64_t>(*offset.data);
    if (number >= 0 && number < Table::shape[0]) return table.data + number * Table::spec.stride(0);
    faults.report(number);
    return nullptr;
  }
};

/// A row of a remote buffer as a new tensor. Inputs: the offset, if it is a tensor.
struct RemoteLoad : RemoteOp<RemoteLoad> {
  static constexpr std::string_view name = "RemoteLoad";
  static constexpr Differentiation differentiation = Differentiation::stops;  // only the offset could have one
  static constexpr bool stores = false;
  static constexpr int tensors = 0;
  /// Kernel operands: table, [offset,] tensor.
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    return row_work(operands, 0, input_count);
  }
  template <PackedAttributes, class Table, class X>
  static void compute(Table table, X x) {
    std::copy_n(table.data, X::shape[0], x.data);
  }
  template <PackedAttributes, class Table, class Offset, class X>
  static void compute_checked(Faults faults, Table table, Offset offset, X x) {
    if (const auto* const from = row(faults, table, offset)) std::copy_n(from, X::shape[0], x.data);
    else std::fill_n(x.data, X::shape[0], typename X::element(0));
  }
};

/// A row of a remote buffer written to a tensor. Inputs: the tensor, then the offset, if it is a tensor.
struct RemoteLoadInplace : RemoteOp<RemoteLoadInplace> {
  static constexpr std::string_view name = "RemoteLoadInplace";
  static constexpr bool stores = false;
  static constexpr int tensors = 1;
  constexpr operator Effects() const { return Effects{.modifies = 0, .has_side_effect = true}; }
  constexpr operator Movement() const { return Movement{.transfer = transfer}; }
  static constexpr Transfer transfer(const PackedAttributes& attributes) {
    Transfer result = RemoteOp::transfer(attributes);
    result.kernel = &op_info<RemoteLoad>;  // so that loads of both kinds share their code
    return result;
  }
};

/// A tensor written to a row of a remote buffer. Inputs: the tensor, then the offset, if it is a tensor.
struct RemoteStore : RemoteOp<RemoteStore> {
  static constexpr std::string_view name = "RemoteStore";
  static constexpr bool stores = true;
  static constexpr int tensors = 1;
  /// Kernel operands: tensor, [offset,] table.
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    return row_work(operands, input_count, 0);
  }
  template <PackedAttributes, class X, class Table>
  static void compute(X x, Table table) {
    std::copy_n(x.data, X::shape[0], table.data);
  }
  template <PackedAttributes, class X, class Offset, class Table>
  static void compute_checked(Faults faults, X x, Offset offset, Table table) {
    if (auto* const to = row(faults, table, offset)) std::copy_n(x.data, X::shape[0], to);
  }
};

/// A row of a remote buffer: a number, or a scalar tensor. A constant counts as a number.
class RemoteOffset {
 public:
  template <std::integral T>
  constexpr RemoteOffset(T row) : row_(static_cast<std::int64_t>(row)) {}
  constexpr RemoteOffset(Tensor tensor) : tensor_(tensor), is_tensor_(true) {
    if (!tensor.valid() || tensor.nelms() != 1 || is_floating_point(tensor.dtype())) return;
    const ConstantRecord* constant = detail::find_constant(tensor);
    if (!constant) return;
    row_ = static_cast<std::int64_t>(constant->values[0]);
    is_tensor_ = false;
  }
  constexpr bool is_tensor() const { return is_tensor_; }
  constexpr Tensor tensor() const { return tensor_; }
  constexpr std::int64_t row() const { return row_; }

 private:
  Tensor tensor_{};
  std::int64_t row_ = -1;
  bool is_tensor_ = false;
};

namespace detail {
/// Appends a load or store of `tensors` (one, or none).
template <class D>
constexpr List<Tensor> apply_remote(std::string_view what, const RemoteBuffer& buffer, const RemoteOffset& offset,
                                    List<Tensor> tensors) {
  if (buffer.ir().failed() || !buffer.valid()) return {};
  if (offset.is_tensor()) {
    buffer.note_use();
    tensors.push_back(offset.tensor());
  } else if (!buffer.check_offset(what, offset.row())) {
    return {};
  }
  return apply_all<D>(buffer.ir(), tensors, {buffer.id() - 1, offset.is_tensor() ? -1 : offset.row()});
}
}  // namespace detail

namespace ops {
/// Loads a row of a remote buffer into the machine's memory: a tensor of the buffer's shape and dtype. `offset`: a number, which
/// is checked while the program compiles, or a tensor of one int32 or uint32 element. If a run computes an offset that the buffer
/// does not have, the result is zeros, and the session's run throws FaultError when it ends.
///
/// Loads and stores run in the order of the trace.
constexpr Tensor remote_load(RemoteBuffer buffer, RemoteOffset offset, std::string_view name = "") {
  const Tensor result = at_or_invalid(buffer.ir(), detail::apply_remote<RemoteLoad>("remote_load", buffer, offset, {}), 0);
  if (!result.valid()) return result;
  detail::name_result(result, name, "_remote_loaded");
  if (const int meta_shape = buffer.meta_shape_index(); meta_shape >= 0)
    buffer.ir().tables.record(result).meta_shape = meta_shape;
  return result;
}
/// Loads a row of a remote buffer into t, which has the buffer's shape and dtype. Returns an alias of t. The offset and its fault
/// are those of remote_load.
constexpr Tensor remote_load_(RemoteBuffer buffer, RemoteOffset offset, Tensor t) {
  return at_or_invalid(buffer.ir(), detail::apply_remote<RemoteLoadInplace>("remote_load_", buffer, offset, {t}), 0);
}
/// Stores t, of the buffer's shape and dtype, in a row of a remote buffer. The offset and its fault are those of remote_load;
/// after a fault, nothing is stored.
constexpr void remote_store(RemoteBuffer buffer, RemoteOffset offset, Tensor t) {
  detail::apply_remote<RemoteStore>("remote_store", buffer, offset, {t});
}
}  // namespace ops

}  // namespace tilewright
