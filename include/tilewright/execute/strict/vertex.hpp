#pragma once
#include <cstdlib>
#include <memory>

#include "tilewright/execute/strict/product_banks.hpp"
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

  void run(std::int64_t vertex, ComputeFunction function, FaultRecord* faults, std::uint32_t version) {
    if (first_version_ == 0) first_version_ = version;
    vertex_ = vertex;
    std::int64_t coordinates[max_work_axes];
    const std::int64_t place = StrictPlan::locate(set_, group_, vertex, coordinates);
    tile_ = group_.grid.places.tile(place, plan_.program.sets);
    slot_ = group_.grid.places.slot(place, plan_.program.sets);
    for (std::size_t k = 0; k < group_.operands.size(); ++k)
      if (group_.operands[k].is_used) {
        StrictPlan::runs_of(group_.operands[k], coordinates, runs_[k]);
        if (runs_[k].empty() && storage(group_.operands[k]).elements > 0)
          fail(strict_text({"an operand that declares no element of ", plan_.name_of(b_, group_.operands[k].storage)}));
      }
    if (group_.bank_step.banks > OperandBanks::same) check_banks();
    for (std::size_t k = 0; k < group_.operands.size(); ++k) load(k);
    FaultRecord ignored[max_stages]{};
    for (int side = 0; side < (group_.runs_once ? 1 : 2); ++side) {
      std::byte* operands[max_locations + 1];
      for (int i = 0; i < step_.location_count; ++i) operands[i] = address(i, side);
      operands[step_.location_count] = reinterpret_cast<std::byte*>(side == 0 ? faults : ignored);
      if (const std::string fault = stages_.run(function, operands, vertex, coordinates, side); !fault.empty()) fail(fault);
    }
    if (group_.runs_once)
      for (std::size_t k = 0; k < group_.operands.size(); ++k) copy_results(k);
    for (std::size_t k = 0; k < group_.operands.size(); ++k) take(k, version);
    for (std::size_t k = 0; k < group_.operands.size(); ++k) check_kept(k, version);
    for (std::size_t k = 0; k < group_.operands.size(); ++k) poison(k);
    for (std::size_t k = 0; k < group_.operands.size(); ++k) check_guards(k);
  }

 private:
  /// Returns the place of a location in streaming memory.
  std::byte* rows(const Location& location) const {
    std::byte* const first = location.index == 0 ? remote_ : program_.mapped[static_cast<std::size_t>(location.index) - 1];
    return first + location.offset;
  }
  friend void run_collective_step(std::vector<StrictVertices>& replicas, ComputeFunction function, std::int64_t items,
                                  std::uint32_t version);

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
  /// Location of an operand's elements for the vertex: contiguous in a room of slices, or at home.
  struct Source {
    LiveRoom* room = nullptr;
    std::int64_t next = 0;  ///< in a room of slices, in bytes from its start
    bool is_home = false;
  };
  Source source(const StrictOperand& operand) const {
    const StrictStorage& of = storage(operand);
    if (operand.access == TileAccess::local) return {&machine_.room_of(b_, of), 0, true};
    return {&machine_.room(b_, operand.room), slot_ * StrictPlan::slice_bytes(operand, of), false};
  }
  /// Returns the offset in the room of an element on the vertex's tile, for the next element of a slice.
  std::int64_t offset_of(Source& from, const StrictOperand& operand, std::int64_t e) const {
    const StrictStorage& of = storage(operand);
    if (!from.is_home) {
      from.next += of.bytes;
      return from.next - of.bytes;
    }
    const auto at = static_cast<std::size_t>(e);
    if (e < 0 || at >= of.tiles.size()) fail(strict_text({name(operand, e), ": there is no such element"}));
    if (of.tiles[at] != tile_) fail(strict_text({name(operand, e), " is on tile ", of.tiles[at]}));
    return of.offsets[at];
  }

  // ---- banks

  /// Returns the address on the tile of the first element of the vertex's slice.
  std::int64_t first_address(int operand) const {
    const auto k = static_cast<std::size_t>(operand);
    Source from = source(group_.operands[k]);
    const std::int64_t offset = offset_of(from, group_.operands[k], runs_[k].front().first);
    return from.room->begin + offset;
  }
  /// Checks that operands lie in the banks for which the plan counts the step's cycles.
  [[gnu::cold]] void check_banks() const {
    const BankStep& step = group_.bank_step;
    if (step.use != BankUse::elements) {
      if (const std::string fault = fault_of_product_banks(plan_, machine_, b_, g_); !fault.empty()) fail(fault);
      return;
    }
    const int x = step.x.operand, y = step.y.operand, result = step.result.operand;
    expect_apart(x, y);
    if (step.banks != OperandBanks::interleaved) return;
    if (result == x) return expect_interleaved(x);
    expect_apart(x, result);
    expect_apart(y, result);
  }
  void expect_apart(int a, int b) const {
    const std::int64_t first = first_address(a), second = first_address(b), least = plan_.bank_rules.distance;
    if (std::abs(first - second) >= least) return;
    fail(strict_text({name_of_operand(a), " at byte ", first, " and ", name_of_operand(b), " at byte ", second,
                      " can share a bank, and the plan counts cycles for different ones: at least ", least,
                      " bytes between them expected"}));
  }
  void expect_interleaved(int operand) const {
    const std::int64_t first = first_address(operand);
    const TileSetUse& set = plan_.program.tile_sets[static_cast<std::size_t>(group_.grid.places.set)];
    const std::int64_t least = set.data_bytes() - plan_.bank_rules.interleaved_bytes;
    if (first >= least) return;
    fail(strict_text({name_of_operand(operand), " at byte ", first,
                      " is not in interleaved memory, for which the plan counts cycles: byte ", least, " or more expected"}));
  }
  std::string name_of_operand(int operand) const {
    return plan_.name_of(b_, group_.operands[static_cast<std::size_t>(operand)].storage);
  }

  void load(std::size_t k) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used || !operand.is_read) return;
    const StrictStorage& of = storage(operand);
    const auto size = static_cast<std::size_t>(of.bytes);
    std::byte* const shadows[] = {shadows_.data(b_, operand.storage, 0), shadows_.data(b_, operand.storage, 1)};
    if (operand.is_remote) {
      const std::byte* const from = rows(of.location);
      for (const ElementRun& run : runs_[k])
        for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step)
          for (std::byte* const to : shadows) std::memcpy(to + e * of.bytes, from + e * of.bytes, size);
      return;
    }
    if (!operand.writers.empty()) mark_written(operand);
    const StrictTensor& tensor = machine_.tensor_of(b_, of);
    Source from = source(operand);
    for (const ElementRun& run : runs_[k])
      for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step) {
        const std::int64_t offset = offset_of(from, operand, e);
        if (!operand.writers.empty() && marks_[static_cast<std::size_t>(e)] != 0) continue;
        const ElementTag* const tag = machine_.tag(*from.room, tile_, offset);
        const ElementTag expected{tensor.number, static_cast<std::uint32_t>(e), tensor.versions[static_cast<std::size_t>(e)]};
        if (tag == nullptr || expected.version == 0 || !(*tag == expected))
          fail(strict_text({name(operand, e), " is to be read: found ", machine_.found(tag, expected)}));
        const std::byte* const data = machine_.data(tile_, from.room->begin + offset);
        for (std::byte* const to : shadows) std::memcpy(to + e * of.bytes, data, size);
      }
  }
  /// Marks the elements that other operands write before this one is read.
  void mark_written(const StrictOperand& operand) {
    marks_.assign(static_cast<std::size_t>(storage(operand).elements), 0);
    for (const int k : operand.writers)
      for (const ElementRun& run : runs_[static_cast<std::size_t>(k)])
        for (std::int64_t i = 0; i < run.count; ++i) marks_[static_cast<std::size_t>(run.first + i * run.step)] = 1;
  }
  /// Copies results instead of a second run.
  void copy_results(std::size_t k) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used || !operand.is_written) return;
    const std::int64_t bytes = storage(operand).bytes;
    const std::byte* const from = shadows_.data(b_, operand.storage, 0);
    std::byte* const to = shadows_.data(b_, operand.storage, 1);
    for (const ElementRun& run : runs_[k])
      for (std::int64_t i = 0; i < run.count; ++i) {
        const std::int64_t at = (run.first + i * run.step) * bytes;
        std::memcpy(to + at, from + at, static_cast<std::size_t>(bytes));
      }
  }
  /// Copies the vertex's results to its tile.
  void take(std::size_t k, std::uint32_t version) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used || !operand.is_written) return;
    const StrictStorage& of = storage(operand);
    const auto size = static_cast<std::size_t>(of.bytes);
    const std::byte* const shadows[] = {shadows_.data(b_, operand.storage, 0), shadows_.data(b_, operand.storage, 1)};
    Source to{};
    StrictTensor* tensor = nullptr;
    if (!operand.is_remote) {
      to = source(operand);
      tensor = &machine_.tensor_of(b_, of);
      tensor->is_written = true;
    }
    for (const ElementRun& run : runs_[k])
      for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step) {
        const std::byte* const data = shadows[0] + e * of.bytes;
        if (std::memcmp(data, shadows[1] + e * of.bytes, size) != 0) fail_of_difference(operand, e, data);
        if (operand.is_remote) {
          std::memcpy(rows(of.location) + e * of.bytes, data, size);
          continue;
        }
        const std::int64_t offset = offset_of(to, operand, e);
        ElementTag* const tag = machine_.tag(*to.room, tile_, offset);
        if (tag == nullptr) fail(strict_text({name(operand, e), " is written, and its room is not in use"}));
        auto& current = tensor->versions[static_cast<std::size_t>(e)];
        if (current >= first_version_ && current < version) fail(strict_text({name(operand, e), " is written by two vertices"}));
        current = version;
        *tag = {tensor->number, static_cast<std::uint32_t>(e), version};
        std::memcpy(machine_.data(tile_, to.room->begin + offset), data, size);
      }
  }
  [[noreturn]] void fail_of_difference(const StrictOperand& operand, std::int64_t e, const std::byte* data) const {
    const StrictStorage& of = storage(operand);
    bool is_poison = true;
    for (std::int64_t i = 0; i < of.bytes; ++i) is_poison = is_poison && data[i] == StrictShadows::poison_of(of.dtype, 0);
    if (is_poison) fail(strict_text({name(operand, e), " is declared to be written, and is not"}));
    fail(strict_text({name(operand, e), " depends on elements that the op does not declare to read"}));
  }
  /// Checks that memory that a vertex only reads is unchanged.
  void check_kept(std::size_t k, std::uint32_t version) {
    const StrictOperand& operand = group_.operands[k];
    if (!operand.is_used || !operand.is_read || operand.is_written || operand.is_remote) return;
    const StrictStorage& of = storage(operand);
    const auto size = static_cast<std::size_t>(of.bytes);
    const StrictTensor& tensor = machine_.tensor_of(b_, of);
    const std::byte* const shadow = shadows_.data(b_, operand.storage, 0);
    Source from = source(operand);
    for (const ElementRun& run : runs_[k])
      for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step) {
        const std::int64_t offset = offset_of(from, operand, e);
        if (tensor.versions[static_cast<std::size_t>(e)] == version) continue;  // another operand writes it
        if (std::memcmp(shadow + e * of.bytes, machine_.data(tile_, from.room->begin + offset), size) != 0)
          fail(strict_text({name(operand, e), " is written, and declared to be read only"}));
      }
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
  std::vector<char> marks_;
  std::uint32_t first_version_ = 0;  // of the step
  std::int64_t vertex_ = 0, tile_ = 0, slot_ = 0;
};

/// Runs a collective: reads inputs of all replicas at their homes, and writes outputs there.
[[gnu::cold]] inline void run_collective_step(std::vector<StrictVertices>& replicas, ComputeFunction function, std::int64_t items,
                                              std::uint32_t version) {
  const StrictVertices& first = replicas.front();
  const auto count = replicas.size();
  const int last_location = first.step_.location_count - 1;
  const StrictOperand *input = nullptr, *output = nullptr;
  for (const StrictOperand& operand : first.group_.operands) {
    if (operand.operand == 0) input = &operand;
    if (operand.is_written) output = &operand;
  }
  if (input == nullptr || output == nullptr) throw std::logic_error("strict: a collective without operands");
  const StrictStorage &from = first.storage(*input), &to = first.storage(*output);
  const bool in_place = &from == &to;
  constexpr std::int64_t guard = 256;
  std::vector<std::unique_ptr<AlignedMemory>> memory[2];
  std::vector<ElementRun> reads, writes;
  StrictPlan::runs_of(*input, nullptr, reads);
  StrictPlan::runs_of(*output, nullptr, writes);
  const std::string reader = first.plan_.name_of_step(first.b_, first.g_);
  for (int side = 0; side < 2; ++side) {
    std::vector<std::byte*> operands;
    const auto make = [&](const StrictStorage& of) {
      const std::int64_t bytes = of.elements * of.bytes + 2 * guard;
      memory[side].push_back(std::make_unique<AlignedMemory>(bytes, "shadows in strict mode"));
      std::memset(memory[side].back()->data(), static_cast<int>(StrictShadows::poison_of(of.dtype, side)),
                  static_cast<std::size_t>(bytes));
    };
    const auto offset = [&](int location, const StrictStorage& of) {
      return guard + first.program_.locations[static_cast<std::size_t>(first.step_.first_location + location)].offset -
             of.location.offset;
    };
    for (StrictVertices& each : replicas) {
      make(from);
      const StrictPlace place(each.machine_, each.b_, from);
      for (const ElementRun& run : reads)
        for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step)
          std::memcpy(memory[side].back()->data() + guard + e * from.bytes, place.read(e, reader),
                      static_cast<std::size_t>(from.bytes));
    }
    if (!in_place)
      for (std::size_t r = 0; r < count; ++r) make(to);
    for (std::size_t r = 0; r < count; ++r) operands.push_back(memory[side][r]->data() + offset(0, from));
    for (std::size_t r = 0; r < count; ++r)
      operands.push_back(memory[side][in_place ? r : count + r]->data() + offset(last_location, to));
    function(operands.data(), 0, items, false);
  }
  for (std::size_t r = 0; r < count; ++r) {
    const StrictPlace place(replicas[r].machine_, replicas[r].b_, to);
    const std::byte* const sides[] = {memory[0][in_place ? r : count + r]->data() + guard,
                                      memory[1][in_place ? r : count + r]->data() + guard};
    for (const ElementRun& run : writes)
      for (std::int64_t i = 0, e = run.first; i < run.count; ++i, e += run.step) {
        if (std::memcmp(sides[0] + e * to.bytes, sides[1] + e * to.bytes, static_cast<std::size_t>(to.bytes)) != 0)
          replicas[r].fail_of_difference(*output, e, sides[0] + e * to.bytes);
        place.write(e, sides[0] + e * to.bytes, version);
      }
  }
}

}  // namespace tilewright::internal
