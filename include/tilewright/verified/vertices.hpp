#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/core/text.hpp"
#include "tilewright/graph/op_info/layout.hpp"
#include "tilewright/verified/set_stages.hpp"
#include "tilewright/verified/tiles/footprints.hpp"

namespace tilewright::internal::proof::detail {

/// Checks how a compute set divides its stages among vertices: that each vertex gets the blocks that belong together, and that
/// blocks are where the whole operand has them. `run` returns what is wrong, or an empty text.
class SetCheck {
 public:
  constexpr SetCheck(const auto& plan, const ComputeSet& set, ValueTerms& terms)
      : set_(set), stages_(plan, set), division_(plan, set), terms_(terms) {}

  constexpr Text run() {
    for (int axis = 0; axis < set_.blocks.size(); ++axis)
      if (set_.blocks[axis] < 1 || set_.extents[axis] < 1)
        return text("blocks of ", set_.blocks[axis], " along an axis of ", set_.extents[axis], ": 1 or more expected");
    for (int s = 0; s < set_.stage_count && problem_.empty(); ++s) check_stage(s);
    if (problem_.empty()) check_scratch();
    return problem_;
  }

 private:
  constexpr const StageOperand& operand(int s, int o) const { return stages_.operand(s, o); }
  constexpr void fail(int s, int o, const auto&... what) {
    if (problem_.empty()) problem_ = text("operand ", o, " of stage ", s, " (", stages_[s].name, ") ", what...);
  }
  constexpr void check_stage(int s) {
    const Stage& stage = stages_[s];
    for (int o = 0; o < stage.operand_count && problem_.empty(); ++o) {
      const StageOperand& each = operand(s, o);
      for (int axis = 0; axis < each.view.shape.rank; ++axis) {
        if (each.grid_axis[axis] < -1 || each.grid_axis[axis] >= set_.blocks.size())
          return fail(s, o, "follows axis ", int{each.grid_axis[axis]}, " of the grid: an axis of the grid expected");
        if (const int cut = division_.cut(each, axis); cut >= 0 && each.view.shape[axis] != set_.extents[cut])
          return fail(s, o, "has extent ", each.view.shape[axis], " along an axis that is divided: ", set_.extents[cut],
                      " expected");
      }
      if (each.source == Source::memory) check_memory(s, o, each);
      else check_passed(s, o, each);
    }
    if (problem_.empty()) check_layouts(s);
    if (problem_.empty()) check_work(s);
    if (problem_.empty() && stage.parts != SumParts::apart) check_parts(s);
  }
  /// Checks the operands of a collective, whose kernel takes their elements as they lie.
  constexpr void check_layouts(int s) {
    const OpInfo* const op = stages_.op(s, terms_);
    if (op == nullptr || op->collective_items == nullptr) return;
    for (int o = 0; o < stages_[s].operand_count; ++o)
      if (const ViewSpec& view = operand(s, o).view; !is_dense(view.shape, {0, view.strides}))
        return fail(s, o, "is not dense: a dense tensor expected");
  }
  constexpr void check_memory(int s, int o, const StageOperand& each) {
    if (each.index < 0 || each.index >= set_.location_count)
      return fail(s, o, "is at location ", each.index, ": a location from 0 to ", set_.location_count - 1, " expected");
    List<std::pair<std::int64_t, std::int64_t>> parts;  // strides and counts of partial results
    for (int axis = 0; axis < set_.blocks.size(); ++axis) {
      if (division_.count(axis) == 1) continue;
      const std::int64_t stride = division_.stride(each.index, axis);
      if (division_.follows(each, axis)) {
        if (const std::int64_t expected = division_.expected_stride(each, axis, each.view.strides); stride != expected)
          return fail(s, o, "moves by ", stride, " bytes from block to block: ", expected, " expected");
      } else if (o < stages_[s].input_count) {
        if (stride != 0) return fail(s, o, "moves by ", stride, " bytes along an axis that it does not follow: 0 expected");
      } else if (stride == 0) {
        return fail(s, o, "is written by several vertices: a part for each vertex expected");
      } else {
        parts.push_back({stride, division_.count(axis)});
      }
    }
    sort_items(parts, [](const auto& a, const auto& b) { return a.first < b.first; });
    if (!parts.empty() && !is_dense(each.view.shape, {0, each.view.strides}))
      return fail(s, o, "has parts that are not dense: dense ones expected");
    std::int64_t bytes = each.view.shape.nelms() * size_of(each.view.dtype);
    for (const auto& [stride, count] : parts) {
      if (stride != bytes) return fail(s, o, "has parts ", stride, " bytes apart: ", bytes, " expected");
      bytes *= count;
    }
  }
  /// Checks an operand that a vertex passes on: it reads the block that it wrote, in the same order.
  constexpr void check_passed(int s, int o, const StageOperand& each) {
    const bool is_output = o >= stages_[s].input_count;
    const int maker = maker_of(s, o, each);
    if (maker < 0) {
      if (!is_output) fail(s, o, "is read in ", name_of(each.source), " ", each.index, ", which no earlier stage writes");
      return;
    }
    const StageOperand& made = operand(maker, made_operand_);
    if (made.view.shape.nelms() != each.view.shape.nelms() || made.view.dtype != each.view.dtype)
      return fail(s, o, "has another size or dtype than stage ", maker, " writes: equal ones expected");
    const auto of_maker = dense_strides(made.view.shape), own = dense_strides(each.view.shape);
    for (int axis = 0; axis < set_.blocks.size(); ++axis)
      if (division_.count(axis) > 1 &&
          division_.expected_stride(made, axis, of_maker) != division_.expected_stride(each, axis, own))
        return fail(s, o, "is divided otherwise than stage ", maker, " writes it: equal blocks expected");
  }
  /// Returns the last stage before `s` that writes what an operand reads, or -1; sets made_operand_.
  constexpr int maker_of(int s, int o, const StageOperand& each) {
    if (each.source == Source::value) {
      if (o >= stages_[s].input_count || each.index < 0 || each.index >= s) return -1;
      made_operand_ = stages_[each.index].input_count;
      return each.index;
    }
    for (int m = s; m-- > 0;)
      for (made_operand_ = stages_[m].input_count; made_operand_ < stages_[m].operand_count; ++made_operand_)
        if (const StageOperand& made = operand(m, made_operand_); made.source == Source::scratch && made.index == each.index)
          return m;
    return -1;
  }
  /// Checks that blocks belong together: axes of operands that follow one axis of the op's work follow one axis of the grid.
  constexpr void check_work(int s) {
    const Stage& stage = stages_[s];
    const OpInfo* const op = terms_.find_op(stage.op);
    if (op == nullptr || op->work == nullptr || division_.vertices() == 1) return;
    List<TensorSpec> specs;
    for (int o = 0; o < stage.operand_count; ++o) specs.push_back({operand(s, o).view.shape, operand(s, o).view.dtype});
    const Work work = work_of(*op, {specs.data(), specs.size()}, stage.input_count, stage.attributes);
    int grid_axis[max_work_axes];
    for (int& each : grid_axis) each = -2;  // not known yet
    for (int o = 0; o < (std::min)(stage.operand_count, max_operands); ++o)
      for (int axis = 0; axis < specs[static_cast<std::size_t>(o)].shape.rank; ++axis) {
        const int followed = work.follows(o, axis), cut = division_.cut(operand(s, o), axis);
        if (followed < 0 || followed >= work.axes.size()) {
          if (cut >= 0) return fail(s, o, "is divided along axis ", axis, ", of which the op needs all: one block expected");
          continue;
        }
        int& known = grid_axis[followed];
        if (known == -2) known = cut;
        if (known != cut) return fail(s, o, "is not divided along axis ", axis, " as other operands are: equal blocks expected");
        if (cut >= 0 && work.axes[followed].kind == WorkAxisKind::whole)
          return fail(s, o, "is divided along axis ", axis, ", of which the op needs all: one block expected");
      }
  }
  /// Most parts of a sum that one worker may add up one by one: a sum of more terms has several chains (kernel/reduce/sum.hpp).
  static constexpr std::int64_t most_added_parts = 15;

  /// Checks parts of sums that one worker adds up in the memory of the first part, and the sum that then reads this part only.
  /// Both must be float32 and more than one element, so that the parts are added one by one, in their order.
  constexpr void check_parts(int s) {
    const Stage& stage = stages_[s];
    const bool makes = stage.parts == SumParts::made;
    const int o = makes ? stage.input_count : 0;
    if (stage.evaluation != Evaluation::kernel || stage.can_fault ||
        (makes ? stage.operand_count - stage.input_count : stage.input_count) != 1)
      return fail(s, o, "has parts of sums, which this stage cannot add: a kernel with one such operand expected");
    const StageOperand& parts = operand(s, o);
    if (parts.source != Source::memory || parts.view.dtype != float32)
      return fail(s, o, "has parts of sums that are added in memory: float32 in memory expected");
    if (!makes) {
      if (parts.view.shape.rank == 0 || division_.cut(parts, 0) >= 0)
        fail(s, o, "has parts of sums, of which a vertex does not read all: all expected");
      return;
    }
    const OpInfo* const op = terms_.find_op(stage.op);
    if (op && (!op->has_epilogue || op->partials || !host_rules_of(*op).runs_epilogues(stage.attributes)))
      return fail(s, o, "has parts of sums, which this op does not add: an op that does expected");
    for (int later = s + 1; later < set_.stage_count && stages_[later].evaluation != Evaluation::kernel; ++later)
      if (stages_[later].evaluation == Evaluation::epilogue)
        return fail(s, o, "has parts of sums, and stage ", later, " in its epilogue: no epilogue expected");
    int axis = set_.blocks.size() - 1;  // along which the kernel counts parts
    while (axis >= 0 && (division_.follows(parts, axis) || division_.stride(parts.index, axis) == 0)) --axis;
    const std::int64_t count = axis < 0 ? 1 : division_.count(axis);
    if (count < 2 || count > most_added_parts || count != division_.parts(parts) || parts.view.shape.nelms() < 2)
      fail(s, o, "has ", division_.parts(parts), " parts of ", parts.view.shape.nelms(), " sums, ", count,
           " of them along one axis: 2 to ", most_added_parts, " parts of at least 2 sums along one axis expected");
  }
  /// Checks that blocks in a vertex's scratch lie in it and do not overlap, and that no kernel stores over a block that it reads.
  constexpr void check_scratch() {
    struct Block {
      std::int64_t begin, end;
      int stage, operand;
    };
    List<Block> blocks;
    const auto is_output = [&](const Block& block) { return block.operand >= stages_[block.stage].input_count; };
    const auto is_late = [&](const Block& read, const Block& written) {
      return !is_output(read) && is_output(written) && stages_.kernel_of(read.stage) == stages_.kernel_of(written.stage) &&
             !stages_.reads_in_place(read.stage, read.operand, written.stage, written.operand, terms_);
    };
    // a stage that reads rows stores its own while other stages of the kernel store theirs
    const auto share_rows = [&](const Block& a, const Block& b) {
      return is_output(a) && is_output(b) && a.stage != b.stage && stages_.kernel_of(a.stage) == stages_.kernel_of(b.stage) &&
             (stages_.reads_rows(a.stage, terms_) || stages_.reads_rows(b.stage, terms_));
    };
    const auto share_images = [&](const Block& a, const Block& b) {
      const bool by_image = operand(a.stage, a.operand).by_image;
      return by_image == operand(b.stage, b.operand).by_image &&
             (!by_image || stages_.kernel_of(a.stage) == stages_.kernel_of(b.stage));
    };
    for (int s = 0; s < set_.stage_count; ++s)
      for (int o = 0; o < stages_[s].operand_count; ++o) {
        const StageOperand& each = operand(s, o);
        if (each.source != Source::scratch) continue;
        ViewSpec slice = slice_of(each, set_.blocks);
        if (each.by_image) slice.shape[0] = 1;
        const Block block{each.index, each.index + slice.shape.nelms() * size_of(slice.dtype), s, o};
        if (block.begin < 0 || block.end > set_.scratch_bytes)
          return fail(s, o, "has bytes ", block.begin, " to ", block.end, " of ", set_.scratch_bytes,
                      " bytes of scratch: a place in them expected");
        for (const Block& other : blocks) {
          if (block.begin != other.begin && block.begin < other.end && other.begin < block.end)
            return fail(s, o, "shares bytes of scratch with another block: separate bytes expected");
          if (block.begin == other.begin && (is_late(block, other) || is_late(other, block) || share_rows(block, other)))
            return fail(s, o, "is in scratch that its kernel still reads or writes: separate bytes expected");
          if (block.begin == other.begin && !share_images(block, other))
            return fail(s, o, "is in scratch for one image at a time, which another kernel uses: all images expected");
        }
        blocks.push_back(block);
      }
  }

  const ComputeSet& set_;
  SetStages stages_;
  Division division_;
  ValueTerms& terms_;
  int made_operand_ = 0;
  Text problem_{};
};

}  // namespace tilewright::internal::proof::detail
