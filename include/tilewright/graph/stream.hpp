#pragma once
#include <string_view>

#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

class Ir;

/// A stream from or to the host, as `host_load` and `host_store` take it.
struct Stream {
  Ir* ir = nullptr;
  int id = -1;
  TensorSpec spec{};
  constexpr std::string_view name() const;
  constexpr bool operator==(const Stream&) const = default;
};
struct HostToDeviceStream : Stream {};
struct DeviceToHostStream : Stream {};

}  // namespace tilewright
