/* Runs networks on numbers of all kinds: zeros, NaN, infinities, denormals, and SEEDS times random ones. real_time SEEDS. With
   `real_time SEEDS alone`, a system call in a run ends the process, and `real_time SEEDS alone planted` makes one. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "signal_nets.h"

static _Alignas(SIGNAL_NETS_ALIGNMENT) unsigned char net[SIGNAL_NETS_BYTES];
static float x[1024], y[64 * 64];

static float number(int kind) {
  static uint64_t state = 1;
  const float special[] = {0, NAN, INFINITY, 1e-40f};
  if (kind < 4) return special[kind];
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (float)(state >> 40) / (1 << 22) - 2;
}
/* From here on the process may end, and do no more. */
static int forbid_system_calls(void) {
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char** arguments) {
  const int kinds = 4 + atoi(arguments[1]);
  int result = signal_nets_init(net, 1, NULL);
  if (count > 2 && forbid_system_calls()) return 2;
  if (count > 3) getppid();
  for (int kind = 0; kind < kinds; ++kind) {
    for (int i = 0; i < 1024; ++i) x[i] = number(kind);
    result |= signal_nets_run_perceptron(net, x, y, NULL);
    result |= signal_nets_run_controller(net, x, y, NULL);
    result |= signal_nets_run_gru(net, x, y, NULL);
    result |= signal_nets_run_dilated(net, x, y, NULL);
    result |= signal_nets_run_pooled(net, x, y, NULL);
  }
  _exit(result);
}
