// labels: none
// bfloat16: rounding, ops, variables, streams and files. tests/run/kernels/half.cpp has conversions in vectors.
#include "../cases/bfloat16.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../../support/elements.hpp"
#include "../../support/temporary_folder.hpp"
#include "../cases/op_checks.hpp"
#include "tilewright/checkpoint/checkpoint.hpp"

using namespace op_cases;
using tw::bfloat16_t;

namespace {

/// A conversion of all bfloat16 numbers, from and to memory.
constexpr void widen_all(Ir& ir) { store("wide", ir.variable(tw::zeros(), {1 << 16}, tw::bfloat16, "all").cast(tw::float32)); }
constexpr void round_all(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {{1 << 16}, tw::float32}));
  store("rounded", x.cast(tw::bfloat16));
}
/// A step of training with all state in bfloat16.
template <tw::DType dtype>
constexpr void descend(Ir& ir) {
  const Tensor x = ir.variable(tw::normal(0, 1), {12, 40}, dtype, "x"),
               weight = ir.variable(tw::normal(0, 0.1), {40, 27}, dtype, "w");
  const Tensor bias = ir.variable(tw::zeros(), {27}, dtype, "b"), first = ir.variable(tw::zeros(), {40, 27}, dtype, "m");
  const Tensor y = ops::gelu(x.matmul(weight) + bias), dw = x.T().matmul(y);
  const Tensor m = ops::accumulate_moving_average_(first, dw, 0.9);
  ops::scaled_add_(weight, m, {.b = -0.01});
  store("y", ops::sum(ops::softmax(y * 0.5).cast(tw::float32), 0));
}

}  // namespace

static_assert(static_cast<float>(bfloat16_t(1.00390625)) == 1 && static_cast<float>(bfloat16_t(1.01171875)) == 1.015625f);
// Doubles and integers are rounded once.
static_assert(bfloat16_t(1.00390625 + 1e-12).bits == 0x3f81 && bfloat16_t(-1.00390625 - 1e-12).bits == 0xbf81);
static_assert(bfloat16_t(1e300).bits == 0x7f80 && bfloat16_t(-3.3962e38).bits == 0xff80 && bfloat16_t(3.3961e38).bits == 0x7f7f);
static_assert(bfloat16_t((std::int64_t{1} << 62) + (std::int64_t{1} << 54)).bits == 0x5e80 &&
              bfloat16_t((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1).bits == 0x5e81);
static_assert(bfloat16_t(std::numeric_limits<std::int64_t>::min()).bits == 0xdf00 &&
              bfloat16_t(~std::uint64_t{0}).bits == 0x5f80);
static_assert(bfloat16_t(16842753).bits == 0x4b81 && bfloat16_t(true).bits == 0x3f80 && bfloat16_t(-7).bits == 0xc0e0);

TEST_CASE("bfloat16: all numbers become the floats of the same first half") {
  tw::Session<widen_all> session;
  auto all = xt::xtensor<bfloat16_t, 1>::from_shape({1 << 16});
  for (std::uint32_t i = 0; i < 1 << 16; ++i) all(i) = bfloat16_t::from_bits(static_cast<std::uint16_t>(i));
  session.write_variable_data("all"_s, all);
  const auto wide = session.run()["wide"_s];
  int different = 0;
  for (std::uint32_t i = 0; i < 1 << 16; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(wide(i));
    const bool is_nan = (i & 0x7fff) > 0x7f80;  // the conversion may make it quiet
    different += is_nan ? wide(i) == wide(i) : bits != i << 16;
  }
  CHECK(different == 0);
}
TEST_CASE("bfloat16: floats are rounded as PyTorch rounds them") {
  const auto file = tw::load_safetensors(TILEWRIGHT_REFERENCE_DIR "/state/bfloat16.safetensors");
  const tw::HostTensor& tensor = *file.find("rounded");
  REQUIRE(tensor.spec == tw::TensorSpec{{1 << 16}, tw::bfloat16});
  std::vector<std::uint16_t> expected(1 << 16);
  std::memcpy(expected.data(), tensor.bytes.data(), tensor.bytes.size());
  auto x = xt::xtensor<float, 1>::from_shape({1 << 16});
  for (std::uint32_t i = 0; i < 1 << 16; ++i) x(i) = std::bit_cast<float>(i << 16 | (i % 3 == 0 ? 0x8000 : i * 40503 & 0xffff));
  tw::Session<round_all> session;
  const auto rounded = session.run("x"_s = x)["rounded"_s];
  int different = 0, nans = 0;
  for (std::uint32_t i = 0; i < 1 << 16; ++i) {
    const bool is_nan = (expected[i] & 0x7fff) > 0x7f80;
    nans += is_nan;
    const float single = bfloat16_t(x(i)), in_vector = rounded(i);
    different += is_nan ? single == single || in_vector == in_vector
                        : bfloat16_t(x(i)).bits != expected[i] || rounded(i).bits != expected[i];
  }
  CHECK(different == 0);
  CHECK(nans == 254 + 2);  // and the two infinities' bits with others after them
}

TEST_CASE("bfloat16: ops agree with PyTorch") {
  // PyTorch rounds sums to bfloat16 once, as we do, but some of its gradients more often: 4 roundings of 2^-9
  check_reference<bfloat16_arithmetic, tw::cpu>(0x1p-7);
  check_reference<bfloat16_networks, tw::cpu>(0x1p-7);
  // Means and deviations are kept in bfloat16. In dweight that is for each of 3 rows a part of 2^-9 of a normal number below 3
  // and of its mean, times dy, both below 2.
  check_reference<bfloat16_norm, tw::cpu>(0.04);
  check_reference<bfloat16_attention, tw::cpu>(0.032);  // 8 times the bound of float16 in tests/run/nn/attention.cpp
}
TEST_CASE("the cases of bfloat16 are those of the reference") {
  check_same_cases("ops_bfloat16.txt", {bfloat16_arithmetic, bfloat16_networks, bfloat16_norm, bfloat16_attention});
}

TEST_CASE("bfloat16: is printed with the fewest digits that give it back") {
  const bfloat16_t numbers[] = {bfloat16_t(0.1f), bfloat16_t(-1.5f), bfloat16_t(3.14159f), bfloat16_t(20.f)};
  CHECK(tw::format_tensor(numbers, {4}) == "[ 0.1  -1.5   3.14 20.  ]");
}
TEST_CASE("bfloat16: variables are trained, saved and loaded") {
  const TemporaryFolder folder;
  tw::Session<descend<tw::bfloat16>> session({.seed = 1}), other({.seed = 2});
  session.run();
  for (const auto* name : {"state.safetensors", "state.npz"}) {
    const auto path = folder.path / name;
    if (path.extension() == ".npz") tw::save_npz(path, session.host_tensors());
    else tw::save_safetensors(path, session.host_tensors());
    if (path.extension() == ".npz") other.load_tensors(tw::load_npz(path));
    else other.load_tensors(tw::load_safetensors(path));
    CHECK(elements(other.get_tensor_data("w"_s)) == elements(session.get_tensor_data("w"_s)));
  }
  CHECK(elements(session.run()["y"_s]) == elements(other.run()["y"_s]));
}
