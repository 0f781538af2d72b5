// labels: none
// Wrong numbers as options and parameters of what runs on the host: data, files, sessions, schedules, training loops, scaling,
// balance.
#include "tilewright/data/data.hpp"

#include "../../catch.hpp"
#include "../../support/temporary_folder.hpp"
#include "tilewright/checkpoint/checkpoints.hpp"
#include "tilewright/generate/new_tokens.hpp"
#include "tilewright/images/images.hpp"
#include "tilewright/optim/lr_scheduler.hpp"
#include "tilewright/optim/schedule.hpp"
#include "tilewright/scaling/scaling.hpp"
#include "tilewright/train/train.hpp"
#include "wrong_numbers.hpp"

namespace {
using namespace wrong_numbers;
namespace data = tw::data;
namespace optim = tw::optim;
using Size = std::size_t;
using data::DataError, tw::LoadError;
using std::invalid_argument, std::length_error, std::runtime_error;

/// A number that a function at run time is given, and the type of its errors.
struct RunCase {
  std::string_view name;
  Legal legal;
  void (*real)(double);
  void (*whole)(Whole);
  bool is_unsigned;  ///< -1 stands for 2^64 - 1
  bool (*is_documented)(const std::exception&);
};
template <class Error>
bool is_of(const std::exception& error) {
  if constexpr (std::is_same_v<Error, std::exception>) return true;
  else return dynamic_cast<const Error*>(&error) != nullptr;
}
template <class Error>
RunCase real_of(std::string_view name, Legal legal, void (*use)(double)) {
  return {name, legal, use, nullptr, false, is_of<Error>};
}
template <class Error>
RunCase whole_of(std::string_view name, Legal legal, void (*use)(Whole)) {
  return {name, legal, nullptr, use, false, is_of<Error>};
}
template <class Error>
RunCase size_of(std::string_view name, Legal legal, void (*use)(Whole)) {
  return {name, legal, nullptr, use, true, is_of<Error>};
}

std::string outcome(const RunCase& number, double real, Whole whole) {
  const bool is_any = number.legal.least > number.legal.most;
  const double value = number.real          ? real
                       : number.is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(whole))
                                            : static_cast<double>(whole);
  const std::string text = number.real          ? tw::number_text(real).string()
                           : number.is_unsigned ? std::to_string(static_cast<std::uint64_t>(whole))
                                                : std::to_string(whole);
  const std::string_view name = number.name.substr(number.name.find_last_of(".<") + 1);
  try {
    number.real ? number.real(real) : number.whole(whole);
    if (!is_any && !number.legal.contains(value)) return "no error";
  } catch (const std::exception& error) {
    const std::string message = error.what();
    if (!number.is_documented(error)) return "an exception of another type: " + message;
    if (number.legal.contains(value) && !is_any) return "an error: " + message;
    std::string words(name);
    for (char& c : words) c = c == '_' ? ' ' : c;
    if (message.find(name) == message.npos && message.find(words) == message.npos && message.find(text) == message.npos &&
        message.find(std::to_string(value)) == message.npos)
      return "an error that names neither it nor its value: " + message;
  }
  return "";
}
std::string problems(std::span<const RunCase> cases) {
  std::string found;
  for (const RunCase& number : cases)
    found += in_child([&](Report& report) {
      const auto try_value = [&](double real, Whole whole) {
        const std::string text = std::string(number.name) + " = " +
                                 (number.real ? tw::number_text(real).string() : std::to_string(whole));
        std::snprintf(report.at, sizeof report.at, "%s", text.c_str());
        if (const std::string problem = outcome(number, real, whole); !problem.empty()) report.add(text + ": " + problem);
      };
      if (number.real)
        for (const double value : wrong_reals) try_value(value, 0);
      else
        for (const Whole value : wrong_wholes) try_value(0, value);
    });
  return found;
}
bool is_int(Whole n) { return n == static_cast<int>(n); }
Size size(Whole n) { return static_cast<Size>(n); }

const data::Dataset& images() {
  static const data::Dataset dataset(12, 2, 2);
  return dataset;
}
void load(const data::LoaderOptions& options) {
  data::Loader loader(images(), options);
  for (const auto& batch : loader) (void)batch;
}
void resume(data::LoaderState state) {
  data::Loader loader(images(), {.batch_size = 4, .prefetch = false});
  loader.resume(state);
}
data::LoaderState state() { return {.batch_size = 4, .images = 12}; }
const std::vector<std::int32_t>& tokens() {
  static const std::vector<std::int32_t> text(100, 1);
  return text;
}
void crop(const data::TextBatchesOptions& options) { data::TextBatches(tokens(), options).next(); }
void resume_text(data::TextBatchesState state) { data::TextBatches(tokens(), {.batch_size = 4, .context = 8}).resume(state); }
data::TextBatchesState text_state() { return {.batch_size = 4, .context = 8, .tokens = 100}; }

void augment(auto change) {
  xt::xtensor<float, 2> image = xt::zeros<float>({2, 2});
  tw::Random random(1);
  change(image, random);
}
void read_table(const data::CsvOptions& options) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "table.csv") << "a,b\n1,\n";
  data::read_csv<float>(folder.path / "table.csv", options);
}
void read_image(const tw::images::PngOptions& options) {
  const TemporaryFolder folder;
  tw::images::write_png(folder.path / "image.png", xt::xtensor<std::uint8_t, 2>{{1, 2}});
  tw::images::read_png(folder.path / "image.png", options);
}

constexpr Legal anything{.has_nan = true};
const RunCase of_data[] = {
    size_of<length_error>("LabelledImages::LabelledImages.count", from(0, 0),
                          [](Whole n) { data::Dataset(size(n), 1 << 17, 2); }),
    size_of<length_error>("LabelledImages::LabelledImages.extents", from(0, 0),
                          [](Whole n) { data::Dataset(1 << 17, size(n), 2); }),
    size_of<length_error>("LabelledImages::LabelledImages.count", from(0, 0), [](Whole n) { data::Dataset(size(n), 28, 28); }),
    size_of<DataError>("LoaderOptions.batch_size", from(1, 12), [](Whole n) { load({.batch_size = size(n)}); }),
    size_of<DataError>("LoaderOptions.seed", anything,
                       [](Whole n) { load({.batch_size = 4, .shuffle = true, .seed = static_cast<std::uint64_t>(n)}); }),
    size_of<DataError>("LoaderOptions.shards", from(1, 4), [](Whole n) { load({.batch_size = 4, .shards = size(n)}); }),
    size_of<DataError>("LoaderOptions.shards", from(1, 0),
                       [](Whole n) { load({.batch_size = 4, .shards = size(n), .runs = Size{1} << 33}); }),
    size_of<DataError>("LoaderOptions.shard", from(0, 1),
                       [](Whole n) { load({.batch_size = 4, .shards = 2, .shard = size(n)}); }),
    size_of<DataError>("LoaderOptions.runs", from(1, 4), [](Whole n) { load({.batch_size = 4, .runs = size(n)}); }),
    size_of<DataError>("LoaderState.seed", anything,
                       [](Whole n) {
                         auto s = state();
                         s.seed = static_cast<std::uint64_t>(n);
                         resume(s);
                       }),
    size_of<DataError>("subset.indices", from(0, 11), [](Whole n) { (void)data::subset(images(), {0, size(n)}); }),
    size_of<DataError>("subset.begin", from(0, 12), [](Whole n) { (void)data::subset(images(), size(n), 12); }),
    size_of<DataError>("subset.end", from(3, 12), [](Whole n) { (void)data::subset(images(), 3, size(n)); }),
    whole_of<DataError>("random_split.sizes", from(0, 12),
                        [](Whole n) { (void)data::random_split(images(), {n, n >= 0 && n <= 12 ? 12 - n : 0}); }),
    real_of<DataError>("random_split.sizes", part, [](double n) { (void)data::random_split(images(), {n, 1 - n}); }),
    size_of<DataError>("random_split.seed", anything, [](Whole n) { (void)data::random_split(images(), {12}, size(n)); }),
    size_of<DataError>("LoaderState.epoch", any_outcome,
                       [](Whole n) {
                         auto s = state();
                         s.epoch = static_cast<std::uint64_t>(n);
                         resume(s);
                       }),
    size_of<DataError>("LoaderState.batch", from(0, 3),
                       [](Whole n) {
                         auto s = state();
                         s.batch = static_cast<std::uint64_t>(n);
                         resume(s);
                       }),
    size_of<DataError>("LoaderState.batch_size", from(4, 4),
                       [](Whole n) {
                         auto s = state();
                         s.batch_size = static_cast<std::uint64_t>(n);
                         resume(s);
                       }),
    size_of<DataError>("LoaderState.images", from(12, 12),
                       [](Whole n) {
                         auto s = state();
                         s.images = static_cast<std::uint64_t>(n);
                         resume(s);
                       }),
    real_of<DataError>("random_flip.probability", from(0, 1),
                       [](double n) { augment([=](auto& image, auto& random) { data::random_flip(image, random, n); }); }),
    size_of<DataError>(
        "random_shift.rows", from(0, 2),
        [](Whole n) { augment([=](auto& image, auto& random) { data::random_shift(image, random, size(n), 0); }); }),
    size_of<DataError>(
        "random_shift.columns", from(0, 2),
        [](Whole n) { augment([=](auto& image, auto& random) { data::random_shift(image, random, 0, size(n)); }); }),
    size_of<DataError>("random_crop.padding", from(0, 2),
                       [](Whole n) { augment([=](auto& image, auto& random) { data::random_crop(image, random, size(n)); }); }),
    size_of<DataError>("CsvOptions.indices", from(0, 0), [](Whole n) { read_table({.indices = {size(n)}}); }),
    real_of<DataError>("CsvOptions.missing", anything, [](double n) { read_table({.missing = n}); }),
    size_of<DataError>("PngOptions.channels", from(0, 4), [](Whole n) { read_image({.channels = size(n)}); }),
    size_of<DataError>("PngOptions.max_pixels", from(2, 0x1p64), [](Whole n) { read_image({.max_pixels = size(n)}); }),
    size_of<DataError>("generated_digits.count", any_outcome,
                       [](Whole n) { data::generated_digits(n > 0 && n < 1 << 31 ? 1 << 31 : size(n), 1); }),
    size_of<DataError>("generated_text.bytes", any_outcome,
                       [](Whole n) { data::generated_text(n > 0 && n <= Whole{1} << 31 ? Size{1} << 33 : size(n), 1); }),
    real_of<DataError>("TextCorpusOptions.training", {0, 1, false, true},
                       [](double n) { data::split_text("a text", {.training = n}); }),
    size_of<DataError>("TextCorpusOptions.limit", anything,
                       [](Whole n) { data::split_text("a text", {.limit = static_cast<std::uint64_t>(n)}); }),
    whole_of<DataError>("CharacterVocabulary::decode.token", from(0, 2),
                        [](Whole n) {
                          if (is_int(n)) data::CharacterVocabulary("abc").decode(static_cast<std::int32_t>(n));
                          else throw DataError("", "token", "");
                        }),
    whole_of<DataError>("CharacterVocabulary::decode.tokens", from(0, 2),
                        [](Whole n) {
                          const std::int32_t given[] = {static_cast<std::int32_t>(n)};
                          if (is_int(n)) data::CharacterVocabulary("abc").decode(given);
                          else throw DataError("", "tokens", "");
                        }),
    size_of<DataError>("TextBatchesOptions.batch_size", {1, 0x1p20},
                       [](Whole n) { crop({.batch_size = size(n), .context = 8}); }),
    size_of<DataError>("TextBatchesOptions.context", from(1, 99), [](Whole n) { crop({.batch_size = 4, .context = size(n)}); }),
    size_of<DataError>("TextBatchesOptions.seed", anything,
                       [](Whole n) { crop({.batch_size = 4, .context = 8, .seed = static_cast<std::uint64_t>(n)}); }),
    size_of<DataError>("TextBatchesOptions.shards", from(1, 4),
                       [](Whole n) { crop({.batch_size = 4, .context = 8, .shards = size(n)}); }),
    size_of<DataError>("TextBatchesOptions.shards", from(1, 0),
                       [](Whole n) { crop({.batch_size = 4, .context = 8, .shards = size(n), .runs = Size{1} << 33}); }),
    size_of<DataError>("TextBatchesOptions.shard", from(0, 1),
                       [](Whole n) { crop({.batch_size = 4, .context = 8, .shards = 2, .shard = size(n)}); }),
    size_of<DataError>("TextBatchesOptions.runs", from(1, 4),
                       [](Whole n) { crop({.batch_size = 4, .context = 8, .runs = size(n)}); }),
    size_of<DataError>("TextBatchesState.seed", anything,
                       [](Whole n) {
                         auto s = text_state();
                         s.seed = static_cast<std::uint64_t>(n);
                         resume_text(s);
                       }),
    size_of<DataError>("TextBatchesState.step", anything,
                       [](Whole n) {
                         auto s = text_state();
                         s.step = static_cast<std::uint64_t>(n);
                         resume_text(s);
                       }),
    size_of<DataError>("TextBatchesState.batch_size", from(4, 4),
                       [](Whole n) {
                         auto s = text_state();
                         s.batch_size = static_cast<std::uint64_t>(n);
                         resume_text(s);
                       }),
    size_of<DataError>("TextBatchesState.context", from(8, 8),
                       [](Whole n) {
                         auto s = text_state();
                         s.context = static_cast<std::uint64_t>(n);
                         resume_text(s);
                       }),
    size_of<DataError>("TextBatchesState.tokens", from(100, 100),
                       [](Whole n) {
                         auto s = text_state();
                         s.tokens = static_cast<std::uint64_t>(n);
                         resume_text(s);
                       }),
    size_of<DataError>("TextBatches::go_to.step", anything,
                       [](Whole n) {
                         data::TextBatches batches(tokens(), {.batch_size = 4, .context = 8});
                         batches.go_to(static_cast<std::uint64_t>(n));
                         batches.next();
                       }),
};

const RunCase of_schedules[] = {
    real_of<invalid_argument>("StepDecay.start", finite_only, [](double n) { optim::StepDecay{.start = n}(3); }),
    whole_of<invalid_argument>("StepDecay.every", at_least_1, [](Whole n) { optim::StepDecay{.every = n}(3); }),
    real_of<invalid_argument>("StepDecay.factor", any_outcome, [](double n) { optim::StepDecay{.factor = n}(3); }),
    whole_of<invalid_argument>("StepDecay::operator().step", whole_not_negative, [](Whole n) { optim::StepDecay{}(n); }),
    real_of<invalid_argument>("LinearDecay.start", finite_only, [](double n) { optim::LinearDecay{.start = n, .steps = 5}(3); }),
    real_of<invalid_argument>("LinearDecay.end", finite_only, [](double n) { optim::LinearDecay{.end = n, .steps = 5}(3); }),
    whole_of<invalid_argument>("LinearDecay.steps", whole_not_negative, [](Whole n) { optim::LinearDecay{.steps = n}(3); }),
    whole_of<invalid_argument>("LinearDecay::operator().step", whole_not_negative,
                               [](Whole n) { optim::LinearDecay{.steps = 5}(n); }),
    real_of<invalid_argument>("CosineDecay.peak", finite_only, [](double n) { optim::CosineDecay{.peak = n, .steps = 5}(3); }),
    real_of<invalid_argument>("CosineDecay.end", finite_only, [](double n) { optim::CosineDecay{.end = n, .steps = 5}(3); }),
    whole_of<invalid_argument>("CosineDecay.steps", whole_not_negative, [](Whole n) { optim::CosineDecay{.steps = n}(3); }),
    whole_of<invalid_argument>("CosineDecay::operator().step", whole_not_negative,
                               [](Whole n) { optim::CosineDecay{.steps = 5}(n); }),
    whole_of<invalid_argument>("WarmUp.steps", whole_not_negative,
                               [](Whole n) { optim::WarmUp<optim::CosineDecay>{.steps = n}(3); }),
    whole_of<invalid_argument>("WarmUp::operator().step", whole_not_negative,
                               [](Whole n) { optim::WarmUp<optim::CosineDecay>{.steps = 5}(n); }),
};
const std::vector<double> metrics(20, 1.);
const RunCase of_schedulers[] = {
    real_of<invalid_argument>("ReduceLROnPlateau.lr", finite_only, [](double n) { optim::ReduceLROnPlateau{.lr = n}(metrics); }),
    real_of<invalid_argument>("ReduceLROnPlateau.factor", probability,
                              [](double n) { optim::ReduceLROnPlateau{.factor = n}(metrics); }),
    whole_of<invalid_argument>("ReduceLROnPlateau.patience", whole_not_negative,
                               [](Whole n) { optim::ReduceLROnPlateau{.patience = n}(metrics); }),
    real_of<invalid_argument>("ReduceLROnPlateau.threshold", finite_only,
                              [](double n) { optim::ReduceLROnPlateau{.threshold = n}(metrics); }),
    whole_of<invalid_argument>("ReduceLROnPlateau.cooldown", whole_not_negative,
                               [](Whole n) { optim::ReduceLROnPlateau{.cooldown = n}(metrics); }),
    real_of<invalid_argument>("ReduceLROnPlateau.min_lr", finite_only,
                              [](double n) { optim::ReduceLROnPlateau{.min_lr = n}(metrics); }),
    real_of<invalid_argument>("ReduceLROnPlateau.eps", finite_only,
                              [](double n) { optim::ReduceLROnPlateau{.eps = n}(metrics); }),
    real_of<invalid_argument>("ReduceLROnPlateau::operator().metrics", everything,
                              [](double n) { optim::ReduceLROnPlateau{}(std::vector<double>(20, n)); }),
    real_of<invalid_argument>("LambdaLR.lr", finite_only,
                              [](double n) { optim::LambdaLR{.lr = n, .lr_lambda = [](Whole) { return 0.5; }}(3); }),
    whole_of<invalid_argument>("LambdaLR::operator().step", whole_not_negative,
                               [](Whole n) { optim::LambdaLR{.lr = 0.5, .lr_lambda = [](Whole) { return 0.5; }}(n); }),
    real_of<invalid_argument>("StepLR.lr", finite_only, [](double n) { optim::StepLR{.lr = n, .step_size = 2}(3); }),
    whole_of<invalid_argument>("StepLR.step_size", at_least_1, [](Whole n) { optim::StepLR{.step_size = n}(3); }),
    real_of<invalid_argument>("StepLR.gamma", any_outcome, [](double n) { optim::StepLR{.step_size = 2, .gamma = n}(3); }),
    whole_of<invalid_argument>("StepLR::operator().step", whole_not_negative, [](Whole n) { optim::StepLR{.step_size = 2}(n); }),
    real_of<invalid_argument>("MultiStepLR.lr", finite_only, [](double n) { optim::MultiStepLR{.lr = n, .milestones = {2}}(3); }),
    real_of<invalid_argument>("MultiStepLR.gamma", any_outcome,
                              [](double n) { optim::MultiStepLR{.milestones = {2}, .gamma = n}(3); }),
    whole_of<invalid_argument>("MultiStepLR::operator().step", whole_not_negative,
                               [](Whole n) { optim::MultiStepLR{.milestones = {2}}(n); }),
    whole_of<invalid_argument>("MultiStepLR.milestones", whole_not_negative,
                               [](Whole n) { optim::MultiStepLR{.milestones = {2, n}}(3); }),
    real_of<invalid_argument>("ConstantLR.lr", finite_only, [](double n) { optim::ConstantLR{.lr = n}(3); }),
    real_of<invalid_argument>("ConstantLR.factor", part, [](double n) { optim::ConstantLR{.factor = n}(3); }),
    whole_of<invalid_argument>("ConstantLR.total_iters", at_least_1, [](Whole n) { optim::ConstantLR{.total_iters = n}(3); }),
    whole_of<invalid_argument>("ConstantLR::operator().step", whole_not_negative, [](Whole n) { optim::ConstantLR{}(n); }),
    real_of<invalid_argument>("LinearLR.lr", finite_only, [](double n) { optim::LinearLR{.lr = n}(3); }),
    real_of<invalid_argument>("LinearLR.start_factor", part, [](double n) { optim::LinearLR{.start_factor = n}(3); }),
    real_of<invalid_argument>("LinearLR.end_factor", part, [](double n) { optim::LinearLR{.end_factor = n}(3); }),
    whole_of<invalid_argument>("LinearLR.total_iters", at_least_1, [](Whole n) { optim::LinearLR{.total_iters = n}(3); }),
    whole_of<invalid_argument>("LinearLR::operator().step", whole_not_negative, [](Whole n) { optim::LinearLR{}(n); }),
    real_of<invalid_argument>("ExponentialLR.lr", finite_only, [](double n) { optim::ExponentialLR{.lr = n, .gamma = 0.5}(3); }),
    real_of<invalid_argument>("ExponentialLR.gamma", any_outcome, [](double n) { optim::ExponentialLR{.gamma = n}(3); }),
    whole_of<invalid_argument>("ExponentialLR::operator().step", whole_not_negative,
                               [](Whole n) { optim::ExponentialLR{.gamma = 0.5}(n); }),
    real_of<invalid_argument>("PolynomialLR.lr", finite_only, [](double n) { optim::PolynomialLR{.lr = n}(3); }),
    whole_of<invalid_argument>("PolynomialLR.total_iters", at_least_1, [](Whole n) { optim::PolynomialLR{.total_iters = n}(3); }),
    real_of<invalid_argument>("PolynomialLR.power", any_outcome, [](double n) { optim::PolynomialLR{.power = n}(3); }),
    whole_of<invalid_argument>("PolynomialLR::operator().step", whole_not_negative, [](Whole n) { optim::PolynomialLR{}(n); }),
    real_of<invalid_argument>("CosineAnnealingLR.lr", finite_only,
                              [](double n) { optim::CosineAnnealingLR{.lr = n, .T_max = 5}(3); }),
    whole_of<invalid_argument>("CosineAnnealingLR.T_max", at_least_1, [](Whole n) { optim::CosineAnnealingLR{.T_max = n}(3); }),
    real_of<invalid_argument>("CosineAnnealingLR.eta_min", finite_only,
                              [](double n) { optim::CosineAnnealingLR{.T_max = 5, .eta_min = n}(3); }),
    whole_of<invalid_argument>("CosineAnnealingLR::operator().step", whole_not_negative,
                               [](Whole n) { optim::CosineAnnealingLR{.T_max = 5}(n); }),
    real_of<invalid_argument>("CosineAnnealingWarmRestarts.lr", finite_only,
                              [](double n) { optim::CosineAnnealingWarmRestarts{.lr = n, .T_0 = 2}(3); }),
    whole_of<invalid_argument>("CosineAnnealingWarmRestarts.T_0", at_least_1,
                               [](Whole n) { optim::CosineAnnealingWarmRestarts{.T_0 = n}(3); }),
    whole_of<invalid_argument>("CosineAnnealingWarmRestarts.T_mult", at_least_1,
                               [](Whole n) { optim::CosineAnnealingWarmRestarts{.T_0 = 2, .T_mult = n}(3); }),
    real_of<invalid_argument>("CosineAnnealingWarmRestarts.eta_min", finite_only,
                              [](double n) { optim::CosineAnnealingWarmRestarts{.T_0 = 2, .eta_min = n}(3); }),
    whole_of<invalid_argument>("CosineAnnealingWarmRestarts::operator().step", whole_not_negative,
                               [](Whole n) { optim::CosineAnnealingWarmRestarts{.T_0 = 2}(n); }),
    real_of<invalid_argument>("OneCycleLR.max_lr", finite_only,
                              [](double n) { optim::OneCycleLR{.max_lr = n, .total_steps = 5}(3); }),
    real_of<invalid_argument>("OneCycleLR.pct_start", part,
                              [](double n) { optim::OneCycleLR{.max_lr = 1, .total_steps = 5, .pct_start = n}(3); }),
    real_of<invalid_argument>("OneCycleLR.div_factor", any_outcome,
                              [](double n) { optim::OneCycleLR{.max_lr = 1, .total_steps = 5, .div_factor = n}(3); }),
    real_of<invalid_argument>("OneCycleLR.final_div_factor", any_outcome,
                              [](double n) { optim::OneCycleLR{.max_lr = 1, .total_steps = 5, .final_div_factor = n}(3); }),
    whole_of<invalid_argument>("OneCycleLR::operator().step", from(0, 4),
                               [](Whole n) { optim::OneCycleLR{.max_lr = 1, .total_steps = 5}(n); }),
    whole_of<invalid_argument>("OneCycleLR.total_steps", at_least_1,
                               [](Whole n) { optim::OneCycleLR{.max_lr = 1, .total_steps = n}(0); }),
    whole_of<invalid_argument>("OneCycleLR.epochs", from(1, 0x1p61),
                               [](Whole n) { optim::OneCycleLR{.max_lr = 1, .epochs = n, .steps_per_epoch = 4}(0); }),
    whole_of<invalid_argument>("OneCycleLR.steps_per_epoch", any_outcome,
                               [](Whole n) { optim::OneCycleLR{.max_lr = 1, .epochs = 4, .steps_per_epoch = n}(0); }),
    real_of<invalid_argument>("OneCycleLR.base_momentum", finite_only,
                              [](double n) { optim::OneCycleLR{.total_steps = 5, .base_momentum = n}.momentum(2); }),
    real_of<invalid_argument>("OneCycleLR.max_momentum", finite_only,
                              [](double n) { optim::OneCycleLR{.total_steps = 5, .max_momentum = n}.momentum(2); }),
    whole_of<invalid_argument>("OneCycleLR::momentum.step", from(0, 4),
                               [](Whole n) { optim::OneCycleLR{.total_steps = 5}.momentum(n); }),
    real_of<invalid_argument>("CyclicLR.base_lr", finite_only,
                              [](double n) { optim::CyclicLR{.base_lr = n, .max_lr = 0.5, .step_size_up = 2}(3); }),
    real_of<invalid_argument>("CyclicLR.max_lr", finite_only,
                              [](double n) { optim::CyclicLR{.base_lr = 0.1, .max_lr = n, .step_size_up = 2}(3); }),
    whole_of<invalid_argument>("CyclicLR.step_size_up", at_least_1,
                               [](Whole n) { optim::CyclicLR{.base_lr = 0.1, .max_lr = 0.5, .step_size_up = n}(3); }),
    whole_of<invalid_argument>(
        "CyclicLR.step_size_down", whole_not_negative,
        [](Whole n) { optim::CyclicLR{.base_lr = 0.1, .max_lr = 0.5, .step_size_up = 2, .step_size_down = n}(3); }),
    whole_of<invalid_argument>("CyclicLR::operator().step", whole_not_negative,
                               [](Whole n) { optim::CyclicLR{.base_lr = 0.1, .max_lr = 0.5, .step_size_up = 2}(n); }),
    real_of<invalid_argument>("CyclicLR.gamma", any_outcome,
                              [](double n) {
                                optim::CyclicLR{.base_lr = 0.1,
                                                .max_lr = 0.5,
                                                .step_size_up = 2,
                                                .mode = optim::CyclicMode::exp_range,
                                                .gamma = n}(3);
                              }),
    real_of<invalid_argument>("CyclicLR.base_momentum", finite_only,
                              [](double n) { optim::CyclicLR{.step_size_up = 2, .base_momentum = n}.momentum(1); }),
    real_of<invalid_argument>("CyclicLR.max_momentum", finite_only,
                              [](double n) { optim::CyclicLR{.step_size_up = 2, .max_momentum = n}.momentum(1); }),
    whole_of<invalid_argument>("CyclicLR::momentum.step", whole_not_negative, [](Whole n) { optim::CyclicLR{}.momentum(n); }),
    whole_of<invalid_argument>("SequentialLR.milestones", at_least_1,
                               [](Whole n) {
                                 optim::SequentialLR{.schedulers = std::tuple{optim::LinearLR{}, optim::LinearLR{}},
                                                     .milestones = {n}}(3);
                               }),
    whole_of<invalid_argument>("SequentialLR::operator().step", whole_not_negative,
                               [](Whole n) {
                                 optim::SequentialLR{.schedulers = std::tuple{optim::LinearLR{}, optim::LinearLR{}},
                                                     .milestones = {2}}(n);
                               }),
};

/// A report of a training loop's bar, which nobody sees.
void show(const tw::train::Progress& progress, const tw::train::ProgressBarOptions& options = {}) {
  std::FILE* const file = std::fopen("/dev/null", "w");
  tw::train::ProgressBar bar(file, options);
  bar(progress);
  std::fclose(file);
}
constexpr void add_one(Ir& ir) {
  const Tensor x = ir.variable(tw::zeros(), {2}, tw::float32, "x");
  ops::add_(x, ir.constant(1.0f));
}
const RunCase of_runs[] = {
    size_of<runtime_error>("SessionOptions.seed", anything,
                           [](Whole n) { tw::Session<add_one>({.seed = static_cast<std::uint64_t>(n), .threads = 1}).run(); }),
    whole_of<std::exception>("SessionOptions.threads", any_outcome,
                             [](Whole n) {
                               if (is_int(n)) tw::Session<add_one>({.threads = static_cast<int>(n)}).run();
                             }),
    size_of<std::exception>("SeedOptions.offset", anything,
                            [](Whole n) { tw::create_seeds(1, {.offset = static_cast<std::uint64_t>(n)}); }),
    whole_of<std::exception>("SeedOptions.batches_per_step", from(1, 1),
                             [](Whole n) { tw::create_seeds(1, {.batches_per_step = n}); }),
    whole_of<std::exception>("SeedOptions.replicas", from(1, 1),
                             [](Whole n) { tw::create_seeds(1, {.batches_per_step = 1 << 10, .replicas = n}); }),
    whole_of<std::exception>("SeedOptions.gradient_accumulation_factor", from(1, 1),
                             [](Whole n) { tw::create_seeds(1, {.gradient_accumulation_factor = n}); }),
    whole_of<std::invalid_argument>("SessionOptions.recorded_events", from(0, 1 << 24),
                                    [](Whole n) { tw::Session<add_one>({.threads = 1, .recorded_events = n}).run(); }),
    size_of<runtime_error>("Progress.epoch", anything, [](Whole n) { show({.epoch = static_cast<std::uint64_t>(n)}); }),
    size_of<runtime_error>("Progress.epochs", anything, [](Whole n) { show({.epochs = static_cast<std::uint64_t>(n)}); }),
    size_of<runtime_error>("Progress.batch", anything,
                           [](Whole n) { show({.batch = static_cast<std::uint64_t>(n), .batches = 7}); }),
    size_of<runtime_error>("Progress.batches", anything,
                           [](Whole n) { show({.batch = 3, .batches = static_cast<std::uint64_t>(n)}); }),
    real_of<runtime_error>("Progress.loss", anything, [](double n) { show({.loss = static_cast<float>(n)}); }),
    real_of<runtime_error>("ProgressBarOptions.per_batch", anything, [](double n) { show({}, {.per_batch = n}); }),
    size_of<runtime_error>("ProgressBarOptions.before", anything,
                           [](Whole n) { show({}, {.before = static_cast<std::uint64_t>(n)}); }),
    whole_of<invalid_argument>("pow2scaled.log2_scale", from(-32, 31),
                               [](Whole n) {
                                 if (is_int(n)) tw::pow2scaled(tw::ones(), static_cast<int>(n));
                                 else throw invalid_argument("log2_scale");
                               }),
};

const tw::scaling::Cluster cluster = tw::scaling::hosts("hosts", 2, tw::scaling::ethernet_100);
const tw::scaling::Collective gradients = tw::scaling::all_reduce_of(1000, 2);
std::vector<tw::scaling::Collective> collectives() { return {gradients}; }
void simulate(const tw::scaling::Collective& collective, const tw::scaling::Cluster& machines = cluster) {
  tw::scaling::simulate(collective, 4, tw::scaling::Algorithm::ring, machines);
}
const RunCase of_scaling[] = {
    whole_of<invalid_argument>("all_reduce_of.bytes", whole_not_negative,
                               [](Whole n) { simulate(tw::scaling::all_reduce_of(n)); }),
    whole_of<invalid_argument>("all_reduce_of.times", any_outcome, [](Whole n) { simulate(tw::scaling::all_reduce_of(8, n)); }),
    whole_of<invalid_argument>("Collective.bytes", whole_not_negative,
                               [](Whole n) {
                                 auto c = gradients;
                                 c.bytes = n;
                                 simulate(c);
                               }),
    whole_of<invalid_argument>("Collective.times", any_outcome,
                               [](Whole n) {
                                 auto c = gradients;
                                 c.times = n;
                                 simulate(c);
                               }),
    whole_of<invalid_argument>("Cluster.replicas_per_node", any_outcome,
                               [](Whole n) {
                                 auto c = cluster;
                                 c.replicas_per_node = n;
                                 simulate(gradients, c);
                               }),
    whole_of<invalid_argument>("Cluster.replicas_per_process", any_outcome,
                               [](Whole n) {
                                 auto c = cluster;
                                 c.replicas_per_process = n;
                                 simulate(gradients, c);
                               }),
    whole_of<invalid_argument>("hosts.replicas_per_node", any_outcome,
                               [](Whole n) { simulate(gradients, tw::scaling::hosts("hosts", n, cluster.between)); }),
    whole_of<invalid_argument>("simulate.replicas", any_outcome,
                               [](Whole n) { tw::scaling::simulate(gradients, n, tw::scaling::Algorithm::ring, cluster); }),
    real_of<invalid_argument>(
        "step_time.computation", not_negative,
        [](double n) { tw::scaling::step_time(collectives(), n, 4, tw::scaling::Algorithm::ring, cluster); }),
    whole_of<invalid_argument>(
        "step_time.replicas", any_outcome,
        [](Whole n) { tw::scaling::step_time(collectives(), 1, n, tw::scaling::Algorithm::ring, cluster); }),
    whole_of<invalid_argument>("fastest_algorithm.replicas", any_outcome,
                               [](Whole n) { tw::scaling::fastest_algorithm(collectives(), n, cluster); }),
};

const tw::Plan& small_plan() {
  static const tw::Plan plan = tw::lower(tw::prepare(*tw::trace([](tw::Ir& ir) {
    const tw::TensorSpec spec{{64, 64}, tw::float32};
    ops::host_store(ir.d2h_stream("y", spec), ops::gelu(ops::host_load(ir.h2d_stream("x", spec))));
  }),
                                                     tw::cpu));
  return plan;
}
void price(const tw::HostCosts& costs) { (void)tw::host_balance(small_plan(), 8, tw::Sharing::fixed, costs); }
const RunCase of_balance[] = {
    whole_of<invalid_argument>("host_balance.threads", from(1, 4096),
                               [](Whole n) {
                                 if (is_int(n)) (void)tw::host_balance(small_plan(), static_cast<int>(n));
                                 else throw invalid_argument("threads");
                               }),
    real_of<invalid_argument>("HostCosts.work_per_second", above_0, [](double n) { price({.work_per_second = n}); }),
    real_of<invalid_argument>("HostCosts.crowding", above_0, [](double n) { price({.crowding = n}); }),
    real_of<invalid_argument>("HostCosts.bytes_per_second", above_0, [](double n) { price({.bytes_per_second = n}); }),
    real_of<invalid_argument>("HostCosts.barrier_seconds", not_negative, [](double n) { price({.barrier_seconds = n}); }),
    real_of<invalid_argument>("HostCosts.barrier_seconds_per_doubling", not_negative,
                              [](double n) { price({.barrier_seconds_per_doubling = n}); }),
};

const std::filesystem::path& folder() {
  static const TemporaryFolder made;
  return made.path;
}
const RunCase of_files[] = {
    size_of<LoadError>("Checkpoints::save.step", anything,
                       [](Whole n) { tw::Checkpoints(folder()).save(static_cast<std::uint64_t>(n), {}); }),
    size_of<LoadError>("Checkpoints::load.step", any_outcome,
                       [](Whole n) { tw::Checkpoints(folder()).load(static_cast<std::uint64_t>(n)); }),
    size_of<LoadError>("Checkpoints::read.step", any_outcome,
                       [](Whole n) { tw::Checkpoints(folder()).read(static_cast<std::uint64_t>(n), {}); }),
    size_of<LoadError>("Checkpoints::path_of.step", anything,
                       [](Whole n) { (void)tw::Checkpoints(folder()).path_of(static_cast<std::uint64_t>(n)); }),
    size_of<LoadError>("Checkpoints::Options.keep", anything,
                       [](Whole n) {
                         tw::Checkpoints checkpoints(folder(), {.keep = size(n)});
                         checkpoints.save(1, {}), checkpoints.save(2, {});
                       }),
    size_of<LoadError>("Checkpoints::Options.version", anything,
                       [](Whole n) { tw::Checkpoints(folder(), {.version = static_cast<std::uint64_t>(n)}).save(1, {}); }),
    size_of<invalid_argument>(
        "CheckpointUpgrade.version", from(1, 5),
        [](Whole n) { tw::Checkpoints(folder(), {.version = 5, .upgrades = {{.version = static_cast<std::uint64_t>(n)}}}); }),
};

const std::vector<float> three_logits{1, 2, 3};
void draw(const tw::generate::SamplerOptions& options, std::uint64_t position = 0) {
  (void)tw::generate::Sampler(options)(three_logits, position);
}
const RunCase of_samplers[] = {
    real_of<invalid_argument>("SamplerOptions.temperature", not_negative, [](double n) { draw({.temperature = n}); }),
    real_of<invalid_argument>("SamplerOptions.top_p", probability, [](double n) { draw({.top_p = n}); }),
    size_of<invalid_argument>("SamplerOptions.top_k", anything, [](Whole n) { draw({.top_k = size(n)}); }),
    size_of<invalid_argument>("SamplerOptions.seed", anything, [](Whole n) { draw({.seed = static_cast<std::uint64_t>(n)}); }),
    size_of<invalid_argument>("Sampler::operator().position", anything, [](Whole n) { draw({}, static_cast<std::uint64_t>(n)); }),
    size_of<invalid_argument>(
        "GenerateOptions.max_new_tokens", anything,
        [](Whole n) {
          const std::vector<std::int32_t> prompt{0};
          const auto logits = [](std::span<const std::int32_t>) -> std::span<const float> { return three_logits; };
          (void)tw::generate::new_tokens(prompt, logits, {.max_new_tokens = size(n), .stop_tokens = {0, 1, 2}});
        }),
};
}  // namespace

TEST_CASE("wrong numbers as options of data") { CHECK(problems(of_data) == ""); }
TEST_CASE("wrong numbers of schedules") { CHECK(problems(of_schedules) == ""); }
TEST_CASE("wrong numbers of schedulers by PyTorch's names") { CHECK(problems(of_schedulers) == ""); }
TEST_CASE("wrong numbers of sessions and progress bars") { CHECK(problems(of_runs) == ""); }
TEST_CASE("wrong numbers of clusters") { CHECK(problems(of_scaling) == ""); }
TEST_CASE("wrong numbers of balance") { CHECK(problems(of_balance) == ""); }
TEST_CASE("wrong numbers of samplers") { CHECK(problems(of_samplers) == ""); }
TEST_CASE("wrong numbers of checkpoints") {
  folder();  // of this process, not of a child
  CHECK(problems(of_files) == "");
}
