// labels: more strict tsan
// Ops that take positions, in programs: whatever stands beside them, however they are cut, an element has its own number.
#include <array>
#include <vector>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "tilewright/transform/recompute_graph.hpp"
#include "tilewright/xtensor.hpp"
// after the library, which silences a warning of GCC 12 about its own headers

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using Philox = tw::kernel::PhiloxVectors<tw::kernel::WideVector>;
using Seed = std::array<std::uint32_t, 2>;

/// What the ops should give, from the kernels' groups.
template <class Numbers>
std::vector<float> all_of(const Numbers& numbers, std::size_t count) {
  std::vector<float> result((count + 63) / 64 * 64);
  for (std::size_t i = 0; i < result.size(); i += 64) numbers.fill(i / 64, result.data() + i);
  result.resize(count);
  return result;
}
std::vector<float> normals(Seed seed, std::size_t count) {
  return all_of(tw::kernel::NormalNumbers<float>{Philox(seed), 0, 1}, count);
}
std::vector<float> factors(Seed seed, std::size_t count) {  // of a probability of 1/2
  return all_of(tw::kernel::DropoutFactors<float>{Philox(seed), 0x80000000, 2}, count);
}
Seed child(Seed seed, std::uint32_t modifier) {
  const auto words = tw::philox({modifier, 0, 0, 1}, seed);
  return {words[0], words[1]};
}
std::vector<float> elements_of(const auto& array) { return {array.data(), array.data() + array.size()}; }

template <class F>
std::vector<float> map(F f, const std::vector<float>& first, const auto&... rest) {
  std::vector<float> result(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) result[i] = f(first[i], rest[i]...);
  return result;
}
std::vector<float> transposed(const std::vector<float>& x, std::size_t rows, std::size_t columns) {
  std::vector<float> result(x.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) result[j * rows + i] = x[i * columns + j];
  return result;
}

constexpr Tensor load_seed(Ir& ir, std::string_view name) { return ops::host_load(ir.h2d_stream(name, {2}, tw::uint32)); }

// ---- neighbours in a group, and cuts into many blocks; numbers below are exact, so that the order of operations is all the same

constexpr std::int64_t rows = 37, columns = 259;
constexpr void neighbours(Ir& ir) {
  const Tensor seed = load_seed(ir, "seed"), other = load_seed(ir, "other");
  const Tensor x = ops::host_load(ir.h2d_stream("x", {rows, columns}));
  // formulas before and after, one seed in two ops, and a result that is read twice
  const Tensor before = ops::relu(x * 2 + 1), dropped = ops::dropout(before, seed, 0.5), again = ops::dropout(x, seed, 0.5);
  store("dropped", dropped * 4 - 1);
  store("difference", dropped - again);
  // sums along both axes, whose cuts differ from those of the op: of whole numbers, which are exact
  store("over rows", ops::sum(dropped, 0));
  store("over columns", ops::sum(dropped, 1));
  // readers of a transposed result, alone and with other ops; dropout of a transposed tensor
  const Tensor noise = ops::random_normal(seed, {rows, columns});
  store("transposed noise", noise.T() * 1);
  store("moved noise", ops::random_normal(other, {rows, columns}) + x);
  store("noise", noise);
  store("dropped transposed", ops::dropout(x.T(), other, 0.5));
  // in place on a result, and on an input that dies
  const Tensor y = ops::random_normal(other, {rows, columns});
  ops::scaled_add_(y, x, {.b = 2});
  store("added", y);
  store("twice", ops::dropout(ops::dropout(x + 1, seed, 0.5), other, 0.5));
  // whole rows
  store("rows", ops::shaped_dropout(x, seed, {rows, 1}, 0.5));
}
template <tw::Target target>
void check_neighbours(int threads) {
  TestSession<neighbours, target> session({.threads = threads});
  constexpr std::size_t count = rows * columns;
  const Seed seed{1, 2}, other{3, 4};
  std::vector<float> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 17) - 8;
  xt::xtensor<float, 2> x_array({rows, columns});
  std::ranges::copy(x, x_array.data());
  for (int run = 0; run < 2; ++run) {
    const auto outputs = session.run("seed"_s = seed, "other"_s = other, "x"_s = x_array);
    const auto mask = factors(seed, count), other_mask = factors(other, count), noise = normals(seed, count);
    const auto before = map([](float a) { return std::max(a * 2 + 1, 0.f); }, x);
    const auto dropped = map([](float a, float f) { return a * f; }, before, mask);
    CHECK(elements_of(outputs["dropped"_s]) == map([](float a) { return a * 4 - 1; }, dropped));
    CHECK(elements_of(outputs["difference"_s]) == map([](float d, float a, float f) { return d - a * f; }, dropped, x, mask));
    std::vector<float> over_rows(columns), over_columns(rows), kept_rows(count);
    const auto row_mask = factors(seed, rows);
    for (std::size_t i = 0; i < count; ++i) {
      over_rows[i % columns] += dropped[i];
      over_columns[i / columns] += dropped[i];
      kept_rows[i] = x[i] * row_mask[i / columns];
    }
    CHECK(elements_of(outputs["over rows"_s]) == over_rows);
    CHECK(elements_of(outputs["over columns"_s]) == over_columns);
    CHECK(elements_of(outputs["rows"_s]) == kept_rows);
    CHECK(elements_of(outputs["noise"_s]) == noise);
    CHECK(elements_of(outputs["transposed noise"_s]) == transposed(noise, rows, columns));
    CHECK(elements_of(outputs["moved noise"_s]) == map([](float n, float a) { return n + a; }, normals(other, count), x));
    CHECK(elements_of(outputs["dropped transposed"_s]) ==
          map([](float a, float f) { return a * f; }, transposed(x, rows, columns), other_mask));
    CHECK(elements_of(outputs["added"_s]) == map([](float n, float a) { return n + 2 * a; }, normals(other, count), x));
    CHECK(elements_of(outputs["twice"_s]) == map([](float a, float f, float g) { return (a + 1) * f * g; }, x, mask, other_mask));
  }
}

// ---- graphs that are called twice, and loops

struct Noisy {
  constexpr Tensor operator()(Tensor x, Tensor seed) const { return ops::dropout(x, seed, 0.5) + ops::random_normal(seed, {70}); }
};
struct Walk {
  constexpr std::array<Tensor, 2> operator()(Tensor x, Tensor count, Tensor seed) const {
    const Tensor mine = ops::create_random_seed(seed, count);
    return {x + ops::random_normal(mine, {5, 30}), count + 1};
  }
};
constexpr void calls_and_loops(Ir& ir) {
  const Tensor seed = load_seed(ir, "seed"), other = load_seed(ir, "other");
  const Tensor x = ops::host_load(ir.h2d_stream("x", {70}));
  const Graph noisy = ir.create_graph(Noisy{}, x, seed);
  store("first", tw::call(noisy, {x, seed})[0]);
  store("second", tw::call(noisy, {x, other})[0]);
  store("first again", tw::call(noisy, {x, seed})[0]);
  const Tensor start = ir.constant({0}, {5, 30}), count = ir.constant({0}, {}, tw::int32);
  const Graph walk = ir.create_graph(Walk{}, start, count, seed);
  store("walk", tw::repeat(walk, 4, {start, count, seed})[0]);
}
template <tw::Target target>
void check_calls_and_loops(int threads) {
  TestSession<calls_and_loops, target> session({.threads = threads});
  const Seed seed{1, 2}, other{3, 4};
  const std::vector<float> x = map([](float n) { return n * 3; }, normals({5, 6}, 70));
  const auto outputs = session.run("seed"_s = seed, "other"_s = other, "x"_s = x);
  const auto noisy = [&](Seed s) {
    return map([](float a, float f, float n) { return a * f + n; }, x, factors(s, 70), normals(s, 70));
  };
  CHECK(elements_of(outputs["first"_s]) == noisy(seed));
  CHECK(elements_of(outputs["second"_s]) == noisy(other));
  CHECK(elements_of(outputs["first again"_s]) == noisy(seed));
  std::vector<float> walked(150);
  for (std::uint32_t i = 0; i < 4; ++i)
    walked = map([](float a, float n) { return a + n; }, walked, normals(child(seed, i), 150));
  CHECK(elements_of(outputs["walk"_s]) == walked);
}

// ---- replicas, each with a seed of its own, and an accumulation step for each transfer

constexpr void replicas(Ir& ir) {
  ir.set_replication_factor(3);
  ir.set_num_host_transfers(2);
  const auto seeds = ir.h2d_stream("seed", {2}, tw::uint32);
  const auto results = ir.d2h_stream("noise", {9, 13});
  for (int i = 0; i < 2; ++i) ops::host_store(results, ops::random_normal(ops::host_load(seeds), {9, 13}));
}
template <tw::Target target>
void check_replicas(int threads) {
  TestSession<replicas, target> session({.threads = threads});
  const auto seeds = tw::create_seeds(42, {.batches_per_step = 2, .replicas = 3, .gradient_accumulation_factor = 2});
  for (std::size_t step = 0; step < 2; ++step) {
    const auto outputs = session.run("seed"_s = xt::view(seeds, step));  // [accumulation, replicas, 2]
    std::vector<float> expected;
    for (std::size_t part = 0; part < 2; ++part)
      for (std::size_t replica = 0; replica < 3; ++replica) {
        const auto numbers = normals({seeds(step, part, replica, 0), seeds(step, part, replica, 1)}, 9 * 13);
        expected.insert(expected.end(), numbers.begin(), numbers.end());
      }
    CHECK(elements_of(outputs["noise"_s]) == expected);
  }
}

// ---- the gradient of a graph that drops: with its activations, and computed again

struct Dropping : tw::Module<Dropping> {
  constexpr Tensor build(Tensor x, Tensor seed) {
    const Tensor w = add_variable_input("w", tw::values({3}), {});
    const Tensor hidden = ops::dropout(x * w, seed, 0.5);
    return hidden * hidden;
  }
};
template <bool recomputes>
constexpr void gradients(Ir& ir) {
  const Tensor seed = load_seed(ir, "seed");
  const Tensor x = ops::host_load(ir.h2d_stream("x", {70}));
  const auto [factories, graph] = tw::create_graph(Dropping{}, x, seed);
  auto gradient = tw::autodiff(graph);
  if (recomputes) gradient = tw::recompute_graph(gradient);
  const auto call = graph.bind(factories.init()).call_with_info(x, seed);
  const auto [dx, dw] = gradient.call(x, gradient.grad_graph_info().inputs_dict(call)).template as<2>();
  store("dx", dx);
  store("dw", dw);
}
template <auto program>
void check_gradients() {
  tw::Session<program> session({.threads = 1});
  const Seed seed{1, 2};
  std::vector<float> x(70);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 3;
  const auto outputs = session.run("seed"_s = seed, "x"_s = x);
  const auto mask = factors(seed, x.size());
  float dw = 0;  // of dy (f x w)^2 with dy = x: 2 x f^2 x^2 w; whole numbers
  for (std::size_t i = 0; i < x.size(); ++i) dw += 2 * x[i] * mask[i] * mask[i] * x[i] * x[i] * 3;
  CHECK(elements_of(outputs["dx"_s]) == map([](float a, float f) { return 2 * a * f * f * a * 9; }, x, mask));
  CHECK(elements_of(outputs["dw"_s]) == std::vector<float>{dw});
}

}  // namespace

TEST_CASE("random numbers of fused ops, of views and in place are those of the positions") {
  for (const int threads : {1, 3}) {
    check_neighbours<tw::cpu>(threads);
    check_neighbours<tw::cpu.with_tiles(61)>(threads);
  }
  check_neighbours<tw::cpu.without_fusion()>(2);
  check_neighbours<tw::ipu_model>(2);
}
TEST_CASE("called graphs and loops draw by the seeds that they are given") {
  for (const int threads : {1, 2}) check_calls_and_loops<tw::cpu>(threads);
  check_calls_and_loops<tw::ipu_model>(2);
}
TEST_CASE("replicas and steps draw by the seeds that are streamed to them") {
  for (const int threads : {1, 4}) check_replicas<tw::cpu>(threads);
  check_replicas<tw::ipu_model>(2);
}
TEST_CASE("the gradient of dropout drops what was dropped, also where the graph is computed again") {
  check_gradients<gradients<false>>();
  check_gradients<gradients<true>>();
}
