// labels: asan strict tsan ubsan
// Remote buffers: copies between streaming memory and the machine's own, in the order of the trace.
#include <stdexcept>

#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;

using support::load;
constexpr void addition(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({}, tw::float32);
  ir.remote_variable(tw::ones(), buffer, 0, "x");
  const Tensor sum = ops::remote_load(buffer, 0, "x") + 2;
  ops::remote_store(buffer, 0, sum);
  store("sum", sum);
}

/// Every load sees what was stored before it, and no more.
constexpr void in_order(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({2, 1501}, tw::float32, 3);
  ir.remote_variable(tw::full(1), buffer, 0, "first");
  ir.remote_variable(tw::full(2), buffer, 1, "second");
  const Tensor first = ops::remote_load(buffer, 0), second = ops::remote_load(buffer, 1);
  ops::remote_store(buffer, 0, first + second);
  ops::remote_store(buffer, 1, ops::remote_load(buffer, 0) * 10);
  ops::remote_store(buffer, 0, second);
  store("before", ops::sum(first));
  store("after", ops::sum(ops::remote_load(buffer, 1)));
  store("untouched", ops::sum(ops::remote_load(buffer, 2)));
}

/// Loads in place: to a variable, to a transposed view of one, and to a graph's own copy of its input.
constexpr void in_place(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({2, 3}, tw::float32, 2);
  ir.remote_variable(tw::values({1, 2, 3, 4, 5, 6}), buffer, 1, "x");
  const Tensor to = ir.variable(tw::zeros(), {2, 3}, tw::float32, "to");
  const Tensor transposed = ir.variable(tw::zeros(), {3, 2}, tw::float32, "transposed");
  const Tensor kept = ir.variable(tw::full(7), {2, 3}, tw::float32, "kept");
  store("alias", ops::remote_load_(buffer, 1, to) + to);
  ops::remote_load_(buffer, 1, ops::transpose_(transposed));
  const auto load_and_add = [&buffer](Tensor t, Tensor row) { return ops::remote_load_(buffer, row, t) + t; };
  const Graph graph = ir.create_graph(load_and_add, kept, tw::TensorSpec{{}, tw::uint32});
  store("inside", tw::call(graph, {kept, load(ir, "row", {}, tw::uint32)}));
}

/// The row to load and the row to store are computed.
constexpr void offsets(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({1000}, tw::int32, 4);
  for (int row = 0; row < 3; ++row) ir.remote_variable(tw::full(10 * row), buffer, row, tw::text("row", row).view());
  const Tensor from = load(ir, "from", {}, tw::int32), to = load(ir, "to", {1}, tw::uint32);
  const Tensor x = ops::remote_load(buffer, from);
  store("x", x);
  ops::remote_store(buffer, to, x + 1);
  store("last", ops::remote_load(buffer, 3));
}

/// Layers whose weights take turns on the machine: one graph, called with each row's number.
constexpr void phased(Ir& ir) {
  constexpr int layers = 3;
  const RemoteBuffer weights = ir.remote_buffer({4}, tw::float32, layers);
  const Tensor x = load(ir, "x", {4});
  const auto layer = [&weights](Tensor input, Tensor number) {
    const Tensor sum = ops::remote_load(weights, number) + input;
    ops::remote_store(weights, number, sum);
    return sum;
  };
  const Graph graph = ir.create_graph(layer, x, tw::TensorSpec{{}, tw::uint32});
  Tensor y = x;
  for (int number = 0; number < layers; ++number) {
    ir.remote_variable(tw::full(number), weights, number, tw::text("w", number).view());
    y = tw::call(graph, {y, ir.constant(number, tw::uint32)});
  }
  store("y", y);
}

/// The same as a loop that counts rows; then one row more, if the host says so.
constexpr void loops(Ir& ir) {
  const RemoteBuffer weights = ir.remote_buffer({4}, tw::float32, 4);
  for (int row = 0; row < 4; ++row) ir.remote_variable(tw::full(row), weights, row, tw::text("w", row).view());
  const Tensor x = load(ir, "x", {4}), more = load(ir, "more", {}, tw::boolean);
  const auto layer = [&](Tensor input, Tensor number) {
    const Tensor sum = ops::remote_load(weights, number) + input;
    ops::remote_store(weights, number, sum);
    return std::array{sum, number + ir.constant(1, tw::uint32)};
  };
  const Graph graph = ir.create_graph(layer, x, tw::TensorSpec{{}, tw::uint32});
  const auto [y, number] = tw::repeat(graph, 3, {x, ir.constant(0, tw::uint32)}).as<2>();
  const Graph otherwise = ir.create_graph([](Tensor input, Tensor row) { return std::array{input, row}; }, y, number);
  store("y", tw::conditional(more, {graph, {y, number}}, {otherwise, {y, number}})[0]);
}

/// A graph that loads into tensors of its caller.
constexpr void by_reference(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({2, 2}, tw::float32, 2);
  ir.remote_variable(tw::values({1, 2, 3, 4}), buffer, 1, "x");
  const Tensor variable = ir.variable(tw::zeros(), {2, 2}, tw::float32, "variable");
  const Tensor intermediate = variable * 1;
  const auto fetch = [&buffer](tw::TensorByRef t) { ops::remote_load_(buffer, 1, t); };
  const Graph graph = ir.create_graph(fetch, variable);
  tw::call(graph, ops::transpose_(variable));
  tw::call(graph, intermediate);
  store("intermediate", intermediate);
}

/// All kinds of elements, and tensors of no and of many axes.
constexpr void specs(Ir& ir) {
  const auto pass_on = [&](std::string_view name, const tw::Shape& shape, tw::DType dtype) {
    const RemoteBuffer buffer = ir.remote_buffer(shape, dtype, 2);
    ir.remote_variable(tw::ones(), buffer, 1, name);
    store(name, ops::remote_load(buffer, 1));
    ops::remote_store(buffer, 0, ops::remote_load(buffer, 1));
    store(tw::text(name, " again").view(), ops::remote_load(buffer, 0));
  };
  pass_on("float16", {3, 5}, tw::float16);
  pass_on("int8", {1, 2, 1, 2, 1, 2}, tw::int8);
  pass_on("bool", {7}, tw::boolean);
  pass_on("float64", {}, tw::float64);
}

struct Linear : tw::Module<Linear> {
  constexpr Tensor build(Tensor x) {
    const Tensor w = add_variable_input("weight", tw::normal(0, 1), {x.shape(-1), x.shape(-1)});
    return x.matmul(w) + add_variable_input("bias", tw::normal(0, 1), {x.shape(-1)});
  }
};
/// Two linear layers, forward and backward, whose variables are loaded, changed and stored by name.
template <bool remote>
constexpr void named(Ir& ir) {
  const Tensor x = load(ir, "x", {4, 8});
  const auto [factories, layer] = tw::create_graph(Linear{}, x);
  const auto update = [](const tw::NamedTensors& variables) {
    for (const auto& [name, variable] : variables.named_tensors()) ops::scaled_add_(variable, variable, {.b = 0.5});
  };
  Tensor y = x;
  if (remote) {
    const tw::NamedRemoteBuffers buffers = tw::named_variable_buffers(factories, 2);
    factories.init_remote(buffers, 0, "first");
    factories.init_remote(buffers, 1, "second");
    const tw::LoadRemoteGraph load_graph = tw::load_remote_graph(ir, buffers);
    const tw::GraphWithNamedArgs store_graph = tw::store_remote_graph(ir, buffers);
    for (int entry = 0; entry < 2; ++entry) {
      const tw::NamedTensors variables = load_graph.call(entry);
      y = layer.bind(variables).call(y);
      update(variables);
      store_graph.bind(variables).call(ir.constant(entry, tw::uint32));
    }
    const tw::NamedTensors first = tw::load_remote(buffers, 0);
    tw::store_remote(buffers, first, 1);
  } else {
    const tw::NamedTensors first = factories.init("first"), second = factories.init("second");
    for (const auto& variables : {first, second}) {
      y = layer.bind(variables).call(y);
      update(variables);
    }
    first.for_common(second, [](Tensor from, Tensor to) { ops::copy_var_update_(to, from); });
  }
  store("y", y);
}

/// The gradient of a product by a matrix that the forward graph loads.
constexpr void gradient(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({3, 2}, tw::float32);
  ir.remote_variable(tw::values({1, 2, 3, 4, 5, 6}), buffer, 0, "w");
  const Tensor x = load(ir, "x", {1, 3});
  const Graph graph = ir.create_graph([&buffer](Tensor t) { return t.matmul(ops::remote_load(buffer, 0)); }, x);
  const auto info = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, x);
  ops::remote_store(buffer, 0, ir.constant(0, tw::float32) + ops::remote_load(buffer, 0) * 100);
  store("dx", tw::call(info.graph(), ir.constant({1, -1}, {1, 2}), info.inputs_dict(call)));
}

template <bool loads>
constexpr void code_loads(Ir& ir) {
  Tensor x = load(ir, "x", {4, 4});
  const Graph product = ir.create_graph([](Tensor t) { return t.matmul(t); }, x);
  const auto outer_graph = [&product](Tensor t) {
    if (loads) ops::remote_code_load(product);
    return Tensor(tw::call(product, t)) * 0.5;
  };
  const Graph outer = ir.create_graph(outer_graph, x);
  for (int i = 0; i < 2; ++i) {
    if (loads) ops::remote_code_load(outer);
    x = tw::call(outer, x);
  }
  store("y", x);
}

}  // namespace

TEST_CASE("remote memory: 1 + 2") {
  on_all_machines<addition>([](auto& session) {
    CHECK(session.get_tensor_data("x"_s)() == 1);
    CHECK(session.run()["sum"_s]() == 3);
    CHECK(session.get_tensor_data("x"_s)() == 3);
    CHECK(session.run()["sum"_s]() == 5);
    session.write_variable_data("x"_s, 40.f);
    CHECK(session.variables()["x"_s]() == 40);
    CHECK(session.run()["sum"_s]() == 42);
  });
}
TEST_CASE("remote memory: variables go to the device when a session is attached") {
  tw::Session<addition> session({.attach = false});
  {
    const auto context = session.context();
    CHECK(session.run()["sum"_s]() == 3);
  }
  CHECK(session.get_tensor_data("x"_s)() == 3);
  session.write_variable_data("x"_s, 10.f);
  const auto context = session.context();
  CHECK(session.run()["sum"_s]() == 12);
}
TEST_CASE("remote memory: loads and stores happen in the order of the trace") {
  on_all_machines<in_order>([](auto& session) {
    const auto outputs = session.run();
    CHECK(outputs["before"_s]() == 3002);
    CHECK(outputs["after"_s]() == 30 * 3002);
    CHECK(outputs["untouched"_s]() == 0);
    CHECK(elements(session.get_tensor_data("first"_s)) == Floats(3002, 2));
    CHECK(elements(session.get_tensor_data("second"_s)) == Floats(3002, 30));
    CHECK(session.run()["after"_s]() == 320 * 3002);
  });
}
TEST_CASE("remote memory: loads in place") {
  on_all_machines<in_place>([](auto& session) {
    const auto outputs = session.run("row"_s = std::uint32_t{1});
    CHECK(elements(outputs["alias"_s]) == Floats{2, 4, 6, 8, 10, 12});
    CHECK(elements(outputs["inside"_s]) == Floats{2, 4, 6, 8, 10, 12});
    CHECK(elements(session.get_tensor_data("to"_s)) == Floats{1, 2, 3, 4, 5, 6});
    CHECK(elements(session.get_tensor_data("transposed"_s)) == Floats{1, 4, 2, 5, 3, 6});
    CHECK(elements(session.get_tensor_data("kept"_s)) == Floats(6, 7));
  });
}
TEST_CASE("remote memory: offsets that a run computes") {
  on_all_machines<offsets>([](auto& session) {
    const auto run = [&](std::int32_t from, std::uint32_t to) {
      return session.run("from"_s = from, "to"_s = xt::xtensor<std::uint32_t, 1>{to});
    };
    CHECK(elements(run(2, 0)["x"_s]) == Ints(1000, 20));
    CHECK(elements(session.get_tensor_data("row0"_s)) == Ints(1000, 21));
    CHECK(elements(run(0, 3)["last"_s]) == Ints(1000, 22));

    const auto fails = [&](std::int32_t from, std::uint32_t to, const std::string& message) {
      CHECK_THROWS_WITH(run(from, to), message);
      CHECK(elements(session.get_tensor_data("row0"_s)) == Ints(1000, 21));
      CHECK(elements(session.get_tensor_data("row1"_s)) == Ints(1000, 10));
      CHECK(elements(session.get_tensor_data("row2"_s)) == Ints(1000, 20));
    };
    fails(1, 4, "RemoteStore: offset 4: an offset from 0 to 3 expected, in the main graph");
    fails(1, 4'000'000'000, "RemoteStore: offset 4000000000: an offset from 0 to 3 expected, in the main graph");
    fails(-1, 3, "RemoteLoad: offset -1: an offset from 0 to 3 expected, in the main graph");
    fails(4, 3, "RemoteLoad: offset 4: an offset from 0 to 3 expected, in the main graph");
    CHECK_THROWS_AS(run(4, 4), tw::FaultError);
    CHECK(elements(run(1, 3)["last"_s]) == Ints(1000, 11));  // the session goes on
  });
}
TEST_CASE("remote memory: weights of layers take turns") {
  on_all_machines<phased>([](auto& session) {
    const xt::xtensor<float, 1> x{1, 2, 3, 4};
    CHECK(elements(session.run("x"_s = x)["y"_s]) == Floats{4, 5, 6, 7});  // x + 0 + 1 + 2
    CHECK(elements(session.get_tensor_data("w0"_s)) == Floats{1, 2, 3, 4});
    CHECK(elements(session.get_tensor_data("w1"_s)) == Floats{2, 3, 4, 5});
    CHECK(elements(session.get_tensor_data("w2"_s)) == Floats{4, 5, 6, 7});
  });
}
TEST_CASE("remote memory: weights of layers take turns in a loop") {
  on_all_machines<loops>([](auto& session) {
    const xt::xtensor<float, 1> x{1, 2, 3, 4};
    CHECK(elements(session.run("x"_s = x, "more"_s = false)["y"_s]) == Floats{4, 5, 6, 7});  // x + 0 + 1 + 2
    CHECK(elements(session.get_tensor_data("w1"_s)) == Floats{2, 3, 4, 5});
    CHECK(elements(session.get_tensor_data("w3"_s)) == Floats(4, 3));
    CHECK(elements(session.run("x"_s = x, "more"_s = true)["y"_s]) == Floats{11, 15, 19, 23});  // (((w0 + x) + w1) + w2) + 3
    CHECK(elements(session.get_tensor_data("w3"_s)) == Floats{11, 15, 19, 23});
  });
}
TEST_CASE("remote memory: loads into tensors by reference") {
  on_all_machines<by_reference>([](auto& session) {
    CHECK(elements(session.run()["intermediate"_s]) == Floats{1, 2, 3, 4});
    CHECK(elements(session.get_tensor_data("variable"_s)) == Floats{1, 3, 2, 4});
  });
}
TEST_CASE("remote memory: all kinds of tensors") {
  on_all_machines<specs>([](auto& session) {
    const auto outputs = session.run();
    const auto all_one = [](const auto& array, std::size_t count) {
      const auto values = elements(array);
      return values == decltype(values)(count, typename decltype(values)::value_type(1));
    };
    CHECK(all_one(outputs["float16"_s], 15));
    CHECK(all_one(outputs["float16 again"_s], 15));
    CHECK(all_one(outputs["int8"_s], 8));
    CHECK(all_one(outputs["int8 again"_s], 8));
    CHECK(outputs["float64"_s]() == 1);
    CHECK(outputs["float64 again"_s]() == 1);
    for (int i = 0; i < 7; ++i) CHECK(outputs["bool again"_s](i));
  });
}
TEST_CASE("remote memory: named variables of two layers are as those on the machine") {
  xt::xtensor<float, 2> x(std::array<std::size_t, 2>{4, 8});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 5) - 2;
  tw::Session<named<false>> on_chip;
  const auto expected = elements(on_chip.run("x"_s = x)["y"_s]);
  on_all_machines<named<true>>([&](auto& session) {
    CHECK(session.plan.memory.variables == 0);
    const auto y = elements(session.run("x"_s = x)["y"_s]);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(expected[i]).margin(1e-4));
    const auto same = [&](auto name) {
      CHECK(elements(session.get_tensor_data(name)) == elements(on_chip.get_tensor_data(name)));
    };
    same("first.weight"_s);
    same("first.bias"_s);
    same("second.weight"_s);
    same("second.bias"_s);
  });
}
TEST_CASE("remote memory: a gradient takes what the forward graph loaded") {
  on_all_machines<gradient>([](auto& session) {
    const xt::xtensor<float, 2> x{{1, 1, 1}};
    CHECK(elements(session.run("x"_s = x)["dx"_s]) == Floats{-1, -1, -1});
    CHECK(elements(session.run("x"_s = x)["dx"_s]) == Floats{-100, -100, -100});
  });
}
TEST_CASE("loading code changes no result") {
  const xt::xtensor<float, 2> x{{1, 2, 3, 4}, {0, 1, 0, 1}, {2, 0, 0, 1}, {0.5f, 0.25f, 1, 0}};
  tw::Session<code_loads<false>> without;
  const auto expected = elements(without.run("x"_s = x)["y"_s]);
  on_all_machines<code_loads<true>>([&](auto& session) { CHECK(elements(session.run("x"_s = x)["y"_s]) == expected); });
}
