#pragma once
// The frames of a program's tiles are painted, and runs in strict mode show how much of them is written.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "../../support/frame_programs.hpp"
#include "run.hpp"

namespace painted {

namespace internal = tw::internal;

/// The memory of a set of tiles behind its variables and constants.
class PaintedFrames {
 public:
  PaintedFrames(internal::StrictExecutor& executor, const internal::TileSets& sets, int set)
      : executor_(executor), begin_(executor.plan().frame_addresses[static_cast<std::size_t>(set)]) {
    for (std::int64_t tile = sets.first(set); tile < sets.first(set) + sets.count(set); ++tile) tiles_.push_back(tile);
  }
  void paint(unsigned char paint) const {
    for (const std::int64_t tile : tiles_) std::memset(machine().data(tile, begin_), paint, all());
  }
  /// Finds the bytes that no longer have the paint.
  void look(unsigned char paint) {
    for (const std::int64_t tile : tiles_) {
      const std::byte* const data = machine().data(tile, begin_);
      std::size_t end = all();
      while (end > 0 && data[end - 1] == std::byte{paint}) --end;
      bytes_ = std::max(bytes_, static_cast<std::int64_t>(end));
    }
  }
  /// Returns the bytes from the start of the frame to behind the last that was written, on the tile with most.
  std::int64_t bytes() const { return internal::align(bytes_, internal::tile_alignment); }

 private:
  internal::StrictMachine& machine() const { return executor_.machine(0); }
  std::size_t all() const { return static_cast<std::size_t>(machine().tile_bytes() - begin_); }

  internal::StrictExecutor& executor_;
  std::int64_t begin_;
  std::vector<std::int64_t> tiles_{};
  std::int64_t bytes_ = 0;
};

/// Returns where the last scratch of a body's steps, or of those of the bodies that it calls, ends in the body's frame on a set
/// of tiles; 0: there is none.
inline std::int64_t end_of_scratch(const internal::StrictPlan& plan, int set, std::size_t body = 0) {
  std::int64_t end = 0;
  for (const internal::Room& room : plan.bodies[body].rooms) {
    if (room.set != set) continue;
    if (room.kind == internal::RoomKind::scratch) end = std::max(end, room.address + room.bytes);
    if (room.kind != internal::RoomKind::called) continue;
    const internal::Step& step = plan.step(body, static_cast<std::size_t>(room.first));
    for (const internal::BodyId called : {step.body, step.else_body})
      if (called != internal::BodyId::none)
        if (const std::int64_t of_called = end_of_scratch(plan, set, static_cast<std::size_t>(called)); of_called > 0)
          end = std::max(end, room.address + of_called);
  }
  return end;
}

/// Checks that the frame and the padding that a plan states for each set of tiles end where runs write last, or the scratch of
/// vertices ends, which is on the stack of the host.
template <auto build, tw::Target target = frame_programs::small_ipu>
void check_frames() {
  ProgramRun<build, target> program(true);
  const internal::TileSets sets(target);
  program.run();  // makes the tiles
  std::vector<PaintedFrames> frames;
  for (int set = 0; set < sets.size(); ++set) frames.emplace_back(program.strict(), sets, set);
  for (const unsigned char paint : std::array<unsigned char, 2>{0xa5, 0x5a}) {  // a run may write what was painted
    for (const PaintedFrames& each : frames) each.paint(paint);
    program.run();
    for (PaintedFrames& each : frames) each.look(paint);
  }
  for (int set = 0; set < sets.size(); ++set) {
    INFO("set " << set);
    const auto& tile = program.plan.tile_sets[static_cast<std::size_t>(set)].tile;
    const std::int64_t written = frames[static_cast<std::size_t>(set)].bytes();
    CHECK(written > 0);
    CHECK(std::max(written, end_of_scratch(program.strict().plan(), set)) == tile.frame + tile.padding);
  }
}

}  // namespace painted
