// labels: none
// Adapters of linear layers: the formula, computed here in double, and the weights into which they are merged.
#include "tilewright/layers/lora.hpp"

#include <cmath>

#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor;
using namespace tw::literals;
namespace layers = tw::layers;

constexpr int rows = 3, in = 5, out = 4, rank = 2;
constexpr double alpha = 3;
using Layer = layers::LoraLinear<out, rank, {.alpha = alpha}>;

/// The layer's result before its adapter is merged, and after.
constexpr void before_and_after(Ir& ir) {
  const Tensor x = tw::ops::host_load(ir.h2d_stream("x", {rows, in}));
  const auto [factories, layer] = tw::create_graph(ir, Layer{}, x);
  const auto variables = factories.init("fc");
  tw::ops::host_store(ir.d2h_stream("before", {rows, out}), layer.bind(variables).call(x));
  layers::merge_lora(variables, alpha);
  tw::ops::host_store(ir.d2h_stream("after", {rows, out}), layer.bind(variables).call(x));
}

using Matrix = xt::xtensor<float, 2>;
/// Numbers from -1 to 1 without a pattern.
Matrix numbers(std::size_t height, std::size_t width, double seed) {
  Matrix result({height, width});
  for (std::size_t i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<float>(std::sin(seed + 7.1 * static_cast<double>(i)));
  return result;
}
double product(const Matrix& a, const auto& b, std::size_t row, std::size_t column) {
  double sum = 0;
  for (std::size_t i = 0; i < a.shape(1); ++i) sum += static_cast<double>(a(row, i)) * static_cast<double>(b(i, column));
  return sum;
}

}  // namespace

TEST_CASE("an adapter adds the scaled product of its matrices, and is merged into the weight") {
  const Matrix x = numbers(rows, in, 1), weight = numbers(in, out, 2), a = numbers(in, rank, 3), b = numbers(rank, out, 4);
  const xt::xtensor<float, 1> bias{0.5F, -1, 2, 0.25F};
  TestSession<before_and_after, tw::cpu> session({.seed = 1});

  // Before training, the adapter changes nothing: B is zeros, and A is not.
  CHECK((session.get_tensor_data("fc.lora_B.weight"_s) == Matrix(xt::zeros<float>({rank, out}))));
  CHECK((session.get_tensor_data("fc.lora_A.weight"_s) != Matrix(xt::zeros<float>({in, rank}))));

  session.write_variable_data("fc.weight"_s, weight);
  session.write_variable_data("fc.bias"_s, bias);
  session.write_variable_data("fc.lora_A.weight"_s, a);
  session.write_variable_data("fc.lora_B.weight"_s, b);
  const auto results = session.run("x"_s = x);
  const Matrix before = results["before"_s], after = results["after"_s];
  const Matrix merged = session.get_tensor_data("fc.weight"_s);
  for (std::size_t column = 0; column < out; ++column) {
    for (std::size_t row = 0; row < in; ++row) {
      const double expected = static_cast<double>(weight(row, column)) + alpha / rank * product(a, b, row, column);
      CHECK(std::abs(static_cast<double>(merged(row, column)) - expected) < 1e-6);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      double expected = product(x, weight, row, column) + static_cast<double>(bias(column));
      for (std::size_t r = 0; r < rank; ++r) expected += alpha / rank * product(x, a, row, r) * static_cast<double>(b(r, column));
      CHECK(std::abs(static_cast<double>(before(row, column)) - expected) < 3e-6);
      CHECK(std::abs(static_cast<double>(after(row, column)) - expected) < 3e-6);
    }
  }
  CHECK((session.get_tensor_data("fc.lora_B.weight"_s) == Matrix(xt::zeros<float>({rank, out}))));
}
