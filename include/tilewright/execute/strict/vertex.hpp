#pragma once
#include <cstdlib>
#include <memory>

#include "tilewright/execute/strict/machine.hpp"
#include "tilewright/execute/strict/shadows.hpp"
#include "tilewright/execute/strict/stages.hpp"

namespace tilewright::internal {

/// Runs the vertices of a step on one replica. A vertex gets copies of the elements that it declares to read, at their places in
/// the fast mode's memory; everything else is poison. It runs twice, with two poisons: if it reads undeclared memory, its results
/// differ. (A vertex that prints runs once.) Missing poison reveals writes outside of its declaration.
class StrictVertices {
 public:
  StrictVertices(const ProgramView& program, const StrictPlan& plan, StrictMachine& machine, StrictShadows& shadows,
                 std::size_t body, std::size_t group, std::byte* remote)
      : program_(program),
        plan_(plan),
        machine_(machine),
        shadows_(shadows),
        b_(body),
        g_(group),
        body_(plan.bodies[body]),
        group_(body_.groups[group]),
        step_(plan.step(body, group)),
        set_(plan.set_of(step_)),
        stages_(plan, step_),
        remote_(remote),
        runs_(group_.operands.size()) {}

  /// Copies the slices of all vertices from the tensors' tiles to those of the vertices, or back to them.
  void exchange(bool to_vertices) {
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      const StrictOperand& operand = group_.operands[k];
      if (operand.room < 0 || !operand.is_used || !(to_vertices ? operand.is_read : operand.is_written)) continue;
      const StrictPlace place(machine_, b_, storage(operand));
      for (std::int64_t v = 0; v < step_.vertices; ++v) {
        begin(v);
        StrictPlan::runs_of(operand, coordinates_, runs_[k]);
        if (to_vertices) for_each(k, [&](std::int64_t e, std::byte* slice) { place.read(e, slice); });
        else for_each(k, [&](std::int64_t e, const std::byte* slice) { place.write(e, slice); });
      }
    }
  }
  void run(std::int64_t vertex, ComputeFunction function, FaultRecord* faults) {
    begin(vertex);
    for (std::size_t k = 0; k < runs_.size(); ++k) load(k);
    FaultRecord ignored[max_stages]{};
    for (int side = 0; side < (group_.runs_once ? 1 : 2); ++side) {
      std::byte* operands[max_locations + 1];
      for (int i = 0; i < step_.location_count; ++i) operands[i] = address(i, side);
      operands[step_.location_count] = reinterpret_cast<std::byte*>(side == 0 ? faults : ignored);
      if (const std::string fault = stages_.run(function, operands, vertex, coordinates_, side); !fault.empty()) fail(fault);
    }
    for (std::size_t k = 0; k < runs_.size(); ++k) check_kept(k);
    for (std::size_t k = 0; k < runs_.size(); ++k) take(k);
    for (std::size_t k = 0; k < runs_.size(); ++k) poison(k);
    for (std::size_t k = 0; k < runs_.size(); ++k) check_guards(k);
  }

 private:
  /// Returns the place of a location in streaming memory.
  std::byte* rows(const Location& location) const {
    std::byte* const first = location.index == 0 ? remote_ : program_.mapped[static_cast<std::size_t>(location.index) - 1];
    return first + location.offset;
  }
  friend void run_collective_step(std::vector<StrictVertices>& replicas, ComputeFunction function, std::int64_t items);

  const StrictStorage& storage(const StrictOperand& operand) const {
    return body_.storages[static_cast<std::size_t>(operand.storage)];
  }
  std::byte* address(int location, int side) const {
    const Location& at = program_.locations[static_cast<std::size_t>(step_.first_location + location)];
    if (at.base == Base::position) return OperandAddress(&position_origin).for_kernel() + at.offset;
    const int s = group_.location_storages[static_cast<std::size_t>(location)];
    return shadows_.data(b_, s, side) + (at.offset - body_.storages[static_cast<std::size_t>(s)].location.offset);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw StrictError(
        strict_text({"strict: ", plan_.name_of_step(b_, g_), ", vertex ", vertex_, " on tile ", tile_, ": ", what}));
  }
  std::string name(const StrictOperand& operand, std::int64_t e) const {
    return strict_text({"element ", e, " of ", plan_.name_of(b_, operand.storage)});
  }
  void begin(std::int64_t vertex) {
    vertex_ = vertex;
    const std::int64_t place = StrictPlan::locate(set_, group_, vertex, coordinates_);
    tile_ = group_.grid.places.tile(place, plan_.program.sets);
    slot_ = group_.grid.places.slot(place, plan_.program.sets);
  }
  /// Calls f(element, its bytes) for what the vertex has of an operand: in a room of slices on its tile, in the tile's part of
  /// the storage, or in streaming memory.
  template <class F>
  void for_each(std::size_t k, F f) const {
    const StrictOperand& operand = group_.operands[k];
    const StrictStorage& of = storage(operand);
    std::byte* first = nullptr;
    if (operand.is_remote) first = rows(of.location);
    else if (operand.room < 0) first = machine_.data(tile_, machine_.address_of(b_, of));
    else first = machine_.data(tile_, machine_.address_of_room(b_, operand.room) + slot_ * StrictPlan::slice_bytes(operand, of));
    std::int64_t next = 0;
    for (const ElementRun& run : runs_[k])
      for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step, next += of.bytes)
        f(e, first + (operand.is_remote  ? e * of.bytes
                      : operand.room < 0 ? std::int64_t{of.offsets[static_cast<std::size_t>(e)]}
                                         : next));
  }
  void load(std::size_t k) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used) return;
    StrictPlan::runs_of(operand, coordinates_, runs_[k]);
    if (!operand.is_read) return;
    const std::int64_t bytes = storage(operand).bytes;
    std::byte* const shadows[] = {shadows_.data(b_, operand.storage, 0), shadows_.data(b_, operand.storage, 1)};
    for_each(k, [&](std::int64_t e, const std::byte* from) {
      for (std::byte* const to : shadows) std::memcpy(to + e * bytes, from, static_cast<std::size_t>(bytes));
    });
  }
  /// Copies the vertex's results to its tile. Those of a vertex that runs once are not compared.
  void take(std::size_t k) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used || !operand.is_written) return;
    const std::int64_t bytes = storage(operand).bytes;
    const std::byte* const shadows[] = {shadows_.data(b_, operand.storage, 0), shadows_.data(b_, operand.storage, 1)};
    for_each(k, [&](std::int64_t e, std::byte* to) {
      const std::byte* const data = shadows[0] + e * bytes;
      if (!group_.runs_once && std::memcmp(data, shadows[1] + e * bytes, static_cast<std::size_t>(bytes)) != 0)
        fail_of_difference(operand, e, data);
      std::memcpy(to, data, static_cast<std::size_t>(bytes));
    });
  }
  [[noreturn]] void fail_of_difference(const StrictOperand& operand, std::int64_t e, const std::byte* data) const {
    const StrictStorage& of = storage(operand);
    bool is_poison = true;
    for (std::int64_t i = 0; i < of.bytes; ++i) is_poison = is_poison && data[i] == StrictShadows::poison_of(of.dtype, 0);
    if (is_poison) fail(strict_text({name(operand, e), " is declared to be written, and is not"}));
    fail(strict_text({name(operand, e), " depends on elements that the op does not declare to read"}));
  }
  bool writes(int storage, std::int64_t e) const {
    for (std::size_t k = 0; k < runs_.size(); ++k)
      if (const StrictOperand& each = group_.operands[k]; each.storage == storage && each.is_used && each.is_written)
        for (const ElementRun& run : runs_[k])
          if (run.has(e)) return true;
    return false;
  }
  /// Checks that memory that a vertex only reads is unchanged.
  void check_kept(std::size_t k) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used || !operand.is_read || operand.is_written || operand.is_remote) return;
    const std::int64_t bytes = storage(operand).bytes;
    const std::byte* const shadow = shadows_.data(b_, operand.storage, 0);
    for_each(k, [&](std::int64_t e, const std::byte* from) {
      if (std::memcmp(shadow + e * bytes, from, static_cast<std::size_t>(bytes)) != 0 && !writes(operand.storage, e))
        fail(strict_text({name(operand, e), " is written, and declared to be read only"}));
    });
  }
  void poison(std::size_t k) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used) return;
    const StrictStorage& of = storage(operand);
    for (int side = 0; side < 2; ++side) {
      std::byte* const shadow = shadows_.data(b_, operand.storage, side);
      const int value = static_cast<int>(StrictShadows::poison_of(of.dtype, side));
      for (const ElementRun& run : runs_[k]) {
        if (run.step == 1) {
          std::memset(shadow + run.first * of.bytes, value, static_cast<std::size_t>(run.count * of.bytes));
          continue;
        }
        for (std::int64_t i = 0; i < run.count; ++i)
          std::memset(shadow + (run.first + i * run.step) * of.bytes, value, static_cast<std::size_t>(of.bytes));
      }
    }
  }
  /// Checks the poison around an operand's declared memory.
  void check_guards(std::size_t k) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used || runs_[k].empty()) return;
    const std::int64_t bytes = storage(operand).bytes;
    std::int64_t least = runs_[k][0].first, most = least;
    for (const ElementRun& run : runs_[k]) {
      const std::int64_t last = run.first + (run.count - 1) * run.step;
      least = (std::min)({least, run.first, last});
      most = (std::max)({most, run.first, last});
    }
    const auto runs = static_cast<std::int64_t>(runs_[k].size());
    for (int side = 0; side < 2; ++side) {
      if ((most - least + 1) * bytes <= runs * 4 * strict_guard + 4096) {
        check_guard(operand, least * bytes - strict_guard, (most + 1) * bytes + strict_guard, side);
        continue;
      }
      for (const ElementRun& run : runs_[k]) {
        const std::int64_t last = run.first + (run.count - 1) * run.step;
        if (std::abs(run.step) * bytes <= 2 * strict_guard) {
          check_guard(operand, (std::min)(run.first, last) * bytes - strict_guard,
                      ((std::max)(run.first, last) + 1) * bytes + strict_guard, side);
          continue;
        }
        for (std::int64_t i = 0; i < run.count; ++i) {
          const std::int64_t at = (run.first + i * run.step) * bytes;
          check_guard(operand, at - strict_guard, at + bytes + strict_guard, side);
        }
      }
    }
  }
  void check_guard(const StrictOperand& operand, std::int64_t begin, std::int64_t end, int side) const {
    const StrictStorage& of = storage(operand);
    const std::byte poison = StrictShadows::poison_of(of.dtype, side);
    const std::byte* const shadow = shadows_.data(b_, operand.storage, side);
    if (shadow[begin] == poison &&
        std::memcmp(shadow + begin, shadow + begin + 1, static_cast<std::size_t>(end - begin - 1)) == 0)
      return;
    while (shadow[begin] == poison) ++begin;
    const std::int64_t e = begin >= 0 ? begin / of.bytes : (begin + 1) / of.bytes - 1;
    fail(strict_text({name(operand, e), " is written, and not declared to be"}));
  }

  const ProgramView& program_;
  const StrictPlan& plan_;
  StrictMachine& machine_;
  StrictShadows& shadows_;
  std::size_t b_, g_;
  const StrictBody& body_;
  const StrictGroup& group_;
  const Step& step_;
  const ComputeSet& set_;
  StrictStages stages_;
  std::byte* remote_;  // streaming memory of the replica
  std::vector<std::vector<ElementRun>> runs_;  // by operand: what the vertex has of it
  std::int64_t coordinates_[max_work_axes]{};
  std::int64_t vertex_ = 0, tile_ = 0, slot_ = 0;
};

/// Runs a collective: reads inputs of all replicas at their homes, and writes outputs there.
[[gnu::cold]] inline void run_collective_step(std::vector<StrictVertices>& replicas, ComputeFunction function,
                                              std::int64_t items) {
  const StrictVertices& first = replicas.front();
  const auto count = replicas.size();
  const StrictOperand *input = nullptr, *output = nullptr;
  for (const StrictOperand& operand : first.group_.operands) {
    if (operand.operand == 0) input = &operand;
    if (operand.is_written) output = &operand;
  }
  const StrictStorage &from = first.storage(*input), &to = first.storage(*output);
  const bool in_place = &from == &to;
  constexpr std::int64_t guard = 256;
  std::vector<std::unique_ptr<AlignedMemory>> memory[2];  // of inputs, then of outputs that are not in place
  std::vector<ElementRun> reads, writes;
  StrictPlan::runs_of(*input, nullptr, reads);
  StrictPlan::runs_of(*output, nullptr, writes);
  const auto for_each = [](const std::vector<ElementRun>& runs, auto f) {
    for (const ElementRun& run : runs)
      for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step) f(e);
  };
  for (int side = 0; side < 2; ++side) {
    const auto make = [&](const StrictStorage& of) {
      const std::int64_t bytes = of.elements * of.bytes + 2 * guard;
      memory[side].push_back(std::make_unique<AlignedMemory>(bytes, "shadows in strict mode"));
      std::memset(memory[side].back()->data(), static_cast<int>(StrictShadows::poison_of(of.dtype, side)),
                  static_cast<std::size_t>(bytes));
    };
    const auto place = [&](std::size_t number, int location, const StrictStorage& of) {
      const auto& at = first.program_.locations[static_cast<std::size_t>(first.step_.first_location + location)];
      return memory[side][number]->data() + guard + at.offset - of.location.offset;
    };
    for (StrictVertices& each : replicas) {
      make(from);
      const StrictPlace home(each.machine_, each.b_, from);
      for_each(reads, [&](std::int64_t e) { home.read(e, memory[side].back()->data() + guard + e * from.bytes); });
    }
    if (!in_place)
      for (std::size_t r = 0; r < count; ++r) make(to);
    std::vector<std::byte*> operands;
    for (std::size_t r = 0; r < count; ++r) operands.push_back(place(r, 0, from));
    for (std::size_t r = 0; r < count; ++r)
      operands.push_back(place(in_place ? r : count + r, first.step_.location_count - 1, to));
    function(operands.data(), 0, items, false);
  }
  for (std::size_t r = 0; r < count; ++r) {
    const StrictPlace home(replicas[r].machine_, replicas[r].b_, to);
    const std::byte* const sides[] = {memory[0][in_place ? r : count + r]->data() + guard,
                                      memory[1][in_place ? r : count + r]->data() + guard};
    for_each(writes, [&](std::int64_t e) {
      const std::byte* const data = sides[0] + e * to.bytes;
      if (std::memcmp(data, sides[1] + e * to.bytes, static_cast<std::size_t>(to.bytes)) != 0)
        replicas[r].fail_of_difference(*output, e, data);
      home.write(e, data);
    });
  }
}

}  // namespace tilewright::internal
