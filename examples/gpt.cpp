// Trains a GPT of 0.8 million weights on the characters of a text, and goes on with a prompt: nanoGPT's setting for a CPU.
//
// test: --steps 60 --eval-every 30 --eval-batches 2 --threads 1 --generate 100 --prompt "The " --curve curve --checkpoint run
// expect: This is a generated text
// expect-regex: ^step 30: training loss [0-9.]+, validation loss [0-9.]+$
// expect-regex: ^The [A-Za-z ]+
// expect-regex: ^validation loss 2\.[0-9]{4} after 60 steps, [0-9]+ tokens/s$
// test: --data $TILEWRIGHT_TEXT --steps 200 --eval-batches 10 --threads 1
// test-needs: TILEWRIGHT_TEXT
// expect: Text from
// expect-regex: ^validation loss 2\.[345][0-9]{3} after 200 steps
// test: --help
// expect: --temperature
#include "gpt/steps.hpp"
#include "gpt/training.hpp"

/// Texts of up to 128 different characters; 4 blocks of 4 heads.
constexpr gpt::Size nano{.vocabulary = 128, .context = 64, .layers = 4, .heads = 4, .width = 128, .bias = false};

int main(int argc, char** argv) {
  return run_gpt_program(argc, argv, "Trains a GPT on the characters of a text, and goes on with a prompt.",
                         gpt::train_and_write<nano, 12>);
}
