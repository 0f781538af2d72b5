#pragma once
// Metrics of a model's outputs, batch by batch.
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/core/text.hpp"
#include "tilewright/core/xtensor.hpp"

namespace tilewright::train {

namespace detail {

/// Calls use(row, label) for each label of the first `count` samples. A row has the outputs of the label's sample, as numbers in
/// double precision. Throws std::invalid_argument, which names the metric, if outputs and labels do not fit.
template <class Outputs, class Labels, class Use>
void for_each_label(std::string_view metric, const Outputs& outputs, const Labels& labels, std::optional<std::size_t> count,
                    Use use) {
  const auto fail = [&](const Text& found, std::string_view expected) {
    throw std::invalid_argument(text(metric, ": ", found, ": ", expected, " expected").string());
  };
  if (outputs.dimension() == 0) fail("outputs without an axis", "a last axis, of the classes,");
  const std::size_t classes = outputs.shape(outputs.dimension() - 1), all = labels.size();
  if (classes == 0 || outputs.size() != all * classes)
    fail(text(outputs.size(), " outputs of ", classes, " classes for ", all, " labels"),
         "one output of each class for each label");
  const std::size_t samples = labels.dimension() == 0 ? 1 : labels.shape(0);
  if (count && *count > samples) fail(text(*count, " samples of ", samples), "at most all");
  const std::size_t counted = count && samples != 0 ? all / samples * *count : all;
  auto output = outputs.template begin<xt::layout_type::row_major>();
  auto label = labels.template begin<xt::layout_type::row_major>();
  std::vector<double> row(classes);
  for (std::size_t i = 0; i < counted; ++i, ++label) {
    for (double& value : row) value = static_cast<double>(*output), ++output;
    use(row, static_cast<std::int64_t>(*label));
  }
}
/// Throws std::invalid_argument, which names the metric, for a label that is not one of the classes.
inline void require_class(std::string_view metric, std::int64_t label, std::size_t classes) {
  if (label < 0 || static_cast<std::uint64_t>(label) >= classes)
    throw std::invalid_argument(text(metric, ": label ", label, ": from 0 to ", classes - 1, " expected").string());
}
/// Throws std::logic_error, which names the metric.
[[noreturn]] inline void fail_without_samples(std::string_view metric) {
  throw std::logic_error(std::string(metric) + ": nothing was added: at least one sample before value() expected");
}
inline bool has_nan(const std::vector<double>& row) {
  return std::any_of(row.begin(), row.end(), [](double output) { return std::isnan(output); });
}
/// Returns the number of classes whose outputs come before that of a label: larger ones, and equal ones of smaller index.
inline std::size_t rank_of(const std::vector<double>& row, std::size_t label) {
  std::size_t rank = 0;
  for (std::size_t c = 0; c < row.size(); ++c) rank += row[c] > row[label] || (row[c] == row[label] && c < label);
  return rank;
}

}  // namespace detail

/// Mean of numbers with weights: sum(weight value) / sum(weight), in double precision with compensated sums (A. Neumaier, ZAMM
/// 54, 1974).
///
///     tw::train::Mean loss;
///     loss.add(progress.loss);
class Mean {
 public:
  /// Adds a number. Throws std::invalid_argument for a weight that is negative, infinite or NaN. A weight of 0 adds nothing, not
  /// even NaN.
  void add(double value, double weight = 1) {
    if (!(weight >= 0) || std::isinf(weight))
      throw std::invalid_argument("Mean: a weight of " + std::to_string(weight) + ": a finite number, 0 or above, expected");
    if (weight == 0) return;
    const double term = weight * value, sum = sum_ + term;
    if (std::isfinite(sum)) rest_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
    weight_ += weight;
  }
  /// Returns the mean. Throws std::logic_error if the sum of weights is 0.
  double value() const {
    if (weight_ == 0) detail::fail_without_samples("Mean");
    return (sum_ + rest_) / weight_;
  }
  /// Returns the sum of the weights so far.
  double weight() const { return weight_; }
  /// Starts a new mean.
  void reset() { *this = Mean(); }

 private:
  double sum_ = 0, rest_ = 0, weight_ = 0;  // rest_: what rounding took from sum_
};

/// Options of Accuracy.
struct AccuracyOptions {
  std::int64_t top_k = 1;  ///< number of largest outputs among which the label's is right
  std::optional<std::int64_t> ignore_index{};  ///< label of samples that do not count; nothing: all count
};

/// Share of labels whose output is among the `top_k` largest of its row, from 0 to 1. Of equal outputs, the first is the largest,
/// as in argmax. A row that contains a NaN is wrong.
///
///     tw::train::Accuracy accuracy;
///     tw::train::evaluate(test, dataset, [&](const auto& outputs, const auto& batch, std::size_t count) {
///       accuracy.add(outputs["outputs"_s], batch.labels, count);
///     });
///     accuracy.value();
class Accuracy {
 public:
  /// Throws std::invalid_argument for a `top_k` below 1.
  explicit Accuracy(const AccuracyOptions& options = {}) : options_(options) {
    if (options.top_k < 1) throw std::invalid_argument(text("Accuracy: top_k ", options.top_k, ": at least 1 expected").string());
  }

  /// Adds a batch. `outputs`: an xtensor expression of numbers, (..., classes). `labels`: one integer for each row of outputs, in
  /// the same order. `count`: the number of samples, along the labels' first axis, that count; nothing: all. Throws
  /// std::invalid_argument if outputs and labels do not fit, for a label that is no class, and for a `top_k` above the number of
  /// classes.
  template <class Outputs, class Labels>
  void add(const Outputs& outputs, const Labels& labels, std::optional<std::size_t> count = {}) {
    Accuracy next = *this;  // so that an error adds nothing
    detail::for_each_label("Accuracy", outputs, labels, count,
                           [&](const std::vector<double>& row, std::int64_t label) { next.add_row(row, label); });
    *this = next;
  }
  /// Returns the share. Throws std::logic_error if no label was counted.
  double value() const {
    if (all_ == 0) detail::fail_without_samples("Accuracy");
    return static_cast<double>(right_) / static_cast<double>(all_);
  }
  /// Returns the number of labels that were counted.
  std::uint64_t count() const { return all_; }
  /// Forgets all batches.
  void reset() { right_ = all_ = 0; }

 private:
  void add_row(const std::vector<double>& row, std::int64_t label) {
    if (options_.ignore_index == label) return;
    if (static_cast<std::uint64_t>(options_.top_k) > row.size())
      throw std::invalid_argument(
          text("Accuracy: top_k ", options_.top_k, " of ", row.size(), " classes: at most all expected").string());
    detail::require_class("Accuracy", label, row.size());
    ++all_;
    right_ += !detail::has_nan(row) &&
              detail::rank_of(row, static_cast<std::size_t>(label)) < static_cast<std::uint64_t>(options_.top_k);
  }

  AccuracyOptions options_;
  std::uint64_t right_ = 0, all_ = 0;
};

/// How often samples of each class were taken for each class, and what follows from it: precision, recall and F1 by class, as in
/// scikit-learn. A row of outputs that contains a NaN stands for no class; it counts as a sample that was not found.
class ConfusionMatrix {
 public:
  /// Throws std::invalid_argument for fewer than 1 class, or more than 4,096.
  explicit ConfusionMatrix(std::size_t classes) : classes_(classes) {
    if (classes < 1 || classes > most_classes)
      throw std::invalid_argument("ConfusionMatrix: " + std::to_string(classes) + " classes: from 1 to 4096 expected");
    reset();
  }

  /// Adds a batch, as Accuracy::add does. Throws std::invalid_argument if outputs and labels do not fit, for another number of
  /// classes, and for a label that is no class.
  template <class Outputs, class Labels>
  void add(const Outputs& outputs, const Labels& labels, std::optional<std::size_t> count = {}) {
    std::vector<Sample> samples;  // added at the end, so that an error adds nothing
    detail::for_each_label("ConfusionMatrix", outputs, labels, count, [&](const std::vector<double>& row, std::int64_t label) {
      if (row.size() != classes_)
        throw std::invalid_argument("ConfusionMatrix: outputs of " + std::to_string(row.size()) +
                                    " classes: " + std::to_string(classes_) + " expected");
      detail::require_class("ConfusionMatrix", label, classes_);
      samples.push_back({static_cast<std::size_t>(label), prediction_of(row)});
    });
    for (const auto& [label, predicted] : samples) ++(predicted ? matrix_(label, *predicted) : without_prediction_(label));
  }
  /// Returns the numbers of samples by label, the row, and by prediction, the column: (classes, classes).
  const xt::xtensor<std::int64_t, 2>& matrix() const { return matrix_; }
  /// Returns the number of samples by label whose outputs contained a NaN: (classes,).
  const xt::xtensor<std::int64_t, 1>& without_prediction() const { return without_prediction_; }

  /// Returns the share of right samples among those that were taken for a class; 0 if there are none. Throws std::out_of_range
  /// for a class that does not exist, as recall() and f1() do.
  double precision(std::size_t of_class) const { return share(of_class, predicted(validate(of_class))); }
  /// Returns the share of right samples among those of a class; 0 if there are none.
  double recall(std::size_t of_class) const { return share(of_class, labelled(validate(of_class))); }
  /// Returns the harmonic mean of precision and recall; 0 if both are.
  double f1(std::size_t of_class) const { return 2 * share(of_class, predicted(validate(of_class)) + labelled(of_class)); }
  /// Returns the mean of f1() over the classes that are a label or a prediction of a sample, scikit-learn's macro average. Throws
  /// std::logic_error if no sample was added.
  double macro_f1() const {
    double sum = 0, present = 0;
    for (std::size_t c = 0; c < classes_; ++c)
      if (predicted(c) + labelled(c) > 0) sum += f1(c), ++present;
    if (present == 0) detail::fail_without_samples("ConfusionMatrix");
    return sum / present;
  }
  /// Returns the share of all samples that are right. Throws std::logic_error if none was added.
  double value() const {
    std::int64_t right = 0, all = 0;
    for (std::size_t c = 0; c < classes_; ++c) right += matrix_(c, c), all += labelled(c);
    if (all == 0) detail::fail_without_samples("ConfusionMatrix");
    return static_cast<double>(right) / static_cast<double>(all);
  }
  /// Forgets all batches.
  void reset() {
    matrix_ = xt::zeros<std::int64_t>({classes_, classes_});
    without_prediction_ = xt::zeros<std::int64_t>({classes_});
  }

 private:
  static constexpr std::size_t most_classes = 4096;

  struct Sample {
    std::size_t label;
    std::optional<std::size_t> predicted;
  };
  static std::optional<std::size_t> prediction_of(const std::vector<double>& row) {
    if (detail::has_nan(row)) return std::nullopt;
    return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  std::size_t validate(std::size_t of_class) const {
    if (of_class >= classes_)
      throw std::out_of_range("ConfusionMatrix: class " + std::to_string(of_class) + ": from 0 to " +
                              std::to_string(classes_ - 1) + " expected");
    return of_class;
  }
  std::int64_t labelled(std::size_t of_class) const {
    std::int64_t sum = without_prediction_(of_class);
    for (std::size_t c = 0; c < classes_; ++c) sum += matrix_(of_class, c);
    return sum;
  }
  std::int64_t predicted(std::size_t of_class) const {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < classes_; ++c) sum += matrix_(c, of_class);
    return sum;
  }
  double share(std::size_t of_class, std::int64_t all) const {
    return all == 0 ? 0 : static_cast<double>(matrix_(of_class, of_class)) / static_cast<double>(all);
  }

  std::size_t classes_;
  xt::xtensor<std::int64_t, 2> matrix_;
  xt::xtensor<std::int64_t, 1> without_prediction_;
};

/// Options of Perplexity.
struct PerplexityOptions {
  std::optional<std::int64_t> ignore_index{};  ///< label of tokens that do not count, such as padding; nothing: all count
};

/// Perplexity of a language model: exp of the mean cross entropy of all tokens, in double precision. NaN outputs give NaN.
class Perplexity {
 public:
  explicit Perplexity(const PerplexityOptions& options = {}) : options_(options) {}

  /// Adds the mean loss of a number of tokens, in nats. Throws std::invalid_argument for a number that is negative, infinite or
  /// NaN.
  void add_loss(double mean_loss, double tokens = 1) { losses_.add(mean_loss, tokens); }
  /// Adds a batch of logits, (..., classes), as Accuracy::add does. Throws std::invalid_argument if logits and labels do not fit,
  /// and for a label that is no class.
  template <class Logits, class Labels>
  void add(const Logits& logits, const Labels& labels, std::optional<std::size_t> count = {}) {
    Mean next = losses_;
    detail::for_each_label("Perplexity", logits, labels, count, [&](const std::vector<double>& row, std::int64_t label) {
      if (options_.ignore_index == label) return;
      detail::require_class("Perplexity", label, row.size());
      next.add(loss_of_row(row, static_cast<std::size_t>(label)));
    });
    losses_ = next;
  }
  /// Returns exp of the mean loss. Throws std::logic_error if no token was counted.
  double value() const {
    if (losses_.weight() == 0) detail::fail_without_samples("Perplexity");
    return std::exp(losses_.value());
  }
  /// Forgets all batches.
  void reset() { losses_.reset(); }

 private:
  /// Returns log(sum(exp(row))) - row[label].
  static double loss_of_row(const std::vector<double>& row, std::size_t label) {
    if (detail::has_nan(row)) return std::numeric_limits<double>::quiet_NaN();
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const double logit : row) sum += std::exp(logit - largest);
    return std::log(sum) + largest - row[label];
  }

  PerplexityOptions options_;
  Mean losses_;
};

}  // namespace tilewright::train
