// Trains a GPT of 0.8 million weights on the characters of a text, and goes on with a prompt: nanoGPT's setting for a CPU.
//
// labels: none
// test: --steps 60 --eval-every 30 --eval-batches 2 --threads 1 --generate 100 --prompt "The " --curve curve --checkpoint run
// expect: This is a generated text
// expect-regex: ^step 30: training loss [0-9.]+, validation loss [0-9.]+$
// expect-regex: ^The [A-Za-z ]+
// expect-regex: ^validation loss 2\.[0-9]{4} after 60 steps, [0-9]+ tokens/s$
// test: --data $TILEWRIGHT_TEXT --steps 200 --eval-batches 10 --threads 1
// test-needs: TILEWRIGHT_TEXT
// expect: Text from
// expect-regex: ^validation loss 2\.[345][0-9]{3} after 200 steps
// test: --dtype float16 --steps 60 --eval-every 60 --eval-batches 2 --threads 1
// expect-regex: ^validation loss 2\.[0-9]{4} after 60 steps, [0-9]+ tokens/s$
// test: --help
// expect: --temperature
#include "gpt/nano.hpp"
#include "gpt/session_trainer.hpp"
#include "gpt/training.hpp"

static void train_and_write(const GptOptions& options) {
  constexpr gpt::MakeTrainer in_float32 = gpt::make_trainer<nano, nano_batch, nano_micro_batches>;
  gpt::train_and_write<nano, nano_batch, nano_micro_batches>(
      options, options.dtype == "float16" ? make_nano_trainer_in_float16 : in_float32);
}

int main(int argc, char** argv) {
  return run_gpt_program(argc, argv, "Trains a GPT on the characters of a text, then continues a prompt.", train_and_write);
}
