/* Runs the library that tilewright_export made of adder.hpp, with a .safetensors file in constants. */
#include "adder.h"

static _Alignas(ADDER_ALIGNMENT) unsigned char memory[ADDER_BYTES];
static const struct {
  uint64_t length;
  char header[64];
  float scale;
} file = {64, "{\"scale\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}       ", 2};

int main(void) {
  const float x[3] = {1, 2, 3};
  float y[3] = {0};
  if (adder_init(memory, &file, sizeof file.length + sizeof file.header + sizeof file.scale, 1, NULL) != adder_done) return 1;
  for (int run = 0; run < 2; ++run)
    if (adder_run_add(memory, x, y, NULL) != adder_done) return 1;
  return !(y[0] == 4 && y[1] == 6 && y[2] == 8 && *adder_variable_count(memory) == 3 && adder_variable_scale(memory) == &file.scale);
}
