#pragma once
#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

class Ir;

/// A stream from or to the host, as `host_load` and `host_store` take it.
struct Stream {
  Ir* ir = nullptr;
  int id = -1;
  TensorSpec spec{};
};
struct HostToDeviceStream : Stream {};
struct DeviceToHostStream : Stream {};

}  // namespace tilewright
