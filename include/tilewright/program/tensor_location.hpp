#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "tilewright/program/remote_buffer.hpp"

namespace tilewright {

/// Memory that holds a tensor. Names are PopXL's.
enum class TensorStorage : std::uint8_t {
  OnChip,  ///< the machine's memory
  OffChip  ///< streaming memory, outside of the machine: rows of remote buffers
};
[[nodiscard]] constexpr std::string_view to_text(TensorStorage storage) {
  return storage == TensorStorage::OnChip ? "OnChip" : "OffChip";
}

/// Whether replicas hold a tensor as a whole or in shards. Names are PopXL's.
enum class ReplicatedTensorSharding : std::uint8_t {
  Off,  ///< each replica has the whole tensor
  On    ///< each replica has a shard: a tensor with a meta_shape
};
[[nodiscard]] constexpr std::string_view to_text(ReplicatedTensorSharding sharding) {
  return sharding == ReplicatedTensorSharding::Off ? "Off" : "On";
}

/// Memory of a tensor, and whether replicas divide the tensor among themselves.
struct TensorLocation {
  TensorStorage storage = TensorStorage::OnChip;  ///< memory that holds the tensor
  ReplicatedTensorSharding replicated_tensor_sharding = ReplicatedTensorSharding::Off;  ///< whether a replica holds a shard of it
  friend constexpr bool operator==(const TensorLocation&, const TensorLocation&) = default;
};
[[nodiscard]] constexpr Text to_text(const TensorLocation& location) {
  return text("TensorLocation(storage=", to_text(location.storage),
              ", replicated_tensor_sharding=", to_text(location.replicated_tensor_sharding), ")");
}

/// Location of a tensor; for a remote variable, also its row. Tensor::location_info returns it.
struct TensorLocationInfo {
  TensorLocation location{};
  std::optional<RemoteBuffer> remote_buffer{};  ///< buffer of a remote variable; nothing: OnChip
  std::int64_t row = 0;  ///< number of the variable's row of the buffer; 0: first row, or no buffer

  constexpr bool is_remote() const { return location.storage == TensorStorage::OffChip; }
  constexpr bool is_sharded() const { return location.replicated_tensor_sharding == ReplicatedTensorSharding::On; }
};

constexpr TensorLocationInfo Tensor::location_info() const {
  TensorLocationInfo result;
  if (!is_usable()) return result;
  bool is_sharded = meta_shape().has_value();
  if (kind() == TensorKind::remote) {
    const VariableRecord& variable = ir().tables.variables[static_cast<std::size_t>(ir().tables.record(*this).payload)];
    const RemoteBuffer buffer(ir(), variable.remote_buffer);
    is_sharded = buffer.meta_shape().has_value();
    result = {.location = {.storage = TensorStorage::OffChip}, .remote_buffer = buffer, .row = variable.row};
  }
  if (is_sharded) result.location.replicated_tensor_sharding = ReplicatedTensorSharding::On;
  return result;
}

}  // namespace tilewright
