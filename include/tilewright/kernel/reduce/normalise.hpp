#pragma once
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/operand/norm_block.hpp"

namespace tilewright::kernel {

/// Bytes between the computed and the prefetched batch: a few lines of a network's width, which usually are contiguous in memory.
inline constexpr std::int64_t norm_fetch_bytes = 2048;
template <class T>
[[gnu::always_inline]] inline void fetch_ahead(const T* data) {
  // of an integer: the address may be beyond the tensor, where no pointer may point
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(data) + norm_fetch_bytes));
}

/// Computes y = (x - mean) / sqrt(variance + eps) * weight + bias for each group of a dense block. The variance is a mean over
/// the group's elements, without Bessel's correction. Also writes mean and 1 / sqrt(variance + eps), one element for each group.
template <NormBlock block, class T>
inline void normalise(const T* x, const T* weight, const T* bias, T* y, compute_t<T>* means, compute_t<T>* inverse_deviations,
                      double eps) {
  using Compute = compute_t<T>;
  constexpr std::int64_t n = block.channels * block.spatial;
  for (std::int64_t group = 0; group < block.groups; ++group) {
    const Line<const T, 1> in{x + group * n};
    const Compute mean = line_sum<n>([](const auto& a) { return a; }, in) / static_cast<Compute>(n);
    const auto square = [&](const auto& a) {
      const auto distance = a - mean;
      return distance * distance;
    };
    const Compute variance = line_sum<n>(square, in) / static_cast<Compute>(n);
    const Compute inverse = 1 / math::sqrt(variance + static_cast<Compute>(eps));
    means[group] = mean;
    inverse_deviations[group] = inverse;
    const std::int64_t first = group * block.channels;
    if constexpr (block.spatial == 1) {
      line_assign<n>([&](const auto& a, const auto& w, const auto& b) { return (a - mean) * inverse * w + b; },
                     Line<T, 1>{y + group * n}, in, Line<const T, 1>{weight + first}, Line<const T, 1>{bias + first});
    } else {
      for (std::int64_t c = 0; c < block.channels; ++c) {
        const auto factor = inverse * static_cast<Compute>(weight[first + c]), shift = static_cast<Compute>(bias[first + c]);
        const std::int64_t at = group * n + c * block.spatial;
        line_assign<block.spatial>([&](const auto& a) { return (a - mean) * factor + shift; }, Line<T, 1>{y + at},
                                   Line<const T, 1>{x + at});
      }
    }
  }
}

/// Computes the gradients of x, weight and bias; those of weight and bias are added to the outputs. With z = (x - mean) /
/// deviation and g = dy weight: dx = (g - mean(g) - z mean(g z)) / deviation, dweight = sum(dy z), dbias = sum(dy).
template <NormBlock block, class T>
inline void normalise_gradient(const T* x, const T* weight, const compute_t<T>* means, const compute_t<T>* inverse_deviations,
                               const T* dy, T* dx, compute_t<T>* dweight, compute_t<T>* dbias) {
  using Compute = compute_t<T>;
  using In = Line<const T, 1>;
  using Sums = Line<Compute, 1>;
  constexpr std::int64_t n = block.channels * block.spatial;
  for (std::int64_t group = 0; group < block.groups; ++group) {
    const Compute mean = means[group], inverse = inverse_deviations[group];
    const std::int64_t first = group * block.channels;
    const auto normal = [&](const auto& a) { return (a - mean) * inverse; };
    constexpr std::int64_t of_part = In::width * terms_of_accumulator;
    using Sum = std::conditional_t<(block.spatial == 1 ? n > of_part : block.channels > terms_of_accumulator), double, Compute>;
    Sum sum_g = 0, sum_gz = 0;
    if constexpr (block.spatial == 1) {
      const In in{x + group * n}, dy_line{dy + group * n}, weights{weight + first};
      const Sums dw{dweight + first}, db{dbias + first};
      for_each_batch<n, of_part>([&](std::int64_t begin, auto terms) {
        typename In::Batch g_sums(Compute(0)), gz_sums = g_sums;
        for_each_batch<terms(), In::width>([&](std::int64_t from, auto count) {  // beyond the rest, dy is 0
          const std::int64_t k = begin + from;
          fetch_ahead(in.data + k);
          const auto d = dy_line.template load<count()>(k), dz = d * normal(in.template load<count()>(k));
          const auto w = weights.template load<count()>(k);
          dw.template store<count()>(k, dw.template load<count()>(k) + dz);
          db.template store<count()>(k, db.template load<count()>(k) + d);
          g_sums += d * w;
          gz_sums += dz * w;
        });
        sum_g += static_cast<Sum>(math::sum(g_sums));
        sum_gz += static_cast<Sum>(math::sum(gz_sums));
      });
    } else {
      for (std::int64_t c = 0; c < block.channels; ++c) {
        const In in{x + group * n + c * block.spatial}, dy_line{dy + group * n + c * block.spatial};
        const auto w = static_cast<Compute>(weight[first + c]);
        const Compute sum_dy = line_sum<block.spatial>([](const auto& d) { return d; }, dy_line);
        const Compute sum_dyz = line_sum<block.spatial>([&](const auto& d, const auto& a) { return d * normal(a); }, dy_line, in);
        dweight[first + c] += sum_dyz;
        dbias[first + c] += sum_dy;
        sum_g += static_cast<Sum>(w * sum_dy);
        sum_gz += static_cast<Sum>(w * sum_dyz);
      }
    }
    const auto mean_g = static_cast<Compute>(sum_g / static_cast<Sum>(n)),
               mean_gz = static_cast<Compute>(sum_gz / static_cast<Sum>(n));
    const auto gradient = [&](const auto& g, const auto& a) { return inverse * (g - mean_g - normal(a) * mean_gz); };
    if constexpr (block.spatial == 1) {
      line_assign<n>([&](const auto& d, const auto& a, const auto& w) { return gradient(d * w, a); }, Line<T, 1>{dx + group * n},
                     In{dy + group * n}, In{x + group * n}, In{weight + first});
    } else {
      for (std::int64_t c = 0; c < block.channels; ++c) {
        const std::int64_t at = group * n + c * block.spatial;
        const auto w = static_cast<Compute>(weight[first + c]);
        line_assign<block.spatial>([&](const auto& d, const auto& a) { return gradient(d * w, a); }, Line<T, 1>{dx + at},
                                   In{dy + at}, In{x + at});
      }
    }
  }
}

}  // namespace tilewright::kernel
