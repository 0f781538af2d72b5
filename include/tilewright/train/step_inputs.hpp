#pragma once
// Gives each stream of a program its array: one of the batch, one that the caller names, or the seeds of the step.
#include "tilewright/core/requirements.hpp"

#include <algorithm>
#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/name.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/core/xtensor.hpp"
#include "tilewright/session/names.hpp"
#include "tilewright/session/seeds.hpp"
#include "tilewright/session/streams/streams.hpp"

namespace tilewright::train::detail {

/// Returns the input with a name, or a scalar if no input has the name.
constexpr ExpectedStream input_named(std::string_view name, const auto& inputs) {
  for (const ExpectedStream& stream : inputs)
    if (stream.name == name) return stream;
  return {};
}
/// Returns the host array of an input of a session's program, for all replicas together, or a scalar if no input has the name.
template <class Session>
constexpr ExpectedStream input_named(std::string_view name) {
  return input_named(name, expected_streams<Session::plan, StreamDirection::host_to_device>());
}
/// Returns the extents of the array that a session takes for a stream.
template <NameText name, class Session>
auto extents_of_input(const Session& session) {
  constexpr auto rank = static_cast<std::size_t>(input_named<Session>(name.view()).host_shape.rank);
  const Shape shape = input_named(name.view(), session.expected_inputs()).host_shape;
  std::array<std::size_t, rank> extents{};
  for (std::size_t axis = 0; axis < rank; ++axis) extents[axis] = static_cast<std::size_t>(shape.extents[axis]);
  return extents;
}

/// Returns the array of a batch as the session's input with a name: several micro-batches and replicas become leading axes.
template <class Session, NameText name, class Array>
decltype(auto) as_input([[maybe_unused]] const Session& session, Name<name>, const Array& batch) {
  constexpr int rank = input_named<Session>(name.view()).host_shape.rank;
  if constexpr (rank <= static_cast<int>(std::tuple_size_v<typename Array::shape_type>)) {
    return (batch);
  } else {
    const Shape shape = input_named(name.view(), session.expected_inputs()).host_shape;
    if (static_cast<std::int64_t>(batch.size()) != shape.nelms())
      throw std::invalid_argument(text("batch: '", name.view(), "' has ", batch.size(), " elements: ", shape.nelms(), " for ",
                                       to_text(shape), " expected")
                                      .string());
    return xt::adapt(batch.data(), batch.size(), xt::no_ownership(), extents_of_input<name>(session));
  }
}

/// Number of arrays of a batch.
template <class Data>
inline constexpr std::size_t array_count = decltype(boost::hana::length(boost::hana::accessors<Data>()))::value;
/// Returns the names of a batch's arrays, those of the struct's members.
template <class Data>
constexpr auto array_names() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<std::string_view, sizeof...(i)>{
        boost::hana::to<const char*>(boost::hana::first(boost::hana::at_c<i>(boost::hana::accessors<Data>())))...};
  }(std::make_index_sequence<array_count<Data>>{});
}
/// Returns the index of the array for a stream: the array of its name, or of its plural, such as `images` for "image".
/// array_count if there is none.
template <class Data>
constexpr std::size_t array_for(std::string_view stream) {
  const auto names = array_names<Data>();
  const auto is_plural = [&](std::string_view name) { return name.ends_with('s') && name.substr(0, name.size() - 1) == stream; };
  const auto same = std::find(names.begin(), names.end(), stream);
  return static_cast<std::size_t>((same != names.end() ? same : std::find_if(names.begin(), names.end(), is_plural)) -
                                  names.begin());
}
template <std::size_t i, class Data>
const auto& array_at(const Data& batch) {
  return boost::hana::second(boost::hana::at_c<i>(boost::hana::accessors<Data>()))(batch);
}

/// Position of a step in a run, which determines what the loop itself gives to a program.
struct StepPosition {
  std::uint64_t step = 0;  ///< number of steps before it
  std::uint64_t seed = 0;  ///< of the loop
};

/// Returns whether a loop makes the elements of a stream: "seed", (2,) uint32.
constexpr bool is_seed(const ExpectedStream& stream) {
  return stream.name == "seed" && stream.spec == TensorSpec{Shape{2}, uint32};
}
/// Returns the seeds of a step: those of create_seeds with the step as offset, of this process's replicas.
template <class Session>
auto seeds_of_step(const Session& session, const StepPosition& at) {
  constexpr ExpectedStream stream = input_named<Session>("seed");
  constexpr std::int64_t replicas = Session::plan.replicas, transfers = stream.host_shape.nelms() / 2 / replicas;
  const auto seeds = create_seeds(at.seed, {.offset = at.step, .replicas = replicas, .gradient_accumulation_factor = transfers});
  xt::xtensor<std::uint32_t, static_cast<std::size_t>(stream.host_shape.rank)> result(extents_of_input<"seed">(session));
  std::size_t first = 0;
  if constexpr (requires { session.first_replica(); }) first = static_cast<std::size_t>(session.first_replica());
  const std::size_t held = result.size() / 2 / static_cast<std::size_t>(transfers);
  for (std::size_t transfer = 0; transfer < static_cast<std::size_t>(transfers); ++transfer)
    std::copy_n(&seeds(0, transfer, first, 0), 2 * held, result.data() + 2 * held * transfer);
  return result;
}

/// Returns what a caller gives by name: an array of any rank, or a number or a function of the step for all elements.
template <class Session, NameText name, class Value>
decltype(auto) given_input(const Session& session, [[maybe_unused]] Name<name> stream, const Value& value,
                           const StepPosition& at) {
  constexpr ExpectedStream expected = input_named<Session>(name.view());
  constexpr auto rank = static_cast<std::size_t>(expected.host_shape.rank);
  using Element = element_t<expected.spec.dtype>;
  if constexpr (std::is_arithmetic_v<Value>) {
    return xt::xtensor<Element, rank>(extents_of_input<name>(session), static_cast<Element>(value));
  } else if constexpr (requires { value(std::int64_t{}); }) {
    const auto result = value(static_cast<std::int64_t>(at.step));
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(result)>>) return given_input(session, stream, result, at);
    else return xt::xtensor<Element, rank>(as_input(session, stream, result));
  } else {
    return as_input(session, stream, value);
  }
}

/// Inputs of a step by the names of the program's streams.
template <class Session, class Data, class... Given>
struct StepInputs {
  static constexpr auto streams = expected_streams<Session::plan, StreamDirection::host_to_device>();
  static constexpr std::size_t count = streams.size();

  static constexpr bool is_given([[maybe_unused]] std::string_view stream) { return ((Given::name::view() == stream) || ...); }
  /// Returns the name of stream i in the form of `"image"_s`.
  template <std::size_t i>
  static constexpr auto name_of() {
    return []<std::size_t... c>(std::index_sequence<c...>) {
      constexpr char characters[] = {streams[i].name[c]..., '\0'};
      return Name<NameText<sizeof...(c) + 1>(characters)>();
    }(std::make_index_sequence<streams[i].name.size()>{});
  }
  /// Returns what is wrong with the names; nothing if each stream has an array.
  static constexpr Text problem() {
    List<Text> names, known;
    for (const std::string_view name : array_names<Data>()) names.push_back(name);
    (names.push_back(Given::name::view()), ...);
    for (const ExpectedStream& stream : streams) {
      known.push_back(stream.name);
      if (!is_given(stream.name) && array_for<Data>(stream.name) == array_count<Data> && !is_seed(stream))
        return text("batch: no array for the stream '", stream.name, "' among ", join(names, ", "),
                    ": an array of its name or its plural, or a named argument, expected");
    }
    for (const std::string_view given : std::initializer_list<std::string_view>{Given::name::view()...})
      if (std::none_of(streams.begin(), streams.end(), [&](const ExpectedStream& stream) { return stream.name == given; }))
        return text("batch: no stream '", given, "' that the program loads from: one of ", join(known, ", "), " expected");
    return {};
  }

  /// Returns the array of stream i.
  template <std::size_t i>
  static decltype(auto) input(const Session& session, const Data& batch, const StepPosition& at, const Given&... given) {
    constexpr auto name = name_of<i>();
    using Stream = std::remove_const_t<decltype(name)>;
    if constexpr (is_given(name.view())) {
      constexpr std::size_t which = [] {
        std::size_t result = 0;
        for (const bool same : {std::same_as<typename Given::name, Stream>...}) {
          if (same) break;
          ++result;
        }
        return result;
      }();
      return given_input(session, name, std::get<which>(std::tie(given...)).value, at);
    } else if constexpr (array_for<Data>(name.view()) < array_count<Data>) {
      return as_input(session, name, array_at<array_for<Data>(name.view())>(batch));
    } else {
      return seeds_of_step(session, at);
    }
  }
};

/// Runs a session on a batch. Returns the session's outputs.
template <class Session, class Data, class... Given>
auto run_batch(Session& session, const Data& batch, const StepPosition& at, const Given&... given) {
  using Inputs = StepInputs<Session, Data, Given...>;
  constexpr auto problem = [] { return Inputs::problem(); };
  constexpr bool right = problem().empty();
  if constexpr (!right) {
    Report<problem>();
    return tilewright::detail::Unknown();
  } else {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      // Braces give the arrays in the order of the streams, so that the first wrong one is named.
      const std::tuple<decltype(Inputs::template input<i>(session, batch, at, given...))...> arrays{
          Inputs::template input<i>(session, batch, at, given...)...};
      return session.run((Inputs::template name_of<i>() = std::get<i>(arrays))...);
    }(std::make_index_sequence<Inputs::count>{});
  }
}

/// Returns the mean of an array of numbers, in float32.
float mean(const auto& values) {
  float sum = 0;
  for (const auto value : values) sum += static_cast<float>(value);
  return sum / static_cast<float>(values.size());
}
/// Returns the loss of a run: the mean of the stream "loss", or NaN if the program has none.
template <class Session>
float loss_of(const auto& outputs) {
  constexpr bool has_loss = [] {
    for (const ExpectedStream& stream : expected_streams<Session::plan, StreamDirection::device_to_host>())
      if (stream.name == "loss") return true;
    return false;
  }();
  if constexpr (has_loss) return detail::mean(outputs[Name<"loss">()]);
  else return std::numeric_limits<float>::quiet_NaN();
}

}  // namespace tilewright::train::detail
