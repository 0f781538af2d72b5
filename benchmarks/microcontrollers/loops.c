/* Instructions of products and convolutions of a library on a Cortex-M, and of plain loops on the same shapes: QEMU's option
   `-icount shift=0` gives each instruction a nanosecond, and SysTick counts at 25 MHz: 40 instructions a tick. */
#include <stdint.h>

#include "products.h"
#include "start.h"

static _Alignas(PRODUCTS_ALIGNMENT) unsigned char net[PRODUCTS_BYTES];
static float a[8 * 8 * 13 * 13], b[784 * 32], y[784 * 32], expected[784 * 32];

static volatile uint32_t* const systick = (volatile uint32_t*)0xe000e010; /* control, reload, value */
static uint32_t start(void) {
  systick[1] = 0xffffff, systick[2] = 0, systick[0] = 5;
  return systick[2];
}
static void report(const char* name, uint32_t before) {
  const uint32_t after = systick[2];
  write_number(name, 40 * ((before - after) & 0xffffff), "\n");
}
static int differ(size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (y[i] - expected[i] > 1e-3f || expected[i] - y[i] > 1e-3f) return 1;
  return 0;
}

__attribute__((noinline)) static void product(void) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 784; ++k) sum += a[i * 784 + k] * b[k * 32 + j];
      expected[i * 32 + j] = sum;
    }
}
__attribute__((noinline)) static void weight_gradient(void) {
  for (int i = 0; i < 784; ++i)
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += a[k * 784 + i] * b[k * 32 + j];
      expected[i * 32 + j] = sum;
    }
}
__attribute__((noinline)) static void convolution(void) {
  for (int n = 0; n < 8; ++n)
    for (int o = 0; o < 16; ++o)
      for (int r = 0; r < 11; ++r)
        for (int c = 0; c < 11; ++c) {
          float sum = 0;
          for (int i = 0; i < 8; ++i)
            for (int s = 0; s < 3; ++s)
              for (int t = 0; t < 3; ++t)
                sum += a[((n * 8 + i) * 13 + r + s) * 13 + c + t] * b[((o * 8 + i) * 3 + s) * 3 + t];
          expected[((n * 16 + o) * 11 + r) * 11 + c] = sum;
        }
}

int main(void) {
  products_init(net, 1, NULL);
  for (size_t i = 0; i < sizeof a / sizeof a[0]; ++i) a[i] = (float)(i * 7919 % 1000) / 1000 - 0.5f;
  for (size_t i = 0; i < sizeof b / sizeof b[0]; ++i) b[i] = (float)(i * 6007 % 1000) / 1000 - 0.5f;
  int wrong = 0;
  uint32_t before = start();
  products_run_product(net, a, b, y, NULL);
  report("product library ", before), before = start(), product();
  report("product loop ", before), wrong |= differ(8 * 32), before = start();
  products_run_weight_gradient(net, a, b, y, NULL);
  report("weight_gradient library ", before), before = start(), weight_gradient();
  report("weight_gradient loop ", before), wrong |= differ(784 * 32), before = start();
  products_run_convolution(net, a, b, y, NULL);
  report("convolution library ", before), before = start(), convolution();
  report("convolution loop ", before), wrong |= differ(8 * 16 * 11 * 11), before = start();
  static const int32_t labels[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  products_run_train_step(net, a, labels, y, NULL);
  report("train_step library ", before);
  return wrong;
}
