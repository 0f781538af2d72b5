/* For each of ten new users: trains the last layer of a network on 20 samples, and counts what it gets right of this user's other
   samples and of samples of earlier users, before and after. The other layers stay in flash. */
#include "movement.h"
#include "samples.h"
#include "start.h"

enum { steps = 100 };
__asm(".section .rodata\n.balign 8\ntrained: .incbin \"movement.safetensors\"\ntrained_end:\n.previous");
extern const unsigned char trained[], trained_end[];
static _Alignas(MOVEMENT_ALIGNMENT) unsigned char net[MOVEMENT_BYTES];

/* Per mille of samples of a file that are right. */
static int test(int file, int count) {
  int right = 0;
  for (int i = 0; i < count; ++i) {
    struct sample sample;
    float logits[movements];
    read_file(file, &sample, sizeof sample);
    movement_run_test_step(net, sample.x, logits, NULL);
    int best = 0;
    for (int k = 1; k < movements; ++k)
      if (logits[k] > logits[best]) best = k;
    right += best == sample.label;
  }
  return right * 1000 / count;
}
static int test_from(int file, size_t first, int count) {
  seek_file(file, first * sizeof(struct sample));
  return test(file, count);
}

int main(void) {
  const int fresh = open_file("new.samples", 1), old = open_file("old.samples", 1);
  int sums[4] = {0};
  for (size_t user = 0; user < new_users; ++user) {
    static float x[known * features];
    int32_t labels[known];
    float loss;
    const size_t size = (size_t)(trained_end - trained);
    if (movement_init(net, trained, size, 1, NULL) != movement_done) return 1;
    if (movement_load(net, trained, size, NULL) != movement_done) return 1; /* the last layer */
    const size_t first = user * new_samples;
    seek_file(fresh, first * sizeof(struct sample));
    for (int i = 0; i < known; ++i) {
      struct sample sample;
      read_file(fresh, &sample, sizeof sample);
      for (int k = 0; k < features; ++k) x[i * features + k] = sample.x[k];
      labels[i] = sample.label;
    }
    sums[0] += test_from(fresh, first + known, new_samples - known), sums[1] += test_from(old, 0, old_samples);
    for (int step = 0; step < steps; ++step) movement_run_adapt_step(net, x, labels, &loss, NULL);
    sums[2] += test_from(fresh, first + known, new_samples - known), sums[3] += test_from(old, 0, old_samples);
  }
  const char* const texts[] = {"new users before: ", "old users before: ", "new users after: ", "old users after: "};
  for (int i = 0; i < 4; ++i) write_number(texts[i], (size_t)sums[i] / new_users, " of 1000 are right\n");
  close_file(fresh), close_file(old);
  return 0;
}
