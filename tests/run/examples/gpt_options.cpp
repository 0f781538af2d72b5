// labels: alone
// The command line of the programs of language models: examples/gpt/options.cpp.
#if __has_include(<CLI/CLI.hpp>)
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../../examples/gpt/options.cpp"
#include "../../catch.hpp"
#include "../../support/environment.hpp"

namespace {

/// What the arguments ask for, if they are right.
std::optional<GptOptions> parsed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "gpt");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  std::optional<GptOptions> result;
  const int status = run_gpt_program(static_cast<int>(pointers.size()), pointers.data(), "A test.",
                                     [&](const GptOptions& options) { result = options; });
  CHECK((status == 0) == result.has_value());
  return result;
}

}  // namespace

TEST_CASE("gpt options: what is not given has a default") {
  const GptOptions options = *parsed({});
  CHECK((options.data.empty() && options.checkpoint.empty() && options.curve.empty() && !options.resume));
  CHECK((options.steps == 2000 && options.generate == 0 && options.threads == 0 && options.dtype == "float32"));
}

TEST_CASE("gpt options: all that can be asked for") {
  const TemporaryFolder folder;
  const std::string path = (folder / "text.txt").string();
  std::ofstream(path) << "some text";
  const GptOptions options = *parsed({"--data",
                                      path,
                                      "--limit",
                                      "4",
                                      "--steps",
                                      "0",
                                      "--seed",
                                      "18446744073709551615",
                                      "--threads",
                                      "2",
                                      "--dtype",
                                      "float16",
                                      "--checkpoint",
                                      "run",
                                      "--resume",
                                      "--curve",
                                      "loss",
                                      "--generate",
                                      "9",
                                      "--prompt",
                                      "To be",
                                      "--temperature",
                                      "0",
                                      "--top-k",
                                      "40",
                                      "--top-p",
                                      "0.9",
                                      "--eval-every",
                                      "10",
                                      "--eval-batches",
                                      "3"});
  CHECK((options.data == path && options.limit == 4 && options.steps == 0 && options.seed == ~std::uint64_t{0}));
  CHECK((options.threads == 2 && options.dtype == "float16"));
  CHECK((options.checkpoint == "run" && options.resume && options.curve == "loss"));
  CHECK((options.generate == 9 && options.prompt == "To be" && options.temperature == 0 && options.top_k == 40 &&
         options.top_p == 0.9));
  CHECK((options.eval_every == 10 && options.eval_batches == 3));
  const data::TextCorpus corpus = load_corpus(options, data::CharacterVocabulary("emos"));
  CHECK(corpus.vocabulary.decode(corpus.training) + corpus.vocabulary.decode(corpus.validation) == "some");
}

TEST_CASE("gpt options: what cannot be asked for") {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--data", "no such file"},
                                                {"--steps", "-1"},
                                                {"--steps", "x"},
                                                {"--seed", "-1"},
                                                {"--seed", "18446744073709551616"},
                                                {"--seed", "1x"},
                                                {"--limit", "-1"},
                                                {"--threads", "-1"},
                                                {"--dtype", "float64"},
                                                {"--resume"},
                                                {"--prompt", "a"},
                                                {"--temperature", "-0.5"},
                                                {"--temperature", "nan"},
                                                {"--temperature", "1x"},
                                                {"--top-k", "-1"},
                                                {"--eval-every", "0"},
                                                {"--eval-batches", "0"},
                                                {"--curve"},
                                                {"more"}}) {
    INFO(wrong.front());
    CHECK_FALSE(parsed(wrong).has_value());
  }
}

TEST_CASE("gpt options: an exception of the program is an error") {
  char name[] = "gpt";
  char* arguments[] = {name};
  CHECK(run_gpt_program(1, arguments, "A test.", [](const GptOptions&) { throw std::runtime_error("no"); }) == 1);
}

TEST_CASE("gpt options: without a path the text is generated") {
  const data::TextCorpus corpus = load_corpus({.limit = 5000});
  CHECK((corpus.training.size() == 4500 && corpus.validation.size() == 500));
}
#endif
