// The transposed convolution of 32 x 64 x 14 x 14 to 32 channels of 28 x 28.
#include "op_program.hpp"

namespace {

struct ConvTranspose {
  static constexpr int copies = 16;
  static constexpr std::array inputs{Input{{32, 64, 14, 14}}, Input{{64, 32, 4, 4}}};
  static constexpr tw::Shape result{32, 32, 28, 28};
  static constexpr Tensor build(Tensor x, Tensor weight) {
    return ops::conv_transpose(x, weight, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
  }
};

}  // namespace

int main(int argc, char** argv) {
  return serve_cases(
      argc, argv,
      {{"conv_transpose", serve_case<ConvTranspose>}, {"conv_transpose_gradients", serve_case<GradientOf<ConvTranspose>>}});
}
