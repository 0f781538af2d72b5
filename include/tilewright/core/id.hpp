#pragma once
#include <concepts>
#include <ostream>
#include <type_traits>

namespace tilewright {

/// A number of objects of one kind, such as StorageId: an enumeration of int with `none`, -1. Ids of different kinds do not
/// convert to each other.
template <class T>
concept Id = std::is_enum_v<T> && std::same_as<std::underlying_type_t<T>, int> && requires { T::none; };

/// Writes the number: 12.
std::ostream& operator<<(std::ostream& out, Id auto id) { return out << static_cast<int>(id); }

}  // namespace tilewright
