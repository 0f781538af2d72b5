#pragma once
// The meaning of each op for the interpreter, from its definition.
#include <algorithm>
#include <cmath>
#include <map>

#include "interpreter.hpp"

namespace random_programs {

namespace meaning {

using Inputs = std::span<const Array>;
using Specs = std::span<const tw::TensorSpec>;
using Meaning = Interpreter::Meaning;

/// f(elements at one place...) with broadcasting.
template <class F>
Meaning elementwise(F f) {
  return [f](const tw::Node&, Inputs inputs, Specs outputs) {
    Array result(outputs[0]);
    std::vector<double> at(inputs.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Index index = index_of(i, result.spec.shape);
      for (std::size_t k = 0; k < at.size(); ++k) at[k] = broadcast_at(inputs[k], index);
      result[i] = f(at);
    }
    return std::vector{result};
  };
}
template <class F>
Meaning unary(F f) {
  return elementwise([f](const std::vector<double>& x) { return f(x[0]); });
}
template <class F>
Meaning binary(F f) {
  return elementwise([f](const std::vector<double>& x) { return f(x[0], x[1]); });
}

/// combine(the elements of each line over the reduced axes, in row-major order) for each element of the result.
template <class Attributes, class F>
Meaning reduction(F combine) {
  return [combine](const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<Attributes>(node.attributes);
    const Array& x = inputs[0];
    std::vector<bool> reduced(static_cast<std::size_t>(x.rank()), attributes.count < 0);
    for (std::int64_t i = 0; i < attributes.count; ++i) {
      const std::int64_t axis = attributes.axes[static_cast<std::size_t>(i)];
      reduced[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
    }
    Array result(outputs[0]);
    std::vector<std::vector<double>> lines(result.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Index index = index_of(i, x.spec.shape);
      std::size_t line = 0;
      for (std::size_t axis = 0; axis < index.size(); ++axis)
        if (!reduced[axis])
          line = line * static_cast<std::size_t>(x.extent(static_cast<int>(axis))) + static_cast<std::size_t>(index[axis]);
      lines[line].push_back(x[i]);
    }
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = combine(lines[i]);
    return std::vector{result};
  };
}
inline double sum(const std::vector<double>& all) {
  double total = 0;
  for (double x : all) total += x;
  return total;
}

/// f(line) for each line of an axis: the elements of the line in the result.
template <class F>
Array by_lines(const Array& x, int axis, const tw::TensorSpec& spec, F f) {
  Array result(spec);
  for (std::size_t i = 0; i < x.size(); ++i) {
    Index index = index_of(i, x.spec.shape);
    if (index[static_cast<std::size_t>(axis)] != 0) continue;
    std::vector<double> line;
    for (std::int64_t k = 0; k < x.extent(axis); ++k) {
      index[static_cast<std::size_t>(axis)] = k;
      line.push_back(x[number_of(index, x.spec.shape)]);
    }
    const std::vector<double> to = f(line);
    for (std::size_t k = 0; k < to.size(); ++k) {
      index[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(k);
      result[number_of(index, spec.shape)] = to[k];
    }
  }
  return result;
}
inline std::vector<double> softmax(const std::vector<double>& line) {
  const double largest = *std::max_element(line.begin(), line.end());
  std::vector<double> result;
  double total = 0;
  for (double x : line) result.push_back(std::exp(x - largest)), total += result.back();
  for (double& x : result) x /= total;
  return result;
}

inline std::vector<Array> matmul(const tw::Node&, Inputs inputs, Specs outputs) {
  const auto matrix = [](Array x, bool is_left) {  // a vector is a row on the left, a column on the right
    if (x.rank() == 1) x.spec.shape = is_left ? tw::Shape{1, x.extent(0)} : tw::Shape{x.extent(0), 1};
    return x;
  };
  const Array a = matrix(inputs[0], true), b = matrix(inputs[1], false);
  tw::Shape shape = outputs[0].shape;  // with the axes that vectors leave out
  if (inputs[0].rank() == 1) {
    const std::int64_t last = inputs[1].rank() == 1 ? 1 : shape[-1];
    if (inputs[1].rank() == 1) shape.push_back(1);
    else shape[-1] = 1, shape.push_back(last);
  }
  if (inputs[1].rank() == 1) shape.push_back(1);
  Array result(outputs[0]);
  for (std::size_t i = 0; i < result.size(); ++i) {
    Index index = index_of(i, shape);
    const std::int64_t row = index[index.size() - 2], column = index.back();
    for (std::int64_t k = 0; k < a.extent(-1); ++k) {
      Index left = index, right = index;
      left[left.size() - 2] = row, left.back() = k;
      right[right.size() - 2] = k, right.back() = column;
      result[i] += broadcast_at(a, left) * broadcast_at(b, right);
    }
  }
  return {result};
}
inline std::vector<Array> layer_norm(const tw::Node& node, Inputs inputs, Specs outputs) {
  const double eps = tw::unpack<tw::NormAttributes>(node.attributes).eps;
  std::vector<Array> results{Array(outputs[0]), Array(outputs[1]), Array(outputs[2])};
  const auto columns = static_cast<std::size_t>(inputs[0].extent(-1));
  for (std::size_t line = 0; line * columns < inputs[0].size(); ++line) {
    double mean = 0, variance = 0;
    for (std::size_t k = 0; k < columns; ++k) mean += inputs[0][line * columns + k] / static_cast<double>(columns);
    for (std::size_t k = 0; k < columns; ++k)
      variance += std::pow(inputs[0][line * columns + k] - mean, 2) / static_cast<double>(columns);
    const double inverse = 1 / std::sqrt(variance + eps);
    results[1][line] = mean, results[2][line] = inverse;
    for (std::size_t k = 0; k < columns; ++k)
      results[0][line * columns + k] = (inputs[0][line * columns + k] - mean) * inverse * inputs[1][k] + inputs[2][k];
  }
  return results;
}
inline std::vector<Array> scaled_add(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::ScaledAdd::Attributes>(node.attributes);
  std::size_t next = 2;
  const double a = attributes.inputs & 1 ? inputs[next++][0] : attributes.a;
  const double b = attributes.inputs & 2 ? inputs[next][0] : attributes.b;
  Array result(outputs[0]);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = a * inputs[0][i] + b * inputs[1][i];
  return {result};
}

}  // namespace meaning

inline const std::map<std::string_view, Interpreter::Meaning>& Interpreter::meanings() {
  using namespace meaning;
  using SumAttributes = tw::ReduceSum::Attributes;
  static const std::map<std::string_view, Meaning> all{
      {"Identity", unary([](double x) { return x; })},
      {"Cast", unary([](double x) { return x; })},
      {"Neg", unary([](double x) { return -x; })},
      {"Exp", unary([](double x) { return std::exp(x); })},
      {"Log", unary([](double x) { return std::log(x); })},
      {"Sqrt", unary([](double x) { return std::sqrt(x); })},
      {"Tanh", unary([](double x) { return std::tanh(x); })},
      {"Relu", unary([](double x) { return x > 0 ? x : 0; })},
      {"Gelu", unary([](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); })},
      {"Add", binary([](double a, double b) { return a + b; })},
      {"Sub", binary([](double a, double b) { return a - b; })},
      {"Mul", binary([](double a, double b) { return a * b; })},
      {"Div", binary([](double a, double b) { return a / b; })},
      {"ScaledAdd", scaled_add},
      {"ScaledAddLhsInplace", scaled_add},
      {"ReduceSum", reduction<SumAttributes>(sum)},
      {"ReduceMean", reduction<SumAttributes>([](const auto& all) { return sum(all) / static_cast<double>(all.size()); })},
      {"MatMul", matmul},
      {"GroupNormalization", layer_norm},
      {"Softmax",
       [](const tw::Node& node, Inputs inputs, Specs outputs) {
         const auto axis = static_cast<int>(tw::unpack<tw::Softmax::Attributes>(node.attributes).axis);
         return std::vector{by_lines(inputs[0], axis, outputs[0], softmax)};
       }},
  };
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
  static const std::map<std::string_view, ViewMeaning> all{
      {"Reshape", same},        {"ReshapeInplace", same},        {"Detach", same},   {"DetachInplace", same},
      {"Transpose", transpose}, {"TransposeInplace", transpose}, {"Expand", expand},
  };
  return all;
}

}  // namespace random_programs
