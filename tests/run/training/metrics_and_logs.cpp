// labels: none
// Metrics against numbers of NumPy, PyTorch and scikit-learn, early stopping, and logs with their files and charts: without a
// session.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "../../support/environment.hpp"
#include "../../support/reference.hpp"
#include "tilewright/profile/write_report.hpp"
#include "tilewright/train/early_stopping.hpp"
#include "tilewright/train/log.hpp"
#include "tilewright/train/metrics.hpp"
#include "tilewright/xtensor.hpp"

namespace {

namespace tw = tilewright;

using tw::train::Accuracy, tw::train::ConfusionMatrix, tw::train::Mean, tw::train::Perplexity;
using tw::train::EarlyStopping, tw::train::Log, tw::train::LogFile, tw::train::MetricMode;

constexpr std::size_t rows = 40, classes = 5;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// The lists of tests/reference/make_metric_values.py.
const Values& numbers() {
  static const Values values = [] {
    Values result;
    read_reference("metrics.txt", result);
    return result;
  }();
  return values;
}
double number(const std::string& name) { return numbers().at(name).at(0); }
xt::xtensor<float, 2> outputs_of(const std::string& name) {
  auto result = xt::xtensor<float, 2>::from_shape({rows, classes});
  std::ranges::transform(numbers().at(name), result.data(), [](double value) { return static_cast<float>(value); });
  return result;
}
xt::xtensor<std::int32_t, 1> labels_of(const std::string& name) {
  auto result = xt::xtensor<std::int32_t, 1>::from_shape({rows});
  std::ranges::transform(numbers().at(name), result.data(), [](double value) { return static_cast<std::int32_t>(value); });
  return result;
}
/// Adds the samples in batches of 16, 16 and 8, of which the last is filled up, as train::evaluate does.
void add_in_batches(auto& metric, const xt::xtensor<float, 2>& outputs, const xt::xtensor<std::int32_t, 1>& labels) {
  for (std::size_t first = 0; first < rows; first += 16) {
    xt::xtensor<float, 2> some({16, classes}, 9.F);
    xt::xtensor<std::int32_t, 1> their_labels({16}, 1);
    const std::size_t count = std::min(std::size_t{16}, rows - first);
    std::copy_n(outputs.data() + first * classes, count * classes, some.data());
    std::copy_n(labels.data() + first, count, their_labels.data());
    metric.add(some, their_labels, count);
  }
}
std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}
std::vector<std::string> names_of_losses() { return {"training_loss", "validation_loss"}; }

}  // namespace

TEST_CASE("Accuracy: the share of labels among the largest outputs") {
  const auto outputs = outputs_of("outputs");
  const auto labels = labels_of("labels"), padded = labels_of("padded");
  for (const int k : {1, 2, 5}) {
    Accuracy at_once({.top_k = k}), in_batches({.top_k = k});
    at_once.add(outputs, labels);
    add_in_batches(in_batches, outputs, labels);
    CHECK(at_once.value() == Approx(number("top" + std::to_string(k))).epsilon(1e-12));
    CHECK(in_batches.value() == at_once.value());
    CHECK(in_batches.count() == rows);
  }
  Accuracy without_padding({.top_k = 2, .ignore_index = -100});
  add_in_batches(without_padding, outputs, padded);
  CHECK(without_padding.value() == Approx(number("top2.padded")).epsilon(1e-12));
  CHECK(without_padding.count() < rows);
  without_padding.reset();
  CHECK_THROWS_WITH(without_padding.value(), "Accuracy: nothing was added: at least one sample before value() expected");
}
TEST_CASE("Accuracy: views, expressions and more axes") {
  const auto outputs = outputs_of("outputs");
  const auto labels = labels_of("labels");
  Accuracy of_view, of_expression, of_tokens;
  of_view.add(xt::view(outputs, xt::range(0, 17)), xt::view(labels, xt::range(0, 17)));
  CHECK(of_view.value() == Approx(number("top1.first_17")).epsilon(1e-12));
  of_expression.add(2 * outputs + 1, labels);
  CHECK(of_expression.value() == Approx(number("top1")).epsilon(1e-12));
  of_tokens.add(xt::reshape_view(outputs, {5, 8, 5}), xt::reshape_view(labels, {5, 8}), 2);  // two rows of 8 tokens
  CHECK(of_tokens.count() == 16);
}
TEST_CASE("Accuracy: equal outputs, NaN, and what does not fit") {
  const xt::xtensor<float, 2> equal({2, 3}, 1.F);
  Accuracy accuracy;
  accuracy.add(equal, xt::xtensor<std::int32_t, 1>{0, 1});
  CHECK(accuracy.value() == 0.5);  // the first of equal outputs is the largest
  const auto add = [&](const xt::xtensor<std::int32_t, 1>& labels, const auto&... count) {
    accuracy.add(equal, labels, count...);
  };
  CHECK_THROWS_WITH(add({0, 3}), "Accuracy: label 3: from 0 to 2 expected");
  CHECK_THROWS_WITH(add({0, -1}), "Accuracy: label -1: from 0 to 2 expected");
  CHECK_THROWS_WITH(add({0}), "Accuracy: 6 outputs of 3 classes for 1 labels: one output of each class for each label expected");
  CHECK_THROWS_WITH(add({0, 1}, std::size_t{3}), "Accuracy: 3 samples of 2: at most all expected");
  CHECK_THROWS_AS(accuracy.add(xt::xtensor<float, 2>({0, 0}), xt::xtensor<std::int32_t, 1>()), std::invalid_argument);
  CHECK(accuracy.count() == 2);  // errors add nothing
  CHECK_THROWS_WITH(Accuracy({.top_k = 0}), "Accuracy: top_k 0: at least 1 expected");
  CHECK_THROWS_WITH(Accuracy({.top_k = 4}).add(equal, xt::xtensor<std::int32_t, 1>{0, 1}),
                    "Accuracy: top_k 4 of 3 classes: at most all expected");
}
TEST_CASE("ConfusionMatrix: counts, precision, recall and F1") {
  ConfusionMatrix matrix(classes);
  add_in_batches(matrix, outputs_of("outputs"), labels_of("labels"));
  for (std::size_t i = 0; i < classes * classes; ++i)
    CHECK(static_cast<double>(matrix.matrix().data()[i]) == numbers().at("matrix")[i]);
  CHECK(xt::sum(matrix.without_prediction())() == 1);  // the row with a NaN
  for (std::size_t c = 0; c < classes; ++c) {
    CHECK(matrix.precision(c) == Approx(numbers().at("precision")[c]).epsilon(1e-12));
    CHECK(matrix.recall(c) == Approx(numbers().at("recall")[c]).epsilon(1e-12));
    CHECK(matrix.f1(c) == Approx(numbers().at("f1")[c]).epsilon(1e-12));
  }
  CHECK(matrix.macro_f1() == Approx(number("macro_f1")).epsilon(1e-12));
  CHECK(matrix.value() == Approx(number("top1")).epsilon(1e-12));
  matrix.reset();
  CHECK((matrix.precision(0) == 0 && matrix.recall(0) == 0 && matrix.f1(0) == 0));
  CHECK_THROWS_WITH(matrix.value(), "ConfusionMatrix: nothing was added: at least one sample before value() expected");
  CHECK_THROWS_WITH(matrix.f1(5), "ConfusionMatrix: class 5: from 0 to 4 expected");
  CHECK_THROWS_WITH(matrix.add(xt::xtensor<float, 2>({1, 4}, 0.F), xt::xtensor<std::int32_t, 1>{0}),
                    "ConfusionMatrix: outputs of 4 classes: 5 expected");
  CHECK_THROWS_WITH(ConfusionMatrix(0), "ConfusionMatrix: 0 classes: from 1 to 4096 expected");
  CHECK_THROWS_AS(ConfusionMatrix(std::size_t{1} << 40), std::invalid_argument);
}
TEST_CASE("ConfusionMatrix: classes that no sample has") {
  ConfusionMatrix matrix(classes);
  CHECK_THROWS_WITH(matrix.macro_f1(), "ConfusionMatrix: nothing was added: at least one sample before value() expected");
  matrix.add(outputs_of("few.outputs"), labels_of("few.labels"));
  constexpr std::size_t present = 3;  // 0 and 1 are labels, 2 is only predicted
  for (std::size_t c = 0; c < classes; ++c) {
    const auto of_present = [&](const char* name) { return Approx(c < present ? numbers().at(name)[c] : 0).epsilon(1e-12); };
    CHECK(matrix.precision(c) == of_present("few.precision"));
    CHECK(matrix.recall(c) == of_present("few.recall"));
    CHECK(matrix.f1(c) == of_present("few.f1"));
    for (std::size_t p = 0; p < classes; ++p)
      CHECK(static_cast<double>(matrix.matrix()(c, p)) ==
            (c < present && p < present ? numbers().at("few.matrix")[c * present + p] : 0));
  }
  CHECK(matrix.macro_f1() == Approx(number("few.macro_f1")).epsilon(1e-12));
  CHECK(matrix.value() == Approx(number("few.accuracy")).epsilon(1e-12));
}
TEST_CASE("Mean: weights, long sums, and what is no number") {
  Mean mean, weighted;
  for (std::size_t i = 0; i < 30; ++i) {
    mean.add(numbers().at("values")[i]);
    weighted.add(numbers().at("values")[i], numbers().at("weights")[i]);
  }
  CHECK(mean.value() == Approx(number("mean")).epsilon(1e-12));
  CHECK(weighted.value() == Approx(number("weighted_mean")).epsilon(1e-12));
  mean.reset();
  CHECK_THROWS_WITH(mean.value(), "Mean: nothing was added: at least one sample before value() expected");
  for (const double value : {1e100, 1.0, -1e100}) mean.add(value);  // a plain sum is 0
  CHECK(mean.value() == Approx(1.0 / 3).epsilon(1e-15));
  mean.add(nan_value, 0);
  CHECK(mean.weight() == 3);
  mean.add(infinity);
  CHECK(mean.value() == infinity);
  mean.add(nan_value);
  CHECK(std::isnan(mean.value()));
  for (const double weight : {-1.0, nan_value, infinity}) CHECK_THROWS_AS(mean.add(1, weight), std::invalid_argument);
}
TEST_CASE("Perplexity: exp of the mean loss of all tokens") {
  const auto logits = outputs_of("logits");
  const auto labels = labels_of("labels"), padded = labels_of("padded");
  Perplexity all, without_padding({.ignore_index = -100}), of_losses, broken;
  add_in_batches(all, logits, labels);
  CHECK(all.value() == Approx(number("perplexity")).epsilon(1e-12));
  add_in_batches(without_padding, logits, padded);
  CHECK(without_padding.value() == Approx(number("perplexity.padded")).epsilon(1e-12));
  of_losses.add_loss(1, 3);
  of_losses.add_loss(2, 1);
  CHECK(of_losses.value() == Approx(std::exp(1.25)).epsilon(1e-14));
  broken.add(outputs_of("outputs"), labels);
  CHECK(std::isnan(broken.value()));
  CHECK_THROWS_WITH(Perplexity().value(), "Perplexity: nothing was added: at least one sample before value() expected");
  CHECK_THROWS_WITH(all.add(logits, padded), "Perplexity: label -100: from 0 to 4 expected");
}

TEST_CASE("EarlyStopping: patience, differences that are too small, and both directions") {
  EarlyStopping stopping({.patience = 2, .min_delta = 0.1});
  std::vector<bool> stops, improved;
  for (const double value : {1.0, 0.95, 0.8, 0.75, nan_value})
    stops.push_back(stopping.stops(value)), improved.push_back(stopping.improved());
  CHECK(stops == std::vector<bool>{false, false, false, false, true});
  CHECK(improved == std::vector<bool>{true, false, true, false, false});
  CHECK((stopping.state().best == 0.8 && stopping.state().best_epoch == 3 && stopping.state().epoch == 5));

  EarlyStopping upwards({.patience = 1, .mode = MetricMode::max});
  CHECK_FALSE(upwards.stops(0.5));
  CHECK_FALSE(upwards.stops(0.6));
  EarlyStopping resumed({.patience = 1, .mode = MetricMode::max});
  resumed.resume(upwards.state());
  CHECK(resumed.stops(0.6));
  CHECK(EarlyStopping({.patience = 1}).stops(nan_value));
  for (const double delta : {-0.1, nan_value, infinity})
    CHECK_THROWS_AS(EarlyStopping({.min_delta = delta}), std::invalid_argument);
}

TEST_CASE("Log: lines of text with commas, and of JSON") {
  const TemporaryFolder folder;
  Log log(names_of_losses());
  log.add(10, {{"training_loss", 4.25}, {"validation_loss", 4.5}});
  log.add(20, {{"training_loss", 3}});
  log.add(30, {{"validation_loss", 0.1F}, {"training_loss", infinity}});
  log.add(40, {{"training_loss", 1e-7}, {"validation_loss", nan_value}});
  log.add(50, {{"training_loss", 0.1}, {"validation_loss", -infinity}});
  const std::string csv = "step,training_loss,validation_loss\n10,4.25,4.5\n20,3,\n30,inf,0.1\n40,1e-07,nan\n50,0.1,-inf\n";
  CHECK(log.to_csv() == csv);
  const std::string json =
      "{\"step\":10,\"training_loss\":4.25,\"validation_loss\":4.5}\n"
      "{\"step\":20,\"training_loss\":3}\n"
      "{\"step\":30,\"training_loss\":\"inf\",\"validation_loss\":0.1}\n"
      "{\"step\":40,\"training_loss\":1e-07,\"validation_loss\":\"nan\"}\n"
      "{\"step\":50,\"training_loss\":0.1,\"validation_loss\":\"-inf\"}\n";
  CHECK(log.to_json_lines() == json);
  log.write_csv(folder / "log.csv");
  log.write_json_lines(folder / "log.jsonl");
  for (const char* name : {"log.csv", "log.jsonl"}) {
    const Log all = Log::read(folder / name, names_of_losses());
    CHECK((all.to_csv() == csv && all.to_json_lines() == json));
    CHECK(all.rows().back().values[0] == log.rows().back().values[0]);
    Log part = Log::read(folder / name, names_of_losses(), 39);
    CHECK(part.rows().size() == 3);
    part.add(40, {});
    CHECK(part.rows()[3].values == std::vector<std::optional<double>>(2));
  }
  CHECK(Log::read(folder / "none.csv", names_of_losses()).rows().empty());
  std::ofstream(folder / "torn.jsonl") << json << "{\"step\":60,\"train";
  CHECK(Log::read(folder / "torn.jsonl", names_of_losses()).rows().size() == 5);
}
TEST_CASE("Log: numbers read back as they were") {
  const TemporaryFolder folder;
  Log log({"x"});
  const std::vector<double> values{1.0 / 3, static_cast<double>(1.F / 3), 1e308, 5e-324, -0.0, 16777217, 0.1 + 0.2};
  for (std::size_t i = 0; i < values.size(); ++i) log.add(i, {{"x", values[i]}});
  for (const bool is_json : {false, true}) {
    const auto path = folder / (is_json ? "x.jsonl" : "x.csv");
    if (is_json) log.write_json_lines(path);
    else log.write_csv(path);
    const Log read = Log::read(path, {"x"});
    REQUIRE(read.rows().size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(static_cast<float>(*read.rows()[i].values[0]) == static_cast<float>(values[i]));
    CHECK(read.rows()[0].values[0] == values[0]);
    CHECK(std::signbit(*read.rows()[4].values[0]));
  }
}
TEST_CASE("Log: what is no log") {
  const TemporaryFolder folder;
  Log log(names_of_losses());
  log.add(30, {});
  CHECK_THROWS_WITH(log.add(30, {}), "Log: step 30 after 30: a later one expected");
  CHECK_THROWS_WITH(log.add(40, {{"loss", 1}}), "Log: 'loss': one of training_loss, validation_loss, each once, expected");
  CHECK_THROWS_AS(log.add(40, {{"training_loss", 1}, {"training_loss", 1}}), std::invalid_argument);
  CHECK(log.rows().size() == 1);
  for (const char* name : {"", "step", "a,b", "a\"", "a\\", "a\nb"}) CHECK_THROWS_AS(Log({name}), std::invalid_argument);
  CHECK_THROWS_WITH(Log({"a", "a"}), "Log: column 'a': a new name without commas, quotes and backslashes expected");
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const std::string header = "step,training_loss,validation_loss\n";
  for (const char* line : {"2,x,", "2,1", "2,1,2,3", "1,1,1", "x,1,1", "-1,1,1", ""}) {
    std::ofstream(folder / "bad.csv") << header << "1,2,\n" << line << "\n";
    CHECK_THROWS_WITH(Log::read(folder / "bad.csv", names_of_losses()),
                      "Log: " + path("bad.csv") + ": line 3, '" + line +
                          "': a later step and the numbers of training_loss, validation_loss expected");
  }
  for (const char* line : {"{}", "{\"step\":1,\"loss\":2}", "{\"step\":1,\"training_loss\":null}", "{\"step\":1", "[]",
                           "{\"step\":1,\"training_loss\":1,\"training_loss\":1}", "{\"step\":1,\"training_loss\":\"1}"}) {
    std::ofstream(folder / "bad.jsonl") << line << "\n";
    CHECK_THROWS_AS(Log::read(folder / "bad.jsonl", names_of_losses()), std::runtime_error);
  }
  std::ofstream(folder / "other.csv") << "a,b\n";
  CHECK_THROWS_WITH(Log::read(folder / "other.csv", names_of_losses()),
                    "Log: " + path("other.csv") + ": line 1: 'step,training_loss,validation_loss' expected");
  CHECK_THROWS_WITH(log.write_csv(folder.path),
                    "Log: " + folder.path.string() + ": a file that cannot be written: a writable one expected");
}
TEST_CASE("LogFile: a run that goes on cuts the rows after its last checkpoint") {
  const TemporaryFolder folder;
  for (const char* name : {"log.csv", "log.jsonl"}) {
    {
      LogFile file(folder / name, {"loss"}, 0);
      for (std::uint64_t step = 1; step <= 5; ++step) file.add(step, {{"loss", static_cast<double>(step)}});
      CHECK(file_content(folder / name) == (Log::is_json_lines(name) ? file.log().to_json_lines() : file.log().to_csv()));
    }
    std::ofstream(folder / name, std::ios::app) << "6,";  // of a run that was killed
    LogFile resumed(folder / name, {"loss"}, 3);
    CHECK(resumed.log().rows().size() == 3);
    resumed.add(4, {{"loss", 7}});
    CHECK(Log::read(folder / name, {"loss"}).to_csv() == "step,loss\n1,1\n2,2\n3,3\n4,7\n");
    LogFile anew(folder / name, {"loss"}, 0);
    CHECK(Log::read(folder / name, {"loss"}).rows().empty());
  }
  CHECK_THROWS_AS(LogFile(folder / "none" / "log.csv", {"loss"}, 0), std::runtime_error);
}

TEST_CASE("LogChart: lines, axes and a legend") {
  Log log(names_of_losses());
  for (std::uint64_t step = 1; step <= 200; ++step) {
    const double loss = 1.5 + 2.7 / static_cast<double>(step);
    if (step % 20 == 0) log.add(step * 10, {{"training_loss", loss}, {"validation_loss", loss + 0.1}});
    else log.add(step * 10, {{"training_loss", step == 50 ? nan_value : loss}});
  }
  const std::string svg = tw::LogChart(log, names_of_losses()).svg();
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count_of(svg, "<polyline class=\"line0\"") == 2);  // NaN at step 500 interrupts it
  CHECK(count_of(svg, "<polyline class=\"line1\"") == 1);
  CHECK(count_of(svg, "<circle class=\"line1\"") == 10);
  CHECK(count_of(svg, "<circle class=\"line0\"") == 0);
  for (const char* label :
       {">0<", ">500<", ">2000<", ">1.5<", ">4.5<", ">step<", ">loss<", ">training_loss<", ">validation_loss<"}) {
    INFO(label);
    CHECK(count_of(svg, label) == 1);
  }
  CHECK(count_of(svg, "prefers-color-scheme: dark") == 1);
  CHECK((count_of(svg, "nan") == 0 && count_of(svg, "inf") == 0));
  CHECK(svg.find("736,") != svg.npos);  // the last point is at the right edge
  const std::string by_place = tw::LogChart(log, names_of_losses(), "loss", "x<y").svg();
  CHECK((count_of(by_place, ">x&lt;y<") == 1 && count_of(by_place, ">loss by x&lt;y<") == 1 && count_of(by_place, "step") == 0));
  CHECK_THROWS_WITH(tw::LogChart(log, {"loss"}), "LogChart: column 'loss': one of the log's columns expected");
  CHECK_THROWS_WITH(tw::LogChart(log, {}), "LogChart: 0 columns: from 1 to 8 expected");
}
TEST_CASE("LogChart: few points, or none") {
  const TemporaryFolder folder;
  Log log({"a<b"});
  CHECK(count_of(tw::LogChart(log, {"a<b"}).svg(), "nan") == 0);
  log.add(0, {{"a<b", 2}});
  tw::LogChart(log, {"a<b"}).write(folder / "one.svg");
  const std::string svg = file_content(folder / "one.svg");
  CHECK(svg == tw::LogChart(log, {"a<b"}).svg());
  CHECK((count_of(svg, "<circle class=\"line0\"") == 1 && count_of(svg, "nan") == 0 && count_of(svg, ">a&lt;b<") == 2));
  Log broken({"loss"});
  broken.add(1, {{"loss", infinity}});
  CHECK(count_of(tw::LogChart(broken, {"loss"}).svg(), "<polyline") == 0);
  CHECK_THROWS_AS(tw::LogChart(log, {"a<b"}).write(folder / "none" / "one.svg"), std::filesystem::filesystem_error);
}
TEST_CASE("write_report: a page with a chart for each group of columns") {
  const TemporaryFolder folder;
  Log log({"training_loss", "accuracy", "validation_loss", "tokens_per_second"});
  log.add(1, {{"training_loss", 2}, {"accuracy", 0.5}});
  log.add(2, {{"training_loss", 1}, {"validation_loss", 3}, {"tokens_per_second", 1e6}});
  tw::write_report(folder / "run & <report>.html", log);
  const std::string page = file_content(folder / "run & <report>.html");
  CHECK(count_of(page, "<svg ") == 3);
  for (const char* title : {">loss<", ">accuracy by step<", ">tokens_per_second by step<", "<h1>run &amp; &lt;report&gt;</h1>"}) {
    INFO(title);
    CHECK(count_of(page, title) == 1);
  }
  CHECK(file_content(folder / "run & <report>.jsonl") == log.to_json_lines());
}
