#pragma once
#include <cstddef>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/verified/memory/shared_memories.hpp"
#include "tilewright/verified/terms.hpp"

namespace tilewright::internal::proof::detail {

/// Tensors of graphs while they run on values, and their memories.
class GraphTensors {
 protected:
  constexpr explicit GraphTensors(ValueTerms& terms) : terms_(terms) {}

  /// A tensor: elements of a memory.
  struct Bound {
    int memory = -1;  // -1: not made yet
    Layout layout{};
    TensorSpec spec{};
  };
  struct Scope {
    constexpr explicit Scope(const GraphRecord& of) : record(of), tensors(of.tensors.size()) {}
    const GraphRecord& record;
    List<Bound> tensors;  // by number; those between the parts of an op follow
    constexpr const TensorSpec& spec(TensorId tensor) const {
      const auto number = static_cast<std::size_t>(tensor), count = record.tensors.size();
      return number < count ? record.tensors[tensor].spec : between[number - count];
    }
    List<TensorSpec> between{};
  };

  constexpr Bound made(const TensorSpec& spec) { return {memories_.add(), dense_layout(spec.shape), spec}; }
  constexpr Bound made(const TensorSpec& spec, ValueId value) {
    const Bound result = made(spec);
    write(result, value);
    return result;
  }
  constexpr Bound dense(const Bound& from) {
    const Bound result = made(from.spec);
    write(result, read(from));
    return result;
  }
  /// Returns a tensor that has what another one has now, and keeps it.
  constexpr Bound copied(const Bound& from) {
    if (!is_dense(from.spec.shape, from.layout)) return dense(from);  // ops in place on its aliases change it, too
    return {memories_.copy(from.memory), from.layout, from.spec};
  }
  static constexpr Access access(const Bound& tensor) {
    return access_of(tensor.layout.offset * size_of(tensor.spec.dtype), tensor.spec, tensor.layout.strides);
  }
  constexpr Content read(const Bound& tensor) { return memories_.read(tensor.memory, access(tensor)); }
  /// `what`: a content, or a value.
  constexpr void write(const Bound& tensor, const auto& what) { memories_.write(tensor.memory, access(tensor), what); }
  constexpr ValueId number_of(const Bound& tensor) { return terms_.number(read(tensor), tensor.spec.shape); }
  constexpr ValueId condition_of(const Bound& tensor) {
    Access first = access(tensor);
    first.rank = 0;
    return terms_.number(memories_.read(tensor.memory, first), {});
  }
  static constexpr Bound row_of(Bound tensor, std::int64_t row) {
    tensor.layout.offset += row * tensor.layout.strides[0];
    Shape shape;
    for (int axis = 1; axis < tensor.spec.shape.rank; ++axis) {
      shape.push_back(tensor.spec.shape[axis]);
      tensor.layout.strides[static_cast<std::size_t>(axis) - 1] = tensor.layout.strides[static_cast<std::size_t>(axis)];
    }
    tensor.spec.shape = shape;
    return tensor;
  }

  ValueTerms& terms_;
  SharedMemories memories_{};
};

}  // namespace tilewright::internal::proof::detail
