// A program that infers, with weights in constants.
#include <cstddef>
#include <span>
#include <tilewright/layers/linear.hpp>
#include <tilewright/session/static_session.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

constexpr void infer(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2, 3}));
  const auto [factories, layer] = tw::create_graph(tw::layers::Linear<4>{}, x);
  tw::ops::host_store(ir.d2h_stream("y", {2, 4}), layer.bind(factories.init()).call(x));
}
constexpr float weight[3][4] = {}, bias[4] = {};
std::span<const std::byte> file;
