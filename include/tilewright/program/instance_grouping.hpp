#pragma once
#include "tilewright/program/replica_grouping.hpp"

// Groups of replicas within one process, an instance of the program, or within one link domain. Both have consecutive replicas:
// with four of them in each, replicas 0 to 3 are in the first. How many they have is an argument, because a program is traced
// once for every number of processes.

namespace tilewright {

namespace detail {
/// Returns what the function `what` calls a part of the replicas.
constexpr std::string_view name_of_part(std::string_view what) {
  return what == "get_ild_replica_grouping" ? "link domain" : "instance";
}
/// Checks that the replicas can be divided into parts of `part` consecutive ones. Fails if not; the error names `what`.
constexpr bool check_parts(std::string_view what, const ReplicaGrouping& grouping, std::int64_t part) {
  if (!grouping.valid())
    TW_THROW TraceError(text(what, ": a grouping without an Ir: one of ir.replica_grouping expected").string());
  if (part >= 1 && grouping.num_replicas() % part == 0) return true;
  grouping.ir().fail(text(what, ": ", to_text(grouping), " with ", part, " replicas in each ", name_of_part(what),
                          ": a divisor of ", grouping.num_replicas(), " expected"));
  return false;
}
/// Returns the grouping with each group cut at the borders of the parts.
constexpr ReplicaGrouping groups_within_parts(std::string_view what, const ReplicaGrouping& grouping, std::int64_t part) {
  if (!check_parts(what, grouping, part)) return grouping;
  List<std::pair<std::int64_t, std::int64_t>> found;  // group and part, in the order of their first replicas
  List<int> assignment, sizes;
  for (std::int64_t replica = 0; replica < grouping.num_replicas(); ++replica) {
    const std::pair key(grouping.group_of(replica), replica / part);
    std::size_t group = 0;
    while (group < found.size() && found[group] != key) ++group;
    if (group == found.size()) {
      found.push_back(key);
      sizes.push_back(0);
    }
    ++sizes[group];
    assignment.push_back(static_cast<int>(group));
  }
  for (const int size : sizes)
    if (size != sizes[0]) {
      grouping.ir().fail(text(what, ": ", to_text(grouping), " with ", part, " replicas in each ", name_of_part(what),
                              ", so that groups have parts of ", sizes[0], " and of ", size,
                              " replicas: parts of one size expected"));
      return grouping;
    }
  return grouping.ir().replica_grouping_from_assignments(std::move(assignment));
}
}  // namespace detail

/// Returns whether a group has replicas of several instances, each of `instance_replicas` replicas. Fails if that number does not
/// divide the number of replicas.
[[nodiscard]] constexpr bool is_cross_instance(const ReplicaGrouping& grouping, std::int64_t instance_replicas) {
  if (!detail::check_parts("is_cross_instance", grouping, instance_replicas)) return false;
  for (std::int64_t replica = 0; replica < grouping.num_replicas(); ++replica)
    if (grouping.member(grouping.group_of(replica), 0) / instance_replicas != replica / instance_replicas) return true;
  return false;
}

/// Returns the grouping with each group cut at the borders of instances, which have `instance_replicas` replicas each: two groups
/// of 4 for one group of eight replicas in two instances. Fails if that number does not divide the number of replicas, or if the
/// pieces differ in size.
///
///     tw::get_instance_replica_grouping(ir.replica_grouping(), 4)  // 0 0 0 0 1 1 1 1
[[nodiscard]] constexpr ReplicaGrouping get_instance_replica_grouping(const ReplicaGrouping& grouping,
                                                                      std::int64_t instance_replicas) {
  return detail::groups_within_parts("get_instance_replica_grouping", grouping, instance_replicas);
}

/// Returns the grouping with each group cut at the borders of link domains, which have `domain_replicas` replicas each. A link
/// domain is a set of machines that are connected without a network. Fails if that number does not divide the number of replicas,
/// or if the pieces differ in size.
[[nodiscard]] constexpr ReplicaGrouping get_ild_replica_grouping(const ReplicaGrouping& grouping, std::int64_t domain_replicas) {
  return detail::groups_within_parts("get_ild_replica_grouping", grouping, domain_replicas);
}

}  // namespace tilewright
