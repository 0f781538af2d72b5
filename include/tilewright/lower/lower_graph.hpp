#pragma once
#include <span>
#include <utility>
#include <vector>

#include "tilewright/lower/compute_sets.hpp"
#include "tilewright/lower/dead_code.hpp"
#include "tilewright/lower/memory.hpp"
#include "tilewright/lower/partition.hpp"
#include "tilewright/ops/host.hpp"
#include "tilewright/ops/sum.hpp"
#include "tilewright/ops/unary.hpp"

namespace tilewright::detail {

/// Lowers one graph to a body: its live ops in traced order, views resolved, results in place where the input dies, and a
/// frame of memory by liveness. Called graphs must have been lowered before.
class GraphLowering {
 public:
  constexpr GraphLowering(const Ir& ir, const LiveCode& live, const std::vector<int>& body_of, const Target& target,
                          ComputeSets& compute_sets, Plan& plan, int graph)
      : live_(live), body_of_(body_of), target_(target), compute_sets_(compute_sets), plan_(plan), graph_(graph),
        record_(ir.record(graph)), values_(record_.tensors.size()) {}

  constexpr Body run() {
    for (std::size_t i = 0; i < record_.inputs.size(); ++i)
      values_[at(record_.inputs[i])] = new_value(spec(record_.inputs[i]), {Base::argument, static_cast<int>(i)});
    for (std::size_t n = 0; n < record_.nodes.size(); ++n)
      if (live_.nodes[at(graph_)][n] != 0) lower(record_.nodes[n]);
    for (std::size_t o = 0; graph_ != 0 && o < record_.outputs.size(); ++o)
      if (live_.outputs[at(graph_)][o] != 0) lower_output(o);
    reuse_dying_inputs();
    return place();
  }

 private:
  /// Memory that tensors share as views of it.
  struct Storage {
    TensorSpec whole{};
    Location location{};
    int reuses = -1;  ///< the storage whose memory it takes over
  };
  /// A tensor: a view of a storage.
  struct Value {
    int storage = -1;
    Layout layout{};
    TensorSpec spec{};
  };
  struct Operand {
    int storage;
    std::int64_t offset;
  };

  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  constexpr const TensorSpec& spec(int tensor) const { return record_.tensors[at(tensor)].spec; }
  constexpr int add_storage(const TensorSpec& whole, const Location& location = {}) {
    storages_.push_back({whole, location});
    return static_cast<int>(storages_.size()) - 1;
  }
  /// A dense value with a storage of its own: in the frame, or at the location.
  constexpr Value new_value(const TensorSpec& spec, const Location& location = {}) {
    return {add_storage(spec, location), dense_layout(spec.shape), spec};
  }
  static constexpr TensorSpec bytes(std::int64_t count) { return {{count}, uint8}; }
  /// Variables and constants get their storage when they are first used.
  constexpr Value& value(int tensor) {
    Value& known = values_[at(tensor)];
    if (known.storage >= 0) return known;
    const TensorRecord& info = record_.tensors[at(tensor)];
    Location location{Base::constant, 0, 0};
    if (info.kind == TensorKind::variable) location = {Base::variable, 0, plan_.variables[at(info.payload)].offset};
    else location.offset = plan_.constants[at(info.payload)].offset;
    return known = new_value(info.spec, location);
  }

  // ---- ops to steps ----

  constexpr void lower(const Node& node) {
    if (node.op == &op_info<HostLoad>) return lower_host_load(node);
    if (node.op == &op_info<HostStore>) return lower_host_store(node);
    if (node.called_graph >= 0) return lower_call(node);
    const OpInfo& op = *node.op;
    if (op.modifies >= 0) make_writable(node.inputs[at(op.modifies)]);
    std::vector<Value> operands;
    for (int input : node.inputs) operands.push_back(fit(value(input), op.any_layout));
    if (op.view) {
      const auto& [storage, layout, from] = operands[0];
      const TensorSpec& to = spec(node.outputs[0]);
      values_[at(node.outputs[0])] = {storage, op.view(from.shape, layout, to.shape, node.attributes), to};
      return;
    }
    for (int output : node.outputs) {
      Value& result = values_[at(output)];
      if (op.modifies >= 0 && output == node.outputs[0]) result = operands[at(op.modifies)];
      else result = new_value(spec(output));
      operands.push_back(result);
    }
    compute(op, node.attributes, operands, static_cast<int>(node.inputs.size()));
  }
  constexpr void lower_host_load(const Node& node) {
    const int stream = static_cast<int>(unpack<StreamAttributes>(node.attributes).stream);
    Value& result = values_[at(node.outputs[0])];
    result = new_value(spec(node.outputs[0]));
    copy(new_value(result.spec, {Base::stream, stream}), result);
    move_on(stream);
  }
  constexpr void lower_host_store(const Node& node) {
    const int stream = static_cast<int>(unpack<StreamAttributes>(node.attributes).stream);
    copy(value(node.inputs[0]), new_value(spec(node.inputs[0]), {Base::stream, stream}));
    move_on(stream);
  }
  /// The last step takes an element of the stream, or gives one.
  constexpr void move_on(int stream) {
    plan_.steps.back().stream = stream;
    plan_.streams[at(stream)].used = true;
  }
  constexpr void lower_call(const Node& node) {
    const int body = body_of_[at(node.called_graph)];
    std::vector<Operand> arguments;
    for (int input : node.inputs) {
      const Value given = fit(value(input), false);
      arguments.push_back({given.storage, given.layout.offset * size_of(given.spec.dtype)});
    }
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      Value& result = values_[at(node.outputs[o])];
      if (live_.outputs[at(node.called_graph)][o] == 0) {
        arguments.push_back({add_storage(bytes(0)), 0});
        continue;
      }
      result = new_value(spec(node.outputs[o]));
      arguments.push_back({result.storage, 0});
    }
    const int frame = add_storage(bytes(plan_.bodies[at(body)].frame_bytes));
    const int count = static_cast<int>(arguments.size());
    arguments.push_back({frame, 0});  // the last one is the frame, for place()
    add_step({.kind = StepKind::call, .target = body, .location_count = count}, arguments);
  }
  /// Outputs are written straight to the caller's memory where they have a block of their own; others are copied.
  constexpr void lower_output(std::size_t o) {
    const Value result = value(record_.outputs[o]);
    Storage& storage = storages_[at(result.storage)];
    const Location target{Base::argument, static_cast<int>(record_.inputs.size() + o)};
    if (storage.location.base == Base::frame && storage.whole.bytes() == result.spec.bytes() && result.layout.offset == 0 &&
        is_dense(result.spec.shape, result.layout))
      storage.location = target;
    else
      copy(result, new_value(result.spec, target));
  }
  /// Before an op works in place: memory that the graph may not write is copied, for all views of it.
  constexpr void make_writable(int tensor) {
    const int storage = value(tensor).storage;
    const Base base = storages_[at(storage)].location.base;
    if (base == Base::frame || base == Base::variable) return;
    const TensorSpec whole = storages_[at(storage)].whole;
    const Value fresh = new_value(whole);
    copy({storage, dense_layout(whole.shape), whole}, fresh);
    for (auto& other : values_)
      if (other.storage == storage) other.storage = fresh.storage;
  }
  /// The value, or a dense copy of it for ops that do not take views of any strides.
  constexpr Value fit(const Value& given, bool any_layout) {
    if (any_layout || is_dense(given.spec.shape, given.layout)) return given;
    const Value result = new_value(given.spec);
    copy(given, result);
    return result;
  }
  constexpr void copy(const Value& from, const Value& to) { compute(op_info<Identity>, {}, {from, to}, 1); }

  constexpr void compute(const OpInfo& op, const PackedAttributes& attributes, const std::vector<Value>& values, int inputs) {
    std::vector<TensorSpec> specs;
    for (const Value& v : values) specs.push_back(v.spec);
    const Work work = work_of(op, specs, inputs, attributes);
    const Partition cut = partition(work, specs[at(inputs)].dtype, target_);
    if (cut.partials == 1) return add_compute(op, attributes, values, inputs, cut, work);
    // partial results, then their sum
    TensorSpec partial = values.back().spec;
    if (partial.dtype == float16) partial.dtype = float32;
    std::vector<Value> first = values;
    const std::int64_t count = partial.nelms();
    const TensorSpec rows{{cut.partials, count}, partial.dtype}, row{{count}, values.back().spec.dtype};
    first.back() = {add_storage(rows), dense_layout(partial.shape), partial};
    add_compute(op, attributes, first, inputs, cut, work);
    const std::vector<Value> second{{first.back().storage, dense_layout(rows.shape), rows},
                                    {values.back().storage, dense_layout(row.shape), row}};
    const PackedAttributes sum = pack(ReduceSum::make(Axes(0), false));
    const TensorSpec sum_specs[] = {rows, row};
    Work sum_work = ReduceSum::work(sum_specs, 1, sum);
    sum_work.axes[0].kind = WorkAxisKind::whole;
    add_compute(op_info<ReduceSum>, sum, second, 1, partition(sum_work, row.dtype, target_), sum_work);
  }
  constexpr void add_compute(const OpInfo& op, const PackedAttributes& attributes, const std::vector<Value>& values, int inputs,
                             const Partition& cut, const Work& work) {
    ComputeSet set{op.tag, op.elementwise, attributes, inputs, {}, cut.blocks, cut.partials > 1};
    std::vector<Operand> operands;
    for (const Value& v : values) {
      set.operands.push_back({v.spec.dtype, v.spec.shape, v.layout.strides});
      operands.push_back({v.storage, v.layout.offset * size_of(v.spec.dtype)});
    }
    add_step({.kind = StepKind::compute,
              .target = compute_sets_.add(plan_.compute_sets, set, work),
              .location_count = static_cast<int>(operands.size()),
              .vertices = cut.vertices},
             operands);
  }
  constexpr void add_step(Step step, const std::vector<Operand>& operands) {
    step.first_location = static_cast<int>(operands_.size());
    operands_.insert(operands_.end(), operands.begin(), operands.end());
    if (steps_ == 0) first_step_ = static_cast<int>(plan_.steps.size());
    ++steps_;
    plan_.steps.push_back(step);
  }

  // ---- memory ----

  constexpr std::span<Step> steps() { return std::span(plan_.steps).subspan(at(first_step_), at(steps_)); }
  constexpr std::span<const Operand> operands(const Step& step) const {
    const int count = step.location_count + (step.kind == StepKind::call ? 1 : 0);
    return std::span(operands_).subspan(at(step.first_location), at(count));
  }
  /// The storage whose memory this one has in the end.
  constexpr int owner(int storage) const {
    while (storages_[at(storage)].reuses >= 0) storage = storages_[at(storage)].reuses;
    return storage;
  }
  constexpr bool in_frame(int storage) const { return storages_[at(storage)].location.base == Base::frame; }

  /// The result of an elementwise op takes over the memory of an input of the same layout that nobody reads later.
  constexpr void reuse_dying_inputs() {
    std::vector<int> first(storages_.size(), -1), last = first;
    for (int s = 0; s < steps_; ++s)
      for (const Operand& operand : operands(steps()[at(s)])) {
        if (first[at(operand.storage)] < 0) first[at(operand.storage)] = s;
        last[at(operand.storage)] = s;
      }
    for (int s = 0; s < steps_; ++s) {
      const Step& step = steps()[at(s)];
      if (step.kind != StepKind::compute) continue;
      const ComputeSet& set = plan_.compute_sets[at(step.target)];
      const auto used = operands(step);
      const int output = used.back().storage;
      if (!set.elementwise || !in_frame(output) || first[at(output)] != s) continue;
      for (int i = 0; i < set.input_count; ++i) {
        const int input = owner(used[at(i)].storage);
        if (!in_frame(input) || input == output || last[at(input)] != s || !same_elements(set, used, input)) continue;
        storages_[at(output)].reuses = input;
        last[at(input)] = last[at(output)];
        break;
      }
    }
  }
  /// Whether every operand that is in this storage is the whole of it and laid out as the result is.
  constexpr bool same_elements(const ComputeSet& set, std::span<const Operand> used, int storage) const {
    const ViewSpec& result = set.operands[set.input_count];
    if (storages_[at(storage)].whole.bytes() != result.shape.nelms() * size_of(result.dtype)) return false;
    for (int i = 0; i < set.input_count; ++i)
      if (owner(used[at(i)].storage) == storage && (used[at(i)].offset != 0 || set.operands[i] != result)) return false;
    return true;
  }

  /// Allocates the frame and gives all operands their locations.
  constexpr Body place() {
    Body body{.first_step = first_step_, .step_count = steps_};
    std::vector<int> block_of(storages_.size(), -1);
    std::vector<LiveBlock> blocks;
    for (int s = 0; s < steps_; ++s)
      for (const Operand& operand : operands(steps()[at(s)])) {
        const int storage = owner(operand.storage);
        if (!in_frame(storage)) continue;
        int& block = block_of[at(storage)];
        if (block < 0) {
          block = static_cast<int>(blocks.size());
          blocks.push_back({storages_[at(storage)].whole.bytes(), s, s});
        }
        blocks[at(block)].last = s;
      }
    body.frame_bytes = allocate(blocks, steps_);
    for (Step& step : steps()) {
      const auto used = operands(step);
      const auto located = [&](const Operand& operand) {
        const int storage = owner(operand.storage);
        Location location = storages_[at(storage)].location;
        if (in_frame(storage)) location.offset = blocks[at(block_of[at(storage)])].offset;
        location.offset += operand.offset;
        return location;
      };
      step.first_location = static_cast<int>(plan_.locations.size());
      for (int i = 0; i < step.location_count; ++i) plan_.locations.push_back(located(used[at(i)]));
      if (step.kind != StepKind::call) continue;
      step.frame_offset = located(used.back()).offset;
      body.max_arguments = std::max(body.max_arguments, step.location_count);
    }
    return body;
  }

  const LiveCode& live_;
  const std::vector<int>& body_of_;
  const Target& target_;
  ComputeSets& compute_sets_;
  Plan& plan_;
  int graph_;
  const GraphRecord& record_;
  std::vector<Value> values_;  // by tensor
  std::vector<Storage> storages_{};
  std::vector<Operand> operands_{};  // of the steps; their first_location points here until place()
  int first_step_ = 0;
  int steps_ = 0;
};

}  // namespace tilewright::detail
