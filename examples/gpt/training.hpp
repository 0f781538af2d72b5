#pragma once
// The host's part of training a language model: data, validation, loss curve, checkpoints.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/train/progress_bar.hpp>

#include "loss_chart.hpp"
#include "options.hpp"
#include "trainer.hpp"
#include "writer.hpp"

namespace gpt {

using namespace tw::literals;

/// The mean loss of some batches of the text to validate with, the same each time.
template <Size size, int batch>
class Validation {
 public:
  Validation(const GptOptions& options, const tw::data::TextCorpus& corpus)
      : session_({.threads = options.threads}),
        batches_(corpus.validation, {.batch_size = batch, .context = size.context, .seed = 1}),
        count_(options.eval_batches) {}

  double loss(const Trainer& trained) {
    session_.load_from_session(trained, {.allow_extra = true});
    batches_.go_to(0);
    double sum = 0;
    for (std::uint64_t i = 0; i < count_; ++i) {
      const auto& [tokens, targets] = batches_.next();
      sum += session_.run("tokens"_s = tokens, "targets"_s = targets)["loss"_s]();
    }
    return sum / static_cast<double>(count_);
  }

 private:
  tw::Session<loss_step<size, batch>> session_;
  tw::data::TextBatches batches_;
  std::uint64_t count_;
};

/// A run of training: what it has, how far it is, and how it went.
template <Size size, int batch, int micro_batches>
class Training {
 public:
  Training(const GptOptions& options, MakeTrainer make_trainer, const tw::data::TextCorpus& corpus,
           const std::optional<tw::Checkpoint>& last)
      : options_(options),
        vocabulary_(corpus.vocabulary),
        trainer_(make_trainer(options.seed, options.threads)),
        batches_(corpus.training, {.batch_size = micro_batches * batch, .context = size.context, .seed = options.seed}),
        validation_(options, corpus) {
    if (!last) return;
    trainer_->load_tensors(last->file, {});
    batches_.resume(last->file.metadata<tw::data::TextBatchesState>("batches"));
    if (!options.curve.empty()) curve_ = LossCurve::read_csv(options.curve + ".csv", batches_.step());
    std::printf("Resuming after step %llu\n", static_cast<unsigned long long>(batches_.step()));
  }

  void run() {
    const auto steps = options_.steps, warm_up = std::min<std::uint64_t>(100, steps / 10);
    const tw::optim::WarmUp schedule{
        .steps = static_cast<std::int64_t>(warm_up),
        .after = tw::optim::CosineDecay{.peak = 1e-3, .end = 1e-4, .steps = static_cast<std::int64_t>(steps - warm_up)}};
    tw::train::ProgressBar bar(stderr, {.unit = "tokens", .per_batch = tokens_of_step, .before = batches_.step()});
    while (batches_.step() < steps) {
      const auto begin = std::chrono::steady_clock::now();
      const auto rate = static_cast<float>(schedule(static_cast<std::int64_t>(batches_.step())));
      const std::uint64_t before = batches_.step();
      loss_ = trainer_->run(batches_.next(), rate, before);
      seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      ++trained_;
      const std::uint64_t step = batches_.step();
      bar({.batch = step, .batches = steps, .loss = loss_});
      if (step % options_.eval_every == 0 || step == steps) report(step);
    }
    if (trained_ == 0) validation_loss_ = validation_.loss(*trainer_);
  }

  const Trainer& trainer() const { return *trainer_; }
  /// The validation loss of the last report.
  double validation_loss() const { return validation_loss_; }
  /// While it trained; 0 if it did not.
  double tokens_per_second() const { return trained_ == 0 ? 0 : tokens_of_step * static_cast<double>(trained_) / seconds_; }

 private:
  static constexpr double tokens_of_step = micro_batches * batch * size.context;

  /// Measures the validation loss, and writes what the options ask for.
  void report(std::uint64_t step) {
    validation_loss_ = validation_.loss(*trainer_);
    if (isatty(STDOUT_FILENO) == 1) std::printf("\r\033[K");  // over the progress bar
    std::printf("step %llu: training loss %.4f, validation loss %.4f\n", static_cast<unsigned long long>(step),
                static_cast<double>(loss_), validation_loss_);
    std::fflush(stdout);
    if (!options_.curve.empty()) {
      curve_.add({.step = step, .training = loss_, .validation = validation_loss_, .tokens_per_second = tokens_per_second()});
      curve_.write_csv(options_.curve + ".csv");
      LossChart(curve_).write(options_.curve + ".svg");
    }
    if (options_.checkpoint.empty()) return;
    tw::Metadata metadata;
    metadata.set("vocabulary", vocabulary_.hex());
    metadata.set("batches", batches_.state());
    tw::Checkpoints(options_.checkpoint).save(step, trainer_->host_tensors(), metadata);
  }

  const GptOptions& options_;
  tw::data::CharacterVocabulary vocabulary_;
  std::unique_ptr<Trainer> trainer_;
  tw::data::TextBatches batches_;
  Validation<size, batch> validation_;
  LossCurve curve_{};
  float loss_ = 0;  // of the last step
  double validation_loss_ = 0, seconds_ = 0;
  std::uint64_t trained_ = 0;  // steps of this process
};

/// Prints the prompt and what the model writes after it.
template <Size size>
void write_text(const GptOptions& options, const tw::data::CharacterVocabulary& vocabulary, const Trainer& trained) {
  tw::Session<generate_step<size>> session({.threads = options.threads});
  session.load_from_session(trained, {.allow_extra = true, .allow_missing = true});
  Writer<size> writer(session, {.temperature = options.temperature, .top_k = options.top_k, .seed = options.seed},
                      vocabulary.size());
  writer.read(vocabulary.encode(options.prompt));
  std::printf("%s", options.prompt.c_str());
  for (std::uint64_t i = 0; i < options.generate; ++i) std::putchar(vocabulary.decode(writer.write()));
  std::putchar('\n');
}

/// The whole program. `make_trainer` trains a network of `size`, on micro_batches x batch texts in a step; its variables are
/// float32, and the losses of validations and the text are computed in float32, whatever it computes in.
template <Size size, int batch, int micro_batches>
void train_and_write(const GptOptions& options, MakeTrainer make_trainer) {
  if (options.prompt.empty()) throw std::invalid_argument("--prompt: an empty text: at least one character expected");
  std::optional<tw::Checkpoint> last;
  std::optional<tw::data::CharacterVocabulary> vocabulary;
  if (!options.checkpoint.empty()) {
    const tw::Checkpoints checkpoints(options.checkpoint);
    if (options.resume) last = checkpoints.newest();
    else if (!checkpoints.steps().empty())
      throw std::runtime_error(options.checkpoint + " has checkpoints of another run: --resume, or another folder, expected");
  }
  if (last) vocabulary = tw::data::CharacterVocabulary::from_hex(last->file.metadata<std::string>("vocabulary"));
  const tw::data::TextCorpus corpus = load_corpus(options, vocabulary);
  if (corpus.vocabulary.size() > size.vocabulary)
    throw std::runtime_error("a text of " + std::to_string(corpus.vocabulary.size()) + " different characters: at most " +
                             std::to_string(size.vocabulary) + ", Size::vocabulary in the source, expected");
  Training<size, batch, micro_batches> training(options, make_trainer, corpus, last);
  training.run();
  if (options.generate > 0) write_text<size>(options, corpus.vocabulary, training.trainer());
  std::printf("validation loss %.4f after %llu steps, %.0f tokens/s\n", training.validation_loss(),
              static_cast<unsigned long long>(options.steps), training.tokens_per_second());
}

}  // namespace gpt
