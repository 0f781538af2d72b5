#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <tuple>
#include <utility>

#include "tilewright/core/text.hpp"
#include "tilewright/session/one_object/static_programs.hpp"

namespace tilewright {

/// The status of a run for C, with the members of RunStatus except its result.
struct ExportedStatus {
  const char *before = "", *after = "";
  std::int64_t value = 0, more = 0, others = 0;
};

namespace detail {
/// Stops the compilation of a program with a variable that has no initial values: C has no arrays for them.
template <const auto& plan>
consteval auto require_values() {
  constexpr auto message = []() -> Text {
    for (std::size_t v = 0; v < plan.variables.size(); ++v)
      if (plan.variables[v].is_given)
        return text("export: variable '", plan.variable_name(v),
                    "' of given(): another initialiser, such as zeros(), expected; programs in C write the variable after init");
    return {};
  };
  constexpr bool has_all = message().empty();
  if constexpr (!has_all) Report<message>();
  return true;
}
}  // namespace detail

/// Programs that share their variables, for the C interface that cmake/export.py writes. Programs are numbered from 0.
template <Target target, UnchangedVariables unchanged, auto... builds>
class ExportedPrograms {
  using Programs = detail::StaticPrograms<false, unchanged, internal::Program<builds, target>...>;
  static_assert((detail::require_no_host<internal::Program<builds, target>::plan, target>() && ...));
  static_assert((detail::require_values<internal::Program<builds, target>::plan>() && ...));

 public:
  static int init(void* memory, std::uint64_t seed, ExportedStatus* status) {
    if (!is_aligned(memory)) return result_of(misaligned, status);
    auto& programs = *new (memory) Programs;
    const RunStatus filled = programs.fill(seed);
    return result_of(filled.is_done() ? programs.upload() : filled, status);
  }
  /// Uses read-only variables from a .safetensors file in place.
  static int init(void* memory, const void* file, std::size_t bytes, std::uint64_t seed, ExportedStatus* status) {
    if (!is_aligned(memory)) return result_of(misaligned, status);
    return result_of((new (memory) Programs)->init(seed, {static_cast<const std::byte*>(file), bytes}), status);
  }
  /// `arrays`: by stream; those of streams that the program does not use are null.
  template <std::size_t p>
  static int run(void* memory, void* const* arrays, ExportedStatus* status) {
    if (!is_aligned(memory)) return result_of(misaligned, status);
    std::array<internal::OperandAddress, Programs::template array_count<p>> given{};
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::byte*>(arrays[i]);
    return result_of(static_cast<Programs*>(memory)->template run<p>(given), status);
  }

  static int load(void* memory, const void* file, std::size_t bytes, ExportedStatus* status) {
    if (!is_aligned(memory)) return result_of(misaligned, status);
    return result_of(static_cast<Programs*>(memory)->load_safetensors({static_cast<const std::byte*>(file), bytes}), status);
  }
  static int save(void* memory, void* file, std::size_t bytes, ExportedStatus* status) {
    if (!is_aligned(memory)) return result_of(misaligned, status);
    return result_of(static_cast<Programs*>(memory)->save_safetensors({static_cast<std::byte*>(file), bytes}), status);
  }

  /// Returns what the writer of the header must know, in lines: `bytes N`, `alignment N`, `file N`, and for each program
  /// `program`, `variable DTYPE OFFSET RANK EXTENTS... NAME` for those of no earlier program, or `read-only` with the offset of
  /// the pointer, and `stream DIRECTION NUMBER DTYPE RANK EXTENTS... NAME`. Names have \n for an end of line, and \\ for \.
  static constexpr Text facts() {
    Text lines = text("bytes ", sizeof(Programs), "\nalignment ", alignof(Programs), "\nfile ", Programs::file_bytes(), "\n");
    [&]<std::size_t... p>(std::index_sequence<p...>) {
      (add_facts<p>(lines), ...);
    }(std::make_index_sequence<sizeof...(builds)>());
    return lines;
  }

 private:
  static constexpr RunStatus misaligned{.result = RunResult::misaligned_memory,
                                        .before = "memory that is not aligned: a multiple of the alignment expected"};
  static bool is_aligned(const void* memory) { return std::bit_cast<std::uintptr_t>(memory) % alignof(Programs) == 0; }
  static int result_of(const RunStatus& status, ExportedStatus* exported) {
    if (exported != nullptr && !status.is_done())
      *exported = {status.before.data(), status.after.empty() ? "" : status.after.data(), status.value, status.more,
                   status.others};
    return static_cast<int>(status.result);
  }
  static constexpr Text extents(const Shape& shape) {
    Text result = text(" ", shape.rank);
    for (int axis = 0; axis < shape.rank; ++axis) result += text(" ", shape[axis]);
    return result;
  }
  static constexpr Text in_one_line(std::string_view name) {
    Text result;
    for (const char& c : name)
      result += c == '\n' ? std::string_view("\\n") : c == '\\' ? std::string_view("\\\\") : std::string_view(&c, 1);
    return result;
  }
  template <std::size_t p>
  static constexpr void add_facts(Text& lines) {
    constexpr const auto& plan = std::tuple_element_t<p, std::tuple<internal::Program<builds, target>...>>::plan;
    lines += "program\n";
    for (std::size_t v = 0; v < plan.variables.size(); ++v)
      if (Programs::template is_first<p>(v))
        lines += text(Programs::template is_read_only<p>(v) ? "read-only " : "variable ", to_text(plan.variables[v].spec.dtype),
                      " ", Programs::template offset_of_variable<p>(v), extents(host_spec(plan, v).shape), " ",
                      in_one_line(plan.variable_name(v)), "\n");
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      if (plan.streams[i].used)
        lines += text("stream ", plan.streams[i].direction == StreamDirection::host_to_device ? "in " : "out ", i, " ",
                      to_text(plan.streams[i].spec.dtype), extents(host_shape(plan, i)), " ", in_one_line(plan.stream_name(i)),
                      "\n");
  }
};

}  // namespace tilewright
