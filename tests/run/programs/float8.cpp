// labels: asan strict tsan
// float8: every code and rounding on the host, its ops on all machines, streams, variables and files. Groups of 4 bits.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "../../support/elements.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/checkpoint/checkpoint.hpp"

namespace ops = tw::ops;
using tw::Ir, tw::Shape, tw::Tensor;
using F143 = tw::float8_143_t;
using F152 = tw::float8_152_t;

namespace {

/// The number of a code, as the paper of the formats has it.
double number_of(int code, int mantissa_bits, int bias) {
  if (code == 0x80) return NAN;
  const int exponent = (code & 0x7f) >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return code >= 0x80 ? -size : size;
}

template <class F>
void check_codes(int mantissa_bits, int bias) {
  for (int code = 0; code < 256; ++code) {
    INFO(code);
    const auto number = number_of(code, mantissa_bits, bias);
    const F element = F::from_bits(static_cast<std::uint8_t>(code));
    if (code == 0x80) {
      CHECK(std::isnan(static_cast<float>(element)));
      CHECK(F(NAN) == element);
      continue;
    }
    CHECK(static_cast<double>(element) == number);
    CHECK(static_cast<float>(element) == static_cast<float>(number));
    CHECK(F(number) == element);
    CHECK(F(static_cast<float>(number)) == element);
    CHECK(F(static_cast<tw::float16_t>(number)) == element);
    if (code % 128 == 127) continue;
    const double next = number_of(code + 1, mantissa_bits, bias), middle = (number + next) / 2;
    if (std::isnan(next)) continue;
    const F even = code % 2 == 0 ? element : F(next);
    CHECK(F(middle) == even);
    CHECK(F(static_cast<float>(middle)) == even);
    CHECK(F(std::nextafter(middle, number)) == element);
    CHECK(F(std::nextafter(static_cast<float>(middle), static_cast<float>(number))) == element);
    CHECK(F(std::nextafter(middle, next)) == F(next));
    CHECK(F(std::nextafter(static_cast<float>(middle), static_cast<float>(next))) == F(next));
  }
  const double largest = number_of(0x7f, mantissa_bits, bias), unit = largest - number_of(0x7e, mantissa_bits, bias);
  for (const double sign : {1.0, -1.0}) {
    const std::uint8_t end = sign > 0 ? 0x7f : 0xff;
    CHECK(F(sign * std::nextafter(largest + unit / 2, 0)).bits == end);
    for (const double beyond : {largest + unit / 2, largest + unit, 1e30, 1e300}) {
      CHECK(F(sign * beyond).bits == 0x80);
      CHECK(F::nearest(sign * beyond, false).bits == end);
      CHECK(F::nearest(sign * INFINITY, false).bits == 0x80);
    }
    for (const double tiny : {0.0, 1e-300, 1e-40, number_of(1, mantissa_bits, bias) / 2}) CHECK(F(sign * tiny).bits == 0);
    CHECK(F(static_cast<float>(sign * 1e-40)).bits == 0);
  }
}

std::string error_of(const auto& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
template <class Array>
std::vector<double> numbers(const Array& array) {
  std::vector<double> result;
  for (const auto element : array) result.push_back(static_cast<double>(element));
  return result;
}
std::vector<double> codes_of(const auto& array) {
  std::vector<double> result;
  for (const auto element : array) result.push_back(element.bits);
  return result;
}

constexpr void program(Ir& ir) {
  const Tensor x = support::load(ir, "x", {3, 37}), log2_scale = support::load(ir, "log2_scale", {}, tw::int32);
  const Tensor a = ops::pow2scale_then_cast(x, log2_scale, tw::float8_143);
  const Tensor b = ops::pow2scale_then_cast(x.cast(tw::float64), 2, tw::float8_152);
  store("a", a);
  store("b", b);
  store("b_transposed", b.T());
  store("a_row", ops::identity(a.reshape({37, 3})));
  store("a_back", ops::cast_then_pow2scale(a, -1, tw::float32));
  store("b_back", ops::cast_then_pow2scale(b, log2_scale, tw::float16));
  store("product", ops::matmul_pow2scaled(a, b.T(), ir.constant(-2, tw::int32)));
  const Tensor w = ir.variable(tw::values({1, -0.5, 0.3, 240}), {1, 1, 2, 2}, tw::float8_143, "w");
  const Tensor codes = support::load(ir, "codes", {2, 1, 4, 3}, tw::float8_152);
  store("conv", ops::conv_pow2scaled(codes, w, -3, {.stride = {1, 2}, .padding = {1, 0, 1, 0}}));
  store("transposed", ops::conv_transpose_pow2scaled(codes, w, 2, {.stride = {2, 2}, .output_padding = {1, 0}}));
  store("joined", ops::concat({ops::slice(a, {}, {}, 2), a}));
  store("vectors", ops::matmul_pow2scaled(ops::slice(a, 1, 2).flatten(), ops::slice(a, 1, 2).flatten(), -6));
  store("gathered", ops::gather(b, ir.constant({2, 7, 0}, {3}, tw::int32), 0, {.zero_OOR = true}));
  store("updated", ops::dynamic_update(b, ir.constant({1}, {1}, tw::int32),
                                       ops::dynamic_slice(b, ir.constant({0}, {1}, tw::int32), {0}, {2}), {0}, {2}));
  ops::copy_var_update_(w, ir.constant({2, 4, 1, 0.01}, {1, 1, 2, 2}, tw::float8_143));
}

constexpr void scales(Ir& ir) {
  const Tensor x = ops::host_load(ir, "x", {4});
  ops::host_store("of_143", ops::fp8_amax_scale(x, tw::float8_143));
  ops::host_store("of_152", ops::fp8_amax_scale(x, tw::float8_152));
}

/// Groups of 8 of 2 rows of 16, in 4 bits an element.
template <tw::DType dtype>
constexpr void groups_of_8(Ir& ir) {
  const tw::GroupQuantized quantized = ops::group_quantize_compress(ops::host_load(ir, "x", {2, 16}).cast(dtype), 8);
  ops::host_store("codes", quantized.codes);
  ops::host_store("scale", quantized.scale.cast(tw::float32));
  ops::host_store("bias", quantized.bias.cast(tw::float32));
  ops::host_store("again", ops::group_quantize_decompress(quantized).cast(tw::float32));
}
/// Compares the codes, scales and elements of groups with those of plain loops; `digits` are the binary ones of the dtype.
template <tw::DType dtype>
void check_groups(int digits) {
  tw::Session<groups_of_8<dtype>> session;
  xt::xtensor<float, 2> x({2, 16});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 37 % 64) / 16 - 1;  // exact in both dtypes
  for (std::size_t i = 0; i < 8; ++i) x(1, i) = -0.75f;                                               // one value
  const auto outputs = session.run("x"_s = x);
  CHECK((outputs["codes"_s].shape()[0] == 2 && outputs["codes"_s].shape()[1] == 4));
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t group = 0; group < 2; ++group) {
      const float* const first = &x(row, 8 * group);
      const auto [least, most] = std::minmax_element(first, first + 8);
      const double scale = static_cast<double>(outputs["scale"_s](row, group)), exact = (*most - *least) / 15.0;
      CHECK(std::abs(scale - exact) <= std::ldexp(exact, -digits));
      CHECK(outputs["bias"_s](row, group) == *least);
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t at = 8 * group + i;
        CAPTURE(row, at);
        const int code = outputs["codes"_s](row, at / 4) >> 4 * (at % 4) & 15;
        CHECK(code == (scale > 0 ? std::min(15, static_cast<int>(std::floor((first[i] - *least) / scale + 0.5))) : 0));
        const double again = static_cast<double>(outputs["again"_s](row, at));
        CHECK(std::abs(again - (code * scale + *least)) <= std::ldexp(4, -digits));
        CHECK(std::abs(again - first[i]) <= scale / 2 + std::ldexp(4, -digits));
      }
    }
}

template <class Session>
void check_ops(Session& session) {
  xt::xtensor<float, 2> x({3, 37});
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = std::ldexp(static_cast<float>(i % 23) - 11.3f, static_cast<int>(i % 7) - 4);
  x(2, 36) = 1e9f;
  xt::xtensor<std::uint8_t, 4> codes({2, 1, 4, 3});
  for (std::size_t i = 0; i < codes.size(); ++i) codes.data()[i] = static_cast<std::uint8_t>(i % 2 == 0 ? 50 + i : 190 - i);
  const std::int32_t scale = 1;
  const auto outputs = session.run("x"_s = x, "log2_scale"_s = scale, "codes"_s = codes);

  const auto a = tw::host_pow2scale_then_cast<tw::float8_143>(x, scale);
  const auto b = tw::host_pow2scale_then_cast<tw::float8_152>(x, 2);
  CHECK(codes_of(outputs["a"_s]) == codes_of(a));
  CHECK(codes_of(outputs["a_row"_s]) == codes_of(a));
  CHECK(codes_of(outputs["b"_s]) == codes_of(b));
  CHECK(a(2, 36).bits == 0x80);
  CHECK(outputs["b_transposed"_s](36, 2).bits == 0x80);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 37; ++j) CHECK(outputs["b_transposed"_s](j, i) == b(i, j));
  const auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 37; ++j) {
      INFO(i << ", " << j);
      CHECK(same(outputs["a_back"_s](i, j), static_cast<double>(a(i, j)) / 2));
      CHECK(same(static_cast<double>(outputs["b_back"_s](i, j)),
                 static_cast<double>(static_cast<tw::float16_t>(static_cast<double>(b(i, j)) * 2))));
    }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0, size = 0;  // of the terms, whose sums in float32 are rounded
      for (std::size_t k = 0; k < 37; ++k) {
        const double term = static_cast<double>(a(i, k)) * static_cast<double>(b(j, k)) / 4;
        sum += term;
        size += std::abs(term);
      }
      const double product = static_cast<double>(outputs["product"_s](i, j));
      INFO(i << ", " << j << ": " << product << ", " << sum);
      if (i == 2 || j == 2) CHECK(std::isnan(product));
      else CHECK(std::abs(product - sum) <= std::abs(sum) * 0x1p-11 + size * 0x1p-20);  // half precision of the result
    }
  const double w[2][2] = {{1, -0.5}, {0.3125, 240}};
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t h = 0; h < 5; ++h) {
      double sum = 0;
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 2; ++j)
          if (h + i >= 1 && h + i <= 4) sum += w[i][j] * static_cast<double>(F152::from_bits(codes(n, 0, h + i - 1, j)));
      const double result = static_cast<double>(outputs["conv"_s](n, 0, h, 0));
      INFO(n << ", " << h << ": " << result << ", " << sum / 8);
      CHECK(std::abs(result - sum / 8) <= std::abs(sum) / 8 * 0x1p-10);
    }
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t h = 0; h < 9; ++h)
      for (std::size_t v = 0; v < 6; ++v) {
        const double number = h / 2 < 4 ? static_cast<double>(F152::from_bits(codes(n, 0, h / 2, v / 2))) : 0;
        const auto result = outputs["transposed"_s](n, 0, h, v);
        INFO(n << ", " << h << ", " << v);
        CHECK(result == static_cast<tw::float16_t>(number * w[h % 2][v % 2] * 4));
      }
  const auto joined = codes_of(a);
  std::vector<double> expected(joined.begin(), joined.begin() + 37);
  expected.insert(expected.end(), joined.begin() + 2 * 37, joined.end());
  expected.insert(expected.end(), joined.begin(), joined.end());
  CHECK(codes_of(outputs["joined"_s]) == expected);
  const auto rows = codes_of(b);
  for (std::size_t i = 0; i < 37; ++i) {
    INFO(i);
    CHECK(outputs["gathered"_s](0, i).bits == rows[2 * 37 + i]);
    CHECK(outputs["gathered"_s](1, i).bits == 0);
    CHECK(outputs["gathered"_s](2, i).bits == rows[i]);
    CHECK(outputs["updated"_s](0, i).bits == rows[i]);
    CHECK(outputs["updated"_s](1, i).bits == rows[i]);
    CHECK(outputs["updated"_s](2, i).bits == rows[37 + i]);
  }
  double squares = 0;
  for (std::size_t i = 0; i < 37; ++i) squares += static_cast<double>(a(1, i)) * static_cast<double>(a(1, i)) / 64;
  CHECK(std::abs(static_cast<double>(outputs["vectors"_s]()) - squares) <= squares * 0x1p-10);
  CHECK(numbers(session.get_tensor_data("w"_s)) == std::vector<double>{2, 4, 1, 0.009765625});

  for (const std::int32_t wrong : {32, -33, INT32_MAX}) {
    const auto run = [&] { session.run("x"_s = x, "log2_scale"_s = wrong, "codes"_s = codes); };
    CHECK(has(error_of(run), "log2_scale " + std::to_string(wrong) + ": a whole number from -32 to 31 expected"));
  }
  CHECK(codes_of(session.run("x"_s = x, "log2_scale"_s = scale, "codes"_s = codes)["a"_s]) == codes_of(a));
}

}  // namespace

TEST_CASE("float8: every code is its number, and numbers round to the nearest, ties to even") {
  check_codes<F143>(3, 8);
  check_codes<F152>(2, 16);
}
TEST_CASE("float8: the host converts arrays of all kinds, when compiled, too") {
  static_assert(tw::host_pow2scale_then_cast<tw::float8_143>(0.75).bits == 0x3c);
  static_assert(tw::host_pow2scale_then_cast<tw::float8_143>(0.75f, -2).bits == 0x2c);
  static_assert(tw::host_pow2scale_then_cast<tw::float8_143>(0.75f, 1).bits == 0x44);
  static_assert(tw::host_pow2scale_then_cast<tw::float8_152>(0.25).bits == 0x38);
  static_assert(tw::host_pow2scale_then_cast<tw::float8_152>(0.25, -3).bits == 0x2c);
  static_assert(tw::host_pow2scale_then_cast<tw::float8_143>(250.0).bits == 0x80);
  static_assert(tw::host_pow2scale_then_cast<tw::float8_152>(70000.0, 0, false).bits == 0x7f);
  static_assert(tw::host_cast_then_pow2scale<tw::float64>(F152::from_bits(1), 17) == 1);
  static_assert(tw::host_pow2scale_then_cast<tw::float8_152>(std::array{1.0, 2.0}, 1)[1].bits == 0x48);

  const float built_in[2][2] = {{1, 2}, {3, 4}};
  CHECK(numbers(tw::host_pow2scale_then_cast<tw::float8_143>(built_in)) == std::vector<double>{1, 2, 3, 4});
  const std::vector<tw::float16_t> halves(3, static_cast<tw::float16_t>(0.5));
  const auto codes = tw::host_pow2scale_then_cast<tw::float8_143>(halves, 3);
  CHECK(numbers(tw::host_cast_then_pow2scale<tw::float16>(codes, -3)) == std::vector<double>(3, 0.5));
  const xt::xtensor<double, 2> matrix = {{1, 2, 3}, {4, 5, 6}};
  const auto small = tw::host_pow2scale_then_cast<tw::float8_152>(matrix);
  CHECK((small.shape(0) == 2 && small.shape(1) == 3 && static_cast<float>(small(1, 2)) == 6));
  CHECK_THROWS_WITH(tw::host_pow2scale_then_cast<tw::float8_143>(1.0, 32),
                    "host_pow2scale_then_cast: log2_scale 32: from -32 to 31 expected");
}
TEST_CASE("float8: ops, streams and variables") {
  SECTION("on a cpu") {
    tw::Session<program> session;
    check_ops(session);
  }
  SECTION("on an IPU") {
    TestSession<program, tw::ipu_model.with_tiles(3)> session({.threads = 2});
    check_ops(session);
  }
}

namespace {
constexpr void weights(Ir& ir) {
  const Tensor w = ir.variable(tw::values({0.1, -0.2, 1e-9, 57344}), {2, 2}, tw::float8_152, "w");
  const Tensor v = ir.variable(tw::full(-1.5), {3}, tw::float8_143, "v");
  ops::host_store(ir.d2h_stream("w_again", {2, 2}, tw::float8_152), ops::print_tensor(w));
  ops::host_store(ir.d2h_stream("v_again", {3}, tw::float8_143), v);
  ops::host_store(ir.d2h_stream("zeros", {3}, tw::float8_143), ops::init(ir, {3}, tw::float8_143));
}
}  // namespace

TEST_CASE("float8: new tensors are zeros") {
  tw::Session<weights> session;
  CHECK(codes_of(session.run()["zeros"_s]) == std::vector<double>(3, 0));
}
TEST_CASE("float8: files hold bytes, the format and log2_scale") {
  tw::Session<weights> session;
  const auto first = codes_of(session.get_tensor_data("w"_s));
  auto variables = session.host_tensors();
  std::vector<tw::HostTensor> tensors(variables.begin(), variables.end());
  tensors[0].log2_scale = -7;
  const TemporaryFolder folder;
  tw::save_safetensors(folder.path / "w.safetensors", tensors);
  tw::save_npz(folder.path / "w.npz", tensors);
  const auto check = [&](const tw::TensorFile& file) {
    REQUIRE(file.tensors().size() == 2);
    CHECK(file.find("w")->spec == tw::TensorSpec{{2, 2}, tw::float8_152});
    CHECK(file.find("w")->log2_scale == -7);
    CHECK(file.find("v")->spec == tw::TensorSpec{{3}, tw::float8_143});
    CHECK(file.find("v")->log2_scale == 0);
    session.write_variable_data("w"_s, xt::xtensor<F152, 2>({2, 2}));
    session.load_tensors(file);
    CHECK(codes_of(session.get_tensor_data("w"_s)) == first);
  };
  check(tw::load_safetensors(folder.path / "w.safetensors"));
  check(tw::load_npz(folder.path / "w.npz"));
  CHECK(tw::load_safetensors(folder.path / "w.safetensors").metadata().get<std::string>("v.float8_format") == "float8_143");

  // bytes without a format are no float8
  tensors[0].spec.dtype = tw::uint8;
  tw::save_safetensors(folder.path / "bytes.safetensors", tensors);
  CHECK(has(error_of([&] { session.load_tensors(tw::load_safetensors(folder.path / "bytes.safetensors")); }),
            "'w': (2, 2) uint8: (2, 2) float8_152 expected"));
}
TEST_CASE("float8: F8_E4M3 and F8_E5M2 of other programs are refused") {
  for (const std::string name : {"F8_E4M3", "F8_E5M2"}) {
    std::string header = R"({"w":{"dtype":")" + name + R"(","shape":[2],"data_offsets":[0,2]}})";
    header.resize(64, ' ');
    std::vector<std::byte> file(8 + header.size() + 2);
    file[0] = std::byte{64};
    std::memcpy(file.data() + 8, header.data(), header.size());
    const std::string error = error_of([&] { tw::parse_safetensors(file, "x"); });
    INFO(error);
    CHECK(has(error, "'w': dtype " + name));
    CHECK(has(error, "of which pow2scale_then_cast makes float8"));
  }
}
namespace {
constexpr void scaled(Ir& ir) {
  ir.variable(tw::pow2scaled(tw::values({0.75, -1, 30}), 2), {3}, tw::float8_143, "values");
  ir.variable(tw::pow2scaled(tw::normal(0, 1), -5), {4096}, tw::float8_152, "random");
  ir.variable(tw::normal(0, 1), {4096}, tw::float64, "unscaled");
  ir.variable(tw::pow2scaled(tw::range(1, 0.5), 4), {5}, tw::float8_143, "range");
  ir.variable(tw::pow2scaled(tw::pow2scaled(tw::ones(), 4), -6), {1}, tw::float8_143, "twice");
  store("constant", ir.constant(tw::pow2scaled(tw::full(0.25), -3), {2}, tw::float8_152));
  store("eye", ir.constant(tw::pow2scaled(tw::eye(3), 1), {2, 2}, tw::float8_152));
}
}  // namespace

TEST_CASE("float8: variables and constants begin with values times a power of 2") {
  tw::Session<scaled> session({.seed = 3});
  CHECK(numbers(session.get_tensor_data("values"_s)) == std::vector<double>{3, -4, 120});
  CHECK(numbers(session.get_tensor_data("range"_s)) == std::vector<double>{16, 24, 32, 40, 48});
  CHECK(numbers(session.get_tensor_data("twice"_s)) == std::vector<double>{0.25});
  const auto random = numbers(session.get_tensor_data("random"_s));
  double squares = 0;
  for (const double number : random) squares += number * number;
  CHECK(std::abs(std::sqrt(squares / 4096) * 32 - 1) < 0.05);  // 4 standard errors; those of rounding are smaller
  const auto outputs = session.run();
  CHECK(codes_of(outputs["constant"_s]) == std::vector<double>{0x2c, 0x2c});
  CHECK(numbers(outputs["eye"_s]) == std::vector<double>{6, 0, 0, 6});
  CHECK_THROWS_WITH(tw::pow2scaled(tw::ones(), 32), "pow2scaled: log2_scale 32: from -32 to 31 expected");
}
TEST_CASE("float8: the scale with the least error") {
  const auto scale_of = [](const auto& array, bool nan_on_overflow = true) {
    return tw::host_fp8_mse_scale<tw::float8_143>(array, nan_on_overflow).log2_scale;
  };
  CHECK(scale_of(std::vector<float>{0, 0}) == 0);
  CHECK(scale_of(std::vector<float>{1, 2, INFINITY, NAN}) == 0);  // exact with many; that nearest to 0
  CHECK(scale_of(std::vector<double>{0x1p-11}) == 1);
  CHECK(scale_of(std::vector<double>{0x1p-12, 0x1.2p-12}) == 5);  // as normal numbers: from 2^-7 on
  CHECK(scale_of(std::vector<double>{250, -1}) == -1);
  CHECK(scale_of(std::vector<double>{1e30}) == 0);  // none that is no NaN
  CHECK(tw::host_fp8_mse_scale<tw::float8_152>(std::vector<tw::float16_t>(9, static_cast<tw::float16_t>(1.125))).error ==
        0.125 * 0.125);
  // 248 is as far from 240, which it may become at most, as from 256, which it is with -1
  std::vector<float> mixed(10'000, 0x1.2p-8f);
  mixed.push_back(248);
  CHECK(scale_of(mixed) == -1);
  CHECK(scale_of(mixed, false) == 0);
  constexpr auto found = tw::host_fp8_mse_scale<tw::float8_152>(std::array{0x1p-18});
  static_assert(found.log2_scale == 1 && found.error == 0);
}
TEST_CASE("float8: the scale of the largest element") {
  tw::Session<scales> session;
  /// The largest scale with which the host's conversion makes no NaN of it, but at least -31 and at most 31.
  const auto largest_scale = []<tw::DType dtype>(double element, std::integral_constant<tw::DType, dtype>) {
    int scale = 31;
    while (scale > -31 && element * std::ldexp(1, scale) > (dtype == tw::float8_143 ? 240 : 57344)) --scale;
    return scale;
  };
  for (const float element :
       {0.f, 1.f, 1.5f, 239.f, 240.f, 241.f, 1e-3f, 0x1p-40f, 0x1.8p-24f, 0x1.fp-25f, 57344.f, 7e4f, 3e38f}) {
    CAPTURE(element);
    const auto outputs = session.run("x"_s = xt::xtensor<float, 1>{element / 4, -element, 0, element / 2});
    CHECK(outputs["of_143"_s]() == largest_scale(element, std::integral_constant<tw::DType, tw::float8_143>()));
    CHECK(outputs["of_152"_s]() == largest_scale(element, std::integral_constant<tw::DType, tw::float8_152>()));
  }
  CHECK(session.run("x"_s = xt::xtensor<float, 1>{1, NAN, 3, 4})["of_143"_s]() == 0);
  CHECK(session.run("x"_s = xt::xtensor<float, 1>{1, -INFINITY, 3, 4})["of_152"_s]() == -31);
}
TEST_CASE("groups of elements in 4 bits") {
  check_groups<tw::float32>(24);
  check_groups<tw::float16>(11);
}
TEST_CASE("float8: elements are printed as numbers") {
  const std::array<F143, 3> elements{F143(0.3), F143(-2), F143(NAN)};
  CHECK(tw::format_tensor(elements.data(), {3}) == "[ 0.3125 -2.         nan]");
}
