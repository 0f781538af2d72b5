// A step of the tutorial's network: net REPLICAS [SESSIONS], where several sessions are for one replica.
#include <cstdlib>

#include "measure.hpp"

int main(int argc, char** argv) {
  const int sessions = argc == 3 ? std::atoi(argv[2]) : 1;
  const auto step = [&]<int replicas>(std::integral_constant<int, replicas>) {
    measure<train_net<replicas>, replicas>(50, 3, sessions, 64, 64, 28, 28);
  };
  const int replicas = argc >= 2 ? std::atoi(argv[1]) : 0;
  if (replicas == 1) step(std::integral_constant<int, 1>{});
  else if (replicas == 2) step(std::integral_constant<int, 2>{});
  else if (replicas == 4) step(std::integral_constant<int, 4>{});
  else return std::fputs("usage: net 1|2|4 [SESSIONS]\n", stderr), 1;
}
