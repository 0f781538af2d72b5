#pragma once
// takes: a draft whose groups are mapped to tiles, and Plan::moves of its steps
// gives: Plan::step_cycles of its steps
// keeps: all else
#include <cstdint>

#include "tilewright/lower/ipu/bank_steps.hpp"
#include "tilewright/lower/ipu/link_phases.hpp"
#include "tilewright/lower/ipu/operand_cut.hpp"
#include "tilewright/lower/ipu/product_vertex.hpp"
#include "tilewright/lower/ipu/tile_draft.hpp"
#include "tilewright/lower/ipu/transposed_operands.hpp"
#include "tilewright/lower/products/indexed_partition.hpp"
#include "tilewright/target/ipu_exchange_cycles.hpp"
#include "tilewright/target/ipu_link_cycles.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/target/vertex_cycles.hpp"

namespace tilewright::internal {

namespace detail {

class CycleCounter {
 public:
  constexpr CycleCounter(const TileDraft& draft, const Target& target)
      : draft_(draft), target_(target), sets_(target), model_(*target.ipu) {}

  constexpr CycleUse step(std::size_t g, const StepMoves& moves) const {
    CycleUse result;
    const Operation& first = draft_.operation(draft_.groups[g].members[0]);
    if (!first.is_call() && !first.op->collective_items) count_compute(g, result);
    for (const TileExchange* each : {&moves.before, &moves.after}) {
      if (each->is_empty()) continue;
      if (!is_far(moves)) {
        const CycleCount exchange = exchange_of(*each);
        result.exchange += exchange.cycles;
        result.assumed += exchange.assumed;
        add_sync(result);
      }
    }
    if (result.compute > 0) add_sync(result);
    for (const Member& member : draft_.groups[g].members)
      if (const Operation& operation = draft_.operation(member);
          moves.transposed_bytes > 0 && TransposedOperands::is_matrix_product(operation)) {
        add_transposition(operation, moves.transposed_bytes, result);
        break;
      }
    if (moves.local_bytes > 0) result.compute += copy_cycles(model_, moves.local_bytes);
    for (const std::int64_t bytes : {moves.host_in, moves.host_out}) {
      const CycleCount host = host_cycles(model_, {&bytes, 1});
      result.host += host.cycles;
      result.assumed += host.assumed;
    }
    return result;
  }

  /// Counts the links of copies between IPUs, whose other cycles are counted.
  constexpr void count_links(Plan& plan, std::size_t first) const {
    LinkPhases phases(model_, sets_.size(), sets_.ipus);
    for (std::size_t g = 0; g < draft_.groups.size(); ++g) {
      const StepMoves& moves = plan.moves[first + g];
      CycleUse& use = plan.step_cycles[first + g];
      if (is_far(moves)) {
        const CycleCount links = phases.copy(moves.before.total_bytes + moves.after.total_bytes, sets_.ipu(moves.from_set),
                                             sets_.ipu(moves.set), moves.from_set, moves.set, draft_.tiles.groups[g].operands);
        use.links = links.cycles;
        use.assumed += links.assumed;
        if (draft_.groups[g].members.size() == 1) continue;  // its vertices copy on the tiles that have received
      }
      phases.end(moves.set);
      if (moves.from_set >= 0) phases.end(moves.from_set);
    }
  }

 private:
  constexpr bool is_far(const StepMoves& moves) const {
    return moves.from_set >= 0 && sets_.ipu(moves.from_set) != sets_.ipu(moves.set);
  }
  constexpr void add_sync(CycleUse& result) const {
    const CycleCount sync = sync_cycles(model_);
    result.sync += sync.cycles;
    result.assumed += sync.assumed;
  }
  constexpr CycleCount exchange_of(const TileExchange& exchange) const {
    // what pairs get alike comes at twice the rate: as bytes at the single rate, half of it
    const std::int64_t in = exchange.bytes_in - exchange.pair_bytes_in + exchange.pair_bytes_in / model_.tiles_per_exchange_bus;
    return exchange_cycles(model_, tile_exchange_cycles(model_, {in, exchange.bytes_out, exchange.fragments + exchange.sends}));
  }
  /// Counts compute cycles. The vertices of one tile run in sequence, each on all workers. Ops of a vertex that are formulas are
  /// one loop.
  constexpr void count_compute(std::size_t g, CycleUse& result) const {
    const Group& group = draft_.groups[g];
    CycleCount cycles;
    const int arithmetic = find_arithmetic(draft_, group);  // a loop that also copies
    const Operation& last = draft_.operation(group.members[group.members.size() - 1]);
    FusedMap maps(last.operands.back().spec.dtype, model_);
    std::int64_t map_elements = 0;
    Confidence map_confidence = Confidence::published;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Member& member = group.members[m];
      const Operation& operation = draft_.operation(member);
      const std::int64_t elements = slice_elements(g, member, operation.input_count);
      if (arithmetic >= 0) {
        if (static_cast<int>(m) == arithmetic) cycles += vertex_of(g, member, elements);
      } else if (operation.op->work_kind == WorkKind::map && group.members.size() > 1) {
        maps.add(operation.op->vertex_cost);
        map_elements = (std::max)(map_elements, elements);
        if (is_guess(confidence_of(operation.op->vertex_cost, last.operands.back().spec.dtype)))
          map_confidence = Confidence::assumed;
      } else {
        cycles += vertex_of(g, member, elements);
      }
      result.flops += flops_of(operation);
    }
    if (maps.ops() > 0)
      cycles += CycleCount(maps.cycles(model_, map_elements, static_cast<int>(draft_.tiles.groups[g].operands.size())),
                           map_confidence);
    const std::int64_t of_tile = draft_.tiles.groups[g].grid.places.on_a_tile(sets_);
    result.compute += of_tile * cycles.cycles;
    result.assumed += of_tile * cycles.assumed;
  }
  /// Returns the elements of a full block of an operand.
  constexpr std::int64_t slice_elements(std::size_t g, const Member& member, int o) const {
    const Operation& operation = draft_.operation(member);
    const Value& value = operation.operands[o];
    return block_bytes(value, grid_axes_of(operation, member, o), draft_.cuts[g].partition.blocks) / size_of(value.spec.dtype);
  }

 public:
  /// Returns the cycles of one op of a vertex, of which `elements` is a full block of the result.
  constexpr CycleCount vertex_of(std::size_t g, const Member& member, std::int64_t elements) const {
    const Operation& operation = draft_.operation(member);
    const OpInfo& op = *operation.op;
    if (is_product_vertex(operation))
      return {product_vertex(draft_, target_, g, member).least_cycles(),
              confidence_of(op.vertex_cost, operation.operands[0].spec.dtype)};
    const TensorSpec& result = operation.operands[operation.input_count].spec;
    if (operation.input_count == 0) return vertex_cycles(op, result.dtype, elements, 1, model_);
    const TensorSpec& input = operation.operands[0].spec;
    const std::int64_t read = slice_elements(g, member, 0), last = input.shape.rank == 0 ? 1 : input.shape[-1];
    switch (op.vertex_cost.formula) {
      case CostFormula::reduction: return reduction_vertex(g, member, elements, read);
      case CostFormula::parts:
        return {reduction_stage_cycles(elements, ceil_divide(read, std::max<std::int64_t>(1, elements)), size_of(input.dtype),
                                       size_of(result.dtype)),
                confidence_of(op.vertex_cost, input.dtype)};
      case CostFormula::window: return window_vertex(g, member);
      case CostFormula::pairs: {
        const std::int64_t lines = input.shape[-2];
        return pair_cycles(op.vertex_cost, input.dtype, lines, operation.operands[1].spec.shape[-2], last, read / (lines * last),
                           dtype_of_parts(op, operation.attributes, result.dtype), model_);
      }
      case CostFormula::line: return vertex_cycles(op, input.dtype, read, (std::min)(last, read), model_);
      case CostFormula::slice:
      case CostFormula::gather:
      case CostFormula::scatter: {
        if (is_cut_by_index(operation)) return indexed_vertex(g, member);
        const std::int64_t moved = (std::min)(elements, read);
        return vertex_cycles(op, input.dtype, moved, (std::min)(last, moved), model_);
      }
      default: return vertex_cycles(op, result.dtype, elements, 1, model_);
    }
  }

 private:
  /// Returns the cycles of a reduction of `read` elements to `elements` results, by where the terms of a result are in a slice.
  constexpr CycleCount reduction_vertex(std::size_t g, const Member& member, std::int64_t elements, std::int64_t read) const {
    const Operation& operation = draft_.operation(member);
    const OpInfo& op = *operation.op;
    const TensorSpec& input = operation.operands[0].spec;
    const std::int64_t terms = ceil_divide(read, std::max<std::int64_t>(1, elements));
    const auto has_terms = [&](int axis) {  // whether a result has several elements along the input's axis
      const int of_work = operation.work.follows(0, axis);
      return of_work < 0 || !operation.work.has_follower(operation.input_count, of_work);
    };
    int innermost = input.shape.rank - 1;
    while (innermost > 0 && input.shape[innermost] == 1) --innermost;
    const bool lines = innermost >= 0 && has_terms(innermost);
    const GridAxes axes = grid_axes_of(operation, member, 0);
    std::int64_t run = 1;  // of the terms of a result that follow each other
    for (int axis = input.shape.rank; lines && axis-- > 0;) {
      if (!has_terms(axis)) break;
      const int cut = axes[axis];
      run *= cut < 0 ? input.shape[axis] : (std::min)(draft_.cuts[g].partition.blocks[cut], input.shape[axis]);
    }
    if (run <= 1 || run >= terms || elements <= 1)
      return vertex_cycles(op, input.dtype, elements, terms, model_, lines ? TermOrder::lines : TermOrder::rows);
    const LoopCost loop = loop_of(op.vertex_cost, input.dtype);
    return {
        reduce_runs_cycles(model_, input.dtype, elements, terms, run,
                           ceil_divide(loop.cycles * model_.vector_width(input.dtype), loop.elements), op.vertex_cost.vectors),
        confidence_of(op.vertex_cost, input.dtype)};
  }
  /// Returns the cycles of windows: a reduction where each is an image, as poplibs computes it, otherwise loops over rows.
  constexpr CycleCount window_vertex(std::size_t g, const Member& member) const {
    const Operation& operation = draft_.operation(member);
    const OpInfo& op = *operation.op;
    const TensorSpec &input = operation.operands[0].spec, &result = operation.operands[operation.input_count].spec;
    const auto rule = ipu_rules_of(op).window_form;
    const GridAxes axes = grid_axes_of(operation, member, operation.input_count);
    Shape block = result.shape;
    for (int axis = 0; axis < block.rank; ++axis)
      if (const int cut = axes[axis]; cut >= 0) block[axis] = (std::min)(block[axis], draft_.cuts[g].partition.blocks[cut]);
    if (!rule)
      return vertex_cycles(op, input.dtype, block.nelms(),
                           ceil_divide(input.shape.nelms(), std::max<std::int64_t>(1, result.shape.nelms())), model_);
    const Confidence confidence = confidence_of(op.vertex_cost, input.dtype);
    const WindowForm form = rule(operation.attributes);
    const std::int64_t images = result.shape[0] * result.shape[1];
    if (result.shape.nelms() == images && input.shape.nelms() == images * form.terms)
      return {model_.launch_cycles + reduce_lines_cycles(model_, input.dtype, block.nelms(), form.terms), confidence};
    const LoopCost loop = loop_of(op.vertex_cost, input.dtype);
    return {pool_cycles(model_, tilewright::detail::pool_vertex(form, loop, block.nelms() / (block[1] * block[-1]), block[-1],
                                                                block[1], model_.vector_width(input.dtype))),
            confidence};
  }
  /// Returns the cycles of a vertex of an indexed op, if all its indices are in its block of the table: only a run knows which
  /// are, and poplibs' simulator counts this case, too. For a sum, one worker then adds them all.
  constexpr CycleCount indexed_vertex(std::size_t g, const Member& member) const {
    const Operation& operation = draft_.operation(member);
    const IndexedRoles roles(operation);
    const std::int64_t row = roles.row_elements([&](int axis) {
      const int on_grid = member.grid_axis[axis];
      const std::int64_t extent = operation.work.axes[axis].extent;
      return on_grid < 0 ? extent : (std::min)(draft_.cuts[g].partition.blocks[on_grid], extent);
    });
    const std::int64_t rows = slice_elements(g, member, roles.rows());
    const TensorSpec& table = operation.operands[roles.table()].spec;
    CycleCount cycles = vertex_cycles(*operation.op, table.dtype, rows, row, model_);
    const int result = operation.input_count;  // which begins with zeros, unless each of its rows is written or changed
    if (operation.op->modifies < 0 && (operation.op->vertex_cost.formula == CostFormula::scatter || operation.partial))
      cycles += CycleCount(fill_cycles(model_, operation.operands[result].spec.dtype, slice_elements(g, member, result)));
    return cycles;
  }

 public:
  /// Adds the transposition of a product's operands: an exchange of blocks, and a compute set.
  constexpr void add_transposition(const Operation& product, std::int64_t bytes, CycleUse& result) const {
    const CycleCount exchange = exchange_cycles(
        model_, tile_exchange_cycles(model_, {.in = bytes, .out = bytes, .fragments = bytes / transposed_block_bytes}));
    result.exchange += exchange.cycles;
    result.assumed += exchange.assumed;
    result.compute += transpose_cycles(size_of(product.operands[0].spec.dtype), bytes);
    add_sync(result);
    add_sync(result);
  }
  /// Returns the operations of a product: a multiplication and an addition for each element of the iteration space.
  constexpr std::int64_t flops_of(const Operation& operation) const {
    if (const VertexCost& cost = operation.op->vertex_cost; cost.formula == CostFormula::pairs)
      return 2 * cost.passes * operation.operands[0].spec.nelms() * operation.operands[1].spec.shape[-2];
    const WorkKind kind = operation.op->work_kind;
    if ((kind != WorkKind::product && kind != WorkKind::convolution) || operation.input_count != 2 ||
        operation.operands.size() != 3)
      return 0;
    return 2 * problem_of(operation, float32, target_).macs();
  }

 private:
  const TileDraft& draft_;
  const Target& target_;
  TileSets sets_;
  const IpuModel& model_;
};

}  // namespace detail

/// Adds to the plan the cycles of each step of a body, except those of streaming memory and collectives.
constexpr void count_step_cycles(const TileDraft& draft, const Target& target, Plan& plan) {
  const std::size_t first = plan.moves.size() - draft.groups.size();
  const detail::CycleCounter counter(draft, target);
  make_room(plan.step_cycles, draft.groups.size());
  for (std::size_t g = 0; g < draft.groups.size(); ++g) plan.step_cycles.push_back(counter.step(g, plan.moves[first + g]));
  if (target.ipus > 1) counter.count_links(plan, first);
}

}  // namespace tilewright::internal
