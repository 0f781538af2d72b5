#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "tilewright/execute/run_status.hpp"
#include "tilewright/session/arrays/replica_parts.hpp"
#include "tilewright/session/fill_elements.hpp"
#include "tilewright/session/one_object/safetensors_writer.hpp"
#include "tilewright/session/one_object/shared_variables.hpp"
#include "tilewright/session/one_object/static_program.hpp"

namespace tilewright {
namespace detail {

/// Programs of one machine that share their variables, and all their memory in one object. `has_streams`: whether it has arrays
/// for streams; otherwise each run needs arrays of the caller. Programs are numbered from 0.
template <bool has_streams, UnchangedVariables unchanged, class... Programs>
class StaticPrograms {
  template <std::size_t p>
  using Tables = std::tuple_element_t<p, std::tuple<StaticProgram<Programs>...>>;
  using Shared = SharedVariables<unchanged, StaticProgram<Programs>...>;
  static constexpr auto numbers_of_programs = std::index_sequence_for<Programs...>();
  static constexpr std::size_t argument_count = (std::max)({StaticProgram<Programs>::argument_count...});
  static constexpr std::size_t pointer_count = argument_count + Shared::stream_count +
                                               static_cast<std::size_t>(Shared::places.read_only_count);

 public:
  static constexpr bool has_read_only = Shared::places.read_only_count > 0;
  /// Bytes by purpose. Programs have constants, remote memory and streams of their own; they take turns in the rest.
  static constexpr StaticBytes bytes = [] {
    StaticBytes sum{.variables = Shared::bytes,
                    .state = internal::align(static_cast<std::int64_t>(pointer_count * sizeof(std::byte*) + 1)),
                    .read_only = Shared::places.read_only_bytes};
    const auto add = [&](const StaticBytes& each) {
      sum.constants += each.constants;
      sum.remote += each.remote;
      sum.frame = (std::max)(sum.frame, each.frame);
      sum.streams += has_streams ? each.streams : 0;
      sum.faults = (std::max)(sum.faults, each.faults);
    };
    (add(StaticProgram<Programs>::bytes), ...);
    return sum;
  }();

  /// Returns whether a program's variable is in read-only memory. The object then has a pointer to it.
  template <std::size_t p>
  static constexpr bool is_read_only(std::size_t v) {
    return Shared::places.is_read_only[p][v];
  }
  /// Returns the offset of a program's variable, or of the pointer to it, in the object.
  template <std::size_t p>
  static constexpr std::int64_t offset_of_variable(std::size_t v) {
    if (is_read_only<p>(v)) return at_pointers + Shared::places.variables[p][v] * static_cast<std::int64_t>(sizeof(std::byte*));
    const bool is_remote = Tables<p>::variables[v].base == internal::Base::remote;
    return is_remote ? at_remote<p> + Tables<p>::variables[v].offset : Shared::places.variables[p][v];
  }
  template <std::size_t p>
  std::byte* variable(std::size_t v) {
    return memory_ + variable_offsets<p>[v];
  }
  template <std::size_t p>
  const std::byte* variable(std::size_t v) const {
    if constexpr (has_read_only)
      if (is_read_only<p>(v)) return pointer_at(variable_offsets<p>[v]);
    return memory_ + variable_offsets<p>[v];
  }
  /// Sets the pointer to a read-only variable.
  template <std::size_t p>
  void point(std::size_t v, const std::byte* elements) {
    pointer_at(variable_offsets<p>[v]) = internal::OperandAddress(elements).for_kernel();
  }
  /// Returns the object's array for a stream of a program.
  template <std::size_t p>
  std::byte* stream(std::size_t i) {
    return memory_ + at_streams<p> + Tables<p>::stream_offsets[i];
  }

  /// Writes constants and the initial values of variables in the object. Each program draws from the seed as a session of its own
  /// does; the values of a variable are those of the first program that has it.
  RunStatus fill(std::uint64_t seed) {
    is_initialised() = false;
    UnfitNumber unfit;
    [&]<std::size_t... p>(std::index_sequence<p...>) { (fill_program<p>(seed, unfit), ...); }(numbers_of_programs);
    if (!unfit.function.empty()) return {.result = RunResult::unfit_number, .before = unfit.function, .after = unfit_text};
    is_initialised() = true;
    return {};
  }
  /// Runs the ops of all programs that follow an upload. The status is that of the first program with faults.
  RunStatus upload() { return run_roots<true>(); }
  /// Runs a program. `arrays`: by stream, an array of the caller, or null for the object's array.
  template <std::size_t p>
  RunStatus run(std::span<const internal::OperandAddress, Tables<p>::plan.streams.size()> arrays) {
    std::byte** const at = streams();
    bool is_given = false;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      at[i] = arrays[i].for_kernel();
      is_given |= at[i] != nullptr;
      if (at[i] != nullptr || Tables<p>::stream_bytes[i] == 0) continue;
      if constexpr (!has_streams) return {.result = RunResult::missing_array, .before = missing_text};
      else at[i] = stream<p>(i);
    }
    if (is_given && !are_apart<p>(arrays)) return {.result = RunResult::shared_memory, .before = shared_text};
    return run_root<p>(internal::BodyId::main);
  }
  /// Number of arrays that `run` takes.
  template <std::size_t p>
  static constexpr std::size_t array_count = Tables<p>::plan.streams.size();
  /// Returns whether a program is the first one that has its variable v.
  template <std::size_t p>
  static constexpr bool is_first(std::size_t v) {
    return Shared::places.is_first[p][v];
  }

  /// Runs the ops of all programs that precede a download. The status is that of the first program with faults.
  RunStatus download() { return run_roots<false>(); }

  /// All variables in the object, or all read-only ones, as tensors of a file, wide elements first: then all are aligned.
  template <bool read_only>
  static constexpr auto file_variables() {
    constexpr std::size_t count = [] {
      std::size_t sum = 0;
      for_each_variable([&]<std::size_t p>(std::size_t v) { sum += is_read_only<p>(v) == read_only; });
      return sum;
    }();
    std::array<FileVariable, count> result{};
    std::size_t next = 0;
    for_each_variable([&]<std::size_t p>(std::size_t v) {
      if (is_read_only<p>(v) != read_only) return;
      const TensorSpec spec = host_spec(Tables<p>::plan, v);
      result[next++] = {Tables<p>::plan.variable_name(v), dtype_facts[static_cast<std::size_t>(spec.dtype)].safetensors, spec,
                        offset_of_variable<p>(v)};
    });
    std::sort(result.begin(), result.end(), [](const FileVariable& a, const FileVariable& b) {
      return std::pair(-size_of(a.spec.dtype), a.name) < std::pair(-size_of(b.spec.dtype), b.name);
    });
    return result;
  }
  static constexpr std::size_t file_bytes() { return SafetensorsTables<StaticPrograms>::bytes; }
  RunStatus load_safetensors(std::span<const std::byte> file) {
    constexpr const auto& variables = SafetensorsTables<StaticPrograms>::variables;
    if (!is_initialised()) return {.result = RunResult::not_initialised, .before = uninitialised_text};
    std::array<const std::byte*, variables.size()> found;
    if (const RunStatus status = SafetensorsReader(variables, found).read(file); !status.is_done()) return status;
    if constexpr (has_read_only)
      if (const RunStatus status = compare_read_only(file); !status.is_done()) return status;
    for (std::size_t v = 0; v < variables.size(); ++v)
      std::memcpy(memory_ + variables[v].offset, found[v], static_cast<std::size_t>(variables[v].spec.bytes()));
    return upload();
  }
  /// Fills variables in the object, uses the read-only ones from a file, and runs the ops that follow an upload.
  RunStatus init(std::uint64_t seed, std::span<const std::byte> file) {
    is_initialised() = false;
    constexpr const auto& variables = SafetensorsTables<StaticPrograms, true>::variables;
    std::array<const std::byte*, variables.size()> found;
    if (const RunStatus status = SafetensorsReader(variables, found).read(file); !status.is_done()) return status;
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (std::bit_cast<std::uintptr_t>(found[v]) % static_cast<std::uintptr_t>(size_of(variables[v].spec.dtype)) != 0)
        return {.result = RunResult::misaligned_memory, .before = misaligned_text, .after = variables[v].name};
    for (std::size_t v = 0; v < variables.size(); ++v)
      pointer_at(variables[v].offset) = internal::OperandAddress(found[v]).for_kernel();
    if (const RunStatus status = fill(seed); !status.is_done()) return status;
    return upload();
  }
  RunStatus save_safetensors(std::span<std::byte> file) {
    using Files = SafetensorsTables<StaticPrograms>;
    if (!is_initialised()) return {.result = RunResult::not_initialised, .before = uninitialised_text};
    if (file.size() < Files::bytes) return {.result = RunResult::unfit_file, .before = small_file_text};
    const RunStatus status = download();
    std::byte* to = file.data();
    std::memcpy(to, Files::header.data(), Files::header.size());
    to += Files::header.size();
    for (const FileVariable& variable : Files::variables) {
      std::memcpy(to, memory_ + variable.offset, static_cast<std::size_t>(variable.spec.bytes()));
      to += variable.spec.bytes();
    }
    return status;
  }

  /// Runs a root body that moves no streams, or after `run` has set them.
  template <std::size_t p>
  RunStatus run_root(internal::BodyId root) {
    using T = Tables<p>;
    if (!is_initialised()) return {.result = RunResult::not_initialised, .before = uninitialised_text};
    const std::span faults(reinterpret_cast<FaultRecord*>(memory_ + at_faults), T::fault_sites.size());
    const internal::SerialMemory memory{.variables = memory_,
                                        .constants = memory_ + at_constants<p>,
                                        .remote = memory_ + at_remote<p>,
                                        .frame = memory_ + at_frame,
                                        .streams = streams(),
                                        .arguments = arguments(),
                                        .faults = faults.data()};
    internal::SerialRun(serial<p>, memory).run(root);
    return internal::take_faults(faults, T::fault_sites, {T::fault_texts.data(), T::fault_texts.size()});
  }

 private:
  // The object has, in this order: variables, constants of all programs, their remote memory, the frame, arrays of streams,
  // faults and state. State: pointers to arguments, to streams and to read-only variables, and whether there are values.
  template <std::size_t p>
  static constexpr std::int64_t sum_before(std::int64_t StaticBytes::* part) {
    std::int64_t sum = 0;
    [&]<std::size_t... q>(std::index_sequence<q...>) { ((sum += Tables<q>::bytes.*part), ...); }(std::make_index_sequence<p>());
    return sum;
  }
  template <std::size_t p>
  static constexpr std::int64_t at_constants = bytes.variables + sum_before<p>(&StaticBytes::constants);
  template <std::size_t p>
  static constexpr std::int64_t at_remote = bytes.variables + bytes.constants + sum_before<p>(&StaticBytes::remote);
  static constexpr std::int64_t at_frame = bytes.variables + bytes.constants + bytes.remote;
  template <std::size_t p>
  static constexpr std::int64_t at_streams = at_frame + bytes.frame + sum_before<p>(&StaticBytes::streams);
  static constexpr std::int64_t at_faults = at_frame + bytes.frame + bytes.streams;
  static constexpr std::int64_t at_state = at_faults + bytes.faults;
  static constexpr std::int64_t at_pointers = at_state + static_cast<std::int64_t>((argument_count + Shared::stream_count) *
                                                                                   sizeof(std::byte*));

  template <std::size_t p>
  static constexpr auto variable_offsets = [] {
    std::array<std::int64_t, Tables<p>::variables.size()> offsets{};
    for (std::size_t v = 0; v < offsets.size(); ++v) offsets[v] = offset_of_variable<p>(v);
    return offsets;
  }();
  template <std::size_t p>
  static constexpr auto locations = Shared::template locations<p>();
  template <std::size_t p>
  static constexpr internal::SerialProgram serial{Tables<p>::bodies,  Tables<p>::steps,
                                                  locations<p>,       internal::compute_functions<Tables<p>::plan>,
                                                  Tables<p>::strides, Tables<p>::element_bytes};

  static constexpr std::string_view unfit_text = ": a number that the dtype does not have: others expected";
  static constexpr std::string_view shared_text =
      "run: an array shares memory with another one or with the session: memory of its own expected";
  static constexpr std::string_view missing_text = "run: a stream without an array: one for each stream expected";
  static constexpr std::string_view small_file_text =
      "save_safetensors: memory smaller than the file: safetensors_bytes expected";
  static constexpr std::string_view misaligned_text =
      "init: a file whose elements are not aligned: one at a multiple of 8 bytes expected, for variable ";
  static constexpr std::string_view other_text = "load_safetensors: another tensor than that in read-only memory for variable ";
  static constexpr std::string_view uninitialised_text = "run: a session without initial values: init() first expected";

  std::byte*& pointer_at(std::int64_t offset) { return *reinterpret_cast<std::byte**>(memory_ + offset); }
  const std::byte* pointer_at(std::int64_t offset) const { return *reinterpret_cast<std::byte* const*>(memory_ + offset); }
  std::byte** arguments() { return reinterpret_cast<std::byte**>(memory_ + at_state); }
  std::byte** streams() { return arguments() + argument_count; }
  bool& is_initialised() { return *reinterpret_cast<bool*>(arguments() + pointer_count); }

  template <bool after_upload>
  RunStatus run_roots() {
    RunStatus first;
    const auto run = [&]<std::size_t p>() {
      constexpr internal::BodyId root = after_upload ? Tables<p>::plan.after_upload : Tables<p>::plan.before_download;
      if constexpr (root != internal::BodyId::none)
        if (const RunStatus status = run_root<p>(root); first.is_done()) first = status;
    };
    [&]<std::size_t... p>(std::index_sequence<p...>) { (run.template operator()<p>(), ...); }(numbers_of_programs);
    return first;
  }
  /// Calls f<p>(v) for each variable, by its first program.
  template <class F>
  static constexpr void for_each_variable(const F& f) {
    const auto visit = [&]<std::size_t p>() {
      for (std::size_t v = 0; v < Tables<p>::variables.size(); ++v)
        if (is_first<p>(v)) f.template operator()<p>(v);
    };
    [&]<std::size_t... p>(std::index_sequence<p...>) { (visit.template operator()<p>(), ...); }(numbers_of_programs);
  }

  template <std::size_t p>
  void fill_program(std::uint64_t seed, UnfitNumber& unfit) {
    using T = Tables<p>;
    const auto numbers = [](internal::PoolRange range) { return std::span(T::values.data() + range.first, range.count); };
    for (std::size_t c = 0; c < T::constants.size() && unfit.function.empty(); ++c)
      unfit = fill_constant<T::fill_needs>(T::constants[c], numbers(T::constants[c].values),
                                           memory_ + at_constants<p> + T::constants[c].offset);
    Random random(seed);
    for (std::size_t v = 0; v < filled_count<p> && unfit.function.empty(); ++v)
      if (is_filled<p>[v])
        unfit = fill_variable<T::fill_needs>(T::variables[v], numbers(T::variables[v].values), variable<p>(v), random);
      else skip_variable(T::variables[v], random);
  }
  /// By variable, whether a program fills it; and the number of variables up to the last one of them.
  template <std::size_t p>
  static constexpr auto is_filled = [] {
    std::array<bool, Tables<p>::variables.size()> result{};
    for (std::size_t v = 0; v < result.size(); ++v) result[v] = is_first<p>(v) && !is_read_only<p>(v);
    return result;
  }();
  template <std::size_t p>
  static constexpr std::size_t filled_count = [] {
    std::size_t count = Tables<p>::variables.size();
    while (count > 0 && !is_filled<p>[count - 1]) --count;
    return count;
  }();
  /// Returns whether the file has no tensor of a read-only variable, or an equal one.
  RunStatus compare_read_only(std::span<const std::byte> file) const {
    constexpr const auto& variables = SafetensorsTables<StaticPrograms, true>::variables;
    std::array<const std::byte*, variables.size()> found;
    if (const RunStatus status = SafetensorsReader(variables, found).find(file); !status.is_done()) return status;
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (found[v] != nullptr &&
          std::memcmp(found[v], pointer_at(variables[v].offset), static_cast<std::size_t>(variables[v].spec.bytes())) != 0)
        return {.result = RunResult::unfit_file, .before = other_text, .after = variables[v].name};
    return {};
  }
  /// Returns whether outputs share memory with no other array and no read-only variable, and arrays of the caller none with the
  /// object, except the object's array of the same stream.
  template <std::size_t p>
  bool are_apart(std::span<const internal::OperandAddress> given) {
    const auto array = [&](std::size_t i) {
      return std::span(streams()[i], static_cast<std::size_t>(Tables<p>::stream_bytes[i]));
    };
    for (std::size_t i = 0; i < given.size(); ++i) {
      const bool is_output = Tables<p>::stream_directions[i] == StreamDirection::device_to_host;
      const bool is_own = given[i].get() == nullptr || (has_streams && given[i].get() == stream<p>(i));
      if (!is_own && share_memory(array(i), memory_)) return false;
      for (std::size_t j = 0; is_output && j < given.size(); ++j)
        if (i != j && share_memory(array(i), array(j))) return false;
      for (std::size_t v = 0; has_read_only && is_output && v < Tables<p>::variables.size(); ++v)
        if (is_read_only<p>(v) && share_memory(array(i), {std::as_const(*this).template variable<p>(v),
                                                          static_cast<std::size_t>(Tables<p>::variables[v].spec.bytes())}))
          return false;
    }
    return true;
  }

  alignas(internal::memory_alignment) std::byte memory_[static_cast<std::size_t>(bytes.total())]{};
};

}  // namespace detail

/// The bytes of a program's StaticSession:
///
///     static_assert(tw::static_bytes<train_step, tw::one_core>.total() <= 256 * 1024);
template <auto build, Target target = cpu, UnchangedVariables unchanged = UnchangedVariables::in_object>
inline constexpr StaticBytes static_bytes = detail::StaticPrograms<true, unchanged, internal::Program<build, target>>::bytes;

}  // namespace tilewright
