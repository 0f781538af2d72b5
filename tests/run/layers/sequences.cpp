// labels: rest
// Recurrent layers of padded sequences, in both directions, with initial states and dropout.
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

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
TEST_CASE("lengths of sequences below 0 count as 0, and those above x's length as it") {
  TestSession<layer_cases::sequences, tw::cpu> session({.threads = 1});
  write_variables(session, layer_reference());
  constexpr auto least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  for (const auto& [below, above] : {std::pair(-1, 5), std::pair(least, most)}) {
    CAPTURE(below, above);
    session.write_variable_data("gru_packed.x1"_s, xt::xtensor<std::int32_t, 1>{below, above, 1});  // PyTorch's: 2, 4, 1
    const auto results = session.run();
    // y0 and dx0 have the sequences along axis 0, y1 along axis 1, after four layers and directions
    for (const auto& [name, sequence_elements] :
         {std::pair("gru_packed.y0", 4 * 8), std::pair("gru_packed.y1", 4), std::pair("gru_packed.dx0", 4 * 3)}) {
      INFO(name);
      std::vector<double> expected = layer_reference().at(name);
      for (std::size_t i = 0; i < expected.size(); ++i)
        if (i / static_cast<std::size_t>(sequence_elements) % 3 == 0) expected[i] = 0;
      for (const auto& tensor : results.host_tensors())
        if (tensor.name == name) CHECK(difference(elements_of(tensor), expected) < 5e-6);
    }
  }
}
