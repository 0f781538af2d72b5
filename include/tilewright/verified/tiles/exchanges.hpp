#pragma once
#include <cstdint>

#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/verified/call_arguments.hpp"
#include "tilewright/verified/memory/scratch.hpp"
#include "tilewright/verified/memory/written_elements.hpp"
#include "tilewright/verified/passed_elements.hpp"
#include "tilewright/verified/tiles/exchange_counts.hpp"

namespace tilewright::internal::proof::detail {

/// Checks that each vertex has its operands in the memory of its tile: there all the time, or in a room for what an exchange of
/// the step brings and takes. What is exchanged has a room of its own on other tiles at that time. Where the plan has them, it
/// checks the bytes that exchanges count.
template <class AnyPlan>
class ExchangeProof {
 public:
  /// `reads_unwritten`: whether a step computes of bytes that no step wrote, in storages that begin undefined.
  constexpr ExchangeProof(const AnyPlan& plan, const Target& target, const DataOnTiles& data, ValueTerms& terms,
                          bool reads_unwritten, FirstFault& fault)
      : plan_(plan),
        sets_{plan, target},
        terms_(terms),
        reads_unwritten_(reads_unwritten),
        fault_(fault),
        calls_(plan, target, data, fault),
        elements_(plan, data, reads_unwritten, fault) {}

  constexpr void run(const BodyOnTiles& body) {
    body_ = &body;
    first_step_ = plan_.bodies.data()[static_cast<std::size_t>(body.body)].first_step;
    uses_.assign(body.storages.size(), {});
    room_of_.assign(body.storages.size(), -1);
    elements_.begin(body);
    for (std::size_t r = 0; r < body.rooms.size(); ++r) {
      const Room& room = body.rooms[r];
      if (room.kind != RoomKind::storage) continue;
      int& known = room_of_[static_cast<std::size_t>(room.storage)];
      expect(known < 0, "tiles", room.first, "a second room for storage ", static_cast<int>(room.storage), ": one expected");
      known = static_cast<int>(r);
    }
    for (step_ = 0; step_ < static_cast<int>(body.steps.size()) && !fault_.is_found(); ++step_) {
      const StepRecord& record = body.steps[static_cast<std::size_t>(step_)];
      if (record.use == StepUse::computes) check_step(record);
      if (record.use == StepUse::calls) check_call(record);
      if (record.use == StepUse::calls && !fault_.is_found()) calls_.validate(body, step_);
      if (record.use == StepUse::calls && !fault_.is_found()) elements_.call(step_, planned());
    }
    if (fault_.is_found()) return;
    elements_.end();
    check_lives();
    if constexpr (requires { plan_.moves; })
      if (!fault_.is_found()) check_streams();
  }

 private:
  /// When a storage is used: numbers of steps.
  struct Uses {
    int first = -1, last = -1;
    int first_read = -1;  // -1: it is written before
    int last_write = -1;
  };

  constexpr bool expect(bool holds, std::string_view rule, int step, const auto&... what) {
    return fault_.expect(holds, rule, body_->body, step, what...);
  }
  constexpr const Step& planned() const { return plan_.steps[static_cast<std::size_t>(first_step_ + step_)]; }
  constexpr const StorageRecord& storage(int s) const { return body_->storages[static_cast<std::size_t>(s)]; }
  constexpr bool is_owner(int s) const {
    return s >= 0 && static_cast<std::size_t>(s) < body_->storages.size() && storage(s).kind != StorageKind::part;
  }
  /// Returns whether a stage overwrites all of an input that it does not read.
  static constexpr bool is_overwritten(const Stage& stage, int input) {
    return input == 0 && stage.op == op_info<CopyVarUpdate>.tag;
  }
  constexpr bool may_be_unwritten(int s) const { return reads_unwritten_ && storage(s).kind == StorageKind::undefined_owner; }
  /// Returns whether tiles have memory for a location.
  static constexpr bool is_on_tiles(Base base) { return base != Base::position && base != Base::remote; }

  constexpr void use(int s, bool writes) {
    Uses& uses = uses_[static_cast<std::size_t>(s)];
    if (uses.first < 0) uses.first = step_;
    uses.last = step_;
    if (writes) uses.last_write = step_;
    else if (uses.last_write < 0 && uses.first_read < 0) uses.first_read = step_;
    if (storage(s).elements == 0 || !is_on_tiles(storage(s).location.base)) return;
    if (!expect(storage(s).layout.is_decided(), "tiles", step_, "storage ", s, " has no place on tiles: a place expected"))
      return;
    if (storage(s).location.base == Base::variable || storage(s).location.base == Base::constant) return;
    const int r = room_of_[static_cast<std::size_t>(s)];
    const bool has_room = r >= 0 && body_->rooms[static_cast<std::size_t>(r)].first <= step_ &&
                          step_ <= body_->rooms[static_cast<std::size_t>(r)].last;
    expect(has_room, "tiles", step_, "uses storage ", s, ", whose memory on tiles is not in use then: its own memory expected");
  }
  /// Checks that a location is in a storage.
  constexpr bool is_in(const Location& location, int s, const auto&... what) {
    const StorageRecord& in = storage(s);
    const std::int64_t from = location.offset - in.location.offset, size = size_of(in.dtype);
    return expect(location.base == in.location.base && location.index == in.location.index && from >= 0 && from % size == 0 &&
                      (from < in.elements * size || in.elements == 0),
                  "exchanges", step_, what..., " in storage ", s, ", which is elsewhere: the storage at its location expected");
  }

  constexpr void check_step(const StepRecord& record) {
    const ComputeSet& set = plan_.compute_sets[static_cast<std::size_t>(planned().compute_set)];
    const Division division(plan_, set);
    if (!has_places(record, set, division)) return;
    List<TileSlices> slices;  // by operand on tiles
    List<int> reads, writes;  // how often; reads of -1: its value is in registers
    for (const TileOperand& each : record.tile_operands) {
      if (!has_stage_operand(set, each)) return;
      const StageOperand& operand = operand_of(set, each.member, each.operand);
      const int s = static_cast<int>(each.storage);
      const bool in_registers = operand.source == Source::value;
      reads.push_back(in_registers ? -1 : 0);
      writes.push_back(0);
      slices.push_back({});
      if (in_registers) continue;
      if (!expect(operand.source == Source::memory && record.location_storages[static_cast<std::size_t>(operand.index)] == s,
                  "exchanges", step_, "an operand on tiles in storage ", s, ": the storage of its location expected") ||
          !is_in(location_of(operand), s, "an operand"))
        return;
      slices.back() = slices_of(set, division, operand, location_of(operand).offset - storage(s).location.offset);
    }
    PassedElements passed;
    for (int m = 0; m < set.stage_count; ++m) {
      const Stage& stage = plan_.stages[static_cast<std::size_t>(set.first_stage + m)];
      for (int o = 0; o < stage.operand_count; ++o) {
        const StageOperand& operand = operand_of(set, m, o);
        if (operand.source != Source::memory || !is_on_tiles(location_of(operand).base)) continue;
        const int s = record.location_storages[static_cast<std::size_t>(operand.index)];
        if (!expect(is_owner(s), "exchanges", step_, "an operand in storage ", s, ": a storage of the body expected") ||
            !is_in(location_of(operand), s, "an operand"))
          return;
        const bool is_output = o >= stage.input_count;
        use(s, is_output || is_overwritten(stage, o));
        if (storage(s).elements == 0 || operand.view.shape.nelms() == 0) continue;
        expect(storage(s).dtype == operand.view.dtype, "exchanges", step_, "operand ", o, " of stage ", m, " (", stage.name,
               ") in storage ", s, " of other numbers: one type expected");
        const TileSlices own = slices_of(set, division, operand, location_of(operand).offset - storage(s).location.offset);
        int known = -1;  // the operand on tiles with this view, or else one with these elements
        for (int k = static_cast<int>(slices.size()); k-- > 0;) {
          const TileOperand& each = record.tile_operands[static_cast<std::size_t>(k)];
          if (reads[static_cast<std::size_t>(k)] < 0 || static_cast<int>(each.storage) != s ||
              !(slices[static_cast<std::size_t>(k)] == own))
            continue;
          if (known < 0 || have_one_view(operand_of(set, each.member, each.operand), operand)) known = k;
        }
        const Access bytes = access_of(operand, location_of(operand).offset - storage(s).location.offset,
                                       is_output ? division.parts(operand) : 1);
        const bool is_local = known >= 0 && record.tile_operands[static_cast<std::size_t>(known)].access == TileAccess::local;
        const auto place = passed.use(s, known, is_local, bytes, is_output);
        if (!expect(known >= 0 || place != PassedElements::Place::own, "exchanges", step_, "operand ", o, " of stage ", m, " (",
                    stage.name, ") is on no tile: its slices on tiles expected"))
          return;
        expect(place != PassedElements::Place::apart, "exchanges", step_, "operand ", o, " of stage ", m, " (", stage.name,
               ") has elements of storage ", s, " that an earlier op left in other memory: all in one place expected");
        if (place == PassedElements::Place::own) ++(is_output ? writes : reads)[static_cast<std::size_t>(known)];
        if (is_output) elements_.write(s, bytes);
        else if (!is_overwritten(stage, o))
          expect(elements_.read(s, bytes), "exchanges", step_, "operand ", o, " of stage ", m, " (", stage.name,
                 ") reads elements of storage ", s, " that no step wrote there: elements that are written expected");
      }
    }
    check_slices(record, division, slices, reads, writes);
    check_scratch(set, record.grid.places);
  }
  constexpr bool has_stage_operand(const ComputeSet& set, const TileOperand& each) {
    const bool has_stage = each.member >= 0 && each.member < set.stage_count;
    return expect(
        is_owner(static_cast<int>(each.storage)) && has_stage && each.operand >= 0 &&
            each.operand < plan_.stages[static_cast<std::size_t>(set.first_stage + (has_stage ? each.member : 0))].operand_count,
        "exchanges", step_, "operand ", each.operand, " of stage ", each.member, " in storage ", static_cast<int>(each.storage),
        " on tiles: an operand of the step expected");
  }
  constexpr const StageOperand& operand_of(const ComputeSet& set, int m, int o) const {
    const Stage& stage = plan_.stages[static_cast<std::size_t>(set.first_stage + m)];
    return plan_.operands[static_cast<std::size_t>(stage.first_operand + o)];
  }
  constexpr const Location& location_of(const StageOperand& operand) const {
    return plan_.locations[static_cast<std::size_t>(planned().first_location + operand.index)];
  }
  /// Checks that each vertex has a place of its own, on the IPU of the step.
  constexpr bool has_places(const StepRecord& record, const ComputeSet& set, const Division& division) {
    const Places& places = record.grid.places;
    if (!expect(sets_.has(places.set) && record.grid.axes.size() == set.blocks.size() &&
                    static_cast<int>(record.location_storages.size()) == planned().location_count,
                "exchanges", step_, "vertices of ", record.grid.axes.size(), " axes on set ", places.set,
                " of tiles: ", set.blocks.size(), " axes on a set of the plan expected"))
      return false;
    OwnNumbers numbers;
    for (int g = 0; g < set.blocks.size(); ++g) numbers.add(record.grid.axes[g], division.count(g));
    const int ipu = planned().ipu;
    return expect(ipu < 0 || sets_.ipu(places.set) == ipu, "exchanges", step_, "vertices on IPU ", sets_.ipu(places.set),
                  ": IPU ", ipu, ", where the step runs, expected") &&
           expect(numbers.are_below(places.count), "exchanges", step_, division.vertices(), " vertices on ", places.count,
                  " places: a place for each vertex expected");
  }
  /// Checks that slices are on the tiles of their vertices, or have rooms there; and what exchanges count.
  constexpr void check_slices(const StepRecord& record, const Division& division, const List<TileSlices>& slices,
                              const List<int>& reads, const List<int>& writes) {
    const int set = record.grid.places.set;
    const std::int64_t vertices = sets_.on_a_tile(record.grid.places);
    List<const Room*> rooms;
    for (const Room& room : body_->rooms)
      if ((room.kind == RoomKind::received || room.kind == RoomKind::sent) && room.first <= step_ && step_ <= room.last)
        rooms.push_back(&room);
    Moved before, after;
    int from_set = -1;
    for (std::size_t k = 0; k < slices.size(); ++k) {
      if (reads[k] < 0) continue;
      const TileOperand& each = record.tile_operands[k];
      const int s = static_cast<int>(each.storage);
      const TileLayout& layout = storage(s).layout;
      const TileSlices slice = with_axes_of(layout, slices[k]);
      const std::int64_t size = size_of(storage(s).dtype), elements = slice.elements();
      expect(reads[k] + writes[k] > 0 || elements == 0, "exchanges", step_, "operand ", static_cast<int>(k),
             " on tiles, in storage ", s, ", that no op uses: an operand of the step expected");
      expect(each.slice_elements == elements, "exchanges", step_, "slices of ", each.slice_elements, " elements of storage ", s,
             ": ", elements, " expected");
      if (each.access == TileAccess::local) {
        if (planned().kind == StepKind::collective) continue;  // each tile exchanges its own part, whatever the layout is
        expect(are_in_place(slice, layout, record.grid, division, sets_.tiles(set)), "exchanges", step_,
               "vertices access elements of storage ", s, " that are on other tiles: an exchange before the step expected");
        continue;
      }
      const bool receives = reads[k] > 0 || each.access == TileAccess::shared;
      const std::int64_t bytes = vertices * align(elements * size, tile_alignment);
      bool has_room = false;
      for (const Room*& room : rooms)
        if (!has_room && room != nullptr && room->set == set && room->storage == each.storage && room->bytes >= bytes &&
            room->kind == (receives ? RoomKind::received : RoomKind::sent)) {
          room = nullptr;
          has_room = true;
        }
      expect(has_room, "exchanges", step_, "no room of ", bytes, " bytes for slices of storage ", s,
             " from other tiles: a room of their own expected");
      if (layout.places.set != set) from_set = layout.places.set;
      if constexpr (requires { plan_.moves; }) {
        const std::int64_t all = division.vertices() * elements * size, blocks = sets_.on_a_tile(layout.places);
        const std::int64_t least = each.access == TileAccess::shared
                                       ? elements_elsewhere(slice, layout, record.grid, division) * size
                                       : all;
        PieceRange pieces = pieces_of(plan_, planned(), record, each, slices[k], layout, terms_);
        if (!(slice == slices[k])) {  // a plan may count along either axes
          const PieceRange merged = pieces_of(plan_, planned(), record, each, slice, layout, terms_);
          pieces = {(std::min)(pieces.least, merged.least), (std::max)(pieces.most, merged.most)};
        }
        for (Moved* const moved : {&before, &after}) {
          if (!(moved == &before ? receives : writes[k] > 0)) continue;
          moved->least += least, moved->most += all;
          moved->parts += (std::min)(layout.block_elements() * blocks, storage(s).elements) * size;
          moved->add(pieces, vertices, blocks);
          if (moved == &before && are_alike_in_pairs(slice, record.grid, division, sets_.tiles(set)))
            moved->alike += vertices * elements * size;
        }
      }
    }
    expect(from_set < 0 || record.is_tile_copy, "exchanges", step_,
           "an op that copies nothing from other tiles uses a tensor of set ", from_set, " of tiles: a tensor of set ", set,
           " expected");
    const int from_ipu = from_set < 0 || sets_.ipu(from_set) == sets_.ipu(set) ? -1 : sets_.ipu(from_set);
    expect(planned().from_ipu == from_ipu, "exchanges", step_, "a copy from IPU ", planned().from_ipu, ": IPU ", from_ipu,
           " expected");
    if constexpr (requires { plan_.moves; }) check_moves(set, from_set, division.vertices(), vertices, before, after);
  }
  /// Checks that there is room for what a tile's vertices pass on in scratch.
  constexpr void check_scratch(const ComputeSet& set, const Places& places) {
    const std::int64_t bytes = bytes_of_scratch(plan_, set) * sets_.on_a_tile(places);
    std::int64_t room = 0;
    for (const Room& each : body_->rooms)
      if (each.kind == RoomKind::scratch && each.set == places.set && each.first <= step_ && step_ <= each.last)
        room += each.bytes;
    expect(room >= bytes, "tiles", step_, "scratch of ", room, " bytes on a tile: ", bytes, " expected");
  }
  /// `vertices`: of the step, `of_tile`: of the tile with most of them.
  constexpr void check_moves(int set, int from_set, std::int64_t vertices, std::int64_t of_tile, const Moved& before,
                             const Moved& after) {
    const StepMoves* const moves = moves_of(step_);
    if (moves == nullptr) return;
    expect(moves->set == set, "traffic", step_, "counted on set ", moves->set, " of tiles: set ", set, " expected");
    expect(moves->from_set == from_set, "traffic", step_, "counted as from set ", moves->from_set, " of tiles: set ", from_set,
           " expected");
    const auto expect_traffic = [&](bool holds, const auto&... what) { expect(holds, "traffic", step_, what...); };
    check_counts(moves->before, before, true, vertices, of_tile, expect_traffic);
    check_counts(moves->after, after, false, vertices, of_tile, expect_traffic);
  }
  /// Returns what the plan counts for a step, or null if it does not have that.
  constexpr const StepMoves* moves_of(int step) {
    if constexpr (requires { plan_.moves; }) {
      const auto at = static_cast<std::size_t>(first_step_ + step);
      if (expect(at < plan_.moves.size(), "traffic", step, "moves of ", plan_.moves.size(),
                 " steps: those of each step expected"))
        return &plan_.moves[at];
    }
    return nullptr;
  }

  constexpr void check_call(const StepRecord& record) {
    const Step& step = planned();
    const int first = step.first_location;
    for (std::size_t i = 0; i + 1 < record.call_values.size(); ++i) {
      int s = static_cast<int>(record.call_values[i].storage);
      if (storage(s).kind == StorageKind::part) s = storage(s).owner;
      if (!expect(is_owner(s), "exchanges", step_, "an argument in storage ", s, ": a storage of the body expected")) return;
      const bool is_output = static_cast<int>(i) >= record.input_count;
      bool is_found = false;
      const StorageRecord& in = storage(s);
      for (int k = 0; k < step.location_count; ++k) {
        const Location& location = plan_.locations[static_cast<std::size_t>(first + k)];
        is_found = is_found || (location.base == in.location.base && location.index == in.location.index &&
                                location.offset >= in.location.offset &&
                                location.offset <= in.location.offset + in.elements * size_of(in.dtype));
      }
      expect(is_found || !is_on_tiles(in.location.base), "exchanges", step_, "an argument in storage ", s,
             ", where the call has none: a storage of an argument expected");
      use(s, is_output);
    }
  }

  /// Checks that what a step reads on tiles was written there: a storage with memory of the frame is written before it is read,
  /// arguments are there from the start, and results until the end; storages that are in use at the same time have memory of
  /// their own.
  constexpr void check_lives() {
    const int last = static_cast<int>(body_->steps.size()) - 1;
    List<int> in_frame;
    for (int s = 0; s < static_cast<int>(uses_.size()); ++s) {
      const Uses& uses = uses_[static_cast<std::size_t>(s)];
      if (uses.first < 0 || storage(s).elements == 0) continue;
      const Base base = storage(s).location.base;
      if (base == Base::frame) {
        in_frame.push_back(s);
        expect(uses.first_read < 0 || may_be_unwritten(s), "exchanges", uses.first_read, "reads storage ", s,
               " on tiles before a step writes it there: a write before expected");
      }
      if (base != Base::argument) continue;
      const int r = room_of_[static_cast<std::size_t>(s)];
      if (r < 0) continue;
      const Room& room = body_->rooms[static_cast<std::size_t>(r)];
      expect(uses.first_read < 0 || room.first == 0, "tiles", uses.first, "an argument in storage ", s,
             " whose memory is in use from step ", room.first, " on: from the first step on expected");
      expect(uses.last_write < 0 || room.last == last, "tiles", uses.first, "a result in storage ", s,
             " whose memory is in use until step ", room.last, ": until the last step expected");
    }
    sort_items(in_frame,
               [&](int a, int b) { return uses_[static_cast<std::size_t>(a)].first < uses_[static_cast<std::size_t>(b)].first; });
    List<int> live;
    for (const int s : in_frame) {
      const std::int64_t begin = storage(s).location.offset, end = begin + storage(s).elements * size_of(storage(s).dtype);
      const int first = uses_[static_cast<std::size_t>(s)].first;
      erase_if(live, [&](int other) { return uses_[static_cast<std::size_t>(other)].last < first; });
      for (const int other : live) {
        const std::int64_t start = storage(other).location.offset;
        expect(end <= start || begin >= start + storage(other).elements * size_of(storage(other).dtype), "exchanges", first,
               "storages ", other, " and ", s, " are on different tiles, but share bytes of the frame: separate bytes expected");
      }
      live.push_back(s);
    }
  }

  /// Checks the bytes that the host sends before the first step that reads an element of a stream, and gets after the last step
  /// that writes one.
  constexpr void check_streams() {
    List<std::int64_t> in(body_->steps.size(), 0), out(body_->steps.size(), 0);
    for (int s = 0; s < static_cast<int>(uses_.size()); ++s) {
      if (!is_owner(s) || storage(s).location.base != Base::stream) continue;
      const Uses& uses = uses_[static_cast<std::size_t>(s)];
      const std::int64_t bytes = storage(s).elements * size_of(storage(s).dtype);
      if (uses.first_read >= 0) in[static_cast<std::size_t>(uses.first_read)] += bytes;
      if (uses.last_write >= 0) out[static_cast<std::size_t>(uses.last_write)] += bytes;
    }
    for (int step = 0; step < static_cast<int>(in.size()); ++step)
      if (const StepMoves* const moves = moves_of(step))
        expect(moves->host_in == in[static_cast<std::size_t>(step)] && moves->host_out == out[static_cast<std::size_t>(step)],
               "traffic", step, "counts ", moves->host_in, " bytes from the host and ", moves->host_out,
               " to it: ", in[static_cast<std::size_t>(step)], " and ", out[static_cast<std::size_t>(step)], " expected");
  }

  const AnyPlan& plan_;
  SetsOfTiles<AnyPlan> sets_;
  ValueTerms& terms_;
  bool reads_unwritten_;
  FirstFault& fault_;
  CallProof<AnyPlan> calls_;
  WrittenElements<AnyPlan> elements_;
  const BodyOnTiles* body_ = nullptr;
  int first_step_ = 0, step_ = 0;
  List<Uses> uses_{};  // by storage
  List<int> room_of_{};  // by storage: in the body's rooms; -1: none
};

}  // namespace tilewright::internal::proof::detail
