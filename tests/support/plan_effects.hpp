#pragma once
// What a run of a plan changes, byte by byte, as hashes: a plain model that shares nothing with tilewright/verified. Two plans
// with equal effects compute the same numbers.
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tilewright/lower/plan.hpp"

namespace plan_effects {

namespace tw = tilewright;
using tw::internal::Base, tw::internal::BodyId, tw::internal::ComputeSet, tw::internal::Location, tw::internal::Source,
    tw::internal::Stage, tw::internal::StageOperand, tw::internal::Step, tw::internal::StepKind, tw::Plan;

class Run {
 public:
  explicit Run(const Plan& plan) : plan_(plan), next_(plan.streams.size(), 0) {}

  /// Runs the main body. Returns hashes of all bytes that outlive it.
  std::map<std::tuple<int, int, std::int64_t>, std::uint64_t> effects() {
    body(BodyId::main, {}, 0);
    std::map<std::tuple<int, int, std::int64_t>, std::uint64_t> result;
    for (const auto& [place, hash] : bytes_)
      if (std::get<0>(place) != static_cast<int>(Base::frame) && hash != given(place)) result[place] = hash;
    return result;
  }
  /// Whether each step is ordered by a barrier after each earlier one that shares bytes with it, if one of both writes them.
  bool has_all_barriers() const { return has_all_barriers_; }

 private:
  using Byte = std::tuple<int, int, std::int64_t>;
  struct Earlier {
    std::map<Byte, bool> bytes{};  // whether a step writes them
    bool single = false;  // whether one worker runs all of it
    int ipu = -1;
    bool is_over = false;  // for the workers of its IPU
  };
  void pass_barrier(const Step& step) {
    if (step.joins_ipus && plan_.bodies[body_].ipu < 0) return since_.clear();
    for (Earlier& each : since_) each.is_over = each.is_over || each.ipu == step.ipu;
  }
  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
  }
  static std::uint64_t given(const Byte& byte) {
    return mix(mix(mix(1, static_cast<std::uint64_t>(std::get<0>(byte))), static_cast<std::uint64_t>(std::get<1>(byte))),
               static_cast<std::uint64_t>(std::get<2>(byte)));
  }
  void body(BodyId number, const std::vector<Location>& arguments, std::int64_t frame) {
    const auto& body_of = plan_.bodies[number];
    const BodyId caller = std::exchange(body_, number);
    for (int s = 0; s < body_of.step_count; ++s) step(plan_.steps[body_of.first_step + s], arguments, frame);
    body_ = caller;
  }
  void step(const Step& step, const std::vector<Location>& arguments, std::int64_t frame) {
    std::vector<Location> places;
    for (int i = 0; i < step.location_count; ++i) {
      Location place = plan_.locations[step.first_location + i];
      if (place.base == Base::frame) place.offset += frame;
      if (place.base == Base::argument) {
        const std::int64_t offset = place.offset;
        place = arguments.at(static_cast<std::size_t>(place.index));
        place.offset += offset;
      } else if (place.base == Base::stream) {
        place.offset += next_.at(static_cast<std::size_t>(place.index)) * plan_.replicas *
                        plan_.streams[static_cast<std::size_t>(place.index)].spec.bytes();
      }
      places.push_back(place);
    }
    const auto list = [&](int first, int count) {
      return std::vector<Location>(places.begin() + first, places.begin() + first + count);
    };
    if (step.is_call() && step.ipu >= 0 && step.joins_ipus) since_.clear();  // workers meet before a body of one IPU
    switch (step.kind) {
      case StepKind::load_code: return;
      case StepKind::call: return body(step.body, list(0, step.arguments), frame + step.frame_offset);
      case StepKind::conditional:
        pass_barrier(step);
        condition_ = mix(condition_, byte(places[0].base, places[0].index, places[0].offset));
        {
          const auto before = since_;  // no run takes both branches
          body(step.body, list(1, step.arguments), frame + step.frame_offset);
          condition_ = mix(condition_, 1);
          const auto after = std::exchange(since_, before);
          body(step.else_body, list(1 + step.arguments, step.location_count - 1 - step.arguments), frame + step.frame_offset);
          since_.insert(since_.end(), after.begin(), after.end());
        }
        return;
      case StepKind::loop:
        for (std::int64_t n = 0; n < step.count; ++n) {
          auto given_now = list((n == 0 ? 0 : n % 2 == 1 ? 1 : 2) * step.arguments, step.arguments);
          for (int i = 0; i < step.arguments; ++i)
            given_now[static_cast<std::size_t>(i)].offset += n * plan_.strides[step.first_stride + i];
          body(step.body, given_now, frame + step.frame_offset);
        }
        return;
      default: compute(step, places);
    }
  }
  std::uint64_t byte(Base base, int index, std::int64_t offset) const {
    const Byte place{static_cast<int>(base), index, offset};
    const auto known = bytes_.find(place);
    return known == bytes_.end() ? given(place) : known->second;
  }
  /// Calls f(byte's offset) for each byte of an operand, from its first one on, in the order of its elements.
  template <class F>
  static void for_each_byte(const StageOperand& operand, bool dense, const F& f) {
    const auto& shape = operand.view.shape;
    const auto strides = dense ? tw::dense_strides(shape) : operand.view.strides;
    const auto bytes = static_cast<std::int64_t>(tw::size_of(operand.view.dtype));
    for (std::int64_t i = 0, count = shape.nelms(); i < count; ++i) {
      std::int64_t rest = i, at = 0;
      for (int axis = shape.rank; axis-- > 0; rest /= shape[axis])
        at += rest % shape[axis] * strides[static_cast<std::size_t>(axis)];
      for (std::int64_t b = 0; b < bytes; ++b) f(at * bytes + b);
    }
  }
  /// Words of how vertices divide an operand. A block that lies where the view has it adds none.
  void add_division(const ComputeSet& set, const StageOperand& operand, std::uint64_t& hash) const {
    for (int axis = 0; axis < set.blocks.size(); ++axis) {
      if ((set.extents[axis] + set.blocks[axis] - 1) / set.blocks[axis] == 1) continue;
      hash = mix(mix(hash, static_cast<std::uint64_t>(set.extents[axis])), static_cast<std::uint64_t>(set.blocks[axis]));
      std::int64_t expected = 0;
      for (int t = 0; t < operand.view.shape.rank; ++t) {
        hash = mix(hash, operand.grid_axis[t] == axis);
        if (operand.grid_axis[t] == axis)
          expected += set.blocks[axis] * operand.view.stride(t) * static_cast<std::int64_t>(tw::size_of(operand.view.dtype));
      }
      if (operand.source != Source::memory) continue;
      if (const auto stride = plan_.strides[set.first_stride + operand.index * set.blocks.size() + axis]; stride != expected)
        hash = mix(hash, static_cast<std::uint64_t>(stride));
    }
  }
  void compute(const Step& step, const std::vector<Location>& places) {
    const ComputeSet& set = plan_.compute_sets[step.compute_set];
    if (step.barrier_before) pass_barrier(step);
    const bool single = step.vertices * step.pieces == 1;
    std::map<Byte, bool> own;  // whether it is written
    std::map<int, std::map<std::int64_t, std::uint64_t>> scratch, registers;
    for (int s = 0; s < set.stage_count; ++s) {
      const Stage& stage = plan_.stages[set.first_stage + s];
      std::uint64_t hash = mix(condition_, reinterpret_cast<std::uintptr_t>(stage.op));
      for (const auto word : stage.attributes.words) hash = mix(hash, static_cast<std::uint64_t>(word));
      hash = mix(hash, static_cast<std::uint64_t>(step.vertices));
      std::vector<std::uint64_t> read;
      for (int o = 0; o < stage.operand_count; ++o) {
        const StageOperand& operand = plan_.operands[stage.first_operand + o];
        hash = mix(hash, static_cast<std::uint64_t>(operand.view.dtype));
        for (int axis = 0; axis < operand.view.shape.rank; ++axis)
          hash = mix(hash, static_cast<std::uint64_t>(operand.view.shape[axis]));
        add_division(set, operand, hash);
        auto& passed = operand.source == Source::value ? registers[o < stage.input_count ? operand.index : s]
                                                       : scratch[operand.index];
        if (o < stage.input_count)
          for_each_byte(operand, operand.source != Source::memory, [&](std::int64_t at) {
            if (operand.source != Source::memory) {
              read.push_back(passed[at]);
              return void(hash = mix(hash, passed[at]));
            }
            const Location& place = places.at(static_cast<std::size_t>(operand.index));
            read.push_back(byte(place.base, place.index, place.offset + at));
            hash = mix(hash, read.back());
            own.try_emplace({static_cast<int>(place.base), place.index, place.offset + at}, false);
          });
      }
      const bool is_copy = stage.name == "Identity";  // whose result is its operand, byte by byte
      for (int o = stage.input_count; o < stage.operand_count; ++o) {
        const StageOperand& operand = plan_.operands[stage.first_operand + o];
        std::uint64_t number = mix(hash, static_cast<std::uint64_t>(o));
        auto& passed = operand.source == Source::scratch ? scratch[operand.index] : registers[s];
        std::size_t next = 0;
        for_each_byte(operand, operand.source != Source::memory, [&](std::int64_t at) {
          number = is_copy && next < read.size() ? read[next++] : mix(number, 1);
          if (operand.source != Source::memory) return void(passed[at] = number);
          const Location& place = places.at(static_cast<std::size_t>(operand.index));
          bytes_[{static_cast<int>(place.base), place.index, place.offset + at}] = number;
          own[{static_cast<int>(place.base), place.index, place.offset + at}] = true;
        });
        if (operand.source != Source::value && o == stage.input_count) {
          std::uint64_t again = mix(hash, static_cast<std::uint64_t>(o));
          next = 0;
          for_each_byte(operand, true, [&](std::int64_t at) {
            registers[s][at] = again = is_copy && next < read.size() ? read[next++] : mix(again, 1);
          });
        }
      }
    }
    for (const Earlier& other : since_) {
      if (other.ipu == step.ipu && (other.is_over || (single && other.single))) continue;
      for (const auto& [place, written] : own)
        if (const auto known = other.bytes.find(place); known != other.bytes.end() && (written || known->second))
          has_all_barriers_ = false;
    }
    since_.push_back({std::move(own), single, step.ipu});
    if (step.stream >= 0) ++next_[static_cast<std::size_t>(step.stream)];
  }

  const Plan& plan_;
  BodyId body_ = BodyId::main;  // that runs
  std::vector<std::int64_t> next_;  // by stream
  std::map<Byte, std::uint64_t> bytes_{};
  std::vector<Earlier> since_{};  // the last barrier of all workers
  std::uint64_t condition_ = 1;
  bool has_all_barriers_ = true;
};

/// Whether a changed plan has the effects of the plan before.
inline bool same_effects(const Plan& before, const Plan& after) {
  Run expected(before), changed(after);
  return expected.effects() == changed.effects() && changed.has_all_barriers();
}

}  // namespace plan_effects
