#pragma once
#include "tilewright/core/requirements.hpp"

#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/core/name.hpp"
#include "tilewright/data/dataset.hpp"

namespace tilewright::data {

/// Type of a named array in Arrays: `NamedArray<decltype("state"_s), xt::xtensor<float, 2>>`.
template <class Name, class Array>
struct NamedArray {};

namespace detail {
/// Type of a part of Arrays, and the key of its array: its name, or array_<position>.
template <class Part>
struct ArrayPart {
  using type = Part;
  static constexpr bool has_name = false;
  template <std::size_t position>
  static constexpr auto key() {
    static_assert(position < 10, "Arrays: more than 10 arrays without names: \"name\"_s = array for each expected");
    return boost::hana::string<'a', 'r', 'r', 'a', 'y', '_', static_cast<char>('0' + position)>{};
  }
};
template <class Name, class Array>
struct ArrayPart<NamedArray<Name, Array>> {
  using type = Array;
  static constexpr bool has_name = true;
  template <std::size_t>
  static constexpr auto key() {
    return Name::key();
  }
};
template <class Part>
using array_of = typename ArrayPart<Part>::type;

/// Returns whether all keys of a data set differ.
template <class... Key>
constexpr bool all_differ() {
  const std::string_view keys[] = {boost::hana::to<const char*>(Key{})...};
  for (std::size_t i = 0; i < sizeof...(Key); ++i)
    for (std::size_t other = 0; other < i; ++other)
      if (keys[i] == keys[other]) return false;
  return true;
}
}  // namespace detail

/// Samples in memory, made from the user's arrays without a struct: any number of xt::xtensors of any dtype, with or without
/// names. The first axis of each is over samples. A Loader's batch has the same type. Names are those of a session's streams, so
/// a loop can give each array to its stream. Arrays without names have the names array_0, array_1 and so on, and need no more
/// than 10.
///
///     tw::data::Arrays games("state"_s = states, "reward"_s = std::move(rewards));  // copies states, moves rewards
///     for (const auto& batch : tw::data::Loader(games, {.batch_size = 32}))
///       session.run("state"_s = batch["state"_s], "reward"_s = batch["reward"_s]);
///
///     tw::data::Arrays pairs(texts, images);
///     for (const auto& [text, image] : tw::data::Loader(pairs, {.batch_size = 8})) train(text, image);
template <class... Parts>
class Arrays {
  static_assert(sizeof...(Parts) > 0 && (SampleArray<detail::array_of<Parts>> && ...),
                "Arrays: arrays xt::xtensor, row-major, with elements of a dtype and an axis of the samples, expected");
  static_assert((detail::ArrayPart<Parts>::has_name && ...) || (!detail::ArrayPart<Parts>::has_name && ...),
                "Arrays: some arrays with a name and some without: all or none expected");
  using Tuple = std::tuple<detail::array_of<Parts>...>;
  static constexpr auto positions = std::index_sequence_for<Parts...>{};

 public:
  /// Makes arrays without samples.
  Arrays() = default;
  /// Copies or moves arrays without names. Throws DataError if their numbers of samples differ.
  explicit Arrays(detail::array_of<Parts>... arrays)
    requires(!detail::ArrayPart<Parts>::has_name && ...)
      : arrays_(std::move(arrays)...) {
    detail::sample_count(*this, "Arrays");
  }
  /// Copies or moves arrays with names, as in `Arrays("image"_s = images, "label"_s = labels)`. Throws DataError if their numbers
  /// of samples differ.
  template <class... Name, class... T>
  explicit Arrays(NamedArgument<Name, T>... arrays)
    requires(std::is_same_v<Parts, NamedArray<Name, std::remove_cvref_t<T>>> && ...)
      : arrays_(static_cast<T&&>(arrays.value)...) {
    detail::sample_count(*this, "Arrays");
  }

  /// Returns the number of samples.
  std::size_t size() const { return std::get<0>(arrays_).shape(0); }
  /// Returns the array with a name: `batch["state"_s]`.
  template <NameText name>
  const auto& operator[](Name<name>) const {
    return get<detail::array_index<Arrays, name>()>();
  }
  template <NameText name>
  auto& operator[](Name<name>) {
    return get<detail::array_index<Arrays, name>()>();
  }
  /// Returns the array at a position, for structured bindings, too.
  template <std::size_t position>
  const auto& get() const {
    return std::get<position>(arrays_);
  }
  template <std::size_t position>
  auto& get() {
    return std::get<position>(arrays_);
  }

  /// Makes this class a struct for Boost.Hana.
  struct hana_accessors_impl {
    static constexpr auto apply() {
      return []<std::size_t... i>(std::index_sequence<i...>) {
        using Keys = std::tuple<decltype(detail::ArrayPart<Parts>::template key<i>())...>;
        static_assert(detail::all_differ<std::tuple_element_t<i, Keys>...>(),
                      "Arrays: a name given twice: one for each array expected");
        return boost::hana::make_tuple(boost::hana::make_pair(
            detail::ArrayPart<Parts>::template key<i>(), [](auto&& arrays) -> auto&& { return arrays.template get<i>(); })...);
      }(positions);
    }
  };

 private:
  Tuple arrays_{};
};
template <class... Array>
Arrays(Array...) -> Arrays<Array...>;
template <class... Name, class... T>
Arrays(NamedArgument<Name, T>...) -> Arrays<NamedArray<Name, std::remove_cvref_t<T>>...>;

}  // namespace tilewright::data

namespace std {
template <class... Parts>
struct tuple_size<tilewright::data::Arrays<Parts...>> : integral_constant<size_t, sizeof...(Parts)> {};
template <size_t position, class... Parts>
struct tuple_element<position, tilewright::data::Arrays<Parts...>> {
  using type = tuple_element_t<position, tuple<tilewright::data::detail::array_of<Parts>...>>;
};
}  // namespace std
