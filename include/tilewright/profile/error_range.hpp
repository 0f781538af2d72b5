#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "tilewright/lower/lower.hpp"
#include "tilewright/profile/compared_kinds.hpp"
#include "tilewright/profile/profile.hpp"

namespace tilewright {

/// Cycles of a run by ComparedKind, of all sets of tiles together.
using CyclesByKind = std::array<std::int64_t, compared_kind_count>;

/// Counts cycles by kind of step while a program is planned: an observer of `lower`.
class KindCounter {
 public:
  void operator()(internal::Pass pass, internal::BodyId, const internal::TileDraft& draft, const Plan&) {
    if (pass != internal::Pass::count_step_cycles) return;
    for (const internal::Group& group : draft.groups) kinds_.push_back(kind_of(draft, group));
  }
  void operator()(internal::Pass, internal::BodyId, const internal::BodyDraft&, const Plan&) const {}  // of the host
  void operator()(const Plan&) const {}

  /// Returns the cycles of a run of the plan; of a conditional, those of the branch that has more.
  CyclesByKind of_run(const Plan& plan) const {
    const auto add_step = [&](CyclesByKind& sum, int s) {
      const CycleUse& use = plan.step_cycles[static_cast<std::size_t>(s)];
      sum[static_cast<std::size_t>(kinds_[static_cast<std::size_t>(s)])] += use.compute + use.exchange + use.sync;
      sum[static_cast<std::size_t>(ComparedKind::links)] += use.links;
      sum[static_cast<std::size_t>(ComparedKind::others)] += use.host + use.remote + use.collectives;
    };
    const auto add_call = [](CyclesByKind& sum, std::int64_t times, const CyclesByKind& one, const CyclesByKind& other) {
      for (std::size_t kind = 0; kind < sum.size(); ++kind)
        internal::detail::add_larger(sum[kind], times, one[kind], other[kind]);
    };
    return internal::detail::fold_bodies(plan, CyclesByKind{}, add_step, add_call);
  }

 private:
  /// Returns the kind of a step with several ops: the first of ComparedKind that one of them has.
  static ComparedKind kind_of(const internal::TileDraft& draft, const internal::Group& group) {
    ComparedKind result = ComparedKind::others;
    for (const internal::Member& member : group.members) {
      const internal::Operation& operation = draft.operation(member);
      if (!operation.is_call()) result = (std::min)(result, kind_of(*operation.op));
    }
    return result;
  }
  static ComparedKind kind_of(const OpInfo& op) {
    switch (op.vertex_cost.formula) {
      case CostFormula::product: return ComparedKind::products;
      case CostFormula::convolution: return ComparedKind::convolutions;
      case CostFormula::window: return ComparedKind::pools;
      case CostFormula::slice:
      case CostFormula::gather:
      case CostFormula::scatter: return ComparedKind::lookups;
      case CostFormula::reduction: return ComparedKind::reductions;
      case CostFormula::map:
      case CostFormula::binary_map:
      case CostFormula::arithmetic:
      case CostFormula::scaled_add:
      case CostFormula::compiled: return ComparedKind::loops;
      default: return ComparedKind::others;
    }
  }

  List<ComparedKind> kinds_;  // of the plan's steps
};

/// Returns the ranges of the kinds of a run, weighted by their cycles. Kinds that nothing was compared with have the range of
/// all.
[[nodiscard]] inline TimeRange time_range(const CyclesByKind& cycles) {
  double all = 0, least = 0, most = 0;
  for (std::size_t kind = 0; kind < cycles.size(); ++kind) {
    const auto weight = static_cast<double>(cycles[kind]);
    all += weight, least += weight * compared_kinds[kind].least, most += weight * compared_kinds[kind].most;
  }
  return all > 0 ? TimeRange{least / all, most / all} : TimeRange{};
}

}  // namespace tilewright
