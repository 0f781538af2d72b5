// labels: arm asan standard-library strict tsan ubsan windows
// What a session takes and gives: streams, variables and names.
#include <limits>

#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using Catch::Matchers::Message;

/// Loads one stream twice in the main graph and once in each of two calls; three elements of another one.
constexpr void transfers(Ir& ir) {
  ir.set_num_host_transfers(4);
  const auto in = ir.h2d_stream("in", {2});
  const auto numbers = ir.h2d_stream("numbers", {}, tw::int32);
  const auto out = ir.d2h_stream("out", {2});
  const auto sums = ir.d2h_stream("sums", {}, tw::int32);
  const Tensor first = ops::host_load(in), second = ops::host_load(in);
  ops::host_store(out, second);
  ops::host_store(out, first);
  const tw::Graph add_next = ir.create_graph([&](Tensor t) { return t + ops::host_load(in); }, first);
  ops::host_store(out, tw::call(add_next, first));
  ops::host_store(out, tw::call(add_next, first));
  Tensor sum = ops::host_load(numbers);
  ops::host_store(sums, sum);
  for (int i = 0; i < 2; ++i) ops::host_store(sums, sum = sum + ops::host_load(numbers));
}

constexpr void variables(Ir& ir) {
  const Tensor half = ir.variable(tw::values({1, 2.5, -3}), {3}, tw::float16, "half");
  const Tensor count = ir.variable(tw::full(40), {}, tw::int32, "count");
  const Tensor weight = ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "net.weight");
  ops::scaled_add_(half, half);
  ops::scaled_add_(count, ir.constant(2, tw::int32));
  store("row", weight.transpose({1, 0}) + ops::host_load(ir.h2d_stream("x", {2})));
  [[maybe_unused]] const auto unused = ir.h2d_stream("unused", {1});
}

/// Two streams added.
constexpr void addition(Ir& ir) {
  const Tensor a = ops::host_load(ir.h2d_stream("a", {3})), b = ops::host_load(ir.h2d_stream("b", {3}));
  store("sum", a + b);
  store("difference", ops::sum(a - b, 0));
}

/// A product of what a run is given, which the next run is given; other outputs stand before and after it.
constexpr void products(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {17, 17})), y = ops::host_load(ir.h2d_stream("y", {17, 17}));
  store("first", ops::sum(x, 0));
  store("product", x.matmul(y));
  store("difference", x - y);
}
/// A variable that takes what is loaded.
constexpr void shifting(Ir& ir) {
  const Tensor w = ir.variable(tw::values({1, 2, 3}), {3}, tw::float32, "w");
  const Tensor x = ops::host_load(ir.h2d_stream("x", {3}));
  ops::scaled_add_(w, x);
  ops::scaled_add_(w, x);
  store("y", w);
}

/// A label and an image, which is loaded in each of 4 iterations; each stores to "sums", the main graph stores twice to "ends".
constexpr void own_numbers(Ir& ir) {
  const Tensor label = ops::host_load(ir.h2d_stream("label", {}));
  const auto images = ir.h2d_stream("image", {2});
  const auto sums = ir.d2h_stream("sums", {2}), ends = ir.d2h_stream("ends", {2});
  const auto body = [&](Tensor sum, Tensor scale) {
    const Tensor next = sum + scale * ops::host_load(images);
    ops::host_store(sums, next);
    return next;
  };
  const Tensor zero = ir.constant({0}, {2});
  const Tensor sum = tw::repeat(ir.create_graph(body, zero, label), 4, {zero, label});
  ops::host_store(ends, zero - 1);
  ops::host_store(ends, sum);
  store("last", sum);
  const auto either = ir.h2d_stream("either", {});
  const tw::Graph once = ir.create_graph([&](Tensor t) { return t + ops::host_load(either); }, label),
                  twice = ir.create_graph([&](Tensor t) { return t + ops::host_load(either) * ops::host_load(either); }, label);
  store("branch",
        tw::conditional(ops::host_load(ir.h2d_stream("takes_two", {}, tw::boolean)), {twice, {label}}, {once, {label}}));
}
/// The same counts as in PopXL.
constexpr void one_number(Ir& ir) {
  ir.set_num_host_transfers(8);
  own_numbers(ir);
}

/// Results that kernels, epilogues and expressions write, with tails that no vector fills.
constexpr void wide(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {5, 67}));
  const Tensor w = ir.variable(tw::normal(0, 1), {67, 45}, tw::float32, "w");
  store("gelu", ops::gelu(x.matmul(w)));
  store("softmax", ops::softmax(x));
  store("half", (x * x - 1).cast(tw::float16));
  store("transposed", x.T());
  store("sums", ops::sum(x, 1));
}

/// Ten iterations, each of which takes two elements of "e" and one of "f".
constexpr void uneven(Ir& ir) {
  ir.set_num_host_transfers(20);
  const auto e = ir.h2d_stream("e", {2}), f = ir.h2d_stream("f", {});
  const auto pairs = ir.d2h_stream("pairs", {2, 2});
  const Tensor upper = ir.constant({1, 0}, {2, 1}), lower = ir.constant({0, 1}, {2, 1});
  const auto body = [&](Tensor first_row, Tensor second_row) {
    const Tensor first = ops::host_load(e), second = ops::host_load(e);
    ops::host_store(pairs, first_row * first + second_row * second + ops::host_load(f));
  };
  tw::repeat(ir.create_graph(body, upper, lower), 10, {upper, lower});
}

/// Constants of the main graph and of another one.
constexpr void constants(Ir& ir) {
  const Tensor x = ir.variable(tw::ones(), {2}, tw::float32, "x");
  const Tensor table = ir.constant({1, 2, 3, 4}, {2, 2}, tw::int32, "table");
  const auto scope = tw::name_scope(ir, "net");
  const Tensor half = ir.constant({0.5}, {2}, tw::float16, "half");
  const auto body = [&](Tensor t) { return t * ir.constant({3}, {}, tw::float32, "factor"); };
  const tw::Graph graph = ir.create_graph(body, x);
  store("y", tw::call(graph, x) + half.cast(tw::float32) + 1);
  store("z", table + 1);
}

/// Constants and variables that generators give; the range is longer than a block of values.
constexpr void generators(Ir& ir) {
  ir.constant(tw::causal_mask(), {2, 2, 3}, tw::float32, "mask");
  ir.constant(tw::causal_mask(0, 1), {3, 2}, tw::boolean, "seen");
  ir.constant(tw::range(3, 2), {1500}, tw::int32, "odd");
  ir.constant(tw::range(7), {1}, tw::int32, "seven");
  const auto body = [&](Tensor t) { return t + ir.constant(tw::eye(0.5), {2, 2}); };
  const Tensor w = ir.variable(tw::eye(), {2, 2}, tw::float32, "w");
  ir.variable(tw::range(0, 0.25), {2, 2}, tw::float64, "quarters");
  store("y", tw::call(ir.create_graph(body, w), w));
}
constexpr void generator_of_groups(Ir& ir) {
  ir.set_replication_factor(2);
  ir.variable(tw::range(1), {3}, tw::int32, "n", {.replica_grouping = ir.replica_grouping(1, 1)});
}

}  // namespace

TEST_CASE("generators give the elements of constants and variables") {
  const tw::Session<generators> session;
  constexpr float kept = 0, masked = -std::numeric_limits<float>::infinity();
  CHECK(elements(session.get_tensor_data("mask"_s)) ==
        Floats{kept, masked, masked, kept, kept, masked, kept, masked, masked, kept, kept, masked});
  CHECK(elements(session.get_tensor_data("seen"_s)) == std::vector<bool>{true, false, true, true, true, true});
  Ints odd(1500);
  for (int i = 0; i < 1500; ++i) odd[static_cast<std::size_t>(i)] = 3 + 2 * i;
  CHECK(elements(session.get_tensor_data("odd"_s)) == odd);
  CHECK(elements(session.get_tensor_data("seven"_s)) == Ints{7});
  CHECK(elements(session.get_tensor_data("quarters"_s)) == std::vector<double>{0, 0.25, 0.5, 0.75});
  tw::Session<generators> other;
  CHECK(elements(other.run()["y"_s]) == Floats{1.5, 0, 0, 1.5});
  CHECK(tw::Session<generators>::plan.values.size() == 1);  // that of the constant of one element

  const tw::Session<generator_of_groups> groups;
  CHECK(elements(groups.get_tensor_data("n"_s)) == Ints{1, 2, 3, 1, 2, 3});
}

TEST_CASE("the n-th host_load of a stream takes its n-th element") {
  tw::Session<transfers> session({.threads = 2});
  const xt::xtensor<float, 2> in{{1, 2}, {10, 20}, {100, 200}, {1000, 2000}};
  for (int run = 0; run < 2; ++run) {
    const auto outputs = session.run("in"_s = in, "numbers"_s = Ints{1, 2, 3, 4});
    CHECK(elements(outputs["out"_s]) == Floats{10, 20, 1, 2, 101, 202, 1001, 2002});
    const Ints sums = elements(outputs["sums"_s]);
    CHECK(Ints(sums.begin(), sums.begin() + 3) == Ints{1, 3, 6});
  }
}
TEST_CASE("more transfers than the host has elements for are refused") {
  const auto ir = tw::trace([](Ir& program) {
    const auto in = program.h2d_stream("in", {2});
    const tw::Graph load = program.create_graph([&](Tensor t) { return t + ops::host_load(in); }, tw::TensorSpec{{2}});
    Tensor sum = program.constant({0}, {2});
    for (int i = 0; i < 3; ++i) sum = tw::call(load, sum);
    store("sum", sum);
  });
  CHECK(tw::lower(tw::prepare(*ir, tw::cpu)).streams[0].transfers == 3);
  ir->set_num_host_transfers(2);
  CHECK_THROWS_MATCHES(tw::lower(tw::prepare(*ir, tw::cpu)), tw::TraceError,
                       Message("stream: 'in' moves 3 tensors in a run: at most num_host_transfers, 2, expected"));
  ir->set_num_host_transfers(1);
  CHECK_THROWS_MATCHES(tw::lower(tw::prepare(*ir, tw::cpu)), tw::TraceError,
                       Message("stream: 'in' moves 3 tensors in a run: at most num_host_transfers, 1, expected"));
  ir->set_num_host_transfers(3);
  CHECK_NOTHROW(tw::lower(tw::prepare(*ir, tw::cpu)));
}
TEST_CASE("each stream has as many elements as a run moves of it") {
  on_all_machines<own_numbers>([](auto& session) {
    const xt::xtensor<float, 2> image{{1, 10}, {2, 20}, {3, 30}, {4, 40}};
    const auto outputs = session.run("label"_s = 2.f, "image"_s = image, "either"_s = Floats{5, 7}, "takes_two"_s = true);
    REQUIRE(std::ranges::equal(outputs["sums"_s].shape(), std::array<std::size_t, 2>{4, 2}));
    CHECK(elements(outputs["sums"_s]) == Floats{2, 20, 6, 60, 12, 120, 20, 200});
    REQUIRE(std::ranges::equal(outputs["ends"_s].shape(), std::array<std::size_t, 2>{2, 2}));
    CHECK(elements(outputs["ends"_s]) == Floats{-1, -1, 20, 200});
    REQUIRE(std::ranges::equal(outputs["last"_s].shape(), std::array<std::size_t, 1>{2}));
    CHECK(elements(outputs["last"_s]) == Floats{20, 200});
    CHECK(outputs["branch"_s]() == 2 + 5 * 7);
    CHECK(session.run("label"_s = 2.f, "image"_s = image, "either"_s = Floats{5, 7}, "takes_two"_s = false)["branch"_s]() == 7);
    CHECK_THROWS_MATCHES(
        session.run("label"_s = 2.f, "image"_s = Floats{1, 2}, "either"_s = Floats{5, 7}, "takes_two"_s = true),
        std::invalid_argument,
        Message("run: 'image' has shape (2,): (4, 2) expected, where 4 is the number of transfers of this stream in a run"));
  });
}
TEST_CASE("with num_host_transfers all streams have the same number of elements") {
  using Session = tw::Session<one_number>;
  for (const auto& input : Session::expected_inputs()) CHECK(input.host_shape[0] == 8);
  for (const auto& output : Session::expected_outputs()) CHECK(output.host_shape[0] == 8);
  Session session;
  xt::xtensor<float, 2> image = xt::zeros<float>({8, 2});
  for (std::size_t i = 0; i < 4; ++i) image(i, 0) = static_cast<float>(i + 1), image(i, 1) = 10 * image(i, 0);
  const auto outputs = session.run("label"_s = Floats(8, 2), "image"_s = image, "either"_s = Floats{5, 7, 0, 0, 0, 0, 0, 0},
                                   "takes_two"_s = std::array<bool, 8>{true});
  CHECK(outputs["last"_s](0, 1) == 200);
  CHECK(outputs["sums"_s](3, 0) == 20);

  const auto tensors = outputs.host_tensors();
  constexpr auto expected = Session::expected_outputs();
  REQUIRE(tensors.size() == expected.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CHECK(tensors[i].name == expected[i].name);
    CHECK(tensors[i].spec == tw::TensorSpec{expected[i].host_shape, expected[i].spec.dtype});
    CHECK(std::cmp_equal(tensors[i].bytes.size(), tensors[i].spec.bytes()));
    if (tensors[i].name == "sums") CHECK(tensors[i].bytes.data() == reinterpret_cast<const std::byte*>(outputs["sums"_s].data()));
  }
}
TEST_CASE("outputs of a run may be inputs of the next one") {
  on_all_machines<products>([](auto& session) {
    using Matrix = xt::xtensor<float, 2>;
    Matrix x({17, 17}), y({17, 17});
    for (std::size_t i = 0; i < x.size(); ++i) {
      x.data()[i] = static_cast<float>(i % 3) - 1;
      y.data()[i] = static_cast<float>(i % 5) - 2;
    }
    const auto outputs = session.run("x"_s = x, "y"_s = y);
    const Matrix product = outputs["product"_s], difference = outputs["difference"_s];
    for (int run = 0; run < 2; ++run) {  // both from one run, then one twice
      const Matrix left = outputs["product"_s], right = run == 0 ? outputs["difference"_s] : outputs["product"_s];
      if (run == 0) session.run("x"_s = outputs["product"_s], "y"_s = outputs["difference"_s]);
      else session.run("x"_s = outputs["product"_s], "y"_s = outputs["product"_s]);
      Matrix expected = xt::zeros<float>({17, 17});
      for (std::size_t i = 0; i < 17; ++i)
        for (std::size_t j = 0; j < 17; ++j)
          for (std::size_t k = 0; k < 17; ++k) expected(i, j) += left(i, k) * right(k, j);
      CHECK(xt::allclose(outputs["product"_s], expected, 1e-5));
      CHECK(elements(outputs["difference"_s]) == elements(Matrix(left - right)));
    }
  });
}
TEST_CASE("views of variables may be inputs, and not outputs") {
  tw::Session<shifting> session({.threads = 2});
  auto w = session.variables()["w"_s];
  CHECK(elements(session.run("x"_s = w)["y"_s]) == Floats{3, 6, 9});  // w + w + w, with w from before the run
  Floats y(3);
  session.run_with_outputs("x"_s = w, "y"_s = y);
  CHECK(y == Floats{9, 18, 27});
  CHECK_THROWS_MATCHES(session.run_with_outputs("x"_s = y, "y"_s = w), std::invalid_argument,
                       Message("run_with_outputs: 'y' shares memory with the session's variables: memory of its own expected"));
  CHECK(elements(w) == Floats{9, 18, 27});
}
TEST_CASE("sessions are moved and kept in vectors, and views of their memory stay valid") {
  std::vector<tw::Session<shifting>> sessions;
  sessions.emplace_back(tw::SessionOptions{.threads = 2});
  const Floats one{1, 1, 1};
  const auto outputs = sessions[0].run("x"_s = one);
  const auto w = sessions[0].variables()["w"_s];
  for (int i = 0; i < 5; ++i) sessions.emplace_back();  // which moves the first one
  CHECK(elements(outputs["y"_s]) == Floats{3, 4, 5});
  CHECK(elements(sessions[0].run("x"_s = one)["y"_s]) == Floats{5, 6, 7});
  CHECK(elements(w) == Floats{5, 6, 7});
  CHECK(elements(sessions[5].get_tensor_data("w"_s)) == Floats{1, 2, 3});
  sessions[5] = std::move(sessions[0]);
  CHECK(elements(sessions[5].get_tensor_data("w"_s)) == Floats{5, 6, 7});
  CHECK_THROWS_MATCHES(sessions[0].run("x"_s = one), std::logic_error,
                       Message("run: a session that was moved from: the one that has its memory now expected"));
  STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<tw::Session<shifting>>);
}
TEST_CASE("variables of every dtype live as long as their session") {
  tw::Session<variables> session({.seed = 5});
  const Floats weight = elements(session.get_tensor_data("net.weight"_s));
  const Floats x{1, 2};
  session.run("x"_s = x);
  const auto row = elements(session.run("x"_s = x)["row"_s]);
  CHECK(row == Floats{weight[0] + 1, weight[3] + 2, weight[1] + 1, weight[4] + 2, weight[2] + 1, weight[5] + 2});
  const auto half = session.get_tensor_data("half"_s);
  CHECK(Floats(half.begin(), half.end()) == Floats{4, 10, -12});
  CHECK(session.get_tensor_data("count"_s)() == 44);
  CHECK(session.variables()["count"_s]() == 44);
  session.variables()["count"_s]() = 1;
  session.run("x"_s = x);
  CHECK(session.get_tensor_data("count"_s)() == 3);
}
TEST_CASE("a session's variables can be written to another one") {
  tw::Session<variables> from({.seed = 1});
  TestSession<variables, tw::ipu_model> to({.seed = 2});
  CHECK(elements(from.get_tensor_data("net.weight"_s)) != elements(to.get_tensor_data("net.weight"_s)));
  from.run("x"_s = Floats{0, 0});
  to.write_variables_data(from.get_tensors_data());
  CHECK(elements(to.get_tensor_data("net.weight"_s)) == elements(from.get_tensor_data("net.weight"_s)));
  CHECK(to.get_tensor_data("count"_s)() == 42);
  to.write_variable_data("net.weight"_s, xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}});
  to.write_variable_data("count"_s, 7);
  CHECK(elements(to.variables()["net"_s]["weight"_s]) == Floats{1, 2, 3, 4, 5, 6});
  CHECK(to.get_tensor_data("count"_s)() == 7);
  CHECK(tw::Session<variables>({.seed = 1}).variables()["net"_s]["weight"_s](1, 2) ==
        from.variables()["net"_s]["weight"_s](1, 2));
}
TEST_CASE("arrays of wrong shapes are refused before anything runs") {
  tw::Session<variables> session;
  CHECK_THROWS_MATCHES(session.run("x"_s = Floats{1, 2, 3}), std::invalid_argument,
                       Message("run: 'x' has shape (3,): (2,) expected"));
  CHECK_THROWS_MATCHES(session.run("x"_s = xt::xtensor<float, 2>{{1, 2}}), std::invalid_argument,
                       Message("run: 'x' has shape (1, 2): (2,) expected"));
  CHECK(session.get_tensor_data("count"_s)() == 40);
  CHECK_THROWS_MATCHES(session.write_variable_data("net.weight"_s, Floats{1, 2}), std::invalid_argument,
                       Message("write_variable_data: 'net.weight' has shape (2,): (2, 3) expected"));
  const xt::xtensor<float, 2, xt::layout_type::column_major> columns{{1, 2, 3}, {4, 5, 6}};
  CHECK_THROWS_MATCHES(session.write_variable_data("net.weight"_s, columns), std::invalid_argument,
                       Message("write_variable_data: 'net.weight' has strides: a row-major array without gaps expected"));
}
TEST_CASE("run_with_outputs fills the user's arrays") {
  tw::Session<addition> session({.threads = 2});
  const Floats a{1, 2, 3}, b{10, 20, 30};
  const auto before = session.run("a"_s = a, "b"_s = b);
  CHECK(elements(before["sum"_s]) == Floats{11, 22, 33});
  alignas(64) std::array<float, 8> memory{};
  const std::span<float> sum(memory.data() + 1, 3);  // at an odd address
  float difference = 0;
  session.run_with_outputs("sum"_s = sum, "b"_s = a, "a"_s = a, "difference"_s = difference);
  CHECK(elements(memory) == Floats{0, 2, 4, 6, 0, 0, 0, 0});
  CHECK(difference == 0);
  session.run_with_outputs("a"_s = a, "b"_s = b, "sum"_s = std::span(memory.data() + 5, 3), "difference"_s = difference);
  CHECK(elements(memory) == Floats{0, 2, 4, 6, 0, 11, 22, 33});
  CHECK(difference == -54);
  CHECK(elements(before["sum"_s]) == Floats{11, 22, 33});  // the session's own arrays are others
  xt::xtensor_fixed<float, xt::xshape<3>> fixed;
  xt::xtensor<float, 0> scalar;
  session.run_with_outputs("a"_s = b, "b"_s = b, "sum"_s = fixed, "difference"_s = scalar);
  CHECK(elements(fixed) == Floats{20, 40, 60});
  CHECK(scalar() == 0);
}
TEST_CASE("inputs and outputs may stand at any address") {
  tw::Session<wide> session({.threads = 2});
  std::vector<float> memory(1 + 5 * 67), floats(902);
  std::vector<tw::float16_t> halves(1 + 5 * 67);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i % 13) / 4 - 1;
  const auto at = [](auto& elements, std::size_t offset, auto... extents) {
    return xt::adapt(elements.data() + offset, std::array{static_cast<std::size_t>(extents)...});
  };
  const auto x = at(memory, 1, 5, 67);
  auto gelu = at(floats, 1, 5, 45), softmax = at(floats, 227, 5, 67), transposed = at(floats, 562, 67, 5);
  auto sums = at(floats, 897, 5);
  auto half = at(halves, 1, 5, 67);
  session.run_with_outputs("x"_s = x, "gelu"_s = gelu, "softmax"_s = softmax, "half"_s = half, "transposed"_s = transposed,
                           "sums"_s = sums);
  const xt::xtensor<float, 2> aligned = x;
  const auto expected = session.run("x"_s = aligned);
  CHECK(elements(gelu) == elements(expected["gelu"_s]));
  CHECK(elements(softmax) == elements(expected["softmax"_s]));
  CHECK(elements(transposed) == elements(expected["transposed"_s]));
  CHECK(elements(sums) == elements(expected["sums"_s]));
  CHECK(std::equal(half.begin(), half.end(), expected["half"_s].begin()));
}
TEST_CASE("run_with_outputs takes all outputs in one object") {
  tw::Session<addition> session;
  auto outputs = session.create_host_outputs();
  CHECK(elements(outputs["sum"_s]) == Floats{0, 0, 0});
  session.run_with_outputs(outputs, "a"_s = Floats{1, 2, 3}, "b"_s = Floats{0, 0, 1});
  CHECK(elements(outputs["sum"_s]) == Floats{1, 2, 4});
  CHECK(std::as_const(outputs)["difference"_s]() == 5);
  outputs["sum"_s].resize({4});
  CHECK_THROWS_MATCHES(session.run_with_outputs(outputs, "a"_s = Floats{1, 2, 3}, "b"_s = Floats{0, 0, 1}), std::invalid_argument,
                       Message("run_with_outputs: 'sum' has shape (4,): (3,) expected"));
}
TEST_CASE("outputs that do not fit are refused before anything runs") {
  tw::Session<addition> session;
  const Floats a{1, 2, 3};
  Floats sum{7, 8, 9, 10};
  float difference = 11;
  CHECK_THROWS_MATCHES(session.run_with_outputs("a"_s = a, "b"_s = a, "difference"_s = difference, "sum"_s = sum),
                       std::invalid_argument, Message("run_with_outputs: 'sum' has shape (4,): (3,) expected"));
  const std::span<float> first(sum.data(), 3), second(sum.data() + 1, 3);
  CHECK_THROWS_MATCHES(session.run_with_outputs("a"_s = second, "b"_s = a, "difference"_s = difference, "sum"_s = first),
                       std::invalid_argument,
                       Message("run_with_outputs: 'sum' shares memory with 'a': memory of its own expected"));
  CHECK_THROWS_MATCHES(session.run_with_outputs("a"_s = a, "b"_s = a, "difference"_s = sum[2], "sum"_s = first),
                       std::invalid_argument,
                       Message("run_with_outputs: 'sum' shares memory with 'difference': memory of its own expected"));
  CHECK(sum == Floats{7, 8, 9, 10});
  CHECK(difference == 11);
  CHECK(session.in_sync());  // nothing ran
}
TEST_CASE("streams that are consumed unequally need arrays for the greediest, and outputs keep what is not reached") {
  tw::Session<uneven> session;
  xt::xtensor<float, 2> e(std::array<std::size_t, 2>{20, 2});
  for (std::size_t i = 0; i < e.size(); ++i) e.data()[i] = static_cast<float>(i);
  const xt::xtensor<float, 1> f = xt::ones<float>({20});
  auto outputs = session.create_host_outputs();
  auto& pairs = outputs["pairs"_s];
  REQUIRE(pairs.shape() == std::array<std::size_t, 3>{20, 2, 2});
  pairs.fill(-1);
  session.run_with_outputs(outputs, "e"_s = e, "f"_s = f);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 2; ++k) CHECK(pairs(i, j, k) == (i < 10 ? e(2 * i + j, k) + 1 : -1));
}
TEST_CASE("the host's arrays have exactly as many elements as there are transfers") {
  tw::Session<transfers> session;
  const Ints numbers{1, 2, 3, 4};
  const auto run = [&](const auto& in) { session.run("in"_s = in, "numbers"_s = numbers); };
  CHECK_THROWS_MATCHES(run(xt::xtensor<float, 2>(std::array<std::size_t, 2>{3, 2})), std::invalid_argument,
                       Message("run: 'in' has shape (3, 2): (4, 2) expected, where 4 is num_host_transfers"));
  CHECK_THROWS_MATCHES(run(xt::xtensor<float, 2>(std::array<std::size_t, 2>{5, 2})), std::invalid_argument,
                       Message("run: 'in' has shape (5, 2): (4, 2) expected, where 4 is num_host_transfers"));
  CHECK_THROWS_MATCHES(run(Floats{1, 2}), std::invalid_argument,
                       Message("run: 'in' has shape (2,): (4, 2) expected, where 4 is num_host_transfers"));
}
TEST_CASE("constants are read by name") {
  tw::Session<constants> session;
  session.run();
  CHECK(elements(session.get_tensor_data("table"_s)) == Ints{1, 2, 3, 4});
  CHECK(session.get_tensor_data("table"_s).shape() == std::array<std::size_t, 2>{2, 2});
  const auto half = session.get_tensor_data("net/half"_s);
  CHECK(Floats(half.begin(), half.end()) == Floats{0.5f, 0.5f});
  CHECK(session.get_tensor_data("graph_subgraph(0)/factor"_s)() == 3);
  CHECK(session.transfers() == tw::Transfers{});
  const auto some = session.get_tensors_data("x"_s, "table"_s);
  CHECK(elements(some["x"_s.key()]) == Floats{1, 1});
  CHECK(elements(some["table"_s.key()]) == Ints{1, 2, 3, 4});
}
TEST_CASE("variables are written together or not at all") {
  tw::Session<variables> session;
  namespace hana = boost::hana;
  const auto given = hana::make_map(hana::make_pair("count"_s.key(), 1), hana::make_pair("net.weight"_s.key(), Floats{1, 2}));
  CHECK_THROWS_MATCHES(session.write_variables_data(given), std::invalid_argument,
                       Message("write_variable_data: 'net.weight' has shape (2,): (2, 3) expected"));
  CHECK(session.get_tensor_data("count"_s)() == 40);
}
TEST_CASE("a device is chosen by name") {
  const auto tiles = [](std::string_view name) {
    std::int64_t count = 0;
    tw::visit_device(name, [&](auto device) {
      const TestSession<addition, device.value> session;
      CHECK(session.device == (name == "gc200" ? "ipu_model" : name));
      count = session.target.tiles;
    });
    return count;
  };
  CHECK(tiles("cpu") == tw::cpu.tiles);
  CHECK(tiles("ipu_model") == tw::ipu_model.tiles);
  CHECK(tiles("gc200") == tw::gc200.tiles);
  CHECK_THROWS_MATCHES(tiles("ipu"), std::invalid_argument, Message("device: 'ipu': one of cpu, ipu_model, gc200 expected"));
}
