#include "../gpt/session_trainer.hpp"
#include "gpt2_124m.hpp"

std::unique_ptr<gpt::Trainer> make_trainer_124m(std::uint64_t seed, int threads) {
  return gpt::make_trainer<size_124m, batch_124m, 1, length_124m>(seed, threads);
}
