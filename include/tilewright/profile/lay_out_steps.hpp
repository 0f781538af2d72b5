#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewright/lower/program/fold_bodies.hpp"
#include "tilewright/profile/profile.hpp"
#include "tilewright/target/tile_sets.hpp"

namespace tilewright::internal {

/// Computes when steps run. Steps of different sets of tiles run in parallel, as in Timeline. All iterations of a loop form one
/// slice. A called body of more than most_slices slices has one for each step, of all executions of the step in the call.
class StepLayout {
 public:
  StepLayout(const Plan& plan, const TileSets& sets, Profile& profile)
      : plan_(plan), profile_(profile), numbers_(plan.bodies.size()), ends_(static_cast<std::size_t>(sets.size()), 0) {
    for (std::size_t i = 0; i < profile.steps.size(); ++i)  // those of a body are in their order
      numbers_[static_cast<std::size_t>(profile.steps[i].body)].push_back(static_cast<int>(i));
    sets_.assign(plan.bodies.size(), Sets(ends_.size(), false));
    slices_.assign(plan.bodies.size(), 0);
    for (std::size_t b = plan.bodies.size(); b-- > 0;)  // callers come before what they call
      for (int s = 0; s < plan.bodies[BodyId(b)].step_count; ++s)
        add(b, static_cast<std::size_t>(plan.bodies[BodyId(b)].first_step + s));
  }

  void run() { lay_out(BodyId::main, 1); }

 private:
  using Sets = std::vector<bool>;

  static constexpr std::int64_t most_slices = 10'000;

  /// Adds a step to what is known of its body.
  void add(std::size_t body, std::size_t step) {
    const auto called = detail::called_bodies(plan_.steps[step]);
    std::int64_t count = called.size() == 0 ? 1 : 0;
    for (const BodyId each : called) {
      add(sets_[body], sets_[static_cast<std::size_t>(each)]);
      count += slices_[static_cast<std::size_t>(each)];
    }
    slices_[body] = (std::min)(slices_[body] + count, most_slices + 1);
    for (const int set : {plan_.moves[step].set, plan_.moves[step].from_set})
      if (set >= 0) sets_[body][static_cast<std::size_t>(set)] = true;
  }
  static void add(Sets& to, const Sets& others) {
    for (std::size_t set = 0; set < to.size(); ++set) to[set] = to[set] || others[set];
  }
  void lay_out(BodyId id, std::int64_t times) {
    const Body& body = plan_.bodies[id];
    for (int s = 0; s < body.step_count; ++s) {
      const int number = numbers_[static_cast<std::size_t>(id)][static_cast<std::size_t>(s)];
      const Step& step = plan_.steps[static_cast<std::size_t>(body.first_step + s)];
      if (step.is_call()) lay_out_call(number, step, times);
      else lay_out(number, times);
    }
  }
  void lay_out(int number, std::int64_t times) {
    const Profile::Step& step = profile_.steps[static_cast<std::size_t>(number)];
    std::int64_t& end = ends_[static_cast<std::size_t>((std::max)(step.tile_set, 0))];
    std::int64_t begin = end;
    if (step.from_tile_set >= 0) {
      std::int64_t& from = ends_[static_cast<std::size_t>(step.from_tile_set)];
      begin = (std::max)(begin, from);
      from = begin + times * (step.exchange + step.sync + step.links);
    }
    end = begin + times * step.cycles();
    if (end > begin) profile_.slices.push_back({number, times, begin});
  }
  /// Adds a call. All sets of tiles that the called bodies use begin together, and end together.
  void lay_out_call(int number, const Step& call, std::int64_t times) {
    Sets used(ends_.size(), false);
    for (const BodyId called : detail::called_bodies(call)) add(used, sets_[static_cast<std::size_t>(called)]);
    meet(used, times * profile_.steps[static_cast<std::size_t>(number)].cycles());
    for (const BodyId called : detail::called_bodies(call))
      if (slices_[static_cast<std::size_t>(called)] > most_slices) lay_out_at_once(called, times * call.count);
      else lay_out(called, times * call.count);
    meet(used, 0);
  }
  /// Adds one slice for each step of a body and of those that it calls.
  void lay_out_at_once(BodyId id, std::int64_t times) {
    List<std::int64_t, BodyId> runs(plan_.bodies.size(), 0);
    runs[id] = times;
    for (std::size_t b = static_cast<std::size_t>(id); b < runs.size(); ++b)
      for (std::size_t s = 0; s < numbers_[b].size() && runs[BodyId(b)] > 0; ++s) {
        const Step& step = plan_.steps[static_cast<std::size_t>(plan_.bodies[BodyId(b)].first_step) + s];
        lay_out(numbers_[b][s], runs[BodyId(b)]);
        for (const BodyId called : detail::called_bodies(step)) runs[called] += runs[BodyId(b)] * step.count;
      }
  }
  void meet(const Sets& sets, std::int64_t cycles) {
    std::int64_t end = 0;
    for (std::size_t set = 0; set < sets.size(); ++set)
      if (sets[set]) end = (std::max)(end, ends_[set]);
    for (std::size_t set = 0; set < sets.size(); ++set)
      if (sets[set]) ends_[set] = end + cycles;
  }

  const Plan& plan_;
  Profile& profile_;
  std::vector<std::vector<int>> numbers_;  // by body: its steps among the profile's
  std::vector<Sets> sets_;  // by body: sets of tiles that it uses
  std::vector<std::int64_t> slices_;  // by body: how many a call adds, up to most_slices + 1
  std::vector<std::int64_t> ends_;  // by set of tiles: of what is laid out so far
};

/// Adds the activity of each set of tiles in a run, and its times if there are several sets.
inline void add_tile_sets(Profile& profile, const Plan& plan, const TileSets& sets) {
  if (sets.size() == 1) return;
  for (int set = 0; set < sets.size(); ++set) {
    const TileSetUse& use = plan.tile_sets[static_cast<std::size_t>(set)];
    profile.tile_sets.push_back({.name = to_text(sets.placement(set)).string(),
                                 .first_tile = sets.first(set),
                                 .tiles = sets.count(set),
                                 .fullest_tile_bytes = use.tile.total(),
                                 .compute = use.cycles.compute,
                                 .exchange = use.cycles.exchange,
                                 .sync = use.cycles.sync,
                                 .host = use.cycles.host,
                                 .remote = use.cycles.remote,
                                 .collective = use.cycles.collectives,
                                 .links = use.cycles.links,
                                 .waiting = use.cycles.waiting});
  }
  StepLayout(plan, sets, profile).run();
}

}  // namespace tilewright::internal
