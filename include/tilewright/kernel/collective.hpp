#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tilewright/core/collective_operator.hpp"
#include "tilewright/core/replica_groups.hpp"
#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/matmul/packs.hpp"
#include "tilewright/operand/collective_chunks.hpp"

namespace tilewright::kernel {

/// A reduction element by element. Half precision is accumulated in float, and means of integers in 64 bits; sums and products of
/// integers wrap around.
template <CollectiveOperator op, class T>
struct ElementReduction {
  static constexpr bool is_float = std::is_floating_point_v<compute_t<T>>;
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  using Element = compute_t<T>;
  template <class X>
  static constexpr auto sum_type() {
    if constexpr (is_float || op == CollectiveOperator::min || op == CollectiveOperator::max) return Element{};
    else if constexpr (op == CollectiveOperator::mean) return Wide{};
    else return decltype(math::detail::wrapping(X{})){};
  }
  using Sum = decltype(sum_type<Element>());

  static Sum first(Element x) {
    if constexpr (op == CollectiveOperator::logical_and || op == CollectiveOperator::logical_or) return Sum(x != 0 ? 1 : 0);
    else if constexpr (op == CollectiveOperator::square_add) return static_cast<Sum>(x) * static_cast<Sum>(x);
    else return static_cast<Sum>(x);
  }
  static Sum next(Sum sum, Element x) {
    if constexpr (op == CollectiveOperator::mul) return sum * static_cast<Sum>(x);
    else if constexpr (op == CollectiveOperator::min) return x < sum || x != x ? x : sum;
    else if constexpr (op == CollectiveOperator::max) return x > sum || x != x ? x : sum;
    else if constexpr (op == CollectiveOperator::logical_and) return x != 0 ? sum : Sum(0);
    else if constexpr (op == CollectiveOperator::logical_or) return x != 0 ? Sum(1) : sum;
    else if constexpr (op == CollectiveOperator::square_add) return math::fma(static_cast<Sum>(x), static_cast<Sum>(x), sum);
    else return math::add(sum, static_cast<Sum>(x));
  }
  static Element last(Sum sum, std::int64_t count) {
    if constexpr (op == CollectiveOperator::mean) return static_cast<Element>(sum / static_cast<Sum>(count));
    else return static_cast<Element>(sum);
  }
};

/// Reduces `count` elements of each member, at most a chunk, in the order of the members. A member's elements begin at
/// `first_of(member)`; `result` may be the elements of one member.
template <CollectiveOperator op, class T, class FirstOf>
inline void reduce_members(std::int64_t members, FirstOf first_of, std::int64_t count, T* result) {
  using R = ElementReduction<op, T>;
  alignas(64) typename R::Sum sums[collective_chunk];
  const auto add = [&](const auto* x, bool is_first) {
    if (is_first)
      for (std::int64_t i = 0; i < count; ++i) sums[i] = R::first(x[i]);
    else
      for (std::int64_t i = 0; i < count; ++i) sums[i] = R::next(sums[i], x[i]);
  };
  if constexpr (is_half_type<T>) {
    alignas(64) float elements[collective_chunk];
    for (std::int64_t member = 0; member < members; ++member) {
      load_wide<1>(first_of(member), count, elements);
      add(elements, member == 0);
    }
    for (std::int64_t i = 0; i < count; ++i) sums[i] = R::last(sums[i], members);
    store_wide<1>(sums, count, result);
  } else {
    for (std::int64_t member = 0; member < members; ++member) add(first_of(member), member == 0);
    for (std::int64_t i = 0; i < count; ++i) result[i] = R::last(sums[i], members);
  }
}

/// Divides the elements [first, first + count) at the ends of rows of `run` elements, and calls f(row, offset in the row,
/// elements before, count) for each piece.
template <std::int64_t run, class F>
inline void for_each_run(std::int64_t first, std::int64_t count, F&& f) {
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t row = (first + done) / run, offset = (first + done) % run;
    const std::int64_t piece = (std::min)(run - offset, count - done);
    f(row, offset, done, piece);
    done += piece;
  }
}

template <class T>
inline T* elements_of(std::byte* operand) {
  return reinterpret_cast<T*>(operand);
}

/// Items [first, last) of a collective on R replicas: `operands` are R inputs, then R outputs, dense and row-major. The results
/// have equal bits however threads share the items.

/// An item is a chunk of a group: it is reduced, replica after replica, and written to all of them. Outputs may be the inputs.
template <CollectiveOperator op, class T, std::int64_t elements, ReplicaGroups groups>
inline void reduce_over_replicas(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t chunks = collective_chunks(elements), members = groups.group_size;
  for (std::int64_t item = first; item < last; ++item) {
    const std::int64_t group = item / chunks, begin = item % chunks * collective_chunk;
    const std::int64_t count = (std::min)(collective_chunk, elements - begin);
    const auto place = [&](std::int64_t operand) { return elements_of<T>(operands[operand]) + begin; };
    const auto output = [&](std::int64_t i) { return place(groups.num_replicas + groups.member(group, i)); };
    reduce_members<op>(members, [&](std::int64_t i) -> const T* { return place(groups.member(group, i)); }, count, output(0));
    for (std::int64_t i = 1; i < members; ++i) std::copy_n(output(0), count, output(i));
  }
}

/// An item is a chunk of a replica's result, its shard of the reduction: `piece` elements, from its index in the group times
/// `piece` on. Zeros fill the last shard beyond the end of the tensor.
template <CollectiveOperator op, class T, std::int64_t elements, std::int64_t piece, ReplicaGroups groups>
inline void reduce_scatter_over_replicas(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t chunks = collective_chunks(piece);
  for (std::int64_t item = first; item < last; ++item) {
    const std::int64_t replica = item / chunks, begin = item % chunks * collective_chunk;
    const std::int64_t group = groups.group_of(replica), from = groups.index_in_group(replica) * piece + begin;
    const std::int64_t room = (std::min)(collective_chunk, piece - begin);
    const std::int64_t count = std::clamp<std::int64_t>(elements - from, 0, room);
    T* const to = elements_of<T>(operands[groups.num_replicas + replica]) + begin;
    const auto source = [&](std::int64_t of) -> const T* { return elements_of<T>(operands[of]) + from; };
    if constexpr (op == CollectiveOperator::local) std::copy_n(count > 0 ? source(replica) : to, count, to);
    else if (count > 0)
      reduce_members<op>(groups.group_size, [&](std::int64_t i) { return source(groups.member(group, i)); }, count, to);
    std::fill_n(to + count, room - count, T(0));
  }
}

/// An item is a chunk of a replica's result: `run` elements of each row of (group size x `run`), those at its index in the group.
template <class T, std::int64_t elements, std::int64_t run, ReplicaGroups groups>
inline void slice_for_replicas(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t chunks = collective_chunks(elements);
  for (std::int64_t item = first; item < last; ++item) {
    const std::int64_t replica = item / chunks, begin = item % chunks * collective_chunk;
    const T* const from = elements_of<const T>(operands[replica]) + groups.index_in_group(replica) * run;
    T* const to = elements_of<T>(operands[groups.num_replicas + replica]) + begin;
    for_each_run<run>(begin, (std::min)(collective_chunk, elements - begin),
                      [&](std::int64_t row, std::int64_t offset, std::int64_t done, std::int64_t count) {
                        std::copy_n(from + row * groups.group_size * run + offset, count, to + done);
                      });
  }
}

/// An item is a chunk of a group's result, which is equal for all its replicas: rows of `run` elements from each replica in turn.
template <class T, std::int64_t elements, std::int64_t run, ReplicaGroups groups>
inline void gather_over_replicas(std::byte* const* operands, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t chunks = collective_chunks(elements), members = groups.group_size;
  alignas(64) T chunk[collective_chunk];
  for (std::int64_t item = first; item < last; ++item) {
    const std::int64_t group = item / chunks, begin = item % chunks * collective_chunk;
    const std::int64_t size = (std::min)(collective_chunk, elements - begin);
    for_each_run<run>(begin, size, [&](std::int64_t row, std::int64_t offset, std::int64_t done, std::int64_t count) {
      const T* const from = elements_of<const T>(operands[groups.member(group, row % members)]);
      std::copy_n(from + row / members * run + offset, count, chunk + done);
    });
    for (std::int64_t i = 0; i < members; ++i)
      std::copy_n(chunk, size, elements_of<T>(operands[groups.num_replicas + groups.member(group, i)]) + begin);
  }
}

}  // namespace tilewright::kernel
