#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/replica_groups.hpp"
#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// A partition of a program's replicas into groups of equal size, which share a variable or take part in one collective.
/// `ir.replica_grouping` creates one with a constant stride: neighbouring members of a group are `stride` replicas apart. With a
/// stride of s and groups of k, replica r is in group r mod s + s floor(r / (s k)), and member i of group g is replica floor(g /
/// s) s k + g mod s + i s. `ir.replica_grouping_from_assignments` creates any grouping.
///
/// A default-constructed grouping is invalid; in options it means one group of all replicas.
class ReplicaGrouping {
 public:
  constexpr ReplicaGrouping() = default;

  static constexpr ReplicaGrouping invalid(Ir&) { return {}; }

  constexpr bool valid() const { return ir_ != nullptr; }
  constexpr Ir& ir() const {
    if (!valid())
      TW_THROW TraceError("ReplicaGrouping: a ReplicaGrouping() of no program: one that ir.replica_grouping gave expected");
    return *ir_;
  }
  constexpr std::int64_t num_replicas() const { return groups_.num_replicas; }
  /// Returns the distance between neighbouring replicas of a group; 1 in groups of one. Fails for a grouping without a constant
  /// stride.
  constexpr std::int64_t stride() const {
    if (!is_const())
      ir_->fail(text("replica_grouping: stride of ", to_text(*this), ": a grouping with a constant stride expected"));
    return groups_.stride;
  }
  constexpr std::int64_t group_size() const { return groups_.group_size; }
  constexpr std::int64_t num_groups() const { return groups_.num_groups(); }
  constexpr bool is_const() const { return assignment_.empty(); }
  /// Returns the grouping as plain numbers, which are complete only if the stride is constant.
  constexpr const ReplicaGroups& groups() const { return groups_; }

  /// Returns the group of a replica. A replica out of range is an error.
  constexpr std::int64_t group_of(std::int64_t replica) const {
    if (!check_number("replica", replica, num_replicas())) return 0;
    return is_const() ? groups_.group_of(replica) : assignment_[static_cast<std::size_t>(replica)];
  }
  /// Returns the replica that is member i of a group. Members are counted in the order of replicas. Numbers out of range are
  /// errors.
  constexpr std::int64_t member(std::int64_t group, std::int64_t i) const {
    if (!check_number("group", group, num_groups()) || !check_number("i", i, group_size())) return 0;
    if (is_const()) return groups_.member(group, i);
    std::int64_t replica = 0;
    for (std::int64_t before = i; assignment_[static_cast<std::size_t>(replica)] != group || before-- > 0;) ++replica;
    return replica;
  }
  /// Returns the index of a replica among the members of its group. A replica out of range is an error.
  constexpr std::int64_t index_in_group(std::int64_t replica) const {
    if (!check_number("replica", replica, num_replicas())) return 0;
    if (is_const()) return groups_.index_in_group(replica);
    std::int64_t before = 0;
    for (std::int64_t other = 0; other < replica; ++other) before += group_of(other) == group_of(replica);
    return before;
  }
  /// Returns the group of each replica.
  constexpr List<int> assignment() const {
    List<int> result;
    result.reserve(static_cast<std::size_t>(num_replicas()));
    for (std::int64_t replica = 0; replica < num_replicas(); ++replica) result.push_back(static_cast<int>(group_of(replica)));
    return result;
  }

  /// Returns the transposed grouping, whose group k holds the k-th members of all groups.
  [[nodiscard]] constexpr ReplicaGrouping transpose() const {
    List<int> groups;
    for (std::int64_t replica = 0; replica < num_replicas(); ++replica)
      groups.push_back(static_cast<int>(index_in_group(replica)));
    return from_groups(ir_, std::move(groups), num_groups());
  }
  /// Returns a refinement of this grouping with a constant stride: each of its groups is part of one group of this grouping. A
  /// grouping with a constant stride returns itself. Otherwise the stride is that of the first two replicas of group 0, and the
  /// groups are as large as possible. If no stride fits, each replica is a group.
  [[nodiscard]] constexpr ReplicaGrouping const_rg() const {
    if (is_const()) return *this;
    const std::int64_t stride = member(0, 1) - member(0, 0);
    for (std::int64_t size = group_size(); size > 1; --size)
      if (num_replicas() % (stride * size) == 0)
        if (ReplicaGrouping result(ir_, num_replicas(), stride, size); result.is_part_of(*this)) return result;
    return {ir_, num_replicas(), 1, 1};
  }
  /// Returns, for each group of const_rg(), the group of this grouping that contains it. Empty if the stride is constant.
  constexpr List<int> to_device_map() const {
    List<int> result;
    if (is_const()) return result;
    const ReplicaGrouping parts = const_rg();
    for (std::int64_t part = 0; part < parts.num_groups(); ++part)
      result.push_back(static_cast<int>(group_of(parts.member(part, 0))));
    return result;
  }
  /// Returns, for each group, the first group of const_rg() that is part of it. Empty if the stride is constant.
  constexpr List<int> to_host_map() const {
    List<int> result;
    if (is_const()) return result;
    const ReplicaGrouping parts = const_rg();
    for (std::int64_t group = 0; group < num_groups(); ++group)
      result.push_back(static_cast<int>(parts.group_of(member(group, 0))));
    return result;
  }

  /// Compares groupings: equal if both belong to one Ir and have equal groups.
  friend constexpr bool operator==(const ReplicaGrouping& a, const ReplicaGrouping& b) {
    return a.ir_ == b.ir_ && a.groups_ == b.groups_ && a.assignment_ == b.assignment_;
  }
  /// Returns the grouping as text: ReplicaGrouping(num_replicas=8, stride=2, group_size=4, num_groups=2). Without a constant
  /// stride, assignment=[0, 0, 1, 1, 0, 0, 1, 1] replaces the stride.
  friend constexpr Text to_text(const ReplicaGrouping& grouping) {
    Text result = text("ReplicaGrouping(num_replicas=", grouping.num_replicas(), ", ");
    if (grouping.is_const()) result += text("stride=", grouping.groups_.stride);
    else result += text("assignment=", list(grouping.assignment_));
    result += text(", group_size=", grouping.group_size(), ", num_groups=", grouping.num_groups(), ")");
    return result;
  }

 private:
  friend class Ir;
  constexpr ReplicaGrouping(Ir* ir, std::int64_t replicas, std::int64_t stride, std::int64_t group_size)
      : ir_(ir), groups_{replicas, group_size == 1 ? 1 : stride, group_size} {}
  /// Returns the grouping with replica r in group groups[r]. Groups have equal sizes and are numbered in the order of their first
  /// replicas.
  static constexpr ReplicaGrouping from_groups(Ir* ir, List<int> groups, std::int64_t group_size) {
    const auto replicas = static_cast<std::int64_t>(groups.size());
    std::int64_t stride = 1;
    if (group_size > 1)
      while (groups[static_cast<std::size_t>(stride)] != 0) ++stride;
    ReplicaGrouping result(ir, replicas, stride, group_size);
    if (replicas % (stride * group_size) == 0 && result.assignment() == groups) return result;
    result.groups_.stride = 1;
    result.assignment_ = std::move(groups);
    return result;
  }
  constexpr bool check_number(std::string_view name, std::int64_t number, std::int64_t count) const {
    if (number >= 0 && number < count) return true;
    const Text message = text("replica_grouping: ", name, " ", number, ": a number from 0 to ", count - 1, " expected");
    if (!valid()) TW_THROW TraceError(message.string());
    ir_->fail(message);
    return false;
  }
  constexpr bool is_part_of(const ReplicaGrouping& other) const {
    for (std::int64_t replica = 0; replica < num_replicas(); ++replica)
      if (other.group_of(replica) != other.group_of(member(group_of(replica), 0))) return false;
    return true;
  }
  static constexpr Text list(const List<int>& numbers) {
    List<Text> pieces;
    for (int number : numbers) pieces.push_back(text(number));
    return text("[", join(pieces, ", "), "]");
  }

  Ir* ir_ = nullptr;
  ReplicaGroups groups_{};
  List<int> assignment_{};  ///< group of each replica; empty: the stride is constant
};

/// Returns a grouping with groups of `group_size` replicas that are `stride` apart. By default groups are as large as the stride
/// allows. Groups of one replica have a stride of 1. Fails if the stride, or stride x group_size, does not divide the number of
/// replicas.
constexpr ReplicaGrouping Ir::replica_grouping(std::int64_t stride, std::optional<std::int64_t> group_size) {
  has_replica_groupings_ = true;
  const std::int64_t replicas = replication_factor_;
  if (stride < 1 || replicas % stride != 0) {
    fail(text("replica_grouping: stride ", stride, " of ", replicas, " replicas: a divisor of the replication factor expected"));
    return {this, replicas, 1, replicas};
  }
  const std::int64_t size = group_size.value_or(replicas / stride);
  if (size < 1 || size > replicas) {
    fail(text("replica_grouping: groups of ", size, " of ", replicas, " replicas: a group size from 1 to ", replicas,
              " expected"));
    return {this, replicas, 1, replicas};
  }
  if (replicas % (size == 1 ? 1 : stride * size) != 0) {
    fail(text("replica_grouping: stride ", stride, " and groups of ", size, " of ", replicas,
              " replicas: stride x group size that divides the replication factor expected"));
    return {this, replicas, 1, replicas};
  }
  return {this, replicas, stride, size};
}

/// Returns the grouping with replica r in group assignment[r], with a constant stride if possible. Fails unless the assignment
/// has one number for each replica, and groups have equal sizes and are numbered 0, 1, 2 and so on in the order of their first
/// replicas.
constexpr ReplicaGrouping Ir::replica_grouping_from_assignments(List<int> assignment) {
  has_replica_groupings_ = true;
  const auto failed_with = [&](auto... message) {
    fail(text("replica_grouping_from_assignments: ", ReplicaGrouping::list(assignment), message...));
    return ReplicaGrouping(this, replication_factor_, 1, replication_factor_);
  };
  const auto replicas = static_cast<std::int64_t>(assignment.size());
  if (replicas != replication_factor_)
    return failed_with(" for ", replicas, " replicas: a group for each of ", replication_factor_, " replicas expected");
  List<std::int64_t> sizes;
  for (const int group : assignment) {
    if (group < 0 || group > static_cast<int>(sizes.size()))
      return failed_with(": group ", group, " where ", sizes.size(),
                         " would be the next: groups numbered from 0 in the order of their first replicas expected");
    if (group == static_cast<int>(sizes.size())) sizes.push_back(0);
    ++sizes[static_cast<std::size_t>(group)];
  }
  for (std::size_t group = 1; group < sizes.size(); ++group)
    if (sizes[group] != sizes[0])
      return failed_with(": ", sizes[0], " replicas in group 0, ", sizes[group], " in group ", group,
                         ": groups of equal size expected");
  return ReplicaGrouping::from_groups(this, std::move(assignment), sizes[0]);
}

}  // namespace tilewright
