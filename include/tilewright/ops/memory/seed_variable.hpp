#pragma once
#include <concepts>
#include <cstdint>
#include <string_view>

#include "tilewright/core/philox.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/ops/memory/remote.hpp"
#include "tilewright/program/replicated_variable.hpp"
#include "tilewright/program/scopes.hpp"

namespace tilewright {

/// Result of seed_variable.
struct SeedVariable {
  Tensor variable;  ///< the remote variable: what sessions and checkpoints read, write and save
  Tensor seed;  ///< (2,) uint32, the replica's seed on the device
};

/// Creates a variable with a seed for random ops, (2,) uint32: one seed for each group of replicas, by default one for each
/// replica. Group g starts with `create_seeds(seed, {.replicas = groups})(0, 0, g)`. An upload of the variables loads the seed,
/// and a download stores it. A program that draws other numbers in its next run changes the seed in place:
///
///     const auto [variable, seed] = tw::seed_variable(ir, 42);
///     const auto [next, now] = tw::ops::split_random_seed(seed).as<2>();
///     const tw::Tensor y = tw::ops::dropout(x, now, 0.1);
///     tw::ops::copy_var_update_(seed, next);
///
/// The main graph must be the current one. Fails for a negative number.
template <std::integral Number>
constexpr SeedVariable seed_variable(Ir& ir, Number seed, ReplicaGrouping grouping = {}, std::string_view name = "seed") {
  if (!std::in_range<std::uint64_t>(seed)) ir.fail(text("seed_variable: ", seed, ": a number of at least 0 expected"));
  if (!grouping.valid() && ir.replication_factor() > 1) grouping = ir.replica_grouping(1, 1);
  const std::uint32_t groups = grouping.valid() ? static_cast<std::uint32_t>(grouping.num_groups()) : 1;
  List<double> words;
  for (std::uint32_t group = 0; group < groups; ++group)
    for (const std::uint32_t word : detail::host_seed(static_cast<std::uint64_t>(seed), 0, group)) words.push_back(word);
  const RemoteBuffer buffer = ir.remote_buffer({2}, uint32, 1);
  const Tensor variable = ir.remote_variable(values(Span<const double>(words)), buffer, 0, name, {.replica_grouping = grouping});
  const auto on_device = [&] {
    const auto upload = execution_context(ir, ExecutionContext::WeightsFromHostFragment);
    return ops::remote_load(buffer, 0);
  }();
  const auto download = execution_context(ir, ExecutionContext::WeightsToHostFragment);
  ops::remote_store(buffer, 0, on_device);
  return {variable, on_device};
}

}  // namespace tilewright
