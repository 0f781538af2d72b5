// An encoder layer of BERT-Large on simulated IPUs, for inference and as a step of training, and encoders of 12 and 24 layers:
// memory of the fullest tile and cycles, as Markdown. What is planned runs nowhere.
#include "bert.hpp"

#include "tables.hpp"

namespace {

/// popliner's tests (test_popart_bert_inf.py) give averages over all tiles of Mk2, of a layer for inference and of 12 layers with
/// the embedding, which are not outlined. Variables are all tensors there.
constexpr planned::Published one_layer{.vertex = 5351, .state = 713, .exchange = 688, .control = 920, .variables = 52'184};
constexpr planned::Published twelve_layers{
    .vertex = 6566, .state = 8714, .exchange = 10'560, .control = 11'234, .variables = 282'777, .fullest_tile = 336'670};

/// Floating-point operations of an IPU of a Bow Pod16 in a second, from 5,179 sequences of 128 tokens a second (phase 1,
/// training) and 6 for each of 335 million parameters and token.
constexpr double derived_flops = 5179.0 / 16 * 6 * 335e6 * 128;

/// Bow, if its products with sums of float32 were as fast as those with sums of float16.
constexpr tw::IpuModel fast_sums_model = [] {
  tw::IpuModel model = tw::bow_model;
  model.products.float16_float32.units = model.products.float16.units;
  return model;
}();

void print(const planned::Program& program, const planned::Published* published = nullptr) {
  planned::print_title(program);
  planned::print_memory(program, published);
  planned::print_cycles(program);
  planned::print_dearest_steps(program, 10);
}

}  // namespace

int main() {
  std::printf("# BERT-Large encoders of %d tokens, batch 1, float16\n", bert::sequence);
  for (const auto& [name, target] : {std::pair("bow", tw::bow), std::pair("gc200", tw::gc200)}) {
    std::printf("\n## %s\n", name);
    print(planned::plan("inference, 1 layer", bert::inference<1>, target), &one_layer);
    print(planned::plan("training, 1 layer", bert::training<1>, target));
    print(planned::plan("inference, 12 layers", bert::inference<12>, target), &twelve_layers);
    print(planned::plan("training, 12 layers", bert::training<12>, target));
    const auto all_layers = planned::plan("inference, 24 layers", bert::inference<24>, target);
    print(all_layers);
    const auto training = planned::plan("training, 24 layers", bert::training<24>, target);
    print(training);
    std::printf(
        "\n24 layers: inference %.1f, training %.1f TFLOP/s; from published sequences a second of training on Bow: %.1f\n",
        planned::flops_per_second(all_layers) / 1e12, planned::flops_per_second(training) / 1e12, derived_flops / 1e12);
  }
  const auto fast = planned::plan("inference, 24 layers", bert::inference<24>, tw::bow.with_ipu(&fast_sums_model));
  std::printf("\nBow with sums of float32 as fast as those of float16: %.1f TFLOP/s\n", planned::flops_per_second(fast) / 1e12);
}
