// labels: none
// Sums of float16, where the target asks for them, on the host and in strict mode. tests/reference/make_rounded_sums.py prints
// the numbers that are expected: NumPy rounds its sums after each 16 products.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../../catch.hpp"
#include "tilewright/execute/strict_executor.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace ops = tilewright::ops;
using namespace tw::literals;

namespace {

using tw::Ir, tw::Tensor;

/// Stores the result of a function of two tensors of float16, and the gradients of both for a given gradient of the result.
constexpr void with_gradients(Ir& ir, std::string_view name, auto function, const tw::Shape& a_shape, const tw::Shape& b_shape,
                              const tw::Shape& dy_shape) {
  const auto load = [&](std::string_view part, const tw::Shape& shape) {
    return ops::host_load(ir.h2d_stream(tw::text(name, " ", part).view(), shape)).cast(tw::float16);
  };
  const auto store = [&](std::string_view part, Tensor x) {
    ops::host_store(ir.d2h_stream(tw::text(name, " ", part).view(), x.shape()), x.cast(tw::float32));
  };
  const Tensor a = load("a", a_shape), b = load("b", b_shape), dy = load("dy", dy_shape);
  const auto forward = ir.create_graph(function, a, b);
  const auto call = tw::call_with_info(forward, {a, b});
  const auto backward = tw::autodiff(forward);
  const auto [da, db] = tw::call(backward.graph(), dy, backward.inputs_dict(call)).template as<2>();
  store("y", call.output(0)), store("da", da), store("db", db);
}
constexpr void program(Ir& ir) {
  with_gradients(ir, "product", [](Tensor a, Tensor b) { return a.matmul(b); }, {5, 200}, {200, 40}, {5, 40});
  with_gradients(ir, "conv", [](Tensor x, Tensor w) { return ops::conv(x, w, {.padding = {1, 1, 1, 1}}); }, {2, 20, 4, 5},
                 {18, 20, 3, 3}, {2, 18, 4, 5});
  const Tensor a = ops::host_load(ir.h2d_stream("a", {5, 200})).cast(tw::float16);
  const Tensor b = ops::host_load(ir.h2d_stream("b", {200, 40})).cast(tw::float16);
  const Tensor dy = ops::host_load(ir.h2d_stream("dy", {2, 18, 4, 5})).cast(tw::float16);
  const Tensor w = ops::host_load(ir.h2d_stream("w", {18, 20, 3, 3})).cast(tw::float16);
  const Tensor transposed = ops::conv_transpose(dy, w, {.padding = {1, 1, 1, 1}});
  ops::host_store(ir.d2h_stream("transposed", {2, 20, 4, 5}), transposed.cast(tw::float32));
  ops::host_store(ir.d2h_stream("epilogue", {5, 40}), ops::relu(a.matmul(b)).cast(tw::float32));
  ops::host_store(ir.d2h_stream("float32", {5, 40}), ops::matmul(a, b, {.partials_type = tw::float32}).cast(tw::float32));
}
/// Element i: (step i mod modulus - modulus / 2) / 8.
template <std::size_t rank>
xt::xtensor<float, rank> eighths(const std::size_t (&shape)[rank], std::int64_t step, std::int64_t modulus) {
  auto result = xt::xtensor<float, rank>::from_shape(std::to_array(shape));
  std::int64_t i = 0;
  for (float& element : result) element = static_cast<float>(i++ * step % modulus - modulus / 2) / 8;
  return result;
}
double checksum(const auto& x) {
  double sum = 0;
  std::int64_t i = 0;
  for (const float element : x) sum += static_cast<double>(element) * static_cast<double>(i++ % 97 + 1);
  return sum;
}
template <tw::Target target>
void check(bool strict) {
  tw::Session<program, target> session({.threads = 1, .strict = strict});
  const auto a = eighths({5, 200}, 7, 61), b = eighths({200, 40}, 11, 53);
  const auto w = eighths({18, 20, 3, 3}, 11, 53), dy = eighths({2, 18, 4, 5}, 5, 31);
  const auto results = session.run("product a"_s = a, "product b"_s = b, "product dy"_s = eighths({5, 40}, 5, 31),
                                   "conv a"_s = eighths({2, 20, 4, 5}, 7, 61), "conv b"_s = w, "conv dy"_s = dy, "a"_s = a,
                                   "b"_s = b, "dy"_s = dy, "w"_s = w);
  CHECK(checksum(results["product y"_s]) == 5039.875);
  CHECK(checksum(results["product da"_s]) == -2822.546875);
  CHECK(checksum(results["product db"_s]) == 459.921875);
  CHECK(checksum(results["epilogue"_s]) == 202751.203125);
  CHECK(checksum(results["float32"_s]) == 5035.8125);
  CHECK(checksum(results["conv y"_s]) == -7861.375);
  CHECK(checksum(results["conv da"_s]) == 10012.0);
  CHECK(checksum(results["conv db"_s]) == -11159.453125);
  CHECK(checksum(results["transposed"_s]) == 10012.0);  // the same sums as the gradient of the data
}

}  // namespace

TEST_CASE("products and convolutions round their sums to float16 on the host") {
  check<tw::cpu.with_tiles(1).with_partials_type(tw::float16)>(false);
}
TEST_CASE("sums of other dtypes are an error") {
  CHECK_THROWS_WITH(tw::cpu.with_partials_type(tw::bfloat16),
                    "with_partials_type: another dtype than float16 and float32: one of these expected");
}
TEST_CASE("products and convolutions round their sums to float16 on one tile in strict mode") {
  check<tw::ipu_model.with_tiles(1).with_partials_type(tw::float16)>(true);
}
