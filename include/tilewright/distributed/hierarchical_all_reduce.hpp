#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tilewright/distributed/all_reduce_spans.hpp"
#include "tilewright/distributed/messages.hpp"
#include "tilewright/distributed/mpi.hpp"
#include "tilewright/distributed/planned_collective.hpp"
#include "tilewright/distributed/processes.hpp"
#include "tilewright/execute/aligned_memory.hpp"

namespace tilewright::internal {

/// Returns MPI's type for elements of a dtype; MPI_DATATYPE_NULL if it has none with the same arithmetic. Integers are unsigned,
/// so that sums and products wrap around, except for minima and maxima.
inline MPI_Datatype mpi_type(DType dtype, bool is_ordered) {
  switch (dtype) {
    case DType::float32: return MPI_FLOAT;
    case DType::float64: return MPI_DOUBLE;
    case DType::int8: return is_ordered ? MPI_INT8_T : MPI_UINT8_T;
    case DType::int16: return is_ordered ? MPI_INT16_T : MPI_UINT16_T;
    case DType::int32: return is_ordered ? MPI_INT32_T : MPI_UINT32_T;
    case DType::int64: return is_ordered ? MPI_INT64_T : MPI_UINT64_T;
    case DType::uint8: return MPI_UINT8_T;
    case DType::uint16: return MPI_UINT16_T;
    case DType::uint32: return MPI_UINT32_T;
    case DType::uint64: return MPI_UINT64_T;
    default: return MPI_DATATYPE_NULL;
  }
}

/// All-reduces over all replicas in two levels: over the replicas that this process holds, then between processes, by
/// MPI_Iallreduce. An AllReduceSpan says before which steps an all-reduce starts and completes. The steps between them run while
/// it is in flight. Small tensors that start together share one MPI_Iallreduce, if they have the same dtype and operator.
class HierarchicalAllReduces {
 public:
  /// Returns whether a collective can be hierarchical: an all-reduce over all replicas, of a dtype and an operator that MPI has.
  static constexpr bool takes(const PlannedCollective& collective) { return collective.reduce_held != nullptr; }

  /// Returns whether the output of a collective gets the result in its own step only, because it is small and may share a
  /// message.
  static constexpr bool keeps_apart(const PlannedCollective& collective) { return collective.input_bytes <= most_bytes_to_share; }

  /// `spans` are in the order of their steps, `steps` are those of the plan, and `collectives` are by compute set. Tensors of
  /// which a process's replicas have at most `least_bytes` are left out, unless they share an MPI_Iallreduce.
  HierarchicalAllReduces(std::span<const AllReduceSpan> spans, std::span<const Step> steps,
                         std::span<const PlannedCollective> collectives, int held, int replicas, std::int64_t least_bytes,
                         MPI_Comm communicator)
      : held_(held),
        replicas_(replicas),
        communicator_(communicator),
        of_step_(steps.size(), -1),
        ahead_(steps.size()),
        inputs_(as_size(held)),
        outputs_(as_size(held)) {
    constexpr std::array<MPI_User_function*, 4> functions{select<float, false>, select<double, false>, select<float, true>,
                                                          select<double, true>};
    // MPI_MIN and MPI_MAX need not give NaN if one of the elements is
    for (std::size_t i = 0; i < ops_.size(); ++i) check_mpi(MPI_Op_create(functions[i], 1, &ops_[i]), "MPI_Op_create");
    for (const AllReduceSpan& span : spans) add(span, collectives[as_size(steps[as_size(span.step)].compute_set)]);
    leave_out_small(least_bytes);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const AllReduceSpan& span = members_[i].span;
      of_step_[as_size(span.step)] = static_cast<int>(i);
      if (!span.is_in_frame) continue;
      ahead_[as_size(span.start)].starts = true;
      if (span.finish > span.step) ahead_[as_size(span.finish)].finishes = true;
      for (int s = span.start; s < span.finish && !members_[i].is_overlapped; ++s)
        members_[i].is_overlapped = steps[as_size(s)].kind == StepKind::compute || steps[as_size(s)].is_call();
    }
    std::int64_t bytes = 0;
    for (Message& message : messages_)
      if (message.is_of_small && message.members > 0)
        message.offset = bytes, bytes += align(message.elements * message.element_bytes);
    shared_memory_.emplace(bytes, "sums between processes");
  }
  HierarchicalAllReduces(const HierarchicalAllReduces&) = delete;
  HierarchicalAllReduces& operator=(const HierarchicalAllReduces&) = delete;
  ~HierarchicalAllReduces() {
    if (distributed::Processes::world().is_forked()) return;
    for (MPI_Op& op : ops_) MPI_Op_free(&op);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(members_.size()); }
  /// Returns the number of MPI_Iallreduce calls for one run of each of their steps, if tensors have less than 2^28 elements.
  std::int64_t count_of_messages() const {
    return std::ranges::count_if(messages_, [](const Message& message) { return message.members > 0; });
  }
  /// Returns how many all-reduces are in flight while other steps are computed.
  std::int64_t count_of_overlapped() const { return std::ranges::count_if(members_, &Member::is_overlapped); }

  /// Returns whether the collective of a step is one of them.
  bool has(int step) const { return of_step_[as_size(step)] >= 0; }
  /// Returns whether the tensors of a step's collective are in the frame, so that it starts before an earlier step.
  bool is_in_frame(int step) const { return members_[as_size(of_step_[as_size(step)])].span.is_in_frame; }
  /// Return whether some must start, or complete, before a step.
  bool starts_before(int step) const { return ahead_[as_size(step)].starts; }
  bool finishes_before(int step) const { return ahead_[as_size(step)].finishes; }

  /// Starts those that start before a step. `frames` are those of its body, by held replica. All processes call it for the same
  /// steps in the same order.
  void start_before(int step, std::byte* const* frames) {
    for (Member& member : members_) {
      if (member.span.start != step || !member.span.is_in_frame) continue;
      for (int replica = 0; replica < held_; ++replica) inputs_[as_size(replica)] = frames[replica] + member.span.input;
      start(member, inputs_.data(), frames[0] + member.span.output);
    }
    for (Message& message : messages_)
      if (message.start == step && message.is_in_frame && message.is_of_small && message.members > 0)
        send(message, nullptr, shared_memory_->data() + message.offset);
  }
  /// Completes those that must complete before a step.
  void finish_before(int step, std::byte* const* frames, const Messages& processes) {
    for (Member& member : members_)
      if (member.span.is_in_frame && member.span.finish == step && member.span.step != step)
        finish_in_frame(member, frames, processes);
  }
  /// Runs the step of one of them. `inputs` and `outputs` are those of the step, by held replica; an output may be the input of
  /// the same replica. A no-op if it completes before a later step.
  void run(int step, std::byte* const* inputs, std::byte* const* outputs, const Messages& processes) {
    Member& member = members_[as_size(of_step_[as_size(step)])];
    if (member.span.finish > step) return;
    if (!member.span.is_in_frame) {
      start(member, inputs, outputs[0]);
      if (Message& message = messages_[as_size(member.message)]; message.is_of_small)
        send(message, nullptr, shared_memory_->data() + message.offset);
    }
    finish(member, outputs, processes);
  }
  /// Lets MPI move data of all-reduces in flight.
  void progress() {
    int are_through = 0;
    for (Message& message : messages_)
      if (!message.requests.empty())
        check_mpi(
            MPI_Testall(static_cast<int>(message.requests.size()), message.requests.data(), &are_through, MPI_STATUSES_IGNORE),
            "MPI_Testall");
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 28;  // of one call, whose count is an int
  // What is copied to share a message, and how long such a message becomes. A message between processes takes some microseconds,
  // as copying 64 KiB does. `./dev bench instances` would notice a quarter of the first.
  static constexpr std::int64_t most_bytes_to_share = 64 * 1024, most_bytes_of_shared = 1024 * 1024;

  /// One MPI_Iallreduce, or several if it has too many elements.
  struct Message {
    int start = 0;  // the step
    int members = 0;
    bool is_of_small = false;  // of tensors that are kept apart, which share it
    bool is_in_frame = false;  // as its members
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    std::int64_t elements = 0, element_bytes = 1;
    std::int64_t offset = 0;  // in bytes in the memory of shared messages, if it is one
    std::vector<MPI_Request> requests{};
  };
  struct Member {
    AllReduceSpan span{};
    const PlannedCollective* collective = nullptr;
    int message = 0;
    std::int64_t offset = 0;  // in bytes in its message
    bool is_overlapped = false;
  };
  /// Actions before a step.
  struct Ahead {
    bool starts = false, finishes = false;
  };
  static constexpr std::size_t as_size(std::int64_t number) { return static_cast<std::size_t>(number); }

  void add(const AllReduceSpan& span, const PlannedCollective& collective) {
    const bool is_ordered = collective.reduction == CollectiveOperator::min || collective.reduction == CollectiveOperator::max;
    const MPI_Datatype type = mpi_type(collective.dtype, is_ordered);
    const MPI_Op op = op_of(collective);
    const bool is_small = keeps_apart(collective);
    const auto shared = std::ranges::find_if(messages_, [&](const Message& message) {
      return is_small && message.is_of_small && message.is_in_frame && span.is_in_frame && message.start == span.start &&
             message.type == type && message.op == op &&
             message.elements * message.element_bytes + collective.input_bytes <= most_bytes_of_shared;
    });
    Member member{span, &collective, static_cast<int>(shared - messages_.begin())};
    if (shared == messages_.end()) {
      messages_.push_back({.start = span.start,
                           .is_of_small = is_small,
                           .is_in_frame = span.is_in_frame,
                           .type = type,
                           .op = op,
                           .element_bytes = collective.element_bytes});
      messages_.back().requests.reserve(as_size(collective.input_bytes / collective.element_bytes / most_elements + 1));
    }
    Message& message = messages_[as_size(member.message)];
    member.offset = message.elements * message.element_bytes;
    message.elements += collective.input_bytes / collective.element_bytes;
    ++message.members;
    members_.push_back(member);
  }
  void leave_out_small(std::int64_t least_bytes) {
    std::erase_if(members_, [&](const Member& member) {
      Message& message = messages_[as_size(member.message)];
      const bool is_left_out = message.members == 1 && held_ * align(member.collective->input_bytes) <= least_bytes;
      if (is_left_out) message.members = 0;
      return is_left_out;
    });
  }
  /// `output`: that of the first held replica.
  void start(Member& member, std::byte* const* inputs, std::byte* output) {
    Message& message = messages_[as_size(member.message)];
    const PlannedCollective& collective = *member.collective;
    std::byte* const result = message.is_of_small ? shared_memory_->data() + message.offset + member.offset : output;
    if (held_ > 1) collective.reduce_held(inputs, held_, collective.input_bytes / collective.element_bytes, result);
    else if (message.is_of_small) std::memcpy(result, inputs[0], as_size(collective.input_bytes));
    if (!message.is_of_small) send(message, held_ > 1 || inputs[0] == result ? nullptr : inputs[0], result);
  }
  void finish_in_frame(Member& member, std::byte* const* frames, const Messages& processes) {
    for (int replica = 0; replica < held_; ++replica) outputs_[as_size(replica)] = frames[replica] + member.span.output;
    finish(member, outputs_.data(), processes);
  }
  /// Waits for a result, and writes it to the outputs of the held replicas.
  void finish(Member& member, std::byte* const* outputs, const Messages& processes) {
    Message& message = messages_[as_size(member.message)];
    const PlannedCollective& collective = *member.collective;
    const std::size_t bytes = as_size(collective.input_bytes);
    if (!message.requests.empty())
      processes.wait_for(message.requests, "collective", [] { return std::string("other processes"); });
    if (message.is_of_small) std::memcpy(outputs[0], shared_memory_->data() + message.offset + member.offset, bytes);
    if (collective.reduction == CollectiveOperator::mean) {
      const std::int64_t elements = collective.input_bytes / collective.element_bytes;
      if (collective.dtype == DType::float32) divide<float>(outputs[0], elements, replicas_);
      else divide<double>(outputs[0], elements, replicas_);
    }
    for (int replica = 1; replica < held_; ++replica) std::memcpy(outputs[replica], outputs[0], bytes);
  }
  void send(Message& message, const std::byte* from, std::byte* result) const {
    for (std::int64_t done = 0; done < message.elements; done += most_elements) {
      const std::int64_t offset = done * message.element_bytes;
      check_mpi(MPI_Iallreduce(from ? from + offset : MPI_IN_PLACE, result + offset,
                               static_cast<int>((std::min)(message.elements - done, most_elements)), message.type, message.op,
                               communicator_, &message.requests.emplace_back()),
                "MPI_Iallreduce");
    }
  }
  MPI_Op op_of(const PlannedCollective& collective) const {
    switch (collective.reduction) {
      case CollectiveOperator::mul: return MPI_PROD;
      case CollectiveOperator::min:
      case CollectiveOperator::max: {
        const bool is_max = collective.reduction == CollectiveOperator::max;
        if (collective.dtype == DType::float32) return ops_[is_max ? 2 : 0];
        if (collective.dtype == DType::float64) return ops_[is_max ? 3 : 1];
        return is_max ? MPI_MAX : MPI_MIN;
      }
      default: return MPI_SUM;
    }
  }
  /// Selects the smaller or larger of each two elements. The result does not depend on their order, even for NaNs and signed
  /// zeros.
  template <class T, bool is_max>
  static void select(void* given, void* kept, int* count, MPI_Datatype*) {
    const T* const x = static_cast<const T*>(given);
    T* const y = static_cast<T*>(kept);
    for (int i = 0; i < *count; ++i) {
      const bool is_smaller = x[i] < y[i] || (x[i] == y[i] && std::signbit(x[i]));
      if (x[i] != x[i] || y[i] != y[i]) y[i] = std::numeric_limits<T>::quiet_NaN();
      else if (is_smaller != is_max) y[i] = x[i];
    }
  }
  template <class T>
  static void divide(std::byte* data, std::int64_t elements, int by) {
    T* const x = reinterpret_cast<T*>(data);
    for (std::int64_t i = 0; i < elements; ++i) x[i] /= static_cast<T>(by);
  }

  int held_, replicas_;
  MPI_Comm communicator_;
  std::array<MPI_Op, 4> ops_{};  // minimum of float, of double, maximum of float, of double
  std::vector<Member> members_;  // in the order of their steps
  std::vector<Message> messages_;
  std::vector<int> of_step_;  // by step: its member; -1: none
  std::vector<Ahead> ahead_;  // by step
  std::vector<std::byte*> inputs_, outputs_;  // by held replica, of the member that starts or finishes
  std::optional<AlignedMemory> shared_memory_;
};

}  // namespace tilewright::internal
