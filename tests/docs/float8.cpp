#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
namespace ops = tw::ops;
constexpr void program(tw::Tensor x, tw::Tensor weight, tw::Tensor log2_scale) {
// the block
}
