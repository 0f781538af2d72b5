#pragma once
#include <cstdint>

namespace tilewright {

/// Effects of writes to the memory of a mapped file.
enum class MapMode : std::uint8_t {
  read_only,  ///< Writes are not allowed: NumPy's mode "r"
  copy_on_write,  ///< Writes change pages of this process, and never the file: NumPy's mode "c"
  shared  ///< Writes change the file, and the memory of others that map it: NumPy's mode "r+"
};

}  // namespace tilewright
