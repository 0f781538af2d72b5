// labels: arm
// Convolutions in Winograd's form: their errors beside those of direct sums, and the option that turns it off.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "../../support/elements.hpp"

namespace {

constexpr tw::ViewSpec dense(const tw::Shape& shape, tw::DType dtype = tw::float32) {
  return tw::written_out({dtype, shape, tw::dense_strides(shape)});
}
/// How numbers are distributed: around 0, as weights and gradients are, or at least 0, as activations after relu are.
enum class Values { around_zero, after_relu };
Floats numbers(std::int64_t count, Values values) {
  static std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  Floats result(static_cast<std::size_t>(count));
  for (float& x : result) x = values == Values::after_relu ? std::max(0.f, normal(random)) : normal(random);
  return result;
}
/// The largest error, and the root of the mean of the squares of all.
struct Errors {
  double largest = 0, mean = 0;
  Errors(const Floats& results, const std::vector<double>& exact) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double error = std::abs(static_cast<double>(results[i]) - exact[i]);
      largest = std::max(largest, error), mean += error * error;
    }
    mean = std::sqrt(mean / static_cast<double>(results.size()));
  }
};
/// Requires errors of at most 4 times those of direct sums, and that the results differ: the form was used.
void check_errors(const Floats& winograd, const Floats& direct, const std::vector<double>& exact) {
  const Errors errors(winograd, exact), of_direct(direct, exact);
  CHECK(winograd != direct);
  CHECK(errors.largest <= 4 * of_direct.largest);
  CHECK(errors.mean <= 4 * of_direct.mean);
}

/// Compares a convolution and its gradients in both forms with sums in float64.
template <tw::Shape x_shape, tw::Shape w_shape, std::int32_t top = 0, std::int32_t left = 0, std::int32_t bottom = 0,
          std::int32_t right = 0>
void check(Values values) {
  constexpr tw::WindowAttributes attributes{.padding = {top, left, bottom, right}, .padding_count = 4};
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, tw::detail::kernel_of(w_shape), attributes);
  constexpr tw::Shape y_shape = tw::detail::windows_shape(x_shape[0], w_shape[0], windows, 2);
  constexpr auto with_form = [](auto options) {
    options.planner.images_together = 1;
    return tw::pack(options);
  };
  constexpr tw::WindowsAttributes gradient = tw::WindowsAttributes::make(windows);
  using X = tw::View<dense(x_shape)>;
  using W = tw::View<dense(w_shape)>;
  using Y = tw::View<dense(y_shape)>;
  using Exact = tw::kernel::ConvLoops<windows, tw::View<dense(x_shape, tw::float64)>, tw::View<dense(w_shape, tw::float64)>,
                                      tw::View<dense(y_shape, tw::float64)>>;
  const auto exactly = [](const Floats& of) { return std::vector<double>(of.begin(), of.end()); };

  Floats x = numbers(x_shape.nelms(), values), w = numbers(w_shape.nelms(), Values::around_zero);
  Floats y(static_cast<std::size_t>(y_shape.nelms())), direct = y;
  std::vector<double> exact_x = exactly(x), exact_w = exactly(w), exact_y = exactly(y);
  tw::Conv::compute<with_form(attributes)>(X{x.data()}, W{w.data()}, Y{y.data()});
  tw::Conv::compute<tw::pack(attributes)>(X{x.data()}, W{w.data()}, Y{direct.data()});
  Exact::forward({exact_x.data()}, {exact_w.data()}, {exact_y.data()});
  check_errors(y, direct, exact_y);

  Floats dy = numbers(y_shape.nelms(), Values::around_zero), dx(x.size()), dw(w.size());
  std::vector<double> exact_dy = exactly(dy), exact_dx(x.size()), exact_dw(w.size());
  direct.resize(x.size());
  tw::ConvDataGrad::compute<with_form(gradient)>(Y{dy.data()}, W{w.data()}, X{dx.data()});
  tw::ConvDataGrad::compute<tw::pack(gradient)>(Y{dy.data()}, W{w.data()}, X{direct.data()});
  Exact::data_gradient({exact_dy.data()}, {exact_w.data()}, {exact_dx.data()});
  check_errors(dx, direct, exact_dx);

  direct.resize(w.size());
  tw::ConvWeightsGrad::compute<with_form(gradient)>(X{x.data()}, Y{dy.data()}, W{dw.data()});
  tw::ConvWeightsGrad::compute<tw::pack(gradient)>(X{x.data()}, Y{dy.data()}, W{direct.data()});
  Exact::weights_gradient({exact_x.data()}, {exact_dy.data()}, {exact_dw.data()});
  check_errors(dw, direct, exact_dw);
}

}  // namespace

TEST_CASE("Winograd's form: errors are at most 4 times those of direct sums") {
  for (const Values values : {Values::around_zero, Values::after_relu})
    check<tw::Shape{5, 32, 13, 13}, tw::Shape{64, 32, 3, 3}>(values);
}
TEST_CASE("Winograd's form: large images in turn, channels that are no whole vectors, uneven padding") {
  check<tw::Shape{2, 20, 41, 38}, tw::Shape{34, 20, 3, 3}, 2, 0, 1, 2>(Values::around_zero);
}

namespace {
/// A convolution of 16 images, and its gradients.
template <bool uses_winograd>
constexpr void step(tw::Ir& ir) {
  tw::uses_winograd(ir, uses_winograd);
  const tw::Tensor x = support::load(ir, "x", {16, 16, 12, 12}), w = support::load(ir, "w", {32, 16, 3, 3}),
                   dy = support::load(ir, "dy", {16, 32, 10, 10});
  const tw::Graph graph = ir.create_graph([](tw::Tensor a, tw::Tensor b) { return tw::ops::conv(a, b); }, x, w);
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {x, w});
  store("y", call.output(0));
  const auto [dx, dw] = tw::call(gradient.graph(), dy, gradient.inputs_dict(call)).as<2>();
  store("dx", dx);
  store("dw", dw);
}
/// Runs the step and returns its three results.
template <bool uses_winograd>
std::array<Floats, 3> results_of(const Floats& x, const Floats& w, const Floats& dy) {
  tw::Session<step<uses_winograd>> session({.threads = 2});
  xt::xtensor<float, 4> image({16, 16, 12, 12}), weight({32, 16, 3, 3}), gradient({16, 32, 10, 10});
  std::copy(x.begin(), x.end(), image.begin()), std::copy(w.begin(), w.end(), weight.begin());
  std::copy(dy.begin(), dy.end(), gradient.begin());
  const auto results = session.run("x"_s = image, "w"_s = weight, "dy"_s = gradient);
  return {elements(results["y"_s]), elements(results["dx"_s]), elements(results["dw"_s])};
}
}  // namespace

TEST_CASE("Winograd's form: results and gradients of a program agree with those of direct sums") {
  const Floats x = numbers(16 * 16 * 12 * 12, Values::after_relu), w = numbers(32 * 16 * 9, Values::around_zero),
               dy = numbers(16 * 32 * 10 * 10, Values::around_zero);
  const auto results = results_of<true>(x, w, dy), direct = results_of<false>(x, w, dy);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(results[i] != direct[i]);
    double largest = 0, off = 0;
    for (std::size_t e = 0; e < direct[i].size(); ++e) {
      largest = std::max(largest, std::abs(static_cast<double>(direct[i][e])));
      off = std::max(off, std::abs(static_cast<double>(results[i][e]) - static_cast<double>(direct[i][e])));
    }
    CHECK(off <= 4e-6 * largest);
  }
}
