#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/verified/memory/written_bytes.hpp"
#include "tilewright/verified/tiles/tile_table.hpp"

namespace tilewright::internal::proof::detail {

/// Follows which elements of its storages a body has written on tiles, step by step, with those that called bodies write.
template <class AnyPlan>
class WrittenElements {
 public:
  /// `reads_unwritten`: whether a step computes of bytes that no step wrote, in storages that begin undefined.
  constexpr WrittenElements(const AnyPlan& plan, const DataOnTiles& data, bool reads_unwritten, FirstFault& fault)
      : plan_(plan), reads_unwritten_(reads_unwritten), fault_(fault), bodies_(data.bodies.size()) {}

  /// Begins a body. Called bodies come before their callers.
  constexpr void begin(const BodyOnTiles& body) {
    body_ = &body;
    written_.assign(body.storages.size(), {});
    read_.assign(body.storages.size(), {});
  }
  /// Records that a step writes elements of a storage.
  constexpr void write(int s, const Access& bytes) {
    if (is_followed(storage(s))) written_[static_cast<std::size_t>(s)].write(bytes, bytes_of(storage(s)));
  }
  /// Records that a step reads elements of a storage. Returns whether they are there: written, or given.
  constexpr bool read(int s, const Access& bytes) {
    if (!is_followed(storage(s)) || may_be_unwritten(storage(s))) return true;
    if (written_[static_cast<std::size_t>(s)].has(bytes)) return true;
    if (storage(s).location.base == Base::frame) return false;
    return read(s, WrittenBytes::of(bytes), 0);
  }
  /// Records what a call, a loop or a conditional reads and writes. Its arguments are where the plan has them.
  constexpr void call(int number, const Step& step) {
    number_ = number;
    record_ = &body_->steps[static_cast<std::size_t>(number)];
    if (step.kind != StepKind::conditional) {
      for (std::int64_t n = 0; n < step.count && !fault_.is_found(); ++n)
        run(step, {step.body, step.arguments, record_->inputs, 0, 0}, n);
      return;
    }
    read_condition(plan_.locations[static_cast<std::size_t>(step.first_location)]);
    const List<WrittenBytes> before = written_;
    run(step, {step.body, step.arguments, record_->inputs, 1, 1}, 0);
    const List<WrittenBytes> after = std::exchange(written_, before);
    run(step,
        {step.else_body, step.location_count - 1 - step.arguments, record_->else_inputs, 1 + record_->inputs, 1 + step.arguments},
        0);
    for (std::size_t s = 0; s < written_.size(); ++s) written_[s] = written_[s].common(after[s]);
  }
  /// Ends a body: keeps what it does to its arguments for the calls of it.
  constexpr void end() {
    Called& own = bodies_[ended_++];
    own.body = body_->body;
    for (std::size_t s = 0; s < body_->storages.size(); ++s) {
      const StorageRecord& each = body_->storages[s];
      if (each.kind == StorageKind::part || each.location.base != Base::argument || !each.layout.is_decided()) continue;
      for (const Argument& other : own.arguments)
        fault_.expect(other.number != each.location.index, "exchanges", body_->body, -1, "two storages are argument ",
                      each.location.index, ": one expected");
      if (may_be_unwritten(each)) written_[s].write({0, 1, 1, {bytes_of(each)}, {1}}, bytes_of(each));
      own.arguments.push_back({each.location.index, bytes_of(each), std::move(read_[s]), std::move(written_[s])});
    }
  }

 private:
  /// Bytes of an argument of a body, from the start of the argument.
  struct Argument {
    int number = 0;
    std::int64_t bytes = 0;
    WrittenBytes read{};  // before they are written
    WrittenBytes written{};  // by the end of the body
  };
  struct Called {
    BodyId body = BodyId::none;
    List<Argument> arguments{};
  };
  /// A body that a step calls: its arguments, the first `inputs` of which are inputs; the value of the first one in the step's
  /// record, and its first location.
  struct Call {
    BodyId body;
    int arguments, inputs, first_input, first_location;
  };
  /// Use of an argument by a call. It loses what its body writes to an input that the call does not say it changes: that is on
  /// tiles of the called body only.
  enum class Use { reads, loses, writes };
  constexpr bool expect(bool holds, const auto&... what) {
    return fault_.expect(holds, "exchanges", body_->body, number_, what...);
  }
  constexpr const StorageRecord& storage(int s) const { return body_->storages[static_cast<std::size_t>(s)]; }
  static constexpr std::int64_t bytes_of(const StorageRecord& storage) { return storage.elements * size_of(storage.dtype); }
  /// Returns whether elements are there only after steps have written them, or if a caller gives them.
  static constexpr bool is_followed(const StorageRecord& storage) {
    return storage.location.base == Base::frame || storage.location.base == Base::argument;
  }
  constexpr bool may_be_unwritten(const StorageRecord& storage) const {
    return reads_unwritten_ && storage.kind == StorageKind::undefined_owner;
  }
  /// Records that bytes are read, each `shift` bytes on. Returns whether they are written, or given.
  constexpr bool read(int s, const WrittenBytes& bytes, std::int64_t shift) {
    const WrittenBytes& written = written_[static_cast<std::size_t>(s)];
    if (!is_followed(storage(s)) || may_be_unwritten(storage(s)) || written.has(bytes, shift)) return true;
    if (storage(s).location.base == Base::frame) return false;
    WrittenBytes moved;
    moved.add(bytes, shift);
    read_[static_cast<std::size_t>(s)].add(moved.without(written));
    return true;
  }

  // ---- calls

  constexpr int owner(const Value& value) const {
    const StorageRecord& own = storage(static_cast<int>(value.storage));
    return own.kind == StorageKind::part ? own.owner : static_cast<int>(value.storage);
  }
  /// Finds the storage of the call at a location; -1: none is there.
  constexpr int find(const Location& at) const {
    for (std::size_t v = 0; v + 1 < record_->call_values.size(); ++v) {
      const int s = owner(record_->call_values[v]);
      const Location& first = storage(s).location;
      if (first.base == at.base && first.index == at.index && first.offset <= at.offset &&
          at.offset < first.offset + bytes_of(storage(s)))
        return s;
    }
    return -1;
  }
  /// Returns whether a call says that it changes an input.
  constexpr bool says_changed(int input) const {
    const Value& given = record_->call_values[static_cast<std::size_t>(input)];
    const auto first = static_cast<std::size_t>(record_->input_count + record_->outputs + record_->else_outputs +
                                                record_->carried);
    for (std::size_t v = first; v + 1 < record_->call_values.size(); ++v)
      if (record_->call_values[v].storage == given.storage && record_->call_values[v].layout.offset == given.layout.offset)
        return true;
    return false;
  }
  constexpr void read_condition(const Location& at) {
    if (const int s = find(at); s >= 0)
      expect(read(s, Access{at.offset - storage(s).location.offset, 1, 0, {}, {}}), "reads a condition in storage ", s,
             " that no step wrote there: a condition that is written expected");
  }
  /// Records what a called body does in an iteration. Tiles copy its arguments before it and its results after it.
  constexpr void run(const Step& step, const Call& call, std::int64_t iteration) {
    const Called* callee = nullptr;
    for (std::size_t b = 0; b < ended_; ++b)
      if (bodies_[b].body == call.body) callee = &bodies_[b];
    if (!expect(callee != nullptr, "a call of body ", call.body, " before its data: data of called bodies first expected"))
      return;
    for (const Use use : {Use::reads, Use::loses, Use::writes})
      for (const Argument& each : callee->arguments) {
        const bool is_input = each.number >= 0 && each.number < call.inputs;
        if ((use == Use::reads ? each.read : each.written).is_empty()) continue;
        if (use != Use::reads && (use == Use::loses) != (is_input && !says_changed(call.first_input + each.number))) continue;
        const int s = find_argument(step, call, each, iteration);
        if (s < 0) return;
        WrittenBytes& written = written_[static_cast<std::size_t>(s)];
        if (use == Use::reads) {
          expect(is_input, "result ", each.number, " of a call is read before it is written: a write expected");
          expect(read(s, each.read, shift_), "a call reads elements of storage ", s,
                 " that no step wrote there: elements that are written expected");
        } else if (use == Use::loses) {
          expect(storage(s).location.base == Base::frame, "a call changes input ", each.number,
                 ", and does not say so: a change that it copies back expected");
          written = written.without(each.written, shift_);
        } else if (is_followed(storage(s))) {
          written.add(each.written, shift_);
        }
      }
  }
  /// Finds the storage of the caller with an argument; sets shift_. -1: there is none, which is a fault.
  constexpr int find_argument(const Step& step, const Call& call, const Argument& given, std::int64_t iteration) {
    const int i = given.number, list = step.kind != StepKind::loop || iteration == 0 ? 0 : iteration % 2 == 1 ? 1 : 2;
    if (!expect(i >= 0 && i < call.arguments, "argument ", i, " of a body that a call gives ", call.arguments,
                ": one of them expected"))
      return -1;
    Location at =
        plan_.locations[static_cast<std::size_t>(step.first_location + call.first_location + list * call.arguments + i)];
    if (step.kind == StepKind::loop) at.offset += iteration * plan_.strides[static_cast<std::size_t>(step.first_stride + i)];
    const int s = find(at);
    if (s >= 0) shift_ = at.offset - storage(s).location.offset;
    const bool is_in = s >= 0 && shift_ + given.bytes <= bytes_of(storage(s));
    expect(is_in, "argument ", i, " of ", given.bytes, " bytes is in no tensor of the call: a tensor with them expected");
    return is_in ? s : -1;
  }

  const AnyPlan& plan_;
  bool reads_unwritten_;
  FirstFault& fault_;
  List<Called> bodies_;  // that have ended
  std::size_t ended_ = 0;
  const BodyOnTiles* body_ = nullptr;
  const StepRecord* record_ = nullptr;
  int number_ = 0;
  std::int64_t shift_ = 0;  // from the start of a storage to that of an argument in it
  List<WrittenBytes> written_{}, read_{};  // by storage; read: before it was written
};

}  // namespace tilewright::internal::proof::detail
