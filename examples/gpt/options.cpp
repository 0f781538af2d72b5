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
  app.add_option("--data", options.data, "Text to train with, plain or .gz; without it one is generated")
      ->check(CLI::ExistingFile);
  app.add_option("--limit", options.limit, "Read this many bytes of the text only; 0 is all")
      ->capture_default_str()
      ->check(from_zero);
  app.add_option("--steps", options.steps, "Steps of training, in all; the learning rate's schedule is of all of them")
      ->capture_default_str()
      ->check(from_zero);
  app.add_option("--seed", options.seed, "Seed of the initial weights, of the batches and of the tokens that are drawn")
      ->capture_default_str()
      ->check(check_seed);
  app.add_option("--threads", options.threads, "Host threads; 0 finds the fastest number")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  app.add_option("--dtype", options.dtype, "What the network computes with in training")
      ->capture_default_str()
      ->check(CLI::IsMember({"float16", "float32"}));
  CLI::Option* const checkpoint = app.add_option("--checkpoint", options.checkpoint, "Folder of the run's checkpoints");
  app.add_flag("--resume", options.resume,
               "Go on from the newest checkpoint, if there is one, on the same text and with the same seed")
      ->needs(checkpoint);
  app.add_option("--eval-every", options.eval_every, "Steps from one validation, and one checkpoint, to the next")
      ->capture_default_str()
      ->check(from_one);
  app.add_option("--eval-batches", options.eval_batches, "Batches of a validation")->capture_default_str()->check(from_one);
  app.add_option("--curve", options.curve, "Write the losses to PREFIX.csv and, as a chart, to PREFIX.svg")
      ->option_text("PREFIX");
  CLI::Option* const generate = app.add_option("--generate", options.generate, "Write this many tokens after training")
                                    ->capture_default_str()
                                    ->check(from_zero);
  app.add_option("--prompt", options.prompt, "What they follow; a line feed without it")->needs(generate);
  app.add_option("--temperature", options.temperature,
                 "What logits are divided by before a token is drawn; 0: the likeliest token")
      ->capture_default_str()
      ->check(check_temperature);
  app.add_option("--top-k", options.top_k, "Draw from this many of the likeliest tokens; 0 is all")
      ->capture_default_str()
      ->check(from_zero);
  CLI11_PARSE(app, argc, argv);
  return report_errors([&] { program(options); });
}
