// labels: asan standard-library tsan ubsan
// Runs that end early, and calls that come at the wrong time or in the wrong process.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
using Catch::Matchers::Message;

/// An op on rows, any of which may go to any worker.
template <class D>
struct RowOp : tw::Op<D> {
  constexpr operator tw::authoring::KernelOperands() const { return tw::authoring::KernelOperands{.any_layout = true}; }
  static constexpr void infer(tw::Inference& op) { op.output(op.input(0)); }
  static constexpr tw::Work work(std::span<const tw::TensorSpec> operands, int, const tw::PackedAttributes&) {
    tw::Work work;
    const int rows = work.add_axis({.extent = operands[0].shape[0]});
    for (int operand = 0; operand < 2; ++operand) work.follow(operand, 0, rows);
    return work;
  }
  template <tw::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    for (std::int64_t row = 0; row < X::shape[0]; ++row) y.data[row * Y::spec.stride(0)] = D::of(x.data[row * X::spec.stride(0)]);
  }
};
/// The square root, which negative numbers do not have.
struct Root : RowOp<Root> {
  static constexpr std::string_view name = "Root";
  static float of(float x) {
    if (x < 0) throw std::domain_error("Root: a negative number");
    return std::sqrt(x);
  }
};
/// The same number, once the test lets it go.
struct Wait : RowOp<Wait> {
  static constexpr std::string_view name = "Wait";
  static inline std::atomic<bool> is_running = false, may_end = true;
  static float of(float x) {
    is_running = true;
    while (!may_end) std::this_thread::yield();
    return x;
  }
};

/// Takes roots in the main graph and in a loop. `count` and `total` change after them.
constexpr void roots(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {16})), z = ops::host_load(ir.h2d_stream("z", {16}));
  const Tensor total = ir.variable(tw::zeros(), {16}, tw::float32, "total");
  const Tensor count = ir.variable(tw::zeros(), {}, tw::float32, "count");
  const Tensor of_x = tw::apply<Root>({x});
  ops::scaled_add_(count, ops::sum(of_x, 0));
  const auto step = [](Tensor t, tw::TensorByRef sums) {
    const Tensor root = tw::apply<Root>({t - 1});
    ops::scaled_add_(sums, root + ops::sum(root, 0).reshape({1}));
    return root;
  };
  const tw::Graph graph = ir.create_graph(step, z, total);
  store("last", tw::repeat(graph, 3, {z, total}));
}
constexpr void waits(Ir& ir) {
  store("y", tw::apply<Wait>({ops::host_load(ir.h2d_stream("x", {4}))}) + ir.variable(tw::ones(), {4}, tw::float32, "w"));
}

xt::xtensor<float, 1> all_but(float others, std::size_t row, float value) {
  xt::xtensor<float, 1> x = others * xt::ones<float>({16});
  x(row) = value;
  return x;
}

}  // namespace

TEST_CASE("what an op throws ends the run, whichever thread it is on, and the next run is right") {
  on_all_machines<roots>([](auto& session) {
    const auto good_x = all_but(4, 0, 4), good_z = all_but(17, 0, 17);
    for (const std::size_t row : {0, 7, 15}) {
      const auto before = session.get_tensors_data();
      const auto unchanged = [&] { CHECK(elements(session.get_tensor_data("total"_s)) == elements(before["total"_s.key()])); };
      CHECK_THROWS_MATCHES(session.run("x"_s = all_but(4, row, -1), "z"_s = good_z), std::domain_error,
                           Message("Root: a negative number"));
      unchanged();
      CHECK(session.get_tensor_data("count"_s)() == before["count"_s.key()]());
      CHECK_THROWS_AS(session.run("x"_s = good_x, "z"_s = all_but(17, row, 0)), std::domain_error);
      unchanged();
      // 2 - 1 has the root 1, 1 - 1 the root 0, and 0 - 1, in the third iteration, has none
      CHECK_THROWS_AS(session.run("x"_s = good_x, "z"_s = all_but(17, row, 2)), std::domain_error);
      session.write_variables_data(before);
      const auto outputs = session.run("x"_s = good_x, "z"_s = all_but(26, row, 26));
      CHECK(elements(outputs["last"_s]) == Floats(16, 1));  // 26 - 1 has 5, 5 - 1 has 2, 2 - 1 has 1
      CHECK(session.get_tensor_data("count"_s)() == before["count"_s.key()]() + 32);
    }
  });
}

TEST_CASE("a call while another thread uses the session is refused") {
  const int threads = GENERATE(1, 2);
  tw::Session<waits> session({.threads = threads});
  const Floats x{1, 2, 3, 4};
  Wait::is_running = Wait::may_end = false;
  Floats y(4);
  std::jthread other([&] { session.run_with_outputs("x"_s = x, "y"_s = y); });
  while (!Wait::is_running) std::this_thread::yield();
  const auto message = [](const std::string& call) {
    return Message(call + ": the session is in use, by another thread or by an op: one call at a time expected");
  };
  CHECK_THROWS_MATCHES(session.run("x"_s = x), std::logic_error, message("run"));
  CHECK_THROWS_MATCHES(session.run_with_outputs("x"_s = x, "y"_s = y), std::logic_error, message("run_with_outputs"));
  CHECK_THROWS_MATCHES(session.get_tensor_data("w"_s), std::logic_error, message("get_tensor_data"));
  CHECK_THROWS_MATCHES(session.get_tensors_data(), std::logic_error, message("get_tensors_data"));
  CHECK_THROWS_MATCHES(session.write_variable_data("w"_s, x), std::logic_error, message("write_variable_data"));
  CHECK_THROWS_MATCHES(session.variables(), std::logic_error, message("variables"));
  CHECK_THROWS_MATCHES(session.host_tensors(), std::logic_error, message("host_tensors"));
  CHECK_THROWS_MATCHES(session.weights_to_host(), std::logic_error, message("weights_to_host"));
  CHECK_THROWS_MATCHES(session.weights_from_host(), std::logic_error, message("weights_from_host"));
  CHECK_THROWS_MATCHES(session.detach(), std::logic_error, message("detach"));
  Wait::may_end = true;
  other.join();
  CHECK(y == Floats{2, 3, 4, 5});
  CHECK(elements(session.run("x"_s = x)["y"_s]) == y);
}

// The thread sanitizer does not follow a fork of several threads.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a session of several threads that was made before a fork does not run in the child") {
  if (!tw::internal::counts_forks) {
    WARN("skipped: forks are not counted here");
    return;
  }
  const Floats x{1, 2, 3, 4};
  const auto in_child = [&](auto check) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends a child that hangs
      _exit(check() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  };
  std::optional<tw::Session<waits>> session;
  session.emplace(tw::SessionOptions{.threads = 2});
  session->run("x"_s = x);
  CHECK(in_child([&] {
    bool throws = false;
    try {
      session->run("x"_s = x);
    } catch (const std::logic_error& error) {
      throws = error.what() ==
               std::string(
                   "threads: 2 made before a fork, of which the child process has one: a session made after the fork, or "
                   "one of one thread, expected");
    }
    session.reset();  // and its end does not wait for threads
    return throws;
  }));
  CHECK(elements(session->run("x"_s = x)["y"_s]) == Floats{2, 3, 4, 5});

  session.emplace(tw::SessionOptions{.threads = 1});
  CHECK(in_child([&] { return elements(session->run("x"_s = x)["y"_s]) == Floats{2, 3, 4, 5}; }));
  CHECK(in_child([&] {
    tw::Session<waits> own({.threads = 2});
    return elements(own.run("x"_s = x)["y"_s]) == Floats{2, 3, 4, 5};
  }));
}

TEST_CASE("a session that is destroyed while another thread uses it ends the program, and only ends in a forked child") {
  const int threads = GENERATE(1, 2);
  const Floats x{1, 2, 3, 4};
  std::optional<tw::Session<waits>> session;
  std::jthread other;
  const auto use = [&] {
    session.emplace(tw::SessionOptions{.threads = threads});
    Wait::is_running = Wait::may_end = false;
    other = std::jthread([&] { session->run("x"_s = x); });
    while (!Wait::is_running) std::this_thread::yield();
  };
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t user = fork();
  if (user == 0) {
    alarm(60);
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    use();
    session.reset();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  for (char character = 0; read(ends[0], &character, 1) == 1;) text += character;
  close(ends[0]);
  int status = -1;
  waitpid(user, &status, 0);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  CHECK_THAT(text, Catch::Matchers::Contains("~Session: the session is in use, by another thread or by an op"));

  if (!tw::internal::counts_forks) return;
  use();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    session.reset();
    _exit(0);
  }
  waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  Wait::may_end = true;
}
#endif
