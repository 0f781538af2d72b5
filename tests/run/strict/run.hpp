#pragma once
// Runs of a program on tiles with memory of their own, beside the fast mode.
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/programs.hpp"
#include "tilewright/execute/strict_executor.hpp"
#include "tilewright/session/initial_values.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

/// A program with its memory and arrays for its streams, without a session.
template <auto build, tw::Target target>
class ProgramRun {
  using Program = tw::Program<build, target>;

 public:
  static constexpr const auto& plan = Program::plan;

  explicit ProgramRun(bool strict) : executor_(Program::view(), 1, strict) {
    tw::fill_constants(Program::view(), executor_.constants());
    for (int replica = 0; replica < plan.replicas; ++replica)
      for (std::size_t v = 0; v < plan.variables.size(); ++v) {
        const auto& variable = plan.variables[v];
        const bool is_remote = variable.base == tw::internal::Base::remote;
        fill(variable.spec.dtype, (is_remote ? executor_.remote(replica) : executor_.variables(replica)) + variable.offset,
             variable.spec.nelms());
      }
    for (const auto& stream : plan.streams) {
      const std::int64_t elements = stream.spec.nelms() * stream.transfers * plan.replicas;
      arrays_.emplace_back(static_cast<std::size_t>(elements * tw::size_of(stream.spec.dtype) + 64));
      if (stream.direction == tw::StreamDirection::host_to_device) fill(stream.spec.dtype, arrays_.back().data(), elements);
    }
  }
  void run() {
    std::vector<tw::internal::OperandAddress> streams;
    for (auto& array : arrays_) streams.push_back(array.data());
    executor_.run(streams);
  }
  tw::internal::StrictExecutor& strict() { return *static_cast<tw::internal::StrictExecutor*>(executor_.strict()); }
  /// What the host sees after a run: all arrays, variables and remote buffers.
  std::vector<std::vector<std::byte>> results() const {
    std::vector<std::vector<std::byte>> all = arrays_;
    for (int replica = 0; replica < plan.replicas; ++replica) {
      for (const auto& variable : plan.variables)
        if (variable.base == tw::internal::Base::variable)
          all.emplace_back(executor_.variables(replica) + variable.offset,
                           executor_.variables(replica) + variable.offset + variable.spec.bytes());
      all.emplace_back(executor_.remote(replica), executor_.remote(replica) + plan.memory.remote);
    }
    return all;
  }

 private:
  /// Floats between -1 and 1, small integers.
  void fill(tw::DType dtype, std::byte* to, std::int64_t elements) {
    std::vector<double> values(static_cast<std::size_t>(elements));
    const bool is_float = tw::is_floating_point(dtype);
    for (double& value : values) {
      const auto number = static_cast<double>(random_() % 2001);
      value = is_float               ? (number + 0.5) / 1000 - 1
              : dtype == tw::boolean ? static_cast<int>(number) % 2
                                     : static_cast<int>(number) % 3;
    }
    tw::detail::write_values(dtype, values.size(), values, to);
  }

  std::mt19937 random_{1};
  tw::internal::Executor executor_;
  std::vector<std::vector<std::byte>> arrays_;  // by stream
};

/// Runs a program in both modes and compares all that the host sees, bit by bit.
template <auto build, tw::Target target>
void check_strict(int runs = 2) {
  ProgramRun<build, target> fast(false), strict(true);
  for (int i = 0; i < runs; ++i) {
    INFO("run " << i);
    fast.run();
    strict.run();
    CHECK(fast.results() == strict.results());
  }
}
