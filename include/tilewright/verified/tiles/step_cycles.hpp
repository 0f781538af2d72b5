#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/lower/ipu/step_cycles.hpp"
#include "tilewright/rules/ipu/sum_of_products.hpp"
#include "tilewright/verified/code_bytes.hpp"
#include "tilewright/verified/tiles/footprints.hpp"
#include "tilewright/verified/tiles/run_cycles.hpp"
#include "tilewright/verified/tiles/traffic.hpp"

namespace tilewright::internal::proof::detail {

/// Counts the cycles of each step again, and compares each figure with the plan's. Compute cycles are those of all vertices on
/// the tile with most of them; the formula of each op is the planner's. Other figures follow from what the step moves, which
/// other checks have compared with their own counts.
template <class AnyPlan>
class StepCyclesProof {
 public:
  /// `code`: has counted the code that each load brings.
  constexpr StepCyclesProof(const AnyPlan& plan, const Target& target, const DataOnTiles& data, ValueTerms& terms,
                            const CodeProof<AnyPlan>& code, FirstFault& fault)
      : plan_(plan),
        target_(target),
        model_(*target.ipu),
        sets_{plan, target},
        data_(data),
        terms_(terms),
        code_(code),
        fault_(fault) {}

  constexpr void run() {
    if (!fault_.expect(plan_.step_cycles.size() == plan_.steps.size() && plan_.moves.size() == plan_.steps.size(), "cycles",
                       BodyId::none, -1, "cycles of ", plan_.step_cycles.size(), " steps: ", plan_.steps.size(), " expected"))
      return;
    banks_.assign(plan_.steps.size(), nullptr);
    for (const BankStep& each : data_.bank_steps)
      for (const BodyOnTiles& body : data_.bodies)
        if (body.body == each.body && each.group >= 0 && static_cast<std::size_t>(each.group) < body.steps.size())
          banks_[number(each.body, each.group)] = &each;
    vertices_.resize(plan_.compute_sets.size());
    for (const BodyOnTiles& body : data_.bodies) {
      phases_.end(-1);
      for (int s = 0; s < static_cast<int>(body.steps.size()) && !fault_.is_found(); ++s) check_step(body, s);
    }
  }

 private:
  /// A vertex of a compute set, with operands that are all in the same bank.
  struct Vertex {
    int tensors = -1;  ///< operands on tiles; -1: it is not counted yet
    unsigned of_parts = 0;  ///< bits of its sums that add the parts of a product
    CycleCount cycles{};
    std::int64_t flops = 0;  ///< of all vertices
    bool has_banks = false;  ///< whether it has one product, whose sums are not only in registers: its operands are in banks
  };

  constexpr std::size_t number(BodyId body, int step) const {
    return static_cast<std::size_t>(plan_.bodies.data()[static_cast<std::size_t>(body)].first_step + step);
  }
  constexpr bool expect(bool holds, const auto&... what) { return fault_.expect(holds, "cycles", body_, step_, what...); }
  /// Returns whether all ops of a step are known, and its tiles. Ops of a step to which no run comes may not be.
  constexpr bool can_count(const StepRecord& record, std::size_t at) const {
    const Step& step = plan_.steps[at];
    const auto sets = static_cast<int>(plan_.tile_sets.size());
    if (plan_.moves[at].set >= sets || plan_.moves[at].from_set >= sets) return false;
    if (step.kind != StepKind::compute) return true;
    if (!sets_.has(record.grid.places.set)) return false;
    const ComputeSet& set = plan_.compute_sets[static_cast<std::size_t>(step.compute_set)];
    const SetStages stages(plan_, set);
    for (int s = 0; s < set.stage_count; ++s)
      if (stages.op(s, terms_) == nullptr) return false;
    return true;
  }
  constexpr void check_step(const BodyOnTiles& body, int s) {
    const std::size_t at = number(body.body, s);
    body_ = body.body, step_ = s;
    const StepRecord& record = body.steps[static_cast<std::size_t>(s)];
    const std::int64_t remote = remote_cycles(plan_.steps[at], static_cast<int>(at));
    if (!can_count(record, at)) return;
    const CycleUse& counted = plan_.step_cycles[at];
    CycleUse expected = cycles_of(record, at);
    if (counted.compute != expected.compute && plan_.steps[at].kind == StepKind::compute)
      count_sums_of_parts(record, plan_.steps[at], counted.compute, expected);
    expected.remote = remote;
    for (const CycleFigure& figure : cycle_figures)
      expect(counted.*figure.of == expected.*figure.of, "counts ", counted.*figure.of, " in `", figure.name,
             "`: ", expected.*figure.of, " expected");
    expect(counted.waiting == 0, "counts ", counted.waiting, " in `waiting`: 0 expected");
  }
  /// Counts sums of a step that add the parts of a product, if the plan counts them so. Who made the parts is not followed.
  constexpr void count_sums_of_parts(const StepRecord& record, const Step& step, std::int64_t counted, CycleUse& expected) {
    const auto tensors = static_cast<int>(record.tile_operands.size());
    const std::int64_t of_tile = sets_.on_a_tile(record.grid.places);
    const CycleCount other = vertex_of(step.compute_set, tensors).cycles;
    const SetStages stages(plan_, plan_.compute_sets[static_cast<std::size_t>(step.compute_set)]);
    int sums = 0;
    for (int s = 0; s < stages.count(); ++s) sums += stages[s].op == op_info<ReduceSum>.tag ? 1 : 0;
    for (unsigned of_parts = 1; of_parts < 1u << (std::min)(sums, 4); ++of_parts) {
      const CycleCount more = of_tile * (vertex_of(step.compute_set, tensors, of_parts).cycles + -1 * other);
      if (expected.compute + more.cycles != counted) continue;
      expected.compute += more.cycles;
      expected.assumed += more.assumed;
      return;
    }
  }
  /// Returns the cycles of a step, without streaming memory.
  constexpr CycleUse cycles_of(const StepRecord& record, std::size_t at) {
    const Step& step = plan_.steps[at];
    const StepMoves& moves = plan_.moves[at];
    CycleUse use;
    const auto add = [&](std::int64_t CycleUse::* figure, const CycleCount& count) {
      use.*figure += count.cycles;
      use.assumed += count.assumed;
    };
    if (step.kind == StepKind::collective && plan_.replicas > 1)
      use.collectives = plan_.compute_sets[static_cast<std::size_t>(step.compute_set)].traffic.cycles;
    if (step.kind == StepKind::compute) {
      const Vertex& vertex = vertex_of(step.compute_set, static_cast<int>(record.tile_operands.size()));
      const std::int64_t of_tile = sets_.on_a_tile(record.grid.places);
      use.flops = vertex.flops;
      add(&CycleUse::compute, of_tile * vertex.cycles);
      if (use.compute > 0) add(&CycleUse::sync, sync_cycles(model_));
      expect(banks_[at] != nullptr || !vertex.has_banks, "a product whose operands are in no banks: their banks expected");
      if (banks_[at] != nullptr) add(&CycleUse::compute, of_tile * cycles_of_banks(*banks_[at], record, step.compute_set));
    }
    const int to = moves.set < 0 ? 0 : sets_.ipu(moves.set), from = moves.from_set < 0 ? to : sets_.ipu(moves.from_set);
    if (from != to)
      add(&CycleUse::links, phases_.copy(moves.before.total_bytes + moves.after.total_bytes, from, to, moves.from_set, moves.set,
                                         record.tile_operands));
    for (const TileExchange* const moved : {&moves.before, &moves.after}) {
      if (moved->total_bytes == 0 || from != to) continue;
      // what both tiles of a pair receive comes at the rate of both
      const std::int64_t in = moved->bytes_in - moved->pair_bytes_in + moved->pair_bytes_in / model_.tiles_per_exchange_bus;
      add(&CycleUse::exchange,
          exchange_cycles(model_, tile_exchange_cycles(model_, {in, moved->bytes_out, moved->fragments + moved->sends})));
      add(&CycleUse::sync, sync_cycles(model_));
    }
    // the vertices of a copy between IPUs copy on the tiles that have received
    if (from == to || plan_.compute_sets[static_cast<std::size_t>(step.compute_set)].stage_count > 1) {
      phases_.end(moves.set);
      if (moves.from_set >= 0) phases_.end(moves.from_set);
    }
    if (moves.transposed_bytes > 0) add_transposition(step, moves.transposed_bytes, use);
    if (moves.local_bytes > 0) add(&CycleUse::compute, copy_cycles(model_, moves.local_bytes));
    for (const std::int64_t bytes : {moves.host_in, moves.host_out}) add(&CycleUse::host, host_cycles(model_, {&bytes, 1}));
    return use;
  }
  /// Adds the transposition of a product's operands, of which the plan states the bytes.
  constexpr void add_transposition(const Step& step, std::int64_t bytes, CycleUse& use) {
    if (step.kind == StepKind::compute) {
      load(step.compute_set);
      for (const Operation& each : draft_.operations)
        if (TransposedOperands::is_matrix_product(each))
          return internal::detail::CycleCounter(draft_, target_).add_transposition(each, bytes, use);
    }
    expect(false, "transposed operands of a step without a product: none expected");
  }
  /// Returns the cycles of a vertex. Ops that are formulas are one loop over its elements. `of_parts`: bits of the sums, in their
  /// order, that add the parts of a product.
  constexpr const Vertex& vertex_of(int number_of_set, int tensors, unsigned of_parts = 0) {
    Vertex& vertex = vertices_[static_cast<std::size_t>(number_of_set)];
    if (vertex.tensors == tensors && vertex.of_parts == of_parts) return vertex;
    load(number_of_set);
    unsigned sum = 1;
    for (Operation& each : draft_.operations) {
      if (each.op != &op_info<ReduceSum>) continue;
      if ((of_parts & sum) != 0) each.op = &internal::detail::sum_of_products;
      sum *= 2;
    }
    vertex = {.tensors = tensors, .of_parts = of_parts};
    const internal::detail::CycleCounter formulas(draft_, target_);
    const Group& group = draft_.groups[0];
    const int arithmetic = find_arithmetic(draft_, group);
    const DType dtype = draft_.operation(group.members.back()).operands.back().spec.dtype;
    FusedMap loop(dtype, model_);
    std::int64_t in_loop = 0;
    bool is_assumed = false;
    int products = 0, in_registers = 0;
    const SetStages stages(plan_, plan_.compute_sets[static_cast<std::size_t>(number_of_set)]);
    for (int m = 0; m < static_cast<int>(group.members.size()); ++m) {
      const Member& member = group.members[static_cast<std::size_t>(m)];
      const Operation& operation = draft_.operation(member);
      const Value& result = operation.operands[static_cast<std::size_t>(operation.input_count)];
      const std::int64_t elements = block_bytes(result, grid_axes_of(operation, member, operation.input_count),
                                                draft_.cuts[0].partition.blocks) /
                                    size_of(result.spec.dtype);
      vertex.flops += formulas.flops_of(operation);
      if (is_product_vertex(operation))
        ++products, in_registers += stages.operand(m, operation.input_count).source == Source::value ? 1 : 0;
      if (arithmetic >= 0 && m != arithmetic) continue;  // copies, in the loop of the arithmetic
      const VertexCost& cost = operation.op->vertex_cost;
      if (arithmetic >= 0 || operation.op->work_kind != WorkKind::map || group.members.size() == 1) {
        vertex.cycles += formulas.vertex_of(0, member, elements);
        continue;
      }
      loop.add(cost);
      in_loop = (std::max)(in_loop, elements);
      is_assumed = is_assumed || is_guess(confidence_of(cost, dtype));
    }
    vertex.has_banks = products == 1 && in_registers == 0;
    if (loop.ops() > 0)
      vertex.cycles += CycleCount(loop.cycles(model_, in_loop, tensors),
                                  is_assumed ? Confidence::assumed : Confidence::published);
    return vertex;
  }
  /// Makes a draft of a compute set, for the formulas of its ops.
  constexpr void load(int number_of_set) {
    const ComputeSet& set = plan_.compute_sets[static_cast<std::size_t>(number_of_set)];
    const SetStages stages(plan_, set);
    const Division division(plan_, set);
    draft_.operations.clear();
    Group group;
    for (int s = 0; s < set.stage_count; ++s) {
      Operation operation{.op = stages.op(s, terms_), .attributes = stages[s].attributes, .input_count = stages[s].input_count};
      for (int o = 0; o < stages[s].operand_count; ++o) {
        const ViewSpec& view = stages.operand(s, o).view;
        operation.operands.push_back({StorageId::none, {0, view.strides}, {view.shape, view.dtype}});
      }
      operation.work = internal::detail::work_of(operation);
      operation.partial = division.parts(stages.operand(s, operation.input_count)) > 1;
      Member member{.operation = s, .grid_axis = {.count = operation.work.axes.size()}};
      for (int axis = 0; axis < member.grid_axis.size(); ++axis) member.grid_axis[axis] = -1;
      for (int o = 0; o < stages[s].operand_count; ++o)
        for (int axis = 0; axis < stages.operand(s, o).view.shape.rank; ++axis)
          if (const int to = operation.work.follows(o, axis); to >= 0 && stages.operand(s, o).grid_axis[axis] >= 0)
            member.grid_axis[to] = stages.operand(s, o).grid_axis[axis];
      draft_.operations.push_back(std::move(operation));
      group.members.push_back(member);
    }
    draft_.groups.clear(), draft_.cuts.clear();
    draft_.groups.push_back(std::move(group));
    draft_.cuts.push_back({.partition = {.blocks = set.blocks}});
  }
  /// Returns by how much the banks of its operands change the cycles of a vertex: of a product, whose operands are in the best
  /// ones otherwise, how much longer it takes is assumed.
  constexpr CycleCount cycles_of_banks(const BankStep& step, const StepRecord& record, int number_of_set) {
    if (step.banks == OperandBanks::any) {
      expect(plan_.tile_sets[static_cast<std::size_t>(record.grid.places.set)].data_bytes() > memory_of_tile(target_),
             "operands in no banks, though all data have room on a tile: their banks expected");
      return {};
    }
    load(number_of_set);
    const Group& group = draft_.groups[0];
    if (step.use == BankUse::elements) {
      const int arithmetic = find_arithmetic(draft_, group);
      if (!expect(
              arithmetic >= 0 && step.x.operand >= 0 && static_cast<std::size_t>(step.x.operand) < record.tile_operands.size(),
              "banks of the operands of a sum, which the step does not compute: none expected"))
        return {};
      const Operation& operation = draft_.operation(group.members[static_cast<std::size_t>(arithmetic)]);
      const std::int64_t elements = record.tile_operands[static_cast<std::size_t>(step.x.operand)].slice_elements;
      const auto in = [&](OperandBanks banks) {
        return vertex_cycles(*operation.op, operation.operands[0].spec.dtype, elements, 1, model_, TermOrder::rows, banks);
      };
      return in(step.banks) + -1 * in(OperandBanks::same);
    }
    for (const Member& member : group.members) {
      if (!is_product_vertex(draft_.operation(member))) continue;
      const ProductVertex product = product_vertex(draft_, target_, 0, member);
      const std::int64_t best = (std::min)(product.unit_cycles(OperandBanks::interleaved),
                                           product.dot_cycles(OperandBanks::different));
      return {(step.use == BankUse::terms ? product.dot_cycles(step.banks) : product.unit_cycles(step.banks)) - best,
              Confidence::assumed};
    }
    return {};
  }
  /// Returns the cycles of rows and code that move together with those of a step, if it is the last one of them.
  constexpr std::int64_t remote_cycles(const Step& step, int at) {
    if (step.kind == StepKind::load_code) {
      if (model_.streaming_memory.bytes_per_second != 0) together_.push_back(code_.of_load(step.body));
    } else if (!step.is_call()) {
      for_each_row(plan_, step, [&](std::int64_t bytes, bool) { together_.push_back(bytes); });
    }
    if (together_.empty()) return 0;
    for (const PlannedExchange& exchange : plan_.exchanges)
      if (exchange.first_step <= at && at < exchange.last_step()) return 0;
    const std::int64_t cycles = model_.streaming_memory.cycles({together_.data(), together_.size()}, target_.clock_hz());
    together_.clear();
    return cycles;
  }

  const AnyPlan& plan_;
  const Target& target_;
  const IpuModel& model_;
  SetsOfTiles<AnyPlan> sets_;
  const DataOnTiles& data_;
  ValueTerms& terms_;
  const CodeProof<AnyPlan>& code_;
  FirstFault& fault_;
  BodyId body_ = BodyId::none;
  int step_ = 0;  // of the body
  List<const BankStep*> banks_{};  // by step of the plan: its operands in banks, or null
  List<Vertex> vertices_{};  // by compute set
  LinkPhases phases_{model_, static_cast<int>(plan_.tile_sets.size()), target_.ipus};
  List<std::int64_t> together_{};  // bytes of transfers of the steps before that share an exchange with the next one
  TileDraft draft_{};  // of a compute set, in one group
};

}  // namespace tilewright::internal::proof::detail
