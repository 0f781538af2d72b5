// labels: strict tsan
// Training steps give the same numbers on every target, for every number of threads, and inlined as outlined.
#include "../../../examples/tutorial/steps.hpp"

#include <array>
#include <cmath>

#include "../../static/programs/models.hpp"
#include "../../support/elements.hpp"

namespace {

struct Mlp : tw::Module<Mlp> {
  BOOST_HANA_DEFINE_STRUCT(Mlp, (Linear<40>, fc1), (Linear<5>, fc2));
  constexpr tw::Tensor build(tw::Tensor x) { return fc2(tw::ops::gelu(fc1(x))); }
};

constexpr auto train_mlp = train_step<Mlp, 20, 90>;

/// Losses of some steps, then the first layer's weights.
template <class Session, std::size_t rank>
Floats train(Session& session, const std::array<std::size_t, rank>& shape, int steps = 6) {
  xt::xtensor<float, rank> image(shape);
  xt::xtensor<std::int32_t, 1> label(std::array<std::size_t, 1>{shape[0]});
  for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
  for (std::size_t i = 0; i < label.size(); ++i) label(i) = static_cast<std::int32_t>(i % 5);
  Floats results;
  for (int step = 0; step < steps; ++step) results.push_back(session.run("image"_s = image, "label"_s = label)["loss"_s]());
  const Floats weights = elements(session.get_tensor_data("fc1.weight"_s));
  results.insert(results.end(), weights.begin(), weights.end());
  return results;
}
template <tw::Target target>
Floats train_mlp_on(int threads) {
  TestSession<train_mlp, target> session({.seed = 3, .threads = threads});
  return train(session, std::array<std::size_t, 2>{20, 90});
}

/// The largest difference, relative to values above 1.
float difference(const Floats& a, const Floats& b) {
  float largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]) / std::max(1.f, std::abs(b[i])));
  return largest;
}

}  // namespace

TEST_CASE("training: results do not depend on the number of threads") {
  const int threads = GENERATE(2, 3);
  CHECK(train_mlp_on<tw::cpu>(threads) == train_mlp_on<tw::cpu>(1));
  CHECK(train_mlp_on<tw::ipu_model>(threads) == train_mlp_on<tw::ipu_model>(1));
  CHECK(train_mlp_on<tw::cpu.with_tiles(3)>(threads) == train_mlp_on<tw::cpu.with_tiles(3)>(1));
}
TEST_CASE("training: targets agree within rounding") {
  const Floats host = train_mlp_on<tw::cpu>(1);
  CHECK(difference(train_mlp_on<tw::ipu_model>(1), host) < 1e-5f);
  CHECK(difference(train_mlp_on<tw::cpu.with_tiles(3)>(1), host) < 1e-5f);
}
TEST_CASE("training: the loss falls") {
  tw::Session<train_mlp> session({.seed = 3, .threads = 1});
  const int steps = 400;
  const Floats results = train(session, std::array<std::size_t, 2>{20, 90}, steps);
  CHECK(std::abs(results[0] - std::log(5.f)) < 0.05f);  // at first, all of the 5 classes are about as likely
  CHECK(results[steps - 1] < 0.5f * results[0]);
}
TEST_CASE("training: a net with an outlined layer computes what the inlined one does") {
  tw::Session<train_step<Net, 8, 28, 28>> inlined({.threads = 2});
  tw::Session<train_step<NetOutlined, 8, 28, 28>> outlined({.seed = 7, .threads = 2});
  outlined.write_variables_data(inlined.get_tensors_data());
  const std::array<std::size_t, 3> images{8, 28, 28};
  CHECK(difference(train(outlined, images), train(inlined, images)) < 1e-5f);
  CHECK(xt::allclose(outlined.variables()["fc3"_s]["bias"_s], inlined.variables()["fc3"_s]["bias"_s]));
}
