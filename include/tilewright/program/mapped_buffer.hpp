#pragma once
#include <string_view>

#include "tilewright/program/remote_buffer.hpp"

namespace tilewright {

/// Creates a remote buffer whose rows are the elements of an array of shape (entries, shape...) in a file. A session gets the
/// array when it is created, from map_npy: `SessionOptions{.arrays = {{"table", tw::map_npy("table.npy")}}}`. The rows are the
/// file's bytes in memory: nothing is copied, and the system reads from the file what remote_load touches.
///
/// Rows have no variables. Fails for an empty name, for one that another mapped buffer or a variable has, and for less than one
/// row. All replicas share the rows; a program that stores rows must have one replica.
///
///     const tw::RemoteBuffer table = tw::mapped_buffer(ir, "table", {4096, 1024}, tw::float32, 4096);  // 64 GiB
constexpr RemoteBuffer mapped_buffer(Ir& ir, std::string_view name, const Shape& shape, DType dtype = float32,
                                     std::int64_t entries = 1) {
  int mapping = 1;
  for (const RemoteBufferRecord& other : ir.tables.remote_buffers) {
    if (other.mapping > 0 && other.name.view() == name)
      ir.fail(text("mapped_buffer: '", name, "', which another mapped buffer is named: a new name expected"));
    mapping += other.mapping > 0;
  }
  if (name.empty()) ir.fail("mapped_buffer: an empty name: one by which a session gets the array expected");
  if (shape.rank >= max_rank)
    ir.fail(text("mapped_buffer: '", name, "' with rows of ", shape.rank, " axes: at most ", max_rank - 1, " expected"));
  const RemoteBuffer result = ir.remote_buffer(shape, dtype, entries);
  if (!result.valid()) return result;
  ir.tables.remote_buffers.back().mapping = mapping;
  ir.tables.remote_buffers.back().name = name;
  return result;
}

}  // namespace tilewright
