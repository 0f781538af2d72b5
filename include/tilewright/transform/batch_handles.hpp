#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/stream.hpp"
#include "tilewright/module/graph_with_named_args.hpp"
#include "tilewright/ops/memory/named_remote_buffers.hpp"
#include "tilewright/program/positions.hpp"
#include "tilewright/program/remote_buffer.hpp"
#include "tilewright/program/replica_grouping.hpp"

// What batch_serialise loads from and stores to.

namespace tilewright {

/// Rows of a remote buffer for the steps of a serialised graph, which is called with an index `row`. A block of `steps` rows of
/// the buffer belongs to one index. Step i uses row
///
///  - `i` for tw::none: all calls use the first block;
///  - `(row + n) * steps + i` for a number n;
///  - `f(row) * steps + i` for a function f, which takes and returns a uint32 scalar. It captures nothing.
class RowOffset {
 public:
  using Function = Tensor (*)(Tensor row);
  enum class Kind : std::uint8_t { none, number, function };

  constexpr RowOffset(NoneType) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  constexpr RowOffset(Integer rows) : kind_(Kind::number), number_(static_cast<std::int64_t>(rows)) {}
  template <std::convertible_to<Function> F>
    requires(!std::integral<F>)
  constexpr RowOffset(F function) : kind_(Kind::function), function_(function) {}

  constexpr Kind kind() const { return kind_; }
  constexpr std::int64_t number() const { return number_; }
  constexpr Function function() const { return function_; }
  friend constexpr bool operator==(const RowOffset&, const RowOffset&) = default;

 private:
  Kind kind_ = Kind::none;
  std::int64_t number_ = 0;
  Function function_ = nullptr;
};

/// Rows of a remote buffer that a serialised graph loads or stores.
struct RemoteHandle {
  constexpr RemoteHandle() = default;
  constexpr RemoteHandle(RemoteBuffer rows, RowOffset offset = 0, ReplicaGrouping group = {})
      : buffer(rows), row_offset(offset), shard_group(std::move(group)) {}

  RemoteBuffer buffer{};  ///< grows to the rows of all steps and indices
  RowOffset row_offset = 0;  ///< row of each step
  /// If given, rows are shards: a load gathers the tensor from the replicas of the group, a store keeps this replica's shard
  ReplicaGrouping shard_group{};
};

/// Origin of an input of a serialised graph: a stream, of which each step takes a tensor, or rows of a remote buffer.
class LoadHandle {
 public:
  constexpr LoadHandle(HostToDeviceStream stream) : stream_(stream) {}
  constexpr LoadHandle(RemoteHandle rows) : rows_(std::move(rows)) {}
  constexpr LoadHandle(RemoteBuffer buffer, RowOffset row_offset = 0, ReplicaGrouping shard_group = {})
      : rows_(RemoteHandle(buffer, row_offset, std::move(shard_group))) {}

  /// Returns the rows, or nothing for a stream.
  constexpr const std::optional<RemoteHandle>& rows() const { return rows_; }
  constexpr HostToDeviceStream stream() const { return stream_; }

 private:
  std::optional<RemoteHandle> rows_{};
  HostToDeviceStream stream_{};
};

/// Where a serialised graph loads and stores, and when.
enum class IoMode : std::uint8_t {
  compute,       ///< on the compute tiles, before and after the graph
  io,            ///< on the IO tiles, before and after the graph
  io_overlapped  ///< on the IO tiles, while the graph runs: a step's loads during the step before, its stores during the step
                 ///< after
};

/// Options of batch_serialise. Tensors are inputs and outputs of the graph.
struct BatchSerialOptions {
  List<std::pair<Tensor, LoadHandle>> load_handles{};  ///< by input: where each step loads it
  List<std::pair<Tensor, DeviceToHostStream>> store_streams{};  ///< by output: a stream for it
  List<std::pair<Tensor, RemoteHandle>> store_buffers{};  ///< by output, or by input: rows for it
  Tensor seed_input{};  ///< an input, uint32 of shape (2,), that gets a new seed in each step; Tensor(): none
  std::int64_t rows = 1;  ///< number of values of the index with which the graph is called
  IoMode io_mode = IoMode::io;  ///< io and io_overlapped need a target with IO tiles, or the host
};

/// Result of batch_serialise: a graph that runs all steps. Its inputs are the index, a scalar uint32; the seed, if there is one;
/// and the inputs of the given graph that have no handle, in their order, with their names. It has no outputs.
struct BatchSerialResult {
  GraphWithNamedArgs graph;
  List<std::pair<Tensor, RemoteHandle>> stored_buffers{};  ///< by tensor of the given graph: the rows that have it
  TensorMap inputs{};  ///< by input of the given graph: the input of the new one

  /// Returns a tree of the given graph's inputs with the new graph's inputs in their place. Inputs with a handle are left out.
  constexpr NamedTensors remap_tensors(const DotTree<Tensor>& tensors) const {
    NamedTensors result;
    for (const auto& [name, tensor] : tensors.to_dict())
      if (const Tensor* input = inputs.find(tensor)) result.insert(name.view(), *input);
    return result;
  }
};

/// Creates a remote buffer for a tensor of each of `steps` steps and each of `rows` indices. With a `shard_group`, the rows are
/// shards of the tensor for the replicas of a group. Errors: less than 1 step or row; more than 2^47 bytes; elements that do not
/// divide into shards.
[[nodiscard]] constexpr RemoteBuffer batch_serial_buffer(Tensor t, std::int64_t steps, std::int64_t rows = 1,
                                                         const ReplicaGrouping& shard_group = {}) {
  if (!t.is_usable() || t.ir().failed()) return RemoteBuffer::invalid(t.ir());
  const std::int64_t parts = shard_group.valid() ? shard_group.group_size() : 1;
  const double entries = static_cast<double>(steps) * static_cast<double>(rows);
  if (steps < 1 || rows < 1 || entries * static_cast<double>(t.spec().bytes()) > max_tensor_bytes * static_cast<double>(parts)) {
    t.ir().fail(text("batch_serial_buffer of ", to_text(t), ": ", steps, " steps, ", rows,
                     " rows: at least 1 of each, and at most 2^47 bytes together, expected"));
    return RemoteBuffer::invalid(t.ir());
  }
  return create_remote_buffer(t.ir(), t.spec(), steps * rows, shard_group, parts);
}

}  // namespace tilewright
