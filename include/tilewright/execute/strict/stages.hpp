#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "tilewright/execute/stage_observer.hpp"
#include "tilewright/execute/strict/plan.hpp"
#include "tilewright/execute/strict/shadows.hpp"

namespace tilewright::internal {

/// Watches the ops of a step's vertices. In a step of several kernels, an op finds its operands; the vertex's other scratch, and
/// other ops' operands in memory, are poison while it runs. So it is found if it reads or writes more than it declares, or leaves
/// elements unwritten. An op that promises to be elementwise runs again with other values: at half of the positions each time,
/// so that each pair of positions is apart in a run. Results at the other positions must stay.
class StrictStages final : public StageObserver {
 public:
  StrictStages(const StrictPlan& plan, const Step& step) : plan_(plan), step_(step), set_(plan.set_of(step)) {
    int kernels = 0;
    for (int s = 0; s < set_.stage_count; ++s) kernels += plan.stage(set_, s).evaluation == Evaluation::kernel;
    is_fused_ = kernels > 1;
    results_.resize(static_cast<std::size_t>(set_.stage_count));
    bytes_ = static_cast<std::size_t>(set_.scratch_bytes + scratch_guard);
  }

  /// Runs a vertex with one of two poisons. Returns the first fault, or an empty text.
  std::string run(ComputeFunction function, std::byte* const* operands, std::int64_t vertex, const std::int64_t* coordinates,
                  int side) {
    extents_ = set_.blocks;
    for (int a = 0; a < extents_.size(); ++a)
      extents_[a] = (std::min)(extents_[a], set_.extents[a] - coordinates[a] * set_.blocks[a]);
    side_ = side;
    fault_.clear();
    const struct Watch {
      ~Watch() { stage_observer = nullptr; }
    } watch;
    stage_observer = this;
    function(operands, vertex, vertex + 1, false);
    return fault_;
  }

  void before(int stage, bool elementwise, std::byte* const* locations, std::byte* scratch) override {
    stage_ = stage;
    scratch_ = scratch;
    round_ = 0;
    slices_.clear();
    add(stage, locations);
    is_elementwise_ = elementwise && side_ == 1;
    for (int s = stage + 1; s < set_.stage_count && plan_.stage(set_, s).evaluation != Evaluation::kernel; ++s)
      if (plan_.stage(set_, s).evaluation == Evaluation::epilogue) add(s, locations);
    if (is_fused_) hide(locations);
    for (Slice& slice : slices_) slice.before = copy(slice);
  }
  bool after() override {
    if (round_ == 0 && is_fused_) check_scratch();
    return is_elementwise_ && fault_.empty() && begin_round();
  }

 private:
  using Bytes = std::vector<std::byte>;
  /// The elements that a vertex has of an operand, in memory or in scratch.
  struct Slice {
    std::byte* data;
    ViewSpec view;
    bool is_output, is_scratch;
    int stage, operand;
    Bytes before{}, after{};

    bool overlaps(const Slice& other) const {
      return first() < other.first() + span_bytes(other.view) && other.first() < first() + span_bytes(view);
    }
    bool is_same(const Slice& other) const { return data == other.data && view == other.view; }
    /// Whether each position has an element of its own.
    bool is_apart() const {
      for (int axis = 0; axis < view.shape.rank; ++axis)
        if (view.shape[axis] > 1 && view.stride(axis) == 0) return false;
      return true;
    }

   private:
    std::byte* first() const {
      std::int64_t least = 0;
      for (int axis = 0; axis < view.shape.rank; ++axis)
        least += (std::min)(std::int64_t{0}, (view.shape[axis] - 1) * view.stride(axis));
      return data + least * size_of(view.dtype);
    }
  };

  std::string name_of(int stage) const { return std::string(plan_.stage(set_, stage).name); }
  int poison() const { return static_cast<int>(StrictShadows::poison_of(float32, side_)); }
  /// Adds the operands of a stage, and of the stages whose values it computes with.
  void add(int s, std::byte* const* locations) {
    const Stage& stage = plan_.stage(set_, s);
    for (int o = 0; o < stage.operand_count; ++o) {
      const StageOperand& operand = plan_.stage_operand(set_, s, o);
      if (operand.source == Source::value) {
        if (o < stage.input_count && plan_.stage(set_, operand.index).evaluation == Evaluation::expression)
          add(operand.index, locations);
      } else if (std::byte* const data = place(operand, locations); data != nullptr) {
        slices_.push_back({data, slice_of(operand, extents_), o >= stage.input_count, operand.source == Source::scratch, s, o});
      }
    }
  }
  /// Returns where an operand begins; null: it has no elements, only a position.
  std::byte* place(const StageOperand& operand, std::byte* const* locations) {
    if (operand.source == Source::scratch) return scratch_ + operand.index;
    const Location& location = plan_.program.locations[static_cast<std::size_t>(step_.first_location + operand.index)];
    return location.base == Base::position ? nullptr : locations[operand.index];
  }
  /// Calls f(address of the element, its number) for each element of a slice.
  template <class F>
  static void for_each(const Slice& slice, F f) {
    std::int64_t index[max_rank]{}, offset = 0;
    const std::int64_t size = size_of(slice.view.dtype), count = slice.view.shape.nelms();
    for (std::int64_t e = 0; e < count; ++e) {
      f(slice.data + offset * size, e);
      for (int axis = slice.view.shape.rank; axis-- > 0;) {
        offset += slice.view.stride(axis);
        if (++index[axis] < slice.view.shape[axis]) break;
        offset -= slice.view.shape[axis] * slice.view.stride(axis);
        index[axis] = 0;
      }
    }
  }
  static Bytes copy(const Slice& slice) {
    const auto size = static_cast<std::size_t>(size_of(slice.view.dtype));
    Bytes bytes(static_cast<std::size_t>(slice.view.shape.nelms()) * size);
    for_each(slice,
             [&](const std::byte* at, std::int64_t e) { std::memcpy(&bytes[static_cast<std::size_t>(e) * size], at, size); });
    return bytes;
  }
  static void put(const Slice& slice, const Bytes& bytes) {
    const auto size = static_cast<std::size_t>(size_of(slice.view.dtype));
    for_each(slice, [&](std::byte* at, std::int64_t e) { std::memcpy(at, &bytes[static_cast<std::size_t>(e) * size], size); });
  }
  /// Returns the number of the first element for which the bytes differ and `counts(e)`; -1: none.
  template <class F>
  static std::int64_t difference(const Slice& slice, const Bytes& bytes, F counts) {
    const auto size = static_cast<std::size_t>(size_of(slice.view.dtype));
    std::int64_t found = -1;
    for_each(slice, [&](const std::byte* at, std::int64_t e) {
      if (found < 0 && std::memcmp(at, &bytes[static_cast<std::size_t>(e) * size], size) != 0 && counts(e)) found = e;
    });
    return found;
  }
  void fail(const Slice& slice, std::int64_t e, const char* what) {
    if (!fault_.empty()) return;
    const Stage& stage = plan_.stage(set_, slice.stage);
    const bool is_output = slice.operand >= stage.input_count;
    fault_ = strict_text({"element ", e, " of the block of ", is_output ? "output " : "input ",
                          is_output ? slice.operand - stage.input_count : slice.operand, " of ", name_of(slice.stage), " ",
                          what});
  }

  // ---- memory that the op does not declare

  void hide(std::byte* const* locations) {
    found_.assign(scratch_, scratch_ + bytes_);
    declared_.assign(bytes_, 0);
    for (const bool outputs : {false, true})
      for (const Slice& slice : slices_)
        if (slice.is_scratch && slice.is_output == outputs)
          for_each(slice, [&](const std::byte* at, std::int64_t) {
            auto* const first = &declared_[static_cast<std::size_t>(at - scratch_)];
            std::fill_n(first, size_of(slice.view.dtype), static_cast<char>(*first == 1 || !outputs ? 1 : 2));
          });
    for (std::size_t b = 0; b < bytes_; ++b)
      if (declared_[b] != 1) scratch_[b] = static_cast<std::byte>(poison());
    hidden_.clear();
    std::vector<Slice> own = std::move(slices_);
    slices_.clear();
    for (int s = 0; s < set_.stage_count; ++s) add(s, locations);
    std::swap(own, slices_);
    for (Slice& slice : own) {
      const auto touches = [&](const Slice& other) { return slice.overlaps(other); };
      if (slice.is_scratch || std::ranges::any_of(slices_, touches) || std::ranges::any_of(hidden_, touches)) continue;
      slice.before = copy(slice);
      put(slice, Bytes(slice.before.size(), StrictShadows::poison_of(slice.view.dtype, side_)));
      hidden_.push_back(std::move(slice));
    }
  }
  void check_scratch() {
    const auto any = [](std::int64_t) { return true; };
    for (std::size_t b = 0; b < bytes_; ++b)
      if (declared_[b] == 0) {
        if (scratch_[b] != static_cast<std::byte>(poison()) && fault_.empty())
          fault_ = strict_text({name_of(stage_), " writes scratch memory that it does not declare to write"});
        scratch_[b] = found_[b];
      }
    for (const Slice& slice : hidden_) {
      const Bytes poisons(slice.before.size(), StrictShadows::poison_of(slice.view.dtype, side_));
      if (difference(slice, poisons, any) >= 0 && fault_.empty())
        fault_ = strict_text({name_of(stage_), " writes an operand of ", name_of(slice.stage)});
      put(slice, slice.before);
    }
    std::vector<Bytes>& earlier = results_[static_cast<std::size_t>(stage_)];
    if (side_ == 0) earlier.clear();
    std::size_t output = 0;
    for (const Slice& slice : slices_) {
      if (!slice.is_output) {
        const auto writes = [&](const Slice& other) { return other.is_output && other.overlaps(slice); };
        if (const std::int64_t e = difference(slice, slice.before, any); e >= 0 && std::ranges::none_of(slices_, writes))
          fail(slice, e, "is written, and declared to be read only");
      } else if (slice.is_scratch) {
        if (side_ == 0) {
          earlier.push_back(copy(slice));
        } else if (const std::int64_t e = difference(slice, earlier[output++], any); e >= 0) {
          const bool is_kept = difference(slice, slice.before, [&](std::int64_t at) { return at == e; }) < 0;
          fail(slice, e,
               is_kept ? "is declared to be written, and is not" : "depends on elements that the op does not declare to read");
        }
      }
    }
  }

  // ---- promised to be elementwise

  /// Whether a round changes the values at a position.
  bool is_changed(std::int64_t e) const { return (e >> (round_ - 1) / 2 & 1) == (round_ - 1) % 2; }
  bool begin_round() {
    const auto is_result = [&](const Slice& slice) { return slice.is_output && slice.stage == stage_; };
    const auto y = std::ranges::find_if(slices_, is_result);
    if (y == slices_.end()) return false;
    const std::int64_t count = y->view.shape.nelms();
    const int rounds = count > 1 ? 2 * static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1))) : 0;
    if (round_ == 0) {
      for (Slice& slice : slices_) slice.after = copy(slice);
    } else if (const auto e = difference(*y, y->after, [&](std::int64_t at) { return !is_changed(at); }); e >= 0) {
      fail(*y, e, "depends on elements at other positions, and the op promises to be elementwise");
    }
    if (round_ == rounds || !fault_.empty()) {
      for (const Slice& slice : slices_) put(slice, slice.after);
      return false;
    }
    ++round_;
    for (const Slice& slice : slices_) put(slice, slice.before);
    for (const Slice& slice : slices_) {
      const auto disturbs = [&](const Slice& other) { return slice.overlaps(other) && !slice.is_same(other); };
      if (slice.is_output || slice.view.shape != y->view.shape || !slice.is_apart() || std::ranges::any_of(slices_, disturbs))
        continue;
      const auto size = static_cast<std::size_t>(size_of(slice.view.dtype));
      for_each(slice, [&](std::byte* at, std::int64_t e) {
        if (is_changed(e)) std::memcpy(at, &slice.before[static_cast<std::size_t>((e + 1) % count) * size], size);
      });
    }
    return true;
  }

  const StrictPlan& plan_;
  const Step& step_;
  const ComputeSet& set_;
  bool is_fused_ = false;
  std::size_t bytes_ = 0;  // of the scratch and its guard
  std::vector<std::vector<Bytes>> results_;  // by stage: its outputs in scratch, with the first poison
  // of a vertex
  FixedVector<std::int64_t, max_work_axes> extents_{};
  int side_ = 0;
  std::string fault_;
  // of the stage that runs
  int stage_ = 0, round_ = 0;
  bool is_elementwise_ = false;
  std::vector<Slice> slices_, hidden_;
  std::byte* scratch_ = nullptr;
  Bytes found_;  // what was in the scratch
  std::vector<char> declared_;  // by byte: 1: an input, 2: an output only
};

}  // namespace tilewright::internal
