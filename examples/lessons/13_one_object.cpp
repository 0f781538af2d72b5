// Lesson 13: a network in one object.
//
// A session takes memory from the heap, has threads, and throws. A `StaticSession` does none of this: a program and all its
// memory are one object, whose size is a constant. Here it is in static storage. Audio callbacks and small devices can run it,
// and train it. `one_core` is a machine for it.
//
// `init` writes the initial values of a seed. `run` takes arrays of constant size, or uses those that the object has for its
// streams. It returns a status: where a session throws, the status has the same text.
//
// The program trains the object and a session on the same digits, and compares their weights. Then it gives the object a label
// that is no class.
//
// It prints:
//
//     129536 bytes: variables 101824, streams 25216, tensors of a run 2368
//     loss of the last step: 0....
//     the same bits in a session: yes
//     CrossEntropyWithGrad: label 10: a label from 0 to 9, or the ignored one, expected, in the main graph
//
// Try: 64 features in place of 32. The program does not compile: the object may have at most 128 KiB.
//
// labels: none
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/session/static_session.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/step.hpp>

namespace tw = tilewright;
using namespace tw::literals;
using tw::layers::Linear;

constexpr std::size_t batch = 8, steps = 200;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Linear<32>, fc1), (Linear<10>, fc2));
  constexpr tw::Tensor build(tw::Tensor images) { return fc2(tw::ops::gelu(fc1(images.reshape({-1, 28 * 28})))); }
};
constexpr void train_step(tw::Ir& ir) {
  tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{batch, 28, 28}});
}

constinit static tw::StaticSession<train_step, tw::one_core> net;
static_assert(sizeof net <= 128 * 1024);

int main() {
  constexpr tw::StaticBytes bytes = tw::static_bytes<train_step, tw::one_core>;
  std::printf("%zu bytes: variables %d, streams %d, tensors of a run %d\n", sizeof net, static_cast<int>(bytes.variables),
              static_cast<int>(bytes.streams), static_cast<int>(bytes.frame));
  const auto digits = tw::data::generated_digits(batch * steps, /*seed*/ 1).train;
  tw::Session<train_step, tw::one_core> session({.seed = 1});
  if (!net.init(1).is_done()) return 1;
  static float images[batch][28][28];
  static std::int32_t labels[batch];
  for (std::size_t step = 0; step < steps; ++step) {
    std::copy_n(digits.images.data() + step * sizeof images / sizeof(float), sizeof images / sizeof(float), images[0][0]);
    std::copy_n(digits.labels.data() + step * batch, batch, labels);
    if (!net.run("image"_s = images, "label"_s = labels).is_done()) return 1;
    session.run("image"_s = images, "label"_s = labels);
  }
  std::printf("loss of the last step: %.2f\n", static_cast<double>(net.stream("loss"_s)[0]));
  const bool equal = std::ranges::equal(session.host_tensors(), net.host_tensors(), [](const auto& a, const auto& b) {
    return a.name == b.name && std::ranges::equal(a.bytes, b.bytes);
  });
  std::printf("the same bits in a session: %s\n", equal ? "yes" : "no");

  labels[0] = 10;
  char text[200];
  const std::string_view problem = tw::write_text(net.run("image"_s = images, "label"_s = labels), text);
  std::printf("%.*s\n", static_cast<int>(problem.size()), problem.data());
}
