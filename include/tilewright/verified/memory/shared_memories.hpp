#pragma once
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/verified/memory/recalled_memory.hpp"

namespace tilewright::internal::proof::detail {

/// Memories by number, of which copies cost nothing until one of them changes.
class SharedMemories {
 public:
  constexpr int size() const { return static_cast<int>(states_of_.size()); }
  constexpr int add(Memory&& memory = {}) {
    make_room(states_), make_room(states_of_);
    states_.push_back({RecalledMemory(std::move(memory)), 1});
    states_of_.push_back(static_cast<int>(states_.size()) - 1);
    return size() - 1;
  }
  /// Returns a memory with what another one has now.
  constexpr int copy(int memory) {
    ++state(memory).users;
    make_room(states_of_);
    states_of_.push_back(states_of_[memory]);
    return size() - 1;
  }
  constexpr Content read(int memory, const Access& access) { return state(memory).values.read(access); }
  constexpr void write(int memory, const Access& access, const auto& what) {
    if (State& shared = state(memory); shared.users > 1) {
      --shared.users;
      State own{shared.values, 1};
      make_room(states_);
      states_.push_back(std::move(own));
      states_of_[memory] = static_cast<int>(states_.size()) - 1;
    }
    state(memory).values.write(access, what);
  }
  constexpr const Memory& memory(int memory) { return state(memory).values.memory(); }
  /// Returns the memories after the two branches of a conditional: those that both have.
  static constexpr SharedMemories joined(SharedMemories& a, SharedMemories& b, int count, const auto& choose) {
    SharedMemories result;
    List<std::pair<int, int>> known(a.states_.size(), {-1, -1});  // by state of `a`: that of `b`, and a memory of the result
    for (int m = 0; m < count; ++m) {
      auto& [other, memory] = known[a.states_of_[m]];
      if (memory >= 0 && other == b.states_of_[m]) {
        result.copy(memory);
      } else {
        other = b.states_of_[m];
        memory = result.add(Memory::joined(a.memory(m), b.memory(m), choose));
      }
    }
    return result;
  }

 private:
  struct State {
    RecalledMemory values{};
    int users = 0;  ///< memories with these values
  };
  constexpr State& state(int memory) { return states_.data()[states_of_.data()[memory]]; }

  List<State> states_{};
  List<int> states_of_{};  // by memory
};

}  // namespace tilewright::internal::proof::detail
