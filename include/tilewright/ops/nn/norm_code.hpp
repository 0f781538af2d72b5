#pragma once
#include "tilewright/kernel/reduce/normalise.hpp"
#include "tilewright/ops/nn/norm.hpp"

namespace tilewright {

template <class N>
template <PackedAttributes A, class X, class W, class Mean, class Inverse, class DY, class DX, class DW, class DB>
constexpr std::int64_t NormGrad<N>::stack_bytes() {
  constexpr auto of_sum = static_cast<std::int64_t>(sizeof(compute_t<typename X::element>));
  constexpr bool rounds = !std::is_same_v<typename DW::element, compute_t<typename X::element>>;
  return 2 * W::shape.nelms() * ((in_parts<X> ? of_sum + static_cast<std::int64_t>(sizeof(double)) : 0) + (rounds ? of_sum : 0));
}

template <class N>
template <PackedAttributes A, class X, class W, class Mean, class Inverse, class DY, class DX, class DW, class DB>
inline void NormGrad<N>::compute(X x, W weight, Mean mean, Inverse inverse, DY dy, DX dx, DW dweight, DB dbias) {
  using T = typename X::element;
  constexpr auto weights = static_cast<std::size_t>(W::shape.nelms());
  constexpr int leading = N::leading_axes(X::shape);
  using C = compute_t<T>;
  const auto add_rows = [&](C* dw, C* db) {
    std::fill_n(dw, weights, C(0));
    std::fill_n(db, weights, C(0));
    constexpr std::size_t parts = in_parts<X> ? weights : 1;
    C part_dw[parts]{}, part_db[parts]{};
    double total_dw[parts]{}, total_db[parts]{};
    [[maybe_unused]] std::int64_t terms = 0;
    [[maybe_unused]] const auto empty = [&] {
      for (std::size_t i = 0; i < weights; ++i) {
        total_dw[i] += static_cast<double>(std::exchange(part_dw[i], C(0)));
        total_db[i] += static_cast<double>(std::exchange(part_db[i], C(0)));
      }
      terms = 0;
    };
    NormGrad::template for_each_row<leading, X, Mean, Inverse, DY, DX>([&](const auto& at) {
      kernel::normalise_gradient<N::block(X::shape, unpack<NormAttributes>(A)), T>(
          x.data + at[0], weight.data, mean.data + at[1], inverse.data + at[2], dy.data + at[3], dx.data + at[4],
          in_parts<X> ? part_dw : dw, in_parts<X> ? part_db : db);
      if constexpr (in_parts<X>)
        if (++terms == kernel::terms_of_accumulator) empty();
    });
    if constexpr (in_parts<X>) {
      empty();
      for (std::size_t i = 0; i < weights; ++i) dw[i] = static_cast<C>(total_dw[i]), db[i] = static_cast<C>(total_db[i]);
    }
  };
  if constexpr (std::is_same_v<typename DW::element, compute_t<T>>) {
    add_rows(dweight.data, dbias.data);
  } else {
    C dw[weights], db[weights];
    add_rows(dw, db);
    const auto round = [](C* sums, typename DW::element* to) {
      kernel::line_assign<W::shape.nelms()>([](const auto& sum) { return sum; }, kernel::Line<typename DW::element, 1>{to},
                                            kernel::Line<const C, 1>{sums});
    };
    round(dw, dweight.data);
    round(db, dbias.data);
  }
}

template <class D>
template <PackedAttributes A, class X, class W, class B, class Y, class Mean, class Inverse>
inline void Normalisation<D>::compute(X x, W weight, B bias, Y y, Mean mean, Inverse inverse) {
  D::template for_each_row<D::leading_axes(X::shape), X, Y, Mean, Inverse>([&](const auto& at) {
    kernel::normalise<D::block(X::shape, unpack<NormAttributes>(A)), typename X::element>(
        x.data + at[0], weight.data, bias.data, y.data + at[1], mean.data + at[2], inverse.data + at[3],
        unpack<NormAttributes>(A).eps);
  });
}

}  // namespace tilewright
