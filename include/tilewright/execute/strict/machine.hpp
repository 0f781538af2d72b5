#pragma once
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tilewright/execute/memory_error.hpp"
#include "tilewright/execute/strict/plan.hpp"

namespace tilewright::internal {

/// Tiles of one replica, each with memory of its own.
class StrictMachine {
 public:
  using Frames = std::vector<std::int64_t>;  ///< by set of tiles: where a body's frame begins

  [[gnu::cold]] StrictMachine(const StrictPlan& plan, std::int64_t tile_bytes)
      : plan_(plan),
        tile_bytes_(align(tile_bytes, 8)),
        memory_(static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(tile_bytes_ * plan.program.sets.all() + 1), 1)),
                &std::free),
        frames_(plan.bodies.size()) {
    if (memory_ == nullptr) throw MemoryError("tiles in strict mode", tile_bytes_ * plan.program.sets.all() + 1);
  }

  /// Puts the frame of a body that begins to run at these addresses.
  void begin(std::size_t body, const Frames& frames) { frames_[body] = frames; }

  std::int64_t tile_bytes() const { return tile_bytes_; }
  std::byte* data(std::int64_t tile, std::int64_t address) const { return memory_.get() + tile * tile_bytes_ + address; }
  /// Returns the address of a room on the tiles of its set.
  std::int64_t address_of_room(std::size_t body, int number) const {
    const Room& room = plan_.bodies[body].rooms[static_cast<std::size_t>(number)];
    return frames_[body][static_cast<std::size_t>(room.set)] + room.address;
  }
  /// Returns the address of a storage on its tiles; 0: it has no elements.
  std::int64_t address_of(std::size_t body, const StrictStorage& storage) const {
    if (storage.home < 0 && storage.room < 0) return 0;
    return storage.home >= 0 ? plan_.homes[static_cast<std::size_t>(storage.home)].address : address_of_room(body, storage.room);
  }

 private:
  const StrictPlan& plan_;
  std::int64_t tile_bytes_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  std::vector<Frames> frames_;  // by body: of its run
};

/// Where the elements of a storage are on the tiles of a replica.
class StrictPlace {
 public:
  StrictPlace(const StrictMachine& machine, std::size_t body, const StrictStorage& storage)
      : machine_(machine), storage_(storage), address_(machine.address_of(body, storage)) {}

  std::byte* data(std::int64_t e) const {
    const auto at = static_cast<std::size_t>(e);
    return machine_.data(storage_.tiles[at], address_ + storage_.offsets[at]);
  }
  void read(std::int64_t e, std::byte* to) const { std::memcpy(to, data(e), static_cast<std::size_t>(storage_.bytes)); }
  void write(std::int64_t e, const std::byte* from) const {
    std::memcpy(data(e), from, static_cast<std::size_t>(storage_.bytes));
  }

 private:
  const StrictMachine& machine_;
  const StrictStorage& storage_;
  std::int64_t address_;
};

}  // namespace tilewright::internal
