// Functions of a user, each of which calls some of the library between two loops of its own. run.py looks where the compiler puts
// them.
#include <cstddef>
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/train.hpp>
#include <vector>

namespace tw = tilewright;

struct Net : tw::Module<Net> {
  BOOST_HANA_DEFINE_STRUCT(Net, (tw::layers::Linear<10>, fc));
  constexpr tw::Tensor build(tw::Tensor x) { return fc(x.reshape({-1, 28 * 28})); }
};
constexpr void train_step(tw::Ir& ir) { tw::train::train_step(ir, Net{}, tw::optim::SgdParameters{.lr = 0.05}, {{8, 28, 28}}); }
constexpr void test_step(tw::Ir& ir) { tw::train::test_step(ir, Net{}, {{8, 28, 28}}); }
using Training = tw::Session<train_step, tw::cpu>;
using Test = tw::Session<test_step, tw::cpu>;
using Samples = decltype(tw::data::Digits::train);

/// Calls f between two loops of the caller.
inline void between_loops(std::vector<float>& x, auto&& f) {
  for (float& each : x) each = 2 * each + 1;
  f();
  for (float& each : x) each = 3 * each - 1;
}

void caller_of_session(std::vector<float>& x, void (*use)(Training&)) {
  between_loops(x, [&] {
    Training session({.seed = 1});
    use(session);
  });
}
void caller_of_loader(std::vector<float>& x, const Samples& digits, void (*use)(tw::data::Loader<Samples>&)) {
  between_loops(x, [&] {
    tw::data::Loader batches(digits, {.batch_size = 8, .shuffle = true});
    use(batches);
  });
}
void caller_of_resume(std::vector<float>& x, tw::data::Loader<Samples>& batches) {
  between_loops(x, [&] { batches.resume(batches.state()); });
}
void caller_of_epochs(std::vector<float>& x, Training& session, tw::data::Loader<Samples>& batches) {
  between_loops(x, [&] { tw::train::run_epochs(session, batches, {.epochs = 2}, [](const auto&...) {}); });
}
double caller_of_accuracy(std::vector<float>& x, Test& session, const Samples& digits) {
  double result = 0;
  between_loops(x, [&] { result = tw::train::accuracy(session, digits); });
  return result;
}
void caller_of_load(std::vector<float>& x, Test& test, Training& session) {
  between_loops(x, [&] { test.load_from_session(session); });
}
void caller_of_weights(std::vector<float>& x, Training& session) {
  between_loops(x, [&] {
    session.weights_to_host();
    session.weights_from_host();
  });
}
void caller_of_logger(std::vector<float>& x, void (*use)(const tw::Logger&)) {
  between_loops(x, [&] {
    const tw::Logger logger = tw::Logger::from_environment();
    use(logger);
  });
}
