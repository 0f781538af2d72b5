#pragma once
#include <array>
#include <boost/hana/at_key.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/program.hpp"
#include "tilewright/ops/memory/print_tensor_code.hpp"
#include "tilewright/session/context.hpp"
#include "tilewright/session/exclusive_use.hpp"
#include "tilewright/session/figures.hpp"
#include "tilewright/session/host_outputs.hpp"
#include "tilewright/session/host_tensor.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/session_options.hpp"
#include "tilewright/session/session_state.hpp"
#include "tilewright/session/streams/input_copies.hpp"
#include "tilewright/session/streams/stream_arrays.hpp"
#include "tilewright/session/tensor_rules.hpp"
#include "tilewright/session/variable_array.hpp"
#include "tilewright/session/variable_tree.hpp"
#include "tilewright/target/devices.hpp"

namespace tilewright {

/// A program with its memory, ready to run. `build` is a constexpr function of an Ir& that builds the main graph. The compiler
/// traces, differentiates and plans it for the target.
///
///     tw::Session<train_step<8>, tw::ipu_model> session({.seed = 1});
///     auto outputs = session.run("image"_s = images, "label"_s = labels);
///     float loss = outputs["loss"_s]();
///
/// Variables exist twice: on the device, which computes with them, and in a host copy, which `get_tensor_data` reads. A run makes
/// the host copy stale. The next read fetches all variables at once; later reads cost nothing until the next run. A detached
/// session has the host copy only. Ops of an execution context other than Normal run at each copy of all variables, and in the
/// constructor if the session starts attached. If ops run after uploads, each write uploads all variables.
///
/// Only one thread at a time may use a session, even to read. A call during another call throws std::logic_error, and the
/// destructor ends the program by it. So does a run in a forked child if the session has several threads. When a session moves,
/// views of its memory stay valid, contexts do not; then it can only be assigned to. Results do not depend on the threads.
template <auto build, Target machine = cpu>
class Session {
  using program = internal::Program<build, machine>;
  using names = PlanNames<program::plan>;

 public:
  static constexpr Target target = machine;
  /// Name of the device: "cpu", "ipu_model", or "custom" for a user's own target.
  static constexpr std::string_view device = device_name(machine);
  /// The plan of the program, a constant.
  static constexpr const auto& plan = program::plan;

  /// Throws std::invalid_argument for an invalid number of threads or events and for strict mode on a target other than a
  /// simulated IPU; std::runtime_error if threads cannot be created; MemoryError, a std::bad_alloc that names the purpose and the
  /// number of bytes, if memory runs out.
  explicit Session(const SessionOptions& options = {}) : Session(options, {}) {}

  Session(Session&&) noexcept = default;
  Session& operator=(Session&&) noexcept = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 protected:
  /// Creates a session of some of the replicas.
  // cold functions do this work; inlined, they would make code of a caller cold, too
  [[gnu::noinline]] Session(const SessionOptions& options, const internal::HeldReplicas& held)
      : state_(new State(options, held)) {
    state_->core.begin(device, std::is_same_v<internal::Optimisation, Optimised>);
  }

 public:
  const SessionOptions& options() const { return state("options").core.options(); }
  /// Returns the number of host threads of the next run.
  int threads() const { return state("threads").core.threads(); }

  /// Returns the costs of the plan on the session's simulated IPU, as tw::profile does. The caller includes its header.
  auto profile(const std::string& name = {}) const { return detail::profile_of(build, machine, name); }

  /// Logs the FLOPs of a run and the parameters by module, as tw::log_figures does. The caller includes its header.
  void log_figures() const { detail::log_figures_of(build, machine, state("log_figures").core.logger()); }

  /// Returns what the workers did since the session was created or since clear_recording(); empty if recorded_events is 0. Throws
  /// MemoryError.
  [[gnu::noinline]] Recording recording(const std::string& name = {}) const {
    const ExclusiveUse use = begin("recording");
    return detail::named_recording(state_->core.recording(), plan, name);
  }
  void clear_recording() {
    const ExclusiveUse use = begin("clear_recording");
    state_->core.clear_recording();
  }

  // ---- streams ----

  /// Returns the streams that the program loads, with name, spec and the shape of the host's array, as a constant.
  static constexpr auto expected_inputs() { return expected_streams<program::plan, StreamDirection::host_to_device>(); }
  /// Returns the streams that the program stores.
  static constexpr auto expected_outputs() { return expected_streams<program::plan, StreamDirection::device_to_host>(); }

  /// Outputs of a run: views of the session's memory.
  class Outputs {
   public:
    /// Returns the tensors of a stream as an xtensor of static shape ([transfers, if above 1,] [replicas, if above 1,] stream's
    /// shape...). The result is a view of the session's memory: the next `run` overwrites it, and it must not outlive the session
    /// or the Outputs. To keep the values, copy them: `xt::xtensor<float, 1> kept = outputs["loss"_s]`. An unknown name does not
    /// compile.
    template <NameText name>
    auto operator[](Name<name>) const {
      constexpr std::size_t stream = names::find_stream(name.view(), StreamDirection::device_to_host);
      if constexpr (stream == names::none) return names::template unknown_output<name>();
      else
        return static_view<plan.streams[stream].spec.dtype, host_shape(plan, stream)>(memory_ +
                                                                                      output_offsets<program::plan>[stream]);
    }
    auto operator[](const std::convertible_to<std::string_view> auto& name) const { return detail::require_name(name); }
    /// Returns all outputs with name and spec, for example to save them. They are views, like those of operator[].
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

  /// Runs the program once: `run("image"_s = images, "label"_s = labels)`. Needs one array for every stream that the program
  /// loads, of the stream's dtype and host shape: [transfers, if above 1,] [replicas, if above 1,] stream's shape... Here,
  /// transfers is the largest number of the stream's elements that a run takes, or num_host_transfers if the program sets it.
  /// Arrays are read in place, or copied first if they share memory with the session's outputs or variables. Unknown, missing
  /// and repeated names, wrong dtypes and wrong static shapes do not compile. Throws std::invalid_argument for wrong dynamic
  /// shapes, before anything runs, and std::logic_error if the session is detached. If an op throws, the run ends and rethrows
  /// the exception. After that, variables may have old or new values. Allocates nothing.
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

  /// Runs the program once and writes outputs directly to the user's arrays: `run_with_outputs("image"_s = images, "loss"_s =
  /// loss)`. Needs one array for every stream, input or output, as in `run`. Output arrays must not be const. Throws
  /// std::invalid_argument if they share memory with other arrays or with the session's variables. Elements that the program does
  /// not store keep their values. Allocates nothing.
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
  /// Runs the program once and writes all outputs to one object: `run_with_outputs(outputs, "image"_s = images)`. Needs one array
  /// for every input stream. Allocates nothing.
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
  /// Returns arrays for all outputs: `auto outputs = session.create_host_outputs(); outputs["loss"_s]`.
  static HostOutputs<program::plan> create_host_outputs() { return {}; }

  // ---- device and host ----

  /// Attaches the session until the end of the block: `const auto context = session.context();`. A no-op if it is attached.
  SessionContext<Session> context() { return SessionContext<Session>(*this); }
  bool is_attached() const { return state("is_attached").core.is_attached(); }
  /// Copies the variables from the host copy to the device. A no-op if the session is attached.
  void attach() {
    const ExclusiveUse use = begin("attach");
    state_->core.attach();
  }
  /// Drops the device's values; call weights_to_host() first to keep them. A no-op if the session is detached.
  void detach() {
    const ExclusiveUse use = begin("detach");
    state_->core.detach();
  }

  /// Copies all variables from the host to the device, then runs ops of WeightsFromHostFragment, which may throw as a run does.
  /// Throws std::logic_error if the session is detached.
  void weights_from_host() {
    const ExclusiveUse use = begin("weights_from_host");
    require_attached("weights_from_host");
    state_->core.copy_to_device();
  }
  /// Runs ops of WeightsToHostFragment, which may throw as a run does, then copies all variables from the device to the host.
  /// Throws std::logic_error if the session is detached.
  void weights_to_host() {
    const ExclusiveUse use = begin("weights_to_host");
    require_attached("weights_to_host");
    state_->core.copy_to_host();
  }
  /// Returns whether the host copy is up to date, so that reading it needs no transfer.
  bool in_sync() const { return state("in_sync").core.in_sync(); }
  /// Returns whether the host copy of one variable is up to date. A write of one variable makes it so, and those that were not
  /// written stay stale: `session.in_sync("fc1.weight"_s)`. A name that is not a variable's does not compile.
  template <NameText name>
  bool in_sync(Name<name>) const {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) return names::template no_variable<"in_sync", name>(), false;
    else return state("in_sync").core.in_sync(v);
  }
  /// Returns how often variables were copied in each direction. A copy of all variables and a single write each count once.
  Transfers transfers() const { return state("transfers").core.transfers(); }

  // ---- variables ----

  /// Returns the variables by name, as views of device memory: `session.variables()["fc1"_s]["weight"_s](0, 0)`. The views are
  /// writable, so each call makes the host copy stale; a later write through an older view does not. Throws std::logic_error if
  /// the session is detached. Does not compile for several replicas; use get_tensor_data and write_variable_data there.
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
      state_->core.mark_stale();
      return VariableTree<program::plan, "">(state_->core);
    }
  }

  /// Returns a copy of a variable, such as "fc1.weight", or of a named constant ("graph/name" outside of the main graph).
  template <NameText name>
  decltype(auto) get_tensor_data(Name<name>) const {  // a const copy: a change of it would change no variable
    constexpr std::size_t v = names::find_variable(name.view()), c = names::find_constant(name.view());
    if constexpr (v != names::none) {
      const ExclusiveUse use = begin("get_tensor_data");
      state_->core.refresh();
      const auto copy = copy_of_variable<v>();
      return copy;
    } else if constexpr (c != names::none) {
      return copy_of<plan.constants[c].spec.dtype, plan.constants[c].spec.shape>(state("get_tensor_data").core.constants() +
                                                                                 plan.constants[c].offset);
    } else {
      return names::template no_variable_or_constant<"get_tensor_data", name>();
    }
  }
  auto get_tensor_data(const std::convertible_to<std::string_view> auto& name) const { return detail::require_name(name); }
  /// Returns copies of all variables, as a Boost.Hana map from their names.
  auto get_tensors_data() const {
    const ExclusiveUse use = begin("get_tensors_data");
    state_->core.refresh();
    return names::map_variables(
        [this]<std::size_t v>(std::integral_constant<std::size_t, v>) { return this->template copy_of_variable<v>(); });
  }
  /// Returns copies of some variables and constants: `get_tensors_data("fc1.weight"_s, "fc1.bias"_s)`.
  template <NameText... name>
    requires(sizeof...(name) > 0)
  auto get_tensors_data(Name<name>...) const {
    return boost::hana::make_map(boost::hana::make_pair(Name<name>::key(), get_tensor_data(Name<name>()))...);
  }
  /// Writes a variable from an array of its dtype and shape, on the host and, if the session is attached, on the device.
  template <NameText name, class Array>
  void write_variable_data(Name<name>, const Array& array) {
    Values values{};
    note_values<name>(values, array);
    write<"write_variable_data">(values);
  }
  /// Writes variables from a Boost.Hana map of names and arrays, such as another session's get_tensors_data(). If an array does
  /// not fit, no variable changes.
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
  /// Copies all variables from those with the same names in another session. The other session may have more variables, such as
  /// those of an optimiser. With the prefix "average", `weight` is copied from `average.weight`. If the other session lacks a
  /// name with this shape and dtype, the call does not compile.
  template <class Source, NameText prefix = "">
  void load_from_session(const Source& source, Name<prefix> = {}) {
    names::template check_source<Source::plan, prefix>();
    const auto tensors = source.host_tensors();
    Values values{};
    constexpr auto found = names::template find_variables<Source::plan, prefix>();
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = tensors[found[v]].bytes.data();
    write<"load_from_session">(values);
  }
  /// Copies variables from those with the same names in another session as load_tensors does, with its policy and errors.
  template <class Source>
  void load_from_session(const Source& source, const LoadPolicy& policy) {
    load_tensors({"the other session", source.host_tensors()}, policy);
  }
  /// Copies variables by rules, see map_tensors: `load_from_session(other, {{"decoder.*", "features.*"}, tw::cast()})`.
  template <class Source, std::convertible_to<TensorRules> Rules = TensorRules>  // GCC takes a policy in braces for rules, too
  void load_from_session(const Source& source, const Rules& rules, const LoadPolicy& policy = {}) {
    const TensorRules all(rules);
    load_tensors(detail::apply_rules("load_from_session", {"the other session", source.host_tensors()}, all.rules()), policy);
  }

  /// Returns all variables as views of the host copy, for example to save them. Fetches a stale copy first. A later read, write,
  /// or run followed by a read overwrites the views.
  auto host_tensors() const {
    const ExclusiveUse use = begin("host_tensors");
    state_->core.refresh();
    auto tensors = variables_without_values();
    for (std::size_t v = 0; v < tensors.size(); ++v)
      tensors[v].bytes = {state_->core.host_data(v), static_cast<std::size_t>(tensors[v].spec.bytes())};
    return tensors;
  }
  /// Writes all variables by name, from a file (`tw::load_npz`, ...) or from host_tensors(). Converts narrower dtypes; wider ones
  /// need the rule cast(). Throws LoadError, before anything is written, if what differs is not allowed by the policy.
  void load_tensors(const HostTensors& tensors, const LoadPolicy& policy = {}) {
    const auto found = detail::match_tensors(variables_without_values(), tensors, policy);
    Values values{};
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = found.bytes[v].data();
    write<"load_tensors">(values);
  }

 protected:
  using Values = std::array<const std::byte*, plan.variables.size()>;

  void require_attached(const char* what) const {
    if (!is_attached()) [[unlikely]]
      detail::throw_detached(what);
  }
  using State = detail::SessionState<program>;
  State& state(const char* call) const {
    if (!state_) [[unlikely]]
      detail::throw_moved_from(call);
    return *state_;
  }
  /// Starts a call that uses memory. All such calls begin here.
  ExclusiveUse begin(const char* call) const { return {state(call).in_use, call}; }
  Span<const std::byte> variable_memory() const {
    return {state_->core.variables(), static_cast<std::size_t>(plan.memory.variables)};
  }
  Span<const std::byte> remote_memory() const { return {state_->core.remote(), static_cast<std::size_t>(plan.memory.remote)}; }
  /// `outputs`: the session's own outputs if the run writes to them.
  void execute(StreamMemory<program::plan>& streams, Span<const std::byte> outputs) {
    state_->input_copies.replace_shared(streams, {outputs, variable_memory(), remote_memory()});
    state_->core.run(streams);
  }
  template <NameText call>
  void write(const Values& values) {
    const ExclusiveUse use = begin(call.view().data());
    state_->core.write(values);
  }
  static auto variables_without_values() {
    std::array<HostTensor, plan.variables.size()> tensors{};
    for (std::size_t v = 0; v < tensors.size(); ++v) tensors[v] = {plan.variable_name(v), host_spec(plan, v), {}};
    return tensors;
  }
  template <std::size_t v>
  auto copy_of_variable() const {
    constexpr TensorSpec spec = host_spec(plan, v);
    return copy_of<spec.dtype, spec.shape>(state_->core.host_data(v));
  }
  template <NameText name, class Array>
  static void note_values(Values& values, const Array& array) {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) names::template no_variable<"write_variable_data", name>();
    else values[v] = detail::host_data<detail::VariableArray<program::plan, v>, "write_variable_data">(array);
  }

  internal::Owned<State> state_;  // the host copy of variables, a cache of the device's values, changes in const functions too
};

}  // namespace tilewright
