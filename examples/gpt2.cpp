// GPT-2 of 124 million weights: trains for some steps, and goes on with a prompt. Weights come from Hugging Face's file
// model.safetensors, tokens from its vocab.json and merges.txt; without them both are random, and tokens are numbers.
//
// labels: more
// test: --steps 2 --generate 3 --prompt "464 2068" --threads 2
// expect: Tokens are numbers
// expect: Weights are random
// expect: It trains with random tokens
// expect-regex: ^step 1: loss 1[01]\.[0-9]{4}, [0-9]+ tokens/s$
// expect-regex: ^464 2068 [0-9]+ [0-9]+ [0-9]+ $
// expect-regex: ^3 tokens, [0-9.]+ tokens/s with those of the prompt$
// test: --help
// expect: --weights
#include "gpt/steps.hpp"
#include "gpt2/gpt2_124m.hpp"
#include "gpt2/training.hpp"

static void train_and_write(const Gpt2Options& options) {
  gpt2::train_and_write<size_124m, batch_124m, length_124m, prompt_length_124m>(options, make_trainer_124m);
}

int main(int argc, char** argv) { return run_gpt2_program(argc, argv, train_and_write); }
