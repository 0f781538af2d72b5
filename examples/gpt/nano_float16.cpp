#include "nano.hpp"
#include "session_trainer.hpp"

static constexpr gpt::Size nano_in_float16 = [] {
  gpt::Size size = nano;
  size.dtype = tilewright::float16;
  return size;
}();

std::unique_ptr<gpt::Trainer> make_nano_trainer_in_float16(std::uint64_t seed, int threads) {
  return gpt::make_trainer<nano_in_float16, nano_batch, nano_micro_batches>(seed, threads);
}
