#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>

namespace tilewright::internal {

/// What workers have not begun of the steps between two barriers. Each has a share of a step's parts, neighbours of each other,
/// and takes half of what is left of it, from the first part on. A worker that is done takes over half of what is left of another
/// one's share, from its end. Shares follow from a step's number of parts, so that others begin also that of a worker that is
/// late.
///
/// A step whose parts may be taken over has a ticket, a number that goes up by one from such a step to the next, for all workers
/// alike. Before a worker goes on to a step that waits, or to `slots` further ones, it takes what is left of all shares: so what
/// has an older ticket than a worker's is begun.
class Shares {
 public:
  /// Steps of which parts may be left at a time.
  static constexpr int slots = 8;
  /// The most parts of a share.
  static constexpr std::int64_t most_parts = 65'535;

  /// Parts of a share.
  struct Range {
    std::int64_t first = 0, last = 0;  ///< last: behind the range
    constexpr explicit operator bool() const { return first != last; }
    constexpr std::int64_t size() const { return last - first; }
    /// A part of this range, given by positions in it.
    constexpr Range part(Range inner) const { return {first + inner.first, first + inner.last}; }
  };
  enum class Side { first, last };

  explicit Shares(int workers) : shares_(std::make_unique<Share[]>(static_cast<std::size_t>(workers))), workers_(workers) {}

  /// The ticket of the last step of all runs. No worker runs.
  std::uint32_t ticket() const { return ticket_; }
  /// Takes note of the last ticket, when all workers have ended.
  void finish(std::uint32_t ticket) { ticket_ = ticket; }
  /// Forgets all tickets. No worker runs.
  void reset() {
    ticket_ = 0;
    for (int worker = 0; worker < workers_; ++worker)
      for (auto& rest : shares_[static_cast<std::size_t>(worker)].rests) rest.store(0, std::memory_order_relaxed);
  }

  /// Takes some parts of a worker's share of the step with a ticket, which has `parts`: `count(rest)` of those that are left.
  /// None are left if the range is empty. Parts of different workers depend on each other by barriers only.
  Range take(int worker, std::uint32_t ticket, std::int64_t parts, Side side, auto count) {
    std::atomic<std::uint64_t>& rest = shares_[static_cast<std::size_t>(worker)].rests[ticket % slots];
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

  /// For tests: takes all that is left of the shares of at most 64 workers in the steps with these tickets, in a random order.
  /// `parts(step, worker)` is the size of a share, and `run(step, worker, range)` runs what was taken.
  void take_at_random(const std::uint32_t* tickets, int steps, int workers, std::uint32_t seed, const auto& parts,
                      const auto& run) {
    std::minstd_rand random(seed);
    const auto below = [&](auto limit) { return static_cast<decltype(limit)>(random() % static_cast<unsigned>(limit)); };
    std::uint64_t done[slots]{};  // by step: a bit for each worker whose share is begun
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
  /// By slot: the ticket (32 bits), the first part that is left (16 bits), and the end of those that are left.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> rests[slots]{};
  };
  std::unique_ptr<Share[]> shares_;  // by worker
  int workers_;
  std::uint32_t ticket_ = 0;
};

}  // namespace tilewright::internal
