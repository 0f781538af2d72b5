// labels: none
// The errors of sums, products, norms and attention over ten million terms, or a million where each is a vector, against exact
// values: one shape for each order of loops.
#include <array>

#include "../../support/reference.hpp"
#include "numerics.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;

namespace {

/// In roundings of float32, 2^-24, of the sum of the absolute values of the terms; of norms, of the largest |x| over the
/// deviation. The bounds of products and convolutions are those of blocks for vectors of 16 floats.
constexpr auto bounds = std::to_array<numerics::Bound>({
    {"sum, columns", 264, 252},
    {"sum, rows", 264, 252},
    {"sum, strided rows", 264, 126},
    {"sum, first and last axis", 264, 253},
    {"mean", 265, 253},
    {"l1", 264, 252},
    {"sumsquare", 265, 252},
    {"l2", 133, 126},
    {"logsumexp", 272, 61.9},
    {"softmax", 272, 64.3},
    {"cumsum, columns", 265, 252},
    {"cumsum, line", 5, 3},
    {"cumsum, strided line", 1, 0.79},
    {"prod", 1e7, 1.6e6},
    {"matmul, dot product", 264, 62.2},
    {"matmul, row", 4104, 967},
    {"matmul, block", 4104, 969},
    {"matmul, transposed", 1544, 331},
    {"matmul, packed", 4104, 919},
    {"conv", 1133, 269},
    {"conv, gradient of weights", 150, 30},
    {"conv, gradient of weights, by channels", 1032, 246},
    {"layer_norm", 266, 62.1},
    {"group_norm", 266, 62.1},
    {"batch_norm", 266, 62.1},
    {"layer_norm, gradient of x", 266, 62},
    {"layer_norm, gradient of weight", 265, 57.7},
    {"attention", 4168, 984},
    {"attention of one query", 850, 218},
    {"gather, gradient", 1e6, 1.61e5},
});

constexpr std::int64_t n = 10'000'000, m = 1'000'000;
constexpr std::size_t planes = 3, row = 4096;  // of a sum over the first and last axis
constexpr std::int64_t first_sums = 512;

constexpr void store(tw::Ir& ir, std::string_view name, tw::Tensor y) { ops::host_store(ir.d2h_stream(name, y.spec()), y); }
constexpr tw::Tensor last(tw::Tensor y, int axis) { return ops::slice(y, y.shape()[axis] - 1, y.shape()[axis], 1, axis); }

/// All elements of x are equal.
constexpr void reductions(tw::Ir& ir) {
  const auto x = ir.variable(tw::ones(), {n / 8, 8}, tw::float32, "x");
  const auto line = x.reshape({n});
  store(ir, "sum, columns", ops::sum(x, {0}));
  store(ir, "sum, rows", ops::sum(line));
  store(ir, "sum, strided rows", ops::sum(x.T(), {1}));
  store(ir, "sum, first and last axis",
        ops::sum(ops::slice(line, 0, 256 * planes * row)
                     .reshape({256, static_cast<std::int64_t>(planes), static_cast<std::int64_t>(row)}),
                 {0, 2}));
  store(ir, "mean", ops::mean(x, {0}));
  store(ir, "l1", ops::l1(x, {0}));
  store(ir, "sumsquare", ops::sumsquare(line));
  store(ir, "l2", ops::l2(line));
  store(ir, "cumsum, columns", last(ops::cumsum(x, 0), 0));
  store(ir, "cumsum, line", last(ops::cumsum(line, 0), 0));
  store(ir, "cumsum, line, first", ops::slice(ops::cumsum(line, 0), 0, first_sums));
  store(ir, "cumsum, strided line", last(ops::cumsum(x.T(), 1), 1));
}
/// Terms: the second and later ones lose half of a last bit each where a sum of one sign has 2^11, 2^13, 2^14, 2^15 or 2^16 of
/// them: the largest error that so many terms can have.
constexpr float constants[] = {
    0.1F, 1 + 0.49F * 0x1p-12F, 1 + 0.49F * 0x1p-14F, 1 + 0.49F * 0x1p-15F, 1 + 0.49F * 0x1p-16F, 1 + 0.49F * 0x1p-17F};
/// What they should give, and what the errors are relative to.
Values right_values(const std::vector<double>& x) {
  std::vector<double> columns(8), rows(planes), first;
  double all = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    columns[i % 8] += x[i];
    if (i < 256 * planes * row) rows[i / row % planes] += x[i];
    all += x[i];
    if (i < first_sums) first.push_back(all);
    squares += x[i] * x[i];
  }
  Values right{{"sum, columns", columns},
               {"sum, rows", {all}},
               {"sum, strided rows", columns},
               {"sum, first and last axis", rows},
               {"mean", columns},
               {"l1", columns},
               {"sumsquare", {squares}},
               {"l2", {std::sqrt(squares)}},
               {"cumsum, columns", columns},
               {"cumsum, line", {all}},
               {"cumsum, line, first", first},
               {"cumsum, strided line", columns}};
  for (double& mean : right["mean"]) mean /= n / 8;
  return right;
}
/// Numbers that make errors large: equal ones; ones at the start of each period, beside which all others, or their squares, are
/// rounded away where they are added to the same accumulators; and ones at the start of the first rows only, beside which also
/// the sums of other rows are.
std::vector<std::vector<double>> terms_of_sums() {
  constexpr double lost = 0.9999F * 0x1p-24F;
  std::vector<std::vector<double>> result;
  for (const float t : constants) result.emplace_back(n, t);
  const auto add = [&](std::size_t period, std::size_t ones, double other) {
    auto& x = result.emplace_back(n, other);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (i % period < ones) x[i] = 1;
  };
  add(32, 1, lost);
  add(2'048, 8, lost);
  add(8'192, 32, lost);
  add(16'384, 64, lost);
  add(16'384, 64, double{0.995F * 0x1p-12F});
  auto& x = result.emplace_back(n, lost / 256);
  for (std::size_t i = 0; i < planes * row; ++i) x[i] = i % row < 16 ? 1 : lost;
  return result;
}

/// One 0, and else equal numbers below it: sums of exponentials.
constexpr void exponentials(tw::Ir& ir) {
  const auto x = ir.variable(tw::ones(), {n}, tw::float32, "x");
  store(ir, "logsumexp", ops::logsumexp(x));
  store(ir, "softmax", ops::slice(ops::softmax(x), 0, 1));
}

/// Products of equal numbers a with equal numbers b.
constexpr void products(tw::Ir& ir) {
  const auto a = [&](const tw::Shape& shape, std::string_view name) {
    return ir.variable(tw::ones(), shape, tw::float32, tw::text("a ", name).view());
  };
  const auto b = [&](const tw::Shape& shape, std::string_view name) {
    return ir.variable(tw::ones(), shape, tw::float32, tw::text("b ", name).view());
  };
  store(ir, "matmul, dot product", ops::matmul(a({1, n}, "dot"), b({n, 1}, "dot")));
  store(ir, "matmul, row", ops::matmul(a({1, m / 10}, "row"), b({m / 10, 300}, "row")));
  store(ir, "matmul, block", ops::matmul(a({4, m}, "block"), b({m, 16}, "block")));
  store(ir, "matmul, transposed", ops::matmul(a({m, 8}, "transposed").T(), b({16, m}, "transposed").T()));
  store(ir, "matmul, packed", ops::matmul(a({300, m / 20}, "packed"), b({m / 20, 300}, "packed")));
  store(ir, "conv", ops::conv(a({1, 1000, 6, 6}, "conv"), b({16, 1000, 3, 3}, "conv")));
}

/// Norms of numbers that lie 1 above and below `base` in turn, eight at a time.
constexpr void norms(tw::Ir& ir) {
  const auto x = ir.variable(tw::ones(), {n / 8, 8}, tw::float32, "x");
  const auto line = x.reshape({1, n});
  const auto first = [&](tw::Tensor y) { return ops::slice(y.reshape({n}), 0, 16); };
  const auto ones = [&](std::int64_t count) { return ir.constant(tw::ones(), {count}, tw::float32); };
  const auto zeros = [&](std::int64_t count) { return ir.constant(tw::zeros(), {count}, tw::float32); };
  store(ir, "layer_norm", first(ops::layer_norm(line, ones(n), zeros(n))));
  store(ir, "group_norm", first(ops::group_norm(line, ones(n), zeros(n), 1)));
  store(ir, "batch_norm",
        first(ops::batch_norm(x, ones(8), zeros(8), ir.variable(tw::zeros(), {8}, tw::float32, "running mean"),
                              ir.variable(tw::ones(), {8}, tw::float32, "running variance"))));
}

constexpr void product(tw::Ir& ir) { store(ir, "prod", ops::prod(ir.variable(tw::ones(), {n}, tw::float32, "x"))); }

constexpr tw::Tensor norm(tw::Tensor x, tw::Tensor weight, tw::Tensor bias) { return ops::layer_norm(x, weight, bias); }
constexpr tw::Tensor convolution(tw::Tensor x, tw::Tensor weight) { return ops::conv(x, weight); }
constexpr tw::Tensor rows_of(tw::Tensor table, tw::Tensor indices) { return ops::gather(table, indices); }

/// The gradient of `input` of a graph that is called with `inputs`, where dy is that of its result.
constexpr tw::Tensor gradient(tw::Graph graph, const tw::List<tw::Tensor>& inputs, tw::Tensor dy, tw::Tensor input) {
  const auto call = tw::call_with_info(graph, inputs);
  const auto info = tw::autodiff(graph);
  const auto gradient_call = tw::call_with_info(info.graph(), {dy}, info.inputs_dict(call));
  return info.fwd_parent_ins_to_grad_parent_outs(call, gradient_call)[input];
}
/// Sums over the rows or places of a batch: gradients, and attention. The numbers that are added are equal.
constexpr void sums_of_places(tw::Ir& ir) {
  const auto t = [&](const tw::Shape& shape, std::string_view name) { return ir.variable(tw::ones(), shape, tw::float32, name); };
  const auto one = [&](const tw::Shape& shape) {
    return ir.variable(tw::ones(), shape, tw::float32, tw::text("one ", shape.nelms()).view());
  };
  const auto rows = t({m, 4}, "rows");
  // normalised, these are -1 and 1 in turn, but for eps
  const auto signs = [&](const tw::Shape& shape) {
    return ops::expand(ir.constant(tw::values({-1, 1, -1, 1}), {1, 4}, tw::float32), {m, 4}).reshape(shape);
  };
  const auto gradient_of_norm = [&](std::int64_t width, tw::Tensor dy, bool of_weight) {
    const auto x = signs(dy.shape()), weight = one({width});
    const auto bias = ir.variable(tw::ones(), {width}, tw::float32, tw::text("one more ", width).view());
    const auto graph = ir.create_graph(norm, x.spec(), weight.spec(), bias.spec());
    return gradient(graph, {x, weight, bias}, dy, of_weight ? weight : x);
  };
  store(ir, "layer_norm, gradient of weight", ops::slice(gradient_of_norm(4, rows, true), 1, 2));
  store(ir, "layer_norm, gradient of x",
        ops::slice(gradient_of_norm(4 * m, rows.reshape({1, 4 * m}), false).reshape({4 * m}), 0, 16));
  const auto table = one({8, 4});
  const auto indices = ir.constant(tw::zeros(), {m}, tw::int32);
  store(ir, "gather, gradient",
        ops::slice(gradient(ir.create_graph(rows_of, table.spec(), indices.spec()), {table, indices}, rows, table), 0, 1));
  const auto images = one({16, 3, 128, 128});
  const auto taps = one({8, 3, 3, 3});
  store(ir, "conv, gradient of weights",
        gradient(ir.create_graph(convolution, images.spec(), taps.spec()), {images, taps}, t({16, 8, 126, 126}, "dy"), taps));
  const auto channels = one({4, 32, 66, 66});
  const auto more_taps = one({32, 32, 3, 3});
  store(ir, "conv, gradient of weights, by channels",
        gradient(ir.create_graph(convolution, channels.spec(), more_taps.spec()), {channels, more_taps},
                 t({4, 32, 64, 64}, "dy2"), more_taps));
  const auto query = ir.constant(tw::zeros(), {1, 1, 16, 8}, tw::float32);
  constexpr std::int64_t keys = 1 << 18;
  store(ir, "attention",
        ops::scaled_dot_product_attention(query, ir.constant(tw::zeros(), {1, 1, keys, 8}, tw::float32),
                                          t({1, 1, keys, 8}, "values")));
  store(ir, "attention of one query",
        ops::scaled_dot_product_attention(ir.constant(tw::zeros(), {1, 1, 1, 8}, tw::float32),
                                          ir.constant(tw::zeros(), {1, 1, keys, 8}, tw::float32),
                                          t({1, 1, keys, 8}, "more values")));
}

}  // namespace

TEST_CASE("sums of ten million terms") {
  numerics::Errors errors;
  {
    tw::Session<reductions> session({.threads = 1});
    for (const auto& x : terms_of_sums()) {
      write_variables(session, {{"x", x}});
      const Values right = right_values(x);
      for (const auto& [name, elements] : run(session))
        for (std::size_t i = 0; i < elements.size(); ++i)
          numerics::note(errors, name.starts_with("cumsum, line") ? "cumsum, line" : name,
                         std::abs(elements[i] / right.at(name)[i] - 1) * 0x1p24);
    }
  }
  {
    tw::Session<exponentials> session({.threads = 1});
    for (const double e : {0.1, 0.5 + 0x1p-17, 0.5 + 0.5 * 0x1p-17}) {
      const auto x = static_cast<double>(static_cast<float>(std::log(e)));
      std::vector<double> values(n, x);
      values[0] = 0;
      write_variables(session, {{"x", values}});
      const double sum = 1 + (n - 1) * std::exp(x);
      auto result = run(session);
      numerics::note(errors, "logsumexp", std::abs(result["logsumexp"][0] - std::log(sum)) * 0x1p24);
      numerics::note(errors, "softmax", std::abs(result["softmax"][0] * sum - 1) * 0x1p24);
    }
  }
  {
    tw::Session<product> session({.threads = 1});
    for (const float t : {1 + 0x1p-20F, 1 - 0x1p-21F, 1 + 3 * 0x1p-22F}) {
      write_variables(session, {{"x", std::vector<double>(n, t)}});
      numerics::note(errors, "prod", std::abs(run(session)["prod"][0] / std::exp(n * std::log1p(double{t} - 1)) - 1) * 0x1p24);
    }
  }
  {
    tw::Session<products> session({.threads = 1});
    for (const float t : constants) {
      Values values;
      for (const auto& tensor : session.host_tensors())
        values[std::string(tensor.name)] = std::vector<double>(static_cast<std::size_t>(tensor.spec.nelms()),
                                                               tensor.name.starts_with("a") ? 1 : t);
      write_variables(session, values);
      const std::map<std::string, double> terms{{"matmul, dot product", n}, {"matmul, row", m / 10},    {"matmul, block", m},
                                                {"matmul, transposed", m},  {"matmul, packed", m / 20}, {"conv", 9000}};
      for (const auto& [name, elements] : run(session))
        for (const double element : elements) numerics::note(errors, name, std::abs(element / (t * terms.at(name)) - 1) * 0x1p24);
    }
  }
  {
    tw::Session<norms> session({.threads = 1});
    for (const float base : {0.F, 1024 + 0.49F * 0x1p-6F}) {
      std::vector<double> x(n);
      double sum = 0, squares = 0, largest = 0;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = base + (i / 8 % 2 == 0 ? 1.F : -1.F), sum += x[i];
      for (const double e : x) squares += (e - sum / n) * (e - sum / n), largest = std::max(largest, std::abs(e));
      write_variables(session,
                      {{"x", x}, {"running mean", std::vector<double>(8)}, {"running variance", std::vector<double>(8)}});
      const double deviation = std::sqrt(squares / n + 1e-5);
      for (const auto& [name, elements] : run(session))
        for (std::size_t i = 0; i < elements.size(); ++i)
          numerics::note(errors, name, std::abs(elements[i] - (x[i] - sum / n) / deviation) / (largest / deviation) * 0x1p24);
    }
  }
  {
    tw::Session<sums_of_places> session({.threads = 1});
    for (const float t : constants) {
      Values values;
      for (const auto& tensor : session.host_tensors())
        values[std::string(tensor.name)] = std::vector<double>(static_cast<std::size_t>(tensor.spec.nelms()),
                                                               tensor.name.starts_with("one") ? 1 : t);
      write_variables(session, values);
      const double sign = 1 / std::sqrt(1 + 1e-5);
      const std::map<std::string, double> terms{{"layer_norm, gradient of weight", sign * m},
                                                {"gather, gradient", m},
                                                {"conv, gradient of weights", 16 * 126 * 126},
                                                {"conv, gradient of weights, by channels", 4 * 64 * 64},
                                                {"attention", 1},
                                                {"attention of one query", 1}};
      for (const auto& [name, elements] : run(session))
        for (const double element : elements) {
          // the gradient of x is 0: all elements of dy are equal
          const double error = name.ends_with("of x") ? element / t : element / (t * terms.at(name)) - 1;
          numerics::note(errors, name, std::abs(error) * 0x1p24);
        }
    }
  }
  numerics::check(bounds, errors, 4168);
}
