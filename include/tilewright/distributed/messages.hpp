#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tilewright/distributed/mpi.hpp"
#include "tilewright/distributed/processes.hpp"

namespace tilewright::internal {

/// The sends and receives of a session that are in flight at the same time, until wait(). Only one thread at a time may use it.
class Messages {
 public:
  Messages(const distributed::Processes& processes, MPI_Comm communicator)
      : processes_(processes), communicator_(communicator), patience_(processes.count_on_host() > processes.cores() ? 0 : 2000) {}

  /// Reserves memory for `messages` messages in flight with `bytes` bytes.
  void reserve(std::size_t messages, std::int64_t bytes) {
    const std::size_t count = messages * static_cast<std::size_t>(bytes / most_bytes + 1);
    requests_.reserve(count), senders_.reserve(count);
  }
  void send(int rank, const std::byte* data, std::int64_t bytes) {
    for (std::int64_t done = 0; done < bytes; done += most_bytes)
      check_mpi(MPI_Isend(data + done, size(bytes - done), MPI_BYTE, rank, 0, communicator_, add(-1)), "MPI_Isend");
  }
  /// Receives a message of at most `bytes` bytes.
  void receive(int rank, std::byte* data, std::int64_t bytes) {
    for (std::int64_t done = 0; done < bytes; done += most_bytes)
      check_mpi(MPI_Irecv(data + done, size(bytes - done), MPI_BYTE, rank, 0, communicator_, add(rank)), "MPI_Irecv");
  }
  /// Waits until all messages have arrived. Throws std::runtime_error, which names `what` and the missing ranks, if that takes
  /// too long.
  void wait(const char* what) {
    wait_for(requests_, what, [this] { return missing(); });
    senders_.clear();
  }
  /// Waits for requests that the caller started, and removes them. Throws like wait(). `missing` returns the text for missing
  /// ranks.
  void wait_for(std::vector<MPI_Request>& requests, const char* what, auto missing) const {
    std::chrono::steady_clock::time_point start{};
    for (std::int64_t tries = 1;; ++tries) {
      int all_are_through = 0;
      check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all_are_through, MPI_STATUSES_IGNORE), what);
      if (all_are_through != 0) return requests.clear();
      if (tries <= patience_) continue;
      std::this_thread::yield();  // which takes long where other threads want the core
      const auto now = std::chrono::steady_clock::now();
      if (start == decltype(start){}) start = now;
      if (const std::chrono::duration<double> waited = now - start; waited.count() > processes_.wait_seconds()) {
        const std::string others = missing();
        processes_.let_others_speak();
        throw std::runtime_error(
            std::string(what) + ": " + others + " did not come for " + std::to_string(static_cast<std::int64_t>(waited.count())) +
            " s: the same calls on all processes, " + "or more seconds in TILEWRIGHT_WAIT_SECONDS, expected");
      }
    }
  }

 private:
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 30;  // of one message, whose length is an int
  static int size(std::int64_t bytes) { return static_cast<int>((std::min)(bytes, most_bytes)); }

  MPI_Request* add(int sender) {
    senders_.push_back(sender);
    return &requests_.emplace_back();
  }
  /// Returns the ranks whose messages have not arrived: "rank 1, rank 3".
  std::string missing() {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      int is_through = 0;
      check_mpi(MPI_Test(&requests_[i], &is_through, MPI_STATUS_IGNORE), "MPI_Test");
      if (is_through == 0 && senders_[i] >= 0) ranks.push_back(senders_[i]);
    }
    std::ranges::sort(ranks);
    const auto [end, last] = std::ranges::unique(ranks);
    ranks.erase(end, last);
    std::string text;
    for (const int rank : ranks) text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank);
    return text.empty() ? "other processes" : text;
  }

  const distributed::Processes& processes_;
  MPI_Comm communicator_;
  std::int64_t patience_;  // tries before the core is left to other threads
  std::vector<MPI_Request> requests_;
  std::vector<int> senders_;  // by request: the rank, or -1 of a send
};

}  // namespace tilewright::internal
