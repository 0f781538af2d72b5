// labels: none
// Attention with sums of float16, where the target or the op asks for them, on the host and in strict mode.
// tests/reference/make_rounded_attention.py computes what is expected: NumPy rounds sums after each 16 products.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/reference.hpp"
#include "tilewright/execute/strict_executor.hpp"

namespace tw = tilewright;
namespace ops = tilewright::ops;
using namespace tw::literals;

namespace {

using tw::Ir, tw::Tensor;

/// Stores attention of float16 and its gradients, for a given gradient of the result.
constexpr void with_gradients(Ir& ir, std::string_view name, const tw::Shape& q_shape, const tw::Shape& k_shape,
                              const tw::AttentionOptions& options) {
  const auto load = [&](std::string_view part, const tw::Shape& shape) {
    return ops::host_load(ir.h2d_stream(tw::text(name, " ", part).view(), shape)).cast(tw::float16);
  };
  const auto store = [&](std::string_view part, Tensor x) {
    ops::host_store(ir.d2h_stream(tw::text(name, " ", part).view(), x.shape()), x.cast(tw::float32));
  };
  const Tensor q = load("q", q_shape), k = load("k", k_shape), v = load("v", k_shape), dy = load("dy", q_shape);
  const auto build = [&](Tensor a, Tensor b, Tensor c) { return ops::scaled_dot_product_attention(a, b, c, options); };
  const auto forward = ir.create_graph(build, q, k, v);
  const auto call = tw::call_with_info(forward, {q, k, v});
  const auto backward = tw::autodiff(forward);
  const auto [dq, dk, dv] = tw::call(backward.graph(), dy, backward.inputs_dict(call)).template as<3>();
  store("y", call.output(0)), store("dq", dq), store("dk", dk), store("dv", dv);
}
template <tw::DType partials, bool is_own>
constexpr void program(Ir& ir) {
  tw::AttentionOptions keys{.scale = 0.0625}, causal{.is_causal = true, .scale = 0.125};
  if (is_own) keys.partials_type = causal.partials_type = partials;
  with_gradients(ir, "keys", {1, 1, 5, 20}, {1, 1, 70, 20}, keys);
  with_gradients(ir, "causal", {1, 1, 36, 20}, {1, 1, 36, 20}, causal);
}

/// Element i: (step i mod modulus - modulus / 2) / 8.
xt::xtensor<float, 4> eighths(const std::array<std::size_t, 4>& shape, std::int64_t step, std::int64_t modulus) {
  auto result = xt::xtensor<float, 4>::from_shape(shape);
  std::int64_t i = 0;
  for (float& element : result) element = static_cast<float>(i++ * step % modulus - modulus / 2) / 8;
  return result;
}
const Values& expected() {
  static const Values values = [] {
    Values read;
    read_reference("rounded_attention.txt", read);
    return read;
  }();
  return values;
}
/// How results agree with the reference. An exponential that is rounded elsewhere may change some elements.
struct Agreement {
  double equal = 1;  ///< smallest share of equal elements of a tensor
  double error = 0;  ///< largest difference of an element, relative to those above 1/4

  void compare(const auto& actual, const std::string& name) {
    const std::vector<double>& values = expected().at(name);
    REQUIRE(actual.size() == values.size());
    std::size_t i = 0, count = 0;
    for (const float element : actual) {
      const auto value = static_cast<float>(static_cast<tw::float16_t>(values[i++]));
      if (value == element) ++count;
      error = std::max(error, static_cast<double>(std::abs(element - value) / std::max(0.25f, std::abs(value))));
    }
    equal = std::min(equal, static_cast<double>(count) / static_cast<double>(values.size()));
  }
};
/// Of all results of the program.
template <tw::DType partials, bool is_own, tw::Target target>
Agreement agreement(bool strict) {
  tw::Session<program<partials, is_own>, target> session({.threads = 1, .strict = strict});
  constexpr std::array<std::size_t, 4> q{1, 1, 5, 20}, k{1, 1, 70, 20}, both{1, 1, 36, 20};
  const auto results = session.run("keys q"_s = eighths(q, 7, 61), "keys k"_s = eighths(k, 11, 53),
                                   "keys v"_s = eighths(k, 5, 47), "keys dy"_s = eighths(q, 5, 31),
                                   "causal q"_s = eighths(both, 7, 61), "causal k"_s = eighths(both, 11, 53),
                                   "causal v"_s = eighths(both, 5, 47), "causal dy"_s = eighths(both, 5, 31));
  Agreement all;
  all.compare(results["keys y"_s], "keys.y"), all.compare(results["causal y"_s], "causal.y");
  all.compare(results["keys dq"_s], "keys.dq"), all.compare(results["causal dq"_s], "causal.dq");
  all.compare(results["keys dk"_s], "keys.dk"), all.compare(results["causal dk"_s], "causal.dk");
  all.compare(results["keys dv"_s], "keys.dv"), all.compare(results["causal dv"_s], "causal.dv");
  return all;
}
void check_rounded(const Agreement& results) {
  CHECK(results.equal > 0.97);
  CHECK(results.error <= 0x1p-9);
}

}  // namespace

TEST_CASE("attention rounds its sums to float16 where the target or the op asks for it") {
  constexpr tw::Target host = tw::cpu.with_tiles(1);
  check_rounded(agreement<tw::float16, false, host.with_partials_type(tw::float16)>(false));
  check_rounded(agreement<tw::float16, true, host>(false));
  CHECK(agreement<tw::float32, true, host.with_partials_type(tw::float16)>(false).equal < 0.8);  // the op's own is stronger
}
TEST_CASE("attention rounds its sums to float16 on one tile in strict mode") {
  check_rounded(agreement<tw::float16, false, tw::ipu_model.with_tiles(1).with_partials_type(tw::float16)>(true));
}
