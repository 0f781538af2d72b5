#pragma once
// Steps of the generator: views of tensors, and tensors that are put together.
#include "generator.hpp"

namespace random_programs {

/// The elements of a tensor in another shape or order.
constexpr void Generator::view() {
  const Known x = recent();
  const Shape shape = x.tensor.shape();
  switch (random_.below(7)) {
    case 0: return push_view(shape.rank == 2 ? x.tensor.reshape({shape[1], shape[0]}) : x.tensor.flatten(), x);
    case 1: return push_view(x.tensor.T(), x);
    case 2: {
      Shape order;
      const int first = shape.rank > 0 ? random_.below(shape.rank) : 0;
      for (int i = 0; i < shape.rank; ++i) order.push_back((first + i) % shape.rank);
      return push_view(x.tensor.transpose(order), x);
    }
    case 3: {
      if (shape.rank >= 5 || x.tensor.nelms() > 600) return push_view(x.tensor.T(), x);
      Shape wider{1 + random_.below(3)};
      for (int axis = 0; axis < shape.rank; ++axis) wider.push_back(shape[axis]);
      return push_view(ops::expand(x.tensor, wider), x, false);
    }
    case 4: {
      if (shape.rank >= 5) return push_view(x.tensor.T(), x);
      Shape with_one = shape;
      with_one.push_back(1);
      return push_view(x.tensor.reshape(with_one), x);
    }
    case 5: {
      bool has_one = false;
      for (int axis = 0; axis < shape.rank; ++axis) has_one = has_one || shape[axis] == 1;
      if (has_one) return push_view(x.tensor.squeeze(), x);
      if (shape.rank == 0) return unary();
      return push_view(ops::flip(x.tensor), x);
    }
    default: {
      const auto vector = find([](const Known& k) {
        return k.rank() == 2 || (k.rank() == 1 && k.tensor.nelms() <= 33 && k.tensor.dtype() != tw::boolean);
      });
      if (!vector) return push_view(x.tensor.T(), x);
      if (vector->rank() == 2) return push_view(vector->tensor.diag(), *vector);
      return push(ops::diag(vector->tensor), hull(vector->elements, {0, 0, 0, 0}));
    }
  }
}

/// Parts of a tensor along its axes.
constexpr void Generator::slice() {
  const auto found = find([](const Known& k) { return k.rank() > 0; });
  if (!found) return view();
  const Known x = *found;
  const Shape shape = x.tensor.shape();
  const int axis = axis_of(x);
  const auto extent = static_cast<int>(shape[axis]);
  const int start = random_.below(extent), length = 1 + random_.below(extent - start);
  const int from_end = random_.one_in(3) ? extent : 0;  // to count from the end
  switch (random_.below(9)) {
    case 0:
    case 1: return push_view(ops::slice(x.tensor, start - from_end, start + length, 1, signed_axis(axis, x.rank())), x);
    case 2: {
      const int step = -1 - random_.below(3);
      if (start == 0) return push_view(ops::slice(x.tensor, tw::none, tw::none, step, axis), x);
      return push_view(ops::slice(x.tensor, tw::none, start - 1 - from_end, step, axis), x);
    }
    case 3: {  // along two axes
      if (x.rank() < 2) return push_view(ops::slice(x.tensor, start, tw::none, 2), x);
      const int begin = random_.below(shape[1]), end = 1 + random_.below(shape[0]), step = 1 + random_.below(2);
      return push_view(ops::slice(x.tensor, {tw::none, begin}, {end, tw::none}, {1, step}), x);
    }
    case 4: return push_view(ops::flip(x.tensor, axis), x);
    case 5: {
      Shape strides;
      for (int i = 0; i <= axis; ++i) strides.push_back(1 + random_.below(3));
      if (random_.one_in(3)) return push_view(ops::subsample(x.tensor, 2), x);
      return push_view(ops::subsample(x.tensor, strides), x);
    }
    case 6: {
      const int index = start - from_end;
      switch (random_.below(4)) {
        case 0: return push_view(x.tensor[start % static_cast<int>(shape[0])], x);
        case 1: return push_view(x.tensor[{tw::ellipsis, random_.below(shape[-1])}], x);
        case 2: return push_view(x.tensor[tw::slice(tw::none, tw::none, -1)], x);
        default:
          if (axis == 0) return push_view(x.tensor[index], x);
          return push_view(x.tensor[{tw::all, tw::ellipsis, tw::slice(random_.below(shape[-1]), tw::none)}], x);
      }
    }
    default: {
      if (extent < 2) return push_view(x.tensor.squeeze(axis), x);
      if (extent % 2 == 0 && random_.one_in(2)) {
        const auto parts = ops::split(x.tensor, 2, axis);
        push_view(parts[1], x);
        return push_view(parts[0], x);
      }
      const std::int64_t cut = 1 + random_.below(extent - 1);
      const auto parts = ops::split(x.tensor, {cut, extent - cut}, signed_axis(axis, x.rank()));
      push_view(parts[0], x);
      push_view(parts[1], x);
    }
  }
}

/// Tensors one after the other.
constexpr void Generator::join() {
  const auto found = find([](const Known& k) { return k.rank() > 0 && k.tensor.nelms() <= 600; });
  if (!found) return view();
  const int axis = axis_of(*found);
  std::vector<Tensor> parts;
  Elements elements = found->elements;
  const int count = 1 + random_.below(3);
  for (int i = 0; i < count; ++i) {
    const auto y = find([&](const Known& k) {
      if (k.tensor.dtype() != found->tensor.dtype() || k.rank() != found->rank() || k.tensor.nelms() > 600) return false;
      for (int a = 0; a < k.rank(); ++a)
        if (a != axis && k.tensor.shape(a) != found->tensor.shape(a)) return false;
      return true;
    });
    if (!y) break;
    parts.push_back(y->tensor);
    elements = hull(elements, y->elements);
  }
  if (random_.one_in(2)) parts.push_back(ops::flip(found->tensor, axis));
  if (parts.empty()) parts.push_back(found->tensor);
  const bool in_place = random_.one_in(4);
  const int given = signed_axis(axis, found->rank());
  const Tensor whole = in_place ? ops::concat_(parts, given) : ops::concat(parts, given);
  push(whole, elements, !in_place);
}

/// Memory that is written part by part.
constexpr void Generator::assemble() {
  if (features_.gradients) return join();
  const auto x = find([](const Known& k) { return k.rank() > 0 && k.rank() < 6 && k.tensor.nelms() <= 600; });
  if (!x) return join();
  Shape shape = x->tensor.shape();
  const std::int64_t extent = shape[0];
  Elements elements = x->elements;
  if (random_.one_in(2)) {
    const Tensor whole = ops::init(ir_, shape, x->tensor.dtype(), tw::InitType::undef);
    ops::copy_var_update_(whole, x->tensor);
    return push(whole, elements);
  }
  shape[0] = extent + 1 + random_.below(3);
  const Tensor whole = ops::init(ir_, shape, x->tensor.dtype());
  const int start = random_.below(shape[0] - extent + 1);
  ops::copy_var_update_(ops::slice_(whole, start, start + extent), x->tensor);
  push(whole, hull(elements, {0, 0, 0, 0}));
}

}  // namespace random_programs
