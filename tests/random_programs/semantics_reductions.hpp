#pragma once
// Meanings of reductions, and of ops on lines along an axis.
#include "semantics_common.hpp"

namespace random_programs::meaning {

/// combine(the elements of each line over the reduced axes, in row-major order) for each element of the result.
template <class F>
Meaning reduction(F combine) {
  return [combine](const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::ReduceSum::Attributes>(node.attributes);
    const Array& x = inputs[0];
    std::vector<bool> reduced(at(x.rank()), attributes.count < 0);
    for (std::int64_t i = 0; i < attributes.count; ++i) reduced[at(from_first(attributes.axes[at(i)], x.rank()))] = true;
    Array result(outputs[0]);
    std::vector<Line> lines(result.size());
    for_each_index(x.spec.shape, [&](const Index& index) {
      std::size_t line = 0;
      for (std::size_t axis = 0; axis < index.size(); ++axis)
        if (!reduced[axis]) line = line * at(x.extent(static_cast<int>(axis))) + at(index[axis]);
      lines[line].push_back(element(x, index));
    });
    for (std::size_t i = 0; i < result.size(); ++i) {
      if constexpr (requires { combine(lines[i], x.spec.dtype); }) result[i] = combine(lines[i], x.spec.dtype);
      else result[i] = combine(lines[i]);
    }
    return std::vector{result};
  };
}
inline double sum(const Line& all) {
  double total = 0;
  for (double x : all) total += x;
  return total;
}
inline double sum_of_squares(const Line& all) {
  double total = 0;
  for (double x : all) total += x * x;
  return total;
}
inline double log_sum_exp(const Line& all) {
  const double largest = *std::ranges::max_element(all);
  double total = 0;
  for (double x : all) total += std::exp(x - largest);
  return largest + std::log(total);
}
inline double median(Line all) {
  std::ranges::sort(all);
  return all[(all.size() - 1) / 2];
}
inline Line softmax(const Line& line) {
  const double log_total = log_sum_exp(line);
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
      {"ReduceSum", reduction(sum)},
      {"ReduceMean", reduction([](const Line& all, tw::DType dtype) {
         const double mean = sum(all) / real(all.size());
         return tw::is_int(dtype) ? std::trunc(mean) : mean;
       })},
      {"ReduceMax", reduction([](const Line& all) { return *std::ranges::max_element(all); })},
      {"ReduceMin", reduction([](const Line& all) { return *std::ranges::min_element(all); })},
      {"ReduceMedian", reduction(median)},
      {"ReduceProd", reduction([](const Line& all) {
         double product = 1;
         for (double x : all) product *= x;
         return product;
       })},
      {"ReduceSumSquare", reduction(sum_of_squares)},
      {"ReduceL1", reduction([](const Line& all) {
         double total = 0;
         for (double x : all) total += std::abs(x);
         return total;
       })},
      {"ReduceL2", reduction([](const Line& all) { return std::sqrt(sum_of_squares(all)); })},
      {"ReduceLogSum", reduction([](const Line& all) { return std::log(sum(all)); })},
      {"ReduceLogSumExp", reduction(log_sum_exp)},
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
