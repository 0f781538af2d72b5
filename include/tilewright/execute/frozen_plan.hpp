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
  std::int64_t offset = 0;
  Range name{};
  FillFunction fill = nullptr;
  double a = 0, b = 0;
  Range values{};
};
struct FrozenConstant {
  TensorSpec spec{};
  std::int64_t offset = 0;
  Range values{};
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
  std::size_t variables = 0, constants = 0, streams = 0;
  std::size_t characters = 0, values = 0;
  constexpr bool operator==(const PlanSizes&) const = default;
};

constexpr PlanSizes sizes_of(const Plan& plan) {
  PlanSizes sizes{plan.bodies.size(),    plan.steps.size(),    plan.locations.size(), plan.compute_sets.size(),
                  plan.stages.size(),    plan.operands.size(), plan.strides.size(),   plan.variables.size(),
                  plan.constants.size(), plan.streams.size()};
  for (const auto& variable : plan.variables) {
    sizes.characters += variable.name.size();
    sizes.values += variable.initialiser.values.size();
  }
  for (const auto& constant : plan.constants) sizes.values += constant.values.size();
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
  std::array<char, sizes.characters> characters{};
  std::array<double, sizes.values> values{};
  MemoryUse memory{};
  int num_host_transfers = 1;

  constexpr std::string_view text(Range range) const { return {characters.data() + range.first, range.count}; }
  constexpr std::span<const double> numbers(Range range) const { return {values.data() + range.first, range.count}; }
  constexpr std::string_view variable_name(std::size_t i) const { return text(variables[i].name); }
  constexpr std::string_view stream_name(std::size_t i) const { return text(streams[i].name); }
};

template <PlanSizes sizes>
constexpr FrozenPlan<sizes> freeze(const Plan& plan) {
  FrozenPlan<sizes> frozen;
  std::size_t characters = 0, values = 0;
  const auto keep_text = [&](const Text& text) {
    std::ranges::copy(text.view(), frozen.characters.begin() + static_cast<std::ptrdiff_t>(characters));
    return Range{std::exchange(characters, characters + text.size()), text.size()};
  };
  const auto keep_values = [&](const std::vector<double>& numbers) {
    std::ranges::copy(numbers, frozen.values.begin() + static_cast<std::ptrdiff_t>(values));
    return Range{std::exchange(values, values + numbers.size()), numbers.size()};
  };
  std::ranges::copy(plan.bodies, frozen.bodies.begin());
  std::ranges::copy(plan.steps, frozen.steps.begin());
  std::ranges::copy(plan.locations, frozen.locations.begin());
  std::ranges::copy(plan.compute_sets, frozen.compute_sets.begin());
  std::ranges::copy(plan.stages, frozen.stages.begin());
  std::ranges::copy(plan.operands, frozen.operands.begin());
  std::ranges::copy(plan.strides, frozen.strides.begin());
  for (std::size_t i = 0; i < sizes.variables; ++i) {
    const auto& [spec, name, initialiser, offset] = plan.variables[i];
    frozen.variables[i] = {
        spec, offset, keep_text(name), initialiser.fill, initialiser.a, initialiser.b, keep_values(initialiser.values)};
  }
  for (std::size_t i = 0; i < sizes.constants; ++i)
    frozen.constants[i] = {plan.constants[i].spec, plan.constants[i].offset, keep_values(plan.constants[i].values)};
  for (std::size_t i = 0; i < sizes.streams; ++i)
    frozen.streams[i] = {plan.streams[i].direction, plan.streams[i].spec, keep_text(plan.streams[i].name), plan.streams[i].used};
  frozen.memory = plan.memory;
  frozen.num_host_transfers = plan.num_host_transfers;
  return frozen;
}

}  // namespace tilewright
