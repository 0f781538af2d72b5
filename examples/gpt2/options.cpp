#include "options.hpp"

#include <CLI/CLI.hpp>

#include "../command_line.hpp"

int run_gpt2_program(int argc, char** argv, const std::function<void(const Gpt2Options&)>& program) {
  Gpt2Options options;
  const CLI::Range counts(std::int64_t{0}, std::int64_t{1'000'000'000});  // CLI11 would take -1 for the largest number
  CLI::App app("Trains GPT-2 of 124 million weights for some steps, and goes on with a prompt.");
  app.add_option("--weights", options.weights, ".safetensors file with Hugging Face's names; without it weights are random")
      ->check(CLI::ExistingFile);
  CLI::Option* const vocabulary =
      app.add_option("--vocab", options.vocabulary, "vocab.json; without it tokens are numbers")->check(CLI::ExistingFile);
  CLI::Option* const merges =
      app.add_option("--merges", options.merges, "merges.txt")->check(CLI::ExistingFile)->needs(vocabulary);
  vocabulary->needs(merges);
  app.add_option("--data", options.data, "Text to train with; without it tokens are random")
      ->check(CLI::ExistingFile)
      ->needs(vocabulary);
  app.add_option("--steps", options.steps, "Steps of training before it writes")->capture_default_str()->check(counts);
  app.add_option("--rate", options.rate, "Learning rate")->capture_default_str()->check(check_rate);
  app.add_option("--generate", options.generate, "Write this many tokens")->capture_default_str()->check(counts);
  app.add_option("--prompt", options.prompt, "What they follow: a text, or numbers with spaces between them");
  app.add_option("--temperature", options.temperature,
                 "What logits are divided by before a token is drawn; 0: the likeliest token")
      ->capture_default_str()
      ->check(check_temperature);
  app.add_option("--top-k", options.top_k, "Draw from this many of the likeliest tokens; 0 is all")
      ->capture_default_str()
      ->check(counts);
  app.add_option("--seed", options.seed, "Seed of random weights and tokens")->capture_default_str()->check(check_seed);
  app.add_option("--threads", options.threads, "Host threads; 0 finds the fastest number")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  CLI11_PARSE(app, argc, argv);
  return report_errors([&] { program(options); });
}
