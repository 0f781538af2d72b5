// labels: more
// The memory of small programs: loops, graphs that are called, gradients that compute them again, replicas, remote memory,
// several IPUs, views, and simulated IPUs.
#include "painted.hpp"
#include "support/frame_programs.hpp"

using namespace frame_programs;

int main() {
  int wrong = 0;
  wrong += check_memory<calls<false>>("calls");
  wrong += check_memory<calls<true>>("recomputed");
  wrong += check_memory<calls<false>, small_ipu>("calls on tiles");
  wrong += check_memory<loop>("loop");
  wrong += check_memory<loop, small_ipu>("loop on tiles");
  wrong += check_memory<replicas<tw::float32>>("replicas");
  wrong += check_memory<replicas<tw::float16>>("half replicas");
  wrong += check_memory<replicas<tw::float64>>("wide replicas");
  wrong += check_memory<remote>("remote");
  wrong += check_memory<two_ipus, tw::cpu.with_ipus(2)>("two IPUs");
  wrong += check_memory<views>("views");
  wrong += check_memory<norm>("norm");
  return wrong;
}
