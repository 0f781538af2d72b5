#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "tilewright/execute/program.hpp"

namespace tilewright::internal::proof::detail {

/// Rows of a table that is elsewhere. (Compilers make several calls for an item of a std::span.)
template <class T>
class Rows {
 public:
  constexpr Rows() = default;
  constexpr explicit Rows(const auto& table) : data_(table.data()), size_(table.size()) {}

  constexpr const T& operator[](std::size_t row) const { return data_[row]; }
  constexpr const T* data() const { return data_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr std::size_t size() const { return size_; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The tables of a frozen plan, without their sizes in the type: so compilers instantiate the proof once for all programs. The
/// plan must outlive it.
struct FrozenRows : PlanTotals {
  template <PlanSizes sizes>
  constexpr explicit FrozenRows(const FrozenPlan<sizes>& plan)
      : PlanTotals(plan),
        bodies(plan.bodies),
        steps(plan.steps),
        locations(plan.locations),
        compute_sets(plan.compute_sets),
        stages(plan.stages),
        operands(plan.operands),
        strides(plan.strides),
        variables(plan.variables),
        constants(plan.constants),
        streams(plan.streams),
        remote_buffers(plan.remote_buffers),
        fault_sites(plan.fault_sites),
        tile_sets(plan.tile_sets),
        characters(plan.characters.data(), plan.characters.size()),
        values(plan.values),
        tile_table(plan.tile_table) {}

  constexpr std::string_view text(PoolRange range) const { return characters.substr(range.first, range.count); }
  constexpr std::span<const double> numbers(PoolRange range) const { return {values.data() + range.first, range.count}; }

  Rows<Body> bodies;
  Rows<Step> steps;
  Rows<Location> locations;
  Rows<ComputeSet> compute_sets;
  Rows<Stage> stages;
  Rows<StageOperand> operands;
  Rows<std::int64_t> strides;
  Rows<FrozenVariable> variables;
  Rows<FrozenConstant> constants;
  Rows<FrozenStream> streams;
  Rows<FrozenRemoteBuffer> remote_buffers;
  Rows<FrozenFaultSite> fault_sites;
  Rows<TileSetUse> tile_sets;
  std::string_view characters;
  Rows<double> values;
  PoolRange tile_table;  ///< of the characters
};

}  // namespace tilewright::internal::proof::detail
