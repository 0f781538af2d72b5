#pragma once
#include "tilewright/kernel/matmul/matmul.hpp"
#include "tilewright/ops/linear/matmul.hpp"

namespace tilewright {

template <PackedAttributes attributes, class A, class B, class C>
inline void MatMul::compute(A a, B b, C c, const kernel::Pieces& pieces) {
  if constexpr (rows_are_one_matrix<C, A, B>()) {
    kernel::matmul_kernel<rows_of_all<attributes, A, B, C>()>(a.data, b.data, c.data, pieces);
  } else {
    for_each_matrix<C, A, B, C>(pieces, [&](const auto& at, std::int64_t, const kernel::Pieces& of_matrix) {
      kernel::matmul_kernel<matrix<attributes, A, B, C>()>(a.data + at[0], b.data + at[1], c.data + at[2], of_matrix);
    });
  }
}

template <PackedAttributes attributes, class C, class Epilogue, class A, class B>
inline void MatMul::compute_with(const Epilogue& epilogue, A a, B b, const kernel::Pieces& pieces) {
  if constexpr (rows_are_one_matrix<C, A, B>() && Epilogue::rows_are_one_matrix) {
    kernel::matmul_kernel<rows_of_all<attributes, A, B, C>()>(a.data, b.data, epilogue, pieces);
  } else {
    for_each_matrix<C, A, B>(pieces, [&](const auto& at, std::int64_t number, const kernel::Pieces& of_matrix) {
      kernel::matmul_kernel<matrix<attributes, A, B, C>()>(a.data + at[0], b.data + at[1], epilogue.matrix(number), of_matrix);
    });
  }
}

template <PackedAttributes attributes, class A, class B, class C>
constexpr std::int64_t MatMul::stack_bytes() {
  constexpr kernel::MatMulShape s = rows_are_one_matrix<C, A, B>() ? rows_of_all<attributes, A, B, C>()
                                                                   : matrix<attributes, A, B, C>();
  return kernel::matmul_stack_bytes<s, typename A::element, typename B::element, typename C::element>;
}

template <PackedAttributes attributes, bool is_one_matrix, class A, class B, class C>
constexpr std::int64_t MatMul::stack_bytes_with() {
  constexpr kernel::MatMulShape s = rows_are_one_matrix<C, A, B>() && is_one_matrix ? rows_of_all<attributes, A, B, C>()
                                                                                    : matrix<attributes, A, B, C>();
  return kernel::MatMulChoice<s, typename A::element, typename B::element>::stack_bytes;
}

}  // namespace tilewright
