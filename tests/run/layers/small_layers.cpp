// labels: none
// Lists of modules, a table with padding, adaptive pools and a pool with a divisor.
#include "checks.hpp"

TEST_CASE("lists of modules, embeddings with padding and adaptive pools agree with PyTorch's") {
  check_layers<layer_cases::small_layers>(5e-6);
}
TEST_CASE("the row of padding begins with zeros, and only this row") {
  const TestSession<layer_cases::small_layers, tw::cpu> session({.threads = 1});
  std::vector<double> table;
  for (const auto& tensor : session.host_tensors())
    if (tensor.name == "embedding_padded.weight") table = elements_of(tensor);
  REQUIRE(table.size() == 6 * 5);
  for (std::size_t i = 0; i < table.size(); ++i) {
    INFO(i);
    CHECK((table[i] == 0) == (i / 5 == 2));
  }
}
