#pragma once
// takes: a whole plan
// gives: CodeUse: bytes of code on the fullest tile of a set
// keeps: the plan
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/program/fold_bodies.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/target/tile_sets.hpp"

namespace tilewright::internal {

/// Bytes of code on the fullest tile, which has a vertex of every step. An estimate, by the target's sizes of code, of three
/// parts:
///  - vertex code, once for each compute set, by the kinds of code that its ops state;
///  - for each step, the state of its vertices: their extents, and a pointer for each operand;
///  - for each step, control code: more if tiles exchange data before it, and for a loop or a conditional.
struct CodeUse {
  CodeBytes always{};  ///< code that stays on the tile
  CodeBytes loaded{};  ///< the largest amount that remote_code_load has there at a time
  List<CodeBytes, BodyId> by_body{};  ///< of the body alone: its steps, and compute sets that only it uses
};

namespace detail {

class CodeCounter {
 public:
  constexpr CodeCounter(const Plan& plan, const Target& target, int set)
      : plan_(plan), target_(target), set_(set), tiles_(TileSets(target).count(set)), is_loaded_(plan.bodies.size(), false) {}

  constexpr CodeUse run() {
    count_code();
    find_ranges();
    for (std::size_t i = 0; i < plan_.bodies.size(); ++i)
      if (const auto body = BodyId(i); !is_loaded_[body] || !is_covered(body)) {
        is_loaded_[body] = false;
        result_.always += result_.by_body[body];
      }
    result_.loaded = most_loaded();
    return std::move(result_);
  }

 private:
  /// A live range of a body's code, from the load to the last call.
  struct Live {
    BodyId loaded;
    BodyId place;  ///< body in which it is loaded
    int first, last;
  };
  constexpr const Step& step(BodyId body, int s) const { return plan_.steps[plan_.bodies[body].first_step + s]; }

  /// Returns whether tiles of the set have vertices of a step, or may have some of the steps that it calls.
  constexpr bool is_here(std::size_t number) const {
    return plan_.moves.empty() || plan_.moves[number].set < 0 || plan_.moves[number].set == set_;
  }
  constexpr CodeBytes bytes_of(std::size_t number) const {
    const CodeSizes& sizes = target_.code();
    const Step& step = plan_.steps[number];
    CodeBytes result;
    if (!is_here(number) && plan_.moves[number].from_set != set_) return result;
    bool exchanges = step.barrier_before;
    if (!plan_.moves.empty()) {  // a simulated IPU
      const StepMoves& moves = plan_.moves[number];
      exchanges = !moves.before.is_empty() || !moves.after.is_empty();
      for (const TileExchange* exchange : {&moves.before, &moves.after})
        result.exchange += sizes.exchange_instruction *
                           (exchange->sends + target_.ipu->fragment_instructions * exchange->fragments);
    }
    result.control = sizes.step;
    if (step.kind == StepKind::loop || step.kind == StepKind::conditional) result.control = sizes.branch;
    if (step.is_call() || step.kind == StepKind::load_code) return result;
    if (exchanges) result.control = sizes.exchange;
    if (!is_here(number)) return result;
    const std::int64_t vertices = (step.parts() + tiles_ - 1) / tiles_;
    result.state = vertices * (sizes.operand * step.location_count + sizes.vertex);
    return result;
  }
  constexpr void count_code() {
    constexpr auto nobody = BodyId::none, several = BodyId(-2);
    result_.by_body.assign(plan_.bodies.size(), CodeBytes{});
    List<BodyId> users(plan_.compute_sets.size(), nobody);
    for (std::size_t i = 0; i < plan_.bodies.size(); ++i) {
      const auto body = BodyId(i);
      for (int s = 0; s < plan_.bodies[body].step_count; ++s) {
        const Step& each = step(body, s);
        result_.by_body[body] += bytes_of(static_cast<std::size_t>(plan_.bodies[body].first_step + s));
        if (each.is_call() || each.kind == StepKind::load_code) continue;
        if (!is_here(static_cast<std::size_t>(plan_.bodies[body].first_step + s))) continue;
        BodyId& user = users[each.compute_set];
        user = user == nobody || user == body ? body : several;
      }
    }
    for (std::size_t set = 0; set < users.size(); ++set)
      if (users[set] != nobody)
        (users[set] > nobody ? result_.by_body[users[set]] : result_.always).vertex += plan_.compute_sets[set].code_bytes;
  }
  constexpr void find_ranges() {
    for (std::size_t i = 0; i < plan_.bodies.size(); ++i) {
      const auto body = BodyId(i);
      for (int s = 0; s < plan_.bodies[body].step_count; ++s) {
        const Step& load = step(body, s);
        if (load.kind != StepKind::load_code) continue;
        is_loaded_[load.body] = true;
        Live live{load.body, body, s, s};
        const List<bool, BodyId> reaches = bodies_that_reach(plan_, load.body);
        for (int t = s + 1; t < plan_.bodies[body].step_count; ++t) {
          const Step& later = step(body, t);
          if (later.kind == StepKind::load_code && later.body == load.body) break;
          if (calls_any(later, reaches)) live.last = t;
        }
        ranges_.push_back(live);
      }
    }
  }
  /// Returns whether the code of a body is present in all of its calls.
  constexpr bool is_covered(BodyId loaded) const {
    List<bool, BodyId> covers(plan_.bodies.size(), true);  // by body: in all of its calls
    for (std::size_t i = 0; i < plan_.bodies.size(); ++i) {  // callers come before what they call
      const auto place = BodyId(i);
      const bool has_code = covers[place] && !plan_.is_root(place);
      for (int s = 0; s < plan_.bodies[place].step_count; ++s)
        for (const BodyId called : called_bodies(step(place, s)))
          if (!has_code && !is_there(place, s, loaded)) covers[called] = false;
    }
    return covers[loaded];
  }
  constexpr bool is_there(BodyId place, int s, BodyId loaded) const {
    for (const Live& live : ranges_)
      if (live.loaded == loaded && live.place == place && live.first < s && s <= live.last) return true;
    return false;
  }
  constexpr CodeBytes most_loaded() const {
    List<CodeBytes, BodyId> most(plan_.bodies.size());  // while the body runs
    for (std::size_t i = plan_.bodies.size(); i-- > 0;) {     // callers come before what they call
      const auto body = BodyId(i);
      for (int s = 0; s < plan_.bodies[body].step_count; ++s) {
        CodeBytes bytes;
        for (const BodyId called : called_bodies(step(body, s))) bytes = larger(bytes, most[called]);
        for (const Live& live : ranges_)
          if (is_loaded_[live.loaded] && live.place == body && live.first <= s && s <= live.last)
            bytes += result_.by_body[live.loaded];
        most[body] = larger(most[body], bytes);
      }
    }
    CodeBytes result;
    for (std::size_t i = 0; i < most.size(); ++i)
      if (plan_.is_root(BodyId(i))) result = larger(result, most[BodyId(i)]);
    return result;
  }

  const Plan& plan_;
  const Target& target_;
  int set_;
  std::int64_t tiles_;
  CodeUse result_{};
  List<Live> ranges_{};
  List<bool, BodyId> is_loaded_;  // loads bring its code, and no call finds it missing
};

}  // namespace detail

/// Estimates the bytes of code on the fullest tile of a set. Code of compute sets that several bodies use is always present.
constexpr CodeUse count_code(const Plan& plan, const Target& target, int set) {
  return detail::CodeCounter(plan, target, set).run();
}
/// Estimates the bytes of code on the fullest tile of each set of tiles, by set; the host has one.
constexpr List<CodeUse> count_code(const Plan& plan, const Target& target) {
  List<CodeUse> result;
  result.reserve(plan.tile_sets.size() + 1);
  result.push_back(count_code(plan, target, 0));
  for (std::size_t set = 1; set < plan.tile_sets.size(); ++set) result.push_back(count_code(plan, target, static_cast<int>(set)));
  return result;
}

}  // namespace tilewright::internal
