#pragma once
// What the meanings of ops share.
#include <algorithm>
#include <cmath>
#include <map>

#include "interpreter.hpp"

namespace random_programs::meaning {

using Inputs = std::span<const Array>;
using Specs = std::span<const tw::TensorSpec>;
using Meaning = Interpreter::Meaning;
using Line = std::vector<double>;

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
inline double real(auto x) { return static_cast<double>(x); }
/// Whether the node's op is this type, of those that have its name.
template <class Op>
bool is_op(const tw::Node& node) {
  return node.op->tag == &tw::op_tag<Op>;
}
inline int from_first(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

/// f(elements at one place...) with broadcasting.
template <class F>
Meaning elementwise(F f) {
  return [f](const tw::Node& node, Inputs inputs, Specs outputs) {
    Array result(outputs[0]);
    Line elements(inputs.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Index index = index_of(i, result.spec.shape);
      for (std::size_t k = 0; k < elements.size(); ++k) elements[k] = broadcast_at(inputs[k], index);
      if constexpr (requires { f(node, inputs, elements); }) result[i] = f(node, inputs, elements);
      else result[i] = f(elements);
    }
    return std::vector{result};
  };
}
template <class F>
Meaning unary(F f) {
  return elementwise([f](const Line& x) { return f(x[0]); });
}
template <class F>
Meaning binary(F f) {
  return elementwise([f](const Line& x) { return f(x[0], x[1]); });
}
/// f(attributes, elements at one place...)
template <class Attributes, class F>
Meaning elementwise_with(F f) {
  return elementwise([f](const tw::Node& node, Inputs, const Line& x) { return f(tw::unpack<Attributes>(node.attributes), x); });
}

/// Calls f(index) for each index of a shape.
template <class F>
void for_each_index(const tw::Shape& shape, F f) {
  for (std::size_t i = 0; i < at(shape.nelms()); ++i) f(index_of(i, shape));
}
inline double element(const Array& x, const Index& index) { return x[number_of(index, x.spec.shape)]; }
inline double& element(Array& x, const Index& index) { return x[number_of(index, x.spec.shape)]; }

/// f(line) for each line of an axis: the elements of the line in the result.
template <class F>
Array by_lines(const Array& x, int axis, const tw::TensorSpec& spec, F f) {
  Array result(spec);
  for_each_index(x.spec.shape, [&](Index index) {
    if (index[at(axis)] != 0) return;
    Line line;
    for (std::int64_t k = 0; k < x.extent(axis); ++k) {
      index[at(axis)] = k;
      line.push_back(element(x, index));
    }
    const Line to = f(line);
    if (spec.shape.rank < x.rank()) index.erase(index.begin() + axis);
    for (std::size_t k = 0; k < to.size(); ++k) {
      if (spec.shape.rank == x.rank()) index[at(axis)] = static_cast<std::int64_t>(k);
      element(result, index) = to[k];
    }
  });
  return result;
}

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

/// By op name.
struct Meanings : std::map<std::string_view, Meaning> {
  std::map<std::string_view, Interpreter::ViewMeaning> views{};

  /// f(node, index, shape of the input, shape of the view): the number of the input's element at the index of the view.
  void view(std::initializer_list<std::string_view> names, const Interpreter::ViewMeaning& f) {
    for (const std::string_view op : names) views[op] = f;
  }
  void unary(std::string_view op, auto f) { (*this)[op] = meaning::unary(f); }
  void binary(std::string_view op, auto f) { (*this)[op] = meaning::binary(f); }
  void reduction(std::string_view op, auto f) { (*this)[op] = meaning::reduction(f); }
  void elementwise(std::string_view op, auto f) { (*this)[op] = meaning::elementwise(f); }
  /// f(node, inputs, index, element_of) for each index of the result; element_of(input, index).
  void by_index(std::string_view op, auto f) {
    (*this)[op] = [f](const tw::Node& node, Inputs inputs, Specs outputs) {
      Array result(outputs[0]);
      const auto element_of = [](const Array& x, const Index& index) { return element(x, index); };
      for_each_index(result.spec.shape, [&](const Index& index) { element(result, index) = f(node, inputs, index, element_of); });
      return std::vector{result};
    };
  }
  /// f(node, index, the input's element there) for each index.
  void at_each_index(std::string_view op, auto f) {
    by_index(op, [f](const tw::Node& node, Inputs inputs, const Index& index, auto element_of) {
      return f(node, index, element_of(inputs[0], index));
    });
  }
};

}  // namespace random_programs::meaning
