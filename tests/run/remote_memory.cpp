// Remote buffers: copies between streaming memory and the machine's own, in the order of the trace.
#include <stdexcept>

#include "elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;

constexpr void addition(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({}, tw::float32);
  ir.remote_variable(tw::ones(), buffer, 0, "x");
  const Tensor sum = ops::remote_load(buffer, 0, "x") + 2;
  ops::remote_store(buffer, 0, sum);
  store("sum", sum);
}

}  // namespace

TEST_CASE("remote memory: 1 + 2") {
  tw::Session<addition> session;
  CHECK(session.get_tensor_data("x"_s)() == 1);
  CHECK(session.run()["sum"_s]() == 3);
  CHECK(session.get_tensor_data("x"_s)() == 3);
}
