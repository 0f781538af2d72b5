// A mixture of Gaussians: gmm.hpp says what it is.
#include "gmm.hpp"

#include "serve_program.hpp"

namespace {

/// The logarithm of the likelihood for logits (k), means (k, d), matrices (k, d + d (d - 1) / 2) and points (n, d).
template <Gmm gmm>
constexpr Tensor likelihood(Tensor logits, Tensor means, Tensor matrices, Tensor points, Tensor constant) {
  constexpr std::int64_t d = gmm.d, k = gmm.k, n = gmm.n, of_matrix = gmm.of_matrix();
  tw::Ir& ir = logits.ir();
  const Tensor q = matrices[{tw::all, tw::slice(0, d)}], below = matrices[{tw::all, tw::slice(d, of_matrix)}];
  const Tensor diagonal = ops::exp(q), zeros = ir.constant(tw::zeros(), {k, 1}, tw::float64);
  tw::List<double> places;  // of the elements of Q, row by row, in what is concatenated
  for (std::int64_t i = 0; i < d; ++i)
    for (std::int64_t j = 0; j < d; ++j)
      places.push_back(static_cast<double>(i == j ? i : j > i ? of_matrix : d + j * d - j * (j + 1) / 2 + i - j - 1));
  const Tensor elements = ops::gather(ops::concat({diagonal, below, zeros}, 1), ir.constant(places, {d * d}, tw::int32), 1);
  const Tensor all_q = elements.reshape({k, d, d});
  const Tensor of_means = ops::sum(all_q * means.reshape({k, 1, d}), {-1}).reshape({k * d});
  const Tensor products = points.matmul(all_q.reshape({k * d, d}).T()) - of_means;
  const Tensor squares = ops::sum((products * products).reshape({n, k, d}), {-1});
  const Tensor terms = logits + ops::sum(q, {-1}) - squares * 0.5;
  const Tensor prior = (ops::sum(diagonal * diagonal) + ops::sum(below * below)) * 0.5;
  return ops::sum(ops::logsumexp(terms, {-1})) - ops::logsumexp(logits) * static_cast<double>(n) + prior + constant;
}

template <Gmm gmm>
constexpr auto inputs_of(tw::Ir& ir) {
  const auto number = [](std::size_t extent) { return static_cast<std::int64_t>(extent); };
  const std::int64_t d = number(gmm.d), k = number(gmm.k);
  return load_inputs(ir, {{{k}, tw::float64},
                          {{k, d}, tw::float64},
                          {{k, number(gmm.of_matrix())}, tw::float64},
                          {{number(gmm.n), d}, tw::float64},
                          {{}, tw::float64}});
}
template <Gmm gmm>
constexpr void value(tw::Ir& ir) {
  const auto [logits, means, matrices, points, constant] = inputs_of<gmm>(ir);
  store_results(ir, {likelihood<gmm>(logits, means, matrices, points, constant)});
}
template <Gmm gmm>
constexpr void derivatives(tw::Ir& ir) {
  const auto [logits, means, matrices, points, constant] = inputs_of<gmm>(ir);
  const auto all = tw::grad(likelihood<gmm>, {0, 1, 2})(logits, means, matrices, points, constant);
  store_results(ir, {all[0], all[1], all[2]});
}

template <Gmm gmm>
int serve_gmm(const Problem& problem, bool is_value) {
  const std::array<double, 1> constant{gmm.constant()};
  const auto serve_with = [&]<auto program>(const Numbers& expected) {
    std::span<const double> rest(problem.inputs);
    const auto next = [&rest](std::size_t count) {
      const auto first = rest.first(count);
      rest = rest.subspan(count);
      return first;
    };
    const auto logits = next(gmm.k), means = next(gmm.k * gmm.d), matrices = next(gmm.k * gmm.of_matrix());
    return serve_program<program>(expected, logits, means, matrices, next(gmm.n * gmm.d), std::span(constant));
  };
  if (is_value) return serve_with.template operator()<value<gmm>>(problem.value);
  return serve_with.template operator()<derivatives<gmm>>(problem.derivatives);
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view name = arguments[1];
  const bool is_value = std::string_view(arguments[2]) == "value";
  const Problem problem = Problem::read(arguments[3]);
  if (name == "gmm-2-5") return serve_gmm<Gmm{2, 5}>(problem, is_value);
  if (name == "gmm-2-25") return serve_gmm<Gmm{2, 25}>(problem, is_value);
  if (name == "gmm-10-5") return serve_gmm<Gmm{10, 5}>(problem, is_value);
  if (name == "gmm-20-50") return serve_gmm<Gmm{20, 50}>(problem, is_value);
  return serve_gmm<Gmm{10, 25}>(problem, is_value);
}
