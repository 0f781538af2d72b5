/* Trains a network on digits of a file, on a Cortex-M or the host, and tests it. See docs/how-to/microcontrollers.md. */
#include "digits.h"
#include "start.h"

#ifndef FIRST /* a number of steps that are done, in digits.safetensors */
#define FIRST 0
#endif
#ifndef STEPS
#define STEPS 1000
#endif
enum { pixels = 28 * 28, batch = 8, tests = 200 };

static _Alignas(DIGITS_ALIGNMENT) unsigned char net[DIGITS_BYTES];
static unsigned char checkpoint[DIGITS_FILE_BYTES];
static float images[batch * pixels];

/* Reads the next digit of a file: pixels from 0 to 255, and which one it is. */
static int32_t read_digit(int file, float* image) {
  unsigned char digit[pixels + 1];
  if (read_file(file, digit, sizeof digit) != sizeof digit) return -1;
  for (int i = 0; i < pixels; ++i) image[i] = ((float)digit[i] / 255.0f - 0.1307f) / 0.3081f;
  return digit[pixels];
}
static void test(int step) {
  const int file = open_file("test.digits", 1);
  float logits[10];
  int right = 0;
  for (int i = 0; i < tests; ++i) {
    const int32_t digit = read_digit(file, images);
    digits_run_test_step(net, images, logits, NULL);
    int best = 0;
    for (int k = 1; k < 10; ++k)
      if (logits[k] > logits[best]) best = k;
    right += best == digit;
  }
  close_file(file);
  write_number("step ", (size_t)step, ": "), write_number("", (size_t)right, " of 200 digits are right\n");
}
/* Reads or writes the variables of the network. */
static int move_checkpoint(int mode) {
  const int file = open_file("digits.safetensors", mode);
  size_t size = sizeof checkpoint;
  int result = mode == 5 ? digits_save(net, checkpoint, size, NULL) : digits_done;
  if ((mode == 5 ? write_file(file, checkpoint, size) : (size = read_file(file, checkpoint, size))) != size) result = -1;
  if (mode == 1) result = digits_load(net, checkpoint, size, NULL);
  close_file(file);
  return result;
}

int main(void) {
  int32_t labels[batch];
  float loss;
  if (digits_init(net, 1, NULL) != digits_done || (FIRST > 0 && move_checkpoint(1) != digits_done)) return 1;
  const int file = open_file("train.digits", 1);
  seek_file(file, (size_t)FIRST * batch * (pixels + 1));
  for (int step = FIRST; step < STEPS; ++step) {
    if (step % 250 == 0) test(step);
    for (int i = 0; i < batch; ++i)
      while ((labels[i] = read_digit(file, images + i * pixels)) < 0) seek_file(file, 0); /* from the start again */
    digits_run_train_step(net, images, labels, &loss, NULL);
  }
  close_file(file);
  test(STEPS);
  return move_checkpoint(5);
}
