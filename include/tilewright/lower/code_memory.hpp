#pragma once
// takes: a whole plan
// gives: CodeUse: bytes of code on the fullest tile
// keeps: the plan
#include <algorithm>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/target/target.hpp"

namespace tilewright {

/// Bytes of code on the fullest tile, which has a vertex of every step. An estimate, of three parts:
///  - vertex code, once for each compute set (see graph/code_bytes.hpp);
///  - for each step, the state of its vertices: 4 bytes for each pointer, and 4 for the extents;
///  - for each step, control code: 8 bytes, 20 if tiles exchange data before it, 40 for a loop or a conditional.
/// State and control are averages by tile of the same source as graph/code_bytes.hpp. Not counted: exchange code, stacks,
/// padding.
struct CodeUse {
  std::int64_t always = 0;               ///< what stays on the tile
  std::int64_t loaded = 0;               ///< the most that remote_code_load has there at a time
  List<std::int64_t> by_body{};   ///< of the body alone: its steps, and compute sets that only it uses
};

namespace detail {

class CodeCounter {
 public:
  constexpr CodeCounter(const Plan& plan, const Target& target)
      : plan_(plan), target_(target), is_loaded_(plan.bodies.size(), 0) {}

  constexpr CodeUse run() {
    count_code();
    find_ranges();
    for (std::size_t body = 0; body < plan_.bodies.size(); ++body)
      if (is_loaded_[body] == 0 || !is_covered(static_cast<int>(body), static_cast<int>(body))) {
        is_loaded_[body] = 0;
        result_.always += result_.by_body[body];
      }
    result_.loaded = most_loaded();
    return std::move(result_);
  }

 private:
  /// The code of a body is there from the load to the last call.
  struct Live {
    int loaded;
    int place;  ///< the body in which it is loaded
    int first, last;
  };
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  constexpr const Step& step(int body, int s) const { return plan_.steps[at(plan_.bodies[at(body)].first_step + s)]; }

  constexpr std::int64_t bytes_of(const Step& step) const {
    if (step.kind == StepKind::loop || step.kind == StepKind::conditional) return 40;
    if (step.is_call() || step.kind == StepKind::load_code) return 8;
    const std::int64_t vertices = (step.parts() + target_.tiles - 1) / target_.tiles;
    return (step.barrier_before ? 20 : 8) + vertices * (4 * step.location_count + 4);
  }
  constexpr void count_code() {
    constexpr int nobody = -1, several = -2;
    result_.by_body.assign(plan_.bodies.size(), 0);
    List<int> users(plan_.compute_sets.size(), nobody);
    for (std::size_t body = 0; body < plan_.bodies.size(); ++body)
      for (int s = 0; s < plan_.bodies[body].step_count; ++s) {
        const Step& each = step(static_cast<int>(body), s);
        result_.by_body[body] += bytes_of(each);
        if (each.is_call() || each.kind == StepKind::load_code) continue;
        int& user = users[at(each.compute_set)];
        user = user == nobody || user == static_cast<int>(body) ? static_cast<int>(body) : several;
      }
    for (std::size_t set = 0; set < users.size(); ++set)
      (users[set] >= 0 ? result_.by_body[at(users[set])] : result_.always) += plan_.compute_sets[set].code_bytes;
  }
  /// The bodies that run in a step.
  static constexpr FixedVector<int, 2> called_by(const Step& step) {
    FixedVector<int, 2> bodies;
    if (step.is_call()) bodies.push_back(step.body);
    if (step.is_call() && step.else_body >= 0) bodies.push_back(step.else_body);
    return bodies;
  }
  /// Whether a step calls a body, directly or through others.
  constexpr bool calls(const Step& caller, int body) const {
    for (const int called : called_by(caller)) {
      if (called == body) return true;
      for (int s = 0; s < plan_.bodies[at(called)].step_count; ++s)
        if (calls(step(called, s), body)) return true;
    }
    return false;
  }
  constexpr void find_ranges() {
    for (std::size_t body = 0; body < plan_.bodies.size(); ++body)
      for (int s = 0; s < plan_.bodies[body].step_count; ++s) {
        const Step& load = step(static_cast<int>(body), s);
        if (load.kind != StepKind::load_code) continue;
        is_loaded_[at(load.body)] = 1;
        Live live{load.body, static_cast<int>(body), s, s};
        for (int t = s + 1; t < plan_.bodies[body].step_count; ++t) {
          const Step& later = step(static_cast<int>(body), t);
          if (later.kind == StepKind::load_code && later.body == load.body) break;
          if (calls(later, load.body)) live.last = t;
        }
        ranges_.push_back(live);
      }
  }
  /// Whether the code of `loaded` is there in all calls of `body`.
  constexpr bool is_covered(int body, int loaded) const {
    for (int place = 0; place < static_cast<int>(plan_.bodies.size()); ++place)
      for (int s = 0; s < plan_.bodies[at(place)].step_count; ++s)
        for (const int called : called_by(step(place, s)))
          if (called == body && !is_there(place, s, loaded) && (place == 0 || !is_covered(place, loaded))) return false;
    return true;
  }
  constexpr bool is_there(int place, int s, int loaded) const {
    for (const Live& live : ranges_)
      if (live.loaded == loaded && live.place == place && live.first < s && s <= live.last) return true;
    return false;
  }
  constexpr std::int64_t most_loaded() const {
    List<std::int64_t> most(plan_.bodies.size(), 0);  // by body, while it runs
    for (int body = static_cast<int>(plan_.bodies.size()); body-- > 0;)  // callers come before what they call
      for (int s = 0; s < plan_.bodies[at(body)].step_count; ++s) {
        std::int64_t bytes = 0;
        for (const int called : called_by(step(body, s))) bytes = std::max(bytes, most[at(called)]);
        for (const Live& live : ranges_)
          if (is_loaded_[at(live.loaded)] != 0 && live.place == body && live.first <= s && s <= live.last)
            bytes += result_.by_body[at(live.loaded)];
        most[at(body)] = std::max(most[at(body)], bytes);
      }
    return most[0];
  }

  const Plan& plan_;
  const Target& target_;
  CodeUse result_{};
  List<Live> ranges_{};
  List<char> is_loaded_;
};

}  // namespace detail

/// Estimates the bytes of code on the fullest tile. Code of compute sets that several bodies use is there always.
constexpr CodeUse count_code(const Plan& plan, const Target& target) { return detail::CodeCounter(plan, target).run(); }

}  // namespace tilewright
