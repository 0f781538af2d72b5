#include "options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "../command_line.hpp"

namespace data = tilewright::data;

data::TextCorpus load_corpus(const GptOptions& options, std::optional<data::CharacterVocabulary> vocabulary) {
  constexpr std::size_t generated_bytes = 1'000'000;  // the same for all seeds of a run
  const data::TextCorpusOptions corpus_options{.limit = options.limit, .vocabulary = std::move(vocabulary)};
  if (options.data.empty()) {
    std::printf("This is a generated text: --data FILE reads another.\n");
    return data::split_text(data::generated_text(generated_bytes, 1), corpus_options);
  }
  data::TextCorpus corpus = data::load_text(options.data, corpus_options);
  std::printf("Text from %s: %zu characters, which are bytes, %d of them different\n", options.data.c_str(),
              corpus.training.size() + corpus.validation.size(), static_cast<int>(corpus.vocabulary.size()));
  return corpus;
}

int run_gpt_program(int argc, char** argv, const char* description, const std::function<void(const GptOptions&)>& program) {
  GptOptions options;
  // Numbers of unsigned options: CLI11 would take -1 for the largest one.
  constexpr std::int64_t most = 1'000'000'000'000;
  const CLI::Range from_zero(std::int64_t{0}, most), from_one(std::int64_t{1}, most);
  CLI::App app(description);
  app.add_option("--data", options.data, "Text to train on, plain or .gz; default: a generated text")->check(CLI::ExistingFile);
  app.add_option("--limit", options.limit, "Bytes of the text to read; 0: all")->capture_default_str()->check(from_zero);
  app.add_option("--steps", options.steps, "Total number of training steps, which also determines the learning-rate schedule")
      ->capture_default_str()
      ->check(from_zero);
  app.add_option("--seed", options.seed, "Seed of the initial weights, the batches and the generated tokens")
      ->capture_default_str()
      ->check(check_seed);
  app.add_option("--threads", options.threads, "Host threads; 0: find the fastest number")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  app.add_option("--dtype", options.dtype, "Dtype of the computation in training")
      ->capture_default_str()
      ->check(CLI::IsMember({"float16", "float32"}));
  CLI::Option* const checkpoint = app.add_option("--checkpoint", options.checkpoint, "Folder of the run's checkpoints");
  app.add_flag("--resume", options.resume,
               "Continue from the newest checkpoint, if there is one; requires the same text and seed")
      ->needs(checkpoint);
  app.add_option("--eval-every", options.eval_every, "Steps between validations, and between checkpoints")
      ->capture_default_str()
      ->check(from_one);
  app.add_option("--eval-batches", options.eval_batches, "Batches in a validation")->capture_default_str()->check(from_one);
  app.add_option("--curve", options.curve, "Write the losses to PREFIX.csv, and a chart to PREFIX.svg")->option_text("PREFIX");
  CLI::Option* const generate = app.add_option("--generate", options.generate, "Number of tokens to generate after training")
                                    ->capture_default_str()
                                    ->check(from_zero);
  app.add_option("--prompt", options.prompt, "Text that the generated tokens continue; default: a line feed")->needs(generate);
  app.add_option("--temperature", options.temperature,
                 "Divisor of the logits when a token is drawn; 0: always the most probable token")
      ->capture_default_str()
      ->check(check_temperature);
  app.add_option("--top-k", options.top_k, "Number of most probable tokens to draw from; 0: all")
      ->capture_default_str()
      ->check(from_zero);
  app.add_option("--top-p", options.top_p,
                 "Draw from the fewest most probable tokens that have this probability together; 1: all")
      ->capture_default_str()
      ->check(check_probability);
  CLI11_PARSE(app, argc, argv);
  return report_errors([&] { program(options); });
}
