// labels: asan standard-library tsan ubsan
// What a session records of its runs, beside what a plan and the ops themselves say of them.
#include "tilewright/execute/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "../../support/elements.hpp"
#include "tilewright/execute/strict_executor.hpp"

namespace {

using tw::Ir, tw::Recording, tw::Tensor;
using Kind = Recording::Kind;
namespace ops = tw::ops;

std::int64_t now() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Gives rows as they are, and notes who does a row and when. A negative number is thrown.
struct Noted : tw::Op<Noted> {
  struct Note {
    std::thread::id thread;
    std::int64_t begin, end;
  };
  static inline std::mutex mutex;
  static inline std::vector<Note> notes;

  static constexpr std::string_view name = "Noted";
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
    const std::int64_t begin = now();
    for (std::int64_t row = 0; row < X::shape[0]; ++row) {
      const float value = x.data[row * X::spec.stride(0)];
      if (value < 0) throw std::domain_error("Noted: a negative number");
      y.data[row * Y::spec.stride(0)] = value;
    }
    const std::lock_guard lock(mutex);
    notes.push_back({std::this_thread::get_id(), begin, now()});
  }
};

struct Part {
  constexpr Tensor operator()(Tensor x) const { return tw::apply<Noted>({x}) + ops::sum(x, 0).reshape({1}); }
};
/// An op in the main graph, in a graph that is called twice, and in one that a loop calls three times.
constexpr void calls_and_loops(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {16}));
  const tw::Graph called = ir.create_graph(Part{}, x);
  Tensor y = tw::apply<Noted>({x}) * 2;
  for (int i = 0; i < 2; ++i) y = tw::call(called, y)[0];
  const tw::Graph repeated = ir.create_graph([](Tensor t) { return tw::apply<Noted>({t}) / (1 + ops::sum(t, 0).reshape({1})); },
                                             y);
  store("y", tw::repeat(repeated, 3, y)[0]);
}
constexpr void reduces(Ir& ir) {
  ir.set_replication_factor(2);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {8}));
  store("y", ops::collectives::replicated_all_reduce(x + 1));
}

/// How often a run executes each step, by its index: from the plan's tables.
std::vector<std::int64_t> executions(const auto& plan) {
  std::vector<std::int64_t> of_bodies(plan.bodies.size()), of_steps(plan.steps.size());
  of_bodies[0] = 1;
  for (std::size_t body = 0; body < of_bodies.size(); ++body)  // bodies stand before those that they call
    for (int i = 0; i < plan.bodies[body].step_count; ++i) {
      const auto step = static_cast<std::size_t>(plan.bodies[body].first_step + i);
      of_steps[step] = of_bodies[body];
      if (plan.steps[step].is_call())
        of_bodies[static_cast<std::size_t>(plan.steps[step].body)] += of_bodies[body] * plan.steps[step].count;
    }
  return of_steps;
}

/// The events of a run and worker, in their order.
std::vector<Recording::Event> events_of(const Recording& recording, int run, int worker) {
  std::vector<Recording::Event> found;
  for (const Recording::Event& event : recording.events)
    if (event.run == run && event.worker == worker) found.push_back(event);
  return found;
}

/// Each run is one stretch of time after the other, and each worker's events lie in it one after the other, from its begin to its
/// end.
void check_order(const Recording& recording) {
  for (std::size_t run = 0; run < recording.runs.size(); ++run) {
    const Recording::Run& own = recording.runs[run];
    CHECK(own.begin >= (run == 0 ? 0 : recording.runs[run - 1].end));
    CHECK(own.end >= own.begin);
    for (int worker = 0; worker < own.threads; ++worker) {
      const auto events = events_of(recording, static_cast<int>(run), worker);
      REQUIRE(events.size() >= 2);
      CHECK(events.front().kind == Kind::start);
      CHECK(events.back().kind == Kind::end);
      std::int64_t last = own.begin, sum = 0;
      CHECK(events.front().begin == own.begin);
      for (const Recording::Event& event : events) {
        CHECK(event.begin >= last);
        CHECK(event.end >= event.begin);
        CHECK((event.kind == Kind::start) == (&event == &events.front()));
        CHECK((event.kind == Kind::end) == (&event == &events.back()));
        CHECK((event.step == -1) == (event.kind == Kind::start || event.kind == Kind::end));
        last = event.end;
        sum += event.end - event.begin;
      }
      CHECK(last == own.end);
      CHECK(sum <= own.end - own.begin);
    }
    CHECK(events_of(recording, static_cast<int>(run), own.threads).empty());
  }
}

}  // namespace

TEST_CASE("a recording has all that each worker does, in calls and loops too") {
  using Session = tw::Session<calls_and_loops>;
  const int threads = GENERATE(1, 2, 3), runs = 4;
  INFO(threads << " threads");
  Session session({.threads = threads, .recorded_events = 10'000});
  Noted::notes.clear();
  for (int run = 0; run < runs; ++run) session.run("x"_s = Floats(16, 1));
  const Recording recording = session.recording("calls");
  CHECK(recording.program == "calls");
  CHECK(recording.room == 10'000);
  CHECK(recording.left_out_runs == 0);
  CHECK(recording.left_out_events == 0);
  REQUIRE(recording.runs.size() == std::size_t{runs});
  check_order(recording);

  const auto times = executions(Session::plan);
  REQUIRE(recording.steps.size() == times.size());
  CHECK(std::count_if(recording.steps.begin(), recording.steps.end(), [](const auto& step) { return step.label == "call"; }) ==
        2);
  CHECK(std::count_if(recording.steps.begin(), recording.steps.end(), [](const auto& step) { return step.label == "loop"; }) ==
        1);
  for (int run = 0; run < runs; ++run) {
    CHECK(recording.runs[static_cast<std::size_t>(run)].threads == threads);
    CHECK_FALSE(recording.runs[static_cast<std::size_t>(run)].failed);
    std::vector<std::int64_t> parts(times.size());
    std::vector<std::size_t> barriers;
    for (int worker = 0; worker < threads; ++worker) {
      barriers.push_back(0);
      for (const Recording::Event& event : events_of(recording, run, worker)) {
        if (event.kind == Kind::compute) parts[static_cast<std::size_t>(event.step)] += event.parts;
        else CHECK(event.parts == 0);
        barriers.back() += event.kind == Kind::barrier;
      }
      CHECK(barriers[0] == barriers.back());  // all meet at all of them
    }
    CHECK((barriers[0] > 0) == (threads > 1));
    for (std::size_t step = 0; step < times.size(); ++step) {
      INFO("step " << step << ": " << recording.steps[step].label);
      CHECK(recording.steps[step].parts == Session::plan.steps[step].vertices);
      CHECK(recording.steps[step].compute_set == Session::plan.steps[step].compute_set);
      CHECK(parts[step] == times[step] * Session::plan.steps[step].vertices);
    }
  }
}

TEST_CASE("what an op does lies in an event of its step and its worker") {
  const int threads = GENERATE(1, 2, 3);
  INFO(threads << " threads");
  const std::int64_t before = now();
  tw::Session<calls_and_loops> session({.threads = threads, .recorded_events = 1'000});
  const std::int64_t after = now();
  Noted::notes.clear();
  session.run("x"_s = Floats(16, 1));
  const Recording recording = session.recording();
  std::map<std::thread::id, int> workers{{std::this_thread::get_id(), 0}};
  std::size_t found = 0;
  for (const Noted::Note& note : Noted::notes) {
    // the recording begins at some moment between `before` and `after`: an event may seem that much too early or late
    const auto has = [&](const Recording::Event& event) {
      return event.kind == Kind::compute && event.begin + before <= note.begin && note.end <= event.end + after &&
             recording.steps[static_cast<std::size_t>(event.step)].label.find("Noted") != std::string::npos &&
             (!workers.contains(note.thread) || workers[note.thread] == event.worker);
    };
    const auto event = std::find_if(recording.events.begin(), recording.events.end(), has);
    if (event == recording.events.end()) continue;
    ++found;
    if (threads == 2) workers.emplace(note.thread, event->worker);  // of more, another worker's event may be at the same time
  }
  CHECK(found == Noted::notes.size());
  CHECK(found > 0);
  if (threads == 1)
    CHECK(recording.runs[0].end - recording.runs[0].begin >= Noted::notes.back().end - Noted::notes.front().begin);
}

TEST_CASE("without events to record there is nothing, and results are the same with them") {
  tw::Session<calls_and_loops> session({.threads = 2}), recorded({.threads = 2, .recorded_events = 1'000});
  const auto plain = elements(session.run("x"_s = Floats(16, 3))["y"_s]);
  CHECK(plain == elements(recorded.run("x"_s = Floats(16, 3))["y"_s]));
  const Recording recording = session.recording();
  CHECK(recording.room == 0);
  CHECK(recording.runs.empty());
  CHECK(recording.events.empty());
  CHECK(recording.steps.size() == session.plan.steps.size());
  session.clear_recording();
  CHECK(recorded.recording().runs.size() == 1);
}

TEST_CASE("runs whose events have no room are counted and left out") {
  using Session = tw::Session<calls_and_loops>;
  const int threads = GENERATE(1, 2);
  std::int64_t own = 2;  // of one worker that is alone: start, end and each step that computes
  const auto times = executions(Session::plan);
  for (std::size_t step = 0; step < times.size(); ++step)
    own += Session::plan.steps[step].kind == tw::internal::StepKind::compute ? times[step] : 0;
  Session large({.threads = threads, .recorded_events = 1'000});
  large.run("x"_s = Floats(16, 1));
  const Recording one = large.recording();
  const auto all = static_cast<std::int64_t>(one.events.size());
  std::int64_t most = 0;
  for (int worker = 0; worker < threads; ++worker)
    most = std::max(most, static_cast<std::int64_t>(events_of(one, 0, worker).size()));
  if (threads == 1) CHECK(most == own);

  Session session({.threads = threads, .recorded_events = 3 * most - 1});
  for (int run = 0; run < 5; ++run) session.run("x"_s = Floats(16, 1));
  Recording recording = session.recording();
  if (threads == 1) {  // several take parts of steps as it comes
    CHECK(recording.runs.size() == 2);
    CHECK(recording.events.size() == static_cast<std::size_t>(2 * all));
    CHECK(recording.left_out_runs == 3);
    CHECK(recording.left_out_events == 3 * all);
  }
  CHECK(recording.left_out_runs > 0);
  CHECK(static_cast<std::int64_t>(recording.runs.size()) + recording.left_out_runs == 5);
  check_order(recording);

  session.clear_recording();
  CHECK(session.recording().events.empty());
  CHECK(session.recording().left_out_events == 0);
  session.run("x"_s = Floats(16, 1));
  recording = session.recording();
  CHECK(recording.runs.size() == 1);
  CHECK(recording.left_out_runs == 0);

  Session small({.threads = threads, .recorded_events = 1});
  small.run("x"_s = Floats(16, 1));
  CHECK(small.recording().runs.empty());
  if (threads == 1) CHECK(small.recording().left_out_events == all);
  else CHECK(small.recording().left_out_events > 2);
}

TEST_CASE("a run that ends by an exception is recorded as far as it came") {
  const int threads = GENERATE(1, 2, 3);
  INFO(threads << " threads");
  tw::Session<calls_and_loops> session({.threads = threads, .recorded_events = 1'000});
  session.run("x"_s = Floats(16, 1));
  for (const std::size_t row : {std::size_t{0}, std::size_t{15}}) {
    Floats x(16, 1);
    x[row] = -1;
    CHECK_THROWS_AS(session.run("x"_s = x), std::domain_error);
  }
  session.run("x"_s = Floats(16, 1));
  const Recording recording = session.recording();
  REQUIRE(recording.runs.size() == 4);
  check_order(recording);
  for (std::size_t run = 0; run < 4; ++run) CHECK(recording.runs[run].failed == (run == 1 || run == 2));
  const auto events_in = [&](int run) {
    return std::count_if(recording.events.begin(), recording.events.end(), [&](const auto& event) { return event.run == run; });
  };
  for (int run = 0; run < 4; ++run) CHECK(events_in(run) > 0);
  if (threads > 1) return;  // several take parts of steps as it comes
  CHECK(events_in(0) == events_in(3));
  CHECK(events_in(1) < events_in(0));
  CHECK(events_in(2) < events_in(0));
}

TEST_CASE("a collective and vertices of several replicas are recorded") {
  const int threads = GENERATE(1, 2, 3);
  tw::Session<reduces> session({.threads = threads, .recorded_events = 1'000});
  session.run("x"_s = xt::xtensor<float, 2>(xt::ones<float>({2, 8})));
  const Recording recording = session.recording();
  check_order(recording);
  std::vector<std::int64_t> parts(recording.steps.size());
  for (const Recording::Event& event : recording.events)
    if (event.kind == Kind::compute || event.kind == Kind::collective) parts[static_cast<std::size_t>(event.step)] += event.parts;
  int collectives = 0;
  for (std::size_t step = 0; step < parts.size(); ++step) {
    const auto& planned = session.plan.steps[step];
    CHECK(parts[step] == 2 * planned.vertices + planned.items);
    collectives += planned.items > 0;
  }
  CHECK(collectives == 1);
}

TEST_CASE("a run has the number of threads that was chosen for it") {
  tw::Session<calls_and_loops> session({.threads = 0, .recorded_events = 10'000});
  std::vector<int> threads;
  for (int run = 0; run < 30; ++run) {
    threads.push_back(session.threads());
    session.run("x"_s = Floats(16, 1));
  }
  const Recording recording = session.recording();
  REQUIRE(recording.runs.size() == threads.size());
  for (std::size_t run = 0; run < threads.size(); ++run) CHECK(recording.runs[run].threads == threads[run]);
  check_order(recording);
}

TEST_CASE("a run that no worker entered is forgotten") {
  const tw::internal::Step step;
  const auto recorder = tw::internal::Recorder::of(10, 2, &step);
  const auto logger = tw::Logger::from_environment(0);
  recorder->begin_run(0, 1);
  recorder->enter(0);
  recorder->leave(0);
  recorder->end_run(false, logger);
  for (int run = 0; run < 20; ++run) {
    recorder->begin_run(0, 2);
    recorder->end_run(true, logger);
  }
  const Recording recording = recorder->recording();
  CHECK(recording.runs.size() == 1);
  CHECK(recording.events.size() == 2);
  CHECK(recording.left_out_runs == 0);
}

TEST_CASE("what cannot be recorded is refused") {
  const auto message = [](const char* number) {
    return Catch::Matchers::Message("recorded_events: " + std::string(number) + ": a number from 0 to 16777216 expected");
  };
  CHECK_THROWS_MATCHES(tw::Session<reduces>({.recorded_events = -1}), std::invalid_argument, message("-1"));
  CHECK_THROWS_MATCHES(tw::Session<reduces>({.recorded_events = 16777217}), std::invalid_argument, message("16777217"));
  CHECK_THROWS_MATCHES((tw::Session<reduces, tw::ipu_model>({.strict = true, .recorded_events = 1})), std::invalid_argument,
                       Catch::Matchers::Message("recorded_events: strict mode records nothing: 0 expected"));
}
