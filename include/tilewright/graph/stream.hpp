#pragma once
#include <string_view>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

class Ir;

/// A stream from or to the host, for `host_load` and `host_store`.
struct Stream {
  Ir* ir = nullptr;
  int id = -1;  ///< below 0: a stream of no program
  TensorSpec spec{};
  constexpr std::string_view name() const;
  /// Returns the program of the stream. Throws TraceError if it has none.
  constexpr Ir& program() const {
    if (id < 0) TW_THROW TraceError("Stream: a stream of no program: one that ir.h2d_stream or ir.d2h_stream gave expected");
    return *ir;
  }
  constexpr bool operator==(const Stream&) const = default;
};
struct HostToDeviceStream : Stream {};
struct DeviceToHostStream : Stream {};

}  // namespace tilewright
