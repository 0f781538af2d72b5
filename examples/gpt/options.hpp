#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tilewright/data/text.hpp>

/// What the programs of language models can be asked on the command line.
struct GptOptions {
  std::string data{};  ///< path of a text; "": a generated one
  std::uint64_t limit = 0;  ///< bytes of the text that are read; 0: all
  std::uint64_t steps = 2000;
  std::uint64_t seed = 1;
  int threads = 0;
  std::string dtype = "float32";  ///< that the network is trained in: float32 or float16
  std::string checkpoint{};  ///< folder; "": no checkpoints
  bool resume = false;
  std::uint64_t eval_every = 250;  ///< steps from one validation to the next
  std::uint64_t eval_batches = 20;  ///< batches of a validation
  std::string curve{};              ///< path, without ending, of the loss curve's files; "": none
  std::uint64_t generate = 0;       ///< tokens to write after training; 0: none
  std::string prompt = "\n";        ///< what they follow
  double temperature = 0.8;         ///< 0: the likeliest token
  std::size_t top_k = 0;            ///< how many of the likeliest tokens are drawn from; 0: all
  double top_p = 1;                 ///< probability that the likeliest tokens have together, of which one is drawn; 1: all
};

/// The text that was asked for, with the vocabulary of a model that exists already, if it is given; says on screen which one it
/// is.
tilewright::data::TextCorpus load_corpus(const GptOptions& options,
                                         std::optional<tilewright::data::CharacterVocabulary> vocabulary = std::nullopt);

/// Reads the options, runs the program with them, and reports errors in one line. The exit status.
int run_gpt_program(int argc, char** argv, const char* description, const std::function<void(const GptOptions&)>& program);
