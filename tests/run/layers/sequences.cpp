// labels: light
// Recurrent layers of padded sequences, in both directions, with initial states and dropout.
#include "checks.hpp"
#include "tilewright/checkpoint/checkpoint.hpp"

TEST_CASE("recurrent layers of sequences of different lengths, in both directions, agree with PyTorch's") {
  check_layers<layer_cases::sequences>(5e-6);
}
TEST_CASE("a file of PyTorch's GRU of two layers in both directions loads by one rule for all weights") {
  Values others = layer_reference();
  for (auto& [name, elements] : others)
    if (name.starts_with("gru_packed.weight") || name.starts_with("gru_packed.bias")) std::ranges::fill(elements, 0);
  TestSession<layer_cases::sequences, tw::cpu> session({.threads = 1});
  write_variables(session, others);
  session.load_tensors(tw::map_tensors(tw::load_safetensors(TILEWRIGHT_REFERENCE_DIR "/gru.safetensors"),
                                       {tw::transposed("weight_*", "gru_packed.weight_*"), {"bias_*", "gru_packed.bias_*"}}),
                       {.only = {"gru_packed.weight*", "gru_packed.bias*"}});
  const auto results = session.run();
  for (const auto& tensor : results.host_tensors())
    if (tensor.name == "gru_packed.y0" || tensor.name == "gru_packed.y1")
      CHECK(difference(elements_of(tensor), layer_reference().at(std::string(tensor.name))) < 5e-6);
}
