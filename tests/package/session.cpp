// A program that needs the compiler's options, prints the version, and computes.
#include <array>
#include <cstdio>
#include <tilewright/tilewright.hpp>

#if (defined(EXPECT_HEADERS) && defined(TILEWRIGHT_COMPILED)) || (defined(EXPECT_RUNTIME) && !defined(TILEWRIGHT_COMPILED))
#error "the code that all programs have in common is elsewhere than the target says"
#endif

namespace tw = tilewright;
using namespace tw::literals;

constexpr int calls(int n) { return n == 0 ? 0 : 1 + calls(n - 1); }
static_assert(calls(700) == 700);  // GCC's and Clang's own limit is 512

constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2, 2}));
  tw::ops::host_store(ir.d2h_stream("y", {2, 2}), tw::ops::relu(x.matmul(x)));
}

int main() {
  tw::Session<program, tw::cpu> session;
  const xt::xtensor<float, 2> x{{1, 2}, {3, -4}};  // x x = ((7, -6), (-9, 22))
  const auto outputs = session.run("x"_s = x);
  std::printf("%d: %g %g %g %g\n", TILEWRIGHT_VERSION, double{outputs["y"_s](0, 0)}, double{outputs["y"_s](0, 1)},
              double{outputs["y"_s](1, 0)}, double{outputs["y"_s](1, 1)});
}
