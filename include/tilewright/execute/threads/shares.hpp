#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tilewright/core/memory/owned.hpp"
#include "tilewright/core/memory/with_memory.hpp"
#include "tilewright/execute/memory_error.hpp"

namespace tilewright::internal {

/// Parts of the steps between two barriers that workers have not begun. Each worker has a share of a step's parts, which are
/// consecutive. It takes half of the rest of its share at a time, from the first part on. An idle worker takes half of the rest
/// of another one's share, from its end. Shares depend on a step's number of parts only, so others can begin even the share of a
/// late worker.
///
/// A step whose parts may be taken over has a ticket, a number that grows by one from such a step to the next, equally for all
/// workers. Before a worker enters a step that waits, or moves `slots` steps ahead, it takes the rest of all shares. Parts with
/// an older ticket than a worker's have therefore begun.
class Shares {
 public:
  /// Number of steps that may have open parts at the same time.
  static constexpr int places = 8;
  /// Largest number of parts in a share.
  static constexpr std::int64_t most_parts = 65'535;

  /// Consecutive parts of a share.
  struct Range {
    std::int64_t first = 0, last = 0;  ///< last: the part after the range
    constexpr explicit operator bool() const { return first != last; }
    constexpr std::int64_t size() const { return last - first; }
    /// Returns a part of this range, given by positions in it.
    constexpr Range part(Range inner) const { return {first + inner.first, first + inner.last}; }
  };
  enum class Side { first, last };

  /// Throws MemoryError.
  explicit Shares(int workers = 0)
      : shares_(tilewright::detail::with_memory(
            0, [workers] { return Owned<Share[]>(new Share[static_cast<std::size_t>(workers)]()); },
            [workers] { return MemoryError("shares of threads", workers * static_cast<std::int64_t>(sizeof(Share))); })),
        workers_(workers) {}

  /// Returns the ticket of the last step of all runs. No worker may run.
  std::uint32_t ticket() const { return ticket_; }
  /// Records the last ticket, when all workers have ended.
  void finish(std::uint32_t ticket) { ticket_ = ticket; }
  /// Resets all tickets. No worker may run.
  void reset() {
    ticket_ = 0;
    for (int worker = 0; worker < workers_; ++worker)
      for (auto& rest : shares_[static_cast<std::size_t>(worker)].rests) rest.store(0, std::memory_order_relaxed);
  }

  /// Takes some parts of a worker's share of the step with a ticket, which has `parts`: `count(rest)` of the remaining ones. An
  /// empty range means that none are left. Parts of different workers depend on each other by barriers only.
  Range take(int worker, std::uint32_t ticket, std::int64_t parts, Side side, auto count) {
    std::atomic<std::uint64_t>& rest = shares_[static_cast<std::size_t>(worker)].rests[ticket % places];
    std::uint64_t old = rest.load(std::memory_order_relaxed);
    while (true) {
      const auto age = static_cast<std::int32_t>(ticket - static_cast<std::uint32_t>(old >> 32));
      if (age < 0) return {};
      const std::int64_t first = age > 0 ? 0 : static_cast<std::int64_t>(old >> 16 & 0xffff);
      const std::int64_t last = age > 0 ? parts : static_cast<std::int64_t>(old & 0xffff);
      if (first == last) return {};
      const std::int64_t taken = count(last - first);
      const Range range = side == Side::first ? Range{first, first + taken} : Range{last - taken, last};
      const Range left = side == Side::first ? Range{range.last, last} : Range{first, range.first};
      const std::uint64_t now = std::uint64_t{ticket} << 32 | static_cast<std::uint64_t>(left.first) << 16 |
                                static_cast<std::uint64_t>(left.last);
      if (rest.compare_exchange_weak(old, now, std::memory_order_relaxed)) return range;
    }
  }
  static constexpr std::int64_t half(std::int64_t rest) { return (rest + 1) / 2; }

  /// For tests: takes the rest of the shares of at most 64 workers in the steps with these tickets, in a random order.
  /// `parts(step, worker)` is the size of a share, and `run(step, worker, range)` runs the parts.
  void take_at_random(const std::uint32_t* tickets, int steps, int workers, std::uint32_t seed, const auto& parts,
                      const auto& run) {
    std::uint64_t state = seed % 2147483647 == 0 ? 1 : seed;
    const auto below = [&](auto limit) {
      state = state * 48271 % 2147483647;  // as std::minstd_rand, whose header takes long to compile
      return static_cast<decltype(limit)>(state % static_cast<unsigned>(limit));
    };
    std::uint64_t done[places]{};  // by step: a bit for each worker whose share is begun
    for (int left = steps * workers; left > 0;) {
      const int step = below(steps), worker = below(workers);
      if (done[step] >> worker & 1) continue;
      const Range range = take(worker, tickets[step], parts(step, worker), below(2) == 0 ? Side::first : Side::last,
                               [&](std::int64_t rest) { return 1 + below(rest); });
      if (range) run(step, worker, range);
      else done[step] |= std::uint64_t{1} << worker, --left;
    }
  }

 private:
  /// By slot: the ticket (32 bits), the first remaining part (16 bits), and the end of the remaining parts.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> rests[places]{};
  };
  Owned<Share[]> shares_;  // by worker
  int workers_;
  std::uint32_t ticket_ = 0;
};

}  // namespace tilewright::internal
