#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "tilewright/core/name.hpp"
#include "tilewright/execute/run_status.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/one_object/static_arrays.hpp"
#include "tilewright/session/one_object/static_programs.hpp"
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
///
/// With UnchangedVariables::read_only, variables that no step writes are in memory of the caller, such as flash, and init() needs
/// it: `init(1, "fc1.weight"_s = weight)`, or a .safetensors file. It stays as it is for as long as the object, and its copies,
/// are used.
template <auto build, Target machine = cpu, UnchangedVariables unchanged = UnchangedVariables::in_object>
class StaticSession {
  using program = internal::Program<build, machine>;
  using names = PlanNames<program::plan>;
  using programs = detail::StaticPrograms<true, unchanged, program>;
  static_assert(detail::require_no_host<program::plan, machine>());

 public:
  static constexpr Target target = machine;
  /// The plan of the program, a constant.
  static constexpr const auto& plan = program::plan;

  constexpr StaticSession() = default;

  /// Writes constants and the initial values of variables, those that a Session with this seed has, and runs ops that follow an
  /// upload. Arrays take the place of a variable's values: `init(1, "fc1.weight"_s = weights)`. A variable of given() needs one,
  /// and one in read-only memory, which uses the array in place. The status is that of these ops, or says that a function of the
  /// program gave a number that the dtype does not have.
  template <class... Names, class... Arrays>
  RunStatus init(std::uint64_t seed = 42, NamedArgument<Names, Arrays>... arrays) {
    check_given<false, Names...>();
    if (const RunStatus status = programs_.fill(seed); !status.is_done()) return status;
    (write_variable(arrays), ...);
    return programs_.upload();
  }

  /// Uses the variables in read-only memory from a .safetensors file in place; others get the initial values of the seed,
  /// whatever the file has. Runs ops that follow an upload. The status is that of these ops, unfit_file as for load_safetensors,
  /// or misaligned_memory if the file is not at a multiple of 8.
  RunStatus init(std::uint64_t seed, std::span<const std::byte> file)
    requires(unchanged == UnchangedVariables::read_only)
  {
    check_given<true>();
    return programs_.init(seed, file);
  }

  /// Runs the program once, on the arrays of `stream`. Other arrays of static size can take their place for this run, and are
  /// used in place: `run("image"_s = pixels, "loss"_s = loss)`. They need the alignment of their elements, and memory of their
  /// own. Unknown names, wrong dtypes and wrong sizes do not compile.
  template <class... Names, class... Arrays>
  RunStatus run(NamedArgument<Names, Arrays>... arrays) {
    std::array<internal::OperandAddress, plan.streams.size()> given{};
    (set_stream(given, arrays), ...);
    return programs_.template run<0>(given);
  }
  /// Returns the object's array for a stream of the program, a span of constant size, of all transfers in row-major order.
  template <NameText name>
  auto stream(Name<name>) {
    constexpr std::size_t i = names::find_stream(name.view());
    if constexpr (i == names::none) return names::template no_stream<"stream", name>();
    else return elements_of<stream_spec<i>>(programs_.template stream<0>(i));
  }

  /// Returns a variable, a span of constant size. Writes to it change the network. Elements in read-only memory are const.
  template <NameText name>
  auto variable(Name<name>) {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) return names::template no_variable<"variable", name>();
    else if constexpr (programs::template is_read_only<0>(v)) return std::as_const(*this).variable(Name<name>());
    else return elements_of<host_spec(plan, v)>(programs_.template variable<0>(v));
  }
  template <NameText name>
  auto variable(Name<name>) const {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) return names::template no_variable<"variable", name>();
    else return elements_of<host_spec(plan, v)>(programs_.template variable<0>(v));
  }
  /// Returns all variables with name and spec, as views: another session's load_from_session reads them.
  auto host_tensors() const {
    std::array<HostTensor, plan.variables.size()> tensors{};
    for (std::size_t v = 0; v < tensors.size(); ++v) {
      const TensorSpec spec = host_spec(plan, v);
      tensors[v] = {plan.variable_name(v), spec, {programs_.template variable<0>(v), static_cast<std::size_t>(spec.bytes())}};
    }
    return tensors;
  }
  /// Copies all variables from those with the same names in another session, a Session or a StaticSession, then runs ops that
  /// follow an upload. With the prefix "average", `weight` is copied from `average.weight`. Call init() first.
  template <class Source, NameText prefix = "">
  RunStatus load_from_session(const Source& source, Name<prefix> = {}) {
    names::template check_source<Source::plan, prefix>();
    check_in_object();
    const auto tensors = source.host_tensors();
    constexpr auto found = names::template find_variables<Source::plan, prefix>();
    for (std::size_t v = 0; v < found.size(); ++v)
      std::memcpy(programs_.template variable<0>(v), tensors[found[v]].bytes.data(), tensors[found[v]].bytes.size());
    return programs_.upload();
  }

  /// Bytes of the file that save_safetensors writes, which has no variables in read-only memory.
  static constexpr std::size_t safetensors_bytes() { return programs::file_bytes(); }
  /// Copies all variables from the bytes of a .safetensors file, of any alignment and with tensors in any order, then runs ops
  /// that follow an upload. Variables without a tensor of their dtype and shape, and files that violate the format, are the
  /// status unfit_file, and change nothing; so do other values than those in read-only memory. Other tensors and metadata are
  /// ignored; float8 is read from U8. Call init() first.
  RunStatus load_safetensors(std::span<const std::byte> file) { return programs_.load_safetensors(file); }
  /// Runs ops that precede a download, then writes all variables as a .safetensors file of safetensors_bytes() bytes. The status
  /// is that of these ops, or unfit_file for less memory.
  RunStatus save_safetensors(std::span<std::byte> file) { return programs_.save_safetensors(file); }

  /// Runs ops of WeightsFromHostFragment, which a Session runs after it has copied variables to the device.
  RunStatus weights_from_host() { return programs_.upload(); }
  /// Runs ops of WeightsToHostFragment, which a Session runs before it copies variables to the host.
  RunStatus weights_to_host() { return programs_.download(); }

 private:
  template <std::size_t i>
  static constexpr TensorSpec stream_spec{host_shape(plan, i), plan.streams[i].spec.dtype};
  template <TensorSpec spec, class Byte>
  static auto elements_of(Byte* data) {
    using Element = std::conditional_t<std::is_const_v<Byte>, const element_t<spec.dtype>, element_t<spec.dtype>>;
    return detail::TensorSpan<Element, spec>(reinterpret_cast<Element*>(data), static_cast<std::size_t>(spec.nelms()));
  }

  /// Fails if a variable of given(), or one in read-only memory without a file, is without an array.
  template <bool has_file, class... Given>
  static void check_given() {
    constexpr auto problem = []() -> Text {
      for (std::size_t v = 0; v < plan.variables.size(); ++v) {
        const bool is_read_only = programs::template is_read_only<0>(v);
        if ((is_read_only ? !has_file : plan.variables[v].is_given) && (... && (Given::view() != plan.variable_name(v))))
          return text("init: none for variable '", plan.variable_name(v),
                      is_read_only ? "' in read-only memory: " : "': ", to_text(host_spec(plan, v)), " expected");
      }
      return {};
    };
    constexpr bool right = problem().empty();
    if constexpr (!right) Report<problem>();
  }
  /// Fails if a variable is in read-only memory, because it cannot be copied to.
  static void check_in_object() {
    constexpr auto problem = []() -> Text {
      for (std::size_t v = 0; v < plan.variables.size(); ++v)
        if (programs::template is_read_only<0>(v))
          return text("load_from_session: variable '", plan.variable_name(v),
                      "' is in read-only memory: UnchangedVariables::in_object expected");
      return {};
    };
    constexpr bool right = problem().empty();
    if constexpr (!right) Report<problem>();
  }
  template <NameText name, class Array>
  void write_variable(const NamedArgument<Name<name>, Array>& array) {
    constexpr std::size_t v = names::find_variable(name.view());
    if constexpr (v == names::none) {
      names::template no_variable<"init", name>();
    } else {
      auto* const elements = detail::static_elements<"init", name, host_spec(plan, v), false>(array.value);
      if constexpr (programs::template is_read_only<0>(v)) {
        static_assert(
            std::is_lvalue_reference_v<Array> || std::ranges::borrowed_range<Array>,
            "init: a temporary array for a variable in read-only memory: one that lasts as long as the session expected");
        programs_.template point<0>(v, elements);
      } else {
        std::memmove(programs_.template variable<0>(v), elements, static_cast<std::size_t>(host_spec(plan, v).bytes()));
      }
    }
  }
  template <NameText name, class Array>
  static void set_stream(std::array<internal::OperandAddress, plan.streams.size()>& given,
                         const NamedArgument<Name<name>, Array>& array) {
    constexpr std::size_t i = names::find_stream(name.view());
    if constexpr (i == names::none) names::template no_stream<"run", name>();
    else {
      constexpr bool is_written = plan.streams[i].direction == StreamDirection::device_to_host;
      given[i] = detail::static_elements<"run", name, stream_spec<i>, is_written>(array.value);
    }
  }

  programs programs_;
};

}  // namespace tilewright
