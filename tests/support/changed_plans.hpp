#pragma once
// What the proof says of plans that are changed by seed.
#include <map>
#include <string>

#include "../catch.hpp"
#include "plan_effects.hpp"
#include "plan_mutations.hpp"
#include "tilewright/verified/verified.hpp"

namespace support {

namespace tw = tilewright;

/// Changes plans, and counts by which rules the proof refuses them.
class ChangedPlans {
 public:
  /// Changes the plan of a program some times, each time from the start. A change that the proof accepts must do what the plan
  /// did before.
  void add(const tw::Prepared& prepared, std::uint64_t seed, int changes) {
    const tw::Plan good = tw::lower(prepared);
    plan_mutations::Mutator mutator(seed);
    for (int i = 0; i < changes; ++i) {
      tw::Plan plan = good;
      if (const auto change = mutator.change(plan)) add(prepared, good, plan, *change);
    }
  }
  void add(const tw::Prepared& prepared, const tw::Plan& good, const tw::Plan& plan, const std::string& change) {
    ++count_;
    INFO(change);
    const tw::Text fault = tw::fault_of_plan(prepared, plan);
    if (fault.empty()) {
      ++harmless_[change];
      CHECK(plan_effects::same_effects(good, plan));
      return;
    }
    const std::string rule(fault.view().substr(0, fault.view().find(':')));
    ++refused_[rule];
    refused_alone_[rule] += tw::fault_of_plan(prepared, plan, rule).empty();
  }
  int count() const { return count_; }
  /// Checks that few changes are harmless, and that each rule is the only one to refuse some change.
  void check() const {
    std::string counts = std::to_string(count_) + " changes\n";
    int harmless = 0;
    for (const auto& [change, times] : harmless_) harmless += times, counts += "harmless: " + change + "\n";
    for (const auto& [rule, times] : refused_)
      counts += rule + ": " + std::to_string(times) + ", alone " + std::to_string(refused_alone_.at(rule)) + "\n";
    INFO(counts);
    CHECK(harmless * 100 <= count_ * 3);
    for (const char* rule : {"tables", "memory", "vertices", "values", "barriers"}) {
      INFO(rule);
      CHECK(refused_alone_.count(rule) == 1);
      CHECK(refused_alone_.at(rule) > 0);
    }
  }

 private:
  int count_ = 0;
  std::map<std::string, int> harmless_{}, refused_{}, refused_alone_{};  // by change, by rule
};

}  // namespace support
