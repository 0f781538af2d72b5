// labels: none
// Names of older versions, which the compiler says are deprecated, mean what the new ones do.
#include <concepts>

#include "tilewright/layers/kv_cache.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static_assert(std::same_as<tw::None, tw::NoneType>);

constexpr tw::layers::KvCacheOptions window{.length = 8, .sliding_window = 4};
static_assert(window.slots() == 4 && window.capacity() == 4);

constexpr bool plans_as_prepared() {
  tw::Ir ir;
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {4, 8}, tw::float32));
  tw::ops::host_store(ir.d2h_stream("y", x.spec()), tw::ops::exp(x) * x);
  return print_plan(tw::lower(ir, tw::cpu)).view() == print_plan(tw::lower(tw::prepare(ir, tw::cpu))).view();
}
static_assert(plans_as_prepared());
#pragma GCC diagnostic pop

}  // namespace
