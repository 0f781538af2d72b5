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

#include "tilewright/distributed/all_reduce_batches.hpp"
#include "tilewright/distributed/messages.hpp"
#include "tilewright/distributed/mpi.hpp"
#include "tilewright/distributed/planned_collective.hpp"
#include "tilewright/execute/aligned_memory.hpp"

namespace tilewright::internal {

/// MPI's type for elements of a dtype; MPI_DATATYPE_NULL where it has none that computes alike. Integers are unsigned, so that
/// sums and products wrap around, but for minima and maxima.
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

/// All-reduces over all replicas in two levels: of the replicas that this process holds, then between processes, by
/// MPI_Iallreduce. Those of a batch start together, and each has its result when its own step runs. Tensors of a batch that are
/// small share one MPI_Iallreduce, if they have the same dtype and operator.
class HierarchicalAllReduces {
 public:
  /// Whether such a collective can be one: an all-reduce over all replicas, of a dtype and an operator that MPI has.
  static constexpr bool takes(const PlannedCollective& collective) { return collective.reduce_held != nullptr; }

  /// Whether the result of one of them is not in its output before its own step: it is small, and may share a message.
  static constexpr bool keeps_apart(const PlannedCollective& collective) { return collective.input_bytes <= most_bytes_to_share; }

  /// `all_reduces` are in the order of their steps, `steps` those of the plan and `collectives` by compute set. Tensors of which
  /// a process's replicas have at most `least_bytes` are left out, unless they share an MPI_Iallreduce.
  HierarchicalAllReduces(std::span<const BatchedAllReduce> all_reduces, std::span<const Step> steps,
                         std::span<const PlannedCollective> collectives, int held, int replicas, std::int64_t least_bytes,
                         MPI_Comm communicator)
      : held_(held), replicas_(replicas), communicator_(communicator), of_step_(steps.size(), -1), inputs_(as_size(held)) {
    constexpr std::array<MPI_User_function*, 4> functions{select<float, false>, select<double, false>, select<float, true>,
                                                          select<double, true>};
    // MPI_MIN and MPI_MAX need not give NaN if one of the elements is
    for (std::size_t i = 0; i < ops_.size(); ++i) check_mpi(MPI_Op_create(functions[i], 1, &ops_[i]), "MPI_Op_create");
    for (const BatchedAllReduce& all_reduce : all_reduces)
      add(all_reduce, collectives[as_size(steps[as_size(all_reduce.step)].compute_set)]);
    leave_out_small(least_bytes);
    for (std::size_t i = 0; i < members_.size(); ++i) of_step_[as_size(members_[i].batched.step)] = static_cast<int>(i);
    std::int64_t bytes = 0;
    for (Message& message : messages_)
      if (message.is_of_small && message.members > 0)
        message.offset = bytes, bytes += align(message.elements * message.element_bytes);
    shared_memory_.emplace(bytes);
  }
  HierarchicalAllReduces(const HierarchicalAllReduces&) = delete;
  HierarchicalAllReduces& operator=(const HierarchicalAllReduces&) = delete;
  ~HierarchicalAllReduces() {
    for (MPI_Op& op : ops_) MPI_Op_free(&op);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(members_.size()); }
  /// How often MPI_Iallreduce is called for one run of each of their steps, if tensors have less than 2^28 elements.
  std::int64_t count_of_messages() const {
    return std::ranges::count_if(messages_, [](const Message& message) { return message.members > 0; });
  }
  bool has(int step) const { return of_step_[as_size(step)] >= 0; }
  /// Whether one of them starts at the step of a collective, which may be one that was left out.
  bool starts_at(int step) const {
    return std::ranges::any_of(messages_, [&](const Message& message) { return message.members > 0 && message.start == step; });
  }
  /// Starts those of a batch; `inputs` and `outputs` are those of the step of the batch, by held replica. An output may be the
  /// input of the same replica. All processes call it for the same steps in the same order.
  void start(int step, std::byte* const* inputs, std::byte* const* outputs) {
    for (Member& member : members_) {
      if (member.batched.start != step) continue;
      const bool is_own = member.batched.step == step;
      for (int replica = 0; replica < held_; ++replica)
        inputs_[as_size(replica)] = inputs[replica] + (is_own ? 0 : member.batched.input);
      Message& message = messages_[as_size(member.message)];
      const PlannedCollective& collective = *member.collective;
      std::byte* const result = message.is_of_small ? shared_memory_->data() + message.offset + member.offset
                                : is_own            ? outputs[0]
                                                    : inputs[0] + member.batched.output;
      if (held_ > 1) collective.reduce_held(inputs_.data(), held_, collective.input_bytes / collective.element_bytes, result);
      else if (message.is_of_small) std::memcpy(result, inputs_[0], as_size(collective.input_bytes));
      if (!message.is_of_small) send(message, held_ > 1 || inputs_[0] == result ? nullptr : inputs_[0], result);
    }
    for (Message& message : messages_)
      if (message.start == step && message.is_of_small && message.members > 0)
        send(message, nullptr, shared_memory_->data() + message.offset);
  }
  /// Waits for the result of a step, and writes it to the outputs of the held replicas.
  void finish(int step, std::byte* const* outputs, const Messages& processes) {
    Member& member = members_[as_size(of_step_[as_size(step)])];
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

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 28;  // of one call, whose count is an int
  // What is copied to share a message, and how long such a message becomes. A message between processes takes some microseconds,
  // as copying 64 KiB does. `./dev bench instances` would notice a quarter of the first.
  static constexpr std::int64_t most_bytes_to_share = 64 * 1024, most_bytes_of_shared = 1024 * 1024;

  /// What one MPI_Iallreduce, or several if it has too many elements, reduce.
  struct Message {
    int start = 0;  // the step
    int members = 0;
    bool is_of_small = false;  // of tensors that are kept apart, which share it
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    std::int64_t elements = 0, element_bytes = 1;
    std::int64_t offset = 0;  // in bytes in the memory of shared messages, if it is one
    std::vector<MPI_Request> requests{};
  };
  struct Member {
    BatchedAllReduce batched{};
    const PlannedCollective* collective = nullptr;
    int message = 0;
    std::int64_t offset = 0;  // in bytes in its message
  };
  static constexpr std::size_t as_size(std::int64_t number) { return static_cast<std::size_t>(number); }

  void add(const BatchedAllReduce& all_reduce, const PlannedCollective& collective) {
    const bool is_ordered = collective.reduction == CollectiveOperator::min || collective.reduction == CollectiveOperator::max;
    const MPI_Datatype type = mpi_type(collective.dtype, is_ordered);
    const MPI_Op op = op_of(collective);
    const bool is_small = keeps_apart(collective);
    const auto shared = std::ranges::find_if(messages_, [&](const Message& message) {
      return is_small && message.is_of_small && message.start == all_reduce.start && message.type == type && message.op == op &&
             message.elements * message.element_bytes + collective.input_bytes <= most_bytes_of_shared;
    });
    Member member{all_reduce, &collective, static_cast<int>(shared - messages_.begin())};
    if (shared == messages_.end()) {
      messages_.push_back({.start = all_reduce.start,
                           .is_of_small = is_small,
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
  void send(Message& message, const std::byte* from, std::byte* result) const {
    for (std::int64_t done = 0; done < message.elements; done += most_elements) {
      const std::int64_t offset = done * message.element_bytes;
      check_mpi(MPI_Iallreduce(from ? from + offset : MPI_IN_PLACE, result + offset,
                               static_cast<int>(std::min(message.elements - done, most_elements)), message.type, message.op,
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
  /// The smaller or larger of each two elements, the same for either order of both: also of NaNs, and of zeros with signs.
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
  std::vector<std::byte*> inputs_;  // by held replica, of the member that starts
  std::optional<AlignedMemory> shared_memory_;
};

}  // namespace tilewright::internal
