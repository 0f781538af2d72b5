#pragma once
#include <cstddef>

#include "tilewright/core/figures/figure.hpp"
#include "tilewright/graph/op_info/work_kind.hpp"

namespace tilewright {

/// Bytes on a tile other than tensors: code, state of vertices, stacks.
struct CodeSizes {
  Figure vertex_code[code_kinds]{};  ///< by CodeKind: of a vertex's code, once for all of a compute set on a tile

  Figure vertex = 0;   ///< of a vertex's state, in each step: its extents
  Figure operand = 0;  ///< of a vertex's state, in each step: a pointer for each operand

  Figure step = 0;      ///< of control code: a step, a call, or a load of code
  Figure exchange = 0;  ///< of control code: a step before which tiles exchange data
  Figure branch = 0;    ///< of control code: a loop or a conditional

  Figure exchange_instruction = 0;  ///< of exchange code
  Figure stack = 0;                 ///< of a tile: its supervisor's and its workers'
  Figure reserve = 0;  ///< of a tile: memory of the run-time system

  constexpr const Figure& code(CodeKind kind) const { return vertex_code[static_cast<std::size_t>(kind)]; }
};

}  // namespace tilewright
