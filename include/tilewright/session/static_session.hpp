#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tilewright/core/name.hpp"
#include "tilewright/execute/run_status.hpp"
#include "tilewright/session/fill_elements.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/static_arrays.hpp"
#include "tilewright/session/static_program.hpp"
#include "tilewright/session/tensor_view.hpp"

namespace tilewright {

/// A program and all its memory in one object of constant size: variables, constants, tensors of a run, arrays of streams. It
/// runs on the caller's thread, and needs no heap, no threads and no exceptions. It gives the same bits as a Session.
///
///     constinit static tw::StaticSession<train_step, tw::one_core> net;  // or on a stack, or `new (memory)`
///     net.init(1);
///     std::ranges::copy(pixels, net.stream("image"_s).begin());
///     if (const tw::RunStatus status = net.run(); !status.is_done()) ...
///     const float loss = net.stream("loss"_s)[0];
///
/// The target is the host, with one replica. Programs that print, or whose remote buffers are files, do not compile. Remote
/// memory is in the object, and remote_code_load does nothing. A copy of the object is a copy of the network. One thread at a
/// time may use it.
template <auto build, Target machine = cpu>
class StaticSession {
  using program = internal::Program<build, machine>;
  using names = PlanNames<program::plan>;
  using tables = detail::StaticProgram<program>;
  static_assert(detail::require_no_host<program::plan, machine>());

 public:
  static constexpr Target target = machine;
  /// The plan of the program, a constant.
  static constexpr const auto& plan = program::plan;

  constexpr StaticSession() = default;

  /// Writes constants and the initial values of variables, those that a Session with this seed has, and runs ops that follow an
  /// upload. Arrays take the place of a variable's values: `init(1, "fc1.weight"_s = weights)`. A variable of given() needs one.
  /// The status is that of these ops, or says that a function of the program gave a number that the dtype does not have.
  template <class... Names, class... Arrays>
  RunStatus init(std::uint64_t seed = 42, NamedArgument<Names, Arrays>... arrays) {
    check_given<Names...>();
    is_initialised() = false;
    detail::UnfitNumber unfit;
    for (std::size_t c = 0; c < tables::constants.size() && unfit.function.empty(); ++c)
      unfit = detail::fill_constant<tables::fill_needs>(tables::constants[c], numbers(tables::constants[c].values),
                                                        memory_ + at_constants + tables::constants[c].offset);
    Random random(seed);
    for (std::size_t v = 0; v < tables::variables.size() && unfit.function.empty(); ++v)
      unfit = detail::fill_variable<tables::fill_needs>(tables::variables[v], numbers(tables::variables[v].values), data_of(v),
                                                        random);
    if (!unfit.function.empty()) return {.result = RunResult::unfit_number, .before = unfit.function, .after = unfit_text};
    is_initialised() = true;
    (write_variable(arrays), ...);
    return weights_from_host();
  }

  /// Runs the program once, on the arrays of `stream`. Other arrays of static size can take their place for this run, and are
  /// used in place: `run("image"_s = pixels, "loss"_s = loss)`. They need the alignment of their elements, and memory of their
  /// own. Unknown names, wrong dtypes and wrong sizes do not compile.
  template <class... Names, class... Arrays>
  RunStatus run(NamedArgument<Names, Arrays>... arrays) {
    std::byte** const streams = this->streams();
    for (std::size_t i = 0; i < stream_count; ++i) streams[i] = memory_ + at_streams + tables::stream_offsets[i];
    if constexpr (sizeof...(arrays) > 0) {
      (set_stream(arrays), ...);
      if (!are_apart()) return {.result = RunResult::shared_memory, .before = shared_text};
    }
    return run_root(internal::BodyId::main);
  }
  /// Returns the object's array for a stream of the program, a span of constant size, of all transfers in row-major order.
  template <NameText name>
  auto stream(Name<name>) {
    constexpr std::size_t i = names::find_stream(name.view());
    if constexpr (i == names::none) return names::template no_stream<"stream", name>();
    else return elements_of<stream_spec<i>>(memory_ + at_streams + tables::stream_offsets[i]);
  }

  /// Returns a variable, a span of constant size. Writes to it change the network.
  template <NameText name>
  auto variable(Name<name>) {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) return names::template no_variable<"variable", name>();
    else return elements_of<host_spec(plan, v)>(data_of(v));
  }
  template <NameText name>
  auto variable(Name<name>) const {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) return names::template no_variable<"variable", name>();
    else return elements_of<host_spec(plan, v)>(data_of(v));
  }
  /// Returns all variables with name and spec, as views: another session's load_from_session reads them.
  auto host_tensors() const {
    std::array<HostTensor, plan.variables.size()> tensors{};
    for (std::size_t v = 0; v < tensors.size(); ++v) {
      const TensorSpec spec = host_spec(plan, v);
      tensors[v] = {plan.variable_name(v), spec, {data_of(v), static_cast<std::size_t>(spec.bytes())}};
    }
    return tensors;
  }
  /// Copies all variables from those with the same names in another session, a Session or a StaticSession, then runs ops that
  /// follow an upload. With the prefix "average", `weight` is copied from `average.weight`. Call init() first.
  template <class Source, NameText prefix = "">
  RunStatus load_from_session(const Source& source, Name<prefix> = {}) {
    names::template check_source<Source::plan, prefix>();
    const auto tensors = source.host_tensors();
    constexpr auto found = names::template find_variables<Source::plan, prefix>();
    for (std::size_t v = 0; v < found.size(); ++v)
      std::memcpy(data_of(v), tensors[found[v]].bytes.data(), tensors[found[v]].bytes.size());
    return weights_from_host();
  }

  /// Runs ops of WeightsFromHostFragment, which a Session runs after it has copied variables to the device.
  RunStatus weights_from_host() {
    if constexpr (plan.after_upload == internal::BodyId::none) return {};
    else return run_root(plan.after_upload);
  }
  /// Runs ops of WeightsToHostFragment, which a Session runs before it copies variables to the host.
  RunStatus weights_to_host() {
    if constexpr (plan.before_download == internal::BodyId::none) return {};
    else return run_root(plan.before_download);
  }

 private:
  static constexpr StaticBytes bytes = tables::bytes;
  static constexpr std::int64_t at_constants = bytes.variables, at_remote = at_constants + bytes.constants,
                                at_frame = at_remote + bytes.remote, at_streams = at_frame + bytes.frame,
                                at_faults = at_streams + bytes.streams, at_state = at_faults + bytes.faults;
  static constexpr std::size_t stream_count = plan.streams.size(), fault_count = plan.fault_sites.size();
  static constexpr std::string_view unfit_text = ": a number that the dtype does not have: others expected";
  static constexpr std::string_view shared_text =
      "run: an array shares memory with another one or with the session: memory of its own expected";
  static constexpr std::string_view uninitialised_text = "run: a session without initial values: init() first expected";

  template <std::size_t i>
  static constexpr TensorSpec stream_spec{host_shape(plan, i), plan.streams[i].spec.dtype};
  template <TensorSpec spec, class Byte>
  static auto elements_of(Byte* data) {
    using Element = std::conditional_t<std::is_const_v<Byte>, const element_t<spec.dtype>, element_t<spec.dtype>>;
    return detail::TensorSpan<Element, spec>(reinterpret_cast<Element*>(data), static_cast<std::size_t>(spec.nelms()));
  }
  static std::span<const double> numbers(internal::PoolRange range) { return {tables::values.data() + range.first, range.count}; }

  static constexpr auto variable_offsets = [] {
    std::array<std::int64_t, plan.variables.size()> offsets{};
    for (std::size_t v = 0; v < offsets.size(); ++v)
      offsets[v] = plan.variables[v].offset + (plan.variables[v].base == internal::Base::remote ? at_remote : 0);
    return offsets;
  }();
  std::byte* data_of(std::size_t v) { return memory_ + variable_offsets[v]; }
  const std::byte* data_of(std::size_t v) const { return memory_ + variable_offsets[v]; }
  std::byte** arguments() { return reinterpret_cast<std::byte**>(memory_ + at_state); }
  std::byte** streams() { return arguments() + tables::argument_count; }
  bool& is_initialised() { return *reinterpret_cast<bool*>(streams() + stream_count); }

  /// Fails if a variable of given() is without an array.
  template <class... Given>
  static void check_given() {
    constexpr auto problem = []() -> Text {
      for (std::size_t v = 0; v < plan.variables.size(); ++v)
        if (plan.variables[v].is_given && (... && (Given::view() != plan.variable_name(v))))
          return text("init: none for variable '", plan.variable_name(v), "': ", to_text(host_spec(plan, v)), " expected");
      return {};
    };
    constexpr bool right = problem().empty();
    if constexpr (!right) Report<problem>();
  }
  template <NameText name, class Array>
  void write_variable(const NamedArgument<Name<name>, Array>& array) {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) names::template no_variable<"init", name>();
    else
      std::memmove(data_of(v), detail::static_elements<"init", name, host_spec(plan, v), false>(array.value),
                   static_cast<std::size_t>(host_spec(plan, v).bytes()));
  }
  template <NameText name, class Array>
  void set_stream(const NamedArgument<Name<name>, Array>& array) {
    constexpr std::size_t i = names::find_stream(name.view());
    if constexpr (i == names::none) names::template no_stream<"run", name>();
    else
      streams()[i] = detail::static_elements < "run", name, stream_spec<i>,
      plan.streams[i].direction == StreamDirection::device_to_host > (array.value);
  }
  /// Returns whether outputs share memory with no other array, and arrays of the caller none with the object.
  bool are_apart() {
    const auto array = [&](std::size_t i) { return std::span(streams()[i], static_cast<std::size_t>(tables::stream_bytes[i])); };
    const std::span whole(memory_, sizeof memory_);
    for (std::size_t i = 0; i < stream_count; ++i) {
      const bool is_own = streams()[i] == memory_ + at_streams + tables::stream_offsets[i];
      if (!is_own && detail::share_memory(array(i), whole)) return false;
      for (std::size_t j = 0; tables::stream_directions[i] == StreamDirection::device_to_host && j < stream_count; ++j)
        if (i != j && detail::share_memory(array(i), array(j))) return false;
    }
    return true;
  }
  RunStatus run_root(internal::BodyId root) {
    if (!is_initialised()) return {.result = RunResult::not_initialised, .before = uninitialised_text};
    const std::span faults(reinterpret_cast<FaultRecord*>(memory_ + at_faults), fault_count);
    const internal::SerialMemory memory{.variables = memory_,
                                        .constants = memory_ + at_constants,
                                        .remote = memory_ + at_remote,
                                        .frame = memory_ + at_frame,
                                        .streams = streams(),
                                        .arguments = arguments(),
                                        .faults = faults.data()};
    internal::SerialRun(tables::serial, memory).run(root);
    return internal::take_faults(faults, tables::fault_sites, {tables::fault_texts.data(), tables::fault_texts.size()});
  }

  alignas(internal::memory_alignment) std::byte memory_[static_cast<std::size_t>(bytes.total())]{};
};

}  // namespace tilewright
