// labels: strict
// The ops of tests/ops beside their meanings in float64: values and gradients in each dtype, on threads and tiles, and at the
// edges of dtypes.
#include <limits>

#include "../../catch.hpp"
#include "../../edges/tolerance.hpp"
#include "../../ops/ops.hpp"
#include "../../random_programs/semantics.hpp"
#include "../../support/reference.hpp"
#include "../../support/test_session.hpp"
#include "../cases/object_checks.hpp"
#include "../cases/op_case.hpp"

namespace {

namespace tw = tilewright;
using tw::DType, tw::Ir, tw::TensorSpec;

/// Adds cases to a program.
struct Cases {
  Ir& ir;
  DType dtype;
  bool gradients;

  constexpr TensorSpec real(const tw::Shape& shape) const { return {shape, dtype}; }
  static constexpr TensorSpec ints(const tw::Shape& shape) { return {shape, tw::int32}; }
  static constexpr TensorSpec bools(const tw::Shape& shape) { return {shape, tw::boolean}; }
  constexpr void add(std::string_view name, auto op, const auto&... inputs) const {
    if (gradients) op_cases::differentiable(ir, name, op, inputs...);
    else op_cases::forward(ir, name, op, inputs...);
  }
  constexpr void add_forward(std::string_view name, auto op, const auto&... inputs) const {
    op_cases::forward(ir, name, op, inputs...);
  }
};
template <DType dtype, bool gradients>
constexpr void program(Ir& ir) {
  op_tests::for_each([&](auto test) { test.cases(Cases{ir, dtype, gradients}); });
}

/// Numbers at the edges of a dtype: zeros, denormal, smallest and largest numbers, halves, infinities, NaN, powers of two.
std::vector<double> edges_of(DType dtype, std::size_t count) {
  const bool is_half = dtype == tw::float16, is_double = dtype == tw::float64;
  const int least = is_half     ? -14
                    : is_double ? -1022
                                : -126,
            digits = is_half                 ? 11
                     : dtype == tw::bfloat16 ? 8
                     : is_double             ? 53
                                             : 24;
  const double most = std::ldexp(2 - std::ldexp(1.0, 1 - digits), is_half ? 15 : is_double ? 1023 : 127);
  const double next = 1 + std::ldexp(1.0, 1 - digits), without_fraction = std::ldexp(1.0, digits - 1);
  std::vector<double> all{NAN, INFINITY, -INFINITY, 0, -0.0};
  for (const double x : {std::ldexp(1.0, least), most, next, 1.0, 0.5, 1.5, 2.5, 3.5, 0.75, without_fraction,
                         without_fraction - 0.5, without_fraction + 1, without_fraction / 2 + 0.5})
    all.push_back(x), all.push_back(-x);
  for (int i = 0; all.size() < count; ++i) all.push_back(std::ldexp(i % 2 == 0 ? 1.0 : -1.5, (i * 7) % (digits + 4) - 4 - i / 2));
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}
std::string case_of(const std::string& name) { return name.substr(0, name.find('.')); }
bool is_input(const std::string& name) { return name[name.find('.') + 1] == 'x'; }

Values variables_of(const Ir& ir) {
  Values values;
  std::uint32_t state = 1;
  for (const auto& variable : ir.tables.variables) {
    const tw::TensorRecord& record = ir.tables.record(tw::GraphId::main).tensors[variable.tensor];
    const std::string name(record.name.view());
    auto& elements = values[name];
    elements.resize(static_cast<std::size_t>(record.spec.nelms()));
    for (double& x : elements) {
      state = state * 1664525 + 1013904223;
      const double number = (2.0 * (state >> 26) - 63) / 32;
      x = record.spec.dtype == tw::boolean ? number > 0 : tw::is_int(record.spec.dtype) ? std::floor(4 * number) : number;
    }
    if (case_of(name).ends_with("_edges") && is_input(name)) elements = edges_of(record.spec.dtype, elements.size());
  }
  return values;
}

/// What cases mean: results, and how much they move if each element of the inputs moves by a rounding of float32.
struct Meaning {
  Values results, moves;
};
Values interpret(const Ir& ir, const Values& variables) {
  Values results = random_programs::Interpreter(ir, false).run(variables);
  std::erase_if(results, [](const auto& each) { return each.first.find(".y") == std::string::npos; });
  return results;
}
/// Returns the variables with step(x) in place of element i of inputs whose names have this end.
Values moved(Values variables, std::string_view end, std::size_t i, auto step) {
  for (auto& [name, elements] : variables)
    if (is_input(name) && name.ends_with(end) && i < elements.size()) elements[i] = step(elements[i]);
  return variables;
}
std::size_t most_elements(const Values& variables) {
  std::size_t most = 0;
  for (const auto& [name, elements] : variables) most = std::max(most, elements.size());
  return most;
}
Meaning meaning_of(const Ir& ir, const Values& variables) {
  Meaning meaning{interpret(ir, variables), {}};
  for (const auto& [name, elements] : meaning.results) meaning.moves[name].resize(elements.size());
  for (std::size_t i = 0; i < most_elements(variables); ++i)
    for (const auto& [name, elements] : interpret(ir, moved(variables, "", i, [](double x) { return x * (1 + 0x1p-24); })))
      for (std::size_t k = 0; k < elements.size(); ++k) {
        const double move = std::abs(elements[k] - meaning.results.at(name)[k]);
        if (!std::isnan(move)) meaning.moves[name][k] += move;
      }
  return meaning;
}
/// Derivatives of sum(dy0 y0) for the first input, by differences of the meaning: those of other inputs are not compared.
Values derivatives_of(const Ir& ir, const Values& variables) {
  Values derivatives;
  constexpr double h = 1e-5;
  const auto loss = [&](const Values& results, const std::string& name) {
    double sum = 0;
    const auto &dy = variables.at(name + ".dy0"), &y = results.at(name + ".y0");
    for (std::size_t k = 0; k < y.size(); ++k)
      if (dy[k] != 0) sum += dy[k] * y[k];
    return sum;
  };
  for (std::size_t i = 0; i < most_elements(variables); ++i) {
    const Values above = interpret(ir, moved(variables, ".x0", i, [](double x) { return x + h; }));
    const Values below = interpret(ir, moved(variables, ".x0", i, [](double x) { return x - h; }));
    for (const auto& [name, elements] : variables)
      if (name.ends_with(".dy0") && !case_of(name).ends_with("_edges") && i < variables.at(case_of(name) + ".x0").size())
        derivatives[case_of(name) + ".dx0"].push_back((loss(above, case_of(name)) - loss(below, case_of(name))) / (2 * h));
  }
  op_tests::for_each([&]<class Test>(Test) {
    if constexpr (Test::has_cases && requires { Test::slope(1.0); }) {
      const std::string name = std::string(Test::function) + "_edges";
      const auto &x = variables.at(name + ".x0"), &dy = variables.at(name + ".dy0");
      for (std::size_t k = 0; k < x.size(); ++k) derivatives[name + ".dx0"].push_back(dy[k] * Test::slope(x[k]));
    }
  });
  return derivatives;
}

bool agree(DType dtype, double actual, double expected, double move) {
  if (dtype != tw::float64) return edges::agree(dtype, actual, expected, move);
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected);
  return actual == expected || std::abs(actual - expected) <= 0x1p-49 * std::abs(expected) + move;
}

template <DType dtype, tw::Target target>
void check(const tw::SessionOptions& options) {
  Ir forward, with_gradients;
  program<dtype, false>(forward);
  program<dtype, true>(with_gradients);
  const Values variables = variables_of(with_gradients);
  const Meaning meaning = meaning_of(forward, variables);
  const Values derivatives = derivatives_of(forward, variables);
  TestSession<program<dtype, true>, target> session(options);
  write_variables(session, variables);
  std::size_t compared = 0;
  for (const auto& [name, elements] : run_both(session)) {
    INFO(name);
    const bool is_gradient = name.find(".dx") != std::string::npos;
    const auto& expected = is_gradient ? derivatives.contains(name) ? derivatives.at(name) : elements : meaning.results.at(name);
    REQUIRE(elements.size() == expected.size());
    for (std::size_t k = 0; k < elements.size(); ++k) {
      INFO(k << ": " << elements[k] << ", expected " << expected[k]);
      CHECK(agree(dtype, elements[k], expected[k], is_gradient ? 1e-9 : meaning.moves.at(name)[k]));
      ++compared;
    }
  }
  CHECK(compared > 500);
}

}  // namespace

TEST_CASE("ops agree with their meanings on the host") {
  check<tw::float32, tw::cpu>({.threads = 1});
  check<tw::float32, tw::cpu>({.threads = 3});
  check<tw::float16, tw::cpu>({.threads = 1});
  check<tw::bfloat16, tw::cpu>({.threads = 1});
  check<tw::float64, tw::cpu>({.threads = 1});
}

TEST_CASE("ops agree with their meanings on tiles of a simulated IPU") {
  constexpr tw::Target tiles = tw::ipu_model.with_tiles(3);
  check<tw::float32, tiles>({.threads = 1});
  check<tw::float16, tiles>({.threads = 1});
}
