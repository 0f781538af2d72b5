#pragma once
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/data/data_error.hpp"
#include "tilewright/data/dataset.hpp"
#include "tilewright/data/shuffle.hpp"

namespace tilewright::data {

/// Copies the samples with the given indices, in this order, as torch.utils.data.Subset; an index may repeat. Throws DataError
/// for an index outside of the data set, for arrays with different numbers of samples, and if memory runs out.
///
///     const tw::data::Dataset zeros_and_ones = tw::data::subset(digits.train, indices);
template <Samples Data>
[[nodiscard]] Data subset(const Data& dataset, std::span<const std::size_t> indices) {
  const std::size_t count = detail::sample_count(dataset, "subset");
  for (const std::size_t index : indices)
    if (index >= count)
      throw DataError("subset", "sample " + std::to_string(index) + " of " + std::to_string(count),
                      "a number below " + std::to_string(count));
  return detail::with_memory("subset", detail::Amount{"", indices.size(), " samples"},
                             tilewright::detail::saturated_product({indices.size(), detail::sample_bytes(dataset)}), [&] {
                               Data result;
                               boost::hana::for_each(boost::hana::accessors<Data>(), [&](auto name_and_access) {
                                 const auto& source = boost::hana::second(name_and_access)(dataset);
                                 auto& array = boost::hana::second(name_and_access)(result);
                                 auto shape = source.shape();
                                 shape[0] = indices.size();
                                 array.resize(shape);
                                 const std::size_t size = count == 0 ? 0 : source.size() / count;  // of a sample
                                 for (std::size_t i = 0; i < indices.size(); ++i)
                                   std::copy_n(source.data() + indices[i] * size, size, array.data() + i * size);
                               });
                               return result;
                             });
}
template <Samples Data>
[[nodiscard]] Data subset(const Data& dataset, std::initializer_list<std::size_t> indices) {
  return subset(dataset, std::span<const std::size_t>(indices.begin(), indices.size()));
}
/// Copies the samples `begin` to `end` - 1. Throws DataError for a range outside of the data set.
template <Samples Data>
[[nodiscard]] Data subset(const Data& dataset, std::size_t begin, std::size_t end) {
  const std::size_t count = detail::sample_count(dataset, "subset");
  if (begin > end || end > count)
    throw DataError("subset",
                    "samples " + std::to_string(begin) + " to before " + std::to_string(end) + " of " + std::to_string(count),
                    "a range within 0 to " + std::to_string(count));
  return subset(dataset, std::span<const std::size_t>(detail::sample_numbers("subset", end - begin, begin)));
}

namespace detail {
/// Returns the number of samples in each part.
template <class Number, std::size_t parts>
std::array<std::size_t, parts> part_sizes(std::size_t count, const Number (&given)[parts]) {
  std::array<std::size_t, parts> sizes{};
  std::string text;
  for (const Number part : given) text += (text.empty() ? "" : ", ") + std::to_string(part);
  const auto ensure = [&](bool fact, const std::string& expected) {
    if (!fact) throw DataError("random_split", "parts " + text + " of " + std::to_string(count) + " samples", expected);
  };
  if constexpr (std::integral<Number>) {
    std::size_t left = count;
    for (std::size_t i = 0; i < parts; ++i) {
      ensure(std::cmp_greater_equal(given[i], 0) && std::cmp_less_equal(given[i], left),
             "numbers of samples whose sum is theirs");
      left -= sizes[i] = static_cast<std::size_t>(given[i]);
    }
    ensure(left == 0, "numbers of samples whose sum is theirs");
  } else {
    double sum = 0;
    for (const Number part : given) {
      ensure(part >= 0 && part <= 1, "shares of at least 0 whose sum is 1");
      sum += static_cast<double>(part);
    }
    ensure(std::abs(sum - 1) < 1e-6, "shares of at least 0 whose sum is 1");
    std::size_t left = count;
    for (std::size_t i = 0; i < parts; ++i) {
      sizes[i] = (std::min)(left,
                            static_cast<std::size_t>(std::floor(static_cast<double>(count) * static_cast<double>(given[i]))));
      left -= sizes[i];
    }
    for (std::size_t i = 0; left > 0; i = (i + 1) % parts, --left) ++sizes[i];
  }
  return sizes;
}
}  // namespace detail

/// Copies the samples into several parts, drawn at random without replacement, as torch.utils.data.random_split. Parts are given
/// as shares whose sum is 1, or as numbers of samples whose sum is that of the data set. Samples that remain after rounding
/// shares down go to the first parts, one each. The seed determines the parts, on every platform. Throws DataError for other
/// sums.
///
///     const auto [training, validation] = tw::data::random_split(digits.train, {0.9, 0.1}, /*seed=*/1);
///     const auto [first, second] = tw::data::random_split(dataset, {800, 200});
template <Samples Data, class Number, std::size_t parts>
  requires(std::integral<Number> || std::floating_point<Number>)
[[nodiscard]] std::array<Data, parts> random_split(const Data& dataset, const Number (&sizes)[parts], std::uint64_t seed = 0) {
  const std::size_t count = detail::sample_count(dataset, "random_split");
  const std::array<std::size_t, parts> counts = detail::part_sizes(count, sizes);
  std::vector<std::size_t> order = detail::sample_numbers("random_split", count);
  Random random(seed);
  shuffle(std::span(order), random);
  std::array<Data, parts> result;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    result[i] = subset(dataset, std::span<const std::size_t>(order).subspan(begin, counts[i]));
    begin += counts[i];
  }
  return result;
}

}  // namespace tilewright::data
