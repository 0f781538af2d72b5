#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/replica_groups.hpp"

namespace tilewright::detail {

/// Partitions of the replicas into blocks with equal tensors. Each partition is stored once and identified by its number. The
/// number is `equal` for a tensor that is equal on all replicas, and `own` for one that differs on each replica.
class ReplicaPartitions {
 public:
  static constexpr int equal = 0, own = 1;

  constexpr explicit ReplicaPartitions(std::int64_t replicas) : replicas_(static_cast<int>(replicas)) {
    partitions_.push_back(List<int>(static_cast<std::size_t>(replicas), 0));
    partitions_.push_back({});
    for (int replica = 0; replica < replicas_; ++replica) partitions_[own].push_back(replica);
  }

  /// Returns the block of each replica.
  constexpr const List<int>& operator[](int partition) const { return partitions_[partition]; }

  /// Returns the partition of replicas with equal labels, one label for each replica.
  constexpr int of_labels(List<int> labels) {
    List<int> first_with;  // by block
    for (int& label : labels) {
      std::size_t block = 0;
      while (block < first_with.size() && first_with[block] != label) ++block;
      if (block == first_with.size()) first_with.push_back(label);
      label = static_cast<int>(block);
    }
    for (std::size_t p = 0; p < partitions_.size(); ++p)
      if (partitions_[p] == labels) return static_cast<int>(p);
    partitions_.push_back(std::move(labels));
    return static_cast<int>(partitions_.size()) - 1;
  }
  /// Returns the partition of a result that is computed from tensors with two partitions.
  constexpr int refined(int a, int b) {
    if (a == b || b == equal || a == own) return a;
    if (a == equal || b == own) return b;
    List<int> labels = partitions_[a];
    for (int replica = 0; replica < replicas_; ++replica) labels[replica] = labels[replica] * replicas_ + partitions_[b][replica];
    return of_labels(std::move(labels));
  }
  /// Returns whether tensors with the first partition are equal wherever those with the second are.
  constexpr bool keeps(int partition, int needed) { return refined(partition, needed) == needed; }

  /// Returns the partition of a collective's result: each replica of a group gets the whole result of the group, or its share.
  constexpr int of_group(int partition, const ReplicaGroups& groups, bool shares) {
    const auto count = static_cast<int>(groups.num_groups()), size = static_cast<int>(groups.group_size);
    const List<int>& blocks = partitions_[partition];
    const auto block = [&](int group, int i) { return blocks[groups.member(group, i)]; };
    List<int> same_as;  // by group: the first one whose members have, one by one, the same tensors
    for (int group = 0; group < count; ++group) {
      int other = 0;
      for (int i = 0; other < group && i < size; ++i)
        if (block(group, i) != block(other, i)) ++other, i = -1;
      same_as.push_back(other);
    }
    List<int> labels;
    for (int replica = 0; replica < replicas_; ++replica) {
      const int group = same_as[groups.group_of(replica)];
      labels.push_back(shares ? group * size + static_cast<int>(groups.index_in_group(replica)) : group);
    }
    return of_labels(std::move(labels));
  }
  /// Returns the partition of slices that each replica of a group takes of its own tensor.
  constexpr int of_slices(int partition, const ReplicaGroups& groups) {
    List<int> labels = partitions_[partition];
    for (int replica = 0; replica < replicas_; ++replica)
      labels[replica] = labels[replica] * replicas_ + static_cast<int>(groups.index_in_group(replica));
    return of_labels(std::move(labels));
  }

 private:
  int replicas_;
  List<List<int>> partitions_{};
};

}  // namespace tilewright::detail
