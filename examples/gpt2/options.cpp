#include "options.hpp"

#include <CLI/CLI.hpp>

#include "../command_line.hpp"

int run_gpt2_program(int argc, char** argv, const std::function<void(const Gpt2Options&)>& program) {
  Gpt2Options options;
  const CLI::Range counts(std::int64_t{0}, std::int64_t{1'000'000'000});  // CLI11 would take -1 for the largest number
  CLI::App app("Trains GPT-2 with 124 million weights for some steps, then continues a prompt.");
  app.add_option("--weights", options.weights, ".safetensors file with Hugging Face's names; default: random weights")
      ->check(CLI::ExistingFile);
  CLI::Option* const vocabulary =
      app.add_option("--vocab", options.vocabulary, "File vocab.json; default: tokens are numbers")->check(CLI::ExistingFile);
  CLI::Option* const merges =
      app.add_option("--merges", options.merges, "File merges.txt")->check(CLI::ExistingFile)->needs(vocabulary);
  vocabulary->needs(merges);
  app.add_option("--data", options.data, "Text to train on; default: random tokens")->check(CLI::ExistingFile)->needs(vocabulary);
  app.add_option("--steps", options.steps, "Training steps before the generation")->capture_default_str()->check(counts);
  app.add_option("--rate", options.rate, "Learning rate")->capture_default_str()->check(check_rate);
  app.add_option("--generate", options.generate, "Number of tokens to generate")->capture_default_str()->check(counts);
  app.add_option("--prompt", options.prompt, "Text to continue; without a vocabulary, numbers separated by spaces");
  app.add_option("--temperature", options.temperature,
                 "Divisor of the logits when a token is drawn; 0: always the most probable token")
      ->capture_default_str()
      ->check(check_temperature);
  app.add_option("--top-k", options.top_k, "Number of most probable tokens to draw from; 0: all")
      ->capture_default_str()
      ->check(counts);
  app.add_option("--top-p", options.top_p,
                 "Draw from the fewest most probable tokens that have this probability together; 1: all")
      ->capture_default_str()
      ->check(check_probability);
  app.add_option("--seed", options.seed, "Seed of random weights and tokens")->capture_default_str()->check(check_seed);
  app.add_option("--threads", options.threads, "Host threads; 0: find the fastest number")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  CLI11_PARSE(app, argc, argv);
  return report_errors([&] { program(options); });
}
