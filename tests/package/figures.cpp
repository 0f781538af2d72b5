// The cycles and bytes of the programs of net.hpp, as constants.
#include <cstdio>
#include <tilewright/tilewright.hpp>

#include "net.hpp"

namespace tw = tilewright;
constexpr tw::Target small = tw::bow.with_tiles(64);

template <auto program, tw::Target target>
void print(const char* name, const char* machine) {
  std::printf("%s,%s,%lld,%lld\n", name, machine, static_cast<long long>(tw::cycles<program, target>),
              static_cast<long long>(tw::peak_bytes<program, target>));
}
int main() {
  print<train_step, tw::gc200>("train_step", "gc200");
  print<predict<512>, tw::gc200>("predict<512>", "gc200");
  print<train_step, tw::gc2>("train_step", "gc2");
  print<predict<512>, tw::gc2>("predict<512>", "gc2");
  print<train_step, small>("train_step", "bow with tiles=64");
}
