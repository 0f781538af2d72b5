/* Trains a network of a C library: for each line N of its input N steps, then it prints the least nanoseconds of one, and the last
   loss. CLASSES, INPUTS and ARGUMENTS are those of browser.py. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host.h"

static _Alignas(HOST_ALIGNMENT) unsigned char net[HOST_BYTES];
static _Alignas(64) unsigned char space[1 << 20];
static size_t used;
static int64_t state = 1;

static double next(void) { return (double)(state = state * 48271 % 2147483647) / 2147483647; }
static void* take(size_t bytes) {
  void* place = space + used;
  used += (bytes + 63) / 64 * 64;
  return place;
}
static const float* floats(int size) {
  float* x = take(sizeof(float) * (size_t)size);
  for (int i = 0; i < size; ++i) x[i] = size == 1 ? 1e-3f : (float)next();
  return x;
}
/* Small numbers more often than large ones, which a network can learn. */
static const int32_t* ints(int size) {
  int32_t* x = take(sizeof(int32_t) * (size_t)size);
  for (int i = 0; i < size; ++i) {
    const double part = next();
    x[i] = (int32_t)(part * part * part * part * CLASSES);
  }
  return x;
}
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(void) {
  int count;
  float loss = 0;
  host_init(net, 1, NULL);
  while (scanf("%d", &count) == 1) {
    double best = 1e30;
    for (int step = 0; step < count; ++step) {
      used = 0;
      INPUTS;
      const double begin = now();
      host_run_train_step(net, ARGUMENTS, &loss, NULL);
      const double time = now() - begin;
      if (time < best) best = time;
    }
    printf("%.0f %.9g\n", best, loss);
    fflush(stdout);
  }
  return 0;
}
