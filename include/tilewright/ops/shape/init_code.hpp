#pragma once
#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/ops/shape/init.hpp"

namespace tilewright {

template <PackedAttributes, class Out>
inline void InitZero::compute(Out out) {
  kernel::fill_elements(out, typename Out::element{});
}

}  // namespace tilewright
