#pragma once
#include <array>
#include <atomic>
#include <boost/hana/at_key.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/core/name.hpp"
#include "tilewright/execute/program.hpp"
#include "tilewright/session/context.hpp"
#include "tilewright/session/exclusive_use.hpp"
#include "tilewright/session/figures.hpp"
#include "tilewright/session/host_outputs.hpp"
#include "tilewright/session/host_tensor.hpp"
#include "tilewright/session/initial_values.hpp"
#include "tilewright/session/input_copies.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/session_options.hpp"
#include "tilewright/session/stream_arrays.hpp"
#include "tilewright/session/variable_copies.hpp"
#include "tilewright/session/variable_tree.hpp"
#include "tilewright/target/devices.hpp"

namespace tilewright {

/// A program with its memory, ready to run. `build` is a constexpr function of an Ir& that makes the main graph; it is
/// traced, differentiated and planned for the target while the program compiles.
///
///     tw::Session<train_step<8>, tw::ipu_model> session({.seed = 1});
///     auto outputs = session.run("image"_s = images, "label"_s = labels);
///     float loss = outputs["loss"_s]();
///
/// Variables exist twice: the device computes with its own, and the host has a copy, which `get_tensor_data` reads. A run makes
/// the copy stale; the next read fetches all variables at once, and others after it cost nothing. A session that is not attached
/// has the host copy only. Ops of an execution context that is not Normal run at each copy of all variables, and when a session
/// is made that is attached from the start; with ops after an upload, each write copies all variables.
///
/// One thread at a time may use a session, reading included; a call while another one runs throws std::logic_error, as does a run
/// in a child process that was forked after a session of several threads was made. A session can be moved, to be kept in a
/// std::vector for example: views of its memory stay valid, contexts do not. A session that was moved from can only be assigned
/// to. Results do not depend on the number of threads.
template <auto build, Target machine = cpu>
class Session {
  using program = internal::Program<build, machine>;
  using names = PlanNames<program::plan>;

 public:
  static constexpr Target target = machine;
  /// "cpu" or "ipu_model"; "custom" for a target of one's own.
  static constexpr std::string_view device = device_name(machine);
  /// The planned program; a constant.
  static constexpr const auto& plan = program::plan;

  /// Throws std::invalid_argument for a wrong number of threads or events and strict mode on no simulated IPU, std::runtime_error
  /// if the system makes no threads, and MemoryError, a std::bad_alloc that says how many bytes of what, if there is no memory.
  explicit Session(const SessionOptions& options = {}) : Session(options, {}) {}

  Session(Session&&) noexcept = default;
  Session& operator=(Session&&) noexcept = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 protected:
  /// A session of some of the replicas.
  Session(const SessionOptions& options, const internal::HeldReplicas& held) : state_(std::make_unique<State>(options, held)) {
    const internal::Executor& executor = state_->executor;
    fill_constants(program::view(), executor.constants());
    if (options.attach) state_->copies.run_after_upload();
    executor.logger().write(LogLevel::info, "session on ", device, ": ", plan.steps.size(),
                            " steps; bytes: ", plan.memory.variables, " of variables, ", plan.memory.constants, " of constants, ",
                            plan.memory.frame, " of others, ", plan.memory.remote,
                            " remote; threads: ", options.threads > 0 ? "" : "up to ", executor.most_threads());
  }

 public:
  const SessionOptions& options() const { return state("options").options; }
  /// The number of host threads of the next run.
  int threads() const { return state("threads").executor.threads(); }

  /// What the plan costs on the session's simulated IPU, as tw::profile gives it, whose header the caller includes.
  auto profile(const std::string& name = {}) const { return detail::profile_of(build, machine, name); }

  /// What the workers did in runs since the session was made, or since clear_recording(); empty without recorded_events.
  Recording recording(const std::string& name = {}) const {
    return detail::recording_of(state("recording").executor, plan, name, begin("recording"));
  }
  void clear_recording() { detail::clear_recording(state("clear_recording").executor, begin("clear_recording")); }

  // ---- streams ----

  /// The streams that the program loads from, with name, spec and the shape of the host's array; a constant.
  static constexpr auto expected_inputs() { return expected_streams<program::plan, StreamDirection::host_to_device>(); }
  /// The streams that it stores to.
  static constexpr auto expected_outputs() { return expected_streams<program::plan, StreamDirection::device_to_host>(); }

  /// What a run gave to the streams to the host: views of the session's memory.
  class Outputs {
   public:
    /// The tensors of a stream as an xtensor of static shape ([transfers, if above 1,] [replicas, if above 1,] stream's
    /// shape...). It is a view of the session's memory: the next `run` overwrites it, and it ends with the session, as the
    /// Outputs do. A copy, such as `xt::xtensor<float, 1> kept = outputs["loss"_s]`, stays. An unknown name does not compile.
    template <NameText name>
    auto operator[](Name<name>) const {
      constexpr std::size_t stream = names::find_stream(name.view(), StreamDirection::device_to_host);
      if constexpr (stream == names::none) return names::template unknown_output<name>();
      else
        return static_view<plan.streams[stream].spec.dtype, host_shape(plan, stream)>(memory_ +
                                                                                      output_offsets<program::plan>[stream]);
    }
    /// All of them with name and spec, to save them for example: views as those of operator[].
    auto host_tensors() const {
      std::array<HostTensor, expected_outputs().size()> tensors{};
      for (std::size_t stream = 0, n = 0; stream < plan.streams.size(); ++stream) {
        if (!plan.streams[stream].used || plan.streams[stream].direction != StreamDirection::device_to_host) continue;
        const TensorSpec spec{host_shape(plan, stream), plan.streams[stream].spec.dtype};
        const std::byte* const first = memory_ + output_offsets<program::plan>[stream];
        tensors[n++] = {plan.stream_name(stream), spec, {first, static_cast<std::size_t>(spec.bytes())}};
      }
      return tensors;
    }

   private:
    friend Session;
    explicit Outputs(std::byte* memory) : memory_(memory) {}
    std::byte* memory_;
  };

  /// Runs the program once: `run("image"_s = images, "label"_s = labels)`. Every stream that the program loads from needs one
  /// array of the stream's dtype and host shape: [transfers, if above 1,] [replicas, if above 1,] stream's shape..., where
  /// transfers is how many elements of the stream a run takes at most, or num_host_transfers if the program sets it. Arrays are
  /// read in place, but for those that share memory with the session's outputs or variables, which are copied first. Unknown,
  /// missing and doubled names, wrong dtypes and wrong static shapes do not compile; wrong shapes known at run time only throw
  /// std::invalid_argument before anything runs, and a session that is not attached throws std::logic_error. What an op throws
  /// ends the run and is thrown here; variables may then have values from before the run or from within. Allocates nothing.
  template <class... InputNames, class... Arrays>
  Outputs run(NamedArgument<InputNames, Arrays>... inputs) {
    names::template check_inputs<InputNames...>();
    const ExclusiveUse use = begin("run");
    require_attached("run");
    StreamMemory<program::plan> streams{};
    (detail::set_stream<program::plan, "run">(streams, inputs), ...);
    std::byte* const outputs = state_->outputs.data();
    for (std::size_t i = 0; i < streams.size(); ++i)
      if (plan.streams[i].direction == StreamDirection::device_to_host) streams[i] = outputs + output_offsets<program::plan>[i];
    execute(streams, {outputs, static_cast<std::size_t>(output_offsets<program::plan>.back())});
    return Outputs(outputs);
  }

  /// Runs the program once and writes outputs to the user's arrays in place: `run_with_outputs("image"_s = images,
  /// "loss"_s = loss)`. Every stream needs one array, whichever its direction, as for `run`. What is to be written must not be
  /// const, and must not share memory with other arrays or the session's variables (std::invalid_argument). Elements that the
  /// program does not store keep their values. Allocates nothing.
  template <class... StreamNames, class... Arrays>
  void run_with_outputs(NamedArgument<StreamNames, Arrays>... arrays) {
    names::template check_inputs_and_outputs<false, StreamNames...>();
    const ExclusiveUse use = begin("run_with_outputs");
    require_attached("run_with_outputs");
    StreamMemory<program::plan> streams{};
    (detail::set_stream<program::plan, "run_with_outputs">(streams, arrays), ...);
    detail::check_apart<program::plan, "run_with_outputs">(streams, plan.replicas, {variable_memory(), remote_memory()});
    execute(streams, {});
  }
  /// Runs the program once and writes all outputs to one object: `run_with_outputs(outputs, "image"_s = images)`. Every input
  /// stream needs one array. Allocates nothing.
  template <class... InputNames, class... Arrays>
  void run_with_outputs(HostOutputs<program::plan>& outputs, NamedArgument<InputNames, Arrays>... inputs) {
    names::template check_inputs_and_outputs<true, InputNames...>();
    const ExclusiveUse use = begin("run_with_outputs");
    require_attached("run_with_outputs");
    StreamMemory<program::plan> streams{};
    outputs.set_streams(streams);
    (detail::set_stream<program::plan, "run_with_outputs">(streams, inputs), ...);
    detail::check_apart<program::plan, "run_with_outputs">(streams, plan.replicas, {variable_memory(), remote_memory()});
    execute(streams, {});
  }
  /// Arrays for all outputs: `auto outputs = session.create_host_outputs(); outputs["loss"_s]`.
  static HostOutputs<program::plan> create_host_outputs() { return {}; }

  // ---- device and host ----

  /// Attaches the session until the end of the block, if it is not attached yet: `const auto context = session.context();`.
  SessionContext<Session> context() { return SessionContext<Session>(*this); }
  bool is_attached() const { return state("is_attached").copies.is_attached(); }
  /// Variables on the device get the values of the host copy. Nothing happens if the session is attached.
  void attach() {
    const ExclusiveUse use = begin("attach");
    state_->copies.attach();
  }
  /// The device's values are lost; weights_to_host() saves them. Nothing happens if the session is not attached.
  void detach() {
    const ExclusiveUse use = begin("detach");
    state_->copies.detach();
  }

  /// Copies all variables from the host to the device; then ops of WeightsFromHostFragment run, which may throw as a run does.
  /// std::logic_error if the session is not attached.
  void weights_from_host() {
    const ExclusiveUse use = begin("weights_from_host");
    require_attached("weights_from_host");
    state_->copies.copy_to_device();
  }
  /// Runs ops of WeightsToHostFragment, which may throw as a run does; then copies all variables from the device to the host.
  /// std::logic_error if the session is not attached.
  void weights_to_host() {
    const ExclusiveUse use = begin("weights_to_host");
    require_attached("weights_to_host");
    state_->copies.copy_to_host();
  }
  /// Whether the host copy has the device's values, so that reading it needs no transfer.
  bool in_sync() const { return state("in_sync").copies.in_sync(); }
  /// How often variables went from one side to the other: all of them, or those of one write.
  Transfers transfers() const { return state("transfers").copies.transfers(); }

  // ---- variables ----

  /// The variables by name, as views of the memory in which the device keeps them: `session.variables()["fc1"_s]["weight"_s](0,
  /// 0)`. They can be written, so that the host copy counts as stale from this call on; a view that was kept longer writes
  /// behind the host copy's back. std::logic_error if the session is not attached. With several replicas, each of which has
  /// memory of its own, it does not compile: get_tensor_data and write_variable_data are for these.
  auto variables() const {
    require_attached("variables");
    if constexpr (plan.replicas > 1) {
      constexpr auto message = [] {
        return text("variables: ", plan.replicas, " replicas have their own: get_tensor_data or write_variable_data expected");
      };
      Report<message>();
      return detail::Unknown();
    } else {
      const ExclusiveUse use = begin("variables");
      state_->copies.mark_stale();
      return VariableTree<program::plan, "">(state_->copies);
    }
  }

  /// A copy of a variable, for example of "fc1.weight", or of a constant that has a name ("graph/name" outside of the main
  /// graph).
  template <NameText name>
  auto get_tensor_data(Name<name>) const {
    constexpr std::size_t v = names::find_variable(name.view()), c = names::find_constant(name.view());
    if constexpr (v != names::none) {
      const ExclusiveUse use = begin("get_tensor_data");
      state_->copies.refresh();
      return copy_of_variable<v>();
    } else if constexpr (c != names::none) {
      return copy_of<plan.constants[c].spec.dtype, plan.constants[c].spec.shape>(state("get_tensor_data").executor.constants() +
                                                                                 plan.constants[c].offset);
    } else {
      return names::template no_variable_or_constant<"get_tensor_data", name>();
    }
  }
  /// Copies of all variables, as a Boost.Hana map from their names.
  auto get_tensors_data() const {
    const ExclusiveUse use = begin("get_tensors_data");
    state_->copies.refresh();
    return names::map_variables(
        [this]<std::size_t v>(std::integral_constant<std::size_t, v>) { return this->template copy_of_variable<v>(); });
  }
  /// Copies of some variables and constants: `get_tensors_data("fc1.weight"_s, "fc1.bias"_s)`.
  template <NameText... name>
    requires(sizeof...(name) > 0)
  auto get_tensors_data(Name<name>...) const {
    return boost::hana::make_map(boost::hana::make_pair(Name<name>::key(), get_tensor_data(Name<name>()))...);
  }
  /// Gives a variable new values, on the host and, if the session is attached, on the device: an array of its dtype and shape.
  template <NameText name, class Array>
  void write_variable_data(Name<name>, const Array& array) {
    Values values{};
    note_values<name>(values, array);
    write<"write_variable_data">(values);
  }
  /// Gives variables new values, from a Boost.Hana map of names and arrays such as another session's get_tensors_data(). No
  /// variable changes if an array does not fit.
  template <class Map>
    requires(boost::hana::is_a<boost::hana::map_tag, Map>())
  void write_variables_data(const Map& arrays) {
    Values values{};
    boost::hana::for_each(arrays, [&values](const auto& entry) {
      constexpr auto name = names::template name_of_key<std::remove_cvref_t<decltype(boost::hana::first(entry))>>();
      note_values<name>(values, boost::hana::second(entry));
    });
    write<"write_variables_data">(values);
  }
  /// Gives all variables the values of those of the same names in another session, which may have more, such as an optimiser's.
  /// With a prefix, `average.weight` comes before `weight`. A name that it does not have so, of this shape and dtype, does not
  /// compile.
  template <class Source, NameText prefix = "">
  void load_from_session(const Source& source, Name<prefix> = {}) {
    names::template check_source<Source::plan, prefix>();
    const auto tensors = source.host_tensors();
    Values values{};
    constexpr auto found = names::template find_variables<Source::plan, prefix>();
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = tensors[found[v]].bytes.data();
    write<"load_from_session">(values);
  }
  /// Gives variables the values of another session's with the same names. As far as the policy allows, variables of this session
  /// alone keep their values, and those of the other alone are left out; LoadError, before anything is written, for the rest.
  template <class Source>
  void load_from_session(const Source& source, const LoadPolicy& policy) {
    const auto tensors = source.host_tensors();
    load_tensors({"the other session", tensors}, policy);
  }

  /// All variables, as views of the host copy, which is fetched if it is stale: to save them, for example. A later read, write or
  /// run with a read after it overwrites them.
  auto host_tensors() const {
    const ExclusiveUse use = begin("host_tensors");
    state_->copies.refresh();
    auto tensors = variables_without_values();
    for (std::size_t v = 0; v < tensors.size(); ++v)
      tensors[v].bytes = {state_->copies.host_data(v), static_cast<std::size_t>(tensors[v].spec.bytes())};
    return tensors;
  }
  /// Gives all variables new values, by name: from a file (`tw::load_npz`, ...) or what host_tensors() gives. Throws
  /// LoadError, before anything is written, where names, dtypes or shapes differ; the policy may allow some of it.
  void load_tensors(const HostTensors& tensors, const LoadPolicy& policy = {}) {
    const auto found = detail::match_tensors(variables_without_values(), tensors, policy);
    Values values{};
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = found[v].data();
    write<"load_tensors">(values);
  }

 protected:
  using Values = std::array<const std::byte*, plan.variables.size()>;

  void require_attached(const char* what) const {
    if (!is_attached())
      throw std::logic_error(text(what, ": the session is not attached: a context() or attach() expected").string());
  }
  struct State;
  State& state(const char* call) const {
    if (!state_) [[unlikely]]
      throw std::logic_error(text(call, ": a session that was moved from: the one that has its memory now expected").string());
    return *state_;
  }
  /// All calls that use memory begin here.
  ExclusiveUse begin(const char* call) const { return {state(call).in_use, call}; }
  std::span<const std::byte> variable_memory() const {
    return {state_->executor.variables(), static_cast<std::size_t>(plan.memory.variables)};
  }
  std::span<const std::byte> remote_memory() const {
    return {state_->executor.remote(), static_cast<std::size_t>(plan.memory.remote)};
  }
  /// `outputs`: the session's own, if the run writes to them.
  void execute(StreamMemory<program::plan>& streams, std::span<const std::byte> outputs) {
    state_->input_copies.replace_shared(streams, {outputs, variable_memory(), remote_memory()});
    state_->copies.mark_stale();
    state_->executor.run(streams);
  }
  template <NameText call>
  void write(const Values& values) {
    const ExclusiveUse use = begin(call.view().data());
    state_->copies.write(values);
  }
  static auto variables_without_values() {
    std::array<HostTensor, plan.variables.size()> tensors{};
    for (std::size_t v = 0; v < tensors.size(); ++v) tensors[v] = {plan.variable_name(v), host_spec(plan, v), {}};
    return tensors;
  }
  template <std::size_t v>
  auto copy_of_variable() const {
    constexpr TensorSpec spec = host_spec(plan, v);
    return copy_of<spec.dtype, spec.shape>(state_->copies.host_data(v));
  }
  template <NameText name, class Array>
  static void note_values(Values& values, const Array& array) {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) names::template no_variable<"write_variable_data", name>();
    else values[v] = detail::host_data<detail::VariableArray<program::plan, v>, "write_variable_data">(array);
  }

  /// On the heap: a session that is moved takes it along, and nothing in it moves.
  struct State {
    State(const SessionOptions& given, const internal::HeldReplicas& held)
        : options(given),
          executor(program::view(), given.threads, given.strict, held, given.recorded_events),
          copies(executor, program::view(), given.seed, given.attach),
          outputs(detail::offsets_of_arrays<program::plan, StreamDirection::device_to_host>(executor.replicas()).back(),
                  "outputs"),
          input_copies(executor.replicas()) {}

    SessionOptions options;
    internal::Executor executor;
    VariableCopies copies;
    internal::AlignedMemory outputs;
    InputCopies<program::plan> input_copies;
    std::atomic<bool> in_use{false};
  };
  std::unique_ptr<State> state_;  // the host copy of variables, a cache of the device's values, changes in const functions too
};

}  // namespace tilewright
