#pragma once
#include "tilewright/core/list.hpp"

namespace tilewright::internal {

/// The number of a storage in its draft.
enum class StorageId : int { none = -1 };
template <class T>
using PerStorage = List<T, StorageId>;

}  // namespace tilewright::internal
