// labels: quick
// Numbers beside tensors, and errors that name a place in a model. Shapes of ops stand in tests/ops.
#include "../../support/op_results.hpp"
#include "../programs/models.hpp"

using tw::DType, tw::Ir, tw::Shape, tw::Tensor, tw::TensorSpec, tw::Text;
namespace ops = tw::ops;
using namespace op_results;

// ---- elementwise: NumPy's broadcasting, equal dtypes
static_assert(result([](Tensor x) { return 1 - (x * 2 + 1) / 3; }, f16(2, 3)) == f16(2, 3), "numbers take the tensor's dtype");
static_assert(result([](Tensor x) { return 2 * x - 1; }, i32(4)) == i32(4));
static_assert(result([](Tensor x) { return -x; }, f32(3)) == f32(3));
constexpr bool a_cast_to_the_same_dtype_is_no_op() {
  Ir ir;
  return ir.create_graph([](Tensor x) { return x.cast(tw::float32); }, f32(2)).op_count() == 0;
}
static_assert(a_cast_to_the_same_dtype_is_no_op());

// ---- negative log-likelihood
constexpr bool loss_and_gradient_have_the_logits_dtype() {
  Ir ir;
  const auto graph = ir.create_graph(
      [](Tensor x, Tensor labels) {
        const auto [loss, gradient] = ops::cross_entropy_with_grad(x, labels);
        return std::pair(loss, gradient);
      },
      f16(8, 10), i32(8));
  return graph.output(0).spec() == f16() && graph.output(1).spec() == f16(8, 10);
}
static_assert(loss_and_gradient_have_the_logits_dtype());
// ---- errors name the place in the model, and only the first is kept
struct Wide : tw::Module<Wide> {
  BOOST_HANA_DEFINE_STRUCT(Wide, (Linear<4>, fc1));
  constexpr Tensor build(Tensor x) {
    const Tensor y = fc1(x);
    return ops::matmul(y, x) + ops::exp(y.cast(tw::int32));
  }
};
struct Deep : tw::Module<Deep> {
  BOOST_HANA_DEFINE_STRUCT(Deep, (Wide, left), (Wide, right));
  constexpr Tensor build(Tensor x) { return left(x.reshape({2, 3})) + right(x); }
};
constexpr Text module_failure(auto module, const TensorSpec& spec) {
  Ir ir(tw::OnError::record);
  tw::create_graph(ir, module, spec);
  return ir.failure();
}
TW_SAME(module_failure(Wide{}, f32(2, 3)), "MatMul: (2, 4) x (2, 3): inner dimensions 4 and 2 differ, in Wide");
TW_SAME(module_failure(Deep{}, f32(6)), "MatMul: (2, 4) x (2, 3): inner dimensions 4 and 2 differ, in Deep/left");
TW_SAME(module_failure(Net{}, f32(5)), "Reshape: (5,) float32 to (-1, 784): a shape of 5 elements expected, in Net");
