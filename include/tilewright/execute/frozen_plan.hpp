#pragma once
#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tilewright/core/span.hpp"
#include "tilewright/lower/plan.hpp"

namespace tilewright::internal {

/// A part of a pool of a frozen plan.
struct PoolRange {
  std::size_t first = 0;
  std::size_t count = 0;
};
/// A PlannedVariable whose texts and lists are in the plan's pools.
struct FrozenVariable {
  TensorSpec spec{};
  Base base = Base::variable;  ///< variable or remote
  std::int64_t offset = 0;     ///< in bytes, in that memory
  PoolRange name{};                ///< of the characters
  FillFunction fill = nullptr;  ///< with `a`, `b` and `values`: the initialiser
  double a = 0, b = 0;
  PoolRange values{};  ///< of the values
  bool has_rests = false;  ///< whether rests follow after all values, as in Numbers
  Distribution distribution{};
  PoolRange assignment{};  ///< of the values
  Generator generator{};    ///< if there is neither fill nor values
  double scale = 1;  ///< factor of the values that fill computes
  std::int64_t first_zero = 0, zero_count = 0;  ///< elements that are 0 whatever fill computes
  bool is_given = false;  ///< whether a session must get the values
};
/// A PlannedConstant whose texts and lists are in the plan's pools.
struct FrozenConstant {
  TensorSpec spec{};
  std::int64_t offset = 0;  ///< in bytes
  PoolRange name{};             ///< of the characters
  PoolRange values{};           ///< of the values
  bool has_rests = false;  ///< whether rests follow after all values, as in Numbers
  Generator generator{};    ///< if there are no values
};
/// Data of a PlannedStream for a run.
struct FrozenStream {
  StreamDirection direction{};
  TensorSpec spec{};
  PoolRange name{};  ///< of the characters
  bool used = false;
  std::int64_t transfers = 1;  ///< elements of the host's array for a run
};

/// A PlannedRemoteBuffer whose name is in the plan's pools.
struct FrozenRemoteBuffer : RemoteRows {
  PoolRange name{};  ///< of the characters
};
struct FrozenFaultSite {
  PoolRange before{}, after{};  ///< see PlannedFaultSite
  std::int64_t reports = 1;
};

/// Numbers of rows of each table of a plan. Members have the names of the tables: see for_each_table.
struct PlanSizes {
  std::size_t bodies = 0, steps = 0, locations = 0, compute_sets = 0, stages = 0, operands = 0, strides = 0;
  std::size_t variables = 0, constants = 0, streams = 0, remote_buffers = 0, fault_sites = 0, tile_sets = 0;
  std::size_t characters = 0, values = 0;  ///< of the pools of a frozen plan
  constexpr bool operator==(const PlanSizes&) const = default;
  /// Returns whether a plan of this size fits into a frozen plan of the other.
  constexpr bool fits(const PlanSizes& room) const;
};

/// Calls f(pool of each plan...) for each pool of frozen plans: memory that rows of several tables share, by a PoolRange.
constexpr void for_each_pool(auto f, auto&... plans) {
  f(plans.characters...);
  f(plans.values...);
}

namespace detail {
/// Returns whether there is a size for each table and each pool.
consteval bool all_tables_are_listed() {
  std::size_t listed = 0;
  const PlanSizes sizes;
  for_each_table([&](std::size_t) { ++listed; }, sizes);
  for_each_pool([&](std::size_t) { ++listed; }, sizes);
  return listed * sizeof(std::size_t) == sizeof(PlanSizes);
}
static_assert(all_tables_are_listed(), "for_each_table and PlanSizes name the same tables");
}  // namespace detail

constexpr bool PlanSizes::fits(const PlanSizes& room) const {
  bool fits = true;
  const auto compare = [&](std::size_t rows, std::size_t most) { fits = fits && rows <= most; };
  for_each_table(compare, *this, room);
  for_each_pool(compare, *this, room);
  return fits;
}

constexpr PlanSizes sizes_of(const Plan& plan) {
  PlanSizes sizes;
  for_each_table([](const auto& table, std::size_t& rows) { rows = table.size(); }, plan, sizes);
  for (const auto& variable : plan.variables) {
    sizes.characters += variable.name.size();
    sizes.values += variable.initialiser.values.list().size() + variable.assignment.size();
  }
  for (const auto& constant : plan.constants) {
    sizes.characters += constant.name.size();
    sizes.values += constant.values.list().size();
  }
  for (const auto& stream : plan.streams) sizes.characters += stream.name.size();
  for (const auto& buffer : plan.remote_buffers) sizes.characters += buffer.name.size();
  for (const auto& site : plan.fault_sites) sizes.characters += site.before.size() + site.after.size();
  sizes.characters += plan.tile_table.size();
  return sizes;
}

/// A plan as a constant, in arrays of the given sizes.
template <PlanSizes sizes>
struct FrozenPlan : PlanTotals {
  std::array<Body, sizes.bodies> bodies{};
  std::array<Step, sizes.steps> steps{};
  std::array<Location, sizes.locations> locations{};
  std::array<ComputeSet, sizes.compute_sets> compute_sets{};
  std::array<Stage, sizes.stages> stages{};
  std::array<StageOperand, sizes.operands> operands{};
  std::array<std::int64_t, sizes.strides> strides{};
  std::array<FrozenVariable, sizes.variables> variables{};
  std::array<FrozenConstant, sizes.constants> constants{};
  std::array<FrozenStream, sizes.streams> streams{};
  std::array<FrozenRemoteBuffer, sizes.remote_buffers> remote_buffers{};
  std::array<FrozenFaultSite, sizes.fault_sites> fault_sites{};
  std::array<TileSetUse, sizes.tile_sets> tile_sets{};
  std::array<char, sizes.characters> characters{};
  std::array<double, sizes.values> values{};
  PoolRange tile_table{};  ///< of the characters

  constexpr std::string_view text(PoolRange range) const { return {characters.data() + range.first, range.count}; }
  constexpr Span<const double> numbers(PoolRange range) const { return {values.data() + range.first, range.count}; }
  constexpr std::string_view variable_name(std::size_t i) const { return text(variables[i].name); }
  constexpr std::string_view constant_name(std::size_t i) const { return text(constants[i].name); }
  constexpr std::string_view stream_name(std::size_t i) const { return text(streams[i].name); }
};

namespace detail {

/// Copies rows of a plan to a frozen one, and their texts and numbers to its pools.
template <PlanSizes sizes>
class Freezer {
 public:
  constexpr explicit Freezer(FrozenPlan<sizes>& frozen) : frozen_(frozen) {}

  /// Copies a table, up to the number of rows of the smaller one. The loop calls nothing for rows that do not change;
  /// std::ranges::copy makes several calls.
  constexpr void operator()(const auto& from, auto& to) {
    const auto* const source = from.data();
    auto* const target = to.data();
    for (std::size_t i = 0, count = (std::min)(from.size(), to.size()); i < count; ++i) {
      if constexpr (std::is_same_v<decltype(*source), const std::remove_reference_t<decltype(*target)>&>) target[i] = source[i];
      else target[i] = frozen_row(source[i]);
    }
  }

  constexpr PoolRange keep(const Text& text) {
    const char* const source = text.view().data();
    char* const target = frozen_.characters.data() + characters_;
    for (std::size_t i = 0; i < text.size(); ++i) target[i] = source[i];
    return {std::exchange(characters_, characters_ + text.size()), text.size()};
  }

 private:
  constexpr FrozenVariable frozen_row(const PlannedVariable& variable) {
    const auto& [spec, name, initialiser, base, offset, distribution, assignment] = variable;
    return {spec,
            base,
            offset,
            keep(name),
            initialiser.fill,
            initialiser.a,
            initialiser.b,
            keep(initialiser.values.list()),
            initialiser.values.has_rests(),
            distribution,
            keep(assignment),
            initialiser.generator,
            initialiser.scale,
            initialiser.first_zero,
            initialiser.zero_count,
            initialiser.is_given};
  }
  constexpr FrozenConstant frozen_row(const PlannedConstant& constant) {
    return {constant.spec,     constant.offset, keep(constant.name), keep(constant.values.list()), constant.values.has_rests(),
            constant.generator};
  }
  constexpr FrozenStream frozen_row(const PlannedStream& stream) {
    return {stream.direction, stream.spec, keep(stream.name), stream.used, stream.transfers};
  }
  constexpr FrozenRemoteBuffer frozen_row(const PlannedRemoteBuffer& buffer) { return {buffer, keep(buffer.name)}; }
  constexpr FrozenFaultSite frozen_row(const PlannedFaultSite& site) {
    return {keep(site.before), keep(site.after), site.reports};
  }
  template <class T>
  constexpr PoolRange keep(const List<T>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) frozen_.values[values_ + i] = static_cast<double>(numbers[i]);
    return {std::exchange(values_, values_ + numbers.size()), numbers.size()};
  }

  FrozenPlan<sizes>& frozen_;
  std::size_t characters_ = 0, values_ = 0;  // that are used of the pools
};

}  // namespace detail

/// Returns a plan in arrays into which it fits. The plan may be a frozen one in larger arrays.
template <PlanSizes sizes, class AnyPlan>
constexpr FrozenPlan<sizes> freeze(const AnyPlan& plan) {
  FrozenPlan<sizes> frozen;
  detail::Freezer<sizes> freezer(frozen);
  const auto copy_rows = [&](const auto& from, auto& to) { freezer(from, to); };
  for_each_table(copy_rows, plan, frozen);
  if constexpr (std::is_same_v<AnyPlan, Plan>) {
    frozen.tile_table = freezer.keep(plan.tile_table);
  } else {
    for_each_pool(copy_rows, plan, frozen);
    frozen.tile_table = plan.tile_table;
  }
  static_cast<PlanTotals&>(frozen) = plan;
  return frozen;
}

}  // namespace tilewright::internal
