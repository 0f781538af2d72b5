#pragma once
// Rows 4 to 6: x + a y, of which each element is read twice and written once.
#include <tilewright/target/vertex_cycles.hpp>

#include "plans.hpp"

namespace fidelity {

/// Returns TB/s of all tiles, if each moves `bytes` bytes in as many cycles.
inline double bandwidth(const tw::Target& target, int64_t bytes, int64_t cycles) {
  return static_cast<double>(target.tiles * bytes) / target.seconds(cycles) / 1e12;
}
inline tw::Tensor operand(tw::Ir& ir, std::string_view name, int64_t elements, tw::DType dtype) {
  return ir.variable(tw::zeros(), {elements}, dtype, name);
}

/// A scaled addition in place, for which its author has put the operands into different banks.
inline Modelled row_4(const Figure&) {
  constexpr int64_t of_tile = 19'200;
  const auto triad = [](tw::Ir& ir) {
    constexpr int64_t elements = of_tile * tw::gc200.tiles;
    tw::ops::scaled_add_(operand(ir, "x", elements, tw::float32), operand(ir, "y", elements, tw::float32), {.b = 3});
  };
  const auto rate = [](const Planned& planned) { return bandwidth(tw::gc200, 12 * of_tile, planned.cycles()); };
  const Planned apart = plan(triad, tw::gc200, tw::BankPolicy::best),
                together = plan(triad, tw::gc200, tw::BankPolicy::as_allocated);
  return modelled(apart, rate(apart), "with operands that may share a bank: " + decimals(rate(together), 1) + " TB/s");
}

/// Returns the rate of a triad on GC2. The vendor's primitives copy x and add a y to the copy. Assembly is one loop of both.
inline Modelled triad_on_gc2(const Figure& figure, tw::DType dtype) {
  const int64_t bytes = tw::size_of(dtype), of_tile = 48'000 / bytes;
  const auto rate = [&](int64_t cycles) { return bandwidth(tw::gc2, 3 * bytes * of_tile, cycles); };
  if (figure.key == "plain C++")  // two loads, a product, a sum and a store for each element
    return rate(tw::vertex_cycles(tw::compiled_cost(3, 2), dtype, of_tile, 1, tw::gc2_model).cycles);
  if (figure.key == "assembly") {
    const auto width = static_cast<std::int16_t>(tw::gc2_model.vector_width(dtype));
    return rate(tw::binary_map_cycles(tw::gc2_model, {.cycles = 3, .elements = width}, dtype, of_tile));
  }
  const auto primitives = [&](tw::Ir& ir) {
    const int64_t elements = of_tile * tw::gc2.tiles;
    const tw::Tensor sum = operand(ir, "sum", elements, dtype);
    tw::ops::copy_var_update_(sum, operand(ir, "x", elements, dtype));
    tw::ops::scaled_add_(sum, operand(ir, "y", elements, dtype), {.b = 3});
  };
  const Planned planned = plan(primitives, tw::gc2.without_fusion());
  return modelled(planned, rate(planned.cycles()));
}
inline Modelled row_5(const Figure& figure) { return triad_on_gc2(figure, tw::float32); }
inline Modelled row_6(const Figure& figure) { return triad_on_gc2(figure, tw::float16); }

}  // namespace fidelity
