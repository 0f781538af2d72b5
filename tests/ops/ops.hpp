#pragma once
// The list of this folder.
#include "collective/collectives.hpp"
#include "elementwise/arithmetic.hpp"
#include "elementwise/cast.hpp"
#include "elementwise/clip.hpp"
#include "elementwise/comparison.hpp"
#include "elementwise/exponential.hpp"
#include "elementwise/extremes.hpp"
#include "elementwise/float_class.hpp"
#include "elementwise/gelu.hpp"
#include "elementwise/hyperbolic.hpp"
#include "elementwise/increment_mod.hpp"
#include "elementwise/logical.hpp"
#include "elementwise/power.hpp"
#include "elementwise/relu.hpp"
#include "elementwise/rounding.hpp"
#include "elementwise/scaled_add.hpp"
#include "elementwise/sigmoid.hpp"
#include "elementwise/sign.hpp"
#include "elementwise/sine.hpp"
#include "elementwise/trigonometry.hpp"
#include "elementwise/where.hpp"
#include "index/dynamic_slice.hpp"
#include "index/gather.hpp"
#include "index/onehot.hpp"
#include "index/scatter.hpp"
#include "linear/conv.hpp"
#include "linear/conv_transpose.hpp"
#include "linear/float8.hpp"
#include "linear/matmul.hpp"
#include "linear/solve.hpp"
#include "memory/transfers.hpp"
#include "nn/attention.hpp"
#include "nn/batch_norm.hpp"
#include "nn/cross_entropy.hpp"
#include "nn/grid_sample.hpp"
#include "nn/interpolate.hpp"
#include "nn/losses.hpp"
#include "nn/nll_loss.hpp"
#include "nn/norms.hpp"
#include "nn/pool.hpp"
#include "nn/roi_align.hpp"
#include "nn/softmax.hpp"
#include "random/random.hpp"
#include "reduce/linear_recurrence.hpp"
#include "reduce/lines.hpp"
#include "reduce/norms_of_lines.hpp"
#include "reduce/selection.hpp"
#include "reduce/sums.hpp"
#include "shape/concat.hpp"
#include "shape/init.hpp"
#include "shape/slice.hpp"
#include "shape/triangle.hpp"
#include "shape/views.hpp"
#include "update/accumulate.hpp"
#include "update/adam.hpp"

namespace op_tests {

/// Calls f(test) for each test of an op.
template <class F>
constexpr void for_each(F&& f) {
  const auto of_each = [&]<class... Test>() { (f(Test()), ...); };
  of_each.template
  operator()<Abs, Add, And, Ceil, Clip, Cos, Div, Equal, Exp, Floor, Fmod, Gelu, GeluErf, Greater, GreaterEqual, Identity,
             IncrementMod, IsFinite, IsInf, IsNaN, L1, L2, Less, LessEqual, Log, Log2, LogSum, LogSumExp, Maximum, Mean, Median,
             Minimum, Mul, Negate, Not, NotEqual, Or, Pow, PowNumber, Prod, ReduceMax, ReduceMin, Relu, Round, Sigmoid, Sign, Sin,
             Softplus, Sqrt, Sub, Sum, SumSquare, Swish, Tanh, Triangle, Tan, Asin, Acos, Atan, Atan2, Atan2Grad, Hypot,
             HypotGrad, Sinh, Cosh, Erf, Expm1, Log1p, Rsqrt, GridSample, Interpolate, Cholesky, SolveTriangular, Solve, Where,
             ScaledAdd, Cast, ArgMax, CumSum, LinearRecurrence, TopK, Histogram, Softmax, Reshape, Transpose, Detach, Expand,
             Slice, Squeeze, Diagonal, Concat, Init, Gather, Scatter, ScatterReduce, SparseAccumulate, DynamicSlice, OneHot,
             RandomUniform, RandomNormal, Dropout, ShapedDropout, CreateRandomSeed, MatMul, Conv, ConvTranspose,
             Pow2ScaleThenCast, CastThenPow2Scale, MatMulPow2Scaled, ConvPow2Scaled, MaxPool, AveragePool, Norms, BatchNorm,
             RoiAlign, NllLoss, CrossEntropy, BinaryCrossEntropy, Losses, Attention, Accumulate, AccumulatorScale, CopyVarUpdate,
             Adam, LambSquare, AdamVarUpdate, Collectives, HostTransfers, RemoteTransfers, TileTransfers, PrintTensor>();
}

}  // namespace op_tests
