#pragma once
#include "tilewright/op/op.hpp"

namespace tilewright {

struct StreamAttributes {
  std::int64_t stream = -1;
};

/// The next tensor of a host-to-device stream. The planner lowers it, and HostStore, to copies.
struct HostLoad : Op<HostLoad> {
  static constexpr std::string_view name = "HostLoad";
  constexpr operator Effects() const { return Effects{.has_side_effect = true}; }
  using Attributes = StreamAttributes;
  constexpr operator Movement() const { return Movement{.transfer = transfer}; }
  static constexpr Transfer transfer(const PackedAttributes& attributes) {
    return {.kind = TransferKind::stream, .number = unpack<Attributes>(attributes).stream};
  }
  static constexpr void infer(Inference& op) { op.output(op.ir().tables.streams[op.attributes<Attributes>().stream].spec); }
};

/// Appends a tensor to a device-to-host stream.
struct HostStore : Op<HostStore> {
  static constexpr std::string_view name = "HostStore";
  constexpr operator Effects() const { return Effects{.has_side_effect = true}; }
  using Attributes = StreamAttributes;
  constexpr operator Movement() const { return Movement{.transfer = transfer}; }
  static constexpr Transfer transfer(const PackedAttributes& attributes) {
    return {.kind = TransferKind::stream, .number = unpack<Attributes>(attributes).stream, .stores = true};
  }
  static constexpr void infer(Inference& op) {
    const auto& stream = op.ir().tables.streams[op.attributes<Attributes>().stream];
    if (stream.spec != op.input(0))
      op.fail(to_text(op.input(0)), " for stream '", stream.name, "': ", to_text(stream.spec), " expected");
  }
};

namespace ops {
/// Returns the next tensor of the stream. Each execution takes one.
constexpr Tensor host_load(HostToDeviceStream stream, std::string_view name = "") {
  Ir& ir = stream.program();
  const auto results = apply_all<HostLoad>(ir, {}, {stream.id});
  const Tensor result = at_or_invalid(ir, results, 0);
  detail::name_result(result, name, "_hostload");
  return result;
}
/// Creates a stream from the host and returns its next tensor. Its name must be new. A session gets the arrays under this name.
constexpr Tensor host_load(Ir& ir, std::string_view stream, const Shape& shape, DType dtype = float32) {
  return host_load(ir.h2d_stream(stream, shape, dtype), stream);
}
/// Sends a tensor to the host. Shape and dtype must be the stream's.
constexpr void host_store(DeviceToHostStream stream, Tensor x) { apply_all<HostStore>(stream.program(), {&x, 1}, {stream.id}); }
/// Creates a stream to the host of x's shape and dtype, sends x, and returns the stream. Its name must be new. A session returns
/// the arrays under this name.
constexpr DeviceToHostStream host_store(std::string_view stream, Tensor x) {
  const DeviceToHostStream result = x.ir().d2h_stream(stream, x.spec());
  host_store(result, x);
  return result;
}
}  // namespace ops

}  // namespace tilewright
