// labels: strict tsan
// Execution contexts: what runs after an upload of the variables and before their download.
#include "../../support/elements.hpp"

namespace {

using tw::ExecutionContext, tw::Ir, tw::Tensor, tw::Transfers;
namespace ops = tw::ops;
using Catch::Matchers::Message;

using support::load, support::variable;

constexpr auto from_host = ExecutionContext::WeightsFromHostFragment, to_host = ExecutionContext::WeightsToHostFragment;

/// The device has w in halves. A run stores w x and adds 1 to w, and x to v.
constexpr void scaled(Ir& ir) {
  const Tensor w = ir.variable(tw::full(8), {3}, tw::float32, "w"), v = variable(ir, "v", {});
  const Tensor x = load(ir, "x", {});
  {
    const auto upload = tw::execution_context(ir, from_host);
    ops::mul_(w, ir.constant(0.5));
  }
  store("wx", w * x);
  ops::add_(w, ir.constant(1.0));
  ops::add_(v, x);
  const auto download = tw::execution_context(ir, to_host);
  ops::mul_(w, ir.constant(2.0));
}
using Scaled = tw::Session<scaled>;
float w(const Scaled& session) { return session.get_tensor_data("w"_s)(2); }
float run(Scaled& session, float x = 1) { return session.run("x"_s = x)["wx"_s](2); }

}  // namespace

TEST_CASE("ops follow the upload of a session that is attached from the start") {
  Scaled session;
  CHECK(session.in_sync());
  CHECK(w(session) == 8);  // what the host uploaded
  CHECK(elements(session.variables()["w"_s]) == Floats{4, 4, 4});
  Scaled other;
  CHECK(run(other) == 4);
}
TEST_CASE("ops precede a download, which is one for all reads after a run") {
  Scaled session;
  CHECK(run(session, 10) == 40);
  CHECK(w(session) == 2 * (4 + 1));
  CHECK(session.get_tensor_data("v"_s)() == 10);
  CHECK(session.transfers() == Transfers{.from_host = 0, .to_host = 1});
  CHECK(elements(session.variables()["w"_s]) == Floats{10, 10, 10});  // they changed it on the device
  session.weights_from_host();
  CHECK(run(session) == 5);
}
TEST_CASE("contexts of a session upload and download with their ops") {
  Scaled session({.attach = false});
  CHECK(w(session) == 8);
  for (const float expected : {4.f, 5.f, 6.f}) {
    const auto context = session.context();
    CHECK(run(session) == expected);
  }
  CHECK(w(session) == 14);
  CHECK(session.get_tensor_data("v"_s)() == 3);
  session.write_variable_data("w"_s, Floats{2, 4, 6});  // on the host alone
  CHECK(w(session) == 6);
  const auto context = session.context();
  CHECK(run(session) == 3);
}
TEST_CASE("a write uploads all variables with their ops, and keeps what a run made of others") {
  Scaled session;
  run(session, 10);
  session.write_variable_data("v"_s, 5.f);
  CHECK(session.transfers() == Transfers{.from_host = 1, .to_host = 1});
  CHECK(session.in_sync());
  CHECK(run(session) == 5);
  CHECK(session.get_tensor_data("v"_s)() == 6);
  CHECK(w(session) == 12);
  session.write_variables_data(Scaled().get_tensors_data());
  CHECK(run(session) == 4);
}

// ---- what programs hand to each other

namespace {

/// As PopXL's sharded variables: the device works with a copy that uploads make and downloads bring back.
constexpr void row_in_remote_memory(Ir& ir) {
  const tw::RemoteBuffer buffer = ir.remote_buffer({2, 3}, tw::float32, 2);
  ir.remote_variable(tw::values({1, 2, 3, 4, 5, 6}), buffer, 1, "row");
  Tensor row, turned;
  {
    const auto upload = tw::execution_context(ir, from_host);
    row = ops::remote_load(buffer, 1);
    turned = ops::transpose_(row);
  }
  ops::add_(turned, load(ir, "x", {3, 2}));
  store("row", row);
  const auto download = tw::execution_context(ir, to_host);
  ops::remote_store(buffer, 1, row);
}

/// Views keep the elements that they had: before a later op of their own program changes what they view, and before another
/// program does.
constexpr void views(Ir& ir) {
  const Tensor w = ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, "w");
  const Tensor kept = variable(ir, "kept", {2, 2}), last = variable(ir, "last", {2, 2});
  Tensor at_upload;
  {
    const auto upload = tw::execution_context(ir, from_host);
    at_upload = w.T();
  }
  const Tensor in_run = w.T();
  {
    const auto download = tw::execution_context(ir, to_host);
    ops::copy_var_update_(kept, at_upload);
    ops::copy_var_update_(last, in_run);
  }
  ops::add_(w, load(ir, "x", {}));
  store("w", at_upload + w);
}

/// The mean of all runs is made when the host asks.
constexpr void running_mean(Ir& ir) {
  const Tensor sum = variable(ir, "sum", {}), count = variable(ir, "count", {}), mean = variable(ir, "mean", {}),
               last = variable(ir, "last", {});
  const Tensor x = load(ir, "x", {});
  const Tensor squared = x * x;
  ops::add_(sum, squared);
  ops::add_(count, ir.constant(1.0));
  const auto download = tw::execution_context(ir, to_host);
  ops::copy_var_update_(mean, sum / ops::maximum(count, ir.constant(1.0)));
  ops::copy_var_update_(last, squared);
}

/// One graph that all programs call, in a loop too.
constexpr void shared_graph(Ir& ir) {
  const Tensor w = ir.variable(tw::full(1), {100}, tw::float32, "w");
  const tw::Graph graph = ir.create_graph([](tw::TensorByRef y) { ops::add_(y, ops::sum(ops::exp(y - y))); }, w);
  tw::call(graph, w);
  store("w", w);
  {
    const auto upload = tw::execution_context(ir, from_host);
    tw::repeat(graph, 3, {w});
  }
  const auto download = tw::execution_context(ir, to_host);
  tw::conditional(ops::sum(w).cast(tw::boolean), {graph, {w}}, {graph, {w}});
}

/// Each replica has a sum of its own; the host gets that of all.
constexpr void on_replicas(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor own = variable(ir, "own", {}), total = variable(ir, "total", {});
  Tensor doubled;
  {
    const auto upload = tw::execution_context(ir, from_host);
    doubled = total + total;
  }
  ops::add_(own, load(ir, "x", {}) + doubled);
  const auto download = tw::execution_context(ir, to_host);
  ops::copy_var_update_(total, ops::collectives::replicated_all_reduce(own));
}

}  // namespace

TEST_CASE("a tensor of an upload stays between runs, with the changes they make, until a download") {
  on_all_machines<row_in_remote_memory>([](auto& session) {
    const xt::xtensor_fixed<float, xt::xshape<3, 2>> x{{1, 2}, {3, 4}, {5, 6}};
    for (const float times : {1.f, 2.f})
      CHECK(elements(session.run("x"_s = x)["row"_s]) ==
            Floats{1 + times, 2 + 3 * times, 3 + 5 * times, 4 + 2 * times, 5 + 4 * times, 6 + 6 * times});
    CHECK(elements(session.get_tensor_data("row"_s)) == Floats{3, 8, 13, 8, 13, 18});
    session.write_variable_data("row"_s, xt::xtensor_fixed<float, xt::xshape<2, 3>>(xt::ones<float>({2, 3})));
    CHECK(elements(session.run("x"_s = x)["row"_s]) == Floats{2, 4, 6, 3, 5, 7});
  });
}
TEST_CASE("views that one program makes and another reads keep their elements") {
  on_all_machines<views>([](auto& session) {
    CHECK(elements(session.run("x"_s = 10.f)["w"_s]) == Floats{12, 15, 15, 18});
    session.run("x"_s = 100.f);
    CHECK(elements(session.get_tensor_data("kept"_s)) == Floats{1, 3, 2, 4});
    CHECK(elements(session.get_tensor_data("last"_s)) == Floats{11, 13, 12, 14});
    CHECK(elements(session.get_tensor_data("w"_s)) == Floats{111, 112, 113, 114});
  });
}
TEST_CASE("a download makes of a running sum what the host reads") {
  tw::Session<running_mean> session;
  session.weights_to_host();
  CHECK(session.get_tensor_data("mean"_s)() == 0);
  CHECK(session.get_tensor_data("last"_s)() == 0);  // before the first run
  for (const float x : {1.f, 2.f, 4.f}) session.run("x"_s = x);
  CHECK(session.get_tensor_data("mean"_s)() == 7);
  CHECK(session.get_tensor_data("last"_s)() == 16);
  CHECK(session.get_tensor_data("sum"_s)() == 21);
  CHECK(session.transfers() == Transfers{.from_host = 0, .to_host = 2});
}
TEST_CASE("programs share graphs") {
  on_all_machines<shared_graph>([](auto& session) {
    CHECK(session.run()["w"_s](99) == 401);
    CHECK(session.get_tensor_data("w"_s)(0) == 501);
  });
}
TEST_CASE("replicas run the ops of uploads and downloads, collectives too") {
  tw::Session<on_replicas> session({.attach = false});
  for (const float expected : {1.f + 2.f, (1 + 1 + 6.f) + (1 + 2 + 6.f)}) {  // the host has the first replica's own
    const auto context = session.context();
    session.run("x"_s = std::array{1.f, 2.f});
    CHECK(session.get_tensor_data("total"_s)() == expected);
  }
}

// ---- faults

namespace {

/// The rest of `a` by a divisor, when the variable goes to the host; and when it comes from there.
constexpr void rests(Ir& ir) {
  const Tensor a = ir.variable(tw::full(7), {}, tw::int32, "a"), down = ir.variable(tw::full(4), {}, tw::int32, "down"),
               up = ir.variable(tw::full(5), {}, tw::int32, "up");
  store("a", a);
  {
    const auto upload = tw::execution_context(ir, from_host);
    ops::copy_var_update_(a, ops::fmod(a, up));
  }
  const auto download = tw::execution_context(ir, to_host);
  ops::copy_var_update_(a, ops::fmod(a, down));
}

}  // namespace

TEST_CASE("faults of ops beside a run end what called for them") {
  tw::Session<rests> session({.attach = false});
  {
    const auto context = session.context();
    CHECK(session.run()["a"_s]() == 2);
  }
  CHECK(session.get_tensor_data("a"_s)() == 2);
  session.write_variable_data("down"_s, 0);
  const auto leave = [&] {
    const auto context = session.context();
    CHECK(session.run()["a"_s]() == 2);
  };
  CHECK_THROWS_MATCHES(leave(), tw::FaultError, Message("Fmod: divisor 0: a number other than 0 expected, in the main graph"));
  CHECK_FALSE(session.is_attached());
  session.write_variable_data("up"_s, 0);
  CHECK_THROWS_AS(session.attach(), tw::FaultError);
  CHECK_FALSE(session.is_attached());
  session.write_variable_data("up"_s, 2);
  session.attach();
  CHECK(session.run()["a"_s]() == 0);
}
