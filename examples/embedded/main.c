/* Trains the README's network, in C, on ten random pictures with noise, and tells which picture it sees. */
#include <stdio.h>

#include "net.h"

enum { batch = 8, pixels = 28 * 28, classes = 10, steps = 200, tests = 200 };

static _Alignas(NET_ALIGNMENT) unsigned char net[NET_BYTES];
static float pictures[classes][pixels], images[batch][pixels];
static int32_t labels[batch];

/* 24 random bits (an LCG of Knuth's MMIX), and a number from -0.5 to 0.5. */
static int32_t draw_bits(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int32_t)(state >> 40);
}
static float draw(void) { return (float)draw_bits() / (1 << 24) - 0.5f; }
static int32_t draw_image(float* image) {
  const int32_t label = draw_bits() % classes;
  for (int i = 0; i < pixels; ++i) image[i] = pictures[label][i] + 2 * draw();
  return label;
}
static int fails(int result, const net_status* status) {
  if (result != net_done) fprintf(stderr, "%s%lld%s\n", status->before, (long long)status->value, status->after);
  return result != net_done;
}

int main(void) {
  net_status status = {"", "", 0, 0, 0};
  for (int c = 0; c < classes; ++c)
    for (int i = 0; i < pixels; ++i) pictures[c][i] = draw();
  if (fails(net_init(net, 1, &status), &status)) return 1;
  for (int step = 0; step < steps; ++step) {
    float loss;
    for (int b = 0; b < batch; ++b) labels[b] = draw_image(images[b]);
    if (fails(net_run_train_step(net, images[0], labels, &loss, &status), &status)) return 1;
    if (step % 50 == 0) printf("step %d: loss %.6f\n", step, loss);
  }
  int right = 0;
  for (int test = 0; test < tests; ++test) {
    float logits[classes];
    const int32_t label = draw_image(images[0]);
    int best = 0;
    if (fails(net_run_infer(net, images[0], logits, &status), &status)) return 1;
    for (int c = 1; c < classes; ++c)
      if (logits[c] > logits[best]) best = c;
    right += best == label;
  }
  printf("%d of %d are right\n", right, tests);
  return 0;
}
