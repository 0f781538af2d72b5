// labels: none
// Derivatives by name, and of graphs that call gradient graphs: interpreted in float64, and compared with formulas and with
// central differences.
#include "tilewright/derivatives.hpp"

#include <cmath>

#include "../../random_programs/semantics.hpp"
#include "../../support/elements.hpp"

namespace {

using random_programs::Interpreter;
using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using Numbers = std::vector<double>;

/// Traces build(x) for a variable x of float64, and returns the elements of each tensor that it returns.
std::vector<Numbers> values(const Numbers& x, auto build, tw::Shape shape = {}) {
  if (shape.rank == 0) shape = {static_cast<std::int64_t>(x.size())};
  Ir ir;
  const Tensor variable = ir.variable(tw::zeros(), shape, tw::float64, "x");
  std::size_t count = 0;
  const auto store_next = [&](Tensor result) { store(tw::text("result ", count++).view(), result); };
  tw::detail::for_each_result(build(variable), store_next);
  const auto results = Interpreter(ir, false).run({{"x", x}});
  std::vector<Numbers> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(results.at(tw::text("result ", i).string()));
  return all;
}
Numbers value(const Numbers& x, auto build, tw::Shape shape = {}) { return values(x, build, shape)[0]; }

void check_equal(const Numbers& found, const Numbers& expected, double tolerance = 1e-12) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i << " of " << found.size());
    CHECK(found[i] == Approx(expected[i]).epsilon(tolerance).margin(tolerance));
  }
}
/// factor x^power
Numbers power(const Numbers& x, double factor, int exponent) {
  Numbers result;
  for (double each : x) result.push_back(factor * std::pow(each, exponent));
  return result;
}
/// The derivative of f along v at x, by central differences of fourth order.
Numbers difference(const Numbers& x, const Numbers& v, auto f) {
  const double h = 1e-3;
  const auto at = [&](double step) {
    Numbers moved = x;
    for (std::size_t i = 0; i < x.size(); ++i) moved[i] += step * v[i];
    return value(moved, f);
  };
  const Numbers a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h);
  Numbers result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back((8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h));
  return result;
}

const Numbers points{0.5, -1, 2};

// ---- functions of three elements

constexpr Tensor cube(Tensor x) { return x * x * x; }
constexpr Tensor cube_of_cube(Tensor x) {
  const Graph inner = x.ir().create_graph(cube, x);
  const Graph outer = x.ir().create_graph([inner](Tensor y) { return tw::call(inner, tw::call(inner, y)[0])[0]; }, x);
  return tw::call(outer, x);
}
constexpr Tensor power_by_loop(Tensor x) {
  const Graph times = x.ir().create_graph([](Tensor v, Tensor w) { return v * w; }, x, x);
  return tw::repeat(times, 3, {x, x})[0];
}
constexpr Tensor loop_of_calls(Tensor x) {
  const Graph square = x.ir().create_graph([](Tensor v) { return v * v; }, x);
  const Graph body = x.ir().create_graph([square](Tensor v, Tensor w) { return tw::call(square, v)[0] * w; }, x, x);
  return tw::repeat(body, 2, {x, x})[0];  // (x^2 x)^2 x
}
constexpr Tensor loop_in_a_loop(Tensor x) {
  const Graph times = x.ir().create_graph([](Tensor v, Tensor w) { return v * w; }, x, x);
  const Graph body = x.ir().create_graph([times](Tensor v, Tensor w) { return tw::repeat(times, 2, {v, w})[0]; }, x, x);
  return tw::repeat(body, 2, {x, x})[0];  // x^5
}
constexpr Tensor branch(Tensor x) {
  const Graph left = x.ir().create_graph(cube, x), right = x.ir().create_graph([](Tensor v) { return v * 2; }, x);
  return tw::conditional(ops::greater(ops::sum(x), 0), {left, {x}}, {right, {x}})[0];
}
constexpr Tensor mixed(Tensor x) {
  const Tensor outer = x.reshape({3, 1}) * ops::exp(x) - x;  // (3, 3), broadcast
  const Tensor product = outer.matmul(ops::tanh(x)) + ops::sum(outer, {0}) / (x * x + 1);
  return ops::concat({product, x[tw::slice(0, 2)] * ops::sin(x[tw::slice(1, 3)])}) * ops::mean(x);
}
constexpr Tensor scalar(Tensor x) { return ops::sum(mixed(x) * mixed(x)); }

/// Gradient of a graph's result, summed, by autodiff and two calls.
constexpr Tensor slope(Graph f, Tensor x) {
  const auto info = tw::autodiff(f);
  const auto call = tw::call_with_info(f, x);
  const Tensor dy = x.ir().constant({1}, call.output(0).shape(), x.dtype());
  return tw::call(info.graph(), {dy}, info.inputs_dict(call))[0];
}
/// Derivatives of f of the orders 0 to 3: each is of a graph that calls a graph and its gradient graph.
constexpr auto orders_of(auto f) {
  return [f](Tensor x) {
    const Graph graph = x.ir().create_graph(f, x);
    const Graph first = x.ir().create_graph([graph](Tensor v) { return slope(graph, v); }, x);
    const Graph second = x.ir().create_graph([first](Tensor v) { return slope(first, v); }, x);
    return std::array{tw::call(graph, x)[0], slope(graph, x), slope(first, x), slope(second, x)};
  };
}
void check_power(auto f, int exponent) {
  const auto found = values(points, orders_of(f));
  double factor = 1;
  for (int order = 0; order <= 3; ++order) {
    INFO("order " << order);
    check_equal(found[static_cast<std::size_t>(order)], power(points, factor, exponent - order));
    factor *= exponent - order;
  }
}

}  // namespace

TEST_CASE("a graph that calls a gradient graph: derivatives include the part through stored values") {
  SECTION("x x x") { check_power(cube, 3); }
  SECTION("a call in a call") { check_power(cube_of_cube, 9); }
  SECTION("a repeat") { check_power(power_by_loop, 4); }
  SECTION("a repeat of calls") { check_power(loop_of_calls, 7); }
  SECTION("a repeat in a repeat") { check_power(loop_in_a_loop, 5); }
  SECTION("a repeat of a gradient") {
    const auto found = values(points, [](Tensor x) {
      const Graph graph = x.ir().create_graph(cube, x);
      const Graph first = x.ir().create_graph([graph](Tensor v) { return slope(graph, v); }, x);
      const Graph twice = x.ir().create_graph([first](Tensor v) { return tw::repeat(first, 2, {v})[0]; }, x);  // 27 x^4
      const Graph second = x.ir().create_graph([twice](Tensor v) { return slope(twice, v); }, x);
      return std::array{slope(twice, x), slope(second, x)};
    });
    check_equal(found[0], power(points, 108, 3));
    check_equal(found[1], power(points, 324, 2));
  }
}

TEST_CASE("jvp: equal to central differences and to vjp") {
  const Numbers v{0.3, -0.7, 1.1};
  const auto check = [&](auto f) {
    const auto along = [&](Tensor x) { return x.ir().constant(tw::List<double>{0.3, -0.7, 1.1}, {3}, tw::float64); };
    const auto found = values(points, [&](Tensor x) {
      const auto [y, dy] = tw::jvp(f, x, along(x));
      const auto [z, pushforward] = tw::linearize(f, x);
      const auto [w, pullback] = tw::vjp(f, x);
      const Tensor of_y = y * 2 + 1;  // a gradient of the result: <of_y, J v> = <J^T of_y, v>
      return std::array<Tensor, 7>{y, dy, z, pushforward(along(x)), w, ops::sum(of_y * dy), ops::sum(pullback(of_y) * along(x))};
    });
    const Numbers y = value(points, f);
    for (std::size_t i : {0u, 2u, 4u}) check_equal(found[i], y);
    check_equal(found[1], difference(points, v, f), 1e-8);
    check_equal(found[3], found[1]);
    check_equal(found[5], found[6], 1e-10);
  };
  SECTION("x x x") { check(cube); }
  SECTION("a call in a call") { check(cube_of_cube); }
  SECTION("a repeat") { check(power_by_loop); }
  SECTION("a repeat of calls") { check(loop_of_calls); }
  SECTION("a repeat in a repeat") { check(loop_in_a_loop); }
  SECTION("a conditional") { check(branch); }
  SECTION("many ops") { check(mixed); }
  SECTION("ops in place") {
    check([](Tensor x) {
      Tensor y = x * x;
      y += x;
      return y * x;
    });
  }
}

TEST_CASE("orders: grad of grad, jvp of grad, grad of jvp, jvp of jvp, and a third") {
  const auto f = [](Tensor x) { return ops::sum(ops::exp(x) * x * x); };
  const auto along = [&f](Tensor x, Tensor v) { return tw::jvp(f, x, v).second[0]; };
  const auto sum_of_gradient = [&f](Tensor x) { return ops::sum(tw::grad(f)(x)); };
  const auto found = values(points, [&](Tensor x) {
    const Tensor ones = x.ir().constant({1}, {3}, tw::float64), zeros = ones * 0;
    return std::array<Tensor, 6>{tw::grad(f)(x),
                                 tw::grad(sum_of_gradient)(x),
                                 tw::jvp(tw::grad(f), x, ones).second,
                                 tw::grad(along)(x, ones),
                                 tw::jvp(along, {x, ones}, {ones, zeros}).second,
                                 tw::grad([&](Tensor w) { return ops::sum(tw::grad(sum_of_gradient)(w)); })(x)};
  });
  Numbers first, second, third;
  double sum = 0;
  for (double x : points) {
    first.push_back(std::exp(x) * (x * x + 2 * x));
    second.push_back(std::exp(x) * (x * x + 4 * x + 2));
    third.push_back(std::exp(x) * (x * x + 6 * x + 6));
    sum += second.back();
  }
  check_equal(found[0], first);
  for (std::size_t i : {1u, 2u, 3u}) check_equal(found[i], second);
  check_equal(found[4], {sum});
  check_equal(found[5], third);
}

TEST_CASE("jacobian and hessian: both modes, hvp, and central differences") {
  const auto found = values(points, [](Tensor x) {
    const Tensor v = x.ir().constant(tw::List<double>{0.3, -0.7, 1.1}, {3}, tw::float64);
    return std::array<Tensor, 8>{tw::jacobian(mixed, {.mode = tw::JacobianMode::forward})(x),
                                 tw::jacobian(mixed, {.mode = tw::JacobianMode::reverse})(x),
                                 tw::jacobian(mixed)(x),
                                 tw::hessian(scalar)(x),
                                 tw::hessian(scalar, {.mode = tw::JacobianMode::forward})(x),
                                 tw::hvp(scalar, x, v),
                                 tw::hessian(scalar)(x).matmul(v),
                                 tw::grad(scalar)(x)};
  });
  check_equal(found[0], found[1]);
  check_equal(found[0], found[2]);
  check_equal(found[3], found[4]);
  check_equal(found[5], found[6], 1e-10);
  Numbers columns(15), hessian(9);
  for (std::size_t j = 0; j < 3; ++j) {
    Numbers v(3);
    v[j] = 1;
    const Numbers column = difference(points, v, mixed), of_gradient = difference(points, v, tw::grad(scalar));
    for (std::size_t i = 0; i < 5; ++i) columns[3 * i + j] = column[i];
    for (std::size_t i = 0; i < 3; ++i) hessian[3 * i + j] = of_gradient[i];
    CHECK(difference(points, v, scalar)[0] == Approx(found[7][j]).epsilon(1e-7));
  }
  check_equal(found[0], columns, 1e-8);
  check_equal(found[3], hessian, 1e-7);
}
TEST_CASE("jacobian: the schedule has a loop only if an op has no form for a batch") {
  const auto has_loop = [](auto f) {
    Ir ir;
    (void)tw::jacobian(f)(ir.variable(tw::zeros(), {3}, tw::float64, "x"));
    return tw::print_schedule(ir.main_graph()).view().find("Loop.") != std::string_view::npos;
  };
  CHECK(has_loop([](Tensor x) { return ops::cumsum(x * x); }));
  CHECK_FALSE(has_loop(mixed));
  CHECK_FALSE(has_loop(cube_of_cube));
  CHECK_FALSE(has_loop([](Tensor x) { return ops::gather(x * x, x.ir().constant({2, 0}, {2}, tw::int32)); }));
}
TEST_CASE("loops, calls and branches: hvp, and gradients of Jacobians") {
  const auto sum_of = [](auto f) { return [f](Tensor x) { return ops::sum(f(x)); }; };
  const auto found = values(points, [&](Tensor x) {
    const Tensor ones = x.ir().constant({1}, {3}, tw::float64);
    const tw::JacobianOptions forward{.mode = tw::JacobianMode::forward};
    return std::array<Tensor, 8>{tw::hvp(sum_of(power_by_loop), x, ones),
                                 tw::hvp(sum_of(loop_in_a_loop), x, ones),
                                 tw::hvp(sum_of(branch), x, ones),
                                 tw::hvp(sum_of(cube_of_cube), x, ones),
                                 tw::grad(sum_of(tw::jacobian(power_by_loop)))(x),
                                 tw::grad(sum_of(tw::jacobian(power_by_loop, forward)))(x),
                                 tw::grad(sum_of(tw::jacobian(cube_of_cube)))(x),
                                 ops::sum(tw::jacobian(tw::hessian(sum_of(power_by_loop)))(x), {0, 1})};
  });
  check_equal(found[0], power(points, 12, 2));
  check_equal(found[1], power(points, 20, 3));
  check_equal(found[2], power(points, 6, 1));
  check_equal(found[3], power(points, 72, 7));
  check_equal(found[4], power(points, 12, 2));
  check_equal(found[5], power(points, 12, 2));
  check_equal(found[6], power(points, 72, 7));
  check_equal(found[7], power(points, 24, 1));
}
TEST_CASE("jacobian: axes of the result, then those of the argument") {
  const auto f = [](Tensor w, Tensor x) { return w.reshape({2, 3}).matmul(x.reshape({3, 2})); };
  const auto shapes = values({1, 2, 3, 4, 5, 6}, [&](Tensor x) {
    const Tensor by_first = tw::jacobian(f)(x, x), by_second = tw::jacobian(f, {.argnum = 1})(x, x);
    CHECK(by_first.shape() == tw::Shape{2, 2, 6});
    return std::array<Tensor, 2>{by_first, by_second};
  });
  Numbers by_first, by_second;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 6; ++j) {
        by_first.push_back(j / 3 == i ? 2 * (j % 3) + k + 1 : 0);
        by_second.push_back(j % 2 == k ? 3 * i + j / 2 + 1 : 0);
      }
  check_equal(shapes[0], by_first);
  check_equal(shapes[1], by_second);
}

TEST_CASE("several arguments and results, and arguments without a part") {
  const auto two = [](Tensor x, Tensor w) { return std::pair(ops::sum(x * w), x * x); };
  const auto f = [](Tensor x, Tensor w, Tensor) { return ops::sum(x * x * w); };
  const auto found = values(points, [&](Tensor x) {
    const Tensor w = x + 1;
    const auto [y, gradients] = tw::value_and_grad(f, {1, 2, 0})(x, w, x);
    const auto [results, pullback] = tw::vjp(two, x, w);
    const auto [dx, dw] = pullback({x.ir().constant(2, tw::float64), w});
    const auto [hx, hw, none] = tw::hvp(f, {x, w, x}, {w, x, x});
    return std::array<Tensor, 9>{y, gradients[0], gradients[1], gradients[2], dx, dw, hx, hw, none};
  });
  Numbers by_x, by_w, dx, dw, hx, hw;
  double y = 0;
  for (double x : points) {
    const double w = x + 1;
    y += x * x * w;
    by_w.push_back(x * x), by_x.push_back(2 * x * w);
    dx.push_back(2 * w + 2 * x * w), dw.push_back(2 * x);
    hx.push_back(2 * w * w + 2 * x * x), hw.push_back(2 * x * w);
  }
  check_equal(found[0], {y});
  check_equal(found[1], by_w);
  check_equal(found[2], {0, 0, 0});
  check_equal(found[3], by_x);
  check_equal(found[4], dx);
  check_equal(found[5], dw);
  check_equal(found[6], hx);
  check_equal(found[7], hw);
  check_equal(found[8], {0, 0, 0});
}

TEST_CASE("hvp: arguments that are integers have no part") {
  const auto f = [](Tensor x, Tensor i) { return ops::sum(cube(ops::gather(x, i))); };
  const auto found = values(points, [&](Tensor x) {
    const Tensor i = x.ir().constant({2, 0, 2}, {3}, tw::int32);
    const auto [by_x, by_i] = tw::hvp(f, {x, i}, {x, i});
    CHECK(by_i.dtype() == tw::int32);
    return std::array<Tensor, 2>{by_x, by_i};
  });
  check_equal(found[0], {6 * 0.25, 0, 12 * 4});
  check_equal(found[1], {0, 0, 0});
}

TEST_CASE("custom_vjp and custom_jvp: rules by hand in forward and reverse mode") {
  const auto square = [](Tensor x) { return x * x; };
  const auto wrong_vjp = tw::custom_vjp(square, [](Tensor dy, Tensor x) { return dy * x * 7; });  // 7 x, not 2 x, to tell it
  const auto wrong_jvp = tw::custom_jvp(square, [](Tensor x, Tensor dx) { return ops::exp(x) * dx; });
  const auto product = tw::custom_vjp([](Tensor x, Tensor w) { return x * w; },
                                      [](Tensor dy, Tensor x, Tensor w) { return std::pair(dy * w * 2, dy * x * 3); });
  const auto found = values(points, [&](Tensor x) {
    const Tensor ones = x.ir().constant({1}, {3}, tw::float64);
    const auto of = [](auto f) { return [f](Tensor v) { return ops::sum(f(v * 2)); }; };
    const auto [dx, dw] = tw::grad([&](Tensor v, Tensor w) { return ops::sum(product(v, w)); }, {0, 1})(x, x);
    return std::array<Tensor, 9>{tw::grad(of(wrong_vjp))(x),
                                 tw::grad(of(wrong_jvp))(x),
                                 tw::jvp(wrong_vjp, x, ones).second,
                                 tw::jvp(wrong_jvp, x, ones).second,
                                 dx,
                                 dw,
                                 tw::jvp(product, {x, x}, {ones, ones}).second,
                                 tw::grad([&](Tensor v) { return ops::sum(tw::grad(of(wrong_vjp))(v)); })(x),
                                 wrong_vjp(x)};
  });
  Numbers exponential, twice;
  for (double x : points) exponential.push_back(std::exp(x)), twice.push_back(2 * std::exp(2 * x));
  check_equal(found[0], power(points, 28, 1));
  check_equal(found[1], twice);
  check_equal(found[2], power(points, 7, 1));
  check_equal(found[3], exponential);
  check_equal(found[4], power(points, 2, 1));
  check_equal(found[5], power(points, 3, 1));
  check_equal(found[6], power(points, 5, 1));
  check_equal(found[7], {28, 28, 28});
  check_equal(found[8], power(points, 1, 2));
}
TEST_CASE("vmap: equal to a call for each row") {
  const Numbers rows{0.5, -1, 2, 1, 0.3, -0.7, 1.1, 2, -0.2, 0.1, -1.5, 0.9};
  const auto check = [&](auto f) {
    const auto found = values(rows,
                              [&](Tensor x) {
                                tw::List<Tensor> each;
                                for (int i = 0; i < 4; ++i) {
                                  const Tensor result = f(x[i]);
                                  each.push_back(result.reshape({1, -1}));
                                }
                                const Tensor batch = tw::vmap(f)(x);
                                return std::array<Tensor, 2>{batch, ops::concat(each)};
                              },
                              {4, 3});
    check_equal(found[0], found[1]);
  };
  SECTION("many ops") { check(mixed); }
  SECTION("a call in a call") { check(cube_of_cube); }
  SECTION("a gradient") { check(tw::grad(scalar)); }
  SECTION("reductions") {
    check([](Tensor x) {
      const Tensor table = x.reshape({3, 1}) * x * 2 - 1;
      return ops::softmax(table, 0) * ops::max(table, {-1}) + ops::sum(table) + ops::mean(table, {0}, true);
    });
  }
  SECTION("solves, and their gradients") {
    const auto solves = [](Tensor x) {
      const Tensor a = x.reshape({3, 1}) * x + x.ir().constant(tw::eye(), {3, 3}, x.dtype());
      return ops::solve_triangular(ops::cholesky(a), x.reshape({3, 1})) + ops::solve(a, x).reshape({3, 1});
    };
    check(solves);
    check(tw::grad([=](Tensor x) { return ops::sum(solves(x)); }));
  }
  SECTION("gathers, and their gradients") {
    const auto own = [](Tensor x) { return ops::abs(x).cast(tw::int32); };  // indices from 0 to 2
    const auto check_both = [&](auto f) {
      check(f);
      check(tw::grad([f](Tensor x) { return ops::sum(f(x) * f(x)); }));
    };
    check_both([](Tensor x) {
      const Tensor indices = x.ir().constant({2, 0, 0, 1}, {2, 2}, tw::int32), table = x.reshape({3, 1}) * x;
      return ops::concat({ops::flatten(ops::gather(table, indices, -1)), ops::flatten(ops::tied_gather(table, indices))});
    });
    const auto with_own = [own](Tensor x) {
      const Tensor table = x.reshape({3, 1}) * ops::exp(x), fixed = x.ir().constant(tw::eye(), {3, 3}, x.dtype());
      return ops::concat({ops::gather(table, own(x), 1), ops::gather(table, own(x)), ops::gather(fixed, own(x), 1) * x});
    };
    check_both(with_own);
    check_both([own](Tensor x) {
      const Tensor table = x.reshape({3, 1}) * ops::exp(x);
      return ops::groupedgather(table, ops::concat({own(x), own(x)}).reshape({3, 2}), 1, 3);
    });
    const auto one = values({0.5, -1, 2},
                            [&](Tensor x) { return std::array<Tensor, 2>{tw::vmap(with_own)(x.reshape({1, 3})), with_own(x)}; });
    check_equal(one[0], one[1]);
  }
  SECTION("axes of the arguments") {
    const auto f = [](Tensor x, Tensor w) { return ops::exp(x) * ops::sum(w); };
    const auto found = values(rows,
                              [&](Tensor x) {
                                const Tensor w = x.ir().constant(tw::List<double>{1, 2, 3, 4}, {4}, tw::float64);
                                const Tensor by_row = x * 2;
                                return std::array<Tensor, 6>{tw::vmap(f, {1, std::nullopt})(x, w),
                                                             (ops::exp(x) * 10).T(),
                                                             tw::vmap(f, {-2, 0})(x, w),
                                                             ops::exp(x) * w.reshape({4, 1}),
                                                             tw::vmap(tw::vmap(f, {std::nullopt, 0}), {0, 0})(x, by_row),
                                                             ops::exp(x.reshape({4, 1, 3})) * by_row.reshape({4, 3, 1})};
                              },
                              {4, 3});
    for (std::size_t i : {0u, 2u, 4u}) check_equal(found[i], found[i + 1]);
  }
  SECTION("a result that depends on no row") {
    check([](Tensor x) { return x.ir().constant(tw::List<double>{1, 2}, {2}, tw::float64); });
  }
}
TEST_CASE("custom_vjp: in a repeat, and vmap in both modes") {
  const auto wrong = tw::custom_vjp([](Tensor x) { return x * x; }, [](Tensor dy, Tensor x) { return dy * x * 7; });
  const auto found = values(points, [&](Tensor x) {
    const Tensor ones = x.ir().constant({1}, {3}, tw::float64);
    const auto looped = [&wrong](Tensor v) {
      const Graph body = v.ir().create_graph([&wrong](Tensor w) -> Tensor { return wrong(w); }, v);
      return tw::repeat(body, 1, {v})[0];
    };
    const auto cubes = tw::vmap([](Tensor s) { return s * s * s; });
    return std::array<Tensor, 4>{tw::jvp(looped, x, ones).second, tw::grad([&](Tensor v) { return ops::sum(looped(v)); })(x),
                                 tw::jvp(cubes, x, ones).second, tw::grad([&](Tensor v) { return ops::sum(cubes(v)); })(x)};
  });
  for (std::size_t i : {0u, 1u}) check_equal(found[i], power(points, 7, 1));
  for (std::size_t i : {2u, 3u}) check_equal(found[i], power(points, 3, 2));
}
TEST_CASE("stop_gradient: neither mode has a part through it") {
  const auto f = [](Tensor x) { return ops::sum(x * tw::stop_gradient(x * x)); };
  const auto found = values(points, [&](Tensor x) { return std::array<Tensor, 2>{tw::grad(f)(x), tw::jvp(f, x, x).second}; });
  check_equal(found[0], power(points, 1, 2));
  check_equal(found[1], {0.125 - 1 + 8});
}

namespace {
/// sum(tanh(x W))
struct Net : tw::Module<Net> {
  constexpr Tensor build(Tensor x) {
    return ops::sum(ops::tanh(x.matmul(add_variable_input("weight", tw::ones(), {x.shape(-1), 2}, x.dtype()))));
  }
};
struct Square : tw::Module<Square> {
  constexpr Tensor build(Tensor x) { return ops::sum(x * x); }
};
}  // namespace

TEST_CASE("modules, graphs, and bound graphs, whose bound tensors are constants") {
  const auto found = values(points, [](Tensor x) {
    const auto created = tw::create_graph(Net{}, x);
    const Tensor weight = x.reshape({3, 1}) * x.ir().constant(tw::List<double>{1, 0.5}, {2}, tw::float64);
    const auto bound = created.graph.bind(tw::NamedTensors::from_dict({{"weight", weight}}));
    const auto as_function = [](Tensor v, Tensor w) { return ops::sum(ops::tanh(v.matmul(w))); };
    return std::array<Tensor, 7>{tw::grad(bound)(x),
                                 tw::grad(as_function)(x, weight),
                                 tw::hessian(bound)(x),
                                 tw::hessian(as_function)(x, weight),
                                 tw::grad(created.graph, 1)(x, weight),
                                 tw::grad(as_function, 1)(x, weight),
                                 tw::grad(Square{})(x)};
  });
  check_equal(found[0], found[1]);
  check_equal(found[2], found[3]);
  check_equal(found[4], found[5]);
  check_equal(found[6], power(points, 2, 1));
}

namespace {
constexpr Tensor exponential_product(Tensor x) { return ops::exp(x.reshape({3, 1})).matmul(x.reshape({1, 3})); }
constexpr void planned(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3})), v = ir.constant({1, 2, 3}, {3});
  store("jacobian in a loop", tw::jacobian(power_by_loop)(x));
  store("jacobian of a batch", tw::jacobian(exponential_product)(x));
  store("jvp of a loop", tw::jvp(power_by_loop, x, v).second);
  store("hvp of a loop", tw::hvp([](Tensor y) { return ops::sum(power_by_loop(y)); }, x, v));
}
template <class Session>
void check_planned() {
  const double x[] = {0.5, 1, 2};
  Session session({.threads = 2});
  const auto outputs = session.run("x"_s = xt::xtensor<float, 1>{0.5, 1, 2});
  CHECK(elements(outputs["jacobian in a loop"_s]) == Floats{0.5, 0, 0, 0, 4, 0, 0, 0, 32});
  CHECK(elements(outputs["jvp of a loop"_s]) == Floats{0.5, 8, 96});
  CHECK(elements(outputs["hvp of a loop"_s]) == Floats{3, 24, 144});
  const auto batch = elements(outputs["jacobian of a batch"_s]);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        CHECK(batch[9 * i + 3 * j + k] == Approx(std::exp(x[i]) * ((i == k ? x[j] : 0) + (j == k ? 1 : 0))));
}
}  // namespace

TEST_CASE("planned: the host and a simulated IPU") {
  check_planned<tw::Session<planned>>();
  check_planned<TestSession<planned, tw::ipu_model>>();
}
