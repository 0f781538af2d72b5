#pragma once
#include <cstdint>
#include <limits>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/module/variable_factory.hpp"
#include "tilewright/ops/memory/ipu_copy.hpp"
#include "tilewright/ops/memory/remote.hpp"
#include "tilewright/program/io_tile_exchange.hpp"

namespace tilewright {

/// Creates a remote buffer for each factory, of the factory's shape and dtype, for `entries` sets of variables.
constexpr NamedRemoteBuffers named_variable_buffers(const NamedVariableFactories& factories, std::int64_t entries = 1) {
  return factories.sorted().transform<RemoteBuffer>(
      "", [entries](std::string_view, const VariableFactory& factory) { return factory.create_buffer(entries); });
}

/// Creates a remote buffer of `entries` rows for tensors of a spec, each in `shard_over` shards for the replicas of a group; 1:
/// whole. Fails if the elements do not divide into equal shards.
constexpr RemoteBuffer create_remote_buffer(Ir& ir, const TensorSpec& spec, std::int64_t entries = 1,
                                            const ReplicaGrouping& replica_grouping = {}, std::int64_t shard_over = 1) {
  if (shard_over == 1) return ir.remote_buffer(spec.shape, spec.dtype, entries);
  if (shard_over > 1 && spec.shape.nelms() % shard_over != 0)
    ir.fail(text("create_remote_buffer: ", to_text(spec), " over ", shard_over, " replicas: a divisor of ", spec.shape.nelms(),
                 " expected"));
  return ir.replica_sharded_buffer(spec.shape, spec.dtype,
                                   {.replica_grouping = replica_grouping, .shard_over = shard_over, .entries = entries});
}
/// Creates a remote buffer of `entries` rows for each tensor, of the tensor's shape and dtype. For shards, it is a buffer of
/// shards.
constexpr NamedRemoteBuffers named_buffers(const DotTree<Tensor>& tensors, std::int64_t entries = 1) {
  return tensors.sorted().transform<RemoteBuffer>("", [entries](std::string_view, Tensor tensor) {
    Ir& ir = tensor.ir();
    const RemoteBuffer buffer = create_remote_buffer(ir, tensor.spec(), entries);
    const int shard = ir.tables.record(tensor).meta_shape;
    if (buffer.valid() && shard >= 0) {
      const MetaShape& whole = ir.tables.meta_shapes[static_cast<std::size_t>(shard)];
      buffer.set_meta_shape(whole.whole, whole.parts);
    }
    return buffer;
  });
}

/// Loads row `entry` of every buffer. Returns the tensors by the buffers' names.
[[nodiscard]] constexpr NamedTensors load_remote(const NamedRemoteBuffers& buffers, RemoteOffset entry = 0) {
  return buffers.sorted().transform<Tensor>(
      "", [&entry](std::string_view name, const RemoteBuffer& buffer) { return ops::remote_load(buffer, entry, name); });
}
/// Stores tensors in row `entry` of the buffers of the same names. Tensors of other names are not stored.
constexpr void store_remote(const NamedRemoteBuffers& buffers, const DotTree<Tensor>& tensors, RemoteOffset entry = 0) {
  buffers.sorted().for_common(tensors,
                              [&entry](const RemoteBuffer& buffer, Tensor tensor) { ops::remote_store(buffer, entry, tensor); });
}

/// A graph that loads a row of several buffers: its input is the entry, a scalar uint32; its outputs are the tensors, by name.
struct LoadRemoteGraph {
  Graph graph;
  List<Text> names;  ///< of the outputs

  /// Calls the graph with the entry, a scalar uint32 tensor, and returns the tensors of that row.
  constexpr NamedTensors call(Tensor entry) const {
    if (!entry.valid()) return NamedTensors::pack(names, Outputs(graph.ir()));
    return NamedTensors::pack(names, tilewright::call(graph, entry));
  }
  constexpr NamedTensors call(std::int64_t entry) const {
    Ir& ir = graph.ir();
    if (entry < 0 || entry > (std::numeric_limits<std::uint32_t>::max)())
      return call(ir.fail(text("load_remote_graph: entry ", entry, ": a number from 0 to 4294967295 expected")));
    return call(ir.constant(static_cast<double>(entry), uint32));
  }
};
/// Options of load_remote_graph and store_remote_graph.
struct RemoteGraphOptions {
  Flag use_io_tiles = false;  ///< whether rows are transferred by the IO tiles, in one exchange with copies to the compute tiles
};

namespace detail {
/// Calls f for the loads or stores of a graph: on the IO tiles and as one exchange, if the options say so.
constexpr void transfer_remote(Ir& ir, const RemoteGraphOptions& options, auto&& f) {
  if (!options.use_io_tiles) return f();
  const IoTileExchange exchange(ir, false);
  f();
}
/// Adds the input for the entry to the current graph. Returns it where rows are transferred.
constexpr Tensor entry_input(Ir& ir, const RemoteGraphOptions& options) {
  const Tensor entry = graph_input(ir, {}, uint32, "entry");
  if (!options.use_io_tiles) return entry;
  return ops::io_tile_copy(entry);
}
/// Returns the tensors as copies on the other set of tiles, if a graph uses IO tiles.
constexpr NamedTensors on_other_tiles(const RemoteGraphOptions& options, const NamedTensors& tensors) {
  if (!options.use_io_tiles) return tensors;
  return tensors.transform<Tensor>("", [](std::string_view, Tensor tensor) { return ops::io_tile_copy(tensor); });
}
}  // namespace detail

/// Creates a graph that loads a row of all buffers, in alphabetical order of their names. Calls share its code.
[[nodiscard]] TILEWRIGHT_KEPT constexpr LoadRemoteGraph&& load_remote_graph(Ir& ir, const NamedRemoteBuffers& buffers,
                                                                            const RemoteGraphOptions& options = {}) {
  LoadRemoteGraph result{ir.create_empty_graph("load_remote"), {}};
  const GraphScope scope(result.graph);
  const Tensor entry = detail::entry_input(ir, options);
  NamedTensors loaded;
  detail::transfer_remote(ir, options, [&] { loaded = load_remote(buffers, entry); });
  for (const auto& [name, tensor] : detail::on_other_tiles(options, loaded).to_dict()) {
    result.names.push_back(name);
    graph_output(tensor);
  }
  return detail::keep(ir, std::move(result));
}
/// Creates a graph that stores tensors in a row of all buffers. Its first input is the entry, a scalar uint32; the others have
/// the buffers' names: `graph.bind(tensors).call(entry)`.
[[nodiscard]] TILEWRIGHT_KEPT constexpr GraphWithNamedArgs&& store_remote_graph(Ir& ir, const NamedRemoteBuffers& buffers,
                                                                                const RemoteGraphOptions& options = {}) {
  const Graph graph = ir.create_empty_graph("store_remote");
  const GraphScope scope(graph);
  const Tensor entry = detail::entry_input(ir, options);
  const NamedTensors inputs = buffers.sorted().transform<Tensor>(
      "", [&ir](std::string_view name, const RemoteBuffer& buffer) { return detail::add_graph_input(ir, buffer.spec(), name); });
  const NamedTensors stored = detail::on_other_tiles(options, inputs);
  detail::transfer_remote(ir, options, [&] { store_remote(buffers, stored, entry); });
  return detail::keep(ir, GraphWithNamedArgs(graph, inputs));
}

}  // namespace tilewright
