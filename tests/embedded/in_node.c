/* Trains the networks of for_node.hpp as in_node.mjs does, and prints losses and a hash of the bits of all variables. */
#include <stdio.h>

#include "host.h"

static _Alignas(HOST_ALIGNMENT) unsigned char net[HOST_BYTES];
static float digits[8 * 28 * 28], images[4 * 12 * 12];
static int32_t digit_labels[8], image_labels[4];
static int64_t state = 1;

static double next(void) { return (double)(state = state * 48271 % 2147483647) / 2147483647; }
static void fill(float* x, int32_t* labels, int size, int count, int classes) {
  for (int i = 0; i < size * count; ++i) x[i] = (float)next();
  for (int i = 0; i < count; ++i) labels[i] = (int32_t)(next() * classes);
}

int main(void) {
  float loss = 0, logits[10];
  host_init(net, 1, NULL);
  for (int step = 0; step < 200; ++step) {
    fill(digits, digit_labels, 28 * 28, 8, 10);
    host_run_train_step(net, digits, digit_labels, &loss, NULL);
  }
  printf("%.9g\n", loss);
  for (int step = 0; step < 20; ++step) {
    fill(images, image_labels, 12 * 12, 4, 4);
    host_run_images_step(net, images, image_labels, &loss, NULL);
  }
  printf("%.9g\n", loss);
  host_run_infer(net, digits, logits, NULL);
  printf("%.9g\n", logits[9]);
  uint32_t hash = 2166136261u;  /* FNV-1a */
  for (size_t v = 0; v < host_count_of_variables; ++v) {
    size_t bytes = 4;
    for (int axis = 0; axis < host_variables[v].rank; ++axis) bytes *= (size_t)host_variables[v].shape[axis];
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ net[host_variables[v].offset + i]) * 16777619u;
  }
  printf("%08x\n", hash);
  return 0;
}
