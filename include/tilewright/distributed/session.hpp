#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/distributed/host_arrays.hpp"
#include "tilewright/distributed/host_outputs.hpp"
#include "tilewright/distributed/processes.hpp"
#include "tilewright/distributed/session_options.hpp"
#include "tilewright/distributed/transport.hpp"
#include "tilewright/session/session.hpp"

namespace tilewright::distributed {

namespace detail {

/// Returns a number that is equal for equal plans, and very likely different for others.
template <const auto& plan>
std::int64_t hash_of_plan() {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, of numbers instead of bytes
  const auto add = [&hash](auto number) { hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x100000001b3; };
  const auto add_view = [&](const ViewSpec& view) {
    add(view.dtype);
    for (int axis = 0; axis < view.shape.rank; ++axis) add(view.shape[axis]), add(view.stride(axis));
  };
  for (const char c : plan.characters) add(c);
  for (const double value : plan.values) add(std::bit_cast<std::int64_t>(value));
  for (const auto& step : plan.steps) add(step.kind), add(step.compute_set), add(step.vertices), add(step.items), add(step.count);
  for (const auto& location : plan.locations) add(location.base), add(location.index), add(location.offset);
  for (const auto& operand : plan.operands) add_view(operand.view);
  for (const auto& stage : plan.stages) {
    for (const char c : stage.name) add(c);
    for (const std::int64_t word : stage.attributes.words) add(word);
  }
  for (const auto& variable : plan.variables) {
    const auto& generator = variable.generator;
    for (const double number : {variable.a, variable.b, variable.scale, generator.a, generator.b, generator.scale})
      add(std::bit_cast<std::int64_t>(number));
  }
  return static_cast<std::int64_t>(hash);
}

/// Whether a process may miss a collective of a run that others reach.
template <const auto& plan>
inline constexpr bool may_go_apart = [] {
  bool has_collective = false, has_conditional = false;
  for (const auto& step : plan.steps) {
    has_collective = has_collective || step.kind == internal::StepKind::collective;
    has_conditional = has_conditional || step.kind == internal::StepKind::conditional;
  }
  return has_collective && has_conditional;
}();

}  // namespace detail

/// A session whose replicas are in the processes that mpirun started. Of R replicas, process p of N holds R / N, from p R / N on;
/// N must divide R. The program is the same for every N, and results have equal bits, unless all-reduces are hierarchical.
///
///     tw::distributed::Session<train_step> session({.seed = 1});
///     const auto outputs = session.run("image"_s = images);  // of this process's replicas
///
/// All processes must create the same session and make the same calls, in the same order. Streams: each process passes and gets
/// the elements of its own replicas. If the program has several replicas, arrays have an axis for them, of extent R / N. This
/// extent is checked when the program runs, all others while it compiles. Variables: each process passes and gets the values of
/// all replicas, as with a tw::Session. Reading variables after a run is a call of all processes.
///
/// With several processes, an exception in a run ends all of them, with status 1 and one line on standard error.
template <auto build, Target machine = cpu>
class Session : private tilewright::Session<build, machine> {
  using Base = tilewright::Session<build, machine>;
  using program = internal::Program<build, machine>;
  using names = PlanNames<program::plan>;

 public:
  using Base::attach, Base::context, Base::detach, Base::is_attached, Base::weights_from_host, Base::weights_to_host;
  using Base::device, Base::log_figures, Base::plan, Base::profile, Base::target, Base::threads;
  using Base::get_tensor_data, Base::get_tensors_data, Base::host_tensors, Base::in_sync, Base::transfers;
  using Base::load_from_session, Base::load_tensors, Base::write_variable_data, Base::write_variables_data;

  /// Throws std::invalid_argument, before anything is allocated, if the number of processes does not divide the replication
  /// factor; std::runtime_error if other processes create a session of another program, or with another seed or all_reduce; and
  /// the exceptions of a tw::Session.
  explicit Session(const SessionOptions& given = {}) : Session(given, connect(given)) {}
  Session(Session&&) noexcept = default;
  Session& operator=(Session&&) noexcept = default;
  ~Session() {
    if (transport_ && std::uncaught_exceptions() > exceptions_) Processes::world().note_exception();
  }

  SessionOptions options() const {
    const tilewright::SessionOptions& base = Base::options();
    return {base.seed, base.threads, base.attach, base.weights_to_host_on_exit, base.strict, all_reduce_};
  }
  /// Returns the number of replicas that this process holds: the replication factor divided by the number of processes.
  std::int64_t instance_replication_factor() const { return this->state_->core.held().count; }
  /// Returns the number of the first replica that this process holds.
  std::int64_t first_replica() const { return this->state_->core.held().first; }

  /// Returns the streams that the program loads, with name, spec and the shape of this process's array.
  auto expected_inputs() const { return with_held_shapes(Base::expected_inputs()); }
  /// Returns the streams that the program stores.
  auto expected_outputs() const { return with_held_shapes(Base::expected_outputs()); }

  /// Outputs of a run for this process's replicas.
  class Outputs {
   public:
    /// Returns the tensors of a stream as an xtensor ([transfers, if above 1,] [this process's replicas, if the program has
    /// several,] stream's shape...). The result is a view that the next `run` overwrites. An unknown name does not compile.
    template <NameText name>
    auto operator[](Name<name>) const {
      constexpr std::size_t stream = names::find_stream(name.view(), StreamDirection::device_to_host);
      if constexpr (stream == names::none) {
        return names::template unknown_output<name>();
      } else {
        const auto extents = detail::extents<program::plan, stream>(replicas_);
        std::size_t count = 1;
        for (const std::size_t extent : extents) count *= extent;
        auto* const first = reinterpret_cast<element_t<plan.streams[stream].spec.dtype>*>(memory_ +
                                                                                          output_offset(stream, replicas_));
        return xt::adapt(first, count, xt::no_ownership(), extents);
      }
    }

   private:
    friend Session;
    Outputs(std::byte* memory, std::int64_t replicas) : memory_(memory), replicas_(replicas) {}
    std::byte* memory_;
    std::int64_t replicas_;
  };

  /// Runs the program once, as tw::Session::run does, with arrays for this process's replicas. Other processes wait for it in
  /// collectives only. With several processes, an exception of an op ends all of them.
  template <class... InputNames, class... Arrays>
  Outputs run(NamedArgument<InputNames, Arrays>... inputs) {
    names::template check_inputs<InputNames...>();
    const ExclusiveUse use = this->begin("run");
    this->require_attached("run");
    const std::int64_t replicas = instance_replication_factor();
    StreamMemory<program::plan> streams{};
    (detail::set_stream<program::plan, "run">(streams, inputs, replicas), ...);
    std::byte* const outputs = this->state_->outputs.data();
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (plan.streams[i].direction == StreamDirection::device_to_host) streams[i] = outputs + output_offset(i, replicas);
    execute_together(streams, {outputs, static_cast<std::size_t>(output_offset(streams.size(), replicas))});
    return Outputs(outputs, replicas);
  }
  /// Runs the program once and writes outputs directly to the user's arrays, as tw::Session::run_with_outputs does.
  template <class... StreamNames, class... Arrays>
  void run_with_outputs(NamedArgument<StreamNames, Arrays>... arrays) {
    names::template check_inputs_and_outputs<false, StreamNames...>();
    run_into([](StreamMemory<program::plan>&) {}, arrays...);
  }
  /// Runs the program once and writes all outputs to one object: `run_with_outputs(outputs, "image"_s = images)`.
  template <class... InputNames, class... Arrays>
  void run_with_outputs(HostOutputs<program::plan>& outputs, NamedArgument<InputNames, Arrays>... inputs) {
    names::template check_inputs_and_outputs<true, InputNames...>();
    run_into([&outputs](StreamMemory<program::plan>& streams) { outputs.set_streams(streams); }, inputs...);
  }
  /// Returns arrays for all outputs of this process's replicas: `auto outputs = session.create_host_outputs();
  /// outputs["loss"_s]`.
  HostOutputs<program::plan> create_host_outputs() const { return HostOutputs<program::plan>(instance_replication_factor()); }

 private:
  /// Runs the program once with arrays for streams; `set_others` records the addresses of the other streams.
  void run_into(auto set_others, auto&... arrays) {
    const ExclusiveUse use = this->begin("run_with_outputs");
    this->require_attached("run_with_outputs");
    const std::int64_t replicas = instance_replication_factor();
    StreamMemory<program::plan> streams{};
    set_others(streams);
    (detail::set_stream<program::plan, "run_with_outputs">(streams, arrays, replicas), ...);
    tilewright::detail::check_apart<program::plan, "run_with_outputs">(streams, replicas,
                                                                       {this->variable_memory(), this->remote_memory()});
    execute_together(streams, {});
  }
  static constexpr std::int64_t output_offset(std::size_t stream, std::int64_t replicas) {
    return tilewright::detail::offsets_of_arrays<program::plan, StreamDirection::device_to_host>(replicas)[stream];
  }
  /// Returns the transport to other processes; null if there are none.
  static std::unique_ptr<internal::Transport> connect(const SessionOptions& given) {
    Processes& processes = Processes::world();
    if (plan.replicas % processes.count() != 0) {
      processes.let_others_speak();
      throw std::invalid_argument("session: " + std::to_string(processes.count()) + " processes for " +
                                  std::to_string(plan.replicas) +
                                  " replicas: a number of processes that divides the replication factor expected");
    }
    if (processes.count() == 1) return nullptr;
    constexpr auto& collectives = internal::planned_collectives<program::plan>;
    std::vector<internal::AllReduceSpan> spans;
    const bool is_hierarchical = given.all_reduce == AllReduce::hierarchical;
    if (is_hierarchical) {
      using internal::HierarchicalAllReduces, internal::Step;
      const auto collective = [](const Step& step) { return collectives[static_cast<std::size_t>(step.compute_set)]; };
      spans = internal::AllReduceSpans(
                  program::plan,
                  [&](const Step& step) {
                    return step.kind == internal::StepKind::collective && HierarchicalAllReduces::takes(collective(step));
                  },
                  [&](const Step& step) { return HierarchicalAllReduces::keeps_apart(collective(step)); })
                  .spans();
    }
    return std::make_unique<internal::Transport>(processes, plan.steps, internal::compute_functions<program::plan>, collectives,
                                                 plan.replicas, detail::hash_of_plan<program::plan>(), given.seed,
                                                 is_hierarchical ? &spans : nullptr);
  }
  static internal::HeldReplicas held_by(internal::Transport* transport) {
    internal::HeldReplicas held{.names_replicas = plan.replicas > 1};
    if (transport) held = {transport->first(), transport->held(), transport, Processes::world().rank(), held.names_replicas};
    return held;
  }
  /// Sets one thread in two cases: if there are no more cores than processes, or if the program has several IPUs. With one
  /// thread, the collectives of all IPUs have the same order on all processes.
  static tilewright::SessionOptions with_threads(tilewright::SessionOptions given) {
    const Processes& processes = Processes::world();
    if (given.threads == 0 && processes.count() > 1 && processes.count_on_host() >= processes.cores()) given.threads = 1;
    if (processes.count() > 1 && machine.ipus > 1) given.threads = 1;
    return given;
  }
  Session(const SessionOptions& given, std::unique_ptr<internal::Transport> transport)
      : Base(with_threads(given), held_by(transport.get())), transport_(std::move(transport)), all_reduce_(given.all_reduce) {
    if (transport_ && this->state_->core.is_strict())
      throw std::invalid_argument("strict: " + std::to_string(Processes::world().count()) + " processes: one expected");
    if (given.all_reduce == AllReduce::hierarchical) log_all_reduces();
  }
  void log_all_reduces() const {
    const Processes& processes = Processes::world();
    if (!processes.is_first()) return;
    const internal::HierarchicalAllReduces* const all = transport_ ? transport_->hierarchical() : nullptr;
    this->state_->core.logger()
        .of(LogModule::distributed)
        .write(LogLevel::info, "all-reduce: hierarchical, by MPI_Iallreduce between processes; of ", collectives(),
               " collectives: ", all ? all->count() : 0, ", in ", all ? all->count_of_messages() : 0, " messages, ",
               all ? all->count_of_overlapped() : 0, " while other steps are computed; processes: ", processes.count());
  }
  static constexpr std::int64_t collectives() {
    std::int64_t count = 0;
    for (const auto& step : plan.steps) count += step.kind == internal::StepKind::collective ? 1 : 0;
    return count;
  }
  template <std::size_t n>
  std::array<ExpectedStream, n> with_held_shapes(std::array<ExpectedStream, n> streams) const {
    for (ExpectedStream& stream : streams)
      stream.host_shape = host_shape(plan, names::find_stream(stream.name), instance_replication_factor());
    return streams;
  }
  void execute_together(StreamMemory<program::plan>& streams, std::span<const std::byte> outputs) {
    if (!transport_) return this->execute(streams, outputs);
    try {
      transport_->begin_run();
      this->execute(streams, outputs);
      if constexpr (detail::may_go_apart<program::plan>) transport_->end_run();
    } catch (const std::exception& error) {
      Processes::world().end_all(error.what());
    }
  }

  std::unique_ptr<internal::Transport> transport_;
  AllReduce all_reduce_ = AllReduce::replica_order;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace tilewright::distributed
