#pragma once
// Losses of headers that ops.hpp does not include. Each is an error that names its header, where a function hides it.
#include "tilewright/graph/ir.hpp"

namespace tilewright {

namespace detail::losses_elsewhere {
constexpr Tensor fail_without(std::string_view header, Tensor x, std::string_view loss) {
  return x.ir().fail(text(loss, ": its header is not included: #include <tilewright/ops/nn/", header, "> expected"));
}
constexpr Tensor mse_loss(Tensor x, const auto&...) { return fail_without("losses.hpp", x, "mse_loss"); }
constexpr Tensor l1_loss(Tensor x, const auto&...) { return fail_without("losses.hpp", x, "l1_loss"); }
constexpr Tensor smooth_l1_loss(Tensor x, const auto&...) { return fail_without("losses.hpp", x, "smooth_l1_loss"); }
constexpr Tensor huber_loss(Tensor x, const auto&...) { return fail_without("losses.hpp", x, "huber_loss"); }
constexpr Tensor kl_div(Tensor x, const auto&...) { return fail_without("losses.hpp", x, "kl_div"); }
constexpr Tensor cosine_embedding_loss(Tensor x, const auto&...) {
  return fail_without("losses.hpp", x, "cosine_embedding_loss");
}
constexpr Tensor binary_cross_entropy_with_logits(Tensor x, const auto&...) {
  return fail_without("binary_cross_entropy.hpp", x, "binary_cross_entropy_with_logits");
}
}  // namespace detail::losses_elsewhere

namespace ops {
using namespace detail::losses_elsewhere;
}

}  // namespace tilewright
