#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/core/span.hpp"
#include "tilewright/distributed/hierarchical_all_reduce.hpp"
#include "tilewright/distributed/messages.hpp"
#include "tilewright/distributed/planned_collective.hpp"
#include "tilewright/distributed/processes.hpp"
#include "tilewright/execute/aligned_memory.hpp"
#include "tilewright/execute/held_replicas.hpp"

namespace tilewright::internal {

/// Position of a process in its calls. If the positions of processes differ, they have diverged.
struct CallSite {
  enum Kind : std::int64_t { start, collective, end_of_run, fetch, end };
  std::int64_t kind = start;
  std::int64_t run = 0;  ///< number of the run, from 1; at the start: the seed
  std::int64_t step = 0;  ///< of a collective: its number in the plan; at the start: a hash of the plan
  std::int64_t sequence = 0;  ///< number of the call; at the start: 1 if all-reduces are hierarchical
  bool operator==(const CallSite&) const = default;
};

/// The transport of a session, by MPI. Process p of N holds the replicas [p R/N, (p + 1) R/N) of R.
class Transport final : public ReplicaTransport {
 public:
  /// `steps` and `collectives`, by compute set, are those of the plan; `spans` are those of its hierarchical all-reduces, or
  /// null. All processes create it, and wait for each other.
  Transport(distributed::Processes& processes, std::span<const Step> steps, std::span<const ComputeFunction> functions,
            std::span<const PlannedCollective> collectives, int replicas, std::int64_t hash_of_plan, std::uint64_t seed,
            const std::vector<AllReduceSpan>* spans)
      : processes_(processes),
        communicator_(duplicate()),
        messages_(processes, communicator_),
        steps_(steps),
        functions_(functions),
        collectives_(collectives),
        replicas_(replicas),
        held_(replicas / processes.count()),
        is_hierarchical_(spans != nullptr),
        room_(room_for(collectives)),
        received_(room_ * processes.count(), "messages between processes"),
        sent_(least_room + header_bytes, "messages between processes"),
        results_(results_for(collectives), "results of collectives"),
        operands_(static_cast<std::size_t>(2 * replicas)) {
    messages_.reserve(static_cast<std::size_t>(2 * processes.count() * (replicas + 1)), room_);
    meet({.kind = CallSite::start, .run = static_cast<std::int64_t>(seed), .step = hash_of_plan, .sequence = is_hierarchical_});
    if (spans) hierarchical_.emplace(*spans, steps, collectives, held_, replicas, least_room, communicator_);
  }
  /// Announces to the other processes that this process makes no more calls.
  ~Transport() override {
    if (processes_.is_forked()) return;
    const CallSite last{.kind = CallSite::end};
    for (int rank = 0; rank < processes_.count(); ++rank)
      if (rank != processes_.rank()) MPI_Send(&last, sizeof last, MPI_BYTE, rank, 0, communicator_);
    processes_.at_end([communicator = communicator_, count = processes_.count(), own = processes_.rank()] {
      CallSite others;
      for (int rank = 0; rank < count; ++rank)
        if (rank != own) MPI_Recv(&others, sizeof others, MPI_BYTE, rank, 0, communicator, MPI_STATUS_IGNORE);
      MPI_Comm ended = communicator;
      MPI_Comm_free(&ended);
    });
  }

  /// Returns the hierarchical all-reduces, or null if all all-reduces are in the order of the replicas.
  const HierarchicalAllReduces* hierarchical() const { return hierarchical_ ? &*hierarchical_ : nullptr; }
  int first() const { return processes_.rank() * held_; }
  int held() const { return held_; }

  void begin_run() { processes_.set_step(++run_); }
  /// Waits for the other processes at the end of a run, if one of them may have missed a collective.
  void end_run() { meet({.kind = CallSite::end_of_run, .run = run_}); }

  bool has_work_before(const Step& step) override {
    if (!hierarchical_) return false;
    const auto number = static_cast<int>(&step - steps_.data());
    return hierarchical_->starts_before(number) || hierarchical_->finishes_before(number);
  }
  void work_before(const Step& step, std::byte* const* frames) override {
    const auto number = static_cast<int>(&step - steps_.data());
    if (hierarchical_->finishes_before(number)) hierarchical_->finish_before(number, frames, messages_);
    if (hierarchical_->starts_before(number)) {
      meet({.kind = CallSite::collective, .run = run_, .step = number, .sequence = ++sequence_});
      hierarchical_->start_before(number, frames);
    }
  }
  void progress() override {
    if (hierarchical_) hierarchical_->progress();
  }
  DistributedCollective communicate(const Step& step, std::byte* const* held) override {
    const PlannedCollective& collective = collectives_[static_cast<std::size_t>(step.compute_set)];
    const auto stride = align(collective.input_bytes);
    const auto number = static_cast<int>(&step - steps_.data());
    const bool by_mpi = hierarchical_ && hierarchical_->has(number);
    for (int replica = 0; replica < replicas_; ++replica) {
      input(replica) = output(replica) = nullptr;
      if (holds(replica)) {
        input(replica) = held[replica - first()];
        output(replica) = held[held_ + replica - first()];
      } else if (!by_mpi) {  // else there is no room for it
        input(replica) = received_.data() + replica / held_ * room_ + header_bytes + replica % held_ * stride;
      }
    }
    if (by_mpi) {
      if (!hierarchical_->is_in_frame(number))
        meet({.kind = CallSite::collective, .run = run_, .step = number, .sequence = ++sequence_});
      hierarchical_->run(number, &input(first()), &output(first()), messages_);
      return {};
    }
    if (!stays(collective)) {
      const CallSite here{.kind = CallSite::collective, .run = run_, .step = number, .sequence = ++sequence_};
      if (is_shared_out(collective, stride)) {
        reduce_in_shares(here, step, collective);
        return {};
      }
      send_inputs(here, collective.input_bytes, stride);
    }
    return items_of(step, collective);
  }

  void share(std::byte* memory, Span<const SharedPiece> pieces) override {
    meet({.kind = CallSite::fetch, .run = run_, .sequence = ++sequence_});
    std::vector<std::byte> packed;
    for (int rank = 0; rank < processes_.count(); ++rank) {
      const auto for_each = [&](auto f) {
        std::size_t at = 0;
        for (const SharedPiece& piece : pieces)
          if (piece.replica / held_ == rank) f(memory + piece.offset, at, piece.bytes), at += piece.bytes;
        return at;
      };
      packed.resize(for_each([](auto...) {}));
      if (rank == processes_.rank()) {
        for_each([&](std::byte* data, std::size_t at, std::size_t bytes) { std::memcpy(packed.data() + at, data, bytes); });
        for (int other = 0; other < processes_.count(); ++other)
          if (other != rank) messages_.send(other, packed.data(), static_cast<std::int64_t>(packed.size()));
        messages_.wait("variables");
      } else {
        messages_.receive(rank, packed.data(), static_cast<std::int64_t>(packed.size()));
        messages_.wait("variables");
        for_each([&](std::byte* data, std::size_t at, std::size_t bytes) { std::memcpy(data, packed.data() + at, bytes); });
      }
    }
  }

 private:
  static constexpr std::int64_t header_bytes = 64;
  /// Inputs of at most this many bytes travel with the call site; larger ones follow after the call sites were found equal.
  static constexpr std::int64_t least_room = 8192;
  static_assert(sizeof(CallSite) <= header_bytes);

  static MPI_Comm duplicate() {
    MPI_Comm communicator = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator), "MPI_Comm_dup");
    return communicator;
  }
  /// Returns the bytes to reserve for the data of one process.
  std::int64_t room_for(std::span<const PlannedCollective> collectives) const {
    std::int64_t room = least_room;
    for (const PlannedCollective& collective : collectives)
      if (!stays(collective) && !is_reduced_by_mpi(collective)) room = (std::max)(room, held_ * align(collective.input_bytes));
    return header_bytes + room;
  }
  /// Returns the bytes of results for which no held replica has memory.
  std::int64_t results_for(std::span<const PlannedCollective> collectives) const {
    std::int64_t room = 0;
    for (const PlannedCollective& collective : collectives)
      if (gives_others(collective)) room = (std::max)(room, replicas_ * align(collective.output_bytes));
    return room;
  }
  /// Returns whether the items that this process runs may produce results of groups of which it holds no replica. True if the
  /// meaning of the items is unknown.
  bool gives_others(const PlannedCollective& collective) const {
    if (collective.items != CollectiveItems::of_groups) return collective.items == CollectiveItems::any;
    const auto [begin, end] = groups_of_held(collective.groups);
    for (std::int64_t group = begin; group < end; ++group)
      if (member_of(collective.groups, group, processes_.rank()) < 0) return true;
    return false;
  }
  /// Returns the groups of held replicas, and the groups between them.
  std::pair<std::int64_t, std::int64_t> groups_of_held(const ReplicaGroups& groups) const {
    std::int64_t begin = groups.num_groups(), end = 0;
    for (int replica = first(); replica < first() + held_; ++replica) {
      begin = (std::min)(begin, groups.group_of(replica));
      end = (std::max)(end, groups.group_of(replica) + 1);
    }
    return {begin, end};
  }
  bool holds(int replica) const { return replica >= first() && replica < first() + held_; }
  std::byte*& input(int replica) { return operands_[static_cast<std::size_t>(replica)]; }
  std::byte*& output(int replica) { return operands_[static_cast<std::size_t>(replicas_ + replica)]; }

  /// Returns whether each group of a collective is in one process.
  bool stays(const PlannedCollective& collective) const {
    if (collective.items == CollectiveItems::any) return false;
    for (int replica = 0; replica < replicas_; ++replica)
      if (collective.groups.member(collective.groups.group_of(replica), 0) / held_ != replica / held_) return false;
    return true;
  }
  /// Returns the items that produce the results of held replicas. Other results of these items go to separate memory.
  DistributedCollective items_of(const Step& step, const PlannedCollective& collective) {
    DistributedCollective work{operands_.data(), 0, step.items};
    if (collective.items == CollectiveItems::of_replicas) {
      const std::int64_t chunks = step.items / replicas_;
      return {operands_.data(), first() * chunks, (first() + held_) * chunks};
    }
    if (collective.items == CollectiveItems::of_groups) {
      const ReplicaGroups& groups = collective.groups;
      const std::int64_t chunks = step.items / groups.num_groups();
      const auto [first_group, last_group] = groups_of_held(groups);
      for (int replica = first(); replica < first() + held_; ++replica)
        for (std::int64_t i = 0; i < groups.group_size; ++i)
          if (const auto other = static_cast<int>(groups.member(groups.group_of(replica), i)); !holds(other))
            output(other) = output(replica);
      work.first = first_group * chunks;
      work.last = last_group * chunks;
    }
    for (int replica = 0; replica < replicas_; ++replica)
      if (output(replica) == nullptr && gives_others(collective))
        output(replica) = results_.data() + replica * align(collective.output_bytes);
    return work;
  }

  /// Sends the inputs of held replicas to all other processes, and receives theirs.
  void send_inputs(const CallSite& here, std::int64_t bytes, std::int64_t stride) {
    const bool travels_along = held_ * stride <= least_room;
    std::memcpy(sent_.data(), &here, sizeof here);
    for (int i = 0; travels_along && i < held_; ++i)
      std::memcpy(sent_.data() + header_bytes + i * stride, input(first() + i), static_cast<std::size_t>(bytes));
    swap_headers(here, header_bytes + (travels_along ? held_ * stride : 0), "collective");
    if (travels_along) return;
    for_each_other([&](int rank) {
      for (int i = 0; i < held_; ++i) {
        messages_.receive(rank, input(rank * held_ + i), bytes);
        messages_.send(rank, input(first() + i), bytes);
      }
    });
    messages_.wait("collective");
  }
  /// Returns whether a collective certainly is a hierarchical all-reduce. Others travel with the call site, or share a message.
  bool is_reduced_by_mpi(const PlannedCollective& collective) const {
    return is_hierarchical_ && HierarchicalAllReduces::takes(collective) && held_ * align(collective.input_bytes) > least_room;
  }
  /// Returns whether each process reduces a share of the elements for all: for large tensors, if it holds a replica of each
  /// group.
  bool is_shared_out(const PlannedCollective& collective, std::int64_t stride) const {
    if (!collective.reduces_in_place || held_ * stride <= least_room) return false;
    for (int rank = 0; rank < processes_.count(); ++rank)
      for (std::int64_t group = 0; group < collective.groups.num_groups(); ++group)
        if (member_of(collective.groups, group, rank) < 0) return false;
    return true;
  }
  /// Returns the first replica of a group that a process holds, or -1 if it holds none.
  int member_of(const ReplicaGroups& groups, std::int64_t group, int rank) const {
    for (int replica = rank * held_; replica < (rank + 1) * held_; ++replica)
      if (groups.group_of(replica) == group) return replica;
    return -1;
  }
  /// Reduces in shares: the chunks of a tensor are divided among the processes. Each process gets its chunks of the inputs of
  /// all replicas, reduces them, and sends the results to the others.
  void reduce_in_shares(const CallSite& here, const Step& step, const PlannedCollective& collective) {
    std::memcpy(sent_.data(), &here, sizeof here);
    swap_headers(here, header_bytes, "collective");
    const ReplicaGroups& groups = collective.groups;
    const std::int64_t chunks = step.items / groups.num_groups(),
                       chunk_bytes = kernel::collective_chunk * collective.element_bytes;
    const auto first_chunk = [&](int rank) { return chunks * rank / processes_.count(); };
    const auto begin = [&](int rank) { return (std::min)(first_chunk(rank) * chunk_bytes, collective.input_bytes); };
    const auto size = [&](int rank) { return begin(rank + 1) - begin(rank); };
    const int own = processes_.rank();
    for_each_other([&](int rank) {
      for (int i = 0; i < held_; ++i) {
        messages_.receive(rank, input(rank * held_ + i) + begin(own), size(own));
        messages_.send(rank, input(first() + i) + begin(rank), size(rank));
      }
    });
    messages_.wait("collective");
    items_of(step, collective);  // results of other processes' replicas are those of this process's
    const ComputeFunction function = functions_[static_cast<std::size_t>(step.compute_set)];
    for (std::int64_t group = 0; group < groups.num_groups(); ++group)
      function(operands_.data(), group * chunks + first_chunk(own), group * chunks + first_chunk(own + 1), false);
    for_each_other([&](int rank) {
      for (std::int64_t group = 0; group < groups.num_groups(); ++group) {
        std::byte* const result = output(member_of(groups, group, own));
        messages_.receive(rank, result + begin(rank), size(rank));
        messages_.send(rank, result + begin(own), size(own));
      }
    });
    messages_.wait("collective");
    for (int replica = first(); replica < first() + held_; ++replica) {
      const int source = member_of(groups, groups.group_of(replica), own);
      if (source == replica) continue;
      for_each_other([&](int rank) {
        std::memcpy(output(replica) + begin(rank), output(source) + begin(rank), static_cast<std::size_t>(size(rank)));
      });
    }
  }
  /// Waits until all processes are at the same call.
  void meet(const CallSite& here) {
    std::memcpy(sent_.data(), &here, sizeof here);
    swap_headers(here, header_bytes,
                 here.kind == CallSite::fetch   ? "variables"
                 : here.kind == CallSite::start ? "session"
                                                : "run");
  }
  /// Exchanges messages of `bytes` bytes, which begin with the call site. Throws std::runtime_error if other processes are at
  /// other calls.
  void swap_headers(const CallSite& here, std::int64_t bytes, const char* what) {
    for_each_other([&](int rank) {
      messages_.receive(rank, received_.data() + rank * room_, header_bytes + least_room);
      messages_.send(rank, sent_.data(), bytes);
    });
    messages_.wait(what);
    for_each_other([&](int rank) {
      CallSite there;
      std::memcpy(&there, received_.data() + rank * room_, sizeof there);
      if (there != here) [[unlikely]]
        throw_apart(rank, here, there);
    });
  }
  void for_each_other(auto f) const {
    for (int i = 1; i < processes_.count(); ++i) f((processes_.rank() + i) % processes_.count());
  }

  [[noreturn]] void throw_apart(int rank, const CallSite& here, const CallSite& there) const {
    processes_.let_others_speak(there.kind == CallSite::end);
    const auto other = "process of rank " + std::to_string(rank);
    if (here.kind == CallSite::start && there.kind == CallSite::start && here.step == there.step && here.run == there.run) {
      constexpr const char* options[] = {"replica_order", "hierarchical"};
      throw std::runtime_error(std::string("session: all_reduce: ") + options[here.sequence != 0] + ", and " +
                               options[there.sequence != 0] + " in the " + other + ": the same one expected");
    }
    if (here.kind == CallSite::start && there.kind == CallSite::start && here.run != there.run)
      throw std::runtime_error("session: seed " + std::to_string(here.run) + ", and " + std::to_string(there.run) + " in the " +
                               other + ": the same one expected");
    if (here.kind == CallSite::start)
      throw std::runtime_error("session: another program than that of the " + other + ": the same one expected");
    if (there.run == here.run && there.kind != CallSite::fetch && here.kind != CallSite::fetch && there.kind != CallSite::end)
      throw std::runtime_error(
          "replicas took different branches of a conditional, in one of which is a collective: all replicas expected in it");
    const auto place = [](const CallSite& site) {
      constexpr const char* names[] = {"its beginning", "a collective", "the end of a run", "a read of variables", "its end"};
      return std::string(names[site.kind]) +
             (site.kind == CallSite::end ? "" : " after the start of run " + std::to_string(site.run));
    };
    throw std::runtime_error("session at " + place(here) + ", that of the " + other + " at " + place(there) +
                             ": the same runs and reads on all processes expected");
  }

  distributed::Processes& processes_;
  MPI_Comm communicator_;
  Messages messages_;
  std::span<const Step> steps_;
  std::span<const ComputeFunction> functions_;  // by compute set
  std::span<const PlannedCollective> collectives_;
  int replicas_, held_;
  bool is_hierarchical_;
  std::optional<HierarchicalAllReduces> hierarchical_;
  std::int64_t run_ = 0, sequence_ = 0;
  std::int64_t room_;  // bytes that are kept for what one process sends: the call site, and inputs of its replicas
  AlignedMemory received_, sent_, results_;
  std::vector<std::byte*> operands_;  // of all replicas: inputs, then outputs
};

}  // namespace tilewright::internal
