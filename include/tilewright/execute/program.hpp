#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "tilewright/execute/compiler_memory.hpp"
#include "tilewright/execute/frozen_plan.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/execute/stack.hpp"
#include "tilewright/lower/lower.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright::internal {

namespace detail {

/// Sizes that hold the plans of most programs.
inline constexpr PlanSizes draft_room{.bodies = 16,
                                      .steps = 4096,
                                      .locations = 16384,
                                      .compute_sets = 256,
                                      .stages = 1024,
                                      .operands = 2048,
                                      .strides = 4096,
                                      .variables = 2048,
                                      .constants = 64,
                                      .streams = 2048,
                                      .remote_buffers = 32,
                                      .fault_sites = 64,
                                      .tile_sets = 2 * Target::max_ipus,
                                      .characters = 131072,
                                      .values = 16384};

static_assert([] {
  bool has_room = true;
  for_each_table([&](std::size_t rows) { has_room = has_room && rows > 0; }, draft_room);
  return has_room;
}());

/// Result of the first trace: the sizes of the plan, and the plan itself if it fits.
struct PlanDraft {
  PlanSizes sizes{};
  std::size_t failure = 0;  ///< length of the error text
  FrozenPlan<draft_room> plan{};  ///< valid totals and tile sets even if the program is too large; its characters are the error
  bool has_moves = false;  ///< whether the plan has tables of exchanges, which a frozen plan has not
  bool is_too_large = false;  ///< whether the only error is that a tile's memory is too small

  constexpr std::string_view error() const { return {plan.characters.data(), failure}; }
};

/// Traces and plans a program, to find its sizes and errors.
template <auto build, Target target>
consteval PlanDraft make_draft() {
  Ir ir(OnError::record);
  trace_for(target, build, ir);
  const Plan plan = lower(prepare(std::move(ir), target));
  PlanDraft draft{.sizes = sizes_of(plan), .failure = (std::min)(plan.failure.size(), draft_room.characters)};
  static_cast<PlanTotals&>(draft.plan) = plan;
  for (std::size_t i = 0; i < plan.tile_sets.size(); ++i) draft.plan.tile_sets[i] = plan.tile_sets[i];
  draft.has_moves = !plan.moves.empty() || !plan.exchanges.empty();
  draft.is_too_large = plan.failure.view().starts_with(memory_error);
  for (std::size_t i = 0; i < draft.failure; ++i) draft.plan.characters[i] = plan.failure.view()[i];
  if (draft.failure == 0 && draft.sizes.fits(draft_room)) draft.plan = freeze<draft_room>(plan);
  leave_blocks_to_compiler(plan.steps.size());
  return draft;
}
/// Fails if the compiler could not evaluate a program. The other error names the cause.
template <auto build, Target target, bool is_evaluated>
struct MustBeEvaluated {
  static_assert(
      is_evaluated,
      "the compiler could not evaluate the program, and its other error says why. A function that the program calls, "
      "such as build, may lack constexpr, or call itself without end. -fconstexpr-* options raise the compiler's limits. "
      "With -fsanitize=undefined, GCC also needs -fno-sanitize=null,returns-nonnull-attribute,nonnull-attribute. "
      "docs/start/compiling.md has all options");
};
/// Whether the compiler can evaluate the draft, without an error of its own.
template <auto build, Target target>
concept CanBeDrafted = requires { typename std::bool_constant<(make_draft<build, target>(), true)>; };
/// GCC prints its own error after the stack of calls, which takes 15 lines or more. So GCC 12 is asked first, and an error comes
/// before the stack. This costs nothing, because GCC 12 stores the draft. GCC 14 evaluates it twice, and takes a quarter more
/// time and memory for examples/gpt.cpp. Clang's own error comes before the stack.
template <auto build, Target target>
consteval PlanDraft checked_draft() {
#if defined(__GNUC__) && __GNUC__ == 12 && !defined(__clang__)
  static_cast<void>(MustBeEvaluated<build, target, CanBeDrafted<build, target>>{});
#endif
  return make_draft<build, target>();
}
/// Draft of a program, evaluated once, also if only its properties are used.
template <auto build, Target target>
inline constexpr PlanDraft draft_of = checked_draft<build, target>();
template <const PlanDraft& draft>
constexpr Text failure_text() {
  return draft.error();
}
/// Fails with the user's call stack if the program is wrong: the trace throws.
template <auto build, Target target>
consteval bool trace_and_raise() {
  Ir ir;
  begin_trace(target, ir);
  build(ir);
  lower(prepare(std::move(ir), target));
  return true;
}
template <auto build, Target target, PlanSizes sizes>
consteval FrozenPlan<sizes> trace_and_freeze() {
  Ir ir;
  trace_for(target, build, ir);
  return freeze<sizes>(lower(prepare(std::move(ir), target)));
}

/// Whether the compiler could evaluate the draft.
template <const PlanDraft& draft>
concept IsEvaluated = requires { typename std::integral_constant<std::size_t, draft.failure>; };

template <auto build, Target target, const PlanDraft& draft>
consteval auto make_plan() {
  if constexpr (!IsEvaluated<draft>) return FrozenPlan<PlanSizes{}>{};
  else if constexpr (draft.failure > 0) return FrozenPlan<PlanSizes{}>{};
  else if constexpr (draft.sizes.fits(draft_room)) return freeze<draft.sizes>(draft.plan);
  else return trace_and_freeze<build, target, draft.sizes>();
}
using tilewright::detail::error_in_pieces, tilewright::detail::pieces;
/// Base without members for a correct program; otherwise compile errors: the message, and the user's call stack.
template <auto build, Target target, const PlanDraft& draft>
struct Errors {
  static constexpr MustBeEvaluated<build, target, IsEvaluated<draft>> evaluation{};
};
template <auto build, Target target, const PlanDraft& draft>
  requires(IsEvaluated<draft> && draft.failure > 0)
struct Errors<build, target, draft> {
  static_assert(sizeof(decltype(error_in_pieces<failure_text<draft>, draft.failure>(pieces<draft.failure>))) > 0);
  static constexpr auto stack_of_trace = trace_and_raise<build, target>();
  static_assert(sizeof(stack_of_trace) > 0);
};

}  // namespace detail

/// A program: the trace of `build`, a function of an Ir, planned for a target while the program compiles. Errors of the model are
/// compile errors that show the message and the call stack of the trace.
template <auto build, Target target = cpu>
struct Program {
  static constexpr auto plan = detail::make_plan<build, target, detail::draft_of<build, target>>();
  static constexpr detail::Errors<build, target, detail::draft_of<build, target>> errors{};
  static constexpr auto stream_bytes = [] {
    std::array<std::int64_t, plan.streams.size()> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = plan.streams[i].spec.bytes();
    return bytes;
  }();
  static ProgramView view() {
    ProgramView view{.bodies = plan.bodies,
                     .steps = plan.steps,
                     .locations = plan.locations,
                     .functions = compute_functions<plan, target.uses_library_kernels>,
                     .strides = plan.strides,
                     .stream_bytes = stream_bytes,
                     .remote_buffers = plan.remote_buffers,
                     .fault_sites = plan.fault_sites,
                     .characters = {plan.characters.data(), plan.characters.size()},
                     .memory = plan.memory,
                     .replicas = plan.replicas,
                     .ipus = target.ipus,
                     .stack_bytes = stack_of_plan<plan, target.uses_library_kernels>,
                     .variables = plan.variables,
                     .constants = plan.constants,
                     .values = plan.values,
                     .after_upload = plan.after_upload,
                     .before_download = plan.before_download,
                     .compute_sets = plan.compute_sets};
    if constexpr (target.uses_library_kernels && requires { detail::LibrarySets<plan>::stack_bytes; })
      detail::LibrarySets<plan>::program();  // so that no run allocates memory
    if constexpr (target.ipu != nullptr) {
      view.stages = plan.stages;
      view.operands = plan.operands;
      view.sets = TileSets(target);
      view.tile_sets = plan.tile_sets;
      view.tile_table = plan.text(plan.tile_table);
    }
    return view;
  }
};

namespace detail {
/// Returns the plan of a program; if the program does not fit, its totals and tile sets. Other errors of the program are compile
/// errors.
template <auto build, Target target>
consteval const auto& draft_plan() {
  constexpr const PlanDraft& draft = draft_of<build, target>;
  if constexpr (!draft.is_too_large) static_assert(sizeof(Errors<build, target, draft_of<build, target>>) > 0);
  return draft.plan;
}
}  // namespace detail

/// Whether the program fits into the tiles' memory of a target:
///
///     static_assert(tw::fits<train_step, tw::gc200>);
template <auto build, Target target>
inline constexpr bool fits = detail::draft_plan<build, target>().memory.fullest_tile <= target.bytes_per_tile ||
                             !target.checks_memory();
/// Asserts that a program fits, and says why if it does not. Returns true, or stops the compilation with the tile, its bytes by
/// category, the limit and the largest tensors.
///
///     static_assert(tw::require_fits<train_step, tw::gc200>());
template <auto build, Target target>
consteval auto require_fits() {
  constexpr const detail::PlanDraft& draft = detail::draft_of<build, target>;
  if constexpr (draft.is_too_large) Report<detail::failure_text<draft>, draft.failure>();
  else static_assert(sizeof(detail::Errors<build, target, detail::draft_of<build, target>>) > 0);
  return true;
}
/// Bytes of the fullest tile.
template <auto build, Target target>
inline constexpr std::int64_t peak_bytes = detail::draft_plan<build, target>().memory.fullest_tile;
/// Bytes of the fullest tile of a simulated IPU, by purpose.
template <auto build, Target target>
inline constexpr TileMemory peak_memory = detail::draft_plan<build, target>().tile;
/// Bytes and cycles of each set of a simulated machine's tiles: for each IPU the compute tiles, then the IO tiles if there are
/// any.
///
///     static_assert(tw::tile_sets<train_step, tw::gc200.with_ipus(2)>[1].tile.total() < 400'000);
template <auto build, Target target>
inline constexpr auto tile_sets = [] {
  std::array<TileSetUse, static_cast<std::size_t>(target.ipu == nullptr ? 0 : TileSets(target).size())> result{};
  for (std::size_t set = 0; set < result.size(); ++set) result[set] = detail::draft_plan<build, target>().tile_sets[set];
  return result;
}();
/// Cycles of a run on a simulated IPU; 0 for the host.
template <auto build, Target target>
inline constexpr std::int64_t cycles = detail::draft_plan<build, target>().cycles.total();
/// Cycles of a run on a simulated IPU, by purpose.
template <auto build, Target target>
inline constexpr CycleUse cycle_use = detail::draft_plan<build, target>().cycles;

/// Bytes of stack that a run of the program needs on the calling thread: a constant for the arrays of kernels, and room for their
/// functions and those of a session. Not counted: strict mode, the stream of print_tensor, calls inside MPI, and signal handlers
/// that run meanwhile. The threads that a session creates have a stack of this size.
///
///     static_assert(tw::stack_bytes<train_step> <= 128 * 1024);
template <auto build, Target target = cpu>
inline constexpr std::int64_t stack_bytes = stack_of_plan<Program<build, target>::plan, target.uses_library_kernels>;

/// Traces a program at run time, for a debugger, to print its graphs, or to plan it for a machine that is selected at run time:
///
///     const auto ir = tw::trace(build, tw::gc200);
///     const tw::Plan plan = tw::lower(tw::prepare(*ir, tw::gc200));  // what a session for gc200 runs
///
/// Another kind of machine needs another trace, because a simulated IPU computes some forms and gradients by other ops. The
/// tensors and graphs of an Ir point to it, so it must stay at its address.
template <class Build, class Traced = Ir>  // a parameter, so that only a caller's compiler instantiates the pointer
std::unique_ptr<Traced> trace(const Build& build, const Target& target = cpu) {
  auto ir = std::make_unique<Traced>();
  trace_for(target, build, *ir);
  return ir;
}

}  // namespace tilewright::internal

namespace tilewright {
using internal::cycle_use, internal::cycles, internal::fits, internal::require_fits, internal::peak_bytes, internal::peak_memory,
    internal::stack_bytes, internal::tile_sets;
using internal::Program;
using internal::trace;
}  // namespace tilewright
