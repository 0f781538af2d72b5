#pragma once
// Steps of the generator: other dtypes.
#include "generator.hpp"

namespace random_programs {

/// Integers: those that are there, or new ones.
constexpr Known Generator::integers() {
  if (const auto x = find([](const Known& k) { return k.is_int(); }); x && random_.one_in(2)) return *x;
  const DType dtypes[] = {tw::int32, tw::int32, tw::int8, tw::int16, tw::int64, tw::uint8, tw::uint16, tw::uint32};
  const DType dtype = dtypes[random_.below(8)];
  const auto x = find([](const Known& k) { return k.exact() && (k.is_real() || k.is_int()) && k.bound() <= 100; });
  if (x && x->tensor.dtype() == dtype) return *x;
  if (!x) return {ir_.constant({3, 0, 1}, {3}, dtype), {0, 3, 0, 0}, ++memories_, false};
  const bool is_unsigned = !tw::is_signed(dtype);
  const Tensor from = is_unsigned && x->is_real() ? ops::abs(x->tensor) : x->tensor;
  const double low = is_unsigned && x->is_real() ? 0 : smaller(x->elements.low, 0);
  Elements elements{low, x->bound(), 0, 0};
  if (x->is_int() && is_unsigned && low < 0) {
    if (tw::size_of(dtype) == 8) return *x;
    elements = {0, tw::number_range(dtype).highest, 0, 0};
  }
  known_.push_back({from.cast(dtype), elements, ++memories_, true});
  return known_.back();
}

constexpr void Generator::cast() {
  if (features_.gradients) return unary();
  const DType reals[] = {features_.half, tw::float32, tw::float64};
  if (random_.one_in(3)) {  // between integers, bool and floating point
    const auto x = find([](const Known& k) { return k.exact() && k.bound() <= 2000; });
    if (!x) return unary();
    const DType all[] = {tw::boolean, tw::int8,   tw::int16,   tw::int32,     tw::int64,
                         tw::uint8,   tw::uint32, tw::float32, features_.half};
    const DType dtype = all[random_.below(9)];
    if (x->tensor.dtype() == dtype) return unary();
    const Tensor t = x->tensor.cast(dtype);
    if (dtype == tw::boolean) return push(t, {});
    if (tw::is_floating_point(dtype)) return push(t, x->elements);
    const tw::NumberRange range = tw::number_range(dtype);
    if (!x->is_real())
      return x->elements.low < 0 && !tw::is_signed(dtype) ? push(t, {0, range.highest, 0, 0}) : push(t, x->elements);
    const double low = smaller(larger(x->elements.low, range.lowest), range.highest),
                 high = smaller(larger(x->elements.high, range.lowest), range.highest);
    return push(t, {smaller(low, 0), larger(high, 0), 0, 0});
  }
  const Known x = real();
  const DType to = reals[random_.below(3)];
  if (to == x.tensor.dtype()) return push(x.tensor.cast(to == tw::float32 ? features_.half : tw::float32), x.elements);
  push(x.tensor.cast(to), x.elements);
}

constexpr void Generator::integer_arithmetic() {
  if (features_.gradients) return binary();
  const Known x = integers(), y = partner(x);
  const Tensor a = x.tensor, b = y.tensor;
  const Elements &p = x.elements, &q = y.elements;
  if ((p * q).bound() > most_whole) return cast();
  const bool is_signed = tw::is_signed(a.dtype());
  switch (random_.below(14)) {
    case 0: return push(a + b, p + q);
    case 1: return is_signed || tw::size_of(a.dtype()) < 8 ? push(a - b, p - q) : push(a + b, p + q);
    case 2: return push(a * b, p * q);
    case 3: return is_signed ? push(-a, -p) : push(a + 1, p + number_elements(1));
    case 4: {  // by numbers other than 0
      const double divisor = 1 + random_.below(7);
      return push(a / divisor, {smaller(p.low, 0), larger(p.high, 0), 0, 0});
    }
    case 5: {
      if (q.low < 0 || q.high > 100) return push(ops::abs(a), {-p.bound(), p.bound(), 0, 0});
      const Tensor divisor = b + 1;
      return random_.one_in(2) ? push(a / divisor, {smaller(p.low, 0), larger(p.high, 0), 0, 0})
                               : push(a % divisor, {smaller(p.low, 0), larger(p.high, 0), 0, 0});
    }
    case 6: return push(random_.one_in(2) ? ops::maximum(a, b) : ops::minimum(a, b), hull(p, q));
    case 7: {
      const int exponent = random_.below(4);
      return push(ops::pow(a, exponent), {-1e9, 1e9});
    }
    case 8: {
      if (q.low < 0 || q.high > 6 || p.bound() > 10) return push(ops::sign(a), {-1, 1, 0, 0});
      return push(ops::pow(a, b), {-1e6, 1e6});
    }
    case 9: return push(a * (is_signed ? -37 : 37), p * Elements{-37, 37, 0, 0});
    case 10: {  // a large number, beyond which sums wrap around
      if (tw::size_of(a.dtype()) > 4) return push(a + b, p + q);
      const double most = tw::number_range(a.dtype()).highest;
      return push(a + most, p + Elements{most, most, 0, 0});
    }
    case 11: {
      const Tensor counter = ops::identity(a);
      if (random_.one_in(2)) {
        ops::increment_mod_(counter, 1, 3);
        return push(counter, is_signed ? Elements{-3, 3, 0, 0} : Elements{0, 3, 0, 0});
      }
      ops::accumulate_(counter, a, 2);
      return push(counter, times(p, 3));
    }
    case 12: {
      const auto c = condition();
      const auto common = tw::broadcast(c.tensor.shape(), a.shape());
      if (!common || common->nelms() > 2048) return push(!c.tensor, {});
      return push(c.tensor.cast(a.dtype()) * a, hull(p, {0, 0, 0, 0}));
    }
    default: return push(ops::scaled_add(a, a, {.a = 2, .b = is_signed ? -3 : 3}), p * Elements{-5, 5, 0, 0});
  }
}

/// Numbers of 8 bits, which are moved, and are operands of products.
constexpr void Generator::float8() {
  if (features_.gradients) return unary();
  const auto found = find([](const Known& k) { return k.is_real() && k.exact() && k.bound() <= 16 && k.tensor.nelms() <= 600; });
  const Known x = found ? *found : constant({2, 6}, tw::float32);
  const auto format = [&] { return random_.one_in(2) ? tw::float8_143 : tw::float8_152; };
  const int scale = random_.below(5) - 2;
  const Tensor scale_tensor = ir_.constant(scale, tw::int32);
  const Tensor small = random_.one_in(2) ? ops::pow2scale_then_cast(x.tensor, scale_tensor, format())
                                         : ops::pow2scale_then_cast(x.tensor, scale, format());
  const Elements numbers{x.elements.low * 1.25, x.elements.high * 1.25, x.elements.grain, 0};
  const auto wide = [&](const Elements& e) { return hull(e, hull(-e, {0, 0, 0, 0})); };
  if (random_.one_in(2)) {
    Tensor moved = small.T();
    if (x.rank() > 0 && random_.one_in(2)) moved = ops::flip(small, axis_of(x));
    return push(ops::cast_then_pow2scale(moved, -scale, random_.one_in(2) ? tw::float16 : tw::float32), wide(numbers));
  }
  const double factor = power_of_two(scale);
  const Elements eighths = wide(numbers * Elements{factor, factor, scale < 0 ? -scale : 0, 0});
  if (x.rank() >= 1 && random_.one_in(3)) {
    const Known other = constant({x.tensor.shape(-1), 3}, tw::float32);
    const Tensor y = ops::matmul_pow2scaled(small, ops::pow2scale_then_cast(other.tensor, 0, format()), -3);
    return push(y, (times(eighths, x.tensor.shape(-1)) * Elements{-0.25, 0.25}).rounded());
  }
  const Tensor lines = small.reshape({1, 1, -1});
  const Known weight = constant(random_.one_in(2) ? Shape{2, 1, 1} : Shape{1, 1, 1}, tw::float32);
  const Tensor kernel = ops::pow2scale_then_cast(weight.tensor, 0, format());
  const Elements result = (eighths * Elements{-2, 2}).rounded();
  if (weight.tensor.shape(0) == 2) return push(ops::conv_pow2scaled(lines, kernel, 0), result);
  push(ops::conv_transpose_pow2scaled(lines, kernel, 0, {.stride = {2}}), result);
}

}  // namespace random_programs
