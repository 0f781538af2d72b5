#pragma once
#include <optional>
#include <utility>

#include "tilewright/lower/body_draft.hpp"
#include "tilewright/ops/remote.hpp"

namespace tilewright {

/// Gives remote buffers their places in streaming memory.
constexpr void plan_remote_buffers(const Ir& ir, Plan& plan) {
  plan.remote_buffers.reserve(ir.remote_buffers.size());
  for (const RemoteBufferRecord& buffer : ir.remote_buffers) {
    plan.remote_buffers.push_back({buffer.spec, buffer.entries, plan.memory.remote});
    plan.memory.remote += buffer.entries * plan.remote_buffers.back().row_bytes();
  }
}

namespace detail {

/// The operands of loads and stores, as their kernels take them.
class RemoteOperands {
 public:
  constexpr RemoteOperands(BodyDraft& draft, const Plan& plan, const PackedAttributes& attributes)
      : draft_(draft),
        number_(unpack<RemoteAttributes>(attributes).buffer),
        row_(unpack<RemoteAttributes>(attributes).row),
        buffer_(plan.remote_buffers[static_cast<std::size_t>(number_)]) {}

  constexpr Operation load(const std::optional<Value>& offset, const Value& to) {
    Operation result{.op = &op_info<RemoteLoad>, .input_count = 1, .operands = {table()}, .alone = true};
    add_offset(result, offset);
    result.operands.push_back(as_vector(to));
    add_fault(result, offset);
    return result;
  }
  constexpr Operation store(const Value& from, const std::optional<Value>& offset) {
    Operation result{.op = &op_info<RemoteStore>, .input_count = 1, .operands = {as_vector(from)}, .alone = true};
    add_offset(result, offset);
    result.operands.push_back(table());
    add_fault(result, offset);
    return result;
  }

 private:
  /// All rows, or the one that is known.
  constexpr Value table() {
    const std::int64_t rows = row_ < 0 ? buffer_.entries : 1, first = row_ < 0 ? 0 : row_;
    Value result = draft_.add_value({{rows, buffer_.spec.nelms()}, buffer_.spec.dtype},
                                    {Base::remote, 0, buffer_.offset + first * buffer_.row_bytes()});
    result.layout.strides[0] = buffer_.row_bytes() / size_of(buffer_.spec.dtype);
    return result;
  }
  static constexpr Value as_vector(const Value& dense) {
    const TensorSpec spec{{dense.spec.nelms()}, dense.spec.dtype};
    return {dense.storage, {dense.layout.offset, dense_strides(spec.shape)}, spec};
  }
  constexpr void add_offset(Operation& operation, const std::optional<Value>& offset) const {
    if (!offset) return;
    operation.operands.push_back(as_vector(*offset));
    ++operation.input_count;
  }
  constexpr void add_fault(Operation& operation, const std::optional<Value>& offset) const {
    if (offset) operation.operands.push_back(draft_.add_value({{}, int64}, {Base::fault, 0, number_ * size_of(int64)}));
  }

  BodyDraft& draft_;
  std::int64_t number_, row_;
  const PlannedRemoteBuffer& buffer_;
};

}  // namespace detail

}  // namespace tilewright
