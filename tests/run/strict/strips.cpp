// labels: none
// A batch that many tiles read as a whole lies in parts of samples on them, not in samples.
#include "../../catch.hpp"
#include "tilewright/execute/strict_executor.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using namespace tw::literals;

namespace {

constexpr tw::Target tiles = tw::ipu_model.with_tiles(64);
constexpr tw::TensorSpec batch{{4, 64, 128}, tw::float32};

constexpr void program(tw::Ir& ir) {
  const auto x = ir.variable(tw::zeros(), batch.shape, batch.dtype, "x");
  const auto w = tw::ops::host_load(ir.h2d_stream("w", {128, 2048}));
  const auto y = x.matmul(w);
  tw::ops::host_store(ir.d2h_stream("y", y.spec()), y);
}
static_assert(tw::peak_memory<program, tiles>.variables < 4096, "an even spread has 2,048 bytes on a tile");

}  // namespace

TEST_CASE("a batch in strips of samples gives the product of the host") {
  tw::Session<program, tiles> session({.threads = 1, .strict = true});
  tw::Session<program> host({.threads = 1});
  auto x = xt::xtensor<float, 3>::from_shape({4, 64, 128});
  auto w = xt::xtensor<float, 2>::from_shape({128, 2048});
  std::int64_t i = 0;
  for (float& element : x) element = static_cast<float>(i++ % 61 - 30) / 8;
  for (float& element : w) element = static_cast<float>(i++ % 53 - 26) / 8;
  session.write_variable_data("x"_s, x), host.write_variable_data("x"_s, x);
  const auto y = session.run("w"_s = w)["y"_s], expected = host.run("w"_s = w)["y"_s];
  CHECK(xt::allclose(y, expected));
}
