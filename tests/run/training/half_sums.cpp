// labels: none
// Sums of unknown many numbers of half precision are rounded once: gradients of rows, of loops, of micro-batches and of tensors
// that are used often, and scattered sums.
#include <string_view>

#include "../../catch.hpp"
#include "../../support/reference.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

namespace {

constexpr void store(tw::Ir& ir, std::string_view name, Tensor y) {
  ops::host_store(ir.d2h_stream(name, y.spec()), ops::cast(y, y.dtype()));
}
/// Stores the gradient of f's input 0, a variable of ones, for a dy of ones.
template <class F, class... Inputs>
constexpr void store_gradient(tw::Ir& ir, std::string_view name, F f, const tw::TensorSpec& spec, const Inputs&... others) {
  const Tensor x = ir.variable(tw::ones(), spec.shape, spec.dtype, tw::text(name, " x").view());
  const auto graph = ir.create_graph(f, x, others...);
  const auto call = tw::call_with_info(graph, {x, others...});
  const auto info = tw::autodiff(graph);
  const Tensor y = call.output(0);
  const auto gradient_call = tw::call_with_info(info.graph(), {ir.constant(tw::ones(), y.shape(), y.dtype())},
                                                info.inputs_dict(call));
  store(ir, name, ops::cast(info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call)[x], tw::float32));
}

constexpr int many = 4096;
constexpr Tensor rows(Tensor table, Tensor indices) { return ops::gather(table, indices); }
constexpr Tensor tied_rows(Tensor table, Tensor indices) { return ops::tied_gather(table, indices); }
constexpr Tensor used_often(Tensor x) {  // 1 + 12 / 256 + 1: after each rounding to bfloat16, 2
  Tensor y = x * 1;
  for (int i = 0; i < 12; ++i) y = y + x * 0x1p-8;
  return y + x * 1;
}
/// x, added to a state `many` times.
constexpr Tensor looped(Tensor x) {
  tw::Ir& ir = x.ir();
  const auto body = ir.create_graph([](Tensor state, Tensor term) { return state + term; }, x.spec(), x.spec());
  return tw::repeat(body, many, {x * 0, x})[0];
}

template <tw::DType dtype>
constexpr void sums(tw::Ir& ir) {
  const Tensor indices = ir.variable(tw::zeros(), {many}, tw::int32, "indices");
  store_gradient(ir, "rows", rows, {{2, 3}, dtype}, indices);
  store_gradient(ir, "tied rows", tied_rows, {{2, 3}, dtype}, indices);
  store_gradient(ir, "loop", looped, {{3}, dtype});
  store_gradient(ir, "used often", used_often, {{3}, dtype});
  const Tensor ones = ir.variable(tw::ones(), {many, 3}, dtype, "ones");
  store(ir, "scattered", ops::scatter_reduce(ones, indices, tw::ScatterReduction::sum, {.axis_size = 2}).cast(tw::float32));
  const Tensor initial = ir.variable(tw::ones(), {2, 3}, dtype, "initial");
  store(ir, "scattered to ones",
        ops::scatter_reduce(ones, indices, tw::ScatterReduction::sum, {.initial_values = initial}).cast(tw::float32));
  store_gradient(
      ir, "largest of equal ones",
      [](Tensor x, Tensor at) { return ops::scatter_reduce(x, at, tw::ScatterReduction::max, {.axis_size = 2}) * 4096; },
      {{many, 1}, dtype}, indices);
}
template <tw::DType dtype, tw::Target target = tw::cpu>
void check_sums(double epsilon, int threads) {
  tw::Session<sums<dtype>, target> session({.threads = threads});
  const auto near = [epsilon](double x, double expected) { return std::abs(x - expected) <= epsilon * std::abs(expected); };
  for (const auto& [name, elements] : run(session)) {
    const bool is_table = name.starts_with("scattered") || name.ends_with("rows");
    for (std::size_t i = 0; i < elements.size(); ++i) {
      double expected = name == "used often" ? 2 + 12 * 0x1p-8 : name == "largest of equal ones" ? 1 : many;
      if (is_table) expected = (i < 3 ? many : 0) + (name == "scattered to ones");
      INFO(name << "[" << i << "]: " << elements[i] << ", " << expected << " expected");
      CHECK(near(elements[i], expected));
    }
  }
}

}  // namespace

TEST_CASE("sums of halves are rounded once on the host") {
  for (const int threads : {1, 3}) {
    check_sums<tw::float16>(0x1p-11, threads);
    check_sums<tw::bfloat16>(0x1p-8, threads);
  }
}
TEST_CASE("and on tiles of a simulated IPU") { check_sums<tw::float16, tw::ipu_model.with_tiles(3)>(0x1p-11, 1); }
