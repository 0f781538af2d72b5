#pragma once
// Meanings of reductions, and of ops on lines along an axis.
#include "../ops/reduce/norms_of_lines.hpp"
#include "semantics_common.hpp"

namespace random_programs::meaning {

inline Line softmax(const Line& line) {
  const double log_total = op_tests::LogSumExp::value(line);
  Line result;
  for (double x : line) result.push_back(std::exp(x - log_total));
  return result;
}
/// Places of a line's elements from the largest, or smallest, on; of equal ones the first stands first.
inline std::vector<std::size_t> ranking(const Line& line, bool largest) {
  std::vector<std::size_t> places(line.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return largest ? line[a] > line[b] : line[a] < line[b]; });
  return places;
}
template <bool largest>
std::vector<Array> extreme_place(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto axis = static_cast<int>(tw::unpack<tw::ArgMax::Attributes>(node.attributes).axis);
  return {by_lines(inputs[0], axis, outputs[0], [](const Line& line) { return Line{real(ranking(line, largest)[0])}; })};
}
inline std::vector<Array> topk(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::TopK::Attributes>(node.attributes);
  const auto with = [&](const tw::TensorSpec& spec, bool places) {
    return by_lines(inputs[0], static_cast<int>(attributes.axis), spec, [&](const Line& line) {
      Line result;
      const auto ranks = ranking(line, attributes.largest != 0);
      for (std::size_t i = 0; i < at(attributes.k); ++i) result.push_back(places ? real(ranks[i]) : line[ranks[i]]);
      return result;
    });
  };
  return {with(outputs[0], false), with(outputs[1], true)};
}
inline std::vector<Array> histogram(const tw::Node& node, Inputs inputs, Specs outputs) {
  const bool absolute = tw::unpack<tw::Histogram::Attributes>(node.attributes).absolute != 0;
  const Array& levels = inputs[1];
  Array counts(outputs[0]);
  for (double x : inputs[0].elements()) {
    if (absolute) x = std::abs(x);
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (x >= levels[i] && (x < levels[i + 1] || (i + 1 == counts.size() && x == levels[i + 1]))) ++counts[i];
  }
  return {counts};
}

inline Meanings reduction_meanings() {
  return {
      {"ArgMax", extreme_place<true>},
      {"ArgMin", extreme_place<false>},
      {"TopK", topk},
      {"Histogram", histogram},
      {"CumSum",
       [](const tw::Node& node, Inputs inputs, Specs outputs) {
         const auto attributes = tw::unpack<tw::CumSum::Attributes>(node.attributes);
         return std::vector{by_lines(inputs[0], static_cast<int>(attributes.axis), outputs[0], [](Line line) {
           for (std::size_t i = 1; i < line.size(); ++i) line[i] += line[i - 1];
           return line;
         })};
       }},
      {"Softmax",
       [](const tw::Node& node, Inputs inputs, Specs outputs) {
         const auto axis = static_cast<int>(tw::unpack<tw::Softmax::Attributes>(node.attributes).axis);
         return std::vector{by_lines(inputs[0], axis, outputs[0], softmax)};
       }},
  };
}

}  // namespace random_programs::meaning
