// labels: none
// Results that are only copied are written where the copies would be, and have the same values there.
#include "tilewright/lower/host/write_through.hpp"

#include <algorithm>

#include "../../support/elements.hpp"
#include "../../support/numbers.hpp"
#include "../../support/same.hpp"

namespace {

using support::load;
using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

/// Two parts of a concatenation, the second with axes in another order than its op has them.
constexpr void parts(Ir& ir) {
  const Tensor x = load(ir, "x", {4, 6, 8}), z = load(ir, "z", {6, 4, 8});
  const Tensor y = ops::concat({ops::exp(x), ops::tanh(z).transpose({1, 0, 2})}, 1);
  store("y", y.reshape({4, 96}).matmul(ir.variable(tw::normal(0, 1), {96, 4}, tw::float32, "w")));
}
/// A result that is copied twice: to other axes, and as a part.
constexpr void copy_of_a_copy(Ir& ir) {
  const Tensor x = load(ir, "x", {4, 6, 8}), z = load(ir, "z", {6, 4, 8});
  const Tensor y = ops::concat({ops::exp(z).transpose({1, 0, 2}).reshape({4, 48}), ops::tanh(x).reshape({4, 48})}, 1);
  store("y", y.matmul(ir.variable(tw::normal(0, 1), {96, 4}, tw::float32, "w")));
}
/// Copies that stay: of a result that something else reads too; of one whose elements would no longer follow each other; into
/// other axes than the result has; of an input.
constexpr void copies_that_stay(Ir& ir) {
  const Tensor x = load(ir, "x", {4, 6, 8}), z = load(ir, "z", {6, 4, 8});
  const Tensor w = ir.variable(tw::normal(0, 1), {8, 8}, tw::float32, "w");
  const Tensor read_twice = ops::exp(x);
  store("read", read_twice);
  store("read twice", ops::concat({read_twice, ops::tanh(x)}, 1).reshape({48, 8}).matmul(w));
  store("columns", ops::exp(x).transpose({0, 2, 1}).reshape({24, 8}).matmul(w));
  store("other axes", ops::exp(z).reshape({2, 3, 4, 8}).transpose({1, 0, 2, 3}).reshape({24, 8}).matmul(w));
  store("input", ops::concat({x, ops::tanh(x)}, 0).reshape({48, 8}).matmul(w));
}
/// Heads of one projection, and the gradient of it.
constexpr void attention(Ir& ir) {
  const Tensor x = load(ir, "x", {2, 16, 3 * 4 * 8}), dy = load(ir, "dy", {2, 16, 4 * 8});
  const auto build = [](Tensor qkv) {
    const Tensor heads = qkv.reshape({2, 16, 12, 8});
    const auto part = [&](int i) { return ops::slice(heads, {4 * i}, {4 * i + 4}, {}, {2}).transpose({0, 2, 1, 3}); };
    const Tensor y = ops::scaled_dot_product_attention(part(0), part(1), part(2), {.is_causal = true});
    return ops::exp(y.transpose({0, 2, 1, 3}).reshape({2, 16, 32}));
  };
  const tw::Graph graph = ir.create_graph(build, x);
  const auto gradient = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, x);
  store("y", call.output(0));
  store("dx", tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)).output(0));
}

/// Copies in a program's plan.
constexpr int copies(auto program, const tw::Target& target = tw::cpu) {
  const tw::Text text = support::plan_text(program, target);
  int count = 0;
  for (std::size_t at = 0; (at = text.view().find("Identity", at)) != std::string_view::npos; ++at) ++count;
  return count;
}
/// How many of them the pass removes.
constexpr int removed(auto program) { return copies(program, tw::cpu.without_fusion()) - copies(program); }
static_assert(removed(parts) == 2 && copies(parts) == 1, "what remains is the store to the host");
static_assert(removed(copy_of_a_copy) == 3 && copies(copy_of_a_copy) == 1);
static_assert(removed(copies_that_stay) == 2, "those of the two tanh, which nothing else reads");
static_assert(copies(copies_that_stay) == 9, "five stores to the host, and four");
static_assert(removed(attention) == 3);

using tw::internal::detail::are_apart;
/// Rows of a part of a matrix of 4 x 8 elements.
constexpr tw::internal::Value part_of_matrix(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  tw::Layout layout = tw::dense_layout({4, 8});
  layout.offset = offset;
  return {tw::internal::StorageId(0), layout, {{rows, columns}}};
}
static_assert(are_apart(part_of_matrix(4, 3, 0), part_of_matrix(4, 5, 3), 32), "columns 0 to 2, and 3 to 7");
static_assert(are_apart(part_of_matrix(1, 8, 24), part_of_matrix(3, 8, 0), 32), "row 3, and rows 0 to 2");
static_assert(!are_apart(part_of_matrix(4, 4, 0), part_of_matrix(4, 5, 3), 32), "both have column 3");
static_assert(!are_apart(part_of_matrix(2, 8, 8), part_of_matrix(3, 8, 0), 32), "both have rows 1 and 2");
static_assert(!are_apart(part_of_matrix(3, 5, 6), part_of_matrix(3, 3, 3), 32), "the first goes on in the next row");

/// All results are the same with the pass and without, bit for bit.
template <auto program>
void check_same(const auto& run) {
  tw::Session<program> with({.threads = 2});
  tw::Session<program, tw::cpu.without_fusion()> without({.threads = 1});
  const auto outputs = run(with);
  const auto expected = run(without);
  const auto results = outputs.host_tensors();
  const auto others = expected.host_tensors();
  REQUIRE(results.size() == others.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    INFO(results[i].name);
    CHECK(std::ranges::equal(results[i].bytes, others[i].bytes));
  }
}

}  // namespace

TEST_CASE("write through: parts of a concatenation have the values of the ops that make them") {
  tw::Session<parts> session({.threads = 1});
  const auto x = numbers<4, 6, 8>(0);
  const auto z = numbers<6, 4, 8>(1);
  const xt::xtensor<float, 2> y = session.run("x"_s = x, "z"_s = z)["y"_s];
  const auto w = session.get_tensor_data("w"_s);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (std::size_t r = 0; r < 12; ++r)
        for (std::size_t c = 0; c < 8; ++c)
          sum += (r < 6 ? std::exp(static_cast<double>(x(i, r, c))) : std::tanh(static_cast<double>(z(r - 6, i, c)))) *
                 static_cast<double>(w(r * 8 + c, j));
      CHECK(std::abs(y(i, j) - sum) <= 1e-4);
    }
}

TEST_CASE("write through: results are the same with copies and without") {
  const auto x = numbers<4, 6, 8>(0);
  const auto z = numbers<6, 4, 8>(1);
  const auto run = [&](auto& session) { return session.run("x"_s = x, "z"_s = z); };
  check_same<parts>(run);
  check_same<copy_of_a_copy>(run);
  check_same<copies_that_stay>(run);
  const auto qkv = numbers<2, 16, 96>(2);
  const auto dy = numbers<2, 16, 32>(3);
  check_same<attention>([&](auto& session) { return session.run("x"_s = qkv, "dy"_s = dy); });
}
