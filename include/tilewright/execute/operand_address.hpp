#pragma once
#include <cstddef>
#include <type_traits>

namespace tilewright::internal {

/// Returns the address of the bytes of elements; const elements have const bytes.
template <class Element>
auto* bytes_at(Element* elements) {
  return reinterpret_cast<std::conditional_t<std::is_const_v<Element>, const std::byte, std::byte>*>(elements);
}

/// Address of an operand in a run. Kernels get addresses of inputs and outputs in one list, and write outputs only. So memory of
/// inputs may be const.
class OperandAddress {
 public:
  constexpr OperandAddress() = default;
  OperandAddress(std::byte* output) : address_(output) {}
  OperandAddress(const std::byte* input) : address_(const_cast<std::byte*>(input)) {}

  std::byte* for_kernel() const { return address_; }
  const std::byte* get() const { return address_; }

 private:
  std::byte* address_ = nullptr;
};

}  // namespace tilewright::internal
