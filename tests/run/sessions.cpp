// What a session takes and gives: streams, variables and names.
#include "elements.hpp"

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

}  // namespace

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
  CHECK_THROWS_MATCHES(tw::lower(*ir, tw::cpu), tw::TraceError,
                       Message("stream: 'in' moves 3 tensors in a run: at most num_host_transfers, 1, expected"));
  ir->set_num_host_transfers(3);
  CHECK_NOTHROW(tw::lower(*ir, tw::cpu));
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
  tw::Session<variables, tw::ipu_model> to({.seed = 2});
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
