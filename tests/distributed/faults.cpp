// A program of four replicas that fails in the way that its argument names, for run.py.
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "../support/programs.hpp"
#include "tilewright/distributed/distributed.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using namespace tw::literals;
using support::load, support::store;

/// y = x, unless x is negative.
struct ThrowIfNegative : tw::UnaryOp<ThrowIfNegative> {
  static constexpr std::string_view name = "ThrowIfNegative";
  template <class X>
  static X forward(X x) {
    if constexpr (std::is_same_v<X, float>)
      if (x < 0) throw std::runtime_error("thrown by an op");
    return x;
  }
};

/// A row of a remote buffer, reduced over the replicas that ask for it.
struct Reduce {
  constexpr tw::Tensor operator()(tw::Tensor x) const { return collectives::replicated_all_reduce(x); }
};
struct Keep {
  constexpr tw::Tensor operator()(tw::Tensor x) const { return x * 1; }
};
constexpr void program(tw::Ir& ir) {
  ir.set_replication_factor(4);
  const tw::RemoteBuffer buffer = ir.remote_buffer({1}, tw::float32, 2);
  const tw::Tensor row = ops::remote_load(buffer, load(ir, "offset", {}, tw::int32));
  const tw::Tensor x = tw::apply<ThrowIfNegative>({load(ir, "x", {1}) + row});
  const tw::Tensor condition = load(ir, "condition", {}, tw::boolean);
  const tw::Tensor y = tw::conditional(condition, {ir.create_graph(Reduce(), x), {x}}, {ir.create_graph(Keep(), x), {x}})[0];
  store("y", y);
}
constexpr void sum(tw::Ir& ir) {
  ir.set_replication_factor(4);
  store("y", collectives::replicated_all_reduce(load(ir, "x", {1})));
}
constexpr void mean(tw::Ir& ir) {
  ir.set_replication_factor(4);
  store("y", collectives::replicated_all_reduce(load(ir, "x", {1}), {.op = tw::CollectiveOperator::mean}));
}
constexpr void larger_sum(tw::Ir& ir) {
  ir.set_replication_factor(4);
  store("y", collectives::replicated_all_reduce(load(ir, "x", {2})));
}

static void fail(std::string_view fault, bool fails) {
  if (fault == "others" && fails) tw::distributed::Session<larger_sum> session;
  if (fault == "mean" && fails) tw::distributed::Session<mean> session;
  if (fault == "mean" && !fails) tw::distributed::Session<sum> session;
  if (fault == "seed") tw::distributed::Session<sum> session({.seed = fails ? 2u : 1u});
  if (fault == "option")
    tw::distributed::Session<sum> session(
        {.all_reduce = fails ? tw::distributed::AllReduce::hierarchical : tw::distributed::AllReduce::replica_order});
  const std::size_t held = 4 / static_cast<std::size_t>(tw::distributed::Processes::world().count());
  const xt::xtensor<float, 2> x = xt::ones<float>({held, std::size_t{1}});
  if (fault == "exception" || fault == "together" || fault == "caught" || fault == "fewer" || fault == "hang" ||
      fault == "killed" || fault == "stopped" || fault == "exit" || fault == "quiet") {
    tw::distributed::Session<sum> session;
    for (int run = 1; run <= 10; ++run) {
      session.run("x"_s = x);
      if (fault == "together" && run == 3) throw std::runtime_error("thrown by all");
      if (!fails) continue;
      if (fault == "exception" && run == 3) throw std::runtime_error("thrown by rank 1");
      if (fault == "caught" && run == 2) throw std::runtime_error("thrown by rank 1");
      if (fault == "fewer" && run == 2) return;
      if (fault == "killed" && run == 3) std::raise(SIGKILL);
      if (fault == "stopped" && run == 3) std::raise(SIGSTOP);
      if (fault == "exit" && run == 3) std::_Exit(3);
      if (fault == "quiet" && run == 3) std::_Exit(0);
      if (fault == "hang" && run == 1) std::this_thread::sleep_for(std::chrono::seconds(30));
    }
    return;
  }
  tw::distributed::Session<program> session;
  const auto run = [&](float value, int offset, bool condition) {
    const xt::xtensor<int, 1> offsets = xt::ones<int>({held}) * offset;
    const xt::xtensor<bool, 1> conditions(std::array{held}, condition);
    session.run("x"_s = xt::xtensor<float, 2>(x * value), "offset"_s = offsets, "condition"_s = conditions);
  };
  if (fault == "offset") return run(1, fails ? 7 : 0, true);
  if (fault == "apart") return run(1, 0, !fails);
  run(1, 0, true);
  if (fault == "none") return;
  run(fails ? -1.f : 1.f, 0, true);
}

int main(int, char** arguments) {
  const std::string_view fault = arguments[1];
  const bool fails = tw::distributed::Processes::world().rank() == 1;
  if (fault != "caught") return fail(fault, fails), 0;
  try {
    fail(fault, fails);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
