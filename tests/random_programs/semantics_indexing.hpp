#pragma once
// Meanings of ops whose indices are tensors, and of those that put tensors together.
#include "semantics_common.hpp"

namespace random_programs::meaning {

/// Where in a table of `rank` axes the element of a gather's result comes from. It may be out of range along the axis.
inline Index place_in_table(const tw::IndexAttributes& attributes, int rank, const Array& indices, const Index& index) {
  const auto axis = from_first(attributes.axis, rank), groups = attributes.group_size > 1 ? 1 : 0;
  const auto first = index.begin(), place = first + axis, end = place + indices.rank() - groups;
  Index of_index(place, end), from(first, place);
  if (groups == 1) of_index.insert(of_index.begin(), index[0]);
  from.push_back(static_cast<std::int64_t>(element(indices, of_index)));
  from.insert(from.end(), end, index.end());
  return from;
}
inline std::vector<Array> gather(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
  const Array& t = inputs[0];
  const int axis = from_first(attributes.axis, t.rank());
  Array result(outputs[0]);
  for_each_index(result.spec.shape, [&](const Index& index) {
    const Index from = place_in_table(attributes, t.rank(), inputs[1], index);
    const std::int64_t found = from[at(axis)];
    element(result, index) = found < 0 || found >= t.extent(axis) ? 0 : element(t, from);
  });
  return {result};
}
inline std::vector<Array> gather_gradient(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
  Array result(outputs[0]);
  for_each_index(inputs[0].spec.shape, [&](const Index& index) {
    const Index to = place_in_table(attributes, result.rank(), inputs[1], index);
    const std::int64_t found = to[at(attributes.axis)];
    if (found >= 0 && found < attributes.extent) element(result, to) += element(inputs[0], index);
  });
  return {result};
}

/// Calls f(index of the data, index of the result) for each element that is scattered, in row-major order.
template <class F>
void for_each_scattered(const tw::IndexAttributes& attributes, const Array& data, const Array& indices, F f) {
  const int axis = from_first(attributes.axis, data.rank());
  const bool by_element = attributes.form == tw::kernel::IndexForm::elements;
  for_each_index(by_element ? indices.spec.shape : data.spec.shape, [&](const Index& index) {
    Index to = index, of_index = index;
    if (!by_element) {
      of_index = {index[at(axis)]};
      if (attributes.group_size > 1) of_index.insert(of_index.begin(), index[0]);
    }
    to[at(axis)] = static_cast<std::int64_t>(element(indices, of_index));
    f(index, to);
  });
}
inline std::vector<Array> scatter(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
  Array result = inputs.size() > 2 ? inputs[2].copy() : Array(outputs[0]);
  std::vector<bool> is_written(result.size(), inputs.size() > 2);
  for_each_scattered(attributes, inputs[0], inputs[1], [&](const Index& from, const Index& to) {
    const std::size_t place = number_of(to, result.spec.shape);
    const double x = element(inputs[0], from), old = result[place];
    using enum tw::ScatterReduction;
    if (attributes.reduction == sum) result[place] = old + x;
    else if (attributes.reduction == none || !is_written[place]) result[place] = x;
    else result[place] = attributes.reduction == max ? std::max(old, x) : std::min(old, x);
    is_written[place] = true;
  });
  return {result};
}
inline std::vector<Array> sparse_accumulate(const tw::Node& node, Inputs inputs, Specs) {
  const auto attributes = tw::unpack<tw::IndexAttributes>(node.attributes);
  const double factor = inputs.size() > 3 ? inputs[3][0] : attributes.factor;
  Array result = inputs[0].copy();
  const int axis = from_first(attributes.axis, result.rank()), index_axes = inputs[2].rank();
  for_each_index(inputs[1].spec.shape, [&](const Index& index) {
    const auto place = index.begin() + axis;
    Index to(index.begin(), place);
    to.push_back(static_cast<std::int64_t>(element(inputs[2], Index(place, place + index_axes))));
    to.insert(to.end(), place + index_axes, index.end());
    element(result, to) += factor * element(inputs[1], index);
  });
  return {result};
}

/// Where the slice of a dynamic op begins, by axis.
inline Index begin_of_slice(const tw::Node& node, const Array& t, const Array& starts) {
  const auto attributes = tw::unpack<tw::DynamicSliceAttributes>(node.attributes);
  Index result(at(t.rank()), 0);
  for (std::int64_t i = 0; i < attributes.count; ++i)
    result[at(from_first(attributes.axes[at(i)], t.rank()))] = static_cast<std::int64_t>(starts[at(i)]);
  return result;
}
inline Index sum_of(Index a, const Index& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
inline std::vector<Array> dynamic_slice(const tw::Node& node, Inputs inputs, Specs outputs) {
  const Index begin = begin_of_slice(node, inputs[0], inputs[1]);
  Array result(outputs[0]);
  for_each_index(result.spec.shape,
                 [&](const Index& index) { element(result, index) = element(inputs[0], sum_of(index, begin)); });
  return {result};
}
inline std::vector<Array> dynamic_update(const tw::Node& node, Inputs inputs, Specs) {
  const Index begin = begin_of_slice(node, inputs[0], inputs[1]);
  Array result = inputs[0].copy();
  for_each_index(inputs[2].spec.shape,
                 [&](const Index& index) { element(result, sum_of(index, begin)) = element(inputs[2], index); });
  return {result};
}
inline std::vector<Array> onehot(const tw::Node& node, Inputs inputs, Specs outputs) {
  const auto axis = tw::unpack<tw::OneHotAttributes>(node.attributes).axis;
  Array result(outputs[0]);
  for_each_index(result.spec.shape, [&](const Index& index) {
    Index of_index = index;
    of_index.erase(of_index.begin() + axis);
    element(result, index) = inputs[1][element(inputs[0], of_index) == real(index[at(axis)]) ? 1 : 0];
  });
  return {result};
}

inline std::vector<Array> concat(const tw::Node& node, Inputs inputs, Specs outputs) {
  const int axis = from_first(tw::unpack<tw::Concat::Attributes>(node.attributes).axis, outputs[0].shape.rank);
  Array result(outputs[0]);
  std::int64_t begin = 0;
  for (const Array& input : inputs) {
    for_each_index(input.spec.shape, [&](Index index) {
      const double x = element(input, index);
      index[at(axis)] += begin;
      element(result, index) = x;
    });
    begin += input.extent(axis);
  }
  return {result};
}

inline Meanings indexing_meanings() {
  const auto slice_gradient = [](const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto slice = tw::unpack<tw::SliceGrad::Attributes>(node.attributes).slice;
    Array result(outputs[0]);
    for (std::size_t i = 0; i < inputs[0].size(); ++i) {
      const Index index = index_of(i, inputs[0].spec.shape);
      Index to;
      std::size_t next = 0;
      for (int axis = 0; axis < result.rank(); ++axis)
        to.push_back(slice.start(axis) + (slice.drops(axis) ? 0 : index[next++] * slice.step(axis)));
      result[number_of(to, result.spec.shape)] = inputs[0][i];
    }
    return std::vector{result};
  };
  const auto diagonal_matrix = [](const tw::Node&, Inputs inputs, Specs outputs) {
    Array result(outputs[0]);
    for (std::size_t i = 0; i < inputs[0].size(); ++i) result[i * at(result.extent(1)) + i] = inputs[0][i];
    return std::vector{result};
  };
  const auto filled = [](double x) {
    return
        [x](const tw::Node&, Inputs, Specs outputs) { return std::vector{Array(outputs[0], Line(at(outputs[0].nelms()), x))}; };
  };
  return {
      {"Gather", gather},
      {"PopartTiedGather", gather},
      {"GatherGrad", gather_gradient},
      {"Scatter", scatter},
      {"ScatterReduce", scatter},
      {"SparseAccumulate", sparse_accumulate},
      {"DynamicSlice", dynamic_slice},
      {"DynamicUpdate", dynamic_update},
      {"DynamicUpdateInplace", dynamic_update},
      {"OneHot", onehot},
      {"Concat", concat},
      {"ConcatInplace", concat},
      {"DiagonalMatrix", diagonal_matrix},
      {"SliceGrad", slice_gradient},
      {"InitZero", filled(0)},
      {"InitUndefined", filled(std::nan(""))},
  };
}

}  // namespace random_programs::meaning
