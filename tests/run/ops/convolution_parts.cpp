// labels: none
// Gradients of a convolution's weights and bias that are summed over some images at a time: right, and the same on all threads.
#include <algorithm>
#include <cmath>
#include <random>

#include "../../support/elements.hpp"

namespace {

constexpr std::int64_t images = 30, extent = 11, results = 32;

template <std::int64_t channels, std::int64_t taps>
struct Layer {
  static constexpr tw::Shape x{images, channels, extent, extent}, w{results, channels, taps, taps};
  static constexpr tw::Shape y{images, results, extent + 1 - taps, extent + 1 - taps};
  static constexpr tw::kernel::Windows windows = tw::detail::windows_of(x, {taps, taps}, {});
};
/// The gradients of a convolution with bias.
template <class L>
constexpr void gradients(tw::Ir& ir) {
  const tw::Tensor x = support::load(ir, "x", L::x), w = support::load(ir, "w", L::w),
                   b = support::load(ir, "b", {results, 1, 1});
  const tw::Graph graph = ir.create_graph(
      [](tw::Tensor i, tw::Tensor weight, tw::Tensor bias) { return tw::ops::conv(i, weight) + bias; }, x, w, b);
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {x, w, b});
  const auto [dx, dw,
              db] = tw::call(gradient.graph(), support::load(ir, "dy", L::y), gradient.inputs_dict(call)).template as<3>();
  store("dx", dx), store("dw", dw), store("db", db);
}
xt::xarray<float> numbers(const tw::Shape& shape) {
  static std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  std::vector<std::size_t> extents;
  for (int axis = 0; axis < shape.rank; ++axis) extents.push_back(static_cast<std::size_t>(shape[axis]));
  xt::xarray<float> result(extents);
  for (float& x : result) x = normal(random);
  return result;
}
void check_sums(const Floats& sums, const std::vector<double>& exact) {
  double largest = 0, off = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    largest = std::max(largest, std::abs(exact[i]));
    off = std::max(off, std::abs(exact[i] - static_cast<double>(sums[i])));
  }
  CHECK(off <= 4e-6 * largest);
}

template <class L>
void check() {
  constexpr auto in_double = [](const tw::Shape& shape) {
    return tw::written_out({tw::float64, shape, tw::dense_strides(shape)});
  };
  const auto x = numbers(L::x), w = numbers(L::w), b = numbers({results, 1, 1}), dy = numbers(L::y);
  std::vector<double> exact_x(x.begin(), x.end()), exact_dy(dy.begin(), dy.end());
  std::vector<double> exact_dw(w.size()), exact_db(static_cast<std::size_t>(results));
  tw::kernel::ConvLoops<L::windows, tw::View<in_double(L::x)>, tw::View<in_double(L::w)>,
                        tw::View<in_double(L::y)>>::weights_gradient({exact_x.data()}, {exact_dy.data()}, {exact_dw.data()});
  const std::size_t plane = exact_dy.size() / static_cast<std::size_t>(images * results);
  for (std::size_t i = 0; i < exact_dy.size(); ++i) exact_db[i / plane % exact_db.size()] += exact_dy[i];

  Floats first_dw, first_db;
  for (const int threads : {1, 2, 3}) {
    tw::Session<gradients<L>> session({.threads = threads});
    const auto sums = session.run("x"_s = x, "w"_s = w, "b"_s = b, "dy"_s = dy);
    const Floats dw = elements(sums["dw"_s]), db = elements(sums["db"_s]);
    if (threads == 1) first_dw = dw, first_db = db;
    CHECK(dw == first_dw);
    CHECK(db == first_db);
  }
  check_sums(first_dw, exact_dw);
  check_sums(first_db, exact_db);
}

}  // namespace

TEST_CASE("gradients of weights and biases in parts: one channel") { check<Layer<1, 5>>(); }
TEST_CASE("gradients of weights and biases in parts: Winograd's form") { check<Layer<32, 3>>(); }
