#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// Name and spec of a stream: `{"x", {8, 28, 28}}`, `{"label", {8}, int32}` or `{"y", x.spec()}`.
struct StreamSpec {
  constexpr StreamSpec(std::string_view stream, const Shape& shape, DType dtype = float32) : name(stream), spec{shape, dtype} {}
  constexpr StreamSpec(std::string_view stream, const std::same_as<TensorSpec> auto& of_tensors)
      : name(stream), spec(of_tensors) {}

  std::string_view name;
  TensorSpec spec;
};

/// Streams of one direction, by name or position. InputStreams come from the host of a program, OutputStreams go to it.
///
///     const tw::InputStreams inputs(ir, {{"image", {8, 28, 28}}, {"label", {8}, tw::int32}});
///     const tw::Tensor image = tw::ops::host_load(inputs["image"]);
template <class Stream>
class NamedStreams {
 public:
  constexpr NamedStreams() = default;
  /// Creates streams. Errors: those of Ir::h2d_stream and Ir::d2h_stream.
  constexpr NamedStreams(Ir& ir, std::initializer_list<StreamSpec> streams) {
    for (const auto& [name, spec] : streams) {
      if constexpr (std::same_as<Stream, HostToDeviceStream>) streams_.push_back(ir.h2d_stream(name, spec));
      else streams_.push_back(ir.d2h_stream(name, spec));
    }
  }
  /// Returns a set of existing streams, such as those of `ir.get_all_h2d_streams()`.
  static constexpr NamedStreams from_streams(const List<Stream>& streams) {
    NamedStreams result;
    result.streams_ = streams;
    return result;
  }

  constexpr std::size_t size() const { return streams_.size(); }
  constexpr auto begin() const { return streams_.begin(); }
  constexpr auto end() const { return streams_.end(); }
  constexpr bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// Returns the stream with a name. An unknown name is an error.
  constexpr Stream operator[](std::string_view name) const {
    if (const Stream* found = find(name)) return *found;
    List<Text> names;
    for (const Stream& stream : streams_) names.push_back(stream.name());
    return fail(text("streams: '", name, "': one of ", join(names, ", "), " expected"));
  }
  /// Returns the stream at a position, from 0. A position at or beyond size() is an error.
  constexpr Stream operator[](std::size_t position) const {
    if (position < size()) return streams_[position];
    return fail(text("streams: position ", position, ": a number below ", size(), " expected"));
  }

 private:
  constexpr Stream fail(const Text& what) const {
    if (streams_.empty()) throw TraceError("streams: none: streams of a program expected");
    streams_[0].program().fail(what);
    return streams_[0];
  }
  constexpr const Stream* find(std::string_view name) const {
    for (const Stream& stream : streams_)
      if (stream.name() == name) return &stream;
    return nullptr;
  }
  List<Stream> streams_{};
};

/// Streams from the host of a program.
using InputStreams = NamedStreams<HostToDeviceStream>;
/// Streams to the host of a program.
using OutputStreams = NamedStreams<DeviceToHostStream>;

}  // namespace tilewright
