// labels: none
// Shapes and dtypes of elementwise ops, their gradients' rules in place, and the errors of operands that do not fit.
#include "../../support/op_results.hpp"
#include "../programs/models.hpp"

using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;
using namespace op_results;

namespace {

constexpr Text gradient_failure(auto function, const auto&... specs) {
  return support::failure([&](Ir& ir) { tw::autodiff(ir.create_graph(function, specs...)); });
}

}  // namespace

// ---- results
static_assert(result([](Tensor a, Tensor b) { return a & !b; }, f32(2, 1), i32(3)) == bools(2, 3));
static_assert(result([](Tensor a, Tensor b) { return ops::maximum(a, b, a); }, f32(2, 1), f32(3)) == f32(2, 3));
static_assert(result([](Tensor x) { return ops::maximum(x); }, f32(3)) == f32(3), "the maximum of one is itself");
static_assert(result(ops::mul, f16(2, 3), f32()) == f16(2, 3) && result(ops::mul, f32(1, 1), f16(3)) == f16(1, 3));
TW_SAME(failure(ops::mul, f16(3), f32(3)), "Mul: (3,) float16 and (3,) float32: equal dtypes expected, in graph");
TW_SAME(failure(ops::mul, f32(3), f16()), "Mul: (3,) float32 and () float16: equal dtypes expected, in graph");

// ---- in place
constexpr auto add_ = [](Tensor a, Tensor b) { return a += b; };
TW_SAME(failure(add_, f32(3), f32(2, 3)),
        "AddInplace: (2, 3) float32 into (3,) float32: a result of (3,) float32 expected, in "
        "graph");
TW_SAME(failure([](Tensor x) { return ops::relu_(x.ir().constant({0, 1}, {2})); }, f32(2)),
        "ReluInplace: Tensor[float32 (2,)] is a constant: a tensor that may change in place expected, in graph");
static_assert(result(add_, f32(2, 3), f32(3)) == f32(2, 3));
static_assert(gradient_failure([](Tensor x, Tensor y) { return ops::relu_(x * y); }, f32(2), f32(2)).empty());
static_assert(gradient_failure([](Tensor x) { return ops::gelu_(x); }, f32(2)).empty(), "the caller has the value");
TW_SAME(
    gradient_failure([](Tensor x, Tensor y) { return ops::gelu_(x * y); }, f32(2), f32(2)),
    "autodiff of graph_subgraph(0): a gradient needs Tensor[float32 (2,)], which GeluInplace.101 overwrites: an op that is not "
    "in place expected");
TW_SAME(
    gradient_failure([](Tensor x, Tensor y) { return ops::relu_(ops::exp(x * y)); }, f32(2), f32(2)),
    "autodiff of graph_subgraph(0): a gradient needs Tensor[float32 (2,)], which ReluInplace.102 overwrites: an op that is not "
    "in place expected");
TW_SAME(gradient_failure(
            [](Tensor x, Tensor y) {
              const Tensor product = x * y;
              ops::relu_(product);
              return product + y;
            },
            f32(2), f32(2)),
        "autodiff of graph_subgraph(0): Add.102 reads Tensor[float32 (2,)] after ReluInplace.101 has changed it: the tensor that "
        "this op gave expected");
TW_SAME(gradient_failure(
            [](Tensor x, Tensor y) {
              const Tensor product = x * y;
              ops::relu_(product);
              return product;
            },
            f32(2), f32(2)),
        "autodiff of graph_subgraph(0): a result is Tensor[float32 (2,)] after ReluInplace.101 has changed it: the tensor that "
        "this op gave expected");
TW_SAME(gradient_failure(
            [](Tensor x, Tensor y) {
              const Tensor part = x.reshape({1, 2}) + y;
              ops::accumulate_(part, y);
              return part;
            },
            f32(2), f32(1, 2)),
        "autodiff of graph_subgraph(0): Accumulate.102 changes its input in place: ops that do not expected");
