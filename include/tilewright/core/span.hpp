#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <type_traits>

namespace tilewright {

/// A view of elements that follow each other in memory, like std::span. The constructors of std::span check concepts of iterators
/// and ranges: 1.5 MB of GCC 12's memory and 15 ms for each element type, twice as much again for each container. These check the
/// element type only.
template <class T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr Span() = default;
  constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
  /// The elements from `first` on, which is a pointer or an iterator of a vector or an array, to those before `last`.
  template <class Iterator>
    requires(std::is_pointer_v<Iterator> || requires { typename Iterator::iterator_category; })
  constexpr Span(Iterator first, Iterator last)
      : data_(first == last ? nullptr : &*first), size_(static_cast<std::size_t>(last - first)) {}
  template <std::size_t count>
  constexpr Span(T (&items)[count]) : data_(items), size_(count) {}
  /// The elements of a container that has `data()` and `size()`; they must live as long as the view.
  template <class Items>
    requires requires(Items& items, void take(T*)) {
      take(items.data());
      requires std::is_same_v<std::remove_cv_t<T>, std::remove_cvref_t<decltype(*items.data())>>;
    }
  constexpr Span(Items&& items) : data_(items.data()), size_(items.size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& front() const { return data_[0]; }
  constexpr T& back() const { return data_[size_ - 1]; }
  constexpr Span first(std::size_t count) const { return {data_, count}; }
  constexpr Span subspan(std::size_t first) const { return {data_ + first, size_ - first}; }
  constexpr Span subspan(std::size_t first, std::size_t count) const { return {data_ + first, count}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tilewright
