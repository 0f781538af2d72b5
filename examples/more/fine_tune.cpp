// Fine-tuning: a network learns to tell the digits 0 to 4 from many images, and then 5 to 9 from few. For the second task it
// keeps what it has learnt of lines and curves: the convolutions stay frozen, the layer behind them is trained further, and the
// head, which gives the classes, is new.
//
// labels: more
// test:
// expect-regex: before fine-tuning: [1-3]?[0-9]\.[0-9] % of the digits 5 to 9 are right
// expect-regex: after fine-tuning: 9[0-9]\.[0-9] % of the digits 5 to 9 are right
// expect: the frozen weights stayed as they were: yes
#include <cstdint>
#include <cstdio>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/data/subset.hpp>
#include <tilewright/layers/conv.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/layers/pool.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>
#include <tilewright/train/train.hpp>
#include <vector>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor, tw::train::frozen, tw::train::minimise;

constexpr int classes = 5;  // of each task
constexpr int batch_size = 20;
constexpr int test_batch = 100;

/// Convolutions that find lines and curves.
struct Features : tw::Module<Features> {
  using Conv1 = tw::layers::Conv2d<8, 3, {.padding = 1}>;
  using Conv2 = tw::layers::Conv2d<16, 3, {.padding = 1}>;
  using Pool = tw::layers::MaxPool2d<2>;
  BOOST_HANA_DEFINE_STRUCT(Features, (Conv1, conv1), (Pool, pool1), (Conv2, conv2), (Pool, pool2));
  constexpr Tensor build(Tensor image) {  // (batch, 28, 28)
    const Tensor x = pool1(ops::relu(conv1(image.reshape({-1, 1, 28, 28}))));
    return pool2(ops::relu(conv2(x))).reshape({image.shape(0), -1});  // (batch, 16 * 7 * 7)
  }
};

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (Features, features), (tw::layers::Linear<64>, hidden), (tw::layers::Linear<classes>, head));
  constexpr Tensor build(Tensor image) { return head(ops::relu(hidden(features(image)))); }
};

constexpr Tensor loss(Net& net, Tensor image, Tensor label) { return ops::cross_entropy(net(image), label); }
constexpr void pretrain(tw::Ir& ir) {
  minimise(ir, Net{}, loss, tw::optim::AdamWParameters{.lr = 1e-3},
           {{"image", {batch_size, 28, 28}}, {"label", {batch_size}, tw::int32}});
}
constexpr void fine_tune(tw::Ir& ir) {
  minimise(ir, Net{}, loss, tw::optim::AdamWParameters{.lr = 1e-3},
           {{"image", {batch_size, 28, 28}}, {"label", {batch_size}, tw::int32}}, {.groups = {frozen("features.*")}});
}
constexpr void test(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{test_batch, 28, 28}}); }

/// The first `count` images of the digits from `first` on, of which that digit is class 0.
tw::data::Dataset five_digits(const tw::data::Dataset& digits, std::int32_t first, std::size_t count) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < digits.size() && found.size() < count; ++i)
    if (digits.labels(i) >= first && digits.labels(i) < first + classes) found.push_back(i);
  tw::data::Dataset result = tw::data::subset(digits, found);
  for (std::int32_t& label : result.labels) label -= first;
  return result;
}

void run_epochs(auto& session, const tw::data::Dataset& digits, int epochs) {
  tw::data::Loader loader(digits, {.batch_size = batch_size, .shuffle = true, .seed = 1});
  tw::train::run_epochs(session, loader, {.epochs = static_cast<std::uint64_t>(epochs)});
}

double percent_right(const auto& session, const tw::data::Dataset& digits) {
  tw::Session<test> tester;
  tester.load_from_session(session);
  return 100 * tw::train::accuracy(tester, digits);
}

int main() {
  const auto digits = tw::data::generated_digits(6000, /*seed*/ 1);
  const auto many_low = five_digits(digits.train, 0, 2000), few_high = five_digits(digits.train, 5, 300);
  const auto low_test = five_digits(digits.test, 0, 400), high_test = five_digits(digits.test, 5, 400);

  tw::Session<pretrain> pretrained({.seed = 1});
  run_epochs(pretrained, many_low, 3);
  std::printf("pretrained: %.1f %% of the digits 0 to 4 are right\n", percent_right(pretrained, low_test));

  // All layers of the pretrained network but the head; the optimiser begins anew, too.
  tw::Session<fine_tune> tuned({.seed = 2});
  tuned.load_from_session(pretrained, {.only = {"features.*", "hidden.*"}});
  std::printf("before fine-tuning: %.1f %% of the digits 5 to 9 are right\n", percent_right(tuned, high_test));

  run_epochs(tuned, few_high, 20);
  std::printf("after fine-tuning: %.1f %% of the digits 5 to 9 are right\n", percent_right(tuned, high_test));
  const bool same = pretrained.get_tensor_data("features.conv1.weight"_s) == tuned.get_tensor_data("features.conv1.weight"_s);
  std::printf("the frozen weights stayed as they were: %s\n", same ? "yes" : "no");
}
