#pragma once
// Steps of the generator: elementwise ops.
#include "../ops/ops.hpp"
#include "generator.hpp"

namespace random_programs {

/// An op of tests/ops; false if the chosen one does not take x.
constexpr bool Generator::op_in_file(const Known& x) {
  int count = 0, i = 0;
  op_tests::for_each([&](auto) { ++count; });
  std::optional<op_tests::Step> step;
  const int chosen = random_.below(count);
  op_tests::for_each([&](auto test) {
    if (i++ == chosen) step = test.random(x, random_, features_.gradients);
  });
  if (step) push(step->tensor, step->elements);
  return step.has_value();
}

/// A smooth function of one tensor.
constexpr void Generator::unary() {
  const Known x = real();
  const Tensor t = x.tensor;
  const auto [low, high, grain, slope] = x.elements;
  switch (random_.below(20)) {
    case 0:
    case 1: return push(ops::tanh(t), {-1, 1});
    case 2: return push(ops::gelu(t), {-0.2, larger(high, 0)});
    case 3: return push(ops::geluerf(t), {-0.2, larger(high, 0)});
    case 4: return push(ops::swish(t), {-0.3, larger(high, 0)});
    case 5: return push(ops::sigmoid(t), {low > -2.7 ? 0.0625 : 0, 1});
    case 6: {
      const double beta = random_.one_in(2) ? 1 : 0.5 + random_.below(3);
      if (x.exact() && !features_.gradients && random_.one_in(2))  // what is beyond the threshold stays as it is
        return push(ops::softplus(t, beta, 1 + random_.below(2)), {0, larger(high, 0) + 1.5});
      return push(ops::softplus(t, beta), {0, larger(high, 0) + 1.5});
    }
    case 7: return push(ops::sin(t), {-1, 1});
    case 8: return push(ops::cos(t), {-1, 1});
    case 9:
    case 10:
      if (x.bound() <= 4) return push(ops::exp(t), {low >= -2.7 ? 0.0625 : 0.01, high <= 2 ? 7.5 : 55});
      [[fallthrough]];
    case 11: return push(-t, -x.elements);
    case 12:
      if (!op_in_file(x)) push(ops::identity(t), x.elements);
      return;
    case 13:
      return push(ops::pow(t, 2 + random_.below(2)),
                  {-x.bound() * x.bound() * larger(1, x.bound()), x.bound() * x.bound() * larger(1, x.bound())});
    case 14: return push(t * number(), x.elements * Elements{-1.875, 1.875, 3, 0});
    case 15:
      if (!features_.gradients) return random_.one_in(2) ? push_view(ops::detach(t), x) : push(ops::pow(t, 1), x.elements);
      return push(ops::sigmoid(t), {0, 1});
    default: break;
  }
  const Known p = positive_real();
  const double most = p.elements.high;
  switch (random_.below(6)) {
    case 0: return push(ops::log(p.tensor), {-2.8, most});
    case 1: return push(ops::log2(p.tensor), {-4, most});
    case 2: return push(ops::sqrt(p.tensor), {0.25, most + 1});
    case 3: return push(ops::pow(p.tensor, 0.5), {0.25, most + 1});
    case 4: {
      const double exponents[] = {-0.5, -1, -2, 1.5, 0};
      return push(ops::pow(p.tensor, exponents[random_.below(5)]), {0, larger(256, most * (most + 1))});
    }
    default: {
      const Known e = partner(p, [](const Known& k) { return k.bound() <= 2; });
      const double limit = larger(16, most) * larger(16, most);
      if (random_.one_in(3)) return push(ops::pow(2.5, e.tensor), {0, 7});
      return push(ops::pow(p.tensor, e.tensor), {0, limit});
    }
  }
}

/// A function of one tensor that bends or jumps.
constexpr void Generator::kinked() {
  const auto chosen = apart(features_.gradients ? exact_real() : numbers());
  if (!chosen) return unary();
  const Known& x = *chosen;
  const Tensor t = x.tensor;
  const Elements& e = x.elements;
  const double bound = x.bound();
  switch (random_.below(x.is_real() ? 6 : 4)) {
    case 0: return push(ops::abs(t), {0, bound, e.grain, e.slope});
    case 1: {
      double low = number(), high = low + random_.below(3);
      const bool whole = !x.is_real() || (features_.gradients && e.grain < 5);
      if (whole) low = static_cast<int>(low), high = static_cast<int>(high);
      if (x.is_int() && !tw::is_signed(t.dtype())) low = 0, high = larger(high, 0);
      const int grain = e.exact() ? larger(e.grain, whole ? 0 : 3) : Elements::inexact;
      const Elements limited{smaller(larger(e.low, low), high), smaller(larger(e.high, low), high), grain, e.slope};
      if (random_.one_in(3)) return push(ops::clip(t, low), {larger(e.low, low), larger(e.high, low), grain, e.slope});
      return push(random_.one_in(2) ? ops::clamp(t, low, high) : ops::clip(t, low, high), limited);
    }
    case 2:
      if (!x.exact()) return push(ops::abs(t), {0, bound, e.grain, e.slope});
      return push(ops::sign(t), {-1, 1, 0, 0});
    case 3: {
      if (!x.exact()) return push(ops::clip(t, -1, 1), {-1, 1, Elements::inexact, e.slope});
      const bool is_unsigned = x.is_int() && !tw::is_signed(t.dtype());
      const double by = is_unsigned ? random_.below(4) : whole_number(), modulus = 1 + random_.below(6);
      if (features_.gradients || (x.is_int() && !(e + number_elements(by)).exact()))
        return push(ops::abs(t), {0, bound, e.grain, e.slope});
      return push(ops::increment_mod(t, by, modulus), {is_unsigned || e.low + by >= 0 ? 0 : -modulus, modulus, e.grain, 0});
    }
    case 4: return push(ops::relu(t), {0, larger(e.high, 0), e.grain, e.slope});
    default:
      if (!x.exact() || !op_in_file(x)) push(ops::relu(t), {0, larger(e.high, 0), e.grain, e.slope});
  }
}

constexpr void Generator::binary() {
  const Known x = real(), y = partner(x);
  const Elements &a = x.elements, &b = y.elements;
  switch (random_.below(10)) {
    case 0:
    case 1: return push(x.tensor + y.tensor, a + b);
    case 2: return push(x.tensor - y.tensor, a - b);
    case 3:
    case 4: return push(x.tensor * y.tensor, a * b);
    case 5: {
      const Known divisor = b.positive() ? y : positive_real();
      const auto common = tw::broadcast(x.tensor.shape(), divisor.tensor.shape());
      if (divisor.tensor.dtype() == x.tensor.dtype() && common && common->nelms() <= 2048)
        return push(x.tensor / divisor.tensor, {-16 * a.bound(), 16 * a.bound()});
      return push(x.tensor * y.tensor, a * b);
    }
    case 6: {
      const double by = number();
      if (random_.one_in(2)) return push(by + x.tensor, a + number_elements(by));
      return push(by - x.tensor, number_elements(by) - a);
    }
    case 7: {  // a tensor of half precision by a number of float32
      if (features_.gradients || x.tensor.dtype() != features_.half) return push(x.tensor + y.tensor, a + b);
      const Known factor = constant({}, tw::float32);
      return push(random_.one_in(2) ? x.tensor * factor.tensor : factor.tensor * x.tensor, a * factor.elements);
    }
    default: break;
  }
  // the larger, the smaller, and what division leaves
  const Known left = features_.gradients ? exact_real() : x;
  const Known right = partner(left, [&](const Known& k) { return !features_.gradients || (k.exact() && k.elements.slope <= 8); });
  const auto moved = apart(left, right.elements);
  if (!moved || moved->tensor.dtype() != right.tensor.dtype()) return push(ops::tanh(x.tensor), {-1, 1});
  const Elements either = hull(moved->elements, right.elements);
  switch (random_.below(4)) {
    case 0: return push(ops::maximum(moved->tensor, right.tensor), either);
    case 1: return push(ops::minimum(moved->tensor, right.tensor), either);
    case 2:
      if (features_.gradients) return push(ops::maximum(moved->tensor, right.tensor), either);
      return push(ops::minimum(ops::maximum(moved->tensor, right.tensor,
                                            x.tensor.dtype() == right.tensor.dtype() ? right.tensor : moved->tensor),
                               number()),
                  hull(either, {-1.875, 1.875, 3, 0}));
    default: {
      if (features_.gradients || !moved->exact()) return push(ops::minimum(moved->tensor, right.tensor), either);
      if (right.exact() && right.elements.low > 0)
        return push(ops::fmod(moved->tensor, right.tensor),
                    {-right.bound(), right.bound(), Elements::common(moved->elements.grain, right.elements.grain), 0});
      const double by = 0.25 * (1 + random_.below(8));
      return push(moved->tensor % by, {-by, by, static_cast<int>(larger(moved->elements.grain, 2)), 0});
    }
  }
}

constexpr void Generator::scaled_add() {
  const Known x = real(), y = like(x, 256);
  if (x.tensor.spec() != y.tensor.spec()) return binary();
  if (random_.one_in(3)) {
    const Known a = tensor_of({}, x.tensor.dtype()), b = tensor_of({1}, x.tensor.dtype());
    if (random_.one_in(2))
      return push(ops::scaled_add(x.tensor, y.tensor, a.tensor, b.tensor), x.elements * a.elements + y.elements * b.elements);
    return push(ops::scaled_add(x.tensor, y.tensor, {.a = 0.5, .b = b.tensor}),
                x.elements * number_elements(0.5) + y.elements * b.elements);
  }
  const double a = number(), b = number();
  Tensor other = y.tensor;
  if (!features_.gradients && random_.one_in(3)) other = other.cast(other.dtype() == tw::float32 ? features_.half : tw::float32);
  const Elements result = x.elements * number_elements(a) + y.elements * number_elements(b);
  push(ops::scaled_add(x.tensor, other, {.a = a, .b = b}), other == y.tensor ? result : result.rounded());
}

constexpr void Generator::compare() {
  const auto is_exact = [&](const Known& k) {
    return k.exact() && !(k.is_bool() && features_.gradients) && (!features_.gradients || k.elements.slope <= 8);
  };
  Known x = exact_numbers();
  if (!features_.gradients && random_.one_in(8)) x = condition();
  Known y = partner(x, is_exact);
  bool by_number = x.is_bool() || random_.one_in(4);
  if (by_number) y.elements = x.is_real() ? number_elements(1) : Elements{0, 2, 0, 0};
  const auto moved = apart(x, y.elements);
  if (!moved) return unary();
  const Tensor a = moved->tensor;
  const double number = x.is_bool() ? 1 : x.is_int() ? random_.below(3) : static_cast<double>(1 + random_.below(12)) / 8;
  const auto apply = [&](const auto& b) {
    switch (random_.below(6)) {
      case 0: return ops::equal(a, b);
      case 1: return ops::not_equal(a, b);
      case 2: return ops::greater(a, b);
      case 3: return ops::greater_equal(a, b);
      case 4: return ops::less(a, b);
      default: return ops::less_equal(a, b);
    }
  };
  push(by_number ? apply(number) : apply(y.tensor), {});
}

/// Bools: those that are there, or a comparison or a logical op.
constexpr Known Generator::condition() {
  for (int tries = 0;; ++tries) {
    if (const auto x = find([](const Known& k) { return k.is_bool(); }); x && random_.one_in(2)) return *x;
    const std::size_t before = known_.size();
    if (tries < 3) {
      const auto x = apart(exact_real());
      if (x)
        push(random_.one_in(2) ? ops::greater(x->tensor, 0)
                               : ops::less(x->tensor, 0.5 * power_of_two(x->elements.grain < 3 ? 1 : 0)),
             {});
    } else {
      tw::List<double> values{1, 0, 1};
      push(ops::logical_not(ir_.constant(values, {3}, tw::boolean)), {});
    }
    if (known_.size() > before) return known_.back();
  }
}

/// By bools: logical ops, and elements of one of two tensors.
constexpr void Generator::choose() {
  const Known c = condition();
  const auto fits = [&](const Known& k) {
    const auto common = tw::broadcast(c.tensor.shape(), k.tensor.shape());
    return common && common->nelms() <= 2048;
  };
  switch (random_.below(6)) {
    case 0: {
      const auto other = find([&](const Known& k) { return k.exact() && !features_.gradients && fits(k); });
      if (!other) return push(ops::logical_not(c.tensor), {});
      return push(random_.one_in(2) ? ops::logical_and(c.tensor, other->tensor) : other->tensor | c.tensor, {});
    }
    case 1: return push(!c.tensor, {});
    default: break;
  }
  const auto x = find([&](const Known& k) { return fits(k) && (!features_.gradients || k.is_real()); });
  if (!x) return push(ops::logical_or(c.tensor, c.tensor), {});
  if (random_.one_in(4)) return push(x->tensor[c.tensor], hull(x->elements, {0, 0, 0, 0}));
  if (x->is_real() && random_.one_in(4)) {
    const double otherwise = number();
    return push(ops::where(c.tensor, x->tensor, otherwise), hull(x->elements, number_elements(otherwise)));
  }
  const Known y = partner(*x, fits);
  const auto common = tw::broadcast(x->tensor.shape(), y.tensor.shape());
  if (!common || !tw::broadcast(*common, c.tensor.shape())) return push(!c.tensor, {});
  const Tensor mask = features_.gradients || random_.one_in(2) ? c.tensor
                                                               : c.tensor.cast(random_.one_in(2) ? tw::int32 : features_.half);
  push(ops::where(mask, x->tensor, y.tensor), hull(x->elements, y.elements));
}

/// Infinities and NaN: put into a tensor, and found.
constexpr void Generator::classify() {
  if (features_.gradients) return choose();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Known x = numbers();
  Tensor special = x.tensor;
  if (x.is_real() && !random_.one_in(4)) {
    const double values[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
    const Known c = condition();
    const auto common = tw::broadcast(c.tensor.shape(), x.tensor.shape());
    if (common && common->nelms() <= 2048) special = ops::where(c.tensor, x.tensor, values[random_.below(3)]);
    switch (random_.below(5)) {  // what hands it on
      case 0: special = -special; break;
      case 1: special = ops::abs(special); break;
      case 2: special = ops::relu(special); break;
      case 3: special = ops::maximum(special, 1); break;
      default: break;
    }
  }
  switch (random_.below(4)) {
    case 0: return push(ops::isnan(special), {});
    case 1: return push(ops::isinf(special), {});
    case 2: return push(ops::isfinite(special), {});
    default:
      return push(ops::where(ops::isfinite(special), x.is_real() ? special : x.tensor, x.is_real() ? 0.5 : 1),
                  hull(hull(x.elements, -x.elements), x.is_real() ? Elements{0.5, 1, 3, 0} : Elements{1, 1, 0, 0}));
  }
}

}  // namespace random_programs
