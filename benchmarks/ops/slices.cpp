// Parts put together, and parts of 4,096 x 1,024: as dense copies, and as views that a sum reads.
#include "op_program.hpp"

namespace {

template <int axis>
struct Concat {
  static constexpr int copies = 8;
  static constexpr std::array inputs = [] {
    std::array<Input, 8> parts;
    parts.fill({{512, 512}});
    return parts;
  }();
  static constexpr Tensor build(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor g, Tensor h) {
    return ops::concat({a, b, c, d, e, f, g, h}, axis);
  }
};

struct OfMatrix {
  static constexpr int copies = 4;
  static constexpr std::array inputs{Input{{4096, 1024}}};
};
struct SplitCopies : OfMatrix {
  static constexpr std::array<Tensor, 4> build(Tensor x) {
    const auto parts = ops::split<4>(x, 1);
    return {ops::identity(parts[0]), ops::identity(parts[1]), ops::identity(parts[2]), ops::identity(parts[3])};
  }
};
struct SplitSum : OfMatrix {
  static constexpr Tensor build(Tensor x) {
    const auto parts = ops::split<4>(x, 1);
    return parts[0] + parts[1] + parts[2] + parts[3];
  }
};
struct StridedCopy : OfMatrix {
  static constexpr Tensor build(Tensor x) { return ops::identity(ops::subsample(x, {1, 2})); }
};
struct StridedSum : OfMatrix {
  static constexpr Tensor build(Tensor x) { return ops::sum(ops::subsample(x, {1, 2}), 1); }
};

}  // namespace

int main(int argc, char** argv) {
  return serve_cases(argc, argv,
                     {{"concat_rows", serve_case<Concat<0>>},
                      {"concat_columns", serve_case<Concat<1>>},
                      {"split_copies", serve_case<SplitCopies>},
                      {"split_sum", serve_case<SplitSum>},
                      {"strided_copy", serve_case<StridedCopy>},
                      {"strided_sum", serve_case<StridedSum>}});
}
