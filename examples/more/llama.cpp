// Llama as Hugging Face publishes it: loads config.json and .safetensors files from a folder, and continues a prompt. The prompt
// is read in one pass, which fills a cache of keys and values; after it, each step reads one token. The default folder has a tiny
// model of random weights, which tests/reference/make_llama.py made, and whose tokens PyTorch finds, too. For another model,
// change `config`: the program says what differs from the folder's config.json. Tokens are numbers.
//
// labels: more
// test:
// expect: 1 17 4 80 33 5 61 9 | 30 16 17 94 41 59 47 36 49 63 25 57 76 61 49 9 75 70 86 80 85 40 82 70
// expect: 75 70 86 80 85 40 82 70 35 66 69 25 39 64 64 49 6 42 42 42 65 55 2 90 25 6 42 40 89 8 16 80
// test: --temperature 0.8 --top-p 0.9 --seed 3 --new-tokens 12 --prompt 1 17 4
// expect-regex: ^1 17 4 \|( [0-9]+){12}$
// test: --stop 59 --stop 2
// expect-regex: ^1 17 4 80 33 5 61 9 \| 30 16 17 94 41 59$
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/generate/new_tokens.hpp>
#include <tilewright/layers/llama_model.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

#include "../command_line.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor, tw::layers::Llama;

constexpr tw::layers::LlamaConfig config{.vocab_size = 96,
                                         .hidden_size = 32,
                                         .intermediate_size = 48,
                                         .num_hidden_layers = 2,
                                         .num_attention_heads = 4,
                                         .num_key_value_heads = 2,
                                         .rms_norm_eps = 1e-5,
                                         .rope_theta = 50000,
                                         .cache_length = 64,
                                         .dtype = tw::float32};
constexpr std::size_t longest_prompt = 16;

/// Logits of the next token. A run reads a prompt, whose last token is at `position`, or one token at `position`.
constexpr void generate(tw::Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const Tensor tokens = ops::host_load(ir.h2d_stream("tokens", {1, longest_prompt}, tw::int32));
  const Tensor position = ops::host_load(ir.h2d_stream("position", {1}, tw::int32));
  const Tensor is_prompt = ops::host_load(ir.h2d_stream("is_prompt", {}, tw::boolean));
  const Tensor token = tokens[{tw::all, tw::slice(0, 1)}];
  const auto [factories, step] = tw::create_graph(ir, Llama<config>{}, token, position);
  const auto prompt = tw::create_graph(ir, Llama<config>{}, tokens, position).graph;
  const auto variables = factories.init();
  const Tensor logits = tw::conditional(is_prompt, prompt.bind(variables).branch({tokens, position}),
                                        step.bind(variables).branch({token, position}))[0];
  ops::host_store(ir.d2h_stream("logits", {config.vocab_size}), logits.reshape({-1}));
}

struct Options {
  std::string folder = (std::filesystem::path(__FILE__).parent_path() / "../../tests/reference/llama").string();
  std::vector<std::int32_t> prompt{1, 17, 4, 80, 33, 5, 61, 9};
  tw::generate::GenerateOptions generation{.max_new_tokens = 48, .sampler = {.temperature = 0}};
};

void write_text(const Options& options) {
  const std::size_t length = options.prompt.size() + options.generation.max_new_tokens;
  if (options.prompt.size() > longest_prompt || length > std::size_t{config.cache_length})
    throw std::invalid_argument("a prompt of " + std::to_string(options.prompt.size()) + " tokens and a text of " +
                                std::to_string(length) + ": at most " + std::to_string(longest_prompt) + " and " +
                                std::to_string(config.cache_length) + " expected");
  tw::Session<generate> session;
  session.load_tensors(tw::hugging_face_llama(options.folder, config), {.allow_missing = {"*.cache.*"}});

  xt::xtensor<std::int32_t, 2> tokens = xt::zeros<std::int32_t>({std::size_t{1}, longest_prompt});
  xt::xtensor<std::int32_t, 1> position{-1};  // of the last token that was read
  const auto next_logits = [&](std::span<const std::int32_t> unread) {
    const bool is_prompt = position(0) < 0;
    std::ranges::copy(unread, tokens.begin());
    position(0) += static_cast<std::int32_t>(unread.size());
    const auto logits = session.run("tokens"_s = tokens, "position"_s = position, "is_prompt"_s = is_prompt)["logits"_s];
    return std::span<const float>(logits.data(), logits.size());
  };
  for (const std::int32_t token : options.prompt) std::printf("%d ", token);
  std::printf("|");
  tw::generate::new_tokens(options.prompt, next_logits, options.generation,
                           [](std::int32_t token) { std::printf(" %d", token); });
  std::printf("\n");
}

int main(int argc, char** argv) {
  Options options;
  auto& [count, stops, sampler] = options.generation;
  CLI::App app("Continues a prompt by a Llama.");
  app.add_option("--folder", options.folder, "Folder with config.json and .safetensors files")->check(CLI::ExistingDirectory);
  app.add_option("--prompt", options.prompt, "Tokens to continue")->check(CLI::Range(0, config.vocab_size - 1));
  app.add_option("--new-tokens", count, "Largest number of new tokens")->check(CLI::Range(0, config.cache_length));
  app.add_option("--stop", stops, "Tokens that end the text");
  app.add_option("--temperature", sampler.temperature, "0: always the most probable token")->check(check_temperature);
  app.add_option("--top-k", sampler.top_k, "Number of tokens to draw from; 0: all")->check(CLI::Range(0, config.vocab_size));
  app.add_option("--top-p", sampler.top_p, "Probability of the tokens to draw from; 1: all")->check(check_probability);
  app.add_option("--seed", sampler.seed, "Seed of the tokens that are drawn")->check(check_seed);
  CLI11_PARSE(app, argc, argv);
  return report_errors([&] { write_text(options); });
}
