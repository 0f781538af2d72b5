#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

/// What the program of GPT-2 can be asked on the command line.
struct Gpt2Options {
  std::string weights{};  ///< path of a .safetensors file with Hugging Face's names; "": random weights
  std::string vocabulary{}, merges{};  ///< paths of vocab.json and merges.txt; "": tokens are read and written as numbers
  std::string data{};                  ///< path of a text to train with; "": random tokens
  std::uint64_t steps = 0;             ///< of training, before it writes
  double rate = 3e-5;                  ///< learning rate
  std::uint64_t generate = 20;         ///< tokens to write
  std::string prompt{};                ///< what they follow: a text, or numbers; "": the token that ends a text
  double temperature = 0.8;            ///< 0: the likeliest token
  std::size_t top_k = 40;              ///< how many of the likeliest tokens are drawn from; 0: all
  double top_p = 1;                    ///< probability that the likeliest tokens have together, of which one is drawn; 1: all
  std::uint64_t seed = 1;
  int threads = 0;
};

/// Reads the options, runs the program with them, and reports errors in one line. The exit status.
int run_gpt2_program(int argc, char** argv, const std::function<void(const Gpt2Options&)>& program);
