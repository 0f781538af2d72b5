#pragma once
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/graph/graph.hpp"
#include "tilewright/graph/ids.hpp"

namespace tilewright {

namespace detail {
/// Returns whether a remote buffer can have `entries` rows.
constexpr bool is_count_of_rows(const TensorSpec& row, std::int64_t entries) {
  return entries >= 1 && static_cast<double>(entries) * static_cast<double>(row.bytes()) <= max_tensor_bytes;
}
constexpr std::string_view expected_entries(std::int64_t entries) {
  if (entries < 1) return "at least 1";
  return "at most 2^47 bytes";
}
}  // namespace detail

/// A handle of a remote buffer: `entries` rows in streaming memory, outside of the machine, each a tensor of one shape and dtype.
/// Programs copy rows with remote_load and remote_store. Rows without a variable are initially zero. All rows keep their contents
/// between runs.
class RemoteBuffer : detail::Handle {
 public:
  constexpr RemoteBuffer() = default;
  constexpr RemoteBuffer(Ir& ir, int index) : Handle{&ir}, index_(index) {}
  static constexpr RemoteBuffer invalid(Ir& ir) { return {ir, -1}; }

  constexpr bool valid() const { return index_ >= 0; }
  constexpr Ir& ir() const {
    if (index_ == no_buffer)
      TW_THROW TraceError("RemoteBuffer: a RemoteBuffer() of no program: one that ir.remote_buffer gave expected");
    return *ir_;
  }
  /// Returns whether the handle is valid. Throws TraceError for a RemoteBuffer() of no program.
  constexpr bool is_usable() const { return valid() || (ir(), false); }
  /// Returns the buffer's number in its Ir: 1, 2, 3 and so on.
  constexpr int id() const { return index_ + 1; }
  constexpr TensorSpec spec() const { return valid() ? record().spec : TensorSpec{}; }
  constexpr Shape tensor_shape() const { return spec().shape; }
  constexpr DType tensor_dtype() const { return spec().dtype; }
  /// Returns the shape of the tensor whose shards the rows are; nothing if rows are not shards.
  constexpr std::optional<Shape> meta_shape() const {
    if (!valid() || record().meta_shape < 0) return std::nullopt;
    return ir_->tables.meta_shapes[static_cast<std::size_t>(record().meta_shape)].whole;
  }
  /// Returns the index of that shape in IrTables::meta_shapes, or -1.
  constexpr int meta_shape_index() const { return valid() ? record().meta_shape : -1; }
  /// Returns the number of shards of that tensor; 1 if rows are not shards.
  constexpr std::int64_t num_shards() const { return valid() ? record().shard_over : 1; }
  /// Makes rows shards of a tensor of shape `whole` that is cut into `num_shards` parts. Fails if rows do not have the shape of
  /// such a shard, or if the buffer is in use.
  constexpr void set_meta_shape(const Shape& whole, std::int64_t num_shards) const {
    if (!is_usable()) return;
    if (record().is_used) {
      ir_->fail(text("set_meta_shape: ", to_text(whole), " for ", to_text(*this),
                     ", which is in use: a buffer without variables, loads and stores expected"));
    } else if (detail::check_meta_shape(*ir_, "set_meta_shape", tensor_shape(), {whole, num_shards})) {
      record().meta_shape = ir_->tables.add_meta_shape(whole, num_shards);
      record().shard_over = num_shards;
    }
  }
  constexpr std::int64_t entries() const { return valid() ? record().entries : 0; }
  /// Sets the number of rows. Fails if a variable, load or store uses a row that the call would remove.
  constexpr void set_entries(std::int64_t entries) const {
    if (!is_usable()) return;
    if (!detail::is_count_of_rows(spec(), entries)) {
      ir_->fail(text("remote_buffer: ", entries, " entries for ", to_text(*this), ": ", detail::expected_entries(entries),
                     " expected"));
      return;
    }
    if (const std::int64_t last = record().last_row; entries <= last) {
      ir_->fail(text("remote_buffer: ", entries, " entries for ", to_text(*this), ", of which row ", last,
                     " is in use: at least ", last + 1, " expected"));
      return;
    }
    record().entries = entries;
  }
  /// Sets shape and dtype of a row, and the number of rows. Fails if the buffer is in use.
  constexpr void set_remote_buffer_info(const Shape& shape, DType dtype, std::int64_t entries) const {
    if (!is_usable()) return;
    if (record().is_used) {
      ir_->fail(text("set_remote_buffer_info: ", to_text(TensorSpec{shape, dtype}), " for ", to_text(*this),
                     ", which is in use: a buffer without variables, loads and stores expected"));
      return;
    }
    if (record().mapping > 0) {
      ir_->fail(text("set_remote_buffer_info: mapped buffer '", record().name, "': a buffer of ir.remote_buffer expected"));
      return;
    }
    if (!detail::check_spec(*ir_, "set_remote_buffer_info", text(id()).view(), {shape, dtype})) return;
    record().spec = {shape, dtype};
    record().meta_shape = -1;
    record().shard_over = 1;
    set_entries(entries);
  }
  /// Fails if the tensor does not have the shape and dtype of a row. Loads and stores check it, too. With num_shards above 1, the
  /// tensor is a whole one: the call fails if rows are not `num_shards` shards of a tensor of its shape.
  constexpr void validate_tensor_matches_buffer(Tensor t, std::int64_t num_shards = 1) const {
    if (!is_usable() || !t.is_usable()) return;
    TensorSpec expected = spec();
    if (num_shards != 1) {
      const auto whole = meta_shape();
      if (!whole || num_shards != this->num_shards()) {
        ir_->fail(text("validate_tensor_matches_buffer: ", num_shards, " shards for ", to_text(*this), ": ", this->num_shards(),
                       " expected"));
        return;
      }
      expected.shape = *whole;
    }
    if (t.spec() != expected)
      ir_->fail(
          text("validate_tensor_matches_buffer: ", to_text(t), " for ", to_text(*this), ": ", to_text(expected), " expected"));
  }
  /// Records that the buffer is in use, without a specific row.
  constexpr void note_use() const {
    if (is_usable()) record().is_used = true;
  }
  /// Checks that the buffer has row `offset`, and records that the row is in use. Fails if it has not; the error names the
  /// function `what`.
  constexpr bool check_offset(std::string_view what, std::int64_t offset) const {
    if (!is_usable()) return false;
    if (offset >= 0 && offset < entries()) {
      note_use();
      record().last_row = (std::max)(record().last_row, offset);
      return true;
    }
    ir_->fail(text(what, ": offset ", offset, " of ", to_text(*this), ": an offset from 0 to ", entries() - 1, " expected"));
    return false;
  }
  friend constexpr bool operator==(const RemoteBuffer&, const RemoteBuffer&) = default;
  /// Returns "remote buffer 1 with 3 rows of (4, 32) float32".
  friend constexpr Text to_text(const RemoteBuffer& buffer) {
    return text("remote buffer ", buffer.id(), " with ", buffer.entries(), " rows of ", to_text(buffer.spec()));
  }

 private:
  constexpr RemoteBufferRecord& record() const { return ir_->tables.remote_buffers[static_cast<std::size_t>(index_)]; }

  static constexpr int no_buffer = -2;

  int index_ = no_buffer;
};

/// Creates a remote buffer of `entries` rows, each a tensor of the given shape and dtype. Fails for less than one row.
constexpr RemoteBuffer Ir::remote_buffer(const Shape& shape, DType dtype, std::int64_t entries) {
  const TensorSpec spec{shape, dtype};
  if (detail::check_spec(*this, "remote_buffer", text(tables.remote_buffers.size() + 1).view(), spec) &&
      !detail::is_count_of_rows(spec, entries))
    fail(text("remote_buffer: ", entries, " entries of ", to_text(spec), ": ", detail::expected_entries(entries), " expected"));
  if (failed()) return RemoteBuffer::invalid(*this);
  make_room(tables.remote_buffers);
  tables.remote_buffers.push_back({.spec = spec, .entries = entries});
  return {*this, static_cast<int>(tables.remote_buffers.size()) - 1};
}

constexpr Tensor Ir::add_remote_variable(std::string_view what, const Initialiser& initialiser, const RemoteBuffer& buffer,
                                         std::int64_t offset, std::string_view name, Pair<Distribution, List<int>> distribution) {
  if (failed() || !buffer.check_offset(what, offset)) return Tensor::invalid(*this);
  auto& record = tables.remote_buffers[static_cast<std::size_t>(buffer.id() - 1)];
  if (record.mapping > 0)
    return fail(text(what, ": '", name, "' in mapped buffer '", record.name, "': a buffer of ir.remote_buffer expected"));
  for (const std::int64_t row : record.variable_rows)
    if (row == offset)
      return fail(text(what, ": '", name, "' in row ", offset, " of ", to_text(buffer),
                       ", which another variable is in: a row of its own expected"));
  const Tensor result = add_variable(what, TensorKind::remote, initialiser, buffer.spec(), name, distribution.first,
                                     std::move(distribution.second));
  if (!result.valid()) return result;
  record.variable_rows.push_back(offset);
  tables.variables.back().remote_buffer = buffer.id() - 1;
  tables.variables.back().row = offset;
  return result;
}

/// Creates a variable in row `offset` of a remote buffer, with the buffer's shape and dtype. A session accesses it by name, like
/// other variables. Ops cannot use it as an operand: remote_load reads the row, and remote_store writes it. Fails outside of the
/// main graph, for a row that the buffer does not have, and for a row that already is a variable.
constexpr Tensor Ir::remote_variable(const Initialiser& initialiser, const RemoteBuffer& buffer, std::int64_t offset,
                                     std::string_view name) {
  return add_remote_variable("remote_variable", initialiser, buffer, offset, name, {{.shape = buffer.tensor_shape()}, {}});
}

}  // namespace tilewright
