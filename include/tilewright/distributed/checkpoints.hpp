#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/checkpoints.hpp"
#include "tilewright/distributed/messages.hpp"
#include "tilewright/distributed/platform.hpp"
#include "tilewright/distributed/processes.hpp"

namespace tilewright::distributed {

/// Checkpoints of a program of several processes: the files of tw::Checkpoints, which only the first process writes and reads. A
/// checkpoint has the values of all replicas, so any number of processes, or one tw::Session, can continue from it. All processes
/// must make the same calls, in the same order; all get the same results and errors.
///
///     tw::distributed::Checkpoints checkpoints("run1", {.keep = 3});
///     if (const auto last = checkpoints.newest()) session.load_tensors(last->file), first_step = last->step;
///     ...
///     checkpoints.save(step, session.host_tensors(), metadata);
class Checkpoints {
 public:
  using Options = tilewright::Checkpoints::Options;

  explicit Checkpoints(std::filesystem::path folder) : Checkpoints(std::move(folder), Options{}) {}
  /// Creates the folder, and locks it until the program ends. Throws std::runtime_error if another program of several processes
  /// holds the lock, on this machine or, with a file system that has locks, on another one. Throws the exceptions of
  /// tw::Checkpoints.
  Checkpoints(std::filesystem::path folder, const Options& options)
      : files_(folder, options), messages_(processes_, processes_.count() > 1 ? duplicate() : MPI_COMM_NULL) {
    on_first("Checkpoints", 0, [&] {
      hold(folder);
      return std::vector<std::byte>();
    });
  }
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// Writes the checkpoint of a step by tw::Checkpoints::save. All processes get its errors: those that do not write throw
  /// std::runtime_error with the same text. Returns when the disk has the file.
  void save(std::uint64_t step, std::span<const HostTensor> tensors, const Metadata& metadata = {}) {
    on_first("Checkpoints::save", step, [&] {
      files_.save(step, tensors, metadata);
      return std::vector<std::byte>();
    });
  }

  /// Returns the newest intact checkpoint, see tw::Checkpoints::newest. The other processes get its bytes from the first, and
  /// need no shared file system.
  std::optional<Checkpoint> newest() {
    std::optional<Checkpoint> own;
    const std::vector<std::byte> bytes = on_first("Checkpoints::newest", 0, [&] {
      own = files_.newest();
      return own ? packed(*own) : std::vector<std::byte>();
    });
    if (processes_.is_first() || bytes.empty()) return own;
    return unpacked(bytes);
  }

  /// Returns the steps of all checkpoints, see tw::Checkpoints::steps.
  std::vector<std::uint64_t> steps() {
    const std::vector<std::byte> bytes = on_first("Checkpoints::steps", 0, [&] {
      const std::vector<std::uint64_t> found = files_.steps();
      const auto view = std::as_bytes(std::span(found));
      return std::vector<std::byte>(view.begin(), view.end());
    });
    std::vector<std::uint64_t> result(bytes.size() / sizeof(std::uint64_t));
    if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

 private:
  /// Header that the first process sends before the bytes of a call's result or of its error's text.
  struct Outcome {
    std::uint64_t call = 0, step = 0, failed = 0;
    std::int64_t bytes = 0;
  };

  static MPI_Comm duplicate() {
    MPI_Comm communicator = MPI_COMM_NULL;
    internal::check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator), "MPI_Comm_dup");
    Processes::world().at_end([communicator]() mutable { MPI_Comm_free(&communicator); });
    return communicator;
  }

  /// Packs the number of the bytes of skipped files' texts, the step, these texts, each with a newline, and the file's bytes.
  std::vector<std::byte> packed(const Checkpoint& checkpoint) const {
    std::string skipped;
    for (const std::string& text : checkpoint.skipped) skipped += text + '\n';
    const std::vector<std::byte> file = tilewright::detail::read_bytes("load_checkpoint", files_.path_of(checkpoint.step));
    const std::uint64_t numbers[] = {skipped.size(), checkpoint.step};
    std::vector<std::byte> result(sizeof numbers + skipped.size() + file.size());
    std::memcpy(result.data(), numbers, sizeof numbers);
    std::memcpy(result.data() + sizeof numbers, skipped.data(), skipped.size());
    std::memcpy(result.data() + sizeof numbers + skipped.size(), file.data(), file.size());
    return result;
  }
  Checkpoint unpacked(std::span<const std::byte> bytes) const {
    std::uint64_t numbers[2];
    std::memcpy(numbers, bytes.data(), sizeof numbers);
    const auto texts = bytes.subspan(sizeof numbers, numbers[0]), file = bytes.subspan(sizeof numbers + numbers[0]);
    Checkpoint result = files_.read(numbers[1], {file.begin(), file.end()});
    std::istringstream lines(std::string(reinterpret_cast<const char*>(texts.data()), texts.size()));
    for (std::string line; std::getline(lines, line);) result.skipped.push_back(line);
    return result;
  }

  /// Calls f on the first process, and returns or throws its result on all.
  std::vector<std::byte> on_first(const char* what, std::uint64_t step, const std::function<std::vector<std::byte>()>& f) {
    Outcome outcome{.call = std::hash<std::string_view>()(what), .step = step};
    std::vector<std::byte> bytes;
    if (processes_.count() == 1) return f();
    if (!processes_.is_first()) return receive(what, outcome);
    std::exception_ptr error;
    try {
      bytes = f();
    } catch (const std::exception& exception) {
      error = std::current_exception();
      outcome.failed = 1;
      const auto text = std::as_bytes(std::span(std::string_view(exception.what())));
      bytes.assign(text.begin(), text.end());
    }
    outcome.bytes = static_cast<std::int64_t>(bytes.size());
    for (int rank = 1; rank < processes_.count(); ++rank) {
      messages_.send(rank, reinterpret_cast<const std::byte*>(&outcome), sizeof outcome);
      messages_.send(rank, bytes.data(), outcome.bytes);
    }
    messages_.wait(what);
    if (error) std::rethrow_exception(error);
    return bytes;
  }
  std::vector<std::byte> receive(const char* what, const Outcome& expected) {
    Outcome outcome;
    messages_.receive(0, reinterpret_cast<std::byte*>(&outcome), sizeof outcome);
    messages_.wait(what);
    if (outcome.call != expected.call || outcome.step != expected.step)
      processes_.end_all(std::string(what) + ", step " + std::to_string(expected.step) +
                         ", where the process of rank 0 has step " + std::to_string(outcome.step) +
                         " or another call: the same calls on all processes expected");
    std::vector<std::byte> bytes(static_cast<std::size_t>(outcome.bytes));
    messages_.receive(0, bytes.data(), outcome.bytes);
    messages_.wait(what);
    if (outcome.failed != 0) throw std::runtime_error(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    return bytes;
  }

  /// Locks the folder's file `.job`, which names the holder.
  void hold(const std::filesystem::path& folder) {
    create_folder_durably(folder);
    const std::filesystem::path path = folder / ".job";
    const auto other = job_.take(
        path, "process " + std::to_string(internal::process_number()) + " on " + std::string(processes_.host()));
    if (other)
      throw std::runtime_error("Checkpoints: " + folder.string() + " is held by " + (other->empty() ? "another job" : *other) +
                               ": a folder of this job's own expected");
  }

  tilewright::Checkpoints files_;
  Processes& processes_ = Processes::world();
  internal::Messages messages_;
  internal::HeldFile job_;
};

}  // namespace tilewright::distributed
