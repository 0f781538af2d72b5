#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/one_object.hpp"
#include "../../support/reference.hpp"

/// Runs a session of a program without inputs, and returns all its outputs. If an object can run the program, it does. Throws
/// std::logic_error if it leaves other bits.
template <auto build, tilewright::Target target>
Values run_both(tilewright::Session<build, target>& session) {
  using Program = tilewright::internal::Program<build, target>;
  constexpr bool fits = tilewright::detail::host_need<Program::plan, target>().empty();
  if constexpr (!fits) return run(session);
  else {
    std::vector<std::vector<std::byte>> before;
    support::Bytes variables, streams, variables_after;
    for (const auto& tensor : session.host_tensors())
      variables.push_back(before.emplace_back(tensor.bytes.begin(), tensor.bytes.end()).data());
    Values values;
    const auto outputs = session.run();
    const auto tensors = outputs.host_tensors();
    auto next = tensors.begin();
    for (const auto& stream : Program::plan.streams) streams.push_back(stream.used ? (next++)->bytes.data() : nullptr);
    for (const auto& tensor : tensors) values[std::string(tensor.name)] = elements_of(tensor);
    for (const auto& tensor : session.host_tensors()) variables_after.push_back(tensor.bytes.data());
    if (const std::string name = support::differs_in_one_object<Program>(variables, streams, variables_after); !name.empty())
      throw std::logic_error(name + " has other bits in one object");
    return values;
  }
}
