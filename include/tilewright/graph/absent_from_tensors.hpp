#pragma once
#include <concepts>

namespace tilewright::detail {

/// Functions that PyTorch's tensors have and traced tensors lack. Each is an error that says what to write instead. Their bodies
/// are compiled only where they are called, after graph/ir.hpp, which has fail_as_absent.
class AbsentFromTensors {
 public:
  constexpr auto view(const auto&... y) const { return fail_as_absent(*this, "view(-1, 784)", "x.reshape({-1, 784})", y...); }
  constexpr auto permute(const auto&... y) const {
    return fail_as_absent(*this, "permute(0, 2, 1)", "x.transpose({0, 2, 1})", y...);
  }
  constexpr auto unsqueeze(const auto&... y) const {
    return fail_as_absent(*this, "unsqueeze(0)", "x.reshape with another extent of 1", y...);
  }
  constexpr auto size(const auto&... y) const { return fail_as_absent(*this, "size()", "x.shape(axis), or x.nelms()", y...); }
  constexpr auto numel(const auto&... y) const { return fail_as_absent(*this, "numel()", "x.nelms()", y...); }
  constexpr auto dim(const auto&... y) const { return fail_as_absent(*this, "dim()", "x.rank()", y...); }
  constexpr auto to(const auto&... y) const { return fail_as_absent(*this, "to(float16)", "x.cast(tw::float16)", y...); }
  constexpr auto item(const auto&... y) const {
    return fail_as_absent(*this, "item(), because a run computes the elements", "ops::host_store to a stream", y...);
  }
  constexpr void backward(const auto&... y) const {
    fail_as_absent(*this, "backward()", "tw::train::minimise, or tw::autodiff(graph) and a call of the graph that it gives,",
                   y...);
  }
  constexpr auto relu(const auto&... y) const { return fail_as_absent(*this, "relu()", "ops::relu(x)", y...); }
  constexpr auto softmax(const auto&... y) const { return fail_as_absent(*this, "softmax(1)", "ops::softmax(x, 1)", y...); }
  constexpr auto exp(const auto&... y) const { return fail_as_absent(*this, "exp()", "ops::exp(x)", y...); }
  constexpr auto log(const auto&... y) const { return fail_as_absent(*this, "log()", "ops::log(x)", y...); }
  constexpr auto sqrt(const auto&... y) const { return fail_as_absent(*this, "sqrt()", "ops::sqrt(x)", y...); }
  constexpr auto pow(const auto&... y) const { return fail_as_absent(*this, "pow(2)", "ops::pow(x, 2)", y...); }
  constexpr auto argmax(const auto&... y) const { return fail_as_absent(*this, "argmax(1)", "ops::argmax(x, 1)", y...); }

  constexpr auto operator<(const auto& y) const { return fail_as_absent(*this, "x < y", "ops::less(x, y)", y); }
  constexpr auto operator<=(const auto& y) const { return fail_as_absent(*this, "x <= y", "ops::less_equal(x, y)", y); }
  constexpr auto operator>(const auto& y) const { return fail_as_absent(*this, "x > y", "ops::greater(x, y)", y); }
  constexpr auto operator>=(const auto& y) const { return fail_as_absent(*this, "x >= y", "ops::greater_equal(x, y)", y); }
  template <std::same_as<bool> Truth>
  constexpr explicit operator Truth() const {
    return fail_as_absent(*this, "value before a run", "ops::where, or tw::conditional, for a choice by elements", Truth()),
           false;
  }

  constexpr void operator+=(const auto& y) && { fail_as_absent(*this, "x[...] += y", "ops::add_(ops::slice_(x, 0, 2), y)", y); }
  constexpr void operator-=(const auto& y) && { fail_as_absent(*this, "x[...] -= y", "ops::sub_(ops::slice_(x, 0, 2), y)", y); }
  constexpr void operator*=(const auto& y) && { fail_as_absent(*this, "x[...] *= y", "ops::mul_(ops::slice_(x, 0, 2), y)", y); }
  constexpr void operator/=(const auto& y) && { fail_as_absent(*this, "x[...] /= y", "ops::div_(ops::slice_(x, 0, 2), y)", y); }
};

}  // namespace tilewright::detail
