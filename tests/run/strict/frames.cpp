// labels: more light
// Frames of simulated IPUs: the bytes that a plan states are those that runs in strict mode write, and scratch of vertices, which
// is on the stack of the host in strict mode.
#include <algorithm>
#include <array>

#include "../../support/frame_programs.hpp"
#include "run.hpp"

namespace {

using namespace frame_programs;
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

/// Returns where the last scratch of the main graph's steps ends in the frame of a set of tiles; 0: there is none.
std::int64_t end_of_scratch(const internal::StrictPlan& plan, int set) {
  std::int64_t end = 0;
  for (const internal::Room& room : plan.bodies[0].rooms)
    if (room.set == set && room.kind == internal::RoomKind::scratch) end = std::max(end, room.address + room.bytes);
  return end;
}

template <auto build, tw::Target target = small_ipu>
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
    CHECK(std::max(written, end_of_scratch(program.strict_plan(), set)) == tile.frame + tile.padding);
  }
}

}  // namespace

TEST_CASE("graphs that are called, and their gradients") {
  check_frames<calls<false>>();
  check_frames<calls<true>>();
}
TEST_CASE("a loop") { check_frames<loop>(); }
TEST_CASE("replicas") { check_frames<replicas<tw::float32>>(); }
TEST_CASE("remote memory") { check_frames<remote>(); }
TEST_CASE("two IPUs") { check_frames<two_ipus, small_ipu.with_ipus(2)>(); }
TEST_CASE("views") { check_frames<views>(); }
TEST_CASE("norms") { check_frames<norm>(); }
