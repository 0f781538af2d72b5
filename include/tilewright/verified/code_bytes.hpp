#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/target/target.hpp"
#include "tilewright/verified/set_stages.hpp"
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Checks the bytes of code that a plan counts: of each compute set, of a tile of each set, and of a run's loads.
template <class AnyPlan>
class CodeProof {
 public:
  constexpr CodeProof(const AnyPlan& plan, const Target& target, ValueTerms& terms, FirstFault& fault)
      : plan_(plan), target_(target), sizes_(target.code()), terms_(terms), fault_(fault) {}

  constexpr void run() {
    for (std::size_t i = 0; i < plan_.compute_sets.size() && !fault_.is_found(); ++i) check_set(i);
    if (fault_.is_found()) return;
    if (target_.ipu != nullptr) {
      if constexpr (requires { plan_.moves; }) {
        if (plan_.moves.size() != plan_.steps.size()) return;  // another check refuses that
      } else {
        return;  // exchanges have code, too
      }
    }
    find_loads();
    bool is_of_a_set = false;
    of_load_.assign(plan_.bodies.size(), 0);
    const int sets = (std::max)(1, static_cast<int>(plan_.tile_sets.size()));
    for (set_ = 0; set_ < sets; ++set_) {
      tiles_ = target_.ipu == nullptr ? target_.tiles : SetsOfTiles<AnyPlan>{plan_, target_}.tiles(set_);
      const auto [always, loaded] = code_of_tile();
      CodeBytes all = always;
      all += loaded;
      for (std::size_t b = 0; b < of_load_.size(); ++b) of_load_[b] += tiles_ * own_[b].total();
      bool is_fullest = target_.ipu == nullptr;
      if (!is_fullest) {
        const TileMemory& tile = plan_.tile_sets[static_cast<std::size_t>(set_)].tile;
        is_fullest = tile.code == plan_.tile.code;
        expect(tile.code == all, "counts ", tile.code.total(), " bytes of code on a tile of set ", set_, ": ", all.total(),
               " expected, ", all.vertex, " of vertices, ", all.state, " of their state, ", all.exchange, " of exchanges and ",
               all.control, " of control");
        expect(tile.stack == sizes_.stack && tile.reserve == sizes_.reserve, "counts a stack of ", tile.stack, " and ",
               tile.reserve, " bytes of the run-time system on a tile of set ", set_, ": ", std::int64_t{sizes_.stack}, " and ",
               std::int64_t{sizes_.reserve}, " expected");
      }
      is_of_a_set = is_of_a_set ||
                    (is_fullest && plan_.memory.code == always.total() && plan_.memory.loaded_code == loaded.total());
    }
    expect(is_of_a_set, "counts ", plan_.memory.code, " bytes of code on the fullest tile, and ", plan_.memory.loaded_code,
           " that are loaded: those of its steps expected");
    const bool counts_loads = target_.ipu != nullptr && target_.ipu->streaming_memory.bytes_per_second != 0;
    const std::int64_t moved = counts_loads ? loads_of_run() : 0;
    expect(plan_.remote.code_bytes == moved, "counts ", plan_.remote.code_bytes, " bytes of code that a run loads: ", moved,
           " expected");
  }
  /// Returns the bytes that a load of a body brings to all tiles.
  constexpr std::int64_t of_load(BodyId body) const { return of_load_[static_cast<std::size_t>(body)]; }

 private:
  /// A load, and the steps of its body in which the loaded code stays on the tiles.
  struct Load {
    BodyId loaded, in;
    int first, last;
  };
  struct CodeOfTile {
    CodeBytes always{}, loaded{};
  };

  constexpr bool expect(bool holds, const auto&... what) { return fault_.expect(holds, "tables", BodyId::none, -1, what...); }
  constexpr const Body& body(BodyId number) const { return plan_.bodies.data()[static_cast<std::size_t>(number)]; }
  constexpr const Step& step(BodyId in, int s) const { return plan_.steps[static_cast<std::size_t>(body(in).first_step + s)]; }
  static constexpr bool computes(const Step& step) { return !step.is_call() && step.kind != StepKind::load_code; }
  constexpr void check_set(std::size_t number) {
    const ComputeSet& set = plan_.compute_sets[number];
    const SetStages stages(plan_, set);
    std::int64_t bytes = 0;
    for (int s = 0; s < set.stage_count; ++s) {
      const OpInfo* const op = stages.op(s, terms_);
      if (op == nullptr) return;  // no run comes there: another check knows the ops of all steps that run
      bytes += sizes_.code(op->code_kind);
    }
    expect(set.code_bytes == bytes, "compute set ", number, " counts ", set.code_bytes, " bytes of code: ", bytes,
           " of its stages expected");
  }

  /// Finds how long each load's code stays, and which bodies have it in each of their calls.
  constexpr void find_loads() {
    const std::size_t bodies = plan_.bodies.size();
    for (auto in = BodyId::main; in < BodyId(bodies); in = next(in))
      for (int s = 0; s < body(in).step_count; ++s) {
        if (step(in, s).kind != StepKind::load_code) continue;
        Load load{step(in, s).body, in, s, s};
        const List<bool> reaches = reaching(load.loaded);
        for (int t = s + 1; t < body(in).step_count; ++t) {
          const Step& later = step(in, t);
          if (later.kind == StepKind::load_code && later.body == load.loaded) break;
          if (calls_one(later, reaches)) load.last = t;
        }
        loads_.push_back(load);
      }
    is_loaded_.assign(bodies, false);
    for (const Load& load : loads_) is_loaded_[static_cast<std::size_t>(load.loaded)] = true;
    for (std::size_t b = 0; b < bodies; ++b)
      if (is_loaded_[b]) is_loaded_[b] = is_there_in_calls(BodyId(b));
  }
  static constexpr BodyId next(BodyId number) { return BodyId(static_cast<int>(number) + 1); }
  /// Returns by body whether it is a body, or calls it, or calls one that does.
  constexpr List<bool> reaching(BodyId target) const {
    List<bool> result(plan_.bodies.size(), false);
    result[static_cast<std::size_t>(target)] = true;
    for (int b = static_cast<int>(target) - 1; b >= 0; --b)  // callers are before what they call
      for (int s = 0; s < body(BodyId(b)).step_count; ++s)
        if (calls_one(step(BodyId(b), s), result)) result[static_cast<std::size_t>(b)] = true;
    return result;
  }
  static constexpr bool calls_one(const Step& caller, const List<bool>& bodies) {
    if (!caller.is_call()) return false;
    return bodies[static_cast<std::size_t>(caller.body)] ||
           (caller.else_body != BodyId::none && bodies[static_cast<std::size_t>(caller.else_body)]);
  }
  /// Returns whether the code of a body is on the tiles whenever the body is called. Callers come before what they call, so what
  /// their own calls find is known.
  constexpr bool is_there_in_calls(BodyId of) const {
    List<bool> is_there(plan_.bodies.size(), true);  // by body: in all of its calls
    for (auto in = BodyId::main; in < BodyId(is_there.size()); in = next(in)) {
      if (plan_.is_root(in)) is_there[static_cast<std::size_t>(in)] = false;
      for (int s = 0; s < body(in).step_count; ++s) {
        if (!step(in, s).is_call()) continue;
        bool has_load = is_there[static_cast<std::size_t>(in)];
        for (const Load& load : loads_)
          has_load = has_load || (load.loaded == of && load.in == in && load.first < s && s <= load.last);
        for (const BodyId callee : {step(in, s).body, step(in, s).else_body})
          if (callee != BodyId::none && !has_load) is_there[static_cast<std::size_t>(callee)] = false;
      }
    }
    return is_there[static_cast<std::size_t>(of)];
  }

  /// Returns the bytes of a tile of the set. Code of a compute set that several bodies use stays on it, and code of bodies that
  /// are not loaded.
  constexpr CodeOfTile code_of_tile() {
    CodeOfTile result;
    own_.assign(plan_.bodies.size(), CodeBytes{});
    List<int> user(plan_.compute_sets.size(), -1);  // the body that uses a set; -2: several
    for (auto in = BodyId::main; in < BodyId(own_.size()); in = next(in))
      for (int s = 0; s < body(in).step_count; ++s) {
        own_[static_cast<std::size_t>(in)] += code_of_step(in, s);
        if (!computes(step(in, s)) || !has_vertices(in, s)) continue;
        int& its = user[static_cast<std::size_t>(step(in, s).compute_set)];
        its = its == -1 || its == static_cast<int>(in) ? static_cast<int>(in) : -2;
      }
    for (std::size_t set = 0; set < user.size(); ++set)
      if (user[set] != -1)
        (user[set] < 0 ? result.always : own_[static_cast<std::size_t>(user[set])]).vertex += plan_.compute_sets[set].code_bytes;
    for (std::size_t b = 0; b < own_.size(); ++b)
      if (!is_loaded_[b]) result.always += own_[b];
    List<CodeBytes> most(own_.size());  // that is loaded at a time while a body runs
    for (std::size_t b = own_.size(); b-- > 0;) {
      for (int s = 0; s < body(BodyId(b)).step_count; ++s) {
        const Step& each = step(BodyId(b), s);
        CodeBytes bytes;
        if (each.is_call())
          for (const BodyId callee : {each.body, each.else_body})
            if (callee != BodyId::none) bytes = larger(bytes, most[static_cast<std::size_t>(callee)]);
        for (const Load& load : loads_)
          if (load.in == BodyId(b) && load.first <= s && s <= load.last && is_loaded_[static_cast<std::size_t>(load.loaded)])
            bytes += own_[static_cast<std::size_t>(load.loaded)];
        most[b] = larger(most[b], bytes);
      }
      if (plan_.is_root(BodyId(b))) result.loaded = larger(most[b], result.loaded);
    }
    return result;
  }
  constexpr const StepMoves* moves_of(BodyId in, int s) const {
    if constexpr (requires { plan_.moves; })
      if (target_.ipu != nullptr) return &plan_.moves[static_cast<std::size_t>(body(in).first_step + s)];
    return nullptr;
  }
  constexpr bool has_vertices(BodyId in, int s) const {
    const StepMoves* const moves = moves_of(in, s);
    return moves == nullptr || moves->set < 0 || moves->set == set_;
  }
  /// Returns the bytes of a step on a tile of the set, without the code of its vertices: their state, what they exchange, and
  /// control. Tiles that only send to the step's tiles have no state.
  constexpr CodeBytes code_of_step(BodyId in, int s) const {
    const Step& each = step(in, s);
    const StepMoves* const moves = moves_of(in, s);
    CodeBytes result;
    if (!has_vertices(in, s) && moves->from_set != set_) return result;
    bool exchanges = each.barrier_before;
    if (moves != nullptr) {
      exchanges = moves->before.total_bytes > 0 || moves->after.total_bytes > 0;
      const std::int64_t instructions = moves->before.sends + moves->after.sends +
                                        (moves->before.fragments + moves->after.fragments) * target_.ipu->fragment_instructions;
      result.exchange = instructions * sizes_.exchange_instruction;
    }
    if (!computes(each)) {
      const bool has_branch = each.kind == StepKind::loop || each.kind == StepKind::conditional;
      result.control = has_branch ? sizes_.branch : sizes_.step;
      return result;
    }
    result.control = exchanges ? sizes_.exchange : sizes_.step;
    if (!has_vertices(in, s)) return result;
    const std::int64_t parts = each.kind == StepKind::collective ? each.items : each.vertices;
    result.state = (parts + tiles_ - 1) / tiles_ * (sizes_.vertex + each.location_count * sizes_.operand);
    return result;
  }
  /// Returns the bytes of code that a run loads; of a conditional, those of the branch that loads more.
  constexpr std::int64_t loads_of_run() const {
    List<std::int64_t> moved(plan_.bodies.size(), 0);
    for (std::size_t b = moved.size(); b-- > 0;)
      for (int s = 0; s < body(BodyId(b)).step_count; ++s) {
        const Step& each = step(BodyId(b), s);
        if (each.kind == StepKind::load_code) moved[b] += of_load(each.body);
        if (!each.is_call()) continue;
        std::int64_t most = moved[static_cast<std::size_t>(each.body)];
        if (each.else_body != BodyId::none) most = (std::max)(most, moved[static_cast<std::size_t>(each.else_body)]);
        moved[b] += each.count * most;
      }
    return moved[0];
  }

  const AnyPlan& plan_;
  const Target& target_;
  const CodeSizes& sizes_;
  ValueTerms& terms_;
  FirstFault& fault_;
  int set_ = 0;  // of tiles, whose code is counted
  std::int64_t tiles_ = 1;  // of the set
  List<Load> loads_{};
  List<bool> is_loaded_{};  // by body: its code is on the tiles only while a load keeps it there
  List<CodeBytes> own_{};  // by body: its steps, and compute sets that it alone uses
  List<std::int64_t> of_load_{};  // by body
};

}  // namespace tilewright::internal::proof::detail
