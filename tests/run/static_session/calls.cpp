// labels: asan ubsan
// What a StaticSession takes, gives and refuses.
#include "../../catch.hpp"
#include "../../support/programs.hpp"
#include "tilewright/session/static_session.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Ir, tw::RunResult, tw::RunStatus, tw::Tensor;

namespace {

/// Stores w x in y, then adds x to w.
constexpr void update(Ir& ir) {
  const Tensor w = ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "net.weight"), x = support::load(ir, "x", {2, 3});
  support::store("y", w * x);
  ops::add_(w, x);
}
using Update = tw::StaticSession<update, tw::one_core>;

constinit Update in_static_storage;
static_assert(sizeof(Update) == tw::static_bytes<update, tw::one_core>.total());
static_assert(std::is_trivially_copyable_v<Update> && std::is_trivially_destructible_v<Update>);

constexpr float ones[2][3] = {{1, 1, 1}, {1, 1, 1}};

/// The text of a status.
std::string text_of(const RunStatus& status) {
  char memory[400];
  return std::string(write_text(status, memory));
}

}  // namespace

TEST_CASE("an object is in static storage, on the stack or in the caller's memory") {
  alignas(Update) std::byte memory[sizeof(Update)];
  Update on_stack, *const given = new (memory) Update;
  REQUIRE(in_static_storage.init(3).is_done());
  REQUIRE(on_stack.init(3).is_done());
  REQUIRE(given->init(3).is_done());
  for (Update* each : {&in_static_storage, &on_stack, given}) {
    std::ranges::copy(ones[0], ones[0] + 6, each->stream("x"_s).begin());
    REQUIRE(each->run().is_done());
  }
  CHECK(std::ranges::equal(on_stack.stream("y"_s), in_static_storage.stream("y"_s)));
  CHECK(std::ranges::equal(on_stack.variable("net.weight"_s), given->variable("net.weight"_s)));
}
TEST_CASE("a copy of an object is a network of its own") {
  Update first;
  REQUIRE(first.init(1).is_done());
  Update second = first;
  REQUIRE(second.run("x"_s = ones).is_done());
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(second.variable("net.weight"_s)[i] == first.variable("net.weight"_s)[i] + 1);
    CHECK(second.stream("y"_s)[i] == first.variable("net.weight"_s)[i]);
  }
}
TEST_CASE("a run uses arrays of the caller in place, of their elements' alignment") {
  Update session;
  REQUIRE(session.init(1).is_done());
  const Update before = session;
  std::array<float, 7> result{};
  const auto y = std::span(result).subspan<1>();
  REQUIRE(session.run("x"_s = ones, "y"_s = y).is_done());
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(y[i] == before.variable("net.weight"_s)[i]);
    CHECK(session.stream("y"_s)[i] == 0);
  }
}
TEST_CASE("arrays that share memory are refused before anything runs") {
  Update session;
  REQUIRE(session.init(1).is_done());
  const Update before = session;
  float shared[9]{};
  const auto refused = [&](const RunStatus& status) {
    CHECK(status.result == RunResult::shared_memory);
    CHECK(text_of(status) == "run: an array shares memory with another one or with the session: memory of its own expected");
    CHECK(std::ranges::equal(session.variable("net.weight"_s), before.variable("net.weight"_s)));
  };
  refused(session.run("x"_s = std::span(shared).first<6>(), "y"_s = std::span(shared).last<6>()));
  refused(session.run("x"_s = session.variable("net.weight"_s)));
  refused(session.run("x"_s = session.stream("y"_s)));
  CHECK(session.run("x"_s = session.stream("x"_s)).is_done());
}
TEST_CASE("an object without initial values does not run") {
  Update session;
  const RunStatus status = session.run();
  CHECK(status.result == RunResult::not_initialised);
  CHECK(text_of(status) == "run: a session without initial values: init() first expected");
}

namespace {
struct Quotient : tw::Module<Quotient> {
  constexpr Tensor build(Tensor x, Tensor y) { return (x + 1) / (y * 2) + 3; }
};
constexpr void divide(Ir& ir) {
  const Tensor x = support::load(ir, "x", {4}, tw::int32), y = support::load(ir, "y", {4}, tw::int32);
  const auto [factories, graph] = tw::create_graph(Quotient{}, x, y);
  support::store("in module", graph.bind(factories.init()).call(x, y));
  support::store("plain", x / y);
}
}  // namespace

TEST_CASE("the status of a run has the facts and the text of a FaultError") {
  tw::StaticSession<divide> one;
  tw::Session<divide> session({.threads = 1});
  REQUIRE(one.init().is_done());
  const int x[4] = {1, 2, 3, 4};
  for (const std::array<int, 4>& y : {std::array{1, 0, 1, 1}, std::array{0, 0, 1, 0}}) {
    std::string expected;
    try {
      session.run("x"_s = x, "y"_s = y);
    } catch (const tw::FaultError& error) {
      expected = error.what();
    }
    CHECK(expected.starts_with("Div: divisor 0"));
    const RunStatus status = one.run("x"_s = x, "y"_s = y);
    CHECK(status.result == RunResult::fault);
    CHECK(text_of(status) == expected);
    CHECK(status.value == 0);
    CHECK(status.more == std::count(y.begin(), y.end(), 0) - 1);
    CHECK(status.others == 1);
    char short_memory[12];
    CHECK(write_text(status, short_memory) == expected.substr(0, sizeof short_memory));
  }
  const int ones_of_four[4] = {1, 1, 1, 1};
  CHECK(one.run("x"_s = x, "y"_s = ones_of_four).is_done());  // nothing is left of the faults before
}

namespace {
constexpr void first_values(Ir& ir) {
  ir.variable(tw::given(), {3}, tw::float32, "scale");
  ir.variable(tw::normal(0, 1), {3}, tw::float32, "weight");
  ir.variable(tw::normal(0, 1), {3}, tw::float32, "bias");
}
constexpr void too_large(Ir& ir) {
  ir.variable(tw::computed_by([](std::int64_t i) { return i == 2 ? 300.0 : 0.0; }), {3}, tw::uint8, "codes");
}
}  // namespace

TEST_CASE("arrays take the place of initial values, and others stay") {
  const std::array<float, 3> scale = {4, 5, 6};
  const float weight[3] = {1, 2, 3};
  tw::StaticSession<first_values> one;
  REQUIRE(one.init(9, "scale"_s = scale, "weight"_s = weight).is_done());
  const tw::Session<first_values> session({.seed = 9, .threads = 1, .arrays = {{"scale", scale}, {"weight", weight}}});
  const auto expected = session.host_tensors();
  const auto found = one.host_tensors();
  for (std::size_t v = 0; v < expected.size(); ++v) CHECK(std::ranges::equal(found[v].bytes, expected[v].bytes));
}
TEST_CASE("a number that its dtype does not have is an error of the initial values") {
  tw::StaticSession<too_large> one;
  const RunStatus status = one.init();
  CHECK(status.result == RunResult::unfit_number);
  CHECK(text_of(status) == "computed_by: a number that the dtype does not have: others expected");
  CHECK(one.run().result == RunResult::not_initialised);
}

namespace {
constexpr void average(Ir& ir) {
  ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "average.net.weight");
  ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "net.weight");
}
}  // namespace

TEST_CASE("variables are copied by name, also with a prefix") {
  tw::StaticSession<average> from;
  REQUIRE(from.init(1).is_done());
  Update to;
  REQUIRE(to.init(2).is_done());
  REQUIRE(to.load_from_session(from).is_done());
  CHECK(std::ranges::equal(to.variable("net.weight"_s), from.variable("net.weight"_s)));
  REQUIRE(to.load_from_session(from, "average"_s).is_done());
  CHECK(std::ranges::equal(to.variable("net.weight"_s), from.variable("average.net.weight"_s)));
}
