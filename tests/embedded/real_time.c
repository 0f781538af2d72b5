/* Runs networks on numbers of one kind: real_time KIND. Lines on standard error say when the runs begin and end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "signal_nets.h"

static _Alignas(SIGNAL_NETS_ALIGNMENT) unsigned char net[SIGNAL_NETS_BYTES];
static float x[784], y[64 * 64];

static float number(const char* kind, uint64_t* state) {
  if (!strcmp(kind, "zeros")) return 0;
  if (!strcmp(kind, "NaN")) return NAN;
  if (!strcmp(kind, "infinities")) return INFINITY;
  if (!strcmp(kind, "denormals")) return 1e-40f;
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)(*state >> 40) / (1 << 22) - 2;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  uint64_t state = (uint64_t)strtoull(arguments[1], NULL, 10);
  for (int i = 0; i < 784; ++i) x[i] = number(arguments[1], &state);
  int result = signal_nets_init(net, 1, NULL);
  if (write(2, "begin\n", 6) != 6) return 1;
  for (int i = 0; i < 10; ++i) {
    result |= signal_nets_run_perceptron(net, x, y, NULL);
    result |= signal_nets_run_gru(net, x, y, NULL);
    result |= signal_nets_run_dilated(net, x, y, NULL);
  }
  if (write(2, "end\n", 4) != 4) return 1;
  return result;
}
