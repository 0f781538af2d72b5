// labels: none
// Runs that stop and go on: a float16 network with dropout, shuffled data, micro-batches, a moving average of its weights, a loss
// scale that changes and a rate from a schedule ends with the same bits as a run without a stop. Also the loops of programs with
// streams of any name.
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/elements.hpp"
#include "../../support/environment.hpp"
#include "tilewright/checkpoint/best_checkpoint.hpp"
#include "tilewright/checkpoint/task_session.hpp"
#include "tilewright/data/loader.hpp"
#include "tilewright/layers/dropout.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/ops/nn/losses.hpp"
#include "tilewright/optim/average.hpp"
#include "tilewright/optim/schedule.hpp"
#include "tilewright/program/named_streams.hpp"
#include "tilewright/train/early_stopping.hpp"
#include "tilewright/train/evaluate.hpp"
#include "tilewright/train/log.hpp"
#include "tilewright/train/loop.hpp"
#include "tilewright/train/minimise.hpp"

namespace {

using tw::Tensor;
using tw::data::Loader;
using tw::train::Progress, tw::train::run_epochs, tw::train::run_steps;
namespace ops = tw::ops;

constexpr int features = 6, rows = 4, micro_batches = 2;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<8>, hidden), (tw::layers::Dropout, dropout), (tw::layers::Linear<1>, head));
  constexpr Tensor build(Tensor x, Tensor seed) { return head(dropout(ops::tanh(hidden(x)), seed)); }
};
constexpr Tensor square_error(Net& net, Tensor x, Tensor y, Tensor seed) {
  return ops::mse_loss(net(x, seed).cast(tw::float32), y.cast(tw::float32));
}
constexpr void train(tw::Ir& ir) {
  const Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  const tw::InputStreams inputs(ir, {{"x", {rows, features}, tw::float16}, {"y", {rows, 1}, tw::float16}});
  tw::train::minimise(
      ir, Net{}, square_error, tw::optim::AdamWParameters{.lr = rate}, {inputs["x"], inputs["y"], {"seed", {2}, tw::uint32}},
      {.micro_batches = micro_batches,
       .variable_dtype = tw::float32,
       .loss_scaling = tw::optim::LossScaling{.init_scale = 0x1p30, .backoff_factor = 0x1p-9, .growth_interval = 3},
       .average = tw::optim::AverageOptions{.decay = 0.9}});
}
using Task = tw::TaskSession<train>;
static_assert(tw::train::batch_size<Task> == rows * micro_batches);
static_assert(Task::inputs().size() == 4 && Task::outputs().size() == 1);

struct Table {
  using Column = xt::xtensor<tw::float16_t, 2>;
  BOOST_HANA_DEFINE_STRUCT(Table, (Column, x), (Column, y));
};
Table table(std::size_t count) {
  Table result{xt::xtensor<tw::float16_t, 2>::from_shape({count, features}),
               xt::xtensor<tw::float16_t, 2>::from_shape({count, 1})};
  for (std::size_t i = 0; i < result.x.size(); ++i)
    result.x.data()[i] = static_cast<tw::float16_t>(static_cast<float>(i * 7919 % 101) / 50 - 1);
  for (std::size_t i = 0; i < count; ++i) result.y(i, 0) = static_cast<tw::float16_t>(static_cast<float>(i * i % 7) / 4 - 1);
  return result;
}
const Table& samples() {
  static const Table result = table(35);  // 4 batches of 8, and 3 samples that each epoch leaves out
  return result;
}
constexpr std::uint64_t batches = 4, epochs = 3, steps = batches * epochs;

/// The bytes of all variables, with their names.
std::string bits(const auto& session) {
  std::string result;
  for (const tw::HostTensor& tensor : session.host_tensors()) {
    result += std::string(tensor.name) + ":";
    result.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  return result;
}
/// A run with all its state.
struct Run {
  Task task{{.session = {.seed = 3, .threads = 2}}};
  Loader<Table> loader{samples(), {.batch_size = rows * micro_batches, .shuffle = true, .seed = 5}};
  tw::train::EarlyStopping stopping{{.patience = 100}};
  std::vector<float> losses{}, scales{};

  Run() {
    task.add_state("loader", loader);
    task.add_state("stopping", stopping);
  }
  /// Trains up to a step, which it saves in a folder.
  void train_until(std::uint64_t last_step, const std::filesystem::path& folder) {
    const tw::optim::CosineDecay schedule{.peak = 0.01, .steps = steps};
    tw::train::LogFile log(folder / "log.csv", {"loss", "best"}, task.steps());
    run_epochs(
        task, loader, {.until_epoch = epochs, .seed = 11},
        [&](const Progress& progress) {
          CHECK((progress.step == task.steps() && progress.batches == batches));
          losses.push_back(progress.loss);
          scales.push_back(task.get_tensor_data("loss_scaling.scale"_s)());
          stopping.stops(progress.loss);
          log.add(progress.step, {{"loss", progress.loss}, {"best", stopping.state().best}});
          if (progress.step == last_step) task.save_checkpoint(folder);
          return progress.step < last_step;
        },
        "rate"_s = schedule);
  }
};

constexpr void lines(tw::Ir& ir) {  // a program without a loss
  const tw::InputStreams inputs(ir, {{"x", {2, 3}}, {"factor", {}}, {"seed", {2}, tw::uint32}});
  const tw::OutputStreams outputs(ir, {{"y", tw::TensorSpec{{2, 3}, tw::float32}}, {"seed_out", {2}, tw::uint32}});
  ops::host_store(outputs["y"], ops::host_load(inputs["x"]) * ops::host_load(inputs["factor"]));
  ops::host_store(outputs[1], ops::host_load(inputs["seed"]));
}

constexpr void mean_of_weights(tw::Ir& ir) {  // whose weights are what the host gives
  const Tensor weight = ir.variable(tw::zeros(), {3}, tw::float32, "weight");
  ops::copy_var_update_(weight, ops::host_load(ir.h2d_stream("x", {3})));
  tw::NamedTensors variables;
  variables.insert("weight", weight);
  tw::optim::average_variables(variables, {.equal = true});
  tw::optim::average_variables(variables, {.decay = 0.99999, .prefix = "slow"});
}

struct Rows {
  using Numbers = xt::xtensor<float, 2>;
  using Labels = xt::xtensor<std::int32_t, 1>;
  BOOST_HANA_DEFINE_STRUCT(Rows, (Numbers, x), (Labels, number));
};

}  // namespace

TEST_CASE("TaskSession: a run that stops and goes on ends with the bits of one that does not") {
  const TemporaryFolder whole_folder;
  Run whole;
  whole.train_until(steps, whole_folder.path);
  REQUIRE(whole.task.steps() == steps);
  const auto changes = [&](auto compare) {
    std::size_t count = 0;
    for (std::size_t i = 1; i < whole.scales.size(); ++i) count += compare(whole.scales[i - 1], whole.scales[i]);
    return count;
  };
  REQUIRE(changes(std::greater<>()) + (whole.scales[0] < 0x1p30F) > 0);  // steps were skipped
  REQUIRE(changes(std::less<>()) > 0);  // and the scale grew again
  for (const std::uint64_t stop : {1U, 4U, 6U, 11U}) {
    INFO("stopped after step " << stop);
    const TemporaryFolder folder;
    Run first;
    first.train_until(stop, folder.path);
    CHECK(first.task.steps() == stop);
    Run second;
    REQUIRE(second.task.load_checkpoint(folder.path));
    CHECK((second.task.steps() == stop && second.task.metadata().get<std::uint64_t>("loader.batch") == stop % batches));
    second.train_until(steps, folder.path);
    CHECK(second.losses == std::vector(whole.losses.begin() + static_cast<std::ptrdiff_t>(stop), whole.losses.end()));
    CHECK(bits(second.task) == bits(whole.task));
    CHECK(second.stopping.state() == whole.stopping.state());
    CHECK(second.loader.state() == whole.loader.state());
    CHECK(file_content(folder / "log.csv") == file_content(whole_folder / "log.csv"));
  }
  whole.train_until(steps, whole_folder.path);  // all epochs are done
  CHECK(whole.task.steps() == steps);
}
TEST_CASE("TaskSession: checkpoints, and what does not fit") {
  const TemporaryFolder folder;
  Run run;
  CHECK_FALSE(run.task.load_checkpoint(folder.path / "none"));
  CHECK_THROWS_WITH(run.task.add_state("loader", run.loader), "TaskSession: state 'loader' twice: each name once expected");
  CHECK_THROWS_AS(run.task.add_state("", run.loader), std::invalid_argument);
  run.task.metadata().set("name", std::string("first"));
  run.train_until(2, folder.path);
  run.train_until(3, folder.path);  // the epoch goes on
  CHECK(tw::Checkpoints(folder.path).steps() == std::vector<std::uint64_t>{3});  // max_checkpoints
  Task other;
  Loader<Table> loader(samples(), {.batch_size = 8, .shuffle = true});
  other.add_state("data", loader);
  const std::string before = bits(other);
  CHECK_THROWS_AS(other.load_checkpoint(folder.path), tw::LoadError);  // without the state `data`
  CHECK((bits(other) == before && other.steps() == 0));
  Task plain;
  CHECK(plain.load_checkpoint(folder.path));
  CHECK((plain.steps() == 3 && plain.metadata().get<std::string>("name") == "first" && bits(plain) == bits(run.task)));
}
TEST_CASE("BestCheckpoint: the checkpoint of the best metric stays") {
  const TemporaryFolder folder;
  tw::Session<lines> session;
  tw::BestCheckpoint best(folder.path / "best", {.mode = tw::train::MetricMode::max});
  CHECK_FALSE(best.value());
  CHECK_THROWS_AS(best.load(), std::logic_error);
  const std::vector<float> weight{1, 2};
  const std::vector<tw::HostTensor> tensors{{"weight", {tw::Shape{2}, tw::float32}, std::as_bytes(std::span(weight))}};
  CHECK_FALSE(best.save_if_better(1, std::nan(""), tensors));
  CHECK(best.save_if_better(2, 0.5, tensors));
  CHECK_FALSE(best.save_if_better(3, 0.5, tensors));
  CHECK(best.save_if_better(4, 0.75, tensors));
  tw::BestCheckpoint resumed(folder.path / "best", {.mode = tw::train::MetricMode::max});
  CHECK((resumed.value() == 0.75 && resumed.step() == 4 && resumed.load().step == 4));
  CHECK_FALSE(resumed.save_if_better(5, 0.7, tensors));
  const auto fourth = tw::Checkpoints(folder.path / "best").path_of(4), kept = folder.path / "kept";
  std::filesystem::copy_file(fourth, kept);
  CHECK(resumed.save_if_better(3, 0.9, tensors));  // a run that goes on from an earlier step
  CHECK(tw::Checkpoints(folder.path / "best").steps() == std::vector<std::uint64_t>{3});
  std::filesystem::rename(kept, fourth);  // as if the process had been killed before it removed this
  const tw::BestCheckpoint after(folder.path / "best", {.mode = tw::train::MetricMode::max});
  CHECK((after.value() == 0.9 && after.step() == 3));
  tw::BestCheckpoint lowest(folder.path / "lowest");
  CHECK(lowest.save_if_better(1, 2, tensors));
  CHECK_FALSE(lowest.save_if_better(2, 3, tensors));
  CHECK(lowest.save_if_better(3, 1, tensors));
  tw::Checkpoints(folder.path / "other").save(1, tensors);
  CHECK_THROWS_AS(tw::BestCheckpoint(folder.path / "other"), tw::LoadError);
}
TEST_CASE("run_steps: batches that a function draws, and streams by name") {
  tw::Session<lines> session;
  const auto draw = [](std::uint64_t step) {
    return Rows{xt::xtensor<float, 2>({2, 3}, static_cast<float>(step)), xt::xtensor<std::int32_t, 1>::from_shape({2})};
  };
  std::vector<float> results;
  std::vector<std::uint64_t> seen;
  std::vector<Ints> seeds;
  const auto report = [&](const Progress& progress, const auto& outputs) {
    results.push_back(outputs["y"_s](1, 2));
    const auto seed = outputs["seed_out"_s];
    seeds.push_back({static_cast<std::int32_t>(seed(0)), static_cast<std::int32_t>(seed(1))});
    seen.push_back(progress.step);
    CHECK((progress.batch == progress.step && progress.batches == 5 && std::isnan(progress.loss)));
    return progress.step != 4;
  };
  const auto trained = run_steps(
      session, draw, {.until_step = 5, .first_step = 2, .seed = 1}, report,
      "factor"_s = [](std::int64_t step) { return 10 * step; });
  CHECK((trained.steps == 2 && seen == std::vector<std::uint64_t>{3, 4} && results == Floats{40, 90}));
  CHECK(seeds[0] != seeds[1]);
  const auto expected = tw::create_seeds(1, {.offset = 3});  // of the fourth step
  CHECK(seeds[1] == Ints{static_cast<std::int32_t>(expected(0, 0, 0, 0)), static_cast<std::int32_t>(expected(0, 0, 0, 1))});
  CHECK(run_steps(session, draw, {.steps = 3}, "factor"_s = 2.F).steps == 3);
  const xt::xtensor<float, 0> factor(2.F);
  CHECK(run_steps(
            session, draw, {.steps = std::numeric_limits<std::uint64_t>::max(), .first_step = 7},
            [](const Progress& progress) { return progress.step < 9; }, "factor"_s = factor)
            .steps == 2);
}
TEST_CASE("evaluate: each sample counts once") {
  tw::Session<lines> session;
  Rows dataset{xt::xtensor<float, 2>::from_shape({5, 3}), xt::xtensor<std::int32_t, 1>{0, 1, 2, 3, 4}};
  for (std::size_t i = 0; i < 15; ++i) dataset.x.data()[i] = static_cast<float>(i);
  Floats found;
  Ints numbers;
  std::vector<std::size_t> counts;
  tw::train::evaluate(
      session, dataset,
      [&](const auto& outputs, const Rows& batch, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) found.push_back(outputs["y"_s](i, 0)), numbers.push_back(batch.number(i));
        counts.push_back(count);
      },
      "factor"_s = 2);
  CHECK((found == Floats{0, 6, 12, 18, 24} && numbers == Ints{0, 1, 2, 3, 4} && counts == std::vector<std::size_t>{2, 2, 1}));
}
TEST_CASE("average_variables: a decay close to 1") {
  tw::Session<mean_of_weights> session;
  for (int step = 0; step < 5; ++step)  // 0 first, then 1: the average is 1 - decay^4
    session.run("x"_s = xt::xtensor<float, 1>({3}, step == 0 ? 0.F : 1.F));
  CHECK(session.get_tensor_data("slow.weight"_s)(0) == Approx(1 - std::pow(0.99999, 4)).epsilon(1e-6));
}
TEST_CASE("average_variables: the plain mean of all steps") {
  tw::Session<mean_of_weights> session;
  std::vector<double> sums(3);
  for (int step = 1; step <= 5; ++step) {
    auto x = xt::xtensor<float, 1>::from_shape({3});
    for (std::size_t i = 0; i < 3; ++i) sums[i] += x(i) = static_cast<float>((static_cast<int>(i) + 2) * step * step % 7) - 2.5F;
    session.run("x"_s = x);
    const auto average = session.get_tensor_data("average.weight"_s);
    for (std::size_t i = 0; i < 3; ++i) CHECK(average(i) == Approx(sums[i] / step).margin(1e-6));
  }
}
TEST_CASE("InputStreams, OutputStreams: streams by name and position") {
  tw::Ir ir;
  const tw::InputStreams inputs(ir, {{"a", {2}}, {"b", {3}, tw::int32}});
  CHECK((inputs.size() == 2 && inputs["b"].spec == tw::TensorSpec{{3}, tw::int32} && inputs[0].name() == "a"));
  CHECK((inputs.contains("a") && !inputs.contains("c")));
  CHECK_THROWS_WITH(inputs["c"], "streams: 'c': one of a, b expected");
  CHECK_THROWS_WITH(inputs[2], "streams: position 2: a number below 2 expected");
  for (const tw::HostToDeviceStream& stream : inputs) (void)ops::host_load(stream);
  CHECK(tw::InputStreams::from_streams(ir.get_all_h2d_streams())["b"] == inputs["b"]);
  const tw::OutputStreams outputs(ir, {{"y", {}}});
  CHECK(tw::OutputStreams::from_streams({outputs["y"]})[0].name() == "y");
  CHECK_THROWS_AS(tw::InputStreams(ir, {{"a", {2}}}), tw::TraceError);
}
