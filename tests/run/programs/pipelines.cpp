// labels: asan strict tsan ubsan
// Pipelines against their steps in order: the same bits.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../catch.hpp"
#include "../../support/ipu_programs.hpp"
#include "../../support/reference.hpp"
#include "../../support/test_session.hpp"
#include "tilewright/verified/verified.hpp"

namespace tw = tilewright;
using namespace tw::literals;
using namespace ipu_programs;

namespace {

/// Both programs, from the same variables, with several numbers of threads.
template <auto pipelined, auto in_order, tw::Target target>
void check_same(int runs, const auto& run_once) {
  for (const int threads : {1, 2, 3}) {
    TestSession<pipelined, target> session({.threads = threads});
    TestSession<in_order, target> expected({.threads = 1});
    session.load_tensors({"the other", expected.host_tensors()});
    for (int run = 0; run < runs; ++run) {
      INFO(threads << " threads, run " << run);
      const auto given = run_once(session).host_tensors();
      const auto wanted = run_once(expected).host_tensors();
      REQUIRE(given.size() == wanted.size());
      for (std::size_t i = 0; i < given.size(); ++i) {
        INFO(given[i].name);
        CHECK(elements_of(given[i]) == elements_of(wanted[i]));
      }
      const auto variables = session.host_tensors(), others = expected.host_tensors();
      for (std::size_t i = 0; i < variables.size(); ++i) {
        INFO(variables[i].name);
        CHECK(elements_of(variables[i]) == elements_of(others[i]));
      }
    }
  }
}
xt::xtensor<float, 3> images() {
  xt::xtensor<float, 3> x({steps, batch, 24});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return x;
}

}  // namespace

TEST_CASE("a pipeline of three stages gives what its step gives in order") {
  check_same<inference<true>, inference<false>, tw::cpu.with_ipus(3)>(
      5, [](auto& session) { return session.run("x"_s = images()); });
}
TEST_CASE("plans for several IPUs whose workers do not meet are refused") {
  const tw::Prepared prepared = tw::prepare(*tw::trace(inference<true>), tw::cpu.with_ipus(3));
  const tw::Plan plan = tw::lower(prepared);
  CHECK(tw::fault_of_plan(prepared, plan).string() == "");
  int copies = 0, refused = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    tw::Plan broken = plan;
    tw::internal::Step& step = broken.steps[i];
    if (step.from_ipu < 0 || !step.barrier_before) continue;
    step.joins_ipus = false;  // before it reads what another IPU made
    refused += tw::fault_of_plan(prepared, broken).starts_with("barriers: ");
    ++copies;
  }
  CHECK(refused >= 4);
  CHECK(copies - refused <= 1);  // behind the loop, whose last step has a barrier of all after what the copy reads
}
namespace {
/// Calls of a graph in which IPU 0 calls another one, whose result IPU 1 adds up.
constexpr void calls_first(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {4, 8}));
  const Tensor sum = ir.variable(tw::zeros(), {4, 8}, tw::float32, "sum");
  const auto made = ir.create_graph([](Tensor t) { return ops::exp(t.matmul(t.transpose({1, 0})).matmul(t)); }, x);
  const auto part = ir.create_graph(
      [&](Tensor t, tw::TensorByRef added) {
        Tensor h;
        {
          const auto first = tw::ipu(t.ir(), 0);
          h = tw::call(made, {tw::call(made, {t})[0]})[0];
        }
        const auto second = tw::ipu(t.ir(), 1);
        ops::add_(added, h.copy_to_ipu(1));
        return t;
      },
      x, sum);
  tw::call(part, {x, sum});
  tw::call(part, {x, sum});
}
/// A pipeline of two stages, each of which is a graph that IPU 0 or IPU 1 runs.
constexpr void two_stages(Ir& ir) {
  const Tensor x = ir.variable(tw::normal(0, 1), {4, 8}, tw::float32, "x"),
               sum = ir.variable(tw::zeros(), {4, 8}, tw::float32, "sum");
  auto pipeline = tw::pipelined_execution(ir, 5);
  Tensor h;
  {
    const auto stage = pipeline.stage(0);
    const auto device = tw::ipu(ir, 0);
    h = ops::exp(x.matmul(x.transpose({1, 0})).matmul(x)).copy_to_ipu(1);
  }
  const auto stage = pipeline.stage(1);
  const auto device = tw::ipu(ir, 1);
  ops::add_(sum, h.matmul(h.transpose({1, 0})).matmul(h));
}
}  // namespace

TEST_CASE("workers of all IPUs meet before a call of one IPU where a loop or a called graph begins") {
  const auto check = [](auto build) {
    for (const tw::Target& target : {tw::cpu.with_ipus(2), tw::gc200.with_tiles(40).with_ipus(2)}) {
      const tw::Prepared prepared = tw::prepare(*tw::trace(build, target), target);
      const tw::Plan plan = tw::lower(prepared);
      CHECK(tw::fault_of_plan(prepared, plan).string() == "");
      int refused = 0;
      for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        tw::Plan broken = plan;
        tw::internal::Step& step = broken.steps[i];
        if (!step.is_call() || step.ipu < 0 || !std::exchange(step.joins_ipus, false)) continue;
        refused += tw::fault_of_plan(prepared, broken).starts_with("barriers: ");
      }
      CHECK(refused > 0);
    }
  };
  check(two_stages);
  check(calls_first);
}
TEST_CASE("a pipeline that trains on two IPUs gives what its step gives in order") {
  xt::xtensor<std::int32_t, 2> labels({steps, batch});
  for (std::size_t i = 0; i < labels.size(); ++i) labels.data()[i] = static_cast<std::int32_t>(i * 7 % 10);
  check_same<training<true>, training<false>, tw::cpu.with_ipus(2)>(
      5, [&](auto& session) { return session.run("x"_s = images(), "label"_s = labels); });
}

TEST_CASE("a pipeline on simulated IPUs gives what its step gives in order") {
  check_same<inference<true>, inference<false>, tw::gc200.with_tiles(40).with_io_tiles(32).with_ipus(3)>(
      2, [](auto& session) { return session.run("x"_s = images()); });
}

// ---- collectives between IPUs, on integers in float32: sums are exact

namespace {
double expected(CollectiveOperator op, double a, double b, double c, bool is_int) {
  switch (op) {
    case CollectiveOperator::mean:
      return is_int ? std::trunc((a + b + c) / 3) : static_cast<double>(static_cast<float>(a + b + c) / 3);
    case CollectiveOperator::mul: return a * b * c;
    case CollectiveOperator::min: return std::min({a, b, c});
    case CollectiveOperator::max: return std::max({a, b, c});
    case CollectiveOperator::logical_and: return a != 0 && b != 0 && c != 0;
    case CollectiveOperator::logical_or: return a != 0 || b != 0 || c != 0;
    case CollectiveOperator::square_add: return a * a + b * b + c * c;
    default: return a + b + c;
  }
}
}  // namespace

TEST_CASE("tensors on three IPUs are reduced, and each IPU has the result") {
  const std::vector<float> x[] = {{1, -2, 0, 7}, {3, 5, 0, -1}, {2, 2, 4, 4}};
  std::vector<std::int32_t> ints[3];
  for (int i = 0; i < 3; ++i) ints[i].assign(x[i].begin(), x[i].end());
  tw::Session<reductions, tw::cpu.with_ipus(3)> session({.threads = 2});
  const auto outputs = session.run("x0"_s = x[0], "x1"_s = x[1], "x2"_s = x[2], "x0_int"_s = ints[0], "x1_int"_s = ints[1],
                                   "x2_int"_s = ints[2]);
  std::size_t n = 0;
  for (const bool is_int : {false, true})
    for (const CollectiveOperator op : operators)
      for (int ipu = 0; ipu < 3; ++ipu, ++n) {
        const auto tensor = outputs.host_tensors()[n];
        INFO(tensor.name);
        const auto elements = elements_of(tensor);
        for (std::size_t i = 0; i < 4; ++i) {
          const auto at = [&](int j) { return static_cast<double>(x[j][i]); };
          CHECK(elements[i] == expected(op, at(0), at(1), at(2), is_int));
        }
      }
}
TEST_CASE("gradients of reductions between IPUs") {
  const std::vector<float> x[] = {{1, -2, 0, 7}, {3, 5, 0, -1}, {2, 2, 4, 4}};
  tw::Session<gradients, tw::cpu.with_ipus(3)> session({.threads = 2});
  const auto outputs = session.run("x0"_s = x[0], "x1"_s = x[1], "x2"_s = x[2]);
  std::map<std::string, std::vector<double>> values;
  for (const auto& tensor : outputs.host_tensors()) values[std::string(tensor.name)] = elements_of(tensor);
  for (int ipu = 0; ipu < 3; ++ipu) {
    const std::string number = std::to_string(ipu);
    for (std::size_t i = 0; i < 4; ++i) {
      const double sum = static_cast<double>(x[0][i] + x[1][i] + x[2][i]), own = static_cast<double>(x[ipu][i]);
      CHECK(values["both.y" + number][i] == sum);
      CHECK(values["both.dx" + number][i] == 6);
      CHECK(values["inputs.y" + number][i] == own);
      CHECK(values["inputs.dx" + number][i] == 6);
      CHECK(values["gradients.y" + number][i] == sum);
      CHECK(values["gradients.dx" + number][i] == ipu + 1);
    }
  }
}

TEST_CASE("the host runs ops of IO tiles as others") {
  tw::Session<on_io_tiles> session({.threads = 1});
  const std::vector<float> x{1, 2, 3, 4, 5};
  const auto outputs = session.run("x"_s = x);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(outputs["y"_s](i) == -x[i]);
}
