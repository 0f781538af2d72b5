/* Draws features of movements of many users from a seed, trains a network on 40 of them, and writes it and the samples for the
   device: of ten other users, and more of the first ones. */
#include <stdio.h>

#include "movement.h"
#include "samples.h"

enum { old_users = 40, steps = 4000, batch = 32 };
static _Alignas(MOVEMENT_ALIGNMENT) unsigned char net[MOVEMENT_BYTES];
static unsigned char file[MOVEMENT_FILE_BYTES];

/* SplitMix64, and from it nearly normal numbers. */
static uint64_t state;
static uint64_t draw(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static float draw_normal(uint64_t seed, uint64_t number) {
  state = seed * 1000003 + number;
  float sum = 0;
  for (int i = 0; i < 12; ++i) sum += (float)(draw() >> 40) / (1 << 24);
  return sum - 6;
}
/* A movement has a mean of the features, each user has a manner of it, and no two samples are the same. */
static struct sample draw_sample(int user, uint64_t number) {
  state = number * 7919 + (uint64_t)user;
  struct sample sample = {.label = (int32_t)(draw() % movements)};
  const uint64_t manner = 1000 + (uint64_t)(user * movements + sample.label);
  const float strangeness = user < old_users ? 0.2f : 1.2f;
  for (int i = 0; i < features; ++i)
    sample.x[i] = draw_normal((uint64_t)sample.label + 1, (uint64_t)i) * 0.6f + strangeness * draw_normal(manner, (uint64_t)i) +
                  0.4f * draw_normal(1000000 + number * 64 + (uint64_t)user, (uint64_t)i);
  return sample;
}
static int write_samples(const char* name, int first_user, int users, int of_each) {
  FILE* out = fopen(name, "wb");
  if (out == NULL) return 1;
  for (int user = first_user; user < first_user + users; ++user)
    for (int i = 0; i < of_each; ++i) {
      const struct sample sample = draw_sample(user, 1000000 + (uint64_t)i);
      fwrite(&sample, sizeof sample, 1, out);
    }
  return fclose(out);
}

int main(void) {
  static float x[batch * features];
  int32_t labels[batch];
  float loss = 0;
  if (movement_init(net, 1, NULL) != movement_done) return 1;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < batch; ++i) {
      const struct sample sample = draw_sample((step * batch + i) % old_users, (uint64_t)(step * batch + i));
      for (int k = 0; k < features; ++k) x[i * features + k] = sample.x[k];
      labels[i] = sample.label;
    }
    movement_run_train_step(net, x, labels, &loss, NULL);
  }
  FILE* out = fopen("movement.safetensors", "wb");
  if (out == NULL || movement_save(net, file, sizeof file, NULL) != movement_done) return 1;
  fwrite(file, 1, sizeof file, out);
  fclose(out);
  return write_samples("old.samples", 0, old_users, old_samples / old_users) |
         write_samples("new.samples", old_users, new_users, new_samples);
}
