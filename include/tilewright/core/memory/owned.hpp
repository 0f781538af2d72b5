#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>

namespace tilewright::internal {

/// Owns an object that `new` made, or an array, as Owned<T[]>, like std::unique_ptr. That one keeps its pointer in a std::tuple,
/// which takes 1.8 MB of GCC 12's memory for each type.
template <class T>
class Owned {
  using Item = std::remove_extent_t<T>;

 public:
  constexpr Owned(std::nullptr_t = nullptr) {}
  constexpr explicit Owned(Item* item) : item_(item) {}
  template <class U>
  constexpr Owned(Owned<U>&& other) noexcept : item_(other.release()) {}
  constexpr Owned(Owned&& other) noexcept : item_(other.release()) {}
  constexpr Owned& operator=(Owned&& other) noexcept {
    const Owned old(std::exchange(item_, other.release()));
    return *this;
  }
  constexpr ~Owned() {
    if constexpr (std::is_array_v<T>) delete[] item_;
    else delete item_;
  }

  constexpr Item* get() const { return item_; }
  constexpr Item& operator*() const { return *item_; }
  constexpr Item* operator->() const { return item_; }
  constexpr Item& operator[](std::size_t i) const { return item_[i]; }
  constexpr explicit operator bool() const { return item_ != nullptr; }
  constexpr Item* release() { return std::exchange(item_, nullptr); }

 private:
  Item* item_ = nullptr;
};

}  // namespace tilewright::internal
