#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/ops/collective/replica_sharding.hpp"
#include "tilewright/ops/elementwise/arithmetic.hpp"
#include "tilewright/ops/memory/host.hpp"
#include "tilewright/ops/memory/ipu_copy.hpp"
#include "tilewright/ops/memory/remote.hpp"
#include "tilewright/ops/random/random.hpp"
#include "tilewright/program/io_tile_exchange.hpp"
#include "tilewright/program/repeat.hpp"
#include "tilewright/transform/batch_handles.hpp"

namespace tilewright {

namespace detail {
/// Largest number of steps of a serialised graph: numbers of steps are uint32.
inline constexpr std::int64_t most_batch_steps = 0x7fff'ffff;

/// Makes the graph of batch_serialise.
class BatchSerialiser {
 public:
  constexpr BatchSerialiser(const GraphWithNamedArgs& graph, std::int64_t steps, const BatchSerialOptions& options)
      : ir_(graph.ir()),
        graph_(graph),
        steps_(steps),
        options_(options),
        uses_io_tiles_(options.io_mode != IoMode::compute),
        inputs_(graph.graph().inputs()),
        outputs_(graph.graph().outputs()) {}

  constexpr BatchSerialResult run() {
    BatchSerialResult result{graph_};
    if (!validate() || !take_loads() || !take_stores()) return result;
    const Graph serial = ir_.graph(ir_.tables.add_derived_graph(graph_.graph().id(), "_batch_serialised"));
    const GraphScope scope(serial);
    State state = make_inputs(result);
    if (options_.io_mode == IoMode::io_overlapped && steps_ > 1) run_overlapped(state);
    else run_in_turn(state);
    NamedTensors args;
    result.stored_buffers = options_.store_buffers;
    for (const auto& [name, input] : graph_.args().to_dict())
      if (const Tensor* serial_input = result.inputs.find(input)) args.insert(name.view(), *serial_input);
    result.graph = {serial, std::move(args)};
    return result;
  }

 private:
  /// The tensors that steps use, in the graph that is being built.
  struct State {
    Tensor step{};           // number of the step that is loaded next; invalid if no handle has rows
    Tensor seed{};           // of the steps that have not run; invalid if there is none
    List<Tensor> firsts{};   // by entry of offsets_: the row of step 0; invalid: 0
    List<Tensor> passed{};   // by input of the graph that has no handle, in their order
  };
  struct Load {
    LoadHandle handle;
    int offset = -1;  // index in offsets_; -1: a stream
  };
  struct Store {
    int output = -1;  // position among the graph's outputs; -1: an input is stored
    int input = -1;   // position among the graph's inputs
    DeviceToHostStream stream{};
    RemoteHandle rows{};
    int offset = -1;  // index in offsets_; -1: a stream
  };
  enum class Origin : std::uint8_t { passed, loaded, seed };

  // ---- checks

  constexpr bool fail(const auto&... problem) {
    if (!ir_.failed()) ir_.fail(text("batch_serialise of ", graph_.graph().name(), ": ", problem..., " expected"));
    return false;
  }
  constexpr bool validate() {
    if (ir_.failed()) return false;
    if (steps_ < 1 || steps_ > most_batch_steps) return fail(steps_, " steps: from 1 to ", most_batch_steps);
    if (options_.rows < 1) return fail(options_.rows, " rows: at least 1");
    if (options_.io_mode > IoMode::io_overlapped)
      return fail("io_mode ", static_cast<int>(options_.io_mode), ": IoMode::compute, io or io_overlapped");
    origins_.assign(inputs_.size(), Origin::passed);
    if (!options_.seed_input.valid()) return true;
    const int seed = position(inputs_, options_.seed_input);
    if (seed < 0) return fail("seed_input ", to_text(options_.seed_input), ": an input of the graph");
    if (options_.seed_input.spec() != TensorSpec{{2}, uint32})
      return fail("seed_input ", to_text(options_.seed_input), ": ", to_text(TensorSpec{{2}, uint32}));
    origins_[seed] = Origin::seed;
    return true;
  }
  constexpr bool take_loads() {
    for (const auto& [input, handle] : options_.load_handles) {
      const int at = position(inputs_, input);
      if (at < 0) return fail("a load handle for ", to_text(input), ": an input of the graph");
      if (origins_[at] != Origin::passed) return fail("a load handle for ", to_text(input), ", which has another origin: one");
      origins_[at] = Origin::loaded;
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (const auto& [input, handle] : options_.load_handles)
        if (input == inputs_[i]) loads_.push_back({handle, handle.rows() ? take_rows(*handle.rows()) : -1});
    return !ir_.failed();
  }
  constexpr bool take_stores() {
    for (const auto& [tensor, stream] : options_.store_streams)
      if (!take_store(tensor, {.stream = stream})) return false;
    for (const auto& [tensor, rows] : options_.store_buffers)
      if (!take_store(tensor, {.rows = rows, .offset = take_rows(rows)})) return false;
    return !ir_.failed();
  }
  constexpr bool take_store(Tensor tensor, Store store) {
    store.output = position(outputs_, tensor);
    store.input = position(inputs_, tensor);
    if (store.output < 0 && store.input < 0) return fail("a store of ", to_text(tensor), ": an output or input of the graph");
    stores_.push_back(std::move(store));
    return true;
  }
  static constexpr int position(const List<Tensor>& tensors, Tensor t) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i] == t) return static_cast<int>(i);
    return -1;
  }
  /// Gives the buffer of a handle enough rows. Returns the index of the handle's offset.
  constexpr int take_rows(const RemoteHandle& rows) {
    const RowOffset& offset = rows.row_offset;
    if (offset.number() <= -options_.rows)
      fail("row_offset ", offset.number(), " for ", options_.rows, " rows: at least ", 1 - options_.rows);
    double blocks = 1;
    if (offset.kind() != RowOffset::Kind::none)
      blocks = static_cast<double>(options_.rows) + static_cast<double>(std::max<std::int64_t>(offset.number(), 0));
    const double entries = (std::min)(blocks * static_cast<double>(steps_), most_runs);
    if (rows.buffer.is_usable() && static_cast<double>(rows.buffer.entries()) < entries)
      rows.buffer.set_entries(static_cast<std::int64_t>(entries));
    for (std::size_t i = 0; i < offsets_.size(); ++i)
      if (offsets_[i] == offset) return static_cast<int>(i);
    offsets_.push_back(offset);
    return static_cast<int>(offsets_.size()) - 1;
  }

  // ---- inputs

  constexpr State make_inputs(BatchSerialResult& result) {
    State state;
    const Tensor row = add_graph_input(ir_, {{}, uint32}, "row");
    if (options_.seed_input.valid()) {
      state.seed = add_graph_input(ir_, options_.seed_input.spec(), options_.seed_input.name());
      result.inputs.insert(options_.seed_input, state.seed);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (origins_[i] == Origin::passed) {
        state.passed.push_back(add_copy_of(inputs_[i], is_by_reference(i)));
        result.inputs.insert(inputs_[i], state.passed.back());
      }
    for (const RowOffset& offset : offsets_) state.firsts.push_back(first_row(offset, row));
    if (!offsets_.empty()) state.step = ir_.constant(0, uint32);
    return state;
  }
  constexpr Tensor add_copy_of(Tensor t, bool by_reference = false) {
    return add_graph_input(ir_, t.spec(), t.name(), by_reference, ir_.tables.record(t).meta_shape);
  }
  constexpr bool is_by_reference(std::size_t input) {
    return has_item(ir_.tables.record(graph_.graph().id()).by_reference, static_cast<int>(input));
  }
  /// Returns the row of step 0; an invalid tensor for row 0.
  constexpr Tensor first_row(const RowOffset& offset, Tensor row) {
    if (offset.kind() == RowOffset::Kind::none) return {};
    if (offset.kind() == RowOffset::Kind::function) {
      const Tensor mapped = offset.function()(row);
      if (!ir_.failed() && mapped.spec() != row.spec()) fail("row_offset gives ", to_text(mapped), ": ", to_text(row.spec()));
      return mapped * steps_;
    }
    const Tensor first = row * steps_;
    if (offset.number() == 0) return first;
    return offset.number() > 0 ? first + offset.number() * steps_ : first - (-offset.number()) * steps_;
  }

  // ---- parts of a step

  constexpr List<Tensor> on_other_tiles(const List<Tensor>& tensors) const {
    if (!uses_io_tiles_) return tensors;
    List<Tensor> result;
    for (const Tensor& t : tensors) result.push_back(ops::io_tile_copy(t));
    return result;
  }
  /// Returns, by entry of offsets_, the row that a step loads or stores.
  constexpr List<Tensor> rows_of(const State& state, Tensor step) const {
    List<Tensor> result;
    for (const Tensor& first : state.firsts) result.push_back(first.valid() ? first + step : step);
    return on_other_tiles(result);
  }
  constexpr void in_exchange(auto&& f) {
    std::optional<IoTileExchange> exchange;
    if (uses_io_tiles_) exchange.emplace(ir_, false);
    f();
  }
  constexpr List<Tensor> load(const List<Tensor>& rows) const {
    List<Tensor> result;
    for (const auto& [handle, offset] : loads_) {
      if (offset < 0) {
        result.push_back(ops::host_load(handle.stream()));
        continue;
      }
      const auto& [buffer, unused, group] = *handle.rows();
      result.push_back(ops::remote_load(buffer, rows[offset]));
    }
    return result;
  }
  constexpr void store(const List<Tensor>& rows, const List<Tensor>& results) const {
    for (std::size_t i = 0; i < stores_.size(); ++i)
      if (const Store& to = stores_[i]; to.offset < 0) ops::host_store(to.stream, results[i]);
      else ops::remote_store(to.rows.buffer, rows[to.offset], results[i]);
  }
  /// Gathers what was loaded as shards. On compute tiles.
  constexpr List<Tensor> gathered(List<Tensor> loaded) const {
    for (std::size_t i = 0; i < loaded.size() && i < loads_.size(); ++i)
      if (const auto& rows = loads_[i].handle.rows(); rows && rows->shard_group.valid())
        loaded[i] = gather_replica_sharded_tensor(loaded[i], rows->shard_group);
    return loaded;
  }
  /// Calls the graph for the next step. Returns what the step stores.
  constexpr List<Tensor> compute(State& state, const List<Tensor>& loaded) const {
    List<Tensor> seeds, inputs;
    if (state.seed.valid()) {
      seeds = ops::split_random_seed(state.seed);
      state.seed = seeds[0];
    }
    std::size_t next_loaded = 0, next_passed = 0;
    for (const Origin origin : origins_)
      inputs.push_back(origin == Origin::seed     ? seeds.back()
                       : origin == Origin::loaded ? loaded[next_loaded++]
                                                  : state.passed[next_passed++]);
    const Outputs outputs = call_with_info(graph_.graph(), inputs).outputs();
    List<Tensor> results;
    for (const Store& to : stores_) {
      results.push_back(to.output >= 0 ? outputs[static_cast<std::size_t>(to.output)] : inputs[to.input]);
      if (to.rows.shard_group.valid())
        results.back() = ops::collectives::replica_sharded_slice(results.back(), to.rows.shard_group);
    }
    return results;
  }
  constexpr void advance(State& state) const {
    if (state.step.valid()) state.step = state.step + 1;
  }

  // ---- all steps

  /// Calls f for the tensors that a step hands on to the next one.
  static constexpr void for_each_carried(State& state, List<Tensor>& kept, auto&& f) {
    if (state.step.valid()) f(state.step);
    if (state.seed.valid()) f(state.seed);
    for (Tensor& t : kept) f(t);
  }
  /// Repeats `step(state, kept)` in a loop. `kept` are further tensors that a step hands on.
  constexpr void repeat_steps(std::int64_t count, State& state, List<Tensor>& kept, auto&& step) {
    const Graph body = ir_.create_empty_graph("batch_serial_step");
    List<Tensor> parents;
    {
      const GraphScope scope(body);
      State inner = state;
      List<Tensor> inner_kept = kept;
      const auto import = [&](Tensor& t, bool by_reference = false) {
        parents.push_back(t);
        t = add_copy_of(t, by_reference);
      };
      for_each_carried(inner, inner_kept, import);
      for (Tensor& first : inner.firsts)
        if (first.valid()) import(first);
      for (std::size_t i = 0, next = 0; i < origins_.size(); ++i)
        if (origins_[i] == Origin::passed) import(inner.passed[next++], is_by_reference(i));
      step(inner, inner_kept);
      for_each_carried(inner, inner_kept, [](Tensor& t) { graph_output(t); });
    }
    const Outputs outputs = repeat_with_info(body, count, parents).outputs();
    std::size_t next = 0;
    for_each_carried(state, kept, [&](Tensor& t) { t = outputs[next++]; });
  }

  constexpr void run_in_turn(State& state) {
    List<Tensor> kept;
    repeat_steps(steps_, state, kept, [this](State& inner, List<Tensor>&) {
      const List<Tensor> rows = rows_of(inner, inner.step);
      List<Tensor> loaded;
      in_exchange([&] { loaded = load(rows); });
      const List<Tensor> results = on_other_tiles(compute(inner, gathered(on_other_tiles(loaded))));
      in_exchange([&] { store(rows, results); });
      advance(inner);
    });
  }
  /// Runs the steps so that the exchange of a cycle has the loads of the next step and the stores of the previous one.
  constexpr void run_overlapped(State& state) {
    List<Tensor> loaded, results;
    const auto load_next = [&](State& at, List<Tensor>& to) {
      const List<Tensor> rows = rows_of(at, at.step);
      in_exchange([&] { to = load(rows); });
      advance(at);
    };
    load_next(state, loaded);
    loaded = on_other_tiles(loaded);
    List<Tensor> next;
    load_next(state, next);
    results = on_other_tiles(compute(state, gathered(loaded)));
    List<Tensor> kept = on_other_tiles(next);
    for (const Tensor& result : results) kept.push_back(result);
    if (steps_ > 2)
      repeat_steps(steps_ - 2, state, kept, [this](State& inner, List<Tensor>& tensors) {
        const List<Tensor> rows = rows_of(inner, inner.step), earlier = rows_before(inner, 2);
        const Kept before = halves(tensors);
        List<Tensor> fresh;
        in_exchange([&] {
          fresh = load(rows);
          store(earlier, before.to_store);
        });
        advance(inner);
        const List<Tensor> made = on_other_tiles(compute(inner, gathered(before.to_use)));
        tensors = on_other_tiles(fresh);
        for (const Tensor& each : made) tensors.push_back(each);
      });
    const Kept before = halves(kept);
    const List<Tensor> earlier = rows_before(state, 2), last = rows_before(state, 1);
    in_exchange([&] { store(earlier, before.to_store); });
    const List<Tensor> made = on_other_tiles(compute(state, gathered(before.to_use)));
    in_exchange([&] { store(last, made); });
  }
  constexpr List<Tensor> rows_before(const State& state, int steps) const {
    if (!state.step.valid()) return {};
    return rows_of(state, state.step - steps);
  }
  /// Returns the loaded tensors, and those that are to be stored.
  struct Kept {
    List<Tensor> to_use, to_store;
  };
  constexpr Kept halves(const List<Tensor>& kept) const {
    const std::size_t count = (std::min)(loads_.size(), kept.size());
    return {List<Tensor>(kept.begin(), kept.begin() + count), List<Tensor>(kept.begin() + count, kept.end())};
  }
  Ir& ir_;
  const GraphWithNamedArgs& graph_;
  std::int64_t steps_;
  const BatchSerialOptions& options_;
  bool uses_io_tiles_;
  List<Tensor> inputs_, outputs_;   // of the graph
  List<Origin> origins_{};          // by input of the graph
  List<Load> loads_{};              // by loaded input, in the order of the inputs
  List<Store> stores_{};
  List<RowOffset> offsets_{};       // without repetitions
};
}  // namespace detail

/// Creates a graph that runs `graph` `steps` times, for example once for each micro-batch. Each step loads the inputs that have a
/// handle, calls the graph, and stores outputs in streams and remote buffers. Inputs without a handle are inputs of the new
/// graph, by reference if they were; outputs that are not stored are lost. Buffers grow as needed. A call of the new graph passes
/// the index of the rows: a uint32 scalar below `rows`.
///
///     const auto serial = tw::batch_serialise(layer, 8, {.load_handles = {{x, images}}, .store_buffers = {{y, {buffer}}}});
///     serial.graph.bind(variables).call(ir.constant(0, tw::uint32));
///
/// With a seed_input, each step splits the seed: it uses the second half, and hands on the first. io_overlapped with one step is
/// io. Results have the bits of `steps` calls in order. With io_overlapped a load runs before the graph's ops of the step before:
/// the graph itself must not change what is loaded.
///
/// Errors: less than 1 step or row; handles for tensors that are not the graph's; a load whose shape or dtype is not the input's;
/// io or io_overlapped for a simulated IPU without IO tiles.
TILEWRIGHT_KEPT constexpr BatchSerialResult&& batch_serialise(const GraphWithNamedArgs& graph, std::int64_t steps,
                                                              const BatchSerialOptions& options = {}) {
  return detail::keep(graph.ir(), detail::BatchSerialiser(graph, steps, options).run());
}

}  // namespace tilewright
