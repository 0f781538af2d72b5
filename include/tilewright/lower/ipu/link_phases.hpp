#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/ipu/tile_records.hpp"
#include "tilewright/target/ipu_link_cycles.hpp"

namespace tilewright::internal {

/// Cycles of copies between IPUs, in the order of a body's steps. Copies with nothing between them on the IPUs of both share one
/// exchange: links work side by side, each in both directions, and there is one barrier. Of copies that take the same links one
/// way, the bytes add up, as in poplibs' constraints of exchanges between IPUs. What a copy has brought leaves in a later
/// exchange.
class LinkPhases {
 public:
  constexpr LinkPhases(const IpuModel& model, int sets, int ipus) : model_(model), sets_(static_cast<std::size_t>(sets)) {
    for (List<Links>& way : links_) way.resize(static_cast<std::size_t>(ipus));
  }

  /// Ends the exchange of a set of tiles, which computes, or exchanges data on its IPU; -1: of all sets.
  constexpr void end(int set) {
    for (int each = 0; each < static_cast<int>(sets_.size()); ++each)
      if (set < 0 || each == set)
        sets_[static_cast<std::size_t>(each)] = {.phase = sets_[static_cast<std::size_t>(each)].phase + 1};
  }
  /// Returns the cycles by which a copy makes the exchange of both sets longer.
  constexpr CycleCount copy(std::int64_t bytes, int from, int to, int from_set, int to_set, const List<TileOperand>& operands) {
    Set &source = sets_[static_cast<std::size_t>(from_set)], &target = sets_[static_cast<std::size_t>(to_set)];
    for (const TileOperand& operand : operands)
      if (std::find(source.received.begin(), source.received.end(), operand.storage) != source.received.end())
        end(from_set), end(to_set);
    CycleCount whole;
    for (int ipu = (std::min)(from, to); ipu < (std::max)(from, to); ++ipu) {
      Links& links = links_[from < to ? 0 : 1][static_cast<std::size_t>(ipu)];
      const bool is_over = links.from_set < 0 || sets_[static_cast<std::size_t>(links.from_set)].phase != links.from_phase ||
                           sets_[static_cast<std::size_t>(links.to_set)].phase != links.to_phase;
      links = {(is_over ? 0 : links.bytes) + bytes, from_set, to_set, source.phase, target.phase};
      whole = longer(whole, ipu_copy_cycles(model_, links.bytes, ipu, ipu + 1));
    }
    CycleCount more(std::max<std::int64_t>(0, whole.cycles - (std::min)(source.cycles, target.cycles)));
    more.assumed = (std::min)(whole.assumed, more.cycles);
    source.cycles += more.cycles;
    target.cycles += more.cycles;
    for (const TileOperand& operand : operands)
      if (operand.is_written) target.received.push_back(operand.storage);
    return more;
  }

 private:
  /// The exchange of a set of tiles.
  struct Set {
    int phase = 0;  ///< number of the exchange
    std::int64_t cycles = 0;
    List<StorageId> received{};
  };
  /// The links from an IPU to the next one, or back, since the last copy over them began.
  struct Links {
    std::int64_t bytes = 0;
    int from_set = -1, to_set = -1, from_phase = 0, to_phase = 0;  ///< of that copy
  };

  const IpuModel& model_;
  List<Set> sets_;
  List<Links> links_[2]{};  // upwards and downwards, by IPU
};

}  // namespace tilewright::internal
