// labels: asan ubsan
// Variables on both sides: when a session has a device, and when values move between it and the host.
#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor, tw::Transfers;
namespace ops = tw::ops;
using Catch::Matchers::Message;

/// Stores w x, then adds c to w; a is never changed.
constexpr void update(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {}));
  const Tensor w = ir.variable(tw::ones(), {}, tw::float32, "w"), c = ir.constant({2}, {}, tw::float32, "c");
  ir.variable(tw::values({3, -4}), {2}, tw::int32, "a");
  store("wx", w * x);
  ops::scaled_add_(w, c);
}
using Session = tw::Session<update>;

float w(const Session& session) { return session.get_tensor_data("w"_s)(); }

}  // namespace

TEST_CASE("a session is attached from the start unless its options say otherwise") {
  CHECK(Session().is_attached());
  CHECK_FALSE(Session({.attach = false}).is_attached());
}
TEST_CASE("contexts nest: the outermost one attaches and detaches") {
  Session session({.attach = false});
  {
    const auto outer = session.context();
    CHECK(session.is_attached());
    {
      const auto inner = session.context();
      CHECK(session.is_attached());
    }
    CHECK(session.is_attached());
    CHECK(session.transfers() == Transfers{.from_host = 1, .to_host = 0});
  }
  CHECK_FALSE(session.is_attached());
  CHECK(session.transfers() == Transfers{.from_host = 1, .to_host = 1});
}
TEST_CASE("a context in a session that is attached does nothing") {
  Session session;
  session.run("x"_s = 1.f);
  {
    const auto context = session.context();
  }
  CHECK(session.is_attached());
  CHECK_FALSE(session.in_sync());
  CHECK(session.transfers() == Transfers{});
}
TEST_CASE("a context that detaches brings the variables to the host, and the next one takes them back") {
  Session session({.attach = false});
  for (int entry = 0; entry < 2; ++entry) {
    const auto context = session.context();
    CHECK(session.run("x"_s = 10.f)["wx"_s]() == 10 * (1 + 2.f * static_cast<float>(entry)));
  }
  CHECK_FALSE(session.is_attached());
  CHECK(session.in_sync());
  CHECK(w(session) == 5);
  session.write_variable_data("w"_s, 234.5f);  // with no device
  CHECK(w(session) == 234.5f);
  CHECK(session.transfers() == Transfers{.from_host = 2, .to_host = 2});
  const auto context = session.context();
  CHECK(session.run("x"_s = 2.f)["wx"_s]() == 469);
}
TEST_CASE("without weights_to_host_on_exit the host copy keeps its values") {
  Session session({.attach = false, .weights_to_host_on_exit = false});
  {
    const auto context = session.context();
    session.run("x"_s = 1.f);
  }
  CHECK(session.in_sync());
  CHECK(w(session) == 1);
  {
    const auto context = session.context();
    CHECK(session.run("x"_s = 1.f)["wx"_s]() == 1);
    session.weights_to_host();
  }
  CHECK(w(session) == 3);
}
TEST_CASE("an exception that leaves a context takes no values along") {
  Session session({.attach = false});
  const auto fail = [&] {
    const auto context = session.context();
    session.run("x"_s = 1.f);
    throw std::runtime_error("from inside");
  };
  CHECK_THROWS_MATCHES(fail(), std::runtime_error, Message("from inside"));
  CHECK_FALSE(session.is_attached());
  CHECK(w(session) == 1);
  // an exception that was on its way before is none of the context's business
  struct Cleanup {
    Session& session;
    ~Cleanup() {
      const auto context = session.context();
      session.run("x"_s = 1.f);
    }
  };
  try {
    const Cleanup cleanup{session};
    throw std::runtime_error("from outside");
  } catch (const std::runtime_error&) {
  }
  CHECK(w(session) == 3);
}
TEST_CASE("what needs the device says so when there is none") {
  Session session({.attach = false});
  const auto message = [](const char* what) {
    return Message(std::string(what) + ": the session is not attached: a context() or attach() expected");
  };
  auto outputs = session.create_host_outputs();
  float wx = 0;
  CHECK_THROWS_MATCHES(session.run("x"_s = 1.f), std::logic_error, message("run"));
  CHECK_THROWS_MATCHES(session.run_with_outputs("x"_s = 1.f, "wx"_s = wx), std::logic_error, message("run_with_outputs"));
  CHECK_THROWS_MATCHES(session.run_with_outputs(outputs, "x"_s = 1.f), std::logic_error, message("run_with_outputs"));
  CHECK_THROWS_MATCHES(session.weights_to_host(), std::logic_error, message("weights_to_host"));
  CHECK_THROWS_MATCHES(session.weights_from_host(), std::logic_error, message("weights_from_host"));
  CHECK_THROWS_MATCHES(session.variables(), std::logic_error, message("variables"));
  CHECK(session.get_tensor_data("c"_s)() == 2);
  CHECK(w(session) == 1);
  session.write_variable_data("a"_s, Ints{5, 6});
  CHECK(elements(session.get_tensor_data("a"_s)) == Ints{5, 6});
  CHECK(session.transfers() == Transfers{});
}
TEST_CASE("reading fetches all variables once after a run") {
  Session session;
  CHECK(w(session) == 1);
  CHECK(elements(session.get_tensor_data("a"_s)) == Ints{3, -4});
  CHECK(session.in_sync());
  CHECK(session.transfers() == Transfers{});
  session.run("x"_s = 1.f);
  session.run("x"_s = 1.f);
  CHECK_FALSE(session.in_sync());
  CHECK(session.get_tensor_data("c"_s)() == 2);
  CHECK_FALSE(session.in_sync());  // constants need no transfer
  CHECK(elements(session.get_tensor_data("a"_s)) == Ints{3, -4});
  CHECK(w(session) == 5);
  const auto all = session.get_tensors_data();
  CHECK(all["w"_s.key()]() == 5);
  CHECK(session.in_sync());
  CHECK(session.transfers() == Transfers{.from_host = 0, .to_host = 1});
}
TEST_CASE("writing changes both sides and nothing else") {
  Session session;
  session.run("x"_s = 1.f);
  session.write_variable_data("a"_s, Ints{7, 8});
  CHECK_FALSE(session.in_sync());  // w is still to be fetched,
  CHECK(session.in_sync("a"_s));
  CHECK_FALSE(session.in_sync("w"_s));
  CHECK(session.transfers() == Transfers{.from_host = 1, .to_host = 0});
  CHECK(w(session) == 3);  // and was not overwritten
  session.write_variable_data("w"_s, 5.f);
  CHECK(session.in_sync());
  CHECK(w(session) == 5);
  CHECK(session.transfers() == Transfers{.from_host = 2, .to_host = 1});
  CHECK(elements(session.variables()["a"_s]) == Ints{7, 8});
  CHECK(session.run("x"_s = 1.f)["wx"_s]() == 5);
  session.write_variables_data(Session().get_tensors_data());
  CHECK(session.transfers() == Transfers{.from_host = 3, .to_host = 1});
  CHECK(session.run("x"_s = 1.f)["wx"_s]() == 1);
}
TEST_CASE("weights_from_host brings the host's values back, weights_to_host saves the device's") {
  Session session;
  session.run("x"_s = 1.f);
  session.weights_from_host();
  CHECK(w(session) == 1);
  session.run("x"_s = 1.f);
  session.weights_to_host();
  session.run("x"_s = 1.f);
  session.weights_from_host();
  CHECK(w(session) == 3);
  CHECK(session.transfers() == Transfers{.from_host = 2, .to_host = 1});
}
TEST_CASE("detaching loses the device's values") {
  Session session({.seed = 3});
  session.run("x"_s = 1.f);
  session.detach();
  CHECK(w(session) == 1);
  session.attach();
  session.attach();
  CHECK(session.run("x"_s = 1.f)["wx"_s]() == 1);
  CHECK(session.transfers() == Transfers{.from_host = 1, .to_host = 0});
}
TEST_CASE("what was written through views of the device's memory is read") {
  Session session;
  CHECK(w(session) == 1);
  session.variables()["w"_s]() = 9;
  CHECK(w(session) == 9);
  CHECK(session.run("x"_s = 1.f)["wx"_s]() == 9);
}
TEST_CASE("an attached and a detached session start with the same random values") {
  constexpr auto program = [](Ir& ir) {
    ir.variable(tw::normal(0, 1), {3, 5}, tw::float32, "first");
    ir.variable(tw::uniform(0, 1), {7}, tw::float16, "second");
  };
  using Random = tw::Session<program>;
  const Random attached({.seed = 5}), detached({.seed = 5, .attach = false}), other({.seed = 6});
  CHECK(elements(attached.get_tensor_data("first"_s)) == elements(detached.get_tensor_data("first"_s)));
  CHECK(elements(attached.get_tensor_data("first"_s)) != elements(other.get_tensor_data("first"_s)));
  const auto left = attached.get_tensor_data("second"_s), right = detached.get_tensor_data("second"_s);
  CHECK(std::equal(left.begin(), left.end(), right.begin()));
}
