// labels: none
// A run allocates nothing, whatever its number of threads.
#include "../../../examples/tutorial/steps.hpp"
#include "../../static/programs/models.hpp"
#include "../../support/count_allocations.hpp"
#include "../../support/elements.hpp"
#include "../../support/environment.hpp"

using support::allocations_of;

TEST_CASE("a run allocates nothing") {
  const int threads = GENERATE(0, 1, 2);  // 0: the first runs are measured
  using Session = tw::Session<train_step<Linear<3>, 4, 6>>;
  Session session({.threads = threads});
  const xt::xtensor<float, 2> image = xt::ones<float>({4, 6});
  const xt::xtensor<std::int32_t, 1> label{0, 1, 2, 1};
  INFO(threads << " threads");
  float loss = 0;
  CHECK(allocations_of([&] {
          for (int run = 0; run < 100; ++run) loss += session.run("image"_s = image, "label"_s = label)["loss"_s]();
        }) == 0);
  auto outputs = session.create_host_outputs();
  CHECK(allocations_of([&] {
          for (int run = 0; run < 20; ++run) {
            session.run_with_outputs("image"_s = image, "label"_s = label, "loss"_s = outputs["loss"_s]);
            session.run_with_outputs(outputs, "image"_s = image, "label"_s = label);
            loss += outputs["loss"_s]();
          }
        }) == 0);
  CHECK(loss > 0);
  CHECK(allocations_of([] { Session({.threads = 1}); }) > 0);  // the counter works
}

TEST_CASE("a run that is logged allocates nothing") {
  const TemporaryFolder folder;
  const EnvironmentVariable level("TILEWRIGHT_LOG_LEVEL", "TRACE");
  const EnvironmentVariable destination("TILEWRIGHT_LOG_DEST", (folder / "log").string());
  tw::Session<train_step<Linear<3>, 4, 6>> session;
  const xt::xtensor<float, 2> image = xt::ones<float>({4, 6});
  const xt::xtensor<std::int32_t, 1> label{0, 1, 2, 1};
  CHECK(allocations_of([&] {
          for (int run = 0; run < 20; ++run) session.run("image"_s = image, "label"_s = label);
        }) == 0);
  CHECK(file_content(folder / "log").find("run of ") != std::string::npos);
}

TEST_CASE("a run that is recorded allocates nothing, with and without room for it") {
  const int threads = GENERATE(1, 2);
  tw::Session<train_step<Linear<3>, 4, 6>> session({.threads = threads, .recorded_events = 400});
  const xt::xtensor<float, 2> image = xt::ones<float>({4, 6});
  const xt::xtensor<std::int32_t, 1> label{0, 1, 2, 1};
  CHECK(allocations_of([&] {
          for (int run = 0; run < 200; ++run) session.run("image"_s = image, "label"_s = label);
        }) == 0);
  const tw::Recording recording = session.recording();
  CHECK(recording.runs.size() > 1);
  CHECK(recording.runs.size() + static_cast<std::size_t>(recording.left_out_runs) == 200);
  CHECK(recording.left_out_runs > 0);
}

namespace {
constexpr void increment(tw::Ir& ir) { store("y", tw::ops::host_load(ir.h2d_stream("x", {1000})) + 1); }
}  // namespace

TEST_CASE("a run that copies an input, as it is an output of the run before, allocates nothing") {
  tw::Session<increment> session({.threads = 1});
  auto outputs = session.run("x"_s = std::vector<float>(1000));
  CHECK(allocations_of([&] {
          for (int run = 0; run < 9; ++run) outputs = session.run("x"_s = outputs["y"_s]);
        }) == 0);
  CHECK(outputs["y"_s](999) == 10);
}

namespace {
constexpr void rows(tw::Ir& ir) {
  const tw::RemoteBuffer buffer = ir.remote_buffer({1000}, tw::float32, 2);
  ir.remote_variable(tw::ones(), buffer, 0, "x");
  const tw::Tensor row = tw::ops::host_load(ir.h2d_stream("row", {}, tw::int32));
  tw::ops::remote_store(buffer, 1, tw::ops::remote_load(buffer, row) + tw::ops::remote_load(buffer, 1));
  store("x", tw::ops::remote_load(buffer, 1));
}
}  // namespace

TEST_CASE("a run that loads and stores rows of remote buffers allocates nothing") {
  const int threads = GENERATE(1, 2);
  tw::Session<rows> session({.threads = threads});
  float last = 0;
  CHECK(allocations_of([&] {
          for (int run = 0; run < 100; ++run) last = session.run("row"_s = 0)["x"_s](999);
        }) == 0);
  CHECK(last == 100);
}

namespace {
/// The variable goes to the device in halves, and back.
constexpr void halved(tw::Ir& ir) {
  const tw::Tensor x = ir.variable(tw::full(8), {1000}, tw::float32, "x");
  {
    const auto upload = tw::execution_context(ir, tw::ExecutionContext::WeightsFromHostFragment);
    tw::ops::mul_(x, ir.constant(0.5));
  }
  store("x", x);
  const auto download = tw::execution_context(ir, tw::ExecutionContext::WeightsToHostFragment);
  tw::ops::mul_(x, ir.constant(2.0));
}
}  // namespace

TEST_CASE("ops that follow uploads and precede downloads allocate nothing") {
  const int threads = GENERATE(1, 2);
  tw::Session<halved> session({.threads = threads});
  session.weights_to_host();  // the host copy is made
  float last = 0;
  CHECK(allocations_of([&] {
          for (int i = 0; i < 100; ++i) {
            session.weights_from_host();
            last = session.run()["x"_s](999);
            session.weights_to_host();
          }
        }) == 0);
  CHECK(last == 4);
}
