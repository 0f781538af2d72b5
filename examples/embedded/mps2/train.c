/* Trains the network of digits.hpp on a Cortex-M and tests it, in 200 kB of memory. See docs/how-to/microcontrollers.md. */
#include <string.h>

#include "digits.h"
#include "start.h"

#ifndef STEPS
#define STEPS 1000
#endif
int32_t draw_digit(uint64_t seed, uint8_t* pixels);

static _Alignas(DIGITS_ALIGNMENT) unsigned char net[DIGITS_BYTES];
static float images[8 * 784];
static int32_t labels[8];

static int32_t draw(uint64_t seed, float* image) {
  uint8_t pixels[784];
  const int32_t digit = draw_digit(seed, pixels);
  for (int i = 0; i < 784; ++i) image[i] = ((float)pixels[i] / 255.0f - 0.1307f) / 0.3081f;
  return digit;
}
static void write_number(const char* before, int number, const char* after) {
  char digits[12], *first = digits + sizeof digits - 1;
  *first = 0;
  do *--first = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  write_text(before), write_text(first), write_text(after);
}
static void test(int step) {
  float logits[10];
  int right = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const int32_t digit = draw(seed, images);
    digits_run_test_step(net, images, logits, NULL);
    int best = 0;
    for (int i = 1; i < 10; ++i)
      if (logits[i] > logits[best]) best = i;
    right += best == digit;
  }
  write_number("step ", step, ": "), write_number("", right, " of 200 digits are right\n");
}

int main(void) {
  uint64_t seed = 1000;
  digits_init(net, 1, NULL);
  for (int step = 0; step < STEPS; ++step) {
    if (step % 250 == 0) test(step);
    for (int i = 0; i < 8; ++i) labels[i] = draw(seed++, images + i * 784);
    float loss;
    digits_run_train_step(net, images, labels, &loss, NULL);
  }
  test(STEPS);
  uint32_t hash = 2166136261u; /* FNV-1a of the bits of all variables */
  for (size_t v = 0; v < digits_count_of_variables; ++v) {
    size_t bytes = 4;
    for (int axis = 0; axis < digits_variables[v].rank; ++axis) bytes *= (size_t)digits_variables[v].shape[axis];
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ net[digits_variables[v].offset + i]) * 16777619u;
  }
  char text[10] = "";
  for (int i = 0; i < 8; ++i) text[i] = "0123456789abcdef"[hash >> (28 - 4 * i) & 15];
  text[8] = '\n';
  write_text(text);
  return 0;
}
