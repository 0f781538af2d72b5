#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/verified/tiles/exchange_counts.hpp"

namespace tilewright::internal::proof::detail {

/// Checks the arguments of calls on tiles: each is where the call's location says, and what is copied to the layouts of the
/// called body, and back, is counted.
template <class AnyPlan>
class CallProof {
 public:
  constexpr CallProof(const AnyPlan& plan, const Target& target, const DataOnTiles& data, FirstFault& fault)
      : plan_(plan), sets_{plan, target}, data_(data), fault_(fault) {}

  constexpr void validate(const BodyOnTiles& body, int number) {
    body_ = &body;
    number_ = number;
    record_ = &body.steps[static_cast<std::size_t>(number)];
    const Step& step = planned();
    const bool is_conditional = step.kind == StepKind::conditional;
    const int first = is_conditional ? 1 : 0, inputs = first + record_->inputs + record_->else_inputs;
    const int others = is_conditional ? step.location_count - 1 - step.arguments : 0;
    if (!expect(record_->inputs >= 0 && record_->outputs >= 0 && record_->inputs + record_->outputs == step.arguments &&
                    record_->else_inputs >= 0 && record_->else_outputs >= 0 &&
                    record_->else_inputs + record_->else_outputs == others && record_->input_count == inputs &&
                    record_->carried >= 0 && record_->carried <= (std::min)(record_->inputs, record_->outputs) &&
                    static_cast<int>(record_->call_values.size()) >
                        inputs + record_->outputs + record_->else_outputs + record_->carried,
                "a call of ", record_->inputs, " inputs and ", record_->outputs, " outputs: ", step.arguments,
                " arguments expected"))
      return;
    for (const BodyId callee : {step.body, step.else_body})
      if (callee != BodyId::none)
        expect(step.ipu < 0 || plan_.bodies.data()[static_cast<std::size_t>(callee)].ipu == step.ipu, "a call on IPU ", step.ipu,
               " of body ", callee, ": the IPU of its steps expected");
    counted_ = {};
    pieces_[0] = pieces_[1] = {};
    if (is_conditional && check_place(0, 0)) expect(storage(0).dtype == boolean, "a condition that is no bool: a bool expected");
    check_arguments(step.body, {record_->inputs, record_->outputs, first, inputs, first});
    if (is_conditional)
      check_arguments(step.else_body, {record_->else_inputs, record_->else_outputs, first + record_->inputs,
                                       inputs + record_->outputs, first + step.arguments});
    check_places_beside(inputs);
    if constexpr (requires { plan_.moves; }) check_counts();
  }

 private:
  /// Numbers of a body's arguments: their first values in the record, and the first location.
  struct Arguments {
    int inputs, outputs, first_input, first_output, first_location;
  };
  constexpr bool expect(bool holds, const auto&... what) {
    return fault_.expect(holds, "exchanges", body_->body, number_, what...);
  }
  constexpr const Step& planned() const {
    return plan_.steps[static_cast<std::size_t>(plan_.bodies.data()[static_cast<std::size_t>(body_->body)].first_step + number_)];
  }
  constexpr const Location& location(int i) const {
    return plan_.locations[static_cast<std::size_t>(planned().first_location + i)];
  }
  constexpr const Value& value(int v) const { return record_->call_values[static_cast<std::size_t>(v)]; }
  /// Returns the storage that owns the memory of a value. ExchangeProof has checked that there is one.
  constexpr const StorageRecord& storage(int v) const {
    const StorageRecord& own = body_->storages[static_cast<std::size_t>(value(v).storage)];
    return own.kind == StorageKind::part ? body_->storages[static_cast<std::size_t>(own.owner)] : own;
  }
  constexpr Location place(int v) const {
    Location result = storage(v).location;
    result.offset += value(v).layout.offset * size_of(storage(v).dtype);
    return result;
  }
  constexpr bool check_place(int v, int at) {
    return expect(location(at) == place(v), "argument ", at, " of a call is not where tiles have it: one place expected");
  }
  /// Checks the places of a loop's argument. What iterations pass on is read where the one before wrote it. Other arguments stay
  /// where they are, or move through a tensor.
  constexpr void check_place_in_loop(int v, int i, const Arguments& all) {
    const Step& step = planned();
    const int count = all.inputs + all.outputs;
    const bool is_input = i < all.inputs, is_carried = (is_input ? i : i - all.inputs) < record_->carried;
    const Location &first = location(i), &second = location(count + i);
    if (is_input && is_carried) {
      check_place(v, i);
      if (step.count > 1)
        expect(second == location(all.inputs + i), "input ", i,
               " of a loop is not what the iteration before wrote: that expected");
      return;
    }
    const int last = step.count == 1 ? 0 : step.count % 2 == 0 ? 1 : 2;  // list of the last iteration
    const Location& found = is_carried ? location(last * count + i) : first;
    const StorageRecord& in = storage(v);
    const bool moves = !is_carried && plan_.strides[static_cast<std::size_t>(step.first_stride + i)] != 0;
    const Location begin = place(v);
    expect(found.base == begin.base && found.index == begin.index &&
               (found.offset == begin.offset ||
                (moves && found.offset > begin.offset && found.offset < begin.offset + in.elements * size_of(in.dtype))) &&
               (is_carried || step.count == 1 || second == first),
           "argument ", i, " of a loop is not where tiles have it: one place expected");
  }
  /// Checks the places behind those of arguments: what a loop passes on from place to place, and inputs that the called body
  /// changes.
  constexpr void check_places_beside(int inputs) {
    const Step& step = planned();
    const int first = inputs + record_->outputs + record_->else_outputs, end = static_cast<int>(record_->call_values.size()) - 1;
    for (int v = first; v < end && !fault_.is_found(); ++v) {
      const int k = v - first;
      if (k < record_->carried) {
        const int turn = step.count == 1 || step.count % 2 == 0 ? 0 : 1;  // list of an iteration that the last one follows
        expect(location(turn * step.arguments + record_->inputs + k) == place(v) && storage(v).dtype == storage(inputs + k).dtype,
               "tensor ", k, " that a loop passes on is not where tiles have it: one place expected");
        continue;
      }
      bool is_input = false;
      for (int i = 0; i < inputs; ++i)
        is_input = is_input || (value(i).storage == value(v).storage && value(i).layout.offset == value(v).layout.offset);
      expect(is_input, "a call changes a tensor that is none of its inputs: an input expected");
    }
  }
  constexpr void check_arguments(BodyId number, const Arguments& all) {
    const BodyOnTiles* callee = nullptr;
    for (const BodyOnTiles& body : data_.bodies)
      if (body.body == number) callee = &body;
    if (!expect(callee != nullptr, "a call of body ", number, ": a body of the plan expected")) return;
    for (int i = 0; i < all.inputs + all.outputs && !fault_.is_found(); ++i) {
      const bool is_input = i < all.inputs;
      const int v = is_input ? all.first_input + i : all.first_output + i - all.inputs;
      if (planned().kind == StepKind::loop) check_place_in_loop(v, i, all);
      else check_place(v, all.first_location + i);
      for (std::size_t s = 0; s < callee->storages.size(); ++s) {
        const StorageRecord& there = callee->storages[s];
        if (there.kind == StorageKind::part || there.location.base != Base::argument || there.location.index != i ||
            !there.layout.is_decided())
          continue;
        bool has_room = false;
        for (const Room& room : callee->rooms)
          has_room = has_room || (room.kind == RoomKind::storage && room.storage == StorageId(s) && room.first == 0);
        expect(has_room, "argument ", i, " of a call has no memory in the called body: its own memory expected");
        count(there, v, i, is_input);
      }
    }
  }
  /// Counts the copy of an argument to its places in the called body, or from there.
  constexpr void count(const StorageRecord& there, int v, int argument, bool is_input) {
    const StorageRecord& here = storage(v);
    expect(there.dtype == here.dtype, "an argument has numbers of ", size_of(here.dtype), " bytes: ", size_of(there.dtype),
           " expected");
    const std::int64_t size = size_of(there.dtype), places = sets_.on_a_tile(there.layout.places);
    const std::int64_t room = bytes_on_a_tile(there.layout) * size;
    if (value(v).layout.offset == 0 && here.elements == there.elements && are_equal(here.layout, there.layout)) {
      counted_.local_bytes += room;
      return;
    }
    const std::int64_t home = here.layout.is_decided() ? bytes_on_a_tile(here.layout) * size : room;
    TileExchange& moved = is_input ? counted_.before : counted_.after;
    moved.bytes_in += is_input ? room : home;
    moved.bytes_out += is_input ? home : room;
    pieces_[is_input ? 0 : 1].add(pieces_of(there, v, argument), places);
    ++moved.sends;
    moved.total_bytes += planned().kind == StepKind::loop
                             ? room * (std::min)(there.layout.places.count, sets_.tiles(there.layout.places.set))
                             : there.elements * size;
  }
  /// Counts the pieces of a block of an argument, in any iteration of a loop, in the memory of the caller.
  constexpr PieceRange pieces_of(const StorageRecord& there, int v, int argument) const {
    const StorageRecord& here = storage(v);
    if (!here.layout.is_decided()) return {1, 1};
    TileSlices blocks{.offset = value(v).layout.offset};
    for (const LayoutAxis& axis : there.layout.axes) blocks.add({axis.stride, axis.extent, axis.block, -1});
    const Step& step = planned();
    if (step.kind == StepKind::loop) {
      const std::int64_t stride = plan_.strides[static_cast<std::size_t>(step.first_stride + argument)] / size_of(here.dtype);
      blocks.add({stride < 0 ? -stride : stride, step.count, 1, -1});
    }
    return PieceCount(blocks, here.layout, false).run();
  }
  constexpr std::int64_t bytes_on_a_tile(const TileLayout& layout) const {
    return layout.block_elements() * sets_.on_a_tile(layout.places);
  }
  constexpr void check_counts() {
    const auto at = static_cast<std::size_t>(plan_.bodies.data()[static_cast<std::size_t>(body_->body)].first_step + number_);
    if (fault_.is_found() || at >= plan_.moves.size()) return;
    const StepMoves& moves = plan_.moves[at];
    const auto validate = [&](bool holds, const auto&... what) {
      fault_.expect(holds, "traffic", body_->body, number_, what...);
    };
    validate(moves.set == -1 && moves.from_set == -1, "a call counted on a set of tiles: none expected");
    validate(moves.local_bytes == counted_.local_bytes, "counts ", moves.local_bytes,
             " bytes of arguments that are copied on a tile: ", counted_.local_bytes, " expected");
    for (const bool after : {false, true}) {
      const TileExchange &counted = after ? moves.after : moves.before, &moved = after ? counted_.after : counted_.before;
      const PieceRange& pieces = pieces_[after];
      validate(counted.total_bytes == moved.total_bytes && counted.bytes_in == moved.bytes_in &&
                   counted.bytes_out == moved.bytes_out && counted.pair_bytes_in == 0 && counted.sends == moved.sends &&
                   has_pieces(counted, pieces),
               "counts ", counted.total_bytes, " bytes of arguments, ", counted.bytes_in, " into and ", counted.bytes_out,
               " out of one tile in ", counted.fragments, " pieces: ", moved.total_bytes, ", ", moved.bytes_in, " and ",
               moved.bytes_out, " in ", pieces.least, " to ", pieces.most, " expected");
    }
  }

  const AnyPlan& plan_;
  SetsOfTiles<AnyPlan> sets_;
  const DataOnTiles& data_;
  FirstFault& fault_;
  const BodyOnTiles* body_ = nullptr;
  const StepRecord* record_ = nullptr;
  int number_ = 0;
  StepMoves counted_{};
  PieceRange pieces_[2]{};  // before the call, and after it
};

}  // namespace tilewright::internal::proof::detail
