#pragma once
#include <array>
#include <span>
#include <string_view>

#include "tilewright/lower/plan.hpp"

namespace tilewright {

/// A part of a frozen plan's characters or values.
struct Range {
  std::size_t first = 0;
  std::size_t count = 0;
};
struct FrozenVariable {
  TensorSpec spec{};
  Base base = Base::variable;  ///< or remote
  std::int64_t offset = 0;
  Range name{};
  FillFunction fill = nullptr;
  double a = 0, b = 0;
  Range values{};
  Distribution distribution{};
  Range assignment{};  ///< see PlannedVariable; of the plan's values
  Generator generator{};   ///< if there is neither fill nor values
};
struct FrozenConstant {
  TensorSpec spec{};
  std::int64_t offset = 0;
  Range name{};
  Range values{};
  Generator generator{};  ///< if there are no values
};
struct FrozenStream {
  StreamDirection direction{};
  TensorSpec spec{};
  Range name{};
  bool used = false;
};

/// How many of each a plan has.
struct PlanSizes {
  std::size_t bodies = 0, steps = 0, locations = 0, compute_sets = 0, stages = 0, operands = 0, strides = 0;
  std::size_t variables = 0, constants = 0, streams = 0, remote_buffers = 0;
  std::size_t characters = 0, values = 0;
  constexpr bool operator==(const PlanSizes&) const = default;
  /// Whether a plan of this size has room in one of the other.
  constexpr bool fits(const PlanSizes& other) const {
    return bodies <= other.bodies && steps <= other.steps && locations <= other.locations && compute_sets <= other.compute_sets &&
           stages <= other.stages && operands <= other.operands && strides <= other.strides && variables <= other.variables &&
           constants <= other.constants && streams <= other.streams && remote_buffers <= other.remote_buffers &&
           characters <= other.characters && values <= other.values;
  }
};

constexpr PlanSizes sizes_of(const Plan& plan) {
  PlanSizes sizes{plan.bodies.size(),    plan.steps.size(),    plan.locations.size(),     plan.compute_sets.size(),
                  plan.stages.size(),    plan.operands.size(), plan.strides.size(),       plan.variables.size(),
                  plan.constants.size(), plan.streams.size(),  plan.remote_buffers.size()};
  for (const auto& variable : plan.variables) {
    sizes.characters += variable.name.size();
    sizes.values += variable.initialiser.values.size() + variable.assignment.size();
  }
  for (const auto& constant : plan.constants) {
    sizes.characters += constant.name.size();
    sizes.values += constant.values.size();
  }
  for (const auto& stream : plan.streams) sizes.characters += stream.name.size();
  return sizes;
}

/// A plan as a constant: arrays of exactly its size.
template <PlanSizes sizes>
struct FrozenPlan {
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
  std::array<PlannedRemoteBuffer, sizes.remote_buffers> remote_buffers{};
  std::array<char, sizes.characters> characters{};
  std::array<double, sizes.values> values{};
  MemoryUse memory{};
  RemoteTraffic remote{};
  CollectiveTraffic collectives{};
  int num_host_transfers = 1;
  int replicas = 1;

  constexpr std::string_view text(Range range) const { return {characters.data() + range.first, range.count}; }
  constexpr std::span<const double> numbers(Range range) const { return {values.data() + range.first, range.count}; }
  constexpr std::string_view variable_name(std::size_t i) const { return text(variables[i].name); }
  constexpr std::string_view constant_name(std::size_t i) const { return text(constants[i].name); }
  constexpr std::string_view stream_name(std::size_t i) const { return text(streams[i].name); }
};

namespace detail {
/// Copies `count` items: one step each, where std::ranges::copy makes several calls.
constexpr void copy_items(const auto& from, auto& to, std::size_t count) {
  const auto* const source = from.data();
  auto* const target = to.data();
  for (std::size_t i = 0; i < count; ++i) target[i] = source[i];
}
}  // namespace detail

/// The plan in arrays that it fits.
template <PlanSizes sizes>
constexpr FrozenPlan<sizes> freeze(const Plan& plan) {
  FrozenPlan<sizes> frozen;
  std::size_t characters = 0, values = 0;
  const auto keep_text = [&](const Text& text) {
    const char* const source = text.view().data();
    char* const target = frozen.characters.data() + characters;
    for (std::size_t i = 0; i < text.size(); ++i) target[i] = source[i];
    return Range{std::exchange(characters, characters + text.size()), text.size()};
  };
  const auto keep_values = [&](const auto& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) frozen.values[values + i] = static_cast<double>(numbers[i]);
    return Range{std::exchange(values, values + numbers.size()), numbers.size()};
  };
  detail::copy_items(plan.bodies, frozen.bodies, plan.bodies.size());
  detail::copy_items(plan.steps, frozen.steps, plan.steps.size());
  detail::copy_items(plan.locations, frozen.locations, plan.locations.size());
  detail::copy_items(plan.compute_sets, frozen.compute_sets, plan.compute_sets.size());
  detail::copy_items(plan.stages, frozen.stages, plan.stages.size());
  detail::copy_items(plan.operands, frozen.operands, plan.operands.size());
  detail::copy_items(plan.strides, frozen.strides, plan.strides.size());
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const auto& [spec, name, initialiser, base, offset, distribution, assignment] = plan.variables[i];
    frozen.variables[i] = {spec,
                           base,
                           offset,
                           keep_text(name),
                           initialiser.fill,
                           initialiser.a,
                           initialiser.b,
                           keep_values(initialiser.values),
                           distribution,
                           keep_values(assignment),
                           initialiser.generator};
  }
  detail::copy_items(plan.remote_buffers, frozen.remote_buffers, plan.remote_buffers.size());
  for (std::size_t i = 0; i < plan.constants.size(); ++i)
    frozen.constants[i] = {plan.constants[i].spec, plan.constants[i].offset, keep_text(plan.constants[i].name),
                           keep_values(plan.constants[i].values), plan.constants[i].generator};
  for (std::size_t i = 0; i < plan.streams.size(); ++i)
    frozen.streams[i] = {plan.streams[i].direction, plan.streams[i].spec, keep_text(plan.streams[i].name), plan.streams[i].used};
  frozen.memory = plan.memory;
  frozen.remote = plan.remote;
  frozen.collectives = plan.collectives;
  frozen.num_host_transfers = plan.num_host_transfers;
  frozen.replicas = plan.replicas;
  return frozen;
}

/// The same plan in arrays of exactly its size.
template <PlanSizes sizes, PlanSizes room>
constexpr FrozenPlan<sizes> shrink(const FrozenPlan<room>& plan) {
  FrozenPlan<sizes> frozen;
  detail::copy_items(plan.bodies, frozen.bodies, sizes.bodies);
  detail::copy_items(plan.steps, frozen.steps, sizes.steps);
  detail::copy_items(plan.locations, frozen.locations, sizes.locations);
  detail::copy_items(plan.compute_sets, frozen.compute_sets, sizes.compute_sets);
  detail::copy_items(plan.stages, frozen.stages, sizes.stages);
  detail::copy_items(plan.operands, frozen.operands, sizes.operands);
  detail::copy_items(plan.strides, frozen.strides, sizes.strides);
  detail::copy_items(plan.variables, frozen.variables, sizes.variables);
  detail::copy_items(plan.constants, frozen.constants, sizes.constants);
  detail::copy_items(plan.streams, frozen.streams, sizes.streams);
  detail::copy_items(plan.remote_buffers, frozen.remote_buffers, sizes.remote_buffers);
  detail::copy_items(plan.characters, frozen.characters, sizes.characters);
  detail::copy_items(plan.values, frozen.values, sizes.values);
  frozen.memory = plan.memory;
  frozen.remote = plan.remote;
  frozen.collectives = plan.collectives;
  frozen.num_host_transfers = plan.num_host_transfers;
  frozen.replicas = plan.replicas;
  return frozen;
}

}  // namespace tilewright
