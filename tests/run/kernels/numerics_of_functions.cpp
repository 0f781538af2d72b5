// labels: none
// The errors of functions of single elements, in units of the last place of the results' dtype: for every number of float16 and
// bfloat16, and every 1,009th of float32.
#include <array>
#include <bit>
#include <tuple>

#include "../../support/reference.hpp"
#include "numerics.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;

namespace {

/// In units of the last place; 0: the nearest number.
constexpr auto bounds = std::to_array<numerics::Bound>({
    {"exp", 2, 1.54},
    {"log", 1, 0.84},
    {"log2", 1, 0.56},
    {"sqrt", 0, 0},
    {"sin", 3, 2.34},
    {"cos", 3, 2.04},
    {"tanh", 3, 2.44},
    {"sigmoid", 3, 2.66},
    {"softplus", 3, 2.26},
    {"gelu", 256, 199},
    {"geluerf", 16, 9.6},
    {"swish", 4, 2.76},
    {"div", 0, 0},
    {"pow", 8, 5.05},
});
/// Of all of these functions.
constexpr auto bounds_of_halves = std::to_array<numerics::Bound>({{"float16", 0.501, 0.5001}, {"bfloat16", 0.501, 0.5001}});

constexpr std::int64_t n = 1 << 16;

template <tw::DType dtype>
constexpr void functions(tw::Ir& ir) {
  const auto x = ir.variable(tw::ones(), {n}, dtype, "x"), b = ir.variable(tw::ones(), {n}, dtype, "b");
  const auto give = [&](std::string_view name, tw::Tensor y) { ops::host_store(ir.d2h_stream(name, y.spec()), y); };
  give("exp", ops::exp(x));
  give("log", ops::log(x));
  give("log2", ops::log2(x));
  give("sqrt", ops::sqrt(x));
  give("sin", ops::sin(x));
  give("cos", ops::cos(x));
  give("tanh", ops::tanh(x));
  give("sigmoid", ops::sigmoid(x));
  give("softplus", ops::softplus(x));
  give("gelu", ops::gelu(x));
  give("geluerf", ops::geluerf(x));
  give("swish", ops::swish(x));
  give("div", x / b);
  give("pow", ops::pow(ops::abs(x), b));
}
const std::map<std::string, double (*)(double, double)> right{
    {"exp", [](double x, double) { return std::exp(x); }},
    {"log", [](double x, double) { return std::log(x); }},
    {"log2", [](double x, double) { return std::log2(x); }},
    {"sqrt", [](double x, double) { return std::sqrt(x); }},
    {"sin", [](double x, double) { return std::sin(x); }},
    {"cos", [](double x, double) { return std::cos(x); }},
    {"tanh", [](double x, double) { return std::tanh(x); }},
    {"sigmoid", [](double x, double) { return 1 / (1 + std::exp(-x)); }},
    {"softplus", [](double x, double) { return x > 20 ? x : std::log1p(std::exp(x)); }},
    {"gelu", [](double x, double) { return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
    {"geluerf", [](double x, double) { return x * std::erfc(-x * M_SQRT1_2) / 2; }},
    {"swish", [](double x, double) { return x / (1 + std::exp(-x)); }},
    {"div", [](double x, double b) { return x / b; }},
    {"pow", [](double x, double b) { return std::pow(std::abs(x), b); }},
};

/// Numbers below the normal ones of float32 count as 0, of their sign, where sessions run.
double normal(double x) { return std::abs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }
/// Products of x and a factor, which is 0 below the normal numbers: so may be results below this one.
double least_result(std::string_view name) { return name == "gelu" || name == "geluerf" || name == "swish" ? 0x1p-119 : 0; }

/// The error in units of the last place of T. Where the right value is below the normal numbers, 0 counts as right; where it
/// rounds to infinity, infinity.
template <class T>
double error_in_ulp(double result, double value, double least) {
  constexpr int digits = tw::dtype_of<T> == tw::float16 ? 11 : tw::dtype_of<T> == tw::bfloat16 ? 8 : 24;
  constexpr int least_exponent = tw::dtype_of<T> == tw::float16 ? -14 : -126;
  const auto rounded = static_cast<double>(T(static_cast<float>(value)));
  if (std::isnan(value)) return std::isnan(result) ? 0 : HUGE_VAL;
  if (result == rounded) return 0;
  if (std::isnan(result)) return HUGE_VAL;
  if (std::abs(value) < std::max(std::ldexp(1.0, least_exponent), least) && result == 0) return 0;
  if (std::isinf(rounded) || std::isinf(result)) return HUGE_VAL;
  return std::abs(result - value) / std::ldexp(1.0, std::max(std::ilogb(value), least_exponent) - (digits - 1));
}

template <tw::DType dtype>
numerics::Errors errors_of_functions() {
  using T = tw::element_t<dtype>;
  numerics::Errors errors;
  tw::Session<functions<dtype>> session({.threads = 1});
  constexpr std::uint64_t step = dtype == tw::float32 ? 1009 : 1, end = dtype == tw::float32 ? std::uint64_t{1} << 32 : n;
  std::vector<double> x(n), b(n);
  std::uint64_t other = 12345;
  // of all numbers that were tried, those with the largest errors
  constexpr std::pair<double, double> worst[] = {{-7734.85156F, 1}, {-5785.36816F, 1}, {1.37864244F, 260.97049F}};
  for (std::uint64_t bits = 0; bits < end;) {
    for (std::size_t i = 0; i < x.size(); ++i, bits += step) {
      const auto number = [](std::uint64_t code) {
        if constexpr (dtype == tw::float32) return double{std::bit_cast<float>(static_cast<std::uint32_t>(code))};
        else return static_cast<double>(std::bit_cast<T>(static_cast<std::uint16_t>(code)));
      };
      other = other * 6364136223846793005U + 1442695040888963407U;
      x[i] = number(std::min(bits, end - 1));
      b[i] = number(other >> 40);
      if (i % 2 == 0) b[i] = static_cast<double>(T(std::ldexp(static_cast<float>(other >> 48), -14)));  // below 4: for pow
    }
    if (dtype == tw::float32 && bits <= n * step)
      for (std::size_t i = 0; i < std::size(worst); ++i) std::tie(x[i], b[i]) = worst[i];
    write_variables(session, {{"x", x}, {"b", b}});
    for (const auto& [name, elements] : run(session))
      for (std::size_t i = 0; i < x.size(); ++i) {
        numerics::note(errors, dtype == tw::float32 ? name : std::string(to_text(dtype)),
                       error_in_ulp<T>(elements[i], right.at(name)(normal(x[i]), normal(b[i])), least_result(name)));
      }
  }
  return errors;
}

}  // namespace

TEST_CASE("functions of float32") { numerics::check(bounds, errors_of_functions<tw::float32>()); }
TEST_CASE("functions of half precision") {
  numerics::Errors errors = errors_of_functions<tw::float16>();
  errors.merge(errors_of_functions<tw::bfloat16>());
  numerics::check(bounds_of_halves, errors);
}
