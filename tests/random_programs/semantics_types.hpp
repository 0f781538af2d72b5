#pragma once
// Meanings of conversions, and of ops on numbers of 8 bits.
#include "semantics_networks.hpp"

namespace random_programs::meaning {

/// An element in another dtype. What a narrower integer does not hold wraps around, when it is stored.
inline double converted(double x, tw::DType from, tw::DType to) {
  if (to == tw::boolean) return x != 0;
  if (!tw::is_int(to) || !tw::is_floating_point(from)) return x;
  if (std::isnan(x)) return 0;
  const tw::NumberRange range = tw::number_range(to);
  return std::clamp(std::trunc(x), range.lowest, range.highest);
}

/// The nearest number of 8 bits, ties to even; NaN beyond the largest.
inline double to_float8(double x, tw::DType dtype) {
  const int mantissa = dtype == tw::float8_143 ? 3 : 2, bias = dtype == tw::float8_143 ? 8 : 16;
  const double largest = dtype == tw::float8_143 ? 240 : 57344;
  if (x == 0) return 0;
  const int exponent = std::max(std::ilogb(x), 1 - bias);
  const double unit = std::ldexp(1, exponent - mantissa), nearest = std::nearbyint(x / unit) * unit;
  return std::abs(nearest) <= largest ? nearest : std::nan("");
}
inline double scale_of(const Array& log2_scale) { return std::exp2(log2_scale[0]); }

/// A product whose last input is a scale.
template <class F>
Meaning scaled(F product) {
  return [product](const tw::Node& node, Inputs inputs, Specs outputs) {
    std::vector<Array> results = product(node, inputs.first(2), outputs);
    for (double& x : *results[0].memory) x *= scale_of(inputs[2]);
    return results;
  };
}

inline Meanings type_meanings() {
  return {
      {"Cast", elementwise([](const tw::Node& node, Inputs inputs, const Line& x) {
         const auto to = static_cast<tw::DType>(tw::unpack<tw::Cast::Attributes>(node.attributes).dtype);
         return converted(x[0], inputs[0].spec.dtype, to);
       })},
      {"Pow2ScaleThenCast", elementwise([](const tw::Node& node, Inputs inputs, const Line& x) {
         const auto to = static_cast<tw::DType>(tw::unpack<tw::Pow2ScaleThenCast::Attributes>(node.attributes).dtype);
         return to_float8(x[0] * scale_of(inputs[1]), to);
       })},
      {"CastThenPow2Scale", binary([](double x, double log2_scale) { return x * std::exp2(log2_scale); })},
      {"MatMulPow2Scaled", scaled(matmul)},
      {"ConvPow2Scaled", scaled(convolution)},
      {"ConvTransposePow2Scaled", scaled(transposed_convolution)},
  };
}

}  // namespace random_programs::meaning
