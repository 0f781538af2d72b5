#pragma once
#include <cstdint>

namespace tilewright {

/// Bytes that the code of a vertex takes on an IPU tile, once for all vertices of one kind there: rough averages of what
/// popliner's tests (test_popart_bert_inf.py) expect of Poplar's profiles, by tile. An op names its own as `code_bytes`.
struct CodeBytes {
  static constexpr std::int64_t map = 220, copy = 200, reduce = 400, product = 1000, softmax = 1560, norm = 2020, other = 300;
};

}  // namespace tilewright
