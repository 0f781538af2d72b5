#pragma once
#include "tilewright/core/requirements.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewright {

/// Replacement of std::is_trivially_destructible_v, for which GCC 12 and Clang 19 instantiate a dozen templates each time.
template <class T>
#if defined(__clang__)
inline constexpr bool trivially_destructible = __is_trivially_destructible(T);
#elif defined(__GNUC__)
inline constexpr bool trivially_destructible = __has_trivial_destructor(T);
#else
inline constexpr bool trivially_destructible = std::is_trivially_destructible_v<T>;
#endif

/// Replacement of std::is_scalar_v for types of objects, for which GCC and Clang instantiate a dozen templates each time.
template <class T>
inline constexpr bool is_scalar_item = !__is_class(T) && !__is_union(T);

/// Whether a type is used like an iterator. (GCC and Clang take many times as long to check std::forward_iterator.)
template <class T>
concept IteratorLike = !std::is_arithmetic_v<T> && requires(T& it) {
  *it;
  ++it;
};

/// Whether a list with this index accepts an `I`: the same enumeration, or any integer.
template <class J, class Index>
concept IndexOf = std::is_same_v<J, Index> || (std::is_integral_v<J> && std::is_integral_v<Index>);

/// A growing array like std::vector, for constant expressions, where compilers pay for each call and std::vector makes about ten
/// calls to add, visit or destroy an item. Iterators are pointers. Any integer indexes a list; if `Index` is an enumeration, only
/// that does: `List<Storage, StorageId>` does not accept the number of a node.
template <class T, class Index = std::size_t>
class List {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr List() = default;
  constexpr explicit List(std::size_t count) { resize(count); }
  constexpr List(std::size_t count, const T& value) { resize(count, value); }
  constexpr List(std::initializer_list<T> items) { append(items.begin(), items.size()); }
  template <IteratorLike It>
  constexpr List(It first, It last) {
    append_range(first, last);
  }
  // These two are templates so that a copy of a list does not make compilers instantiate std::vector<T>.
  template <std::same_as<std::vector<T>> Vector>
  constexpr List(const Vector& items) {
    append(items.data(), items.size());
  }
  constexpr List(const List& other) { append(other.data_, other.size_); }
  constexpr List(List&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) { other.release(); }
  constexpr ~List() {
    if (data_) destroy();
  }
  constexpr List& operator=(const List& other) {
    if (this == &other) return *this;
    clear();
    append(other.data_, other.size_);
    return *this;
  }
  constexpr List& operator=(List&& other) noexcept {
    if (this == &other) return *this;
    if (data_) destroy();
    data_ = other.data_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.release();
    return *this;
  }

  template <std::same_as<std::vector<T>> Vector>
  constexpr operator Vector() const {
    return {begin(), end()};
  }

  constexpr std::size_t size() const { return size_; }
  constexpr std::size_t capacity() const { return capacity_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T* begin() { return data_; }
  constexpr const T* begin() const { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* end() const { return data_ + size_; }
  template <IndexOf<Index> J>
  constexpr T& operator[](J i) & {
    return data_[static_cast<std::ptrdiff_t>(i)];
  }
  template <IndexOf<Index> J>
  constexpr const T& operator[](J i) const& {
    return data_[static_cast<std::ptrdiff_t>(i)];
  }
  constexpr T& front() { return data_[0]; }
  constexpr const T& front() const { return data_[0]; }
  /// Returns the first `count` items: `const auto [a, b] = list.as<2>()`. Throws std::length_error for a shorter list.
  template <std::size_t count>
  constexpr std::array<T, count> as() const {
    if (count > size_) TW_THROW std::length_error("List::as: a count above the size of the list: at most its size expected");
    return [this]<std::size_t... i>(std::index_sequence<i...>) {
      return std::array<T, count>{data_[i]...};
    }(std::make_index_sequence<count>());
  }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

  constexpr void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  constexpr void push_back(const T& item) {
    if (size_ == capacity_) {
      T copy(item);  // the item may be one of this list
      grow(2 * size_ + 4);
      put(std::move(copy));
    } else {
      put(item);
    }
  }
  constexpr void push_back(T&& item) {
    if (size_ == capacity_) {
      T moved(std::move(item));
      grow(2 * size_ + 4);
      put(std::move(moved));
    } else {
      put(std::move(item));
    }
  }
  template <class... Arguments>
  constexpr T& emplace_back(Arguments&&... arguments) {
    push_back(T(std::forward<Arguments>(arguments)...));
    return back();
  }
  constexpr void pop_back() {
    --size_;
    if constexpr (!trivially_destructible<T>) data_[size_].~T();
  }
  constexpr void clear() { shrink(0); }
  constexpr void resize(std::size_t count) {
    if (count < size_) return shrink(count);
    if constexpr (is_scalar_item<T>) return resize(count, T());
    reserve(count);
    while (size_ < count) put(T());
  }
  constexpr void resize(std::size_t count, const T& value) {
    if (count < size_) return shrink(count);
    reserve(count);
    if constexpr (is_scalar_item<T>) {
      T* const to = data_;
      for (std::size_t i = size_; i < count; ++i) to[i] = value;
      size_ = count;
    } else {
      while (size_ < count) put(value);
    }
  }
  constexpr void assign(std::size_t count, const T& value) {
    clear();
    resize(count, value);
  }
  template <IteratorLike It>
  constexpr void assign(It first, It last) {
    clear();
    append_range(first, last);
  }
  /// Inserts before the position; returns the address of the first inserted item.
  constexpr T* insert(const T* position, T item) {
    const auto at = position - data_;
    push_back(std::move(item));
    for (auto i = static_cast<std::ptrdiff_t>(size_) - 1; i > at; --i) std::swap(data_[i], data_[i - 1]);
    return data_ + at;
  }
  template <IteratorLike It>
  constexpr T* insert(const T* position, It first, It last) {
    auto at = position - data_;
    const auto result = at;
    for (; first != last; ++first) insert(data_ + at++, *first);
    return data_ + result;
  }
  constexpr T* erase(const T* position) { return erase(position, position + 1); }
  constexpr T* erase(const T* first, const T* last) {
    T* to = data_ + (first - data_);
    T* const result = to;
    for (T* from = data_ + (last - data_); from != data_ + size_; ++from) *to++ = std::move(*from);
    shrink(static_cast<std::size_t>(to - data_));
    return result;
  }

  friend constexpr bool operator==(const List& a, const List& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  // Each of these calls is a function more that compilers instantiate for each list: a destructor's own name costs none.
  constexpr void destroy() {
    if constexpr (!trivially_destructible<T>)
      for (std::size_t i = 0; i < size_; ++i) data_[i].~T();
    if constexpr (is_scalar_item<T>) delete[] data_;
    else std::allocator<T>().deallocate(data_, capacity_);
  }
  constexpr void release() {
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  /// Adds an item; the list must have room for it.
  template <class Item>
  constexpr void put(Item&& item) {
    if constexpr (is_scalar_item<T>) data_[size_] = item;
    else std::construct_at(data_ + size_, std::forward<Item>(item));
    ++size_;
  }
  constexpr void shrink(std::size_t count) {
    if constexpr (!trivially_destructible<T>)
      for (std::size_t i = count; i < size_; ++i) data_[i].~T();
    size_ = count;
  }
  constexpr void grow(std::size_t capacity) {
    T* to;
    if constexpr (is_scalar_item<T>) to = new T[capacity];
    else to = std::allocator<T>().allocate(capacity);
    for (std::size_t i = 0; i < size_; ++i) {
      if constexpr (is_scalar_item<T>) to[i] = data_[i];
      else std::construct_at(to + i, std::move(data_[i]));
    }
    if (data_) destroy();
    data_ = to;
    capacity_ = capacity;
  }
  constexpr void append(const T* items, std::size_t count) {
    if (count == 0) return;
    reserve(size_ + count);
    T* const to = data_ + size_;
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (is_scalar_item<T>) to[i] = items[i];
      else std::construct_at(to + i, items[i]);
    }
    size_ += count;
  }
  template <class It>
  constexpr void append_range(It first, It last) {
    if (first == last) return;
    reserve(size_ + static_cast<std::size_t>(std::distance(first, last)));
    for (; first != last; ++first) put(*first);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};
template <class T>
List(std::initializer_list<T>) -> List<T>;

/// Allocates room for `count` more items, and for many beyond them. In constant expressions, moving an item costs about ten
/// calls, and unused room costs nothing.
template <class T, class Index>
constexpr void make_room(List<T, Index>& list, std::size_t count = 1) {
  const std::size_t needed = list.size() + count;
  if (needed > list.capacity()) list.reserve(4 * needed + 12);
}

/// Erases the items for which the predicate is true.
template <class T, class Index, class Predicate>
constexpr void erase_if(List<T, Index>& list, Predicate&& predicate) {
  T* to = list.begin();
  for (T& item : list) {
    if (predicate(item)) continue;
    if (to != &item) *to = std::move(item);
    ++to;
  }
  list.erase(to, list.end());
}

}  // namespace tilewright
