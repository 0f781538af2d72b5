// Ops along an axis of 4,096 rows.
#include "op_program.hpp"

namespace {

constexpr int copies = 4;
constexpr std::array scores{Input{{4096, 1000}}}, matrix{Input{{4096, 1024}}};

struct TopK {
  static constexpr int copies = ::copies;
  static constexpr auto inputs = scores;
  static constexpr std::array<Tensor, 2> build(Tensor x) {
    const auto [values, indices] = ops::topk(x, 64);
    return {values, indices};
  }
};
struct Argmax {
  static constexpr int copies = ::copies;
  static constexpr auto inputs = scores;
  static constexpr Tensor build(Tensor x) { return ops::argmax(x, -1); }
};
template <int axis>
struct CumSum {
  static constexpr int copies = ::copies;
  static constexpr auto inputs = matrix;
  static constexpr Tensor build(Tensor x) { return ops::cumsum(x, axis); }
};
template <int axis>
struct Max {
  static constexpr int copies = ::copies;
  static constexpr auto inputs = matrix;
  static constexpr Tensor build(Tensor x) { return ops::max(x, axis); }
};

}  // namespace

int main(int argc, char** argv) {
  return serve_cases(argc, argv,
                     {{"topk", serve_case<TopK>},
                      {"argmax", serve_case<Argmax>},
                      {"cumsum_rows", serve_case<CumSum<1>>},
                      {"cumsum_columns", serve_case<CumSum<0>>},
                      {"max_rows", serve_case<Max<1>>},
                      {"max_columns", serve_case<Max<0>>}});
}
