#pragma once
#include <cstdint>

#include "tilewright/core/text.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/verified/memory/recalled_memory.hpp"
#include "tilewright/verified/terms.hpp"

namespace tilewright::internal::proof::detail {

/// A memory of a plan.
struct Stored {
  Base base = Base::frame;
  int index = 0;
  std::int64_t bytes = -1;  // -1: not limited
  RecalledMemory values{};
};

/// All memories of a plan, or of a frozen one, during a run. Offsets in the frame count from the start of the root's.
template <class AnyPlan>
class PlanMemory {
 public:
  constexpr PlanMemory(const AnyPlan& plan, ValueTerms& terms) : plan_(&plan), terms_(&terms) {}

  /// Puts what is there before a run into the memories. Returns what is wrong; empty: nothing.
  constexpr Text start() {
    add(Base::frame, 0, plan_->memory.frame);
    add(Base::variable, 0, plan_->memory.variables);
    add(Base::constant, 0, plan_->memory.constants);
    add(Base::remote, 0, plan_->memory.remote);
    for (const auto& buffer : plan_->remote_buffers)
      if (buffer.mapping > 0) add(Base::remote, buffer.mapping, buffer.bytes());
    next_.assign(plan_->streams.size(), 0);
    moves_.assign(plan_->streams.size(), false);
    for (const Step& step : plan_->steps)
      if (step.stream >= 0 && static_cast<std::size_t>(step.stream) < moves_.size())
        moves_[static_cast<std::size_t>(step.stream)] = true;
    for (std::size_t i = 0; i < plan_->streams.size(); ++i) {
      const auto& stream = plan_->streams[i];
      const std::int64_t elements = elements_of(static_cast<int>(i));
      add(Base::stream, static_cast<int>(i), elements < 0 ? -1 : elements * plan_->replicas * stream.spec.bytes());
    }
    for (std::size_t i = 0; i < plan_->variables.size(); ++i)
      if (const auto& each = plan_->variables[i]; each.base == Base::variable)
        give(Base::variable, 0, each.offset, each.spec, terms_->initial(Origin::variable, static_cast<std::int64_t>(i)));
    for (std::size_t i = 0; i < plan_->constants.size(); ++i)
      give(Base::constant, 0, plan_->constants[i].offset, plan_->constants[i].spec,
           terms_->initial(Origin::constant, static_cast<std::int64_t>(i)));
    for (std::size_t i = 0; i < plan_->remote_buffers.size(); ++i) {
      const Access rows = rows_of(plan_->remote_buffers[i]);
      if (Stored* const memory = find(Base::remote, plan_->remote_buffers[i].mapping))
        memory->values.write(rows, terms_->initial(Origin::remote_row, static_cast<std::int64_t>(i)));
    }
    return problem_;
  }
  /// Returns the constants, and a frame of a body.
  constexpr PlanMemory of_body(std::int64_t frame_bytes) {
    PlanMemory result(*plan_, *terms_);
    result.add(Base::frame, 0, frame_bytes);
    result.memories_.push_back(*find(Base::constant, 0));
    return result;
  }
  /// Adds an argument of which only the type is known. `is_input`: whether it is written.
  constexpr void add_argument(int number, const TensorSpec& spec, bool is_input) {
    add(Base::argument, number, spec.bytes());
    if (is_input)
      memories_.back().values.write(access_of(0, spec, dense_strides(spec.shape)), terms_->initial(Origin::input, number));
  }
  /// Returns a memory, or null if the plan has none with this index.
  constexpr Stored* find(Base base, int index) {
    for (Stored& each : memories_)
      if (each.base == base && each.index == index) return &each;
    return nullptr;
  }
  constexpr Content read(const Location& place, const Access& bytes) {
    if (place.base == Base::stream) load(place);
    return find(place.base, place.index)->values.read(bytes);
  }
  /// Moves a stream to its next element; -1: none moves.
  constexpr void move(int stream) {
    if (stream >= 0 && static_cast<std::size_t>(stream) < next_.size()) ++next_[static_cast<std::size_t>(stream)];
  }
  /// Returns the number of elements at fixed places of the host's array; -1: not known, as in a frozen plan, or the stream moves.
  constexpr std::int64_t elements_of(int stream) const {
    if constexpr (requires { plan_->streams[0].elements; })
      return moves(stream) ? -1 : plan_->streams[static_cast<std::size_t>(stream)].elements;
    else return -1;
  }
  /// Returns whether each use of the stream moves it to its next element.
  constexpr bool moves(int stream) const { return moves_[static_cast<std::size_t>(stream)]; }
  constexpr std::int64_t moved(int stream) const { return next_[static_cast<std::size_t>(stream)]; }
  /// Joins the memories after the other branch of a conditional with these.
  constexpr void join(PlanMemory& other, ValueId condition) {
    for (std::size_t m = 0; m < memories_.size(); ++m)
      memories_[m].values = RecalledMemory(
          Memory::joined(other.memories_[m].values.memory(), memories_[m].values.memory(),
                         [&](const Content& a, const Content& b) { return terms_->choice(condition, a, b); }));
  }
  static constexpr Access rows_of(const auto& buffer) {
    const TensorSpec rows{{buffer.entries, buffer.spec.nelms()}, buffer.spec.dtype};
    Access access = access_of(buffer.offset, rows, dense_strides(rows.shape));
    access.strides[0] = buffer.row_bytes();
    return access;
  }

 private:
  constexpr void add(Base base, int index, std::int64_t bytes) { memories_.push_back({base, index, bytes, {}}); }
  constexpr void give(Base base, int index, std::int64_t offset, const TensorSpec& spec, ValueId value) {
    Stored& memory = *find(base, index);
    const Access access = access_of(offset, spec, dense_strides(spec.shape));
    if (offset < 0 || offset + spec.bytes() > memory.bytes)
      problem_ = text("memory: ", spec.bytes(), " bytes at ", offset, " of memory `", name_of(base), "`: a place in its ",
                      memory.bytes, " bytes expected");
    else if (has_written(memory.values.read(access)))
      problem_ = text("memory: ", "two tensors at ", offset, " of memory `", name_of(base), "`: separate bytes expected");
    else memory.values.write(access, value);
  }
  static constexpr bool has_written(const Content& content) {
    for (const Content& part : content.parts)
      if (has_written(part)) return true;
    return content.parts.empty() && content.value != ValueId::unwritten;
  }
  /// Writes the host's element of a stream where a step reads it for the first time.
  constexpr void load(const Location& place) {
    const auto& stream = plan_->streams[static_cast<std::size_t>(place.index)];
    if (stream.direction != StreamDirection::host_to_device || stream.spec.bytes() == 0) return;
    const std::int64_t pitch = plan_->replicas * stream.spec.bytes(), element = place.offset / pitch;
    RecalledMemory& memory = find(Base::stream, place.index)->values;
    const Access bytes = access_of(element * pitch, stream.spec, dense_strides(stream.spec.shape));
    if (!has_written(memory.read(bytes))) memory.write(bytes, terms_->initial(Origin::stream, place.index, element));
  }

  const AnyPlan* plan_;
  ValueTerms* terms_;
  List<Stored> memories_{};
  List<bool> moves_{};  // by stream
  List<std::int64_t> next_{};  // by stream that moves: the number of its next element
  Text problem_{};
};

}  // namespace tilewright::internal::proof::detail
