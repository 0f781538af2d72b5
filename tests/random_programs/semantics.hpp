#pragma once
// The meaning of each op for the interpreter, from its definition.
#include "../ops/ops.hpp"
#include "semantics_elementwise.hpp"
#include "semantics_indexing.hpp"
#include "semantics_networks.hpp"
#include "semantics_random.hpp"
#include "semantics_reductions.hpp"
#include "semantics_types.hpp"
#include "semantics_updates.hpp"

namespace random_programs {

inline const std::map<std::string_view, Interpreter::Meaning>& Interpreter::meanings() {
  static const std::map<std::string_view, Meaning> all = [] {
    using namespace meaning;
    Meanings result;
    for (Meanings area : {elementwise_meanings(), indexing_meanings(), network_meanings(), random_meanings(),
                          reduction_meanings(), type_meanings(), update_meanings()})
      result.merge(area);
    op_tests::for_each([&](auto test) { test.meanings(result); });
    return result;
  }();
  return all;
}

inline const std::map<std::string_view, Interpreter::ViewMeaning>& Interpreter::views() {
  const auto same = [](const tw::Node&, const Index& index, const tw::Shape&, const tw::Shape& output) {
    return number_of(index, output);
  };
  const auto transpose = [](const tw::Node& node, const Index& index, const tw::Shape& input, const tw::Shape&) {
    const tw::Shape order = tw::unpack<tw::Transpose::Attributes>(node.attributes).shape();
    Index from(index.size());
    for (int axis = 0; axis < order.rank; ++axis)
      from[static_cast<std::size_t>(order[axis])] = index[static_cast<std::size_t>(axis)];
    return number_of(from, input);
  };
  const auto expand = [](const tw::Node&, const Index& index, const tw::Shape& input, const tw::Shape&) {
    Index from(index.end() - input.rank, index.end());
    for (int axis = 0; axis < input.rank; ++axis)
      if (input[axis] == 1) from[static_cast<std::size_t>(axis)] = 0;
    return number_of(from, input);
  };
  const auto slice = [](const tw::Node& node, const Index& index, const tw::Shape& input, const tw::Shape&) {
    const auto attributes = tw::unpack<tw::SliceAttributes>(node.attributes);
    Index from;
    std::size_t next = 0;
    for (int axis = 0; axis < input.rank; ++axis)
      from.push_back(attributes.start(axis) + (attributes.drops(axis) ? 0 : index[next++] * attributes.step(axis)));
    return number_of(from, input);
  };
  const auto diagonal = [](const tw::Node&, const Index& index, const tw::Shape& input, const tw::Shape&) {
    return number_of({index[0], index[0]}, input);
  };
  static const std::map<std::string_view, ViewMeaning> all{
      {"Reshape", same},       {"ReshapeInplace", same}, {"Detach", same},
      {"DetachInplace", same}, {"Transpose", transpose}, {"TransposeInplace", transpose},
      {"Expand", expand},      {"Slice", slice},         {"SliceInplace", slice},
      {"Squeeze", slice},      {"Diagonal", diagonal},   {"DiagonalInplace", diagonal},
  };
  return all;
}

}  // namespace random_programs
