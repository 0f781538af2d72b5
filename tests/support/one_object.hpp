#pragma once
// The run of a program in one object, which must leave the bits of another run.
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/session/arrays/replica_parts.hpp"
#include "tilewright/session/one_object/static_programs.hpp"

namespace support {

using Bytes = std::vector<const std::byte*>;

/// Runs a program without inputs in one object. Memory is by the plan's variables and streams. Returns the name of a stream or
/// variable that has other bits than expected; empty: none.
template <class Program>
std::string differs_in_one_object(const Bytes& variables, const Bytes& expected_streams, const Bytes& expected_variables) {
  constexpr const auto& plan = Program::plan;
  const auto object =
      std::make_unique<tilewright::detail::StaticPrograms<false, tilewright::UnchangedVariables::in_object, Program>>();
  std::array<std::vector<std::max_align_t>, plan.streams.size()> arrays;
  std::array<tilewright::internal::OperandAddress, plan.streams.size()> streams{};
  const auto bytes_of_stream = [](std::size_t i) {
    return plan.streams[i].used ? static_cast<std::size_t>(tilewright::detail::array_bytes(plan, i, 1)) : 0;
  };
  const auto bytes_of_variable = [](std::size_t v) { return static_cast<std::size_t>(tilewright::host_spec(plan, v).bytes()); };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    arrays[i].resize(bytes_of_stream(i) / sizeof(std::max_align_t) + 1);
    streams[i] = reinterpret_cast<std::byte*>(arrays[i].data());
  }
  if (!object->fill(1).is_done()) return "initial values";
  for (std::size_t v = 0; v < plan.variables.size(); ++v)
    std::memcpy(object->template variable<0>(v), variables[v], bytes_of_variable(v));
  if (!object->upload().is_done() || !object->template run<0>(streams).is_done() || !object->download().is_done())
    return "status";
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (bytes_of_stream(i) > 0 && std::memcmp(streams[i].get(), expected_streams[i], bytes_of_stream(i)) != 0)
      return std::string(plan.stream_name(i));
  for (std::size_t v = 0; v < plan.variables.size(); ++v)
    if (std::memcmp(object->template variable<0>(v), expected_variables[v], bytes_of_variable(v)) != 0)
      return std::string(plan.variable_name(v));
  return "";
}

}  // namespace support
