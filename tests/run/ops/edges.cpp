// labels: strict
// Losses, norms, gradients of functions and reductions at the edges of their dtypes, against PyTorch in float64: on one thread
// and on three, and on the tiles of a simulated IPU.
#include "../cases/edges.hpp"

#include "../cases/op_checks.hpp"

using namespace op_cases;

namespace {

/// The numbers as elements of a dtype: those beyond its range are infinite.
std::vector<double> rounded(tw::DType dtype, std::vector<double> elements) {
  tw::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    for (double& element : elements) element = static_cast<double>(static_cast<T>(element));
  });
  return elements;
}

/// All results are the reference's to a relative error, but for `least`, the distance of the dtype's smallest numbers.
template <auto cases, tw::Target target>
void check_edges(tw::DType dtype, double tolerance, double least, int threads = 1) {
  TestSession<cases, target> session({.threads = threads});
  write_variables(session, reference());
  for (const auto& [name, elements] : run_both(session)) {
    const auto expected = rounded(dtype, reference().at(name));
    REQUIRE(elements.size() == expected.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      INFO(name << "[" << i << "]: " << elements[i] << ", " << expected[i] << " expected");
      CHECK((elements[i] == expected[i] || std::abs(elements[i] - expected[i]) <= tolerance * std::abs(expected[i]) + least));
    }
  }
}
/// What an IPU has. Half precision: half a distance of neighbours, and the rounding of float32.
template <tw::Target target>
void check_ipu_dtypes(int threads = 1) {
  check_edges<float32_at_edges, target>(tw::float32, 1e-6, 1e-6, threads);
  check_edges<float16_at_edges, target>(tw::float16, 0x1.1p-11, 0x1p-24, threads);
}

}  // namespace

TEST_CASE("ops at the edges of their dtypes agree with PyTorch on the host") {
  for (const int threads : {1, 3}) {
    check_ipu_dtypes<tw::cpu>(threads);
    check_edges<bfloat16_at_edges, tw::cpu>(tw::bfloat16, 0x1.1p-8, 1e-12, threads);
  }
}
TEST_CASE("and on tiles of a simulated IPU") {
  check_ipu_dtypes<tw::ipu_model>();
  check_ipu_dtypes<tw::ipu_model.with_tiles(3)>();
}
TEST_CASE("ops_edges.txt and the programs have the same cases") {
  check_same_cases("ops_edges.txt", {float32_at_edges, float16_at_edges, bfloat16_at_edges});
}
