// labels: arm
// Convolutions give each result to an epilogue once, with the bits that they otherwise store.
#include <algorithm>
#include <random>
#include <vector>

#include "../../support/elements.hpp"

namespace {

constexpr tw::ViewSpec dense(const tw::Shape& shape) { return tw::written_out({tw::float32, shape, tw::dense_strides(shape)}); }
Floats numbers(std::int64_t count) {
  static std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  Floats result(static_cast<std::size_t>(count));
  for (float& x : result) x = normal(random);
  return result;
}

/// An epilogue of planes that stores what it gets, and counts how often it gets each element.
struct Recorder {
  std::int64_t plane;  ///< elements of a matrix
  float* results;
  int* counts;

  Recorder matrix(std::int64_t number) const { return {plane, results + number * plane, counts + number * plane}; }
  template <class X>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    CHECK(i == 0);
    if constexpr (tw::kernel::is_part_of_batch<X>) {
      float all[decltype(x.batch)::size];
      x.batch.store_unaligned(all);
      for (std::int64_t e = 0; e < X::count; ++e) put(j + e, all[e]);
    } else {
      tw::kernel::for_each_element(x, [&](std::int64_t e, float element) { put(j + e, element); });
    }
  }

 private:
  void put(std::int64_t at, float element) const {
    REQUIRE(at < plane);
    results[at] = element;
    ++counts[at];
  }
};

/// Compares a convolution's epilogue with its stores.
template <tw::Shape x_shape, tw::Shape w_shape, std::int32_t stride = 1, std::int8_t winograd = 0>
void check() {
  constexpr auto attributes = [] {
    tw::WindowAttributes result{.stride = {stride, stride}, .stride_count = 2};
    result.planner.images_together = winograd;
    result.planner.takes_epilogue = 1;
    return result;
  }();
  constexpr tw::kernel::Windows windows = tw::detail::windows_of(x_shape, tw::detail::kernel_of(w_shape), attributes);
  constexpr tw::Shape y_shape = tw::detail::windows_shape(x_shape[0], w_shape[0], windows, 2);
  using Y = tw::View<dense(y_shape)>;
  Floats x = numbers(x_shape.nelms()), w = numbers(w_shape.nelms()), y(static_cast<std::size_t>(y_shape.nelms())), given(y);
  const tw::View<dense(x_shape)> x_view{x.data()};
  const tw::View<dense(w_shape)> w_view{w.data()};
  tw::Conv::compute<tw::pack(attributes)>(x_view, w_view, Y{y.data()});
  std::vector<int> counts(y.size());
  const Recorder recorder{y_shape[2] * y_shape[3], given.data(), counts.data()};
  tw::Conv::compute_with<tw::pack(attributes), Y>(recorder, x_view, w_view);
  CHECK(given == y);
  CHECK(std::ranges::all_of(counts, [](int count) { return count == 1; }));
}

}  // namespace

TEST_CASE("epilogues of convolutions: vectors along results") {
  check<tw::Shape{2, 1, 28, 28}, tw::Shape{32, 1, 3, 3}>();
  check<tw::Shape{3, 3, 9, 11}, tw::Shape{10, 3, 2, 2}>();
}
TEST_CASE("epilogues of convolutions: vectors along channels") {
  check<tw::Shape{2, 20, 13, 13}, tw::Shape{40, 20, 5, 5}>();
  check<tw::Shape{2, 24, 6, 6}, tw::Shape{17, 24, 3, 3}, 2>();
  check<tw::Shape{1, 6, 12, 600}, tw::Shape{16, 6, 3, 3}>();
}
TEST_CASE("epilogues of convolutions: Winograd's form") {
  check<tw::Shape{2, 32, 13, 13}, tw::Shape{64, 32, 3, 3}, 1, 1>();
  check<tw::Shape{1, 20, 41, 38}, tw::Shape{34, 20, 3, 3}, 1, 1>();
}
TEST_CASE("epilogues of convolutions: rows that no vector kernel has room for") {
  check<tw::Shape{1, 1, 3, 30000}, tw::Shape{1, 1, 3, 3}>();
}
