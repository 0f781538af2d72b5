#pragma once
#include <cmath>
#include <initializer_list>
#include <span>

#include "tilewright/core/list.hpp"
#include "tilewright/core/normal.hpp"
#include "tilewright/core/random.hpp"

namespace tilewright {

/// Writes a variable's initial values; a and b are the initialiser's parameters.
using FillFunction = void (*)(std::span<double> values, double a, double b, Random& random);

/// How a variable gets its first values when a session is made: a fill function with two parameters, or the values.
struct Initialiser {
  FillFunction fill = nullptr;
  double a = 0;
  double b = 0;
  List<double> values{};  ///< used if fill is null: one for each element, or one for all
};

namespace detail {
// std::fma rounds once on every machine, where a product and a sum are rounded once or twice, as the compiler likes.
inline void fill_normal(std::span<double> values, double mean, double deviation, Random& random) {
  draw_normal(values, random);
  if (mean == 0)  // fma is slow where the machine has none
    for (auto& value : values) value *= deviation;
  else
    for (auto& value : values) value = std::fma(deviation, value, mean);
}
inline void fill_uniform(std::span<double> values, double low, double high, Random& random) {
  for (auto& value : values) value = std::fma(high - low, random.uniform(), low);
}
}  // namespace detail

/// Normally distributed values.
constexpr Initialiser normal(double mean, double standard_deviation) { return {detail::fill_normal, mean, standard_deviation}; }
/// Uniformly distributed values in [low, high).
constexpr Initialiser uniform(double low, double high) { return {detail::fill_uniform, low, high}; }
constexpr Initialiser zeros() { return {.values = {0}}; }
constexpr Initialiser ones() { return {.values = {1}}; }
/// One value for all elements.
constexpr Initialiser full(double value) { return {.values = {value}}; }
/// The values themselves, row-major.
constexpr Initialiser values(std::initializer_list<double> values) { return {.values = values}; }
constexpr Initialiser values(std::span<const double> values) { return {.values = {values.begin(), values.end()}}; }

}  // namespace tilewright
