#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// Runs have their values: run/sessions and run/programs.
struct HostTransfers : OpTest {
  static constexpr std::string_view op = "HostLoad";
  static constexpr void handles(auto& list) {
    list.add("host_load", [] { (void)ops::host_load(tw::HostToDeviceStream()); });
    list.add("host_store", [] { (void)ops::host_store(tw::DeviceToHostStream(), Tensor()); });
    list.add("host_store", [] { (void)ops::host_store("y", Tensor()); });
  }
};
struct RemoteTransfers : OpTest {
  static constexpr std::string_view op = "RemoteLoad";
  static constexpr void handles(auto& list) {
    list.add("remote_load", [] { (void)ops::remote_load(tw::RemoteBuffer(), 0); });
    list.add("remote_load_", [] { (void)ops::remote_load_(tw::RemoteBuffer(), 0, Tensor()); });
    list.add("remote_store", [] { (void)ops::remote_store(tw::RemoteBuffer(), 0, Tensor()); });
    list.add("remote_code_load", [] { (void)ops::remote_code_load(tw::Graph()); });
  }
};
struct TileTransfers : OpTest {
  static constexpr std::string_view op = "IpuCopy";
  static constexpr void handles(auto& list) {
    list.add("ipu_copy", [] { (void)ops::ipu_copy(Tensor(), 0); });
    list.add("ipu_copy", [] { (void)ops::ipu_copy(Tensor(), 0, 0); });
    list.add("io_tile_copy", [] { (void)ops::io_tile_copy(Tensor()); });
  }
};
struct PrintTensor : OpTest {
  static constexpr std::string_view op = "PrintTensor";
  static constexpr void handles(auto& list) {
    list.add("print_tensor", [] { (void)ops::print_tensor(Tensor()); });
  }
};

}  // namespace op_tests
