#pragma once
// The host's part of training a language model: data, validation, loss curve, checkpoints.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/profile/log_chart.hpp>
#include <tilewright/train/log.hpp>
#include <tilewright/train/progress_bar.hpp>
#include <utility>
#include <vector>

#include "interruption.hpp"
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
        checksum_(checksum_of(corpus.training)),
        trainer_(make_trainer(options.seed, options.threads)),
        batches_(corpus.training, {.batch_size = micro_batches * batch, .context = size.context, .seed = options.seed}),
        validation_(options, corpus) {
    if (!last) return;
    // a run that computed in the other dtype has the same variables but for those of loss scaling
    trainer_->load_tensors(last->file, {.allow_extra = of_loss_scaling, .allow_missing = of_loss_scaling});
    batches_.resume(state_of(*last, options));
    if (!options.curve.empty()) log_ = tw::train::Log::read(options.curve + ".csv", log_.columns(), batches_.step());
    std::printf("Resuming after step %llu\n", static_cast<unsigned long long>(batches_.step()));
  }

  /// Trains, up to the last step or a signal, which it returns; 0: none.
  int run() {
    const Interruption interruption;
    const auto steps = options_.steps, warm_up = std::min<std::uint64_t>(100, steps / 10);
    const tw::optim::WarmUp schedule{
        .steps = static_cast<std::int64_t>(warm_up),
        .after = tw::optim::CosineDecay{.peak = 1e-3, .end = 1e-4, .steps = static_cast<std::int64_t>(steps - warm_up)}};
    tw::train::ProgressBar bar(stderr, {.unit = "tokens", .per_batch = tokens_of_step, .before = batches_.step()});
    require_writable();
    while (batches_.step() < steps && interruption.signal() == 0) {
      const auto begin = std::chrono::steady_clock::now();
      const auto rate = static_cast<float>(schedule(static_cast<std::int64_t>(batches_.step())));
      const std::uint64_t before = batches_.step();
      loss_ = trainer_->run(batches_.next(), rate, before);
      seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      ++trained_;
      const std::uint64_t step = batches_.step();
      bar({.batch = step, .batches = steps, .loss = loss_});
      if (step % options_.eval_every == 0 || step == steps || interruption.signal() != 0) report(step);
    }
    if (trained_ == 0) validation_loss_ = validation_.loss(*trainer_);
    return interruption.signal();
  }

  const Trainer& trainer() const { return *trainer_; }
  /// The number of steps so far, those before this process included.
  std::uint64_t step() const { return batches_.step(); }
  /// The validation loss of the last report.
  double validation_loss() const { return validation_loss_; }
  /// While it trained; 0 if it did not.
  double tokens_per_second() const { return trained_ == 0 ? 0 : tokens_of_step * static_cast<double>(trained_) / seconds_; }

 private:
  static constexpr double tokens_of_step = micro_batches * batch * size.context;
  // Columns of the log.
  static constexpr auto training_loss = "training_loss", validation_loss_name = "validation_loss", speed = "tokens_per_second";

  static std::uint32_t checksum_of(const std::vector<std::int32_t>& tokens) {
    const auto bytes = std::as_bytes(std::span(tokens));
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  }

  /// Where the run of a checkpoint was. Throws std::runtime_error if the options are not those of this run.
  tw::data::TextBatchesState state_of(const tw::Checkpoint& last, const GptOptions& options) const {
    const auto state = last.file.metadata<tw::data::TextBatchesState>("batches");
    const auto fail = [&](const std::string& found, const std::string& expected) {
      throw std::runtime_error(found + ": " + expected + ", as the run in " + options.checkpoint + ", expected");
    };
    if (last.file.metadata<std::uint32_t>("text") != checksum_)
      fail(options.data.empty() ? "the generated text" : "--data " + options.data, "the same text");
    if (state.seed != options.seed) fail("--seed " + std::to_string(options.seed), std::to_string(state.seed));
    if (state.step > options.steps)
      fail("--steps " + std::to_string(options.steps), "at least " + std::to_string(state.step) + " steps");
    return state;
  }
  /// Throws what the first report would throw, if a folder or a file cannot be written.
  void require_writable() const {
    if (!options_.curve.empty()) log_.write_csv(options_.curve + ".csv");
    if (options_.checkpoint.empty()) return;
    tw::create_folder_durably(options_.checkpoint);
    if (access(options_.checkpoint.c_str(), W_OK | X_OK) != 0)
      throw std::runtime_error("--checkpoint " + options_.checkpoint + ": no file can be made in it: a writable folder expected");
  }
  /// Measures the validation loss, and writes what the options ask for.
  void report(std::uint64_t step) {
    validation_loss_ = validation_.loss(*trainer_);
    if (isatty(STDOUT_FILENO) == 1) std::printf("\r\033[K");  // over the progress bar
    std::printf("step %llu: training loss %.4f, validation loss %.4f\n", static_cast<unsigned long long>(step),
                static_cast<double>(loss_), validation_loss_);
    std::fflush(stdout);
    if (!options_.curve.empty()) {
      log_.add(step, {{training_loss, loss_}, {validation_loss_name, validation_loss_}, {speed, tokens_per_second()}});
      log_.write_csv(options_.curve + ".csv");
      tw::LogChart(log_, {training_loss, validation_loss_name}).write(options_.curve + ".svg");
    }
    if (options_.checkpoint.empty()) return;
    tw::Metadata metadata;
    metadata.set("vocabulary", vocabulary_.hex());
    metadata.set("batches", batches_.state());
    metadata.set("text", checksum_);
    tw::Checkpoints(options_.checkpoint).save(step, trainer_->host_tensors(), metadata);
  }

  const GptOptions& options_;
  tw::data::CharacterVocabulary vocabulary_;
  std::uint32_t checksum_;  // of the text
  std::unique_ptr<Trainer> trainer_;
  tw::data::TextBatches batches_;
  Validation<size, batch> validation_;
  tw::train::Log log_{{training_loss, validation_loss_name, speed}};
  float loss_ = 0;  // of the last step
  double validation_loss_ = 0, seconds_ = 0;
  std::uint64_t trained_ = 0;  // steps of this process
};

/// Prints the prompt and what the model writes after it.
template <Size size>
void write_text(const GptOptions& options, const std::vector<std::int32_t>& prompt,
                const tw::data::CharacterVocabulary& vocabulary, const Trainer& trained) {
  tw::Session<generate_step<size>> session({.threads = options.threads});
  session.load_from_session(trained, {.allow_extra = no_weights, .allow_missing = no_weights});
  Writer<size> writer(session,
                      {.temperature = options.temperature, .top_k = options.top_k, .top_p = options.top_p, .seed = options.seed},
                      vocabulary.size());
  writer.read(prompt);
  std::printf("%s", options.prompt.c_str());
  for (std::uint64_t i = 0; i < options.generate; ++i) std::putchar(vocabulary.decode(writer.write()));
  std::putchar('\n');
}

/// The text to train with and to validate with. Throws std::runtime_error for one that the model cannot read.
template <Size size>
tw::data::TextCorpus load_corpus_for(const GptOptions& options, std::optional<tw::data::CharacterVocabulary> vocabulary) {
  tw::data::TextCorpus corpus = load_corpus(options, std::move(vocabulary));
  if (corpus.vocabulary.size() > size.vocabulary)
    throw std::runtime_error("a text of " + std::to_string(corpus.vocabulary.size()) + " different characters: at most " +
                             std::to_string(size.vocabulary) + ", Size::vocabulary in the source, expected");
  if (corpus.validation.size() <= static_cast<std::size_t>(size.context))
    throw std::runtime_error("a text of " + std::to_string(corpus.training.size() + corpus.validation.size()) +
                             " characters, of which the last " + std::to_string(corpus.validation.size()) +
                             " are to validate with: more than " + std::to_string(size.context) +
                             " of these, a context, expected");
  return corpus;
}

/// The whole program. `make_trainer` trains a network of `size`, on micro_batches x batch texts in a step; its variables are
/// float32, and the losses of validations and the text are computed in float32, whatever it computes in. SIGINT, SIGTERM and
/// SIGHUP end it after a step, as its last step does.
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
  const tw::data::TextCorpus corpus = load_corpus_for<size>(options, vocabulary);
  const std::vector<std::int32_t> prompt = options.generate > 0 ? corpus.vocabulary.encode(options.prompt)
                                                                : std::vector<std::int32_t>{};
  int signal = 0;
  {
    Training<size, batch, micro_batches> training(options, make_trainer, corpus, last);
    signal = training.run();
    if (options.generate > 0 && signal == 0) write_text<size>(options, prompt, corpus.vocabulary, training.trainer());
    std::printf("validation loss %.4f after %llu steps, %.0f tokens/s\n", training.validation_loss(),
                static_cast<unsigned long long>(training.step()), training.tokens_per_second());
    std::fflush(stdout);
  }
  if (signal != 0) std::raise(signal);  // so that the shell knows
}

}  // namespace gpt
