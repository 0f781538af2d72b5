// labels: more
// Poolings over blocks of images, and their gradients, on the tiles of the IPU model, beside plain loops. Numbers are integers,
// of which float32 has all sums and means exactly.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../support/elements.hpp"
#include "tilewright/execute/strict_executor.hpp"
#include "tilewright/verified/verified.hpp"

namespace {

using tw::Tensor;
using namespace tw::literals;
using Axes = std::array<std::int64_t, 3>;

/// Windows along three spatial axes, of which a program has the last `axes`.
struct Pooling {
  int axes = 2;
  std::int64_t images = 1, channels = 1;
  Axes in{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{}, end{};
  bool takes_mean = false;

  constexpr Axes out() const {
    Axes result{};
    for (std::size_t a = 0; a < 3; ++a)
      result[a] = (in[a] + begin[a] + end[a] - (kernel[a] - 1) * dilation[a] - 1) / stride[a] + 1;
    return result;
  }
  constexpr tw::Shape shape(const Axes& extents) const {
    tw::Shape result{images, channels};
    for (int a = 3 - axes; a < 3; ++a) result.push_back(extents[static_cast<std::size_t>(a)]);
    return result;
  }
  constexpr tw::List<std::int64_t> list(const Axes& numbers) const {
    tw::List<std::int64_t> result;
    for (int a = 3 - axes; a < 3; ++a) result.push_back(numbers[static_cast<std::size_t>(a)]);
    return result;
  }
  constexpr Tensor build(Tensor x) const {
    tw::List<std::int64_t> padding = list(begin);
    for (const std::int64_t each : list(end)) padding.push_back(each);
    if (takes_mean)
      return tw::ops::average_pool(x, list(kernel), {.stride = list(stride), .padding = padding, .dilation = list(dilation)});
    return tw::ops::max_pool(x, list(kernel), {.stride = list(stride), .padding = padding, .dilation = list(dilation)});
  }
};

/// y of x, and its gradient for dy.
template <const auto& p>
constexpr void program(tw::Ir& ir) {
  const tw::Graph forward = ir.create_graph([](Tensor data) { return p.build(data); },
                                            tw::TensorSpec{p.shape(p.in), tw::float32});
  const auto call = tw::call_with_info(forward, {support::load(ir, "x", p.shape(p.in))});
  support::store("y", call.outputs()[0]);
  const tw::GradGraphInfo backward = tw::autodiff(forward);
  const auto gradients = backward.fwd_graph_ins_to_grad_parent_outs(
      tw::call_with_info(backward.graph(), {support::load(ir, "dy", p.shape(p.out()))}, backward.inputs_dict(call)));
  support::store("dx", *gradients.find(forward.inputs()[0]));
}

/// What windows give, and the gradient of the data, from their definition.
struct Expected {
  std::vector<float> result, data;

  Expected(const Pooling& p, const std::vector<float>& x, const std::vector<float>& gradient)
      : result(gradient.size()), data(x.size()) {
    const auto volume = [](const Axes& extents) { return extents[0] * extents[1] * extents[2]; };
    for (std::int64_t plane = 0; plane < p.images * p.channels; ++plane)
      for (std::int64_t o = 0; o < volume(p.out()); ++o) {
        std::vector<std::size_t> seen;
        for (std::int64_t k = 0; k < volume(p.kernel); ++k)
          if (const std::int64_t place = place_of(p, o, k); place >= 0)
            seen.push_back(static_cast<std::size_t>(plane * volume(p.in) + place));
        const auto y = static_cast<std::size_t>(plane * volume(p.out()) + o);
        if (p.takes_mean) {
          const auto count = static_cast<float>(seen.size());
          for (const std::size_t each : seen) result[y] += x[each] / count, data[each] += gradient[y] / count;
        } else {
          std::size_t largest = seen[0];
          for (const std::size_t each : seen)
            if (x[each] > x[largest]) largest = each;
          result[y] = x[largest], data[largest] += gradient[y];
        }
      }
  }

 private:
  /// The place in the data of element k of the window of result o; -1: in the padding.
  static std::int64_t place_of(const Pooling& p, std::int64_t o, std::int64_t k) {
    const Axes out = p.out();
    std::int64_t place = 0, step = 1;
    for (std::size_t a = 3; a-- > 0;) {
      const std::int64_t at = o % out[a] * p.stride[a] - p.begin[a] + k % p.kernel[a] * p.dilation[a];
      if (at < 0 || at >= p.in[a]) return -1;
      place += at * step;
      step *= p.in[a], o /= out[a], k /= p.kernel[a];
    }
    return place;
  }
};

/// Multiples of all counts of elements of a window.
std::vector<float> integers(const tw::Shape& shape, std::size_t seed) {
  std::vector<float> result(static_cast<std::size_t>(shape.nelms()));
  for (float& element : result) element = 2520 * (static_cast<float>((seed++ * 2'654'435'761 >> 13) % 9) - 4);
  return result;
}
auto shaped(const std::vector<float>& elements, const tw::Shape& shape) {
  std::vector<std::size_t> extents;
  for (int axis = 0; axis < shape.rank; ++axis) extents.push_back(static_cast<std::size_t>(shape[axis]));
  return xt::adapt(elements, extents);
}

/// Returns how many poolings of a plan are over blocks of images.
constexpr int count_blocks(const tw::Plan& plan, int axes) {
  int count = 0;
  for (const auto& stage : plan.stages)
    count += (stage.name.find("Pool") != stage.name.npos &&
              plan.operands[static_cast<std::size_t>(stage.first_operand)].view.shape.rank > 2 + axes);
  return count;
}

template <const auto& p>
void check() {
  static_assert(count_blocks(support::plan_of(program<p>, tw::gc200), p.axes) == 2);
  static_assert(tw::verified<program<p>, tw::gc200>);
  auto x = integers(p.shape(p.in), 1);
  if (!p.takes_mean) x[0] = x[1] = -std::numeric_limits<float>::infinity();  // no less than padding
  const auto dy = integers(p.shape(p.out()), 3);
  const Expected expected(p, x, dy);
  tw::Session<program<p>, tw::gc200> session({.strict = true});
  const auto results = session.run("x"_s = shaped(x, p.shape(p.in)), "dy"_s = shaped(dy, p.shape(p.out())));
  CHECK(elements(results["y"_s]) == expected.result);
  CHECK(elements(results["dx"_s]) == expected.data);
}

constexpr Pooling inner{.channels = 6, .in{1, 31, 23}, .kernel{1, 3, 3}, .stride{1, 2, 2}};
constexpr Pooling padded{.images = 2, .channels = 4, .in{1, 17, 14}, .kernel{1, 3, 3}, .begin{0, 1, 1}, .end{0, 1, 1}};
constexpr Pooling dilated{
    .channels = 3, .in{1, 25, 19}, .kernel{1, 2, 3}, .stride{1, 2, 3}, .dilation{1, 3, 1}, .begin{0, 1, 2}, .end{0, 2, 1}};
constexpr Pooling apart{.channels = 5, .in{1, 22, 21}, .kernel{1, 2, 2}, .stride{1, 2, 2}};
constexpr Pooling rows{.axes = 1, .channels = 7, .in{1, 1, 400}, .kernel{1, 1, 4}, .stride{1, 1, 3}, .begin{0, 0, 1}};
constexpr Pooling planes{
    .axes = 3, .channels = 2, .in{16, 6, 5}, .kernel{3, 2, 2}, .stride{2, 1, 2}, .begin{1, 0, 1}, .end{1, 1, 0}};
template <const auto& p>
constexpr Pooling mean_of = [] {
  Pooling result = p;
  result.takes_mean = true;
  return result;
}();

}  // namespace

TEST_CASE("maxima of windows that overlap, over blocks") { check<inner>(); }
TEST_CASE("maxima of windows with padding, over blocks") { check<padded>(); }
TEST_CASE("maxima of windows with strides and dilation, over blocks") { check<dilated>(); }
TEST_CASE("maxima of windows that do not overlap, over blocks") { check<apart>(); }
TEST_CASE("maxima of windows of one axis, over blocks") { check<rows>(); }
TEST_CASE("maxima of windows of three axes, over blocks of planes") { check<planes>(); }
TEST_CASE("means of windows that overlap, over blocks") { check<mean_of<inner>>(); }
TEST_CASE("means of windows with padding, over blocks") { check<mean_of<padded>>(); }
TEST_CASE("means of windows with strides and dilation, over blocks") { check<mean_of<dilated>>(); }
TEST_CASE("means of windows of one axis, over blocks") { check<mean_of<rows>>(); }
TEST_CASE("means of windows of three axes, over blocks of planes") { check<mean_of<planes>>(); }
