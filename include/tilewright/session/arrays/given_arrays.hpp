#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/core/list.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/execute/program_view.hpp"
#include "tilewright/session/arrays/replica_parts.hpp"
#include "tilewright/session/given_array.hpp"

namespace tilewright::detail {

/// The arrays that a session got, by variable and by mapped buffer.
class GivenArrays {
 public:
  struct OfVariable {
    const std::byte* copied = nullptr;  ///< elements to copy; null: there are none
    std::byte* mapped = nullptr;  ///< the host copy is in a file; null: it is memory of the session
    bool is_read_only = false;
    std::shared_ptr<GivenArray::Publish> publish{};  ///< null: the array is of the host, or its file had its name before
    std::string title{};

    bool is_new() const { return publish && *publish; }
  };

  GivenArrays() = default;
  /// Throws std::invalid_argument for an array of another spec, of an unknown name or of a name twice, for a variable of given()
  /// or a mapped buffer without an array, and for a read-only file whose rows the program stores.
  [[gnu::cold]] GivenArrays(const internal::ProgramView& program, Span<const GivenArray> arrays) {
    for (const GivenArray& array : arrays) take(program, array);
    for (std::size_t v = 0; v < program.variables.size(); ++v)
      if (program.variables[v].is_given && of(v) == nullptr)
        fail_without("variable", program.text(program.variables[v].name), host_spec(program, v));
    for (const internal::FrozenRemoteBuffer& buffer : program.remote_buffers)
      if (buffer.mapping > 0 && (rows_.empty() || !rows_[static_cast<std::size_t>(buffer.mapping) - 1]))
        fail_without("mapped buffer", program.text(buffer.name), spec_of(buffer));
  }

  /// Returns the array of a variable, or null.
  const OfVariable* of(std::size_t v) const {
    return variables_.empty() || (!variables_[v].copied && !variables_[v].mapped) ? nullptr : &variables_[v];
  }
  bool has_variables() const { return !variables_.empty(); }
  /// Returns the place of a variable's host copy in a file, or null.
  std::byte* mapped(std::size_t v) const { return variables_.empty() ? nullptr : variables_[v].mapped; }
  /// Returns a program with the rows of its mapped buffers.
  internal::ProgramView with_rows(internal::ProgramView program) const {
    program.mapped = rows_;
    return program;
  }
  /// Throws std::logic_error, with the name of the call, if the host copy of a variable must not change.
  void require_writable(std::size_t v, std::string_view call) const {
    if (variables_.empty() || !variables_[v].is_read_only) return;
    throw std::logic_error(
        text(call, ": ", variables_[v].title, " is mapped read-only: MapMode::copy_on_write or MapMode::shared expected")
            .string());
  }

 private:
  [[noreturn, gnu::cold]] static void fail(std::string_view array, std::string_view problem) {
    throw std::invalid_argument(text("SessionOptions::arrays: ", array, problem).string());
  }
  [[noreturn, gnu::cold]] static void fail_without(std::string_view kind, std::string_view name, const TensorSpec& spec) {
    fail(text("none for ", kind, " '", name), text("': ", to_text(spec), " expected"));
  }
  [[gnu::cold]] static TensorSpec spec_of(const internal::FrozenRemoteBuffer& buffer) {
    TensorSpec spec{{buffer.entries}, buffer.spec.dtype};
    for (int axis = 0; axis < buffer.spec.shape.rank; ++axis) spec.shape.push_back(buffer.spec.shape[axis]);
    return spec;
  }
  [[gnu::cold]] static void require_spec(const GivenArray& array, const TensorSpec& expected) {
    const bool are_codes = array.spec().dtype == uint8 && is_float8(expected.dtype);
    if (array.spec().shape != expected.shape || (array.spec().dtype != expected.dtype && !are_codes))
      fail(array.title(), text(" is ", to_text(array.spec()), ": ", to_text(expected), " expected").view());
  }
  [[gnu::cold]] void take(const internal::ProgramView& program, const GivenArray& array) {
    for (std::size_t v = 0; v < program.variables.size(); ++v)
      if (program.text(program.variables[v].name) == array.name()) return take_variable(program, v, array);
    for (const internal::FrozenRemoteBuffer& buffer : program.remote_buffers)
      if (buffer.mapping > 0 && program.text(buffer.name) == array.name()) return take_rows(program, buffer, array);
    fail(array.title(), text(": no variable or mapped buffer of this name: one of ", names(program), " expected"));
  }
  [[gnu::cold]] void take_variable(const internal::ProgramView& program, std::size_t v, const GivenArray& array) {
    require_spec(array, host_spec(program, v));
    variables_.resize(program.variables.size());
    if (of(v)) fail(array.title(), " twice: each name once expected");
    variables_[v].title = array.title();
    if (!array.is_mapped()) {
      variables_[v].copied = array.elements();
      return;
    }
    variables_[v].mapped = array.mapped();  // of read-only ones, is_read_only forbids writes
    variables_[v].is_read_only = array.mode() == MapMode::read_only;
    variables_[v].publish = array.publish();
    files_.push_back(array.file());
  }
  [[gnu::cold]] void take_rows(const internal::ProgramView& program, const internal::FrozenRemoteBuffer& buffer,
                               const GivenArray& array) {
    require_spec(array, spec_of(buffer));
    if (!array.is_mapped()) fail(array.title(), " is an array of the host, and mapped buffers are files: map_npy expected");
    if (buffer.is_stored && array.mode() == MapMode::read_only)
      fail(array.title(),
           " is mapped read-only, and the program stores rows: MapMode::copy_on_write or MapMode::shared expected");
    std::size_t mapped = 0;
    for (const internal::FrozenRemoteBuffer& each : program.remote_buffers) mapped += each.mapping > 0;
    rows_.resize(mapped);
    std::byte*& rows = rows_[static_cast<std::size_t>(buffer.mapping) - 1];
    if (rows) fail(array.title(), " twice: each name once expected");
    rows = array.mapped();  // the program stores none if it must not
    files_.push_back(array.file());
  }
  [[gnu::cold]] static Text names(const internal::ProgramView& program) {
    List<Text> names;
    for (const internal::FrozenVariable& variable : program.variables) names.push_back(program.text(variable.name));
    for (const internal::FrozenRemoteBuffer& buffer : program.remote_buffers)
      if (buffer.mapping > 0) names.push_back(program.text(buffer.name));
    return join(names, ", ");
  }

  List<OfVariable> variables_{};  // empty: no variable has one
  List<std::byte*> rows_{};  // by mapped buffer
  std::vector<std::shared_ptr<const void>> files_{};  // that stay mapped
};

}  // namespace tilewright::detail
