#pragma once
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/execute/memory_error.hpp"
#include "tilewright/execute/strict/error.hpp"
#include "tilewright/execute/strict/plan.hpp"

namespace tilewright::internal {

/// Tag of memory of a tile: an element of a tensor, in the version of one write.
struct ElementTag {
  std::uint32_t tensor = 0, element = 0, version = 0;  ///< tensor 0: none
  bool operator==(const ElementTag&) const = default;
};

/// Elements of a storage or home of one replica. Versions are numbers of writes; 0: the element was never written.
struct StrictTensor {
  std::uint32_t number = 0;
  int body = -1, storage = -1;
  bool is_written = false;  ///< since its creation
  std::vector<std::uint32_t> versions;
};

/// A room in use on tiles, with a tag for each element.
struct LiveRoom {
  std::uint32_t number = 0;  ///< identifies the owner of words
  bool is_live = false;
  int set = 0;  ///< set of tiles
  std::int64_t begin = 0, bytes = 0;  ///< on each tile
  std::int64_t element_bytes = 1, per_tile = 0;
  int body = -1, storage = -1;
  std::vector<ElementTag> tags;
};

/// Tiles of one replica.
class StrictMachine {
 public:
  [[gnu::cold]] StrictMachine(const StrictPlan& plan, std::int64_t tile_bytes)
      : plan_(plan),
        tile_bytes_(align(tile_bytes, 8)),
        memory_(static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(tile_bytes_ * plan.program.sets.all() + 1), 1)),
                &std::free),
        owners_(static_cast<std::size_t>(plan.program.sets.size()) * words()),
        homes_(plan.homes.size()),
        home_tensors_(plan.homes.size()) {
    if (memory_ == nullptr) throw MemoryError("tiles in strict mode", tile_bytes_ * plan.program.sets.all() + 1);
    rooms_.push_back(nullptr);
    tensors_.push_back(nullptr);
    bodies_.resize(plan.bodies.size());
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const StrictBody& body = plan.bodies[b];
      bodies_[b].rooms.resize(body.rooms.size());
      bodies_[b].tensors.resize(body.storages.size());
      for (std::size_t r = 0; r < body.rooms.size(); ++r)
        add_room(bodies_[b].rooms[r], b, static_cast<int>(body.rooms[r].storage), body.rooms[r].set);
      for (std::size_t s = 0; s < body.storages.size(); ++s)
        if (body.storages[s].home < 0) add_tensor(bodies_[b].tensors[s], b, static_cast<int>(s), body.storages[s].elements);
    }
    for (std::size_t h = 0; h < homes_.size(); ++h) {
      const StrictHome& home = plan.homes[h];
      if (home.body < 0) continue;
      add_room(homes_[h], static_cast<std::size_t>(home.body), home.storage, home.set);
      add_tensor(home_tensors_[h], static_cast<std::size_t>(home.body), home.storage, home.elements);
    }
  }

  /// Clears everything except homes, which own their words again.
  [[gnu::cold]] void reset() {
    std::fill(owners_.begin(), owners_.end(), 0u);
    for (auto& body : bodies_)
      for (LiveRoom& room : body.rooms) room.is_live = false;
    for (std::size_t h = 0; h < homes_.size(); ++h) {
      if (plan_.homes[h].body < 0) continue;
      homes_[h].is_live = false;
      open(homes_[h], plan_.homes[h].address, plan_.homes[h].room_bytes, plan_.homes[h].bytes);
    }
  }
  [[gnu::cold]] void open(LiveRoom& room, std::int64_t begin, std::int64_t bytes, std::int64_t element_bytes) {
    room.begin = begin;
    room.bytes = align(bytes, 8);
    room.element_bytes = element_bytes;
    room.per_tile = room.bytes / element_bytes;
    if (begin % 8 != 0 || begin < 0 || begin + room.bytes > tile_bytes_)
      throw StrictError(strict_text({"strict: the room of ", name_of_room(room), " at ", begin, " is outside of a tile"}));
    for (std::int64_t w = begin / 8; w < (begin + room.bytes) / 8; ++w) {
      auto& owner = owner_of_word(room.set, w);
      if (owner != 0)
        throw StrictError(strict_text({"strict: the room of ", name_of_room(room), " at byte ", w * 8,
                                       " of the tiles lies in that of ", name_of_room(*rooms_[owner]), ", which is in use"}));
      owner = room.number;
    }
    room.tags.assign(room.storage < 0 ? 0 : static_cast<std::size_t>(plan_.program.sets.count(room.set) * room.per_tile),
                     ElementTag{});
    room.is_live = true;
  }
  [[gnu::cold]] void close(LiveRoom& room) {
    if (!std::exchange(room.is_live, false)) return;
    for (std::int64_t w = room.begin / 8; w < (room.begin + room.bytes) / 8; ++w) owner_of_word(room.set, w) = 0;
  }

  LiveRoom& room(std::size_t body, int room) { return bodies_[body].rooms[static_cast<std::size_t>(room)]; }
  LiveRoom& room_of(std::size_t body, const StrictStorage& storage) {
    return storage.home >= 0 ? homes_[static_cast<std::size_t>(storage.home)] : room(body, storage.room);
  }
  StrictTensor& tensor_of(std::size_t body, const StrictStorage& storage) {
    return storage.home >= 0 ? home_tensors_[static_cast<std::size_t>(storage.home)]
                             : bodies_[body].tensors[static_cast<std::size_t>(storage.owner)];
  }
  LiveRoom& home(std::size_t number) { return homes_[number]; }
  StrictTensor& home_tensor(std::size_t number) { return home_tensors_[number]; }

  std::int64_t tile_bytes() const { return tile_bytes_; }
  std::byte* data(std::int64_t tile, std::int64_t address) const { return memory_.get() + tile * tile_bytes_ + address; }
  /// Returns the tag of the element `offset` bytes from the start of a room on a tile; null if it is not in the room, if the
  /// room is not in use, or if it is not on that tile.
  ElementTag* tag(LiveRoom& room, std::int64_t tile, std::int64_t offset) const {
    tile -= plan_.program.sets.first(room.set);
    if (!room.is_live || tile < 0 || tile >= plan_.program.sets.count(room.set) || offset < 0 ||
        offset + room.element_bytes > room.bytes || offset % room.element_bytes != 0)
      return nullptr;
    return &room.tags[static_cast<std::size_t>(tile * room.per_tile + offset / room.element_bytes)];
  }
  /// Returns the room that owns an address of a set's tiles, or null.
  LiveRoom* owner(int set, std::int64_t address) {
    if (address < 0 || address >= tile_bytes_) return nullptr;
    return rooms_[owner_of_word(set, address / 8)];
  }
  /// Copies elements with their tags. `frames`: address of the body's frame, by set of tiles.
  void move(const StrictMove& move, const std::vector<std::int64_t>& frames) {
    const int from_set = plan_.program.sets.of(move.from_tile), to_set = plan_.program.sets.of(move.to_tile);
    const std::int64_t from = move.from + (move.from_home ? 0 : frames[static_cast<std::size_t>(from_set)]);
    const std::int64_t to = move.to + (move.to_home ? 0 : frames[static_cast<std::size_t>(to_set)]);
    LiveRoom *const source = owner(from_set, from), *const target = owner(to_set, to);
    if (source == nullptr || target == nullptr || target->element_bytes != source->element_bytes ||
        from + move.bytes > source->begin + source->bytes || to + move.bytes > target->begin + target->bytes)
      throw StrictError(
          strict_text({"strict: an exchange of ", move.bytes, " bytes from byte ", from, " of tile ", move.from_tile, " to byte ",
                       to, " of tile ", move.to_tile, " is not from one room in use to another"}));
    std::memcpy(data(move.to_tile, to), data(move.from_tile, from), static_cast<std::size_t>(move.bytes));
    const std::int64_t size = source->element_bytes;
    for (std::int64_t byte = 0; byte < move.bytes; byte += size) {
      ElementTag *const from_tag = tag(*source, move.from_tile, from + byte - source->begin), *const to_tag = tag(
                                                                                                  *target, move.to_tile,
                                                                                                  to + byte - target->begin);
      if (from_tag == nullptr || to_tag == nullptr) throw StrictError("strict: an exchange cuts elements apart");
      *to_tag = *from_tag;
    }
  }
  /// Returns the contents of a place, for an error.
  [[gnu::cold]] std::string found(const ElementTag* tag, const ElementTag& expected) const {
    if (tag == nullptr) return "no room in use";
    if (tag->tensor == 0) return "nothing";
    if (tag->tensor != expected.tensor)
      return strict_text({"element ", tag->element, " of ", name_of_tensor(*tensors_[tag->tensor])});
    if (tag->element != expected.element) return strict_text({"element ", tag->element, " of it"});
    return "what stood there before it was written last";
  }
  const StrictTensor& tensor(std::uint32_t number) const { return *tensors_[number]; }

  [[gnu::cold]] std::string name_of_tensor(const StrictTensor& tensor) const {
    return plan_.name_of(static_cast<std::size_t>(tensor.body), tensor.storage);
  }
  [[gnu::cold]] std::string name_of_room(const LiveRoom& room) const {
    return room.storage < 0 ? "scratch" : plan_.name_of(static_cast<std::size_t>(room.body), room.storage);
  }

 private:
  std::size_t words() const { return static_cast<std::size_t>(tile_bytes_ / 8 + 1); }
  std::uint32_t& owner_of_word(int set, std::int64_t word) {
    return owners_[static_cast<std::size_t>(set) * words() + static_cast<std::size_t>(word)];
  }
  [[gnu::cold]] void add_room(LiveRoom& room, std::size_t body, int storage, int set) {
    room.number = static_cast<std::uint32_t>(rooms_.size());
    room.body = static_cast<int>(body);
    room.storage = storage;
    room.set = set;
    rooms_.push_back(&room);
  }
  [[gnu::cold]] void add_tensor(StrictTensor& tensor, std::size_t body, int storage, std::int64_t elements) {
    tensor.number = static_cast<std::uint32_t>(tensors_.size());
    tensor.body = static_cast<int>(body);
    tensor.storage = storage;
    tensor.versions.resize(static_cast<std::size_t>(elements));
    tensors_.push_back(&tensor);
  }

  struct BodyState {
    std::vector<LiveRoom> rooms;
    std::vector<StrictTensor> tensors;
  };
  const StrictPlan& plan_;
  std::int64_t tile_bytes_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
  std::vector<std::uint32_t> owners_;  // by set and word of a tile: the number of a room, the same on all its tiles; 0: none
  std::vector<LiveRoom> homes_;
  std::vector<StrictTensor> home_tensors_;
  std::vector<BodyState> bodies_;
  std::vector<LiveRoom*> rooms_;  // by number
  std::vector<const StrictTensor*> tensors_;  // by number
};

}  // namespace tilewright::internal
