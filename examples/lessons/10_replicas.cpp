// Lesson 10: several replicas.
//
// `set_replication_factor(4)` makes four replicas of a program. Each has variables and memory of its own and takes its own part
// of what the host gives; all run the same steps at the same time. `train_step` takes the mean of their gradients, so that their
// weights stay equal. The shapes in a program are those of one replica: 8 images each here, 32 in a run.
//
// On the host, its cores share the work of all replicas. On a simulated IPU, each replica is a machine of its own.
//
// The program makes 20 steps with four replicas, and 20 with one and batches of 32. It compares a weight.
//
// It prints:
//
//     a run takes 32 images with 4 replicas, and 32 with 1
//     the weights differ by less than 0.00001: yes
//
// Try: 8 replicas of 4 images, by the two constants. The weights still agree.
//
// labels: clang
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
using namespace tw::literals;
using tw::layers::Linear;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<32>, fc1), (Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor images) { return fc2(tw::ops::gelu(fc1(images.reshape({-1, 28 * 28})))); }
};

constexpr int replica_count = 4, replica_batch = 8;

template <int replicas, int images>
constexpr void train_step(tw::Ir& ir) {
  ir.set_replication_factor(replicas);  // before anything else
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.1}, {{images, 28, 28}});
}

template <class Session>
void train(Session& session, const tw::data::Dataset& digits) {
  tw::data::Loader batches(digits, {.batch_size = tw::train::batch_size<Session>, .shuffle = true, .seed = 1});
  tw::train::run_epochs(session, batches, {.epochs = 1, .limit_batches = 20});
}

int main() {
  const auto digits = tw::data::generated_digits(1'000, /*seed*/ 1);
  using Several = tw::Session<train_step<replica_count, replica_batch>>;
  using One = tw::Session<train_step<1, replica_count * replica_batch>>;
  std::printf("a run takes %zu images with %d replicas, and %zu with 1\n", tw::train::batch_size<Several>, replica_count,
              tw::train::batch_size<One>);

  Several several({.seed = 1});
  One one({.seed = 1});
  train(several, digits.train);
  train(one, digits.train);

  const auto a = several.get_tensor_data("fc1.weight"_s), b = one.get_tensor_data("fc1.weight"_s);
  float difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a.data()[i] - b.data()[i]));
  std::printf("the weights differ by less than 0.00001: %s\n", difference < 1e-5f ? "yes" : "no");
}
