#pragma once
// Steps of the generator: ops whose indices are tensors.
#include "generator.hpp"

namespace random_programs {

constexpr void Generator::gather() {
  const auto found = find([&](const Known& k) {
    return k.rank() > 0 && k.rank() < 5 && k.tensor.nelms() <= 600 && (!features_.gradients || k.is_real());
  });
  const Known x = found ? *found : constant({4, 3}, tw::float32);
  const Tensor t = x.tensor;
  const int axis = axis_of(x), given = signed_axis(axis, x.rank());
  const std::int64_t extent = t.shape(axis);
  Shape shape;
  for (int i = random_.below(3); i > 0; --i) shape.push_back(1 + random_.below(4));
  switch (random_.below(6)) {
    case 0: return push(ops::tied_gather(t, indices(shape, extent), given), x.elements);
    case 1: {  // some indices are none of the axis
      const Elements with_zeros = hull(x.elements, {0, 0, 0, 0});
      return push(ops::gather(t, indices(shape, extent + 2), given, {.zero_OOR = true}), with_zeros);
    }
    case 2: {
      if (x.rank() < 2 || t.shape(0) < 2) break;
      const int inner = 1 + random_.below(x.rank() - 1);
      const Tensor rows = indices({t.shape(0), 1 + random_.below(4)}, t.shape(inner));
      return push(ops::groupedgather(t, rows, inner, t.shape(0)), x.elements);
    }
    case 3: return push(t[indices(shape, t.shape(0))], x.elements);
    default: break;
  }
  push(ops::gather(t, indices(shape, extent), given), x.elements);
}

/// Indices along an axis of the shape, of which those of a line differ.
constexpr Tensor Generator::distinct_indices(const Shape& shape, int axis, std::int64_t end) {
  std::int64_t inner = 1;
  for (int other = axis + 1; other < shape.rank; ++other) inner *= shape[other];
  const std::int64_t first = random_.below(end);
  tw::List<double> values;
  for (std::int64_t i = 0; i < shape.nelms(); ++i) values.push_back(static_cast<double>((first + i / inner % shape[axis]) % end));
  return ir_.constant(values, shape, tw::int32);
}

constexpr void Generator::scatter() {
  const auto found = find([&](const Known& k) {
    return k.rank() > 0 && k.tensor.nelms() <= 600 && !k.is_bool() && k.bound() <= 64 && (!features_.gradients || k.is_real());
  });
  Known x = found ? *found : constant({4, 3}, tw::float32);
  Tensor t = x.tensor;
  const DType dtype = t.dtype();
  const Shape shape = t.shape();
  const int axis = axis_of(x), given = signed_axis(axis, x.rank());
  const std::int64_t extent = shape[axis], size = (features_.gradients ? extent : 1) + random_.below(5);
  // A value that another one overwrites has the gradient of its place, which finite differences do not see.
  const auto places = [&](const Shape& of, int along, bool overwrites) {
    return overwrites && features_.gradients ? distinct_indices(of, along, size) : indices(of, size);
  };
  Shape whole = shape;
  whole[axis] = size;
  Known initial = tensor_of(whole, dtype);
  const int kind = random_.below(7);
  if (kind == 0) {
    Shape at = shape;
    if (random_.one_in(2)) at[axis] = 1 + random_.below(extent);
    return push(ops::scatter(initial.tensor, places(at, axis, true), t, given), hull(x.elements, initial.elements));
  }
  if (kind == 1)
    return push(ops::scatter(initial.tensor, places({extent}, 0, true), t, given), hull(x.elements, initial.elements));
  if (kind == 2) {  // adds to a tensor of its own
    if (features_.gradients || !x.is_real()) return gather();
    const Tensor sums = ops::identity(initial.tensor);
    const bool by_number = random_.one_in(2);
    const Known factor = constant({}, tw::float32);
    const double f = number();
    const Tensor rows = indices({extent}, size);
    ops::sparse_accumulate_(sums, t, rows, given, by_number ? tw::NumberOrTensor(f) : tw::NumberOrTensor(factor.tensor));
    const Elements added = times(x.elements * Elements{-1.875, 1.875, 3, 0}, extent);
    return push(sums, initial.elements + hull(added, {0, 0, 0, 0}));
  }
  const bool broadcast = random_.one_in(2), has_initial = random_.one_in(2);
  const tw::ScatterReduction reductions[] = {tw::ScatterReduction::sum, tw::ScatterReduction::max, tw::ScatterReduction::min,
                                             tw::ScatterReduction::none};
  auto reduction = reductions[random_.below(4)];
  const bool is_extreme = reduction == tw::ScatterReduction::max || reduction == tw::ScatterReduction::min;
  if (is_extreme && features_.gradients) {
    if (!initial.exact()) initial = constant(whole, dtype);
    const auto moved = x.exact() && x.elements.slope <= 8 && t.nelms() <= 64 ? distinct(x) : std::nullopt;
    const auto away = moved ? apart(*moved, initial.elements) : std::nullopt;
    if (away) x = *away, t = x.tensor;
    else reduction = tw::ScatterReduction::sum;
  }
  const bool overwrites = reduction == tw::ScatterReduction::none;
  tw::ScatterReduceOptions options{.axis = given};
  if (has_initial) options.initial_values = initial.tensor;
  else options.axis_size = size;
  const Elements start = has_initial ? initial.elements : Elements{0, 0, 0, 0};
  const Elements result = reduction == tw::ScatterReduction::sum ? start + hull(times(x.elements, extent), {0, 0, 0, 0})
                                                                 : hull(x.elements, start);
  if (x.rank() > 1 && axis > 0 && shape[0] > 1 && random_.one_in(3)) {
    options.axis = axis;
    return push(ops::grouped_scatter_reduce(t, places({shape[0], extent}, 1, overwrites), reduction, shape[0], options), result);
  }
  const Tensor at = broadcast ? places({extent}, 0, overwrites) : places(shape, axis, overwrites);
  push(ops::scatter_reduce(t, at, reduction, options), result);
}

constexpr void Generator::dynamic_slice() {
  const auto found = find(
      [&](const Known& k) { return k.rank() > 0 && k.tensor.nelms() <= 600 && (!features_.gradients || k.is_real()); });
  const Known x = found ? *found : constant({4, 3}, tw::float32);
  const Tensor t = x.tensor;
  const int first = axis_of(x), second = axis_of(x);
  Shape axes{first}, sizes;
  if (second != first && random_.one_in(2)) axes.push_back(second);
  std::int64_t most = 1000;
  Shape slice = t.shape();
  for (int i = 0; i < axes.rank; ++i) {
    const std::int64_t extent = t.shape(static_cast<int>(axes[i])), size = 1 + random_.below(extent);
    sizes.push_back(size);
    slice[static_cast<int>(axes[i])] = size;
    if (extent - size + 1 < most) most = extent - size + 1;
  }
  const Tensor start = indices({axes.rank}, most);
  if (random_.one_in(2)) return push(ops::dynamic_slice(t, start, axes, sizes), x.elements);
  Known update = x;
  update.tensor = ops::slice(t, 0, 1);
  if (update.tensor.shape() != slice) update = x.is_bool() ? x : tensor_of(slice, t.dtype());
  if (update.tensor.shape() != slice) return push(ops::dynamic_slice(t, start, axes, sizes), x.elements);
  const Elements both = hull(x.elements, update.elements);
  if (!features_.gradients && x.changeable && random_.one_in(2)) {
    ops::dynamic_update_(t, start, update.tensor, axes, sizes);
    return change(x, both, true);
  }
  push(ops::dynamic_update(t, start, update.tensor, axes, sizes), both);
}

constexpr void Generator::onehot() {
  const std::int64_t classes = 1 + random_.below(6);
  const Tensor t = indices({1 + random_.below(4), 1 + random_.below(4)}, classes + 1);
  const Known values = tensor_of({2}, features_.gradients ? tw::float32 : random_.one_in(4) ? features_.half : tw::float32);
  const int axis = random_.below(4) - 1;
  if (random_.one_in(3))
    return push(ops::onehot(t, ir_.constant(classes, tw::int32), values.tensor, axis == 3 ? 2 : axis), values.elements);
  push(ops::onehot(t, classes, values.tensor, axis == 3 ? 2 : axis), values.elements);
}

}  // namespace random_programs
