// A program that is no network: the heat equation in two and three dimensions, on one simulated IPU and on four. Small bodies are
// compared with plain loops. For the bodies of published measurements it prints what the model says: time, memory, and the bytes
// that tiles send each other.
//
// labels: more strict
// test:
// expect: 24 x 30, 1 IPU, 40 steps: as plain loops
// expect: 32 x 9 x 10, 4 IPUs, 40 steps: as plain loops
// expect-regex: ^8000 x 8004: 0\.28[0-9] s, published 0.30 s
// expect-regex: ^360 x 360 x 360: 0\.27[0-9] s, published 0.26 s
// strict: --strict
#include "heat_equation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <tilewright/execute/strict_executor.hpp>
#include <tilewright/profile/make_profile.hpp>
#include <vector>

namespace tw = tilewright;
using namespace tw::literals;

inline constexpr heat::HeatEquation plate{.blocks = {3, 5}, .block = {8, 6}, .steps = 40};
inline constexpr heat::HeatEquation cuboid{.blocks = {2, 3, 2}, .block = {4, 3, 5}, .ipus = 4, .steps = 40};
template <const heat::HeatEquation& equation>
constexpr void program(tw::Ir& ir) {
  equation(ir);
}

/// Returns the temperatures of a body after some steps, computed by plain loops in float64.
std::vector<double> plain_loops(std::vector<double> now, const tw::Shape& shape, const heat::HeatEquation& equation) {
  std::vector<double> next = now;
  for (std::int64_t step = 0; step < equation.steps; ++step, std::swap(now, next))
    for (std::size_t i = 0; i < now.size(); ++i) {
      double sum = 0;
      std::size_t stride = 1;
      for (int axis = shape.rank; axis-- > 0; stride *= static_cast<std::size_t>(shape[axis])) {
        const auto extent = static_cast<std::size_t>(shape[axis]), place = i / stride % extent;
        sum += (place > 0 ? now[i - stride] : 1) + (place + 1 < extent ? now[i + stride] : 0) - 2 * now[i];
      }
      next[i] = now[i] + equation.part * sum;
    }
  return now;
}
/// Returns the temperatures of the whole body: the parts of the IPUs, one after the other.
std::vector<double> temperatures(const auto&... parts) {
  std::vector<double> result;
  (result.insert(result.end(), parts.begin(), parts.end()), ...);
  return result;
}
std::string_view compared(const std::vector<double>& found, const std::vector<double>& expected) {
  double error = 0;
  for (std::size_t i = 0; i < found.size(); ++i) error = std::max(error, std::abs(found[i] - expected[i]));
  return error <= 1e-5 ? "as plain loops" : "wrong";
}

/// Prints what the plan of a published measurement says.
void print_plan(const char* name, const heat::HeatEquation& equation, double published) {
  const tw::Profile profile = tw::profile(equation, tw::gc200, name);
  std::int64_t moved = 0;  // in a run, by the steps of the loop
  for (const tw::Profile::Step& step : profile.steps)
    if (step.times > 1) moved += step.times * step.exchanged_bytes;
  const double halos = static_cast<double>(equation.halo_bytes()), in_a_step = static_cast<double>(moved / equation.steps);
  const std::int64_t bytes = profile.fullest().total();
  std::printf("%s: %.3f s, published %.2f s; %lld bytes of a tile; halos of %.1f MB, %.1f MB exchanged in a step\n", name,
              profile.totals().seconds, published, static_cast<long long>(bytes), 1e-6 * halos, 1e-6 * in_a_step);
  // Each halo moves once, from the tile that has the edge to the one that needs it. 3 %: some of those at the rim, which are
  // constants, move twice.
  if (bytes > tw::gc200.bytes_per_tile || in_a_step < halos || in_a_step > 1.03 * halos) std::exit(1);
}

int main(int argc, char** argv) {
  const bool strict = argc > 1 && std::string_view(argv[1]) == "--strict";
  tw::Session<program<plate>, tw::gc200> one({.seed = 1, .strict = strict});
  const auto at_first = temperatures(one.get_tensor_data("u0"_s));
  one.run();
  std::printf("24 x 30, 1 IPU, 40 steps: %s\n",
              compared(temperatures(one.get_tensor_data("u0"_s)), plain_loops(at_first, {24, 30}, plate)).data());

  tw::Session<program<cuboid>, tw::gc200.with_ipus(4)> four({.seed = 1, .strict = strict});
  const auto all = [&] {
    return temperatures(four.get_tensor_data("u0"_s), four.get_tensor_data("u1"_s), four.get_tensor_data("u2"_s),
                        four.get_tensor_data("u3"_s));
  };
  const auto start = all();
  four.run();
  std::printf("32 x 9 x 10, 4 IPUs, 40 steps: %s\n", compared(all(), plain_loops(start, {32, 9, 10}, cuboid)).data());

  print_plan("8000 x 8004", {.blocks = {32, 46}, .block = {250, 174}}, 0.30);
  print_plan("360 x 360 x 360", {.blocks = {9, 9, 18}, .block = {40, 40, 20}}, 0.26);
}
