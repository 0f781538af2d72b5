// labels: more
// Convolutions over blocks of images and as products, and their gradients, on the tiles of the IPU model, beside plain loops.
// Integers have sums that float32 has exactly.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../support/elements.hpp"
#include "tilewright/execute/strict_executor.hpp"

namespace {

using tw::Tensor;
using namespace tw::literals;
using Axes = std::array<std::int64_t, 3>;

/// A convolution over three spatial axes, of which a program has the last `axes`.
struct Convolution {
  int axes = 2;
  std::int64_t images = 1, channels = 1, results = 1, groups = 1;
  Axes in{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{}, end{};
  bool transposed = false;  ///< the op goes from what the convolution gives to its data

  constexpr Axes out() const {
    Axes result{};
    for (std::size_t a = 0; a < 3; ++a)
      result[a] = (in[a] + begin[a] + end[a] - (kernel[a] - 1) * dilation[a] - 1) / stride[a] + 1;
    return result;
  }
  constexpr tw::Shape shape(std::int64_t first, std::int64_t second, const Axes& extents) const {
    tw::Shape result{first, second};
    for (int a = 3 - axes; a < 3; ++a) result.push_back(extents[static_cast<std::size_t>(a)]);
    return result;
  }
  constexpr tw::Shape data_shape() const { return shape(images, channels, in); }
  constexpr tw::Shape result_shape() const { return shape(images, results, out()); }
  constexpr tw::Shape weight_shape() const { return shape(results, channels / groups, kernel); }
  constexpr tw::List<std::int64_t> list(const Axes& numbers) const {
    tw::List<std::int64_t> result;
    for (int a = 3 - axes; a < 3; ++a) result.push_back(numbers[static_cast<std::size_t>(a)]);
    return result;
  }
  constexpr Tensor build(Tensor x, Tensor w) const {
    tw::List<std::int64_t> padding = list(begin);
    for (const std::int64_t each : list(end)) padding.push_back(each);
    if (transposed)
      return tw::ops::conv_transpose(x, w,
                                     {.stride = list(stride), .padding = padding, .dilation = list(dilation), .groups = groups});
    return tw::ops::conv(x, w, {.stride = list(stride), .padding = padding, .dilation = list(dilation), .groups = groups});
  }
};

/// y of x and w, and the gradients of both for dy.
template <const auto& c>
constexpr void program(tw::Ir& ir) {
  const tw::Shape x = c.transposed ? c.result_shape() : c.data_shape(), dy = c.transposed ? c.data_shape() : c.result_shape();
  const tw::Graph forward = ir.create_graph([](Tensor data, Tensor weight) { return c.build(data, weight); },
                                            tw::TensorSpec{x, tw::float32}, tw::TensorSpec{c.weight_shape(), tw::float32});
  const auto call = tw::call_with_info(forward, {support::load(ir, "x", x), support::load(ir, "w", c.weight_shape())});
  support::store("y", call.outputs()[0]);
  const tw::GradGraphInfo backward = tw::autodiff(forward);
  const auto gradients = backward.fwd_graph_ins_to_grad_parent_outs(
      tw::call_with_info(backward.graph(), {support::load(ir, "dy", dy)}, backward.inputs_dict(call)));
  support::store("dx", *gradients.find(forward.inputs()[0]));
  support::store("dw", *gradients.find(forward.inputs()[1]));
}

/// What a convolution of data gives, and its gradients for `gradient`, from their definition.
struct Expected {
  std::vector<float> result, data, weight;

  Expected(const Convolution& c, const std::vector<float>& of_data, const std::vector<float>& of_weight,
           const std::vector<float>& gradient)
      : result(gradient.size()), data(of_data.size()), weight(of_weight.size()) {
    const Axes out = c.out();
    const std::int64_t channels = c.channels / c.groups, results = c.results / c.groups;
    const auto volume = [](const Axes& extents) { return extents[0] * extents[1] * extents[2]; };
    for (std::int64_t n = 0; n < c.images; ++n)
      for (std::int64_t m = 0; m < c.results; ++m)
        for (std::int64_t ch = 0; ch < channels; ++ch)
          for (std::int64_t o = 0; o < volume(out); ++o)
            for (std::int64_t k = 0; k < volume(c.kernel); ++k) {
              const std::int64_t place = place_of(c, o, k);
              if (place < 0) continue;
              const auto y = static_cast<std::size_t>((n * c.results + m) * volume(out) + o);
              const auto x = static_cast<std::size_t>((n * c.channels + m / results * channels + ch) * volume(c.in) + place);
              const auto w = static_cast<std::size_t>((m * channels + ch) * volume(c.kernel) + k);
              result[y] += of_data[x] * of_weight[w];
              data[x] += gradient[y] * of_weight[w];
              weight[w] += gradient[y] * of_data[x];
            }
  }

 private:
  /// The place in the data of element k of the window of result o; -1: in the padding.
  static std::int64_t place_of(const Convolution& c, std::int64_t o, std::int64_t k) {
    const Axes out = c.out();
    std::int64_t place = 0, step = 1;
    for (std::size_t a = 3; a-- > 0;) {
      const std::int64_t at = o % out[a] * c.stride[a] - c.begin[a] + k % c.kernel[a] * c.dilation[a];
      if (at < 0 || at >= c.in[a]) return -1;
      place += at * step;
      step *= c.in[a], o /= out[a], k /= c.kernel[a];
    }
    return place;
  }
};

std::vector<float> integers(const tw::Shape& shape, std::size_t seed) {
  std::vector<float> result(static_cast<std::size_t>(shape.nelms()));
  for (float& element : result) element = static_cast<float>((seed++ * 2'654'435'761 >> 13) % 9) - 4;
  return result;
}
auto shaped(const std::vector<float>& elements, const tw::Shape& shape) {
  std::vector<std::size_t> extents;
  for (int axis = 0; axis < shape.rank; ++axis) extents.push_back(static_cast<std::size_t>(shape[axis]));
  return xt::adapt(elements, extents);
}

/// Returns how many ops of a plan are over blocks of images, or products.
constexpr int count_blocks(const tw::Plan& plan) {
  int count = 0;
  for (const auto& stage : plan.stages) count += stage.name.ends_with("InBlocks");
  return count;
}

template <const auto& c>
void check() {
  static_assert(count_blocks(support::plan_of(program<c>, tw::gc200)) > 0);
  const auto data = integers(c.data_shape(), 1), weight = integers(c.weight_shape(), 2), gradient = integers(c.result_shape(), 3);
  const Expected expected(c, data, weight, gradient);
  tw::Session<program<c>, tw::gc200> session({.strict = true});
  const auto run = [&](const auto& x, const auto& dy, const auto& y, const auto& dx) {
    const tw::Shape from = c.transposed ? c.result_shape() : c.data_shape(),
                    to = c.transposed ? c.data_shape() : c.result_shape();
    const auto results = session.run("x"_s = shaped(x, from), "w"_s = shaped(weight, c.weight_shape()), "dy"_s = shaped(dy, to));
    CHECK(elements(results["y"_s]) == y);
    CHECK(elements(results["dx"_s]) == dx);
    CHECK(elements(results["dw"_s]) == expected.weight);
  };
  if constexpr (c.transposed) run(gradient, data, expected.data, expected.result);
  else run(data, gradient, expected.result, expected.data);
}

constexpr Convolution padded{
    .images = 2, .channels = 4, .results = 6, .in{1, 12, 7}, .kernel{1, 3, 3}, .begin{0, 1, 1}, .end{0, 1, 1}};
// Rows of neither end fit: windows begin 2 rows before the data and end 1 after it, every 2nd row from the last is in none.
constexpr Convolution uneven{.channels = 3,
                             .results = 4,
                             .in{1, 25, 9},
                             .kernel{1, 3, 2},
                             .stride{1, 2, 1},
                             .dilation{1, 3, 1},
                             .begin{0, 2, 1},
                             .end{0, 1, 0}};
constexpr Convolution grouped{.axes = 3,
                              .images = 2,
                              .channels = 8,
                              .results = 8,
                              .groups = 2,
                              .in{24, 6, 7},
                              .kernel{3, 2, 2},
                              .begin{1, 0, 0},
                              .end{1, 1, 0}};
constexpr Convolution transposed{.channels = 8,
                                 .results = 8,
                                 .in{1, 32, 16},
                                 .kernel{1, 4, 4},
                                 .stride{1, 2, 2},
                                 .begin{0, 1, 1},
                                 .end{0, 1, 1},
                                 .transposed = true};
constexpr Convolution odd{
    .channels = 4, .results = 8, .in{1, 29, 23}, .kernel{1, 3, 5}, .stride{1, 1, 2}, .begin{0, 1, 2}, .end{0, 1, 1}};
constexpr Convolution depthwise{
    .channels = 16, .results = 16, .groups = 16, .in{1, 21, 18}, .kernel{1, 3, 3}, .begin{0, 1, 1}, .end{0, 1, 1}};
constexpr Convolution product{.images = 2, .channels = 16, .results = 32, .in{1, 13, 9}};
constexpr Convolution images_product{.images = 6, .channels = 16, .results = 16, .in{1, 14, 12}};
constexpr Convolution strided_product{.images = 3, .channels = 16, .results = 8, .in{1, 14, 9}, .stride{1, 2, 3}};

// The cycles of a step are of the unit's mode by which it is planned: one for at most 4 channels in float16. 5 channels are one
// product, of all elements of the kernel.
template <int channels>
constexpr void first_layer(tw::Ir& ir) {
  support::store("y", tw::ops::conv(support::load(ir, "x", {64, channels, 32, 32}, tw::float16),
                                    support::load(ir, "w", {64, channels, 3, 3}, tw::float16)));
}
static_assert(3 * tw::cycle_use<first_layer<4>, tw::gc200>.compute < 2 * tw::cycle_use<first_layer<5>, tw::gc200>.compute);

}  // namespace

TEST_CASE("a convolution over blocks of rows with padding") { check<padded>(); }
TEST_CASE("a convolution over blocks of rows with strides and dilation") { check<uneven>(); }
TEST_CASE("a convolution in groups over blocks of planes") { check<grouped>(); }
TEST_CASE("a transposed convolution over blocks of rows") { check<transposed>(); }
TEST_CASE("a convolution over blocks of both axes with uneven extents") { check<odd>(); }
TEST_CASE("a depthwise convolution over blocks") { check<depthwise>(); }
TEST_CASE("a convolution with a kernel of one element is a product") { check<product>(); }
TEST_CASE("a product whose weights' gradient is a sum over images and places that are both divided") { check<images_product>(); }
TEST_CASE("a convolution with a kernel of one element and strides is a product") { check<strided_product>(); }
