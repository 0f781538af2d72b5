// labels: none
// What a query of attention does not see does not reach its result or gradient, infinities and NaN included: later values of
// causal attention, those before a window, and keys that a mask hides.
#include <cmath>
#include <limits>

#include "../../catch.hpp"
#include "../../support/reference.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;

namespace {

constexpr std::int64_t width = 16;

constexpr void store(tw::Ir& ir, std::string_view name, tw::Tensor y) {
  ops::host_store(ir.d2h_stream(name, {y.shape(), tw::float32}), y.cast(tw::float32));
}

enum class Hides { later, far, masked };

/// Query i sees keys (i - window, i], or all keys but the masked one.
template <Hides hides, std::int64_t queries, std::int64_t keys, tw::DType dtype>
constexpr void program(tw::Ir& ir) {
  const auto variable = [&](std::int64_t rows, std::string_view name) {
    return ir.variable(tw::ones(), {1, 1, rows, width}, dtype, name);
  };
  const auto q = variable(queries, "q"), k = variable(keys, "k"), v = variable(keys, "v"), dy = variable(queries, "dy");
  const auto mask = ir.variable(tw::ones(), {1, keys}, tw::boolean, "mask");
  constexpr auto attention = [](tw::Tensor a, tw::Tensor b, tw::Tensor c, tw::Tensor seen) constexpr {
    if constexpr (hides == Hides::masked) return ops::scaled_dot_product_attention(a, b, c, seen);
    else return ops::scaled_dot_product_attention(a, b, c, {.is_causal = true, .window = hides == Hides::far ? 20 : 0});
  };
  const auto graph = ir.create_graph(attention, q.spec(), k.spec(), v.spec(), mask.spec());
  const auto call = tw::call_with_info(graph, {q, k, v, mask});
  const auto info = tw::autodiff(graph);
  const auto gradient_call = tw::call_with_info(info.graph(), {dy}, info.inputs_dict(call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call);
  store(ir, "y", call.outputs()[0]);
  store(ir, "dq", gradients[q]);
  store(ir, "dk", gradients[k]);
  store(ir, "dv", gradients[v]);
}

bool sees(Hides hides, std::int64_t query, std::int64_t key, std::int64_t masked) {
  if (hides == Hides::masked) return key != masked;
  return key <= query && (hides == Hides::later || key > query - 20);
}

/// Makes row `bad` of one input not finite, and looks for rows of results that it reached.
template <Hides hides, std::int64_t queries, std::int64_t keys, tw::DType dtype>
void check() {
  static constexpr auto make = program<hides, queries, keys, dtype>;
  tw::Session<make> session({.threads = 1});
  const std::int64_t masked = keys / 2;
  for (const std::string input : {"q", "k", "v", "dy"})
    for (const double value : {HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
      for (const std::int64_t bad : {masked, std::int64_t{3}}) {
        const bool of_query = input == "q" || input == "dy";
        if (of_query && bad >= queries) continue;
        Values values;
        for (const auto& tensor : session.host_tensors())
          values[std::string(tensor.name)] = std::vector<double>(static_cast<std::size_t>(tensor.spec.nelms()), 0.125);
        values["mask"].assign(static_cast<std::size_t>(keys), 1);
        values["mask"][static_cast<std::size_t>(masked)] = 0;
        for (std::int64_t i = 0; i < width; ++i) values[input][static_cast<std::size_t>(bad * width + i)] = value;
        write_variables(session, values);
        const auto reaches = [&](std::int64_t query, std::int64_t key) { return sees(hides, query, key, masked); };
        for (const auto& [name, elements] : run(session)) {
          const bool row_is_query = name == "y" || name == "dq";
          for (std::int64_t row = 0; row < (row_is_query ? queries : keys); ++row) {
            // what is not finite reaches queries that see it, and from these, keys that they see
            bool reached = false;
            for (std::int64_t query = 0; query < queries; ++query) {
              const bool is_bad = of_query ? query == bad : reaches(query, bad);
              reached = reached || (is_bad && (row_is_query ? query == row : reaches(query, row)));
            }
            if (reached) continue;
            for (std::int64_t i = 0; i < width; ++i) {
              INFO(input << "[" << bad << "] = " << value << ", " << name << "[" << row << "]");
              REQUIRE(std::isfinite(elements[static_cast<std::size_t>(row * width + i)]));
            }
          }
        }
      }
}

}  // namespace

TEST_CASE("later values do not reach earlier queries") {
  check<Hides::later, 96, 96, tw::float32>();
  check<Hides::later, 37, 37, tw::bfloat16>();
}
TEST_CASE("nor do those before the window") { check<Hides::far, 96, 96, tw::float32>(); }
TEST_CASE("nor what a mask hides") {
  check<Hides::masked, 40, 70, tw::float32>();
  check<Hides::masked, 1, 70, tw::float32>();
}
