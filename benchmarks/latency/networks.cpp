// How long single runs of networks with batch 1 take, as a StaticSession and in a Session of one thread:
// `networks NETWORK object|session`. latency.py says what it reads and writes.
#include <algorithm>
#include <string_view>
#include <tilewright/session/static_session.hpp>
#include <tilewright/tilewright.hpp>
#include <vector>

#include "../../tests/embedded/real_time.hpp"
#include "serve.hpp"

using namespace tw::literals;

namespace {

template <auto program>
int measure(bool as_object) {
  static tw::StaticSession<program, tw::one_core> object;
  if (as_object) {
    if (!object.init(1).is_done()) return 1;
    std::ranges::fill(object.stream("x"_s), 0.5f);
    bool is_done = true;
    return serve_latency([&] { is_done &= object.run().is_done(); }) + !is_done;
  }
  tw::Session<program, tw::one_core> session({.seed = 1, .threads = 1});
  constexpr tw::Shape shape = session.plan.streams[0].spec.shape;
  xt::xarray<float> x(std::vector<std::size_t>(shape.extents, shape.extents + shape.rank), 0.5f);
  auto outputs = session.create_host_outputs();
  return serve_latency([&] { session.run_with_outputs(outputs, "x"_s = x); });
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view network = arguments[1];
  const bool as_object = std::string_view(arguments[2]) == "object";
  if (network == "perceptron") return measure<perceptron>(as_object);
  if (network == "controller") return measure<controller>(as_object);
  if (network == "gru") return measure<gru>(as_object);
  return measure<dilated>(as_object);
}
