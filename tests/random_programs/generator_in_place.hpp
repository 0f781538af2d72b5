#pragma once
// Steps of the generator: ops that change a tensor.
#include "generator.hpp"

namespace random_programs {

/// Changes a tensor, perhaps through an alias; all that share its memory have other elements then.
constexpr void Generator::in_place() {
  if (features_.gradients) return fresh_in_place();
  const auto chosen = find([](const Known& k) { return k.changeable && k.is_real() && k.bound() <= 16; });
  if (!chosen) return binary();
  Known target = *chosen;
  bool partial = false;
  switch (random_.below(6)) {
    case 0:
      if (target.dense) target.tensor = target.tensor.flatten_();
      break;
    case 1: target.tensor = target.tensor.T_(), target.dense = target.dense && target.rank() < 2; break;
    case 2:
      if (target.rank() == 0) break;
      {
        const int axis = axis_of(target);
        const auto extent = target.tensor.shape(axis);
        const int start = random_.below(extent), step = random_.one_in(3) ? -1 : 1 + random_.below(2);
        target.tensor = step > 0 ? ops::slice_(target.tensor, start, tw::none, step, axis)
                                 : ops::slice_(target.tensor, start, tw::none, -1, axis);
        partial = true, target.dense = false;
      }
      break;
    case 3: target.tensor = target.tensor.detach_(); break;
    default: break;
  }
  if (random_.one_in(2)) unary_in_place(target, partial);
  else update_in_place(target, partial);
  if (random_.one_in(3)) {  // the alias, too, is read and changed later
    for (const Known& other : known_)
      if (other.memory == target.memory) target.elements = other.elements;
    known_.push_back(target);
  }
}

constexpr void Generator::unary_in_place(const Known& target, bool partial) {
  const auto step = step_of_op([](auto test) { return test.changes_input; },
                               [&](auto test) { return test.random_in_place(target, random_); });
  if (step) return change(target, step->elements, partial);
  ops::accumulator_zero_(target.tensor);
  change(target, {0, 0, 0, 0}, partial);
}

/// Of another tensor.
constexpr void Generator::update_in_place(const Known& target, bool partial) {
  const Tensor t = target.tensor;
  const Elements& x = target.elements;
  const auto give = [&](Tensor, const Elements& elements) { change(target, elements, partial); };
  const double f = 0.125 * (1 + random_.below(7));
  if (random_.one_in(2)) {  // broadcast
    const auto fits = [&](const Known& k) {
      const auto common = tw::broadcast(t.shape(), k.tensor.shape());
      return k.tensor.dtype() == t.dtype() && k.bound() <= 4 && common && *common == t.shape();
    };
    const auto y = find(fits);
    if (!y) return give(ops::accumulator_scale_(t, f), x * number_elements(f));
    switch (random_.below(5)) {
      case 0: return give(ops::add_(t, y->tensor), x + y->elements);
      case 1: return give(ops::sub_(t, y->tensor), x - y->elements);
      case 2: return give(ops::mul_(t, y->tensor), x * y->elements);
      case 3:
        if (y->elements.positive() && x.bound() <= 4) return give(ops::div_(t, y->tensor), {-16 * x.bound(), 16 * x.bound()});
        [[fallthrough]];
      default: {
        Tensor alias = t;
        alias += f;
        return give(alias, x + number_elements(f));
      }
    }
  }
  const DType dtype = random_.one_in(4) ? (t.dtype() == tw::float32 ? features_.half : tw::float32) : t.dtype();
  const Known y = tensor_of(t.shape(), dtype);
  const Elements product = y.elements * number_elements(f), square = y.elements * y.elements * number_elements(f);
  const Elements mixed{-x.bound() - y.bound(), x.bound() + y.bound()};
  switch (random_.below(9)) {
    case 0: {
      const double a = number();
      return give(ops::scaled_add_(t, y.tensor, {.a = a, .b = 1}), x * number_elements(a) + y.elements);
    }
    case 1: return give(ops::accumulate_(t, y.tensor), x + y.elements);
    case 2: {
      const Known factor = tensor_of({}, tw::float32);
      return give(ops::accumulate_(t, y.tensor, factor.tensor), (x + y.elements * factor.elements).rounded());
    }
    case 3: return give(ops::accumulate_square_(t, y.tensor, f), (x + square).rounded());
    case 4: return give(ops::accumulate_mean_(t, y.tensor, random_.below(4)), mixed);
    case 5: return give(ops::accumulate_moving_average_(t, y.tensor, f), mixed);
    case 6:
      return give(ops::accumulate_moving_average_square_(t, y.tensor, f),
                  {-x.bound() - y.bound() * y.bound(), x.bound() + y.bound() * y.bound()});
    case 7: return give(ops::accumulate_(t, y.tensor, f), x + product);
    default:
      if (random_.one_in(2))
        return give(ops::copy_var_update_(t, y.tensor), dtype == t.dtype() ? y.elements : y.elements.rounded());
      {  // the trusted step of LAMB
        const Tensor step = y.tensor.cast(tw::float32);
        const Tensor ratio = ops::lamb_square(t), other = ops::lamb_square(step) + 0.5;
        return give(ops::adam_var_update(t, step, ratio, other, f, 2), {-x.bound() - 3 * y.bound(), x.bound() + 3 * y.bound()});
      }
  }
}

/// In programs with gradients: a new tensor, changed by ops that need none of the values that they overwrite.
constexpr void Generator::fresh_in_place() {
  const Known x = real_up_to(8), y = partner(x);
  Tensor t = x.tensor * y.tensor;
  double bound = x.bound() * y.bound();
  for (int i = random_.below(3); i >= 0; --i) {
    const auto z = find([&](const Known& k) {
      const auto common = tw::broadcast(t.shape(), k.tensor.shape());
      return k.is_real() && common && *common == t.shape();
    });
    if (!z || random_.one_in(3)) {
      t = ops::negate_(t);
    } else {
      t = random_.one_in(2) ? ops::add_(t, z->tensor) : ops::sub_(t, z->tensor);
      bound += z->bound();
    }
  }
  switch (random_.below(4)) {
    case 0: t = ops::tanh_(t), bound = 1; break;
    case 1: t = ops::sigmoid_(t), bound = 1; break;
    case 2:
      if (bound <= 4) t = ops::exp_(t), bound = 55;
      break;
    default: break;
  }
  push(t, {-bound, bound});
}

/// The step of Adam or its like, of moments that are there.
constexpr void Generator::step_of_adam() {
  if (features_.gradients) return fresh_in_place();
  const Known v = positive_real(), m = tensor_of(v.tensor.shape(), v.tensor.dtype());
  tw::AdamOptions options;
  double bound = 20 * m.bound();  // by a deviation of at least 1/16 that may be corrected
  if (random_.one_in(2)) options.epsilon = 0.125;
  const bool decays = random_.one_in(2), is_adamax = random_.one_in(3);
  if (decays) {
    const Known weight = tensor_of(v.tensor.shape(), v.tensor.dtype());
    options.weight = weight.tensor;
    options.weight_decay = 0.125;
    bound += weight.bound();
  }
  Tensor step = ops::init(ir_, {}, tw::float32);
  if (is_adamax || random_.one_in(2)) {
    ops::accumulate_(step, ir_.constant(random_.below(3)));
    options.time_step = step;
    options.beta1 = 0.5;
    options.beta2 = 0.75;
    bound *= 4;
    if (random_.one_in(2)) options.beta2 = ir_.constant(0.75);
  }
  const Tensor result = is_adamax           ? ops::adamax_updater(m.tensor, v.tensor, options)
                        : random_.one_in(2) ? ops::lamb_updater(m.tensor, v.tensor, options)
                                            : ops::adam_updater(m.tensor, v.tensor, options);
  push(result, {-bound, bound});
  if (options.time_step) push(step, {0, 4, 0, 0});
}

}  // namespace random_programs
