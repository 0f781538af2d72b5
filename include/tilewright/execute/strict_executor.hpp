#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/strict/plan_reader.hpp"
#include "tilewright/execute/strict/vertex.hpp"

namespace tilewright::internal {

/// Runs a frozen plan on tiles with separate memory, vertex by vertex. Exchange copies the slices that the plan names. A vertex
/// gets copies of the elements that it declares, and nothing else (strict/vertex.hpp). The host's values are copied to homes
/// before a run, and back to the host after it. Results are those of the fast mode. Whether the plan is right is for its proof
/// (tw::verified).
class StrictExecutor final : public StrictRunner {
 public:
  [[gnu::cold]] explicit StrictExecutor(const ProgramView& program) : program_(program), plan_(program_), shadows_(plan_) {
    StrictPlanReader(plan_).run();
  }

  const StrictPlan& plan() const { return plan_; }
  /// Returns the tiles of a replica, which the first run makes.
  StrictMachine& machine(int replica) { return *machines_[static_cast<std::size_t>(replica)]; }

  [[gnu::cold]] bool run(const HostMemory& host, BodyId root, Span<const OperandAddress> streams) override {
    host_ = host;
    start();
    streams_.clear();
    for (int r = 0; r < program_.replicas; ++r)
      for (std::size_t i = 0; i < streams.size(); ++i) streams_.push_back(streams[i].for_kernel() + r * program_.stream_bytes[i]);
    std::vector<int> all;
    for (int r = 0; r < program_.replicas; ++r) {
      all.push_back(r);
      copy_homes(r, true);
    }
    const auto body = static_cast<std::size_t>(root);
    begin(body, plan_.frame_addresses, all);
    if (!run_groups(body, plan_.frame_addresses, all)) return false;
    for (int r = 0; r < program_.replicas; ++r) copy_homes(r, false);
    is_clean_ = true;
    return true;
  }

 private:
  using Replicas = std::vector<int>;
  using Frames = StrictMachine::Frames;

  [[gnu::cold]] void start() {
    if (machines_.empty()) {
      std::int64_t bytes = 0;
      for (const StrictBody& body : plan_.bodies)
        for (std::size_t set = 0; set < body.frames.size(); ++set)
          bytes = (std::max)(bytes, plan_.frame_addresses[set] + body.frames[set].bytes);
      for (int r = 0; r < program_.replicas; ++r) machines_.push_back(std::make_unique<StrictMachine>(plan_, bytes));
    }
    if (!is_clean_) shadows_.poison();
    is_clean_ = false;
  }

  // ---- between the host and homes

  /// Copies variables and constants to tiles, or variables back to the host.
  [[gnu::cold]] void copy_homes(int replica, bool to_tiles) {
    for (const StrictHome& home : plan_.homes) {
      if (home.body < 0) continue;
      const auto body = static_cast<std::size_t>(home.body);
      const StrictStorage& of = storage(plan_.bodies[body], home.storage);
      const bool is_constant = home.base == Base::constant;
      std::byte* const data = (is_constant ? host_.constants : host_.variables + replica * host_.variable_bytes) + home.offset;
      if (to_tiles) load(body, of, replica, data);
      else if (!is_constant) store(body, of, replica, data);
    }
  }
  void load(std::size_t body, const StrictStorage& storage, int replica, const std::byte* from) {
    const StrictPlace place(machine(replica), body, storage);
    for (std::int64_t e = 0; e < storage.elements; ++e) place.write(e, from + e * storage.bytes);
  }
  void store(std::size_t body, const StrictStorage& storage, int replica, std::byte* to) {
    const StrictPlace place(machine(replica), body, storage);
    for (std::int64_t e = 0; e < storage.elements; ++e) place.read(e, to + e * storage.bytes);
  }

  // ---- bodies

  /// Runs the groups of a body. Returns false, at once, if some replicas do not reach a collective.
  [[gnu::cold]] bool run_groups(std::size_t b, const Frames& frames, const Replicas& replicas) {
    const StrictBody& body = plan_.bodies[b];
    for (std::size_t g = 0; g < body.groups.size(); ++g) {
      const StrictGroup& group = body.groups[g];
      const Step& step = plan_.step(b, g);
      for (const int s : group.loads)
        for (const int r : replicas) load(b, storage(body, s), r, stream(storage(body, s).location, r));
      switch (step.kind) {
        case StepKind::compute: run_compute(b, g, step, replicas); break;
        case StepKind::collective:
          if (static_cast<int>(replicas.size()) < program_.replicas) return false;
          run_collective(b, g, step, replicas);
          break;
        case StepKind::conditional:
          if (!run_conditional(b, g, step, frames, replicas)) return false;
          break;
        case StepKind::call:
        case StepKind::loop:
          if (!run_calls(b, g, step, step.body, step.first_location, step.arguments, frames, replicas)) return false;
          break;
        case StepKind::load_code: break;
      }
      for (const int s : group.stores)
        for (const int r : replicas) store(b, storage(body, s), r, stream(storage(body, s).location, r));
      if (step.stream >= 0)
        for (const int r : replicas)
          streams_[stream_number(step.stream, r)] += program_.replicas *
                                                     program_.stream_bytes[static_cast<std::size_t>(step.stream)];
    }
    return true;
  }
  void begin(std::size_t b, const Frames& frames, const Replicas& replicas) {
    for (const int r : replicas) machine(r).begin(b, frames);
  }
  static const StrictStorage& storage(const StrictBody& body, int s) { return body.storages[static_cast<std::size_t>(s)]; }
  std::size_t stream_number(int stream, int replica) const {
    return static_cast<std::size_t>(replica) * program_.stream_bytes.size() + static_cast<std::size_t>(stream);
  }
  std::byte* stream(const Location& location, int replica) const {
    return streams_[stream_number(location.index, replica)] + location.offset;
  }

  // ---- steps

  [[gnu::cold]] void run_compute(std::size_t b, std::size_t g, const Step& step, const Replicas& replicas) {
    const ComputeFunction function = program_.functions[static_cast<std::size_t>(step.compute_set)];
    for (const int r : replicas) {
      StrictVertices vertices(program_, plan_, machine(r), shadows_, b, g, host_.remote + r * host_.remote_bytes);
      FaultRecord* const faults = step.first_fault_site >= 0 ? host_.faults + step.first_fault_site : nullptr;
      vertices.exchange(true);
      for (std::int64_t v = 0; v < step.vertices; ++v) vertices.run(v, function, faults);
      vertices.exchange(false);
    }
  }
  [[gnu::cold]] void run_collective(std::size_t b, std::size_t g, const Step& step, const Replicas& replicas) {
    std::vector<StrictVertices> all;
    for (const int r : replicas) all.emplace_back(program_, plan_, machine(r), shadows_, b, g, nullptr);
    run_collective_step(all, program_.functions[static_cast<std::size_t>(step.compute_set)], step.items);
  }
  [[gnu::cold]] bool run_conditional(std::size_t b, std::size_t g, const Step& step, const Frames& frames,
                                     const Replicas& replicas) {
    const StrictCallOperand& condition = plan_.bodies[b].groups[g].call_operands[0];
    Replicas of_branch[2];
    for (const int r : replicas) {
      const StrictPlace place(machine(r), b, storage(plan_.bodies[b], condition.storage));
      of_branch[*place.data(condition.offset) != std::byte{0} ? 1 : 0].push_back(r);
    }
    const int first = step.first_location + 1;
    if (!of_branch[1].empty() && !run_calls(b, g, step, step.body, first, step.arguments, frames, of_branch[1])) return false;
    return of_branch[0].empty() || run_calls(b, g, step, step.else_body, first + step.arguments,
                                             step.location_count - 1 - step.arguments, frames, of_branch[0]);
  }
  /// An argument of a call in the memory of the caller.
  struct Argument {
    int storage = -1, inner = -1;  ///< of the caller, and of the called body; -1: the body does not use it
    std::int64_t first = 0;  ///< element of the caller's storage
    bool is_input = false, is_output = false;
  };
  [[gnu::cold]] bool run_calls(std::size_t b, std::size_t g, const Step& step, BodyId called, int first_location, int count,
                               const Frames& frames, const Replicas& replicas) {
    const auto target = static_cast<std::size_t>(called);
    Frames inner = frames;
    for (const Room& room : plan_.bodies[b].rooms)
      if (room.kind == RoomKind::called && room.first == static_cast<int>(g))
        inner[static_cast<std::size_t>(room.set)] += room.address;
    begin(target, inner, replicas);
    for (std::int64_t iteration = 0; iteration < step.count; ++iteration) {
      const std::vector<Argument> arguments = arguments_of(b, g, step, called, first_location, count, iteration);
      for (const int r : replicas)
        for (const Argument& argument : arguments)
          if (argument.is_input) pass(r, b, argument, target, true);
      if (!run_groups(target, inner, replicas)) return false;
      for (const int r : replicas)
        for (const Argument& argument : arguments)
          if (argument.is_output) pass(r, b, argument, target, false);
    }
    return true;
  }
  [[gnu::cold]] std::vector<Argument> arguments_of(std::size_t b, std::size_t g, const Step& step, BodyId called,
                                                   int first_location, int count, std::int64_t iteration) const {
    const StrictBody& body = plan_.bodies[b];
    const StrictGroup& group = body.groups[g];
    const bool is_else = step.kind == StepKind::conditional && called == step.else_body &&
                         first_location > step.first_location + 1;
    const int inputs = is_else ? group.else_inputs : group.inputs;
    const int first_input = step.kind == StepKind::conditional ? (is_else ? 1 + group.inputs : 1) : 0;
    const int own = iteration == 0 ? 0 : static_cast<int>(2 - iteration % 2) * count;
    const std::size_t first_modified = static_cast<std::size_t>(group.input_count + group.outputs + group.else_outputs +
                                                                group.carried);
    std::vector<Argument> result(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      Argument& argument = result[static_cast<std::size_t>(i)];
      Location location = program_.locations[static_cast<std::size_t>(first_location + own + i)];
      if (step.kind == StepKind::loop)
        location.offset += iteration * program_.strides[static_cast<std::size_t>(step.first_stride + i)];
      for (const StrictCallOperand& operand : group.call_operands) {
        const StrictStorage& storage = body.storages[static_cast<std::size_t>(operand.storage)];
        const std::int64_t offset = location.offset - storage.location.offset;
        if (storage.location.base != location.base || storage.location.index != location.index || offset < 0 ||
            offset >= storage.elements * storage.bytes)
          continue;
        argument.storage = operand.storage;
        argument.first = offset / storage.bytes;
        break;
      }
      const StrictBody& inner = plan_.bodies[static_cast<std::size_t>(called)];
      for (std::size_t s = 0; s < inner.storages.size(); ++s)
        if (inner.storages[s].is_on_tiles && inner.storages[s].location.base == Base::argument &&
            inner.storages[s].location.index == i)
          argument.inner = static_cast<int>(s);
      argument.is_input = i < inputs;
      argument.is_output = i >= inputs;
      if (!argument.is_input) continue;
      const StrictCallOperand& given = group.call_operands[static_cast<std::size_t>(first_input + i)];
      for (std::size_t o = first_modified; o < group.call_operands.size(); ++o)
        if (group.call_operands[o].storage == given.storage && group.call_operands[o].offset == given.offset)
          argument.is_output = true;
    }
    return result;
  }
  /// Copies an argument to the called body, or a result from it.
  void pass(int replica, std::size_t b, const Argument& argument, std::size_t target, bool in) {
    if (argument.inner < 0) return;
    const StrictStorage& inner = storage(plan_.bodies[target], argument.inner);
    const StrictPlace there(machine(replica), target, inner),
        here(machine(replica), b, storage(plan_.bodies[b], argument.storage));
    for (std::int64_t e = 0; e < inner.elements; ++e)
      if (in) there.write(e, here.data(argument.first + e));
      else here.write(argument.first + e, there.data(e));
  }

  ProgramView program_;
  StrictPlan plan_;
  StrictShadows shadows_;
  std::vector<std::unique_ptr<StrictMachine>> machines_;  // by replica; made by the first run
  std::vector<std::byte*> streams_;  // by replica and stream: the next element
  HostMemory host_{};
  bool is_clean_ = false;  // shadows are poisoned
};

[[gnu::cold]] inline Owned<StrictRunner> make_strict_executor(const ProgramView& program) {
  return Owned<StrictExecutor>(new StrictExecutor(program));
}
template <>
constexpr StrictFactory strict_factory<bool>() {
  return &make_strict_executor;
}

}  // namespace tilewright::internal
