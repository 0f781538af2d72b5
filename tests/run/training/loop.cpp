// labels: more standard-library strict tsan
// Training steps against gradients by hand, the loop that runs them, and its progress bar.
#include "tilewright/train/loop.hpp"

#include <fcntl.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "../../support/elements.hpp"
#include "tilewright/data/generated_digits.hpp"
#include "tilewright/layers/batch_norm.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/train/evaluate.hpp"
#include "tilewright/train/progress_bar.hpp"
#include "tilewright/train/step.hpp"

namespace {

using tw::Ir, tw::Tensor;
using tw::data::Dataset, tw::data::Loader;
using tw::train::Progress, tw::train::run_epochs;
namespace ops = tw::ops;
namespace optim = tw::optim;

// ---- steps of one layer: 12 images of 4 numbers, 3 classes

constexpr std::size_t batch = 12, features = 4, classes = 3;
constexpr double rate = 0.5;

template <class Optimiser>
constexpr void step(Ir& ir, const Optimiser& optimiser, int micro_batches, int replicas) {
  ir.set_replication_factor(replicas);
  tw::train::train_step(ir, tw::layers::Linear<classes, {.bias = false}>{}, optimiser,
                        {{static_cast<std::int64_t>(batch) / micro_batches / replicas, features}},
                        {.micro_batches = micro_batches});
}
template <int micro_batches, int replicas>
constexpr void descent(Ir& ir) {
  step(ir, optim::SgdParameters{.lr = rate}, micro_batches, replicas);
}
template <int micro_batches, int replicas>
constexpr void adam(Ir& ir) {  // with a rate that each run gives
  const Tensor lr = ops::host_load(ir.h2d_stream("rate", {}));
  step(ir, optim::AdamParameters{.lr = lr, .epsilon = 1e-8, .first_order_dtype = tw::float32}, micro_batches, replicas);
}
template <int micro_batches, int replicas>
constexpr void lamb(Ir& ir) {
  step(ir, optim::LambParameters{.lr = rate, .epsilon = 1e-8}, micro_batches, replicas);
}

struct Constant : tw::Module<Constant> {
  constexpr Tensor build(Tensor x) { return x; }
};

std::array<double, batch * features> images() {
  std::array<double, batch * features> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(i * 7919 % 101) / 50 - 1;
  return result;
}
std::array<double, features * classes> weights() {
  std::array<double, features * classes> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(i * 31 % 17) / 16 - 0.5;
  return result;
}
std::int32_t label(std::size_t i) { return static_cast<std::int32_t>(i * i % classes); }

/// The mean cross entropy of all images, and its gradient by the weights: x^T (softmax(x w) - one hot) / batch.
struct Expected {
  double loss = 0;
  std::array<double, features * classes> gradient{};
};
Expected by_hand() {
  Expected result;
  const auto x = images();
  const auto w = weights();
  for (std::size_t i = 0; i < batch; ++i) {
    std::array<double, classes> exponentials{};
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      double logit = 0;
      for (std::size_t f = 0; f < features; ++f) logit += x[i * features + f] * w[f * classes + c];
      sum += exponentials[c] = std::exp(logit);
    }
    for (std::size_t c = 0; c < classes; ++c) {
      const bool right = label(i) == static_cast<std::int32_t>(c);
      const double probability = exponentials[c] / sum;
      if (right) result.loss -= std::log(probability) / batch;
      for (std::size_t f = 0; f < features; ++f)
        result.gradient[f * classes + c] += x[i * features + f] * (probability - (right ? 1 : 0)) / batch;
    }
  }
  return result;
}
double norm(const std::array<double, features * classes>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// Runs a session once from those weights; checks its loss and its new weights.
template <class Session>
void check_step(const std::array<double, features * classes>& expected_step, double tolerance, const auto&... rates) {
  Session session({.threads = 2});
  constexpr auto shape = tw::extents_of<tw::train::detail::input_named<Session>("image").host_shape>();
  constexpr auto label_shape = tw::extents_of<tw::train::detail::input_named<Session>("label").host_shape>();
  xt::xtensor<float, shape.size()> x(shape);
  xt::xtensor<std::int32_t, label_shape.size()> labels(label_shape);
  xt::xtensor<float, 2> w({features, classes});
  std::ranges::copy(images(), x.data());
  std::ranges::copy(weights(), w.data());
  for (std::size_t i = 0; i < batch; ++i) labels.data()[i] = label(i);
  session.write_variable_data("weight"_s, w);
  const auto loss = session.run("image"_s = x, "label"_s = labels, ("rate"_s = rates)...)["loss"_s];
  CHECK(tw::train::detail::mean(loss) == Approx(by_hand().loss).epsilon(1e-5));
  const auto after = session.get_tensor_data("weight"_s);
  for (std::size_t i = 0; i < expected_step.size(); ++i)
    CHECK(after.data()[i] == Approx(weights()[i] - rate * expected_step[i]).margin(tolerance));
}

// ---- a small network on digits

struct Digits : tw::Module<Digits> {
  BOOST_HANA_DEFINE_STRUCT(Digits, (tw::layers::Linear<16>, fc1), (tw::layers::Linear<10>, fc2));
  constexpr Tensor build(Tensor x) { return fc2(ops::gelu(fc1(x.reshape({-1, 28 * 28})))); }
};
template <int replicas>
constexpr void train_digits(Ir& ir) {
  ir.set_replication_factor(replicas);
  tw::train::train_step(ir, Digits{}, optim::SgdParameters{.lr = 0.1}, {{8 / replicas, 28, 28}});
}
constexpr void test_digits(Ir& ir) { tw::train::test_step(ir, Digits{}, {{20, 28, 28}}); }

using TrainSession = tw::Session<train_digits<1>>;
using ReplicaSession = tw::Session<train_digits<2>>;
static_assert(tw::train::batch_size<TrainSession> == 8);
static_assert(tw::train::batch_size<ReplicaSession> == 8);
static_assert(tw::train::batch_size<tw::Session<descent<3, 2>>> == batch);

const tw::data::Digits& digits() {
  static const tw::data::Digits result = tw::data::generated_digits(2'000, 1);
  return result;
}
Loader<> loader_of(std::size_t batch_size) { return {digits().train, {.batch_size = batch_size, .shuffle = true, .seed = 3}}; }

/// One class for each pixel: the model's outputs are the image.
struct Pixels : tw::Module<Pixels> {
  constexpr Tensor build(Tensor x) { return x.reshape({-1, 10}) * add_variable_input("scale", tw::ones(), {}); }
};
constexpr void test_pixels(Ir& ir) { tw::train::test_step(ir, Pixels{}, {{10, 1, 10}}); }

/// A terminal, and what is written to it.
class Terminal {
 public:
  Terminal() : reader_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(reader_ >= 0);
    REQUIRE((grantpt(reader_) == 0 && unlockpt(reader_) == 0));
    writer_ = std::fopen(ptsname(reader_), "w");
    REQUIRE(writer_ != nullptr);
  }
  ~Terminal() { std::fclose(writer_), close(reader_); }
  std::FILE* file() const { return writer_; }
  std::string text() const {
    std::fflush(writer_);
    char buffer[4096];
    const auto size = read(reader_, buffer, sizeof buffer);
    return {buffer, size < 0 ? 0 : static_cast<std::size_t>(size)};
  }

 private:
  int reader_;
  std::FILE* writer_ = nullptr;
};

/// The first images of a data set.
Dataset first_images(const Dataset& dataset, std::size_t count) {
  Dataset result(count, dataset.images.shape(1), dataset.images.shape(2));
  std::copy_n(dataset.images.data(), result.images.size(), result.images.data());
  std::copy_n(dataset.labels.data(), count, result.labels.data());
  return result;
}

struct Normed : tw::Module<Normed> {
  BOOST_HANA_DEFINE_STRUCT(Normed, (tw::layers::BatchNorm<>, norm), (tw::layers::Linear<2>, out));
  constexpr Tensor build(Tensor x) { return out(norm(x)); }
};
template <std::int64_t micro_batches>
constexpr void train_normed(Ir& ir) {
  tw::train::train_step(ir, Normed{}, tw::optim::SgdParameters{.lr = 0.1}, {{4 / micro_batches, 1}},
                        {.micro_batches = micro_batches});
}

}  // namespace

TEST_CASE("train_step: descent goes along the mean gradient of all micro-batches on all replicas") {
  const auto gradient = by_hand().gradient;
  check_step<tw::Session<descent<1, 1>>>(gradient, 2e-6);
  check_step<tw::Session<descent<3, 1>>>(gradient, 2e-6);
  check_step<TestSession<descent<3, 2>, tw::ipu_model>>(gradient, 2e-6);
}
TEST_CASE("train_step: the first step of Adam has the gradient's signs, that of LAMB the norm of the weight besides") {
  auto signs = by_hand().gradient;
  for (double& value : signs) value /= std::abs(value);
  const double tolerance = 5e-5;  // float32 has four digits of 1 - beta2
  check_step<tw::Session<adam<1, 1>>>(signs, tolerance, static_cast<float>(rate));
  check_step<tw::Session<adam<1, 2>>>(signs, tolerance, std::array{static_cast<float>(rate), static_cast<float>(rate)});
  auto scaled = signs;
  for (double& value : scaled) value *= norm(weights()) / norm(signs);
  check_step<tw::Session<lamb<3, 2>>>(scaled, tolerance);
}
TEST_CASE("train_step: each run starts its mean gradient again") {
  tw::Session<descent<3, 1>> in_parts({.seed = 1});
  tw::Session<descent<1, 1>> at_once({.seed = 1});
  in_parts.write_variable_data("weight"_s, at_once.get_tensor_data("weight"_s));
  xt::xtensor<float, 3> x({3, batch / 3, features});
  xt::xtensor<std::int32_t, 2> labels({3, batch / 3});
  std::ranges::copy(images(), x.data());
  for (std::size_t i = 0; i < batch; ++i) labels.data()[i] = label(i);
  for (int run = 0; run < 10; ++run) {
    in_parts.run("image"_s = x, "label"_s = labels);
    at_once.run("image"_s = xt::xtensor<float, 2>(xt::reshape_view(x, {batch, features})),
                "label"_s = xt::xtensor<std::int32_t, 1>(xt::flatten(labels)));
  }
  CHECK(xt::allclose(in_parts.get_tensor_data("weight"_s), at_once.get_tensor_data("weight"_s), 1e-5, 1e-6));
}
TEST_CASE("train_step: a model with variables and at least one micro-batch with an axis of images") {
  const auto trace_model = [](const auto& model, const tw::TensorSpec& images, int micro_batches) {
    tw::trace(
        [&](Ir& ir) { tw::train::train_step(ir, model, optim::SgdParameters{}, images, {.micro_batches = micro_batches}); });
  };
  for (const int micro_batches : {1, 2})
    CHECK_THROWS_WITH(trace_model(Constant{}, {{2, 4}}, micro_batches),
                      "train_step: Constant has no variables: a model to train expected");
  const auto trace = [&](const tw::TensorSpec& images, int micro_batches) {
    trace_model(tw::layers::Linear<3>{}, images, micro_batches);
  };
  CHECK_THROWS_WITH(trace({{2, 4}}, 0), "train_step: 0 micro-batches: from 1 to 2147483647 expected");
  CHECK_THROWS_WITH(trace({}, 1), "train_step: () float32: a first axis of images expected");
}

TEST_CASE("run_epochs: every step is reported, and the network learns") {
  TrainSession session({.seed = 1, .threads = 1});
  Loader loader = loader_of(8);
  std::vector<Progress> reports;
  const auto trained = run_epochs(session, loader, {.epochs = 2}, [&](const Progress& progress) { reports.push_back(progress); });
  REQUIRE(reports.size() == 500);
  CHECK(trained.steps == 500);
  CHECK(trained.seconds > 0);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    CHECK((reports[i].epoch == 1 + i / 250 && reports[i].epochs == 2));
    CHECK((reports[i].batch == 1 + i % 250 && reports[i].batches == 250));
  }
  CHECK(reports[0].loss == Approx(std::log(10.0)).epsilon(0.1));  // at first, all digits are about as likely
  CHECK(reports[499].loss < 1);
  tw::Session<test_digits> test;
  test.load_from_session(session);
  CHECK(tw::train::accuracy(test, digits().test) > 0.8);
}
TEST_CASE("run_epochs: a loader's state is where it goes on") {
  TrainSession whole({.seed = 1, .threads = 1}), part({.seed = 1, .threads = 1});
  Loader loader = loader_of(8), first = loader_of(8), second = loader_of(8);
  CHECK(run_epochs(whole, loader, {.epochs = 1, .limit_batches = 10}).steps == 10);
  CHECK(run_epochs(whole, loader, {.until_epoch = 2, .limit_batches = 10}).steps == 10);
  CHECK(run_epochs(whole, loader, {.epochs = 1, .limit_batches = 10}).steps == 10);
  CHECK(run_epochs(whole, loader, {.until_epoch = 3, .limit_batches = 10}).steps == 0);  // all three are done

  tw::data::LoaderState state;
  struct Stop {};
  try {
    run_epochs(part, first, {.until_epoch = 3, .limit_batches = 10}, [&](const Progress& progress) {
      state = first.state();
      if (progress.epoch == 2 && progress.batch == 4) throw Stop();
    });
  } catch (const Stop&) {
  }
  second.resume(state);
  CHECK(run_epochs(part, second, {.until_epoch = 3, .limit_batches = 10}).steps == 16);
  CHECK(elements(part.get_tensor_data("fc1.weight"_s)) == elements(whole.get_tensor_data("fc1.weight"_s)));
}
TEST_CASE("run_epochs: replicas share a batch") {
  TrainSession one({.seed = 1, .threads = 1});
  ReplicaSession two({.seed = 2, .threads = 2});
  two.write_variables_data(one.get_tensors_data());
  Loader of_one = loader_of(8), of_two = loader_of(8), wrong = loader_of(9);
  std::vector<float> losses;
  run_epochs(one, of_one, {.limit_batches = 20}, [&](const Progress& progress) { losses.push_back(progress.loss); });
  std::size_t i = 0;
  run_epochs(two, of_two, {.limit_batches = 20},
             [&](const Progress& progress) { CHECK(progress.loss == Approx(losses[i++]).epsilon(1e-4)); });
  CHECK(xt::allclose(one.get_tensor_data("fc1.weight"_s), two.get_tensor_data("fc1.weight"_s), 1e-4, 1e-5));
  CHECK_THROWS_WITH(run_epochs(two, wrong), "batch: 'image' has 7056 elements: 6272 for (2, 4, 28, 28) expected");
  CHECK_THROWS_AS(run_epochs(one, wrong), std::invalid_argument);
}
TEST_CASE("train_step: running statistics are no weights") {
  const auto run = [](auto& session, const auto& x, const auto& labels) {
    session.run("image"_s = x, "label"_s = labels);
    return session.get_tensor_data("norm.running_mean"_s)(0);
  };
  tw::Session<train_normed<1>> one({.threads = 1});
  CHECK(run(one, xt::xtensor<float, 2>({4, 1}, 3.F), xt::xtensor<std::int32_t, 1>({4}, 1)) == Approx(0.3));
  tw::Session<train_normed<2>> two({.threads = 1});  // both micro-batches change them
  CHECK(run(two, xt::xtensor<float, 3>({2, 2, 1}, 3.F), xt::xtensor<std::int32_t, 2>({2, 2}, 1)) == Approx(0.57));
}
TEST_CASE("accuracy: the share of images whose largest output is the label's") {
  Dataset dataset(25, 1, 10);  // the last 5 fill no batch, and count
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    for (std::size_t pixel = 0; pixel < 10; ++pixel) dataset.images(i, 0, pixel) = pixel == i % 10 ? 1.f : 0.f;
    dataset.labels(i) = static_cast<std::int32_t>(i % 4 == 0 ? (i + 1) % 10 : i % 10);
  }
  tw::Session<test_pixels> session;
  CHECK(tw::train::accuracy(session, dataset) == 18.0 / 25);
  dataset.images(1, 0, 0) = dataset.images(2, 0, 2) = std::numeric_limits<float>::quiet_NaN();  // 2 was right by its label
  CHECK(tw::train::accuracy(session, dataset) == 16.0 / 25);
  const Dataset three = first_images(dataset, 3);  // fewer than a batch
  CHECK(tw::train::accuracy(session, three) == 0);
  CHECK_THROWS_WITH(tw::train::accuracy(session, Dataset(0, 1, 10)), "evaluate: no samples: at least one expected");
}
TEST_CASE("ProgressBar: a bar for each epoch on a terminal") {
  if (!tw::internal::knows_terminals) {
    WARN("skipped: no file is known to be a terminal here");
    return;
  }
  const Terminal terminal;
  tw::train::ProgressBar bar(terminal.file());
  bar({.batch = 1, .batches = 4, .loss = 2});
  const std::string first = terminal.text();
  CHECK(first.find("\rLoss: 2.0000 |##########------------------------------| 1/4 [") == 0);
  CHECK(first.find('\n') == first.npos);
  bar({.batch = 2, .batches = 4, .loss = 1.5});  // too soon to draw it again
  bar({.batch = 4, .batches = 4, .loss = 1});
  const std::string last = terminal.text();
  CHECK(last.find("\rLoss: 1.0000 |########################################| 4/4 [") == 0);
  CHECK(last.ends_with(" \r\n"));  // as terminals end lines
}
TEST_CASE("ProgressBar: nothing where there is no terminal") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  tw::train::ProgressBar invisible(file);
  invisible({.batch = 4, .batches = 4, .loss = 1});
  CHECK(std::ftell(file) == 0);
  std::fclose(file);
}
