/* Samples of movements, in files of the PC that the device reads. */
#include <stdint.h>

enum { features = 24, movements = 6, new_users = 10, known = 20, new_samples = known + 200, old_samples = 600 };
struct sample {
  float x[features];
  int32_t label;
};
