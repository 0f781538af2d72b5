/* Runs the library that tilewright_export made of adder.hpp. */
#include "adder.h"

static _Alignas(ADDER_ALIGNMENT) unsigned char memory[ADDER_BYTES];

int main(void) {
  const float x[3] = {1, 2, 3};
  float y[3] = {0};
  if (adder_init(memory, 1, NULL) != adder_done) return 1;
  for (int run = 0; run < 2; ++run)
    if (adder_run_add(memory, x, y, NULL) != adder_done) return 1;
  return !(y[0] == 3 && y[1] == 4 && y[2] == 5 && *adder_variable_count(memory) == 3);
}
