// labels: clang
// Products that one formula reads with axes in another order are written in that order, and have the same values.
#include "tilewright/lower/host/write_as_read.hpp"

#include "../../support/elements.hpp"
#include "../../support/numbers.hpp"

namespace {

using support::load;
using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

/// The gradient of a table of `tokens` rows that embeds tokens and gives logits: of the logits it is a transposed product.
template <int tokens>
constexpr void tied_table(Ir& ir) {
  const Tensor x = load(ir, "x", {24, 40}), dy = load(ir, "dy", {24, tokens}), other = load(ir, "other", {tokens, 40});
  store("dw", other + x.T().matmul(dy).T());
}
/// The same of matrices in a batch, of which each is transposed.
constexpr void batch(Ir& ir) {
  const Tensor a = load(ir, "a", {3, 20, 8}), b = load(ir, "b", {3, 8, 36}), other = load(ir, "other", {3, 36, 20});
  store("y", ops::tanh(a.matmul(b).transpose({0, 2, 1}) * other));
}
/// Few rows and a weight with many, along which the sums are cut: what adds the parts up writes the result.
constexpr void cut_sums(Ir& ir) {
  const Tensor x = load(ir, "x", {8, 512}), w = load(ir, "w", {512, 256}), other = load(ir, "other", {256, 8});
  const Tensor weight = ir.variable(tw::zeros(), {512, 256}, tw::float32, "weight");
  ops::copy_var_update_(weight, w);
  store("y", ops::tanh(x.matmul(weight).T() * other));
}
/// Products that stay as they are: their rows become another axis than their columns; something else reads them, too; a product
/// reads them.
constexpr void products_that_stay(Ir& ir) {
  const Tensor a = load(ir, "a", {3, 20, 8}), b = load(ir, "b", {3, 8, 36});
  store("batch last", ops::tanh(a.matmul(b).transpose({1, 2, 0})));
  const Tensor read_twice = ops::exp(a).matmul(b);
  store("read", read_twice);
  store("read twice", ops::tanh(read_twice.transpose({0, 2, 1})));
  store("product", ops::sin(a).matmul(b).transpose({0, 2, 1}).matmul(ops::cos(a)));
}

/// Products of a program whose results do not lie row by row, after the pass.
int turned(auto program) {
  const auto ir = tw::trace(program);
  int count = 0;
  const auto observe = [&]<class... A>(const A&... a) {
    if constexpr (sizeof...(A) == 4) {
      const auto& [pass, body, draft, plan] = std::tie(a...);
      if (pass != tw::internal::Pass::write_as_read) return;
      for (const tw::internal::Operation& operation : draft.operations) {
        if (operation.is_call() || operation.op != &tw::op_info<tw::MatMul>) continue;
        const tw::internal::Value& result = operation.operands[operation.input_count];
        count += !tw::is_dense(result.spec.shape, result.layout);
      }
    }
  };
  tw::lower(tw::prepare(*ir, tw::cpu), observe);
  return count;
}

}  // namespace

TEST_CASE("write as read: products that only a formula reads") {
  CHECK(turned(tied_table<72>) == 1);
  CHECK(turned(tied_table<40>) == 1);
  CHECK(turned(batch) == 1);
  CHECK(turned(products_that_stay) == 0);
}

TEST_CASE("write as read: the gradient of a tied table, also of a square one") {
  const auto check = [&]<std::size_t tokens>(std::integral_constant<std::size_t, tokens>) {
    const auto x = numbers<24, 40>(0);
    const auto dy = numbers<24, tokens>(1);
    const auto other = numbers<tokens, 40>(2);
    on_all_machines<tied_table<tokens>>([&](auto& session) {
      const xt::xtensor<float, 2> dw = session.run("x"_s = x, "dy"_s = dy, "other"_s = other)["dw"_s];
      for (std::size_t v = 0; v < tokens; ++v)
        for (std::size_t j = 0; j < 40; ++j) {
          double sum = static_cast<double>(other(v, j));
          for (std::size_t i = 0; i < 24; ++i) sum += static_cast<double>(x(i, j)) * static_cast<double>(dy(i, v));
          REQUIRE(std::abs(static_cast<double>(dw(v, j)) - sum) <= 1e-5);
        }
    });
  };
  check(std::integral_constant<std::size_t, 72>{});
  check(std::integral_constant<std::size_t, 40>{});
}

TEST_CASE("write as read: matrices of a batch") {
  const auto a = numbers<3, 20, 8>(0);
  const auto b = numbers<3, 8, 36>(1);
  const auto other = numbers<3, 36, 20>(2);
  on_all_machines<batch>([&](auto& session) {
    const xt::xtensor<float, 3> y = session.run("a"_s = a, "b"_s = b, "other"_s = other)["y"_s];
    for (std::size_t n = 0; n < 3; ++n)
      for (std::size_t i = 0; i < 20; ++i)
        for (std::size_t j = 0; j < 36; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < 8; ++k) sum += static_cast<double>(a(n, i, k)) * static_cast<double>(b(n, k, j));
          REQUIRE(std::abs(static_cast<double>(y(n, j, i)) - std::tanh(sum * static_cast<double>(other(n, j, i)))) <= 1e-5);
        }
  });
}

TEST_CASE("write as read: sums that are cut") {
  const auto x = numbers<8, 512>(0);
  const auto w = numbers<512, 256>(1);
  const auto other = numbers<256, 8>(2);
  on_all_machines<cut_sums>([&](auto& session) {
    const xt::xtensor<float, 2> y = session.run("x"_s = x, "w"_s = w, "other"_s = other)["y"_s];
    for (std::size_t j = 0; j < 256; ++j)
      for (std::size_t i = 0; i < 8; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < 512; ++k) sum += static_cast<double>(x(i, k)) * static_cast<double>(w(k, j));
        REQUIRE(std::abs(static_cast<double>(y(j, i)) - std::tanh(sum * static_cast<double>(other(j, i)))) <= 1e-4);
      }
  });
}
