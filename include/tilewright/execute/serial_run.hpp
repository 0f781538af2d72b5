#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/execute/arithmetic_mode.hpp"
#include "tilewright/execute/codelet.hpp"
#include "tilewright/execute/operand_address.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/operand/faults.hpp"

namespace tilewright::internal {

/// The tables of a frozen plan that a run on one thread reads. The plan is for the host, and has one replica and no mapped
/// buffers.
struct SerialProgram {
  std::span<const Body> bodies;
  std::span<const Step> steps;
  std::span<const Location> locations;
  std::span<const ComputeFunction> functions;
  std::span<const std::int64_t> strides;
  std::span<const std::int64_t> stream_bytes;
};

/// The memory of such a run. All of it belongs to the caller.
struct SerialMemory {
  std::byte *variables = nullptr, *constants = nullptr, *remote = nullptr, *frame = nullptr;
  std::byte** streams = nullptr;  ///< by stream: the host's array; a run moves the pointers to the next elements
  std::byte** arguments = nullptr;  ///< room for the arguments of all calls on the way to any body
  FaultRecord* faults = nullptr;  ///< by fault site
};

/// Runs root bodies on the calling thread, as an Executor of one thread does, and gives the same bits. It needs no heap, no
/// threads and no exceptions.
class SerialRun {
 public:
  SerialRun(const SerialProgram& program, const SerialMemory& memory) : program_(program), memory_(memory) {}

  void run(BodyId root) const {
    const ArithmeticMode mode;
    run_body(root, {memory_.frame, nullptr, memory_.arguments});
  }

 private:
  /// A body that runs.
  struct Running {
    std::byte* frame;
    std::byte* const* arguments;  // of the body
    std::byte** free_arguments;  // memory for the arguments of its calls
  };

  void run_body(BodyId id, const Running& running) const {
    const Body& body = program_.bodies[static_cast<std::size_t>(id)];
    const auto first = static_cast<std::size_t>(body.first_step), count = static_cast<std::size_t>(body.step_count);
    for (const Step& step : program_.steps.subspan(first, count)) {
      const Location* const locations = program_.locations.data() + step.first_location;
      switch (step.kind) {
        case StepKind::compute: compute(step, step.vertices * step.pieces, true, running); break;
        case StepKind::collective: compute(step, step.items, false, running); break;
        case StepKind::call:
        case StepKind::loop: call(step, step.body, locations, step.arguments, running); break;
        case StepKind::conditional:
          if (*reinterpret_cast<const bool*>(address(*locations, running)))
            call(step, step.body, locations + 1, step.arguments, running);
          else call(step, step.else_body, locations + 1 + step.arguments, step.location_count - 1 - step.arguments, running);
          break;
        case StepKind::load_code: break;
      }
    }
  }
  void compute(const Step& step, std::int64_t parts, bool adds_parts, const Running& running) const {
    const Location* const locations = program_.locations.data() + step.first_location;
    std::byte* operands[max_locations + 1];
    for (int i = 0; i < step.location_count; ++i) operands[i] = address(locations[i], running);
    if (step.first_fault_site >= 0)
      operands[step.location_count] = reinterpret_cast<std::byte*>(memory_.faults + step.first_fault_site);
    program_.functions[static_cast<std::size_t>(step.compute_set)](operands, 0, parts, adds_parts);
    if (step.stream >= 0) memory_.streams[step.stream] += program_.stream_bytes[static_cast<std::size_t>(step.stream)];
  }
  /// Calls a body once, or once per iteration of a loop.
  void call(const Step& step, BodyId target, const Location* locations, int count, const Running& running) const {
    for (std::int64_t iteration = 0; iteration < step.count; ++iteration) {
      const Location* const own = iteration == 0 ? locations : locations + (2 - iteration % 2) * count;
      for (int i = 0; i < count; ++i) {
        running.free_arguments[i] = address(own[i], running);
        if (step.kind == StepKind::loop)
          running.free_arguments[i] += iteration * program_.strides[static_cast<std::size_t>(step.first_stride + i)];
      }
      run_body(target, {running.frame + step.frame_offset, running.free_arguments, running.free_arguments + count});
    }
  }
  std::byte* address(const Location& location, const Running& running) const { return base(location, running) + location.offset; }
  std::byte* base(const Location& location, const Running& running) const {
    switch (location.base) {
      case Base::frame: return running.frame;
      case Base::argument: return running.arguments[location.index];
      case Base::variable: return memory_.variables;
      case Base::constant: return memory_.constants;
      case Base::position: return OperandAddress(&position_origin).for_kernel();
      case Base::remote: return memory_.remote;  // no buffer is mapped
      case Base::stream: break;
    }
    return memory_.streams[location.index];
  }

  const SerialProgram& program_;
  const SerialMemory& memory_;
};

}  // namespace tilewright::internal
