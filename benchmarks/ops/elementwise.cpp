// Chains of choices, and random numbers, of 1,048,576 floats.
#include "op_program.hpp"

namespace {

constexpr Input numbers{{1 << 20}}, words{{2}, tw::uint32};
constexpr int copies = 16;

struct Where {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{numbers, numbers, numbers};
  static constexpr Tensor build(Tensor a, Tensor b, Tensor c) {
    const Tensor larger = ops::where(ops::greater(a, b), a, c);
    return ops::where(ops::greater(larger, c), b, larger);
  }
};
struct Maximum {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{numbers, numbers, numbers};
  static constexpr Tensor build(Tensor a, Tensor b, Tensor c) { return ops::maximum(ops::maximum(a, b), c); }
};
struct Clip {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{numbers, numbers};
  static constexpr Tensor build(Tensor a, Tensor b) { return ops::clip(ops::clip(a, -0.5, 0.5) + b, -1, 1); }
};
struct RandomNormal {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{words};
  static constexpr Tensor build(Tensor seed) { return ops::random_normal(seed, numbers.shape); }
};
struct Dropout {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{numbers, words};
  static constexpr Tensor build(Tensor x, Tensor seed) { return ops::dropout(x, seed, 0.25); }
};

}  // namespace

int main(int argc, char** argv) {
  return serve_cases(argc, argv,
                     {{"where", serve_case<Where>},
                      {"maximum", serve_case<Maximum>},
                      {"clip", serve_case<Clip>},
                      {"random_normal", serve_case<RandomNormal>},
                      {"dropout", serve_case<Dropout>}});
}
