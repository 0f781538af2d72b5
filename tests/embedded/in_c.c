/* Two libraries of networks in one program: what they compute, and what they refuse. */
#include <string.h>

#include "net.h"
#include "other.h"
#include "values.h"

static _Alignas(NET_ALIGNMENT) unsigned char net[NET_BYTES + NET_ALIGNMENT], copy[NET_BYTES], other[OTHER_BYTES];
static unsigned char saved[NET_FILE_BYTES], saved_again[NET_FILE_BYTES];

static void print_status(const char* call, int result, const net_status* status) {
  printf("%s: %d %s\n", call, result, status->before);
}

/* Writes the network's variables to a file, and reads them into a copy; a cut file changes nothing. */
static int save(const char* path, net_status* status) {
  if (net_save(net, saved, sizeof saved, NULL) != net_done || net_init(copy, 2, NULL) != net_done) return 1;
  if (net_load(copy, saved, sizeof saved, NULL) != net_done) return 1;
  print_status("cut", net_load(copy, saved, sizeof saved - 1, status), status);
  print_status("small", net_save(copy, saved_again, sizeof saved - 1, status), status);
  if (net_save(copy, saved_again, sizeof saved, NULL) != net_done || memcmp(saved, saved_again, sizeof saved) != 0) return 1;
  FILE* file = fopen(path, "wb");
  return file == NULL || fwrite(saved, 1, sizeof saved, file) != sizeof saved || fclose(file) != 0;
}

int main(int count, char** arguments) {
  net_status status = {"", "", 0, 0, 0};
  float loss = 0, logits[10];
  print_status("before init", net_run_train_step(net, images[0][0], labels, &loss, &status), &status);
  print_status("misaligned", net_init(net + 1, 1, &status), &status);
  if (net_init(net, 1, NULL) != net_done) return 1;
  print_status("no array", net_run_train_step(net, NULL, labels, &loss, &status), &status);
  print_status("shared", net_run_infer(net, net_variable_fc1_weight(net), logits, &status), &status);
  for (int step = 0; step < steps; ++step) {
    draw_batch();
    if (net_run_train_step(net, images[0][0], labels, &loss, NULL) != net_done) return 1;
  }
  if (net_run_infer(net, images[0][0], logits, NULL) != net_done || save(arguments[count - 1], &status) != 0) return 1;
  print_bytes("loss", &loss, sizeof loss);
  print_bytes("logits", logits, sizeof logits);
  for (int v = 0; v < NET_VARIABLES; ++v) {
    int64_t size = sizeof(float);
    for (int axis = 0; axis < net_variables[v].rank; ++axis) size *= net_variables[v].shape[axis];
    print_bytes(net_variables[v].name, net + net_variables[v].offset, (size_t)size);
  }

  other_status fault = {"", "", 0, 0, 0};
  int32_t x[3] = {1, 0, 0}, quotient[3];
  if (other_init(other, 1, NULL) != other_done) return 1;
  const int result = other_run_train_step(other, x, quotient, &fault);
  printf("other: %d %s%lld%s, %lld more, %d\n", result, fault.before, (long long)fault.value, fault.after, (long long)fault.more,
         quotient[0]);
  if (strcmp(other_variables[0].name, "net.w") != 0 || strcmp(other_variables[1].name, "net_w") != 0) return 1;
  return memcmp(other_variable_net_w(other), (int32_t[]){6, 7, 8}, sizeof x) ||
         memcmp(other_variable_net_w_(other), (int32_t[]){1, 1, 1}, sizeof x);
}
