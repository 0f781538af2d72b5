// Bundle adjustment: bundle.hpp says what it is. All observations are computed at once: each of an observation's inputs is an
// element of a tensor, so the gradient of the sum of their first errors has a line of each observation's Jacobian.
#include "bundle.hpp"

#include "serve_program.hpp"

namespace {

constexpr Bundle bundle;
constexpr auto cameras = static_cast<std::int64_t>(bundle.cameras), points = static_cast<std::int64_t>(bundle.points),
               observations = static_cast<std::int64_t>(bundle.observations);

/// What an observation's errors depend on, as bundle.hpp orders it: 11 numbers of its camera, 3 of its point, its weight, and its
/// place in the image.
using Columns = std::array<Tensor, 17>;
constexpr std::array<Tensor, 2> errors(const Columns& in) {
  const auto cross = [](const auto& a, const auto& b, int i) {
    return a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
  };
  const std::array v{in[11] - in[3], in[12] - in[4], in[13] - in[5]};
  const Tensor angle = ops::sqrt(in[0] * in[0] + in[1] * in[1] + in[2] * in[2]), c = ops::cos(angle), s = ops::sin(angle);
  const std::array w{in[0] / angle, in[1] / angle, in[2] / angle};
  const Tensor along = (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) * (1 - c);
  const auto rotated = [&](int i) { return v[i] * c + cross(w, v, i) * s + w[i] * along; };
  const Tensor depth = rotated(2), p = rotated(0) / depth, q = rotated(1) / depth, square = p * p + q * q;
  const Tensor factor = (1 + square * (in[9] + square * in[10])) * in[6];
  return {(p * factor + in[7] - in[15]) * in[14], (q * factor + in[8] - in[16]) * in[14]};
}

/// Loads the columns, which are gathered from cameras and points.
constexpr Columns load_columns(tw::Ir& ir) {
  const auto [all, positions, weights, places, of_camera, of_point] = load_inputs(ir, {{{cameras, 11}, tw::float64},
                                                                                       {{points, 3}, tw::float64},
                                                                                       {{observations}, tw::float64},
                                                                                       {{observations, 2}, tw::float64},
                                                                                       {{observations}, tw::int32},
                                                                                       {{observations}, tw::int32}});
  const Tensor camera = ops::gather(all.T(), of_camera, 1), position = ops::gather(positions.T(), of_point, 1);
  Columns columns;
  for (int i = 0; i < 17; ++i)
    columns[static_cast<std::size_t>(i)] = i < 11   ? camera[i]
                                           : i < 14 ? position[i - 11]
                                           : i < 15 ? weights
                                                    : places[{tw::all, i - 15}];
  return columns;
}
constexpr Tensor by_observation(const tw::List<Tensor>& columns) {
  tw::List<Tensor> lines;
  for (const Tensor& each : columns) lines.push_back(each.reshape({1, observations}));
  return ops::concat(lines).T();
}
constexpr void value(tw::Ir& ir) {
  const Columns columns = load_columns(ir);
  const auto both = errors(columns);
  store_results(ir, {by_observation({both[0], both[1]}), 1 - columns[14] * columns[14]});
}
constexpr void derivatives(tw::Ir& ir) {
  const Columns columns = load_columns(ir);
  tw::List<Tensor> lines;
  for (std::size_t which = 0; which < 2; ++which) {
    const tw::Graph graph = ir.create_graph([which](const Columns& in) { return ops::sum(errors(in)[which]); }, columns);
    const auto gradient = tw::grad(graph, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
    for (const Tensor& each : std::apply(gradient, columns)) lines.push_back(each);
  }
  store_results(ir, {by_observation(lines), columns[14] * -2});
}

}  // namespace

int main(int, char** arguments) {
  const Problem problem = Problem::read(arguments[3]);
  const std::span<const double> all(problem.inputs);
  const std::vector<std::int32_t> numbers(all.begin() + static_cast<std::ptrdiff_t>(bundle.numbers_at()), all.end());
  const auto serve_with = [&]<auto program>(const Numbers& expected) {
    return serve_program<program>(expected, all.first(bundle.points_at()), all.subspan(bundle.points_at(), 3 * bundle.points),
                                  all.subspan(bundle.weights_at(), bundle.observations),
                                  all.subspan(bundle.places_at(), 2 * bundle.observations),
                                  std::span(numbers).first(bundle.observations), std::span(numbers).last(bundle.observations));
  };
  if (std::string_view(arguments[2]) == "value") return serve_with.template operator()<value>(problem.value);
  return serve_with.template operator()<derivatives>(problem.derivatives);
}
