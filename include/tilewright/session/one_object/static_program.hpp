#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "tilewright/core/text.hpp"
#include "tilewright/execute/expression.hpp"
#include "tilewright/execute/program.hpp"
#include "tilewright/execute/serial_run.hpp"
#include "tilewright/session/fill_elements.hpp"
#include "tilewright/session/streams/streams.hpp"

namespace tilewright {

/// Bytes of a StaticSession, by purpose. Each part of the object is a multiple of 64.
struct StaticBytes {
  std::int64_t variables = 0;  ///< with tensors that ops of other execution contexts keep
  std::int64_t constants = 0;
  std::int64_t remote = 0;  ///< of remote buffers, with the variables in them, such as seeds
  std::int64_t frame = 0;  ///< tensors of a run
  std::int64_t streams = 0;  ///< the arrays of all streams
  std::int64_t faults = 0;  ///< reports of ops about values with which they cannot compute
  std::int64_t state = 0;  ///< pointers to streams, arguments and read-only variables, and whether there are initial values
  std::int64_t read_only = 0;  ///< of variables in memory of the caller: not in the object, and not in total()
  constexpr std::int64_t total() const { return variables + constants + remote + frame + streams + faults + state; }
  constexpr bool operator==(const StaticBytes&) const = default;
};

namespace detail {

/// The parts of a frozen plan that a StaticSession reads. Each is a constant of its own: an executable has those that it uses.
template <class Program>
struct StaticProgram {
  static constexpr const auto& plan = Program::plan;
  static constexpr auto bodies = plan.bodies;
  static constexpr auto steps = plan.steps;
  static constexpr auto strides = plan.strides;
  static constexpr auto variables = plan.variables;
  static constexpr auto constants = plan.constants;
  static constexpr auto values = plan.values;
  static constexpr const auto& element_bytes = Program::stream_bytes;

  /// Offsets of the arrays of streams in one block of memory; the last entry is its size. `stream_bytes`: their sizes.
  static constexpr auto stream_offsets = [] {
    std::array<std::int64_t, plan.streams.size() + 1> offsets{};
    for (std::size_t i = 0; i < plan.streams.size(); ++i)
      offsets[i + 1] = offsets[i] + (plan.streams[i].used ? internal::align(array_bytes(plan, i, 1)) : 0);
    return offsets;
  }();
  static constexpr auto stream_bytes = [] {
    std::array<std::int64_t, plan.streams.size()> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = plan.streams[i].used ? array_bytes(plan, i, 1) : 0;
    return bytes;
  }();
  static constexpr auto stream_directions = [] {
    std::array<StreamDirection, plan.streams.size()> directions{};
    for (std::size_t i = 0; i < plan.streams.size(); ++i) directions[i] = plan.streams[i].direction;
    return directions;
  }();
  /// Fault sites, whose texts are in `fault_texts`. A zero follows each text, for C.
  static constexpr auto fault_texts = [] {
    constexpr std::size_t size = [] {
      std::size_t sum = 0;
      for (const auto& site : plan.fault_sites) sum += site.before.count + site.after.count + 2;
      return sum;
    }();
    std::array<char, size> texts{};
    std::size_t next = 0;
    for (const auto& site : plan.fault_sites)
      for (const auto& range : {site.before, site.after}) {
        for (const char c : plan.text(range)) texts[next++] = c;
        ++next;
      }
    return texts;
  }();
  static constexpr auto fault_sites = [] {
    auto sites = plan.fault_sites;
    std::size_t next = 0;
    for (auto& site : sites) {
      site.before.first = next;
      site.after.first = next += site.before.count + 1;
      next += site.after.count + 1;
    }
    return sites;
  }();
  static constexpr FillNeeds fill_needs = [] {
    FillNeeds needs{.dtypes = 0, .checks = false};
    for (const auto& variable : plan.variables) {
      needs.dtypes |= 1u << static_cast<unsigned>(variable.spec.dtype);
      needs.checks |= variable.generator.is_checked_later ||
                      (variable.fill && variable.fill != fill_uniform && variable.fill != fill_normal);
    }
    for (const auto& constant : plan.constants) {
      needs.dtypes |= 1u << static_cast<unsigned>(constant.spec.dtype);
      needs.checks |= constant.generator.is_checked_later;
    }
    return needs;
  }();
  /// Pointers to arguments of all calls on the way to any body.
  static constexpr std::size_t argument_count = [] {
    std::size_t deepest = 1;
    for (const auto& body : plan.bodies) deepest += static_cast<std::size_t>(body.max_arguments);
    return deepest;
  }();
  /// Bytes of what no other program changes: without variables and state, see StaticPrograms.
  static constexpr StaticBytes bytes{
      .constants = internal::align(plan.memory.constants),
      .remote = internal::align(plan.memory.remote),
      .frame = internal::align(plan.memory.frame),
      .streams = stream_offsets.back(),
      .faults = internal::align(static_cast<std::int64_t>(plan.fault_sites.size() * sizeof(FaultRecord)))};
};

/// Returns whether stages of a frozen plan print.
template <const auto& plan>
constexpr bool prints() {
  return []<std::size_t... s>(std::index_sequence<s...>) {
    return ((plan.stages[s].name == "PrintTensor" && !op_info<internal::detail::OpType<plan.stages[s].op>>.has_formula) || ...);
  }(std::make_index_sequence<plan.stages.size()>());
}
/// Returns what a program needs of a host that a StaticSession has not; empty: nothing.
template <const auto& plan, Target target>
constexpr Text host_need() {
  if (target.ipu != nullptr) return "a simulated IPU: a target of the host, such as tw::one_core, expected";
  if (plan.replicas > 1) return text(plan.replicas, " replicas: one expected");
  for (const auto& buffer : plan.remote_buffers)
    if (buffer.mapping > 0) return text("mapped buffer '", plan.text(buffer.name), "': a remote buffer in memory expected");
  if (prints<plan>()) return "print_tensor or print_text: a program that prints nothing expected; streams give tensors out";
  return {};
}
/// Stops the compilation of a program that needs a host.
template <const auto& plan, Target target>
consteval auto require_no_host() {
  constexpr auto message = [] { return text("StaticSession: ", host_need<plan, target>()); };
  constexpr bool needs_none = host_need<plan, target>().empty();
  if constexpr (!needs_none) Report<message>();
  return true;
}

}  // namespace detail
}  // namespace tilewright
