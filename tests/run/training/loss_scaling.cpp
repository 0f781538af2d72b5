// labels: strict
// Loss scaling against PyTorch's GradScaler: skipped steps, growth, micro-batches, replicas, and runs that go on from a
// checkpoint.
#include <algorithm>
#include <cmath>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/checkpoint/checkpoint.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/train/loop.hpp"
#include "tilewright/train/step.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;
namespace optim = tw::optim;

constexpr std::size_t steps = 12, batch = 12, features = 4, classes = 3;
constexpr std::size_t skipped[] = {4, 9};

const Values& expected() {
  static const Values values = [] {
    Values read;
    read_reference("loss_scaling.txt", read);
    return read;
  }();
  return values;
}

constexpr optim::AdamWParameters adamw_parameters{.lr = 0.05, .weight_decay = 0.1};
constexpr optim::SgdParameters momentum_parameters{.lr = 0.5, .momentum = 0.9};

constexpr void step(Ir& ir, const auto& optimiser, int micro_batches, int replicas, tw::train::StepOptions options) {
  ir.set_replication_factor(replicas);
  options.micro_batches = micro_batches;
  tw::train::train_step(ir, tw::layers::Linear<classes, {.bias = false}>{}, optimiser,
                        {{static_cast<std::int64_t>(batch) / micro_batches / replicas, features}}, options);
}
template <int micro_batches, int replicas>
constexpr void adamw(Ir& ir) {
  step(ir, adamw_parameters, micro_batches, replicas,
       {.max_norm = 0.125, .loss_scaling = optim::LossScaling{.growth_interval = 3}});
}
template <int micro_batches, int replicas>
constexpr void momentum(Ir& ir) {
  step(ir, momentum_parameters, micro_batches, replicas,
       {.loss_scaling = optim::LossScaling{.init_scale = 1024, .growth_interval = 3}});
}
/// An update that is the user's own, with a rate that each run gives.
template <double init_scale>
constexpr void descent_by_hand(Ir& ir) {
  const Tensor rate = ops::host_load(ir.h2d_stream("rate", {}));
  const auto descend = [&](std::string_view, Tensor variable, Tensor gradient) {
    ops::scaled_add_(variable, gradient, {.b = -rate});
  };
  step(ir, descend, 1, 1, {.loss_scaling = optim::LossScaling{.init_scale = init_scale, .growth_interval = 3}});
}

/// Runs a session with the fixture's images of a step, planted infinities among them.
template <class Session>
void run_step(Session& session, std::size_t number, const auto&... rates) {
  constexpr auto shape = tw::extents_of<tw::train::detail::input_named<Session>("image").host_shape>();
  constexpr auto label_shape = tw::extents_of<tw::train::detail::input_named<Session>("label").host_shape>();
  xt::xtensor<float, shape.size()> x(shape);
  xt::xtensor<std::int32_t, label_shape.size()> labels(label_shape);
  const auto copy = [&](const std::string& name, auto& array) {
    const auto begin = expected().at(name).begin() + static_cast<std::ptrdiff_t>(number * array.size());
    std::transform(begin, begin + static_cast<std::ptrdiff_t>(array.size()), array.data(),
                   [](double value) { return static_cast<std::remove_reference_t<decltype(array.data()[0])>>(value); });
  };
  copy("images", x);
  copy("labels", labels);
  session.run("image"_s = x, "label"_s = labels, ("rate"_s = rates)...);
}
template <class Session>
void start(Session& session) {
  xt::xtensor<float, 2> weight({features, classes});
  std::ranges::transform(expected().at("start"), weight.data(), [](double value) { return static_cast<float>(value); });
  session.write_variable_data("weight"_s, weight);
}
/// All variables that are neither the scale's nor mean gradients.
template <class Session>
std::map<std::string, std::vector<std::byte>> bytes_that_stay(const Session& session) {
  std::map<std::string, std::vector<std::byte>> result;
  for (const auto& tensor : session.host_tensors())
    if (!tensor.name.starts_with("loss_scaling.") && !tensor.name.starts_with("gradients."))
      result[std::string(tensor.name)] = {tensor.bytes.begin(), tensor.bytes.end()};
  return result;
}
/// All steps of the fixture `name`: weights and scales after each, and nothing else changes in those that are skipped.
template <class Session>
void check_steps(const std::string& name, std::size_t variables, const auto&... rates) {
  Session session({.threads = 2});
  start(session);
  for (std::size_t i = 0; i < steps; ++i) {
    INFO(name << ", step " << i);
    const auto before = bytes_that_stay(session);
    CHECK(before.size() == variables);
    run_step(session, i, rates...);
    const auto weight = elements(session.get_tensor_data("weight"_s));
    const auto wanted = expected().at(name + ".weights").begin() + static_cast<std::ptrdiff_t>(i * weight.size());
    const std::vector<double> now(weight.begin(), weight.end()),
        after(wanted, wanted + static_cast<std::ptrdiff_t>(weight.size()));
    CHECK(difference(now, after) < 5e-6);  // both compute in float32
    CHECK(static_cast<double>(session.get_tensor_data("loss_scaling.scale"_s)()) == expected().at(name + ".scales")[i]);
    CHECK((bytes_that_stay(session) == before) == (std::ranges::find(skipped, i) != std::end(skipped)));
  }
}

/// One image of small numbers in float16, with gradients that float16 hardly has.
template <bool is_scaled>
constexpr void small_gradients(Ir& ir) {
  tw::train::StepOptions options;
  if (is_scaled) options.loss_scaling = optim::static_loss_scaling(4096);
  tw::train::train_step(ir, tw::layers::Linear<classes, {.bias = false}>{}, optim::SgdParameters{.lr = 256},
                        {{1, features}, tw::float16}, options);
}
/// The largest relative error of a step's new weights, which begin at 0: -lr x (softmax(0) - one hot).
template <class Session>
double error_of_small_gradients() {
  Session session({.threads = 1});
  session.write_variable_data("weight"_s, xt::xtensor<tw::float16_t, 2>(xt::zeros<tw::float16_t>({features, classes})));
  xt::xtensor<tw::float16_t, 2> x({1, features});
  for (std::size_t f = 0; f < features; ++f) x(0, f) = tw::float16_t(0x1.b4p-21F * static_cast<float>(f + 1));
  session.run("image"_s = x, "label"_s = xt::xtensor<std::int32_t, 1>{1});
  const auto weight = session.get_tensor_data("weight"_s);
  double error = 0;
  for (std::size_t f = 0; f < features; ++f)
    for (std::size_t c = 0; c < classes; ++c) {
      const double wanted = -256 * static_cast<double>(static_cast<float>(x(0, f))) * (1.0 / 3 - (c == 1 ? 1 : 0));
      error = std::max(error, std::abs(static_cast<double>(static_cast<float>(weight(f, c))) / wanted - 1));
    }
  return error;
}

/// Steps that are too small for weights of float16, each of two micro-batches.
constexpr void small_steps(Ir& ir) {
  tw::train::train_step(ir, tw::layers::Linear<classes, {.bias = false}>{}, optim::SgdParameters{.lr = 1e-4},
                        {{1, features}, tw::float16},
                        {.micro_batches = 2, .variable_dtype = tw::float32, .loss_scaling = optim::static_loss_scaling(1024)});
}
template <bool is_scaled>
constexpr void descent(Ir& ir) {
  tw::train::StepOptions options;
  if (is_scaled) options.loss_scaling = optim::static_loss_scaling(1024);
  step(ir, momentum_parameters, 1, 1, options);
}

}  // namespace

TEST_CASE("loss scaling: a dynamic scale makes PyTorch's steps, and skips those that overflow") {
  check_steps<tw::Session<adamw<1, 1>>>("adamw", 4);
  check_steps<tw::Session<adamw<3, 2>>>("adamw", 4);
  check_steps<tw::Session<descent_by_hand<1024.0>>>("descent", 1, 0.5F);
  check_steps<tw::Session<momentum<2, 1>>>("momentum", 2);
  check_steps<TestSession<momentum<1, 3>, tw::ipu_model>>("momentum", 2);
}
TEST_CASE("loss scaling: a scale stays where it is too large to grow") {
  tw::Session<descent_by_hand<0x1p126>> session({.threads = 1});
  tw::Session<descent_by_hand<1024.0>> other({.threads = 1});
  start(session);
  start(other);
  for (std::size_t i = 0; i < 4; ++i) {
    run_step(session, i, 0.5F), run_step(other, i, 0.5F);
    CHECK(session.get_tensor_data("loss_scaling.scale"_s)() == 0x1p126F);
    CHECK(bytes_that_stay(session) == bytes_that_stay(other));
  }
  CHECK(session.get_tensor_data("loss_scaling.growth_tracker"_s)() == 1);
}

TEST_CASE("loss scaling: a run that goes on from a checkpoint has the same bits") {
  using Session = tw::Session<adamw<3, 2>>;
  const TemporaryFolder folder;
  Session whole({.threads = 1});
  start(whole);
  for (std::size_t i = 0; i < steps; ++i) {
    run_step(whole, i);
    if (i == 5) tw::Checkpoints(folder.path).save(i, whole.host_tensors());  // after a skipped step, within an interval
  }
  Session resumed({.seed = 7, .threads = 1});
  const auto last = tw::Checkpoints(folder.path).newest();
  REQUIRE(last);
  resumed.load_tensors(last->file);
  for (std::size_t i = 6; i < steps; ++i) run_step(resumed, i);
  const auto all = [](const Session& session) {
    std::map<std::string, std::vector<std::byte>> result;
    for (const auto& tensor : session.host_tensors())
      result[std::string(tensor.name)] = {tensor.bytes.begin(), tensor.bytes.end()};
    return result;
  };
  CHECK(all(whole) == all(resumed));
}

TEST_CASE("loss scaling: a static scale that is a power of two changes no bit in float32") {
  tw::Session<descent<true>> scaled({.threads = 1});
  tw::Session<descent<false>> plain({.threads = 1});
  start(scaled);
  start(plain);
  for (std::size_t i = 0; i < 4; ++i) run_step(scaled, i), run_step(plain, i);
  CHECK(bytes_that_stay(scaled) == bytes_that_stay(plain));
  CHECK(scaled.host_tensors().size() == plain.host_tensors().size());  // the scale is no variable
}

TEST_CASE("loss scaling: gradients that float16 hardly has are exact to its precision") {
  CHECK(error_of_small_gradients<tw::Session<small_gradients<true>>>() < 0x1p-10);
  CHECK(error_of_small_gradients<tw::Session<small_gradients<false>>>() > 0x1p-6);
}

TEST_CASE("loss scaling: a model of float16 with variables of float32 makes small steps") {
  tw::Session<small_steps> session({.threads = 1});
  session.write_variable_data("weight"_s, xt::xtensor<float, 2>(0.5F * xt::ones<float>({features, classes})));
  xt::xtensor<tw::float16_t, 3> x({2, 1, features});
  std::fill_n(x.data(), x.size(), tw::float16_t(1));
  for (int i = 0; i < 10; ++i) session.run("image"_s = x, "label"_s = xt::xtensor<std::int32_t, 2>{{1}, {1}});
  const auto weight = session.get_tensor_data("weight"_s);
  for (std::size_t f = 0; f < features; ++f)  // weights begin as 1/2, and the probabilities stay near 1/3
    for (std::size_t c = 0; c < classes; ++c)
      CHECK((static_cast<double>(weight(f, c)) - 0.5) / (-1e-3 * (1.0 / 3 - (c == 1 ? 1 : 0))) == Approx(1).epsilon(0.01));
}

TEST_CASE("loss scaling: scales and factors above 0, and an interval") {
  const auto trace = [](const optim::LossScaling& parameters) { tw::trace([&](Ir& ir) { optim::LossScaler(ir, parameters); }); };
  CHECK_THROWS_WITH(trace({.init_scale = 0}), "LossScaler: init_scale 0: a number above 0, at most 2^126, expected");
  CHECK_THROWS_WITH(trace({.backoff_factor = -1}), "LossScaler: backoff_factor -1: a number above 0, at most 1, expected");
  CHECK_THROWS_WITH(trace({.init_scale = 1e38}), "LossScaler: init_scale 1e+38: a number above 0, at most 2^126, expected");
  CHECK_THROWS_WITH(trace({.growth_interval = 0}), "LossScaler: growth_interval 0: from 1 to 2147483647 expected");
}
