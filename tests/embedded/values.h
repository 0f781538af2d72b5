/* What programs in C and in C++ give a network, and what they print of its memory. */
#ifndef VALUES_H
#define VALUES_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { batch = 8, pixels = 28 * 28, steps = 20 };
static float images[batch][28][28];
static int32_t labels[batch];

static void draw_batch(void) {
  static uint64_t state = 1;
  for (int b = 0; b < batch; ++b) {
    for (int i = 0; i < pixels; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      images[b][i / 28][i % 28] = (float)(state >> 40) / (1 << 24);
    }
    labels[b] = (int32_t)(state >> 33) % 10;
  }
}
/* A line of a name and the hash of its bytes (FNV-1a). */
static void print_bytes(const char* name, const void* memory, size_t size) {
  const unsigned char* bytes = (const unsigned char*)memory;
  uint64_t hash = 1469598103934665603u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  printf("%s %016llx\n", name, (unsigned long long)hash);
}
#endif
