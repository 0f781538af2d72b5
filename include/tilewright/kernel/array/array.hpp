#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/kernel/array/rows.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {
template <class V, class = std::make_index_sequence<static_cast<std::size_t>(V::shape.rank)>>
struct FixedShapeOf;
template <class V, std::size_t... axis>
struct FixedShapeOf<V, std::index_sequence<axis...>>
    : std::type_identity<xt::fixed_shape<static_cast<std::size_t>(V::shape.extents[axis])...>> {};
/// Shape of V as a type of xtensor.
template <class V>
using FixedShape = typename FixedShapeOf<V>::type;

/// Returns the index for a range of xtensor.
template <class It>
constexpr ArrayIndex array_index(It first, It last) {
  ArrayIndex index;
  for (int axis = -static_cast<int>(last - first); axis < 0; ++axis, ++first) index[axis] = static_cast<std::int64_t>(*first);
  return index;
}
/// Types that xtensor requires of an expression, for elements of T and Space's shape.
template <class D, class T, class Space>
struct ArrayTypes {
  using value_type = T;
  using reference = T;
  using const_reference = T;
  using size_type = std::size_t;
  using inner_shape_type = FixedShape<Space>;
  using const_stepper = xt::xindexed_stepper<D, true>;
  using stepper = const_stepper;
};

}  // namespace tilewright::kernel

namespace xt {
template <class V>
struct xcontainer_inner_types<tilewright::kernel::ArrayOf<V>>
    : tilewright::kernel::ArrayTypes<tilewright::kernel::ArrayOf<V>, tilewright::kernel::array_t<typename V::element>, V> {};
template <class V>
struct xiterable_inner_types<tilewright::kernel::ArrayOf<V>> : xcontainer_inner_types<tilewright::kernel::ArrayOf<V>> {};
}  // namespace xt

namespace tilewright::kernel {

/// A read-only expression of xtensor. D defines `element_at(ArrayIndex)`.
template <class D>
struct ArrayExpression : xt::xexpression<D>, xt::xconst_iterable<D>, xt::xconst_accessible<D> {
  using types = xt::xcontainer_inner_types<D>;
  using value_type = typename types::value_type;
  using reference = value_type;
  using const_reference = value_type;
  using pointer = const value_type*;
  using const_pointer = const value_type*;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using inner_shape_type = typename types::inner_shape_type;
  using shape_type = inner_shape_type;
  using stepper = typename types::stepper;
  using const_stepper = stepper;
  using expression_tag = xt::xtensor_expression_tag;
  using bool_load_type = xt::bool_load_type<value_type>;
  static constexpr xt::layout_type static_layout = xt::layout_type::dynamic;
  static constexpr bool contiguous_layout = false;

  using xt::xconst_accessible<D>::shape;
  const shape_type& shape() const {
    static constexpr shape_type result{};
    return result;
  }
  xt::layout_type layout() const { return static_layout; }
  bool is_contiguous() const { return false; }
  template <class... J>
  value_type operator()(J... i) const {
    const std::size_t index[sizeof...(i) + 1]{static_cast<std::size_t>(i)...};
    return element(index, index + sizeof...(i));
  }
  template <class It>
  value_type element(It first, It last) const {
    return static_cast<const D&>(*this).element_at(array_index(first, last));
  }
  template <class S>
  bool broadcast_shape(S& all, bool = false) const {
    return xt::broadcast_shape(shape(), all);
  }
  template <class S>
  bool has_linear_assign(const S&) const {
    return false;
  }
  template <class S>
  const_stepper stepper_begin(const S& all) const {
    return const_stepper(static_cast<const D*>(this), all.size() - shape().size());
  }
  template <class S>
  const_stepper stepper_end(const S& all, xt::layout_type) const {
    return const_stepper(static_cast<const D*>(this), all.size() - shape().size(), true);
  }
};

constexpr bool has_array(DType dtype) { return is_int(dtype) || computes_in_float(dtype) || dtype == float64; }

/// Elements of a view as numbers of the type in which kernels compute. D is ArrayOf<V>.
template <class V>
struct ViewArray : ArrayExpression<ArrayOf<V>> {
  const typename V::element* data;
  explicit ViewArray(const typename V::element* first) : data(first) {}
  static auto of(typename V::element* first) {
    if constexpr (!has_array(V::spec.dtype)) {
      constexpr auto message = [] {
        return text("array(): a view of ", to_text(V::spec.dtype), ": float16, bfloat16, float32, float64 or integers expected");
      };
      Report<message>();
    }
    return ArrayOf<V>(first);
  }
  array_t<typename V::element> element_at(const ArrayIndex& at) const {
    return static_cast<array_t<typename V::element>>(data[MemoryNode<V::spec>::offset(at)]);
  }
};
template <ViewSpec spec, bool is_input>
struct ArrayNode<ArrayOf<View<spec, is_input>>> : ArrayNode<View<spec, is_input>> {};

/// Returns the axis along which a view's elements are computed: the first one with contiguous elements, otherwise the last. It
/// does not depend on extents, so it is equal for all parts of a tensor.
constexpr int row_axis(const ViewSpec& view) {
  for (int axis = -view.shape.rank; axis < 0; ++axis)
    if (view.stride(axis) == 1) return axis;
  return -1;
}

/// Calls f(index) for each index of a shape, with 0 for axis `axis`.
template <Shape shape, int axis, class F>
inline void for_each_row(F&& f) {
  static constexpr auto others = [] {
    Pair<Shape, std::array<int, max_rank>> result{};
    for (int other = -shape.rank; other < 0; ++other) {
      if (other == axis) continue;
      result.second[static_cast<std::size_t>(result.first.rank)] = other;
      result.first.push_back(shape[other]);
    }
    return result;
  }();
  for_each_index(others.first, others.second, ArrayIndex(), f);
}

/// Writes the elements of an expression to a view, batch by batch. The expression may read memory that the view writes, but only
/// at the position that is written.
template <class V, class E>
inline void assign_array(V to, const E& e) {
  using Given = ArrayNodeOf<E>;
  using Element = typename V::element;
  using T = array_t<Element>;
  if constexpr (requires { requires Given::is_reduction && Given::shape == V::shape; }) {
    e.assign_to(to);
  } else if constexpr (std::is_same_v<JoinedType<typename Given::type, T>, T>) {
    using Batch = simd::batch<T>;
    constexpr auto width = static_cast<std::int64_t>(Batch::size);
    if constexpr (V::shape.nelms() > 0 && V::spec.strides == dense_strides(V::shape) && is_run<Given>(V::shape)) {
      const auto row = Given::template row<run_axis(V::shape), Batch>(e, ArrayIndex());
      for_each_batch<V::shape.nelms(), width>([&, line = ArrayLine<Element, 1>{to.data}](std::int64_t k, auto count) {
        line.template store<count()>(k, Batch(row.template load<count()>(k)));
      });
    } else {
      constexpr int axis = row_axis(V::spec);
      for_each_row<V::shape, axis>([&](const ArrayIndex& at) {
        const auto row = Given::template row<axis, Batch>(e, at);
        const ArrayLine<Element, stride_along(V::spec, axis)> line{to.data + MemoryNode<V::spec>::offset(at)};
        for_each_batch<(V::shape.rank == 0 ? 1 : V::shape[axis]), width>(
            [&](std::int64_t k, auto count) { line.template store<count()>(k, Batch(row.template load<count()>(k))); });
      });
    }
  } else {
    constexpr int axis = row_axis(V::spec);
    for_each_row<V::shape, axis>([&](const ArrayIndex& at) {
      const auto row = Given::template row<axis, OneByOne>(e, at);
      Element* const line = to.data + MemoryNode<V::spec>::offset(at);
      for (std::int64_t k = 0; k < (V::shape.rank == 0 ? 1 : V::shape[axis]); ++k)
        line[k * stride_along(V::spec, axis)] = element_cast<Element>(row.template load<1>(k));
    });
  }
}

/// Returns whether a tensor of shape `from` can be broadcast to `to`.
constexpr bool broadcasts_to(const Shape& from, const Shape& to) {
  BroadcastShape both{to};
  both.add(from);
  return both.fits && both.shape == to;
}

/// Elements of an op's input: an expression of xtensor of static shape, whose numbers have the type in which kernels compute
/// (float for half precision, integers of 32 bits for smaller ones).
template <ViewSpec spec>
struct ArrayOf<View<spec, true>> : ViewArray<View<spec, true>> {
  using ViewArray<View<spec, true>>::ViewArray;
  ArrayOf(const ArrayOf&) = default;
  template <class E>
  void operator=(const E&) const {
    constexpr auto message = [] {
      return text("array() of ", to_text(spec.shape), " = ...: the array of an input: that of an output expected");
    };
    Report<message>();
  }
};

/// Elements of an op's output. `=` computes an expression, which is broadcast to the output, and rounds each element once without
/// allocating memory. It can also be read, like an input.
template <ViewSpec spec>
struct ArrayOf<View<spec, false>> : ViewArray<View<spec, false>> {
  explicit ArrayOf(typename View<spec>::element* first) : ViewArray<View<spec, false>>(first), to_{first} {}
  ArrayOf(const ArrayOf&) = default;

  template <class E>
  auto operator=(const E& e) const {
    using Given = ArrayNodeOf<E>;
    if constexpr (std::is_arithmetic_v<E>) {
      *this = xt::xscalar<E>(e);
    } else if constexpr (!Given::is_array) {
      constexpr auto message = [] {
        return text("array() of ", to_text(spec.shape),
                    " = ...: numbers, arrays, functions of them, and reductions of authoring expected");
      };
      Report<message>();
    } else if constexpr (!broadcasts_to(Given::shape, spec.shape)) {
      constexpr auto message = [] {
        return text("array() of ", to_text(spec.shape), " = an array of ", to_text(Given::shape),
                    ": an array that can be broadcast to ", to_text(spec.shape), " expected");
      };
      Report<message>();
    } else {
      assign_array(to_, e);
    }
  }
  void operator=(const ArrayOf& e) const { operator= <ArrayOf>(e); }

 private:
  View<spec> to_;
};

}  // namespace tilewright::kernel
