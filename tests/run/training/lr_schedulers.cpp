// labels: none
// Learning-rate schedulers against PyTorch's, step by step.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "../../catch.hpp"
#include "../../support/reference.hpp"
#include "tilewright/optim/lr_scheduler.hpp"

namespace {

namespace optim = tilewright::optim;

const Values& rates() {
  static const Values all = [] {
    Values values;
    read_reference("lr_schedulers.txt", values);
    return values;
  }();
  return all;
}

/// Compares all values of a list. PyTorch computes each rate from the one before, and so gathers roundings: an error of 1e-12 of
/// the rate is allowed, and 1e-14 of the largest rate besides, because rates close to 0 are differences of larger numbers.
int compare(const char* name, auto function) {
  const auto& expected = rates().at(name);
  const double largest = std::ranges::max(expected);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    INFO(name << ", step " << step);
    const double error = std::abs(function(static_cast<std::int64_t>(step)) - expected[step]);
    CHECK(error <= 1e-12 * std::abs(expected[step]) + 1e-14 * largest);
  }
  return 1;
}
int compare_momentum(const char* name, const auto& scheduler) {
  return compare(name, scheduler) +
         compare((std::string(name) + ".momentum").c_str(), [&](std::int64_t step) { return scheduler.momentum(step); });
}

}  // namespace

TEST_CASE("schedulers set PyTorch's rates and momenta") {
  using namespace optim;
  int lists = 0;
  lists += compare("LambdaLR.root", LambdaLR{.lr = 0.5, .lr_lambda = [](std::int64_t step) {
                                               return std::pow(1 + static_cast<double>(step), -0.5);
                                             }});
  lists += compare("StepLR.default", StepLR{.lr = 0.5, .step_size = 30});
  lists += compare("StepLR.slow", StepLR{.lr = 0.5, .step_size = 7, .gamma = 0.95});
  lists += compare("MultiStepLR.default", MultiStepLR{.lr = 0.5, .milestones = {30, 80, 150}});
  lists += compare("MultiStepLR.twice", MultiStepLR{.lr = 0.5, .milestones = {80, 30, 30, 0}, .gamma = 0.5});
  lists += compare("ConstantLR.default", ConstantLR{.lr = 0.5});
  lists += compare("ConstantLR.long", ConstantLR{.lr = 0.5, .factor = 0.25, .total_iters = 60});
  lists += compare("LinearLR.default", LinearLR{.lr = 0.5});
  lists += compare("LinearLR.up", LinearLR{.lr = 0.5, .start_factor = 0.001, .end_factor = 0.9, .total_iters = 150});
  lists += compare("LinearLR.down", LinearLR{.lr = 0.5, .start_factor = 1, .end_factor = 0, .total_iters = 100});
  lists += compare("ExponentialLR.default", ExponentialLR{.lr = 0.5, .gamma = 0.9});
  lists += compare("ExponentialLR.growing", ExponentialLR{.lr = 0.5, .gamma = 1.02});
  lists += compare("PolynomialLR.default", PolynomialLR{.lr = 0.5});
  lists += compare("PolynomialLR.square", PolynomialLR{.lr = 0.5, .total_iters = 150, .power = 2});
  lists += compare("PolynomialLR.root", PolynomialLR{.lr = 0.5, .total_iters = 90, .power = 0.5});
  lists += compare("CosineAnnealingLR.default", CosineAnnealingLR{.lr = 0.5, .T_max = 50});
  lists += compare("CosineAnnealingLR.least", CosineAnnealingLR{.lr = 0.5, .T_max = 37, .eta_min = 0.1});
  lists += compare("CosineAnnealingLR.ones", CosineAnnealingLR{.lr = 0.5, .T_max = 1, .eta_min = 0.1});
  lists += compare("CosineAnnealingWarmRestarts.default", CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 30});
  lists += compare("CosineAnnealingWarmRestarts.longer",
                   CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 10, .T_mult = 2, .eta_min = 0.01});
  lists += compare("CosineAnnealingWarmRestarts.thrice", CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 1, .T_mult = 3});
  lists += compare_momentum("OneCycleLR.default", OneCycleLR{.max_lr = 0.4, .total_steps = 200});
  lists += compare_momentum("OneCycleLR.epochs", OneCycleLR{.max_lr = 0.4, .epochs = 7, .steps_per_epoch = 13});
  lists += compare_momentum("OneCycleLR.linear", OneCycleLR{.max_lr = 0.4,
                                                            .total_steps = 150,
                                                            .pct_start = 0.25,
                                                            .anneal_strategy = AnnealStrategy::linear,
                                                            .base_momentum = 0.7,
                                                            .max_momentum = 0.9,
                                                            .div_factor = 10,
                                                            .final_div_factor = 100});
  lists += compare_momentum("OneCycleLR.three",
                            OneCycleLR{.max_lr = 0.4, .total_steps = 150, .pct_start = 0.37, .three_phase = true});
  lists += compare_momentum("OneCycleLR.late",
                            OneCycleLR{.max_lr = 0.4, .total_steps = 50, .pct_start = 0.8, .three_phase = true});
  lists += compare_momentum("OneCycleLR.down", OneCycleLR{.max_lr = 0.4, .total_steps = 50, .pct_start = 0});
  lists += compare_momentum("OneCycleLR.up", OneCycleLR{.max_lr = 0.4, .total_steps = 50, .pct_start = 1});
  lists += compare_momentum("CyclicLR.default", CyclicLR{.base_lr = 0.01, .max_lr = 0.1});
  lists += compare_momentum("CyclicLR.triangular",
                            CyclicLR{.base_lr = 0.01, .max_lr = 0.1, .step_size_up = 13, .step_size_down = 21});
  lists += compare_momentum("CyclicLR.triangular2",
                            CyclicLR{.base_lr = 0.01, .max_lr = 0.1, .step_size_up = 20, .mode = CyclicMode::triangular2});
  lists += compare_momentum("CyclicLR.exp_range", CyclicLR{.base_lr = 0.01,
                                                           .max_lr = 0.1,
                                                           .step_size_up = 20,
                                                           .step_size_down = 0,
                                                           .mode = CyclicMode::exp_range,
                                                           .gamma = 0.99,
                                                           .base_momentum = 0.5,
                                                           .max_momentum = 0.95});
  lists += compare("SequentialLR.two", SequentialLR{.schedulers = std::tuple{LinearLR{.lr = 0.5, .total_iters = 10},
                                                                             CosineAnnealingLR{.lr = 0.5, .T_max = 100}},
                                                    .milestones = {10}});
  lists += compare(
      "SequentialLR.four",
      SequentialLR{.schedulers = std::tuple{ConstantLR{.lr = 0.5, .total_iters = 20}, ExponentialLR{.lr = 0.5, .gamma = 0.9},
                                            StepLR{.lr = 0.5, .step_size = 5}, CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 8}},
                   .milestones = {15, 60, 90}});
  const auto& metrics = rates().at("ReduceLROnPlateau.metrics");
  const auto compare_plateau = [&](const char* name, const ReduceLROnPlateau& scheduler) {
    return compare(name,
                   [&](std::int64_t epochs) { return scheduler(std::span(metrics).first(static_cast<std::size_t>(epochs))); });
  };
  lists += 1;
  lists += compare_plateau("ReduceLROnPlateau.default", {.lr = 0.5});
  lists += compare_plateau("ReduceLROnPlateau.relative",
                           {.lr = 0.5, .factor = 0.5, .patience = 2, .threshold = 0.2, .cooldown = 5, .min_lr = 0.01});
  lists += compare_plateau(
      "ReduceLROnPlateau.absolute",
      {.lr = 0.5, .factor = 0.5, .patience = 3, .threshold = 0.3, .threshold_mode = ThresholdMode::abs, .eps = 0.02});
  lists += compare_plateau("ReduceLROnPlateau.most",
                           {.lr = 0.5, .mode = PlateauMode::max, .factor = 0.8, .patience = 4, .cooldown = 1});
  lists += compare_plateau("ReduceLROnPlateau.most_absolute", {.lr = 0.5,
                                                               .mode = PlateauMode::max,
                                                               .factor = 0.8,
                                                               .patience = 0,
                                                               .threshold = 0.01,
                                                               .threshold_mode = ThresholdMode::abs,
                                                               .min_lr = 1e-3});
  CHECK(std::cmp_equal(lists, rates().size()));
}
TEST_CASE("schedulers where PyTorch 1.13 divides by 0, and of one step") {
  using namespace optim;
  CHECK(LinearLR{.lr = 0.5, .start_factor = 0, .total_iters = 4}(1) == 0.125);
  CHECK(ConstantLR{.lr = 0.5, .factor = 0, .total_iters = 4}(3) == 0);
  CHECK(ConstantLR{.lr = 0.5, .factor = 0, .total_iters = 4}(4) == 0.5);
  CHECK(OneCycleLR{.max_lr = 0.4, .total_steps = 4, .pct_start = 0.25}(0) == 0.4);
  CHECK(OneCycleLR{.max_lr = 0.4, .total_steps = 1}(0) == Approx(0.4 / 25 / 1e4));
}
TEST_CASE("schedulers of more steps than any run has") {
  using namespace optim;
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  CHECK(CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 1}(last) == 0.5);
  CHECK(CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 2, .T_mult = last}(1) == 0.25);
  CHECK(CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 2, .T_mult = last}(5) == 0.5);
  CHECK(CosineAnnealingWarmRestarts{.lr = 0.5, .T_0 = 3, .T_mult = 2}(last) <= 0.5);
  CHECK(CosineAnnealingLR{.lr = 0.5, .T_max = last, .eta_min = 0.25}(last) == 0.25);
}
TEST_CASE("ReduceLROnPlateau: NaN is not better") {
  const std::vector<double> metrics{1, NAN, NAN, 0.5};
  const optim::ReduceLROnPlateau scheduler{.lr = 0.5, .factor = 0.5, .patience = 1};
  CHECK(scheduler(std::span(metrics).first(2)) == 0.5);
  CHECK(scheduler(metrics) == 0.25);
}
TEST_CASE("ReduceLROnPlateau: negative metrics improve by a share of their size") {
  using namespace optim;
  const auto last = [](PlateauMode mode, std::vector<double> metrics) {
    return ReduceLROnPlateau{.lr = 0.5, .mode = mode, .factor = 0.5, .patience = 1}(metrics);
  };
  CHECK(last(PlateauMode::min, {-10, -9.9995, -9.999}) == 0.25);  // worse
  CHECK(last(PlateauMode::min, {-10, -10.0005, -10.0009}) == 0.25);  // better by less than 1e-4 of 10
  CHECK(last(PlateauMode::min, {-10, -10.0005, -10.0011}) == 0.5);
  CHECK(last(PlateauMode::max, {-10, -10.0005, -10.0009}) == 0.25);  // worse
  CHECK(last(PlateauMode::max, {-10, -9.9995, -9.9989}) == 0.5);
  CHECK(last(PlateauMode::min, {INFINITY, 5, 5}) == 0.5);
}
TEST_CASE("schedules of both kinds can follow each other") {
  using namespace optim;
  const SequentialLR scheduler{.schedulers = std::tuple{WarmUp{.steps = 3, .after = ConstantLR{.lr = 0.5, .total_iters = 1}},
                                                        LinearDecay{.start = 0.5, .end = 0, .steps = 2}},
                               .milestones = {4}};
  const double expected[] = {0.5 / 3 / 4, 0.5 / 3 / 2, 0.5 / 4, 0.5 / 3, 0.5, 0.25, 0, 0};
  for (int step = 0; step < 8; ++step) CHECK(scheduler(step) == Approx(expected[step]));
}
TEST_CASE("schedulers of wrong parameters") {
  using namespace optim;
  const auto half = [](std::int64_t) { return 0.5; };
  const auto wrong = [](const auto& scheduler, const char* message, std::int64_t step = 0) {
    CHECK_THROWS_AS(scheduler(step), std::invalid_argument);
    CHECK_THROWS_WITH(scheduler(step), message);
  };
  wrong(LambdaLR{.lr = 0.5, .lr_lambda = half}, "LambdaLR: step -1: 0 or more expected", -1);
  wrong(LambdaLR{.lr = NAN, .lr_lambda = half}, "LambdaLR: a rate of nan: a finite number expected");
  wrong(StepLR{}, "StepLR: step_size 0: 1 or more expected");
  wrong(StepLR{.step_size = 1}, "StepLR: step -1: 0 or more expected", -1);
  wrong(StepLR{.step_size = 1, .gamma = 1e300}, "StepLR: a rate of inf: a finite number expected", 2);
  wrong(MultiStepLR{.milestones = {3, -1}}, "MultiStepLR: a milestone of -1: 0 or more expected");
  wrong(MultiStepLR{}, "MultiStepLR: step -1: 0 or more expected", -1);
  wrong(MultiStepLR{.lr = INFINITY}, "MultiStepLR: a rate of inf: a finite number expected");
  wrong(ConstantLR{.factor = 1.5}, "ConstantLR: factor 1.500000: from 0 to 1 expected");
  wrong(ConstantLR{.total_iters = 0}, "ConstantLR: total_iters 0: 1 or more expected");
  wrong(ConstantLR{}, "ConstantLR: step -1: 0 or more expected", -1);
  wrong(ConstantLR{.lr = NAN}, "ConstantLR: a rate of nan: a finite number expected");
  wrong(LinearLR{.start_factor = -0.5}, "LinearLR: start_factor -0.500000: from 0 to 1 expected");
  wrong(LinearLR{.end_factor = NAN}, "LinearLR: end_factor nan: from 0 to 1 expected");
  wrong(LinearLR{.total_iters = 0}, "LinearLR: total_iters 0: 1 or more expected");
  wrong(LinearLR{}, "LinearLR: step -1: 0 or more expected", -1);
  wrong(LinearLR{.lr = INFINITY}, "LinearLR: a rate of inf: a finite number expected");
  wrong(ExponentialLR{}, "ExponentialLR: gamma nan: a finite number expected");
  wrong(ExponentialLR{.gamma = 0.5}, "ExponentialLR: step -1: 0 or more expected", -1);
  wrong(ExponentialLR{.gamma = 1e200}, "ExponentialLR: a rate of inf: a finite number expected", 2);
  wrong(PolynomialLR{.total_iters = 0}, "PolynomialLR: total_iters 0: 1 or more expected");
  wrong(PolynomialLR{}, "PolynomialLR: step -1: 0 or more expected", -1);
  wrong(PolynomialLR{.power = -1}, "PolynomialLR: a rate of inf: a finite number expected", 5);
  wrong(CosineAnnealingLR{}, "CosineAnnealingLR: T_max 0: 1 or more expected");
  wrong(CosineAnnealingLR{.T_max = 1}, "CosineAnnealingLR: step -1: 0 or more expected", -1);
  wrong(CosineAnnealingLR{.T_max = 1, .eta_min = NAN}, "CosineAnnealingLR: eta_min nan: a finite number expected");
  wrong(CosineAnnealingWarmRestarts{}, "CosineAnnealingWarmRestarts: T_0 0: 1 or more expected");
  wrong(CosineAnnealingWarmRestarts{.T_0 = 1, .T_mult = 0}, "CosineAnnealingWarmRestarts: T_mult 0: 1 or more expected");
  wrong(CosineAnnealingWarmRestarts{.T_0 = 1}, "CosineAnnealingWarmRestarts: step -1: 0 or more expected", -1);
  wrong(CosineAnnealingWarmRestarts{.lr = NAN, .T_0 = 1}, "CosineAnnealingWarmRestarts: a rate of nan: a finite number expected");
  wrong(OneCycleLR{.total_steps = 2}, "OneCycleLR: max_lr nan: a finite number expected");
  wrong(OneCycleLR{.max_lr = 1}, "OneCycleLR: total_steps, or else epochs, 0: 1 or more expected");
  wrong(OneCycleLR{.max_lr = 1, .epochs = 2}, "OneCycleLR: total_steps, or else steps_per_epoch, 0: 1 or more expected");
  wrong(OneCycleLR{.max_lr = 1, .total_steps = -2}, "OneCycleLR: total_steps -2: 1 or more expected");
  wrong(OneCycleLR{.max_lr = 1, .total_steps = 2, .pct_start = 1.5}, "OneCycleLR: pct_start 1.500000: from 0 to 1 expected");
  wrong(OneCycleLR{.max_lr = 1, .total_steps = 2}, "OneCycleLR: step -1: 0 or more expected", -1);
  wrong(OneCycleLR{.max_lr = 1, .total_steps = 2}, "OneCycleLR: step 2: below 2 expected", 2);
  wrong(OneCycleLR{.max_lr = 1, .total_steps = 2, .div_factor = 0}, "OneCycleLR: div_factor 0.000000: above 0 expected");
  wrong(OneCycleLR{.max_lr = 1, .total_steps = 2, .final_div_factor = NAN}, "OneCycleLR: final_div_factor nan: above 0 expected");
  wrong(OneCycleLR{.max_lr = 1e300, .total_steps = 2, .pct_start = 1, .div_factor = 1e-300},
        "OneCycleLR: a rate of inf: a finite number expected");
  wrong(CyclicLR{.max_lr = 1}, "CyclicLR: base_lr nan: a finite number expected");
  wrong(CyclicLR{.base_lr = 1}, "CyclicLR: max_lr nan: a finite number expected");
  wrong(CyclicLR{.base_lr = 1, .max_lr = 2, .step_size_up = 0}, "CyclicLR: step_size_up 0: 1 or more expected");
  wrong(CyclicLR{.base_lr = 1, .max_lr = 2, .step_size_down = -1}, "CyclicLR: step_size_down -1: 0 or more expected");
  wrong(CyclicLR{.base_lr = 1, .max_lr = 2}, "CyclicLR: step -1: 0 or more expected", -1);
  wrong(CyclicLR{.base_lr = 1, .max_lr = 2, .step_size_up = 1, .mode = CyclicMode::exp_range, .gamma = 1e300},
        "CyclicLR: a rate of inf: a finite number expected", 3);
  CHECK_THROWS_WITH((CyclicLR{.base_momentum = NAN}.momentum(1)), "CyclicLR: base_momentum nan: a finite number expected");
  CHECK_THROWS_WITH((OneCycleLR{.total_steps = 2, .max_momentum = NAN}.momentum(1)),
                    "OneCycleLR: max_momentum nan: a finite number expected");
  wrong(SequentialLR{.schedulers = std::tuple{LinearLR{}, LinearLR{}}},
        "SequentialLR: milestones 0: 1, one fewer than schedulers, expected");
  wrong(SequentialLR{.schedulers = std::tuple{LinearLR{}, LinearLR{}}, .milestones = {0}},
        "SequentialLR: a milestone of 0: 1 or more expected");
  wrong(SequentialLR{.schedulers = std::tuple{LinearLR{}, LinearLR{}, LinearLR{}}, .milestones = {5, 4}},
        "SequentialLR: a milestone of 4: 5 or more expected");
  wrong(SequentialLR{.schedulers = std::tuple{LinearLR{}}}, "SequentialLR: step -1: 0 or more expected", -1);
}
