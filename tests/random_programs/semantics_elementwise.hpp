#pragma once
// Meanings of elementwise ops.
#include <limits>

#include "semantics_common.hpp"

namespace random_programs::meaning {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/// NaN if one is NaN.
inline double maximum(double a, double b) { return std::isnan(a) ? a : std::isnan(b) || b > a ? b : a; }
inline double minimum(double a, double b) { return std::isnan(a) ? a : std::isnan(b) || b < a ? b : a; }
/// x to the power of e: of integers e times a product, of which 64 bits are kept.
inline double power(double x, double e, tw::DType dtype) {
  if (!tw::is_int(dtype)) return std::pow(x, e);
  if (e < 0) return x == 1 ? 1 : x == -1 ? (std::fmod(e, 2) == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1;
  for (double i = 0; i < e; ++i) result *= static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  return real(static_cast<std::int64_t>(result));
}

inline Meanings elementwise_meanings() {
  const auto divide = elementwise([](const tw::Node&, Inputs inputs, const Line& x) {
    return tw::is_int(inputs[0].spec.dtype) ? std::trunc(x[0] / x[1]) : x[0] / x[1];
  });
  const auto scaled_add = [](const tw::Node& node, Inputs inputs, Specs outputs) {
    const auto attributes = tw::unpack<tw::ScaledAdd::Attributes>(node.attributes);
    std::size_t next = 2;
    const double a = attributes.inputs & 1 ? inputs[next++][0] : attributes.a;
    const double b = attributes.inputs & 2 ? inputs[next][0] : attributes.b;
    Array result(outputs[0]);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = a * inputs[0][i] + b * inputs[1][i];
    return std::vector{result};
  };
  Meanings all{
      {"Identity", unary([](double x) { return x; })},
      {"Neg", unary([](double x) { return -x; })},
      {"Abs", unary([](double x) { return std::abs(x); })},
      {"Sign", unary([](double x) { return real((x > 0) - (x < 0)); })},
      {"Exp", unary([](double x) { return std::exp(x); })},
      {"Log", unary([](double x) { return std::log(x); })},
      {"Log2", unary([](double x) { return std::log2(x); })},
      {"Sqrt", unary([](double x) { return std::sqrt(x); })},
      {"Sin", unary([](double x) { return std::sin(x); })},
      {"Cos", unary([](double x) { return std::cos(x); })},
      {"Tanh", unary([](double x) { return std::tanh(x); })},
      {"ExpGrad", elementwise([](const tw::Node&, Inputs, const Line& x) { return x[0] * x[1]; })},
      {"DivGrad", elementwise([](const tw::Node&, Inputs, const Line& x) { return -x[0] * x[2] / (x[1] * x[1]); })},
      {"SinGrad", elementwise([](const tw::Node&, Inputs, const Line& x) { return std::cos(x[0]) * x[1]; })},
      {"TanhGrad", elementwise([](const tw::Node&, Inputs, const Line& x) { return (1 - x[0] * x[0]) * x[1]; })},
      {"Relu", unary([](double x) { return x < 0 ? 0 : x; })},
      {"Gelu", unary([](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); })},
      {"GeluErf", unary([](double x) { return 0.5 * x * (1 + std::erf(x / M_SQRT2)); })},
      {"Sigmoid", unary(sigmoid)},
      {"Swish", unary([](double x) { return x * sigmoid(x); })},
      {"GeluSlope", unary([](double x) {
         const double alpha = std::sqrt(2 / M_PI), t = std::tanh(alpha * (x + 0.044715 * x * x * x));
         return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * alpha * (1 + 3 * 0.044715 * x * x);
       })},
      {"GeluErfSlope",
       unary([](double x) { return 0.5 * (1 + std::erf(x / M_SQRT2)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI); })},
      {"SwishSlope", unary([](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); })},
      {"Softplus", elementwise_with<tw::Softplus::Attributes>([](const auto& attributes, const Line& x) {
         const auto [beta, threshold] = attributes;
         return beta * x[0] > threshold ? x[0] : std::log1p(std::exp(beta * x[0])) / beta;
       })},
      {"Clip", elementwise_with<tw::Clip::Attributes>(
                   [](const auto& attributes, const Line& x) { return minimum(maximum(x[0], attributes.min), attributes.max); })},
      {"IncrementMod", elementwise_with<tw::IncrementMod::Attributes>([](const auto& attributes, const Line& x) {
         return std::fmod(x[0] + attributes.increment, attributes.modulus);
       })},
      {"PowNumber", elementwise([](const tw::Node& node, Inputs inputs, const Line& x) {
         return power(x[0], tw::unpack<tw::PowNumber::Attributes>(node.attributes).exponent, inputs[0].spec.dtype);
       })},
      {"Pow", elementwise([](const tw::Node&, Inputs inputs, const Line& x) { return power(x[0], x[1], inputs[0].spec.dtype); })},
      {"Add", binary([](double a, double b) { return a + b; })},
      {"Sub", binary([](double a, double b) { return a - b; })},
      {"Mul", binary([](double a, double b) { return a * b; })},
      {"Div", divide},
      {"Fmod", binary([](double a, double b) { return std::fmod(a, b); })},
      {"Max", binary(maximum)},
      {"Min", binary(minimum)},
      {"Equal", binary([](double a, double b) { return real(a == b); })},
      {"NotEqual", binary([](double a, double b) { return real(a != b); })},
      {"Greater", binary([](double a, double b) { return real(a > b); })},
      {"GreaterEqual", binary([](double a, double b) { return real(a >= b); })},
      {"Less", binary([](double a, double b) { return real(a < b); })},
      {"LessEqual", binary([](double a, double b) { return real(a <= b); })},
      {"And", binary([](double a, double b) { return real(a != 0 && b != 0); })},
      {"Or", binary([](double a, double b) { return real(a != 0 || b != 0); })},
      {"Not", unary([](double x) { return real(x == 0); })},
      {"IsFinite", unary([](double x) { return real(std::isfinite(x)); })},
      {"IsInf", unary([](double x) { return real(std::isinf(x)); })},
      {"IsNaN", unary([](double x) { return real(std::isnan(x)); })},
      {"Where", elementwise([](const Line& x) { return x[0] != 0 ? x[1] : x[2]; })},
      {"ScaledAdd", scaled_add},
      {"ScaledAddLhsInplace", scaled_add},
  };
  for (const char* in_place : {"ExpInplace", "SqrtInplace", "TanhInplace", "NegInplace", "ClipInplace", "IncrementModInplace",
                               "GeluInplace", "GeluErfInplace", "ReluInplace", "SigmoidInplace", "SwishInplace", "AddInplace",
                               "SubInplace", "MulInplace", "DivInplace"}) {
    const std::string_view name = in_place;
    all[name] = all.at(name.substr(0, name.size() - std::string_view("Inplace").size()));
  }
  return all;
}

}  // namespace random_programs::meaning
