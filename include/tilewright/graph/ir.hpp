#pragma once
#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/span.hpp"
#include "tilewright/core/text.hpp"
#include "tilewright/graph/ir_tables.hpp"
#include "tilewright/graph/kept_results.hpp"
#include "tilewright/graph/op_created_hook.hpp"
#include "tilewright/graph/records.hpp"
#include "tilewright/graph/stream.hpp"
#include "tilewright/graph/tensor.hpp"
#include "tilewright/graph/tracing.hpp"

namespace tilewright {

class Graph;
class RemoteBuffer;
struct VariableOptions;
struct ShardedVariableOptions;
struct ShardedBufferOptions;
class ReplicaGrouping;
namespace detail {
constexpr bool check_spec(Ir& ir, std::string_view what, std::string_view name, const TensorSpec& spec);
template <class T>
constexpr T&& keep(Ir& ir, T&& result);
}  // namespace detail

/// A program that is being traced: its graphs, variables, constants and streams. Tensors and graphs are handles into it, so it
/// must not move while they are used.
class Ir {
 public:
  constexpr explicit Ir(OnError on_error = OnError::raise) {
    tables.on_error = on_error;
    tables.graphs.push_back({.name = ""});
  }

  /// Returns the address of the Ir, its identity.
  constexpr const Ir* id() const { return this; }
  constexpr Graph main_graph();
  constexpr Graph graph(GraphId id);

  /// Gives the host array of every stream `count` elements, as PopXL does. A run that moves more elements of a stream is an
  /// error. Without the call, the number of elements of a stream's host array is the largest number that a run can move.
  constexpr void set_num_host_transfers(int count) {
    if (count < 1) fail(text("num_host_transfers: ", count, ": at least 1 expected"));
    num_host_transfers_ = count;
  }
  /// Returns the number that was set, or 0.
  constexpr int num_host_transfers() const { return num_host_transfers_; }

  /// Sets the number of replicas of the program that run in parallel, each on its own data: 1 to 64. Call it before groupings and
  /// variables are created.
  constexpr void set_replication_factor(std::int64_t replicas) {
    if (replicas < 1 || replicas > max_replicas)
      fail(text("replication_factor: ", replicas, ": from 1 to ", max_replicas, " expected"));
    else if (replicas != replication_factor_ && (has_replica_groupings_ || !tables.variables.empty()))
      fail(text("replication_factor: ", replicas, " after ", has_replica_groupings_ ? "replica groupings" : "variables",
                " were made for ", replication_factor_, ": to be set before expected"));
    else replication_factor_ = replicas;
  }
  constexpr std::int64_t replication_factor() const { return replication_factor_; }
  static constexpr std::int64_t max_replicas = 64;
  /// Always an error: the number of processes is known only when the program runs.
  [[deprecated("since 0.3.0: use session.instance_replication_factor(), as a program is the same for any number of processes")]]
  constexpr std::int64_t instance_replication_factor() {
    fail(text(
        "instance_replication_factor: ", replication_factor_,
        " replicas on a number of processes that is not known before the program runs: replication_factor() in a program, or "
        "session.instance_replication_factor(), expected"));
    return replication_factor_;
  }
  /// Returns a partition of the replicas into groups, see program/replica_grouping.hpp.
  constexpr ReplicaGrouping replica_grouping(std::int64_t stride = 1, std::optional<std::int64_t> group_size = {});
  constexpr ReplicaGrouping replica_grouping_from_assignments(List<int> assignment);

  /// Creates a stream of tensors from the host. Its name must be new. The shape `{}` is a scalar's.
  constexpr HostToDeviceStream h2d_stream(std::string_view name, const Shape& shape, DType dtype = float32) {
    return {add_stream(StreamDirection::host_to_device, name, {shape, dtype})};
  }
  constexpr HostToDeviceStream h2d_stream(std::string_view name, std::initializer_list<std::int64_t> shape,
                                          DType dtype = float32) {
    return h2d_stream(name, Shape(shape), dtype);
  }
  constexpr HostToDeviceStream h2d_stream(std::string_view name, const TensorSpec& spec) {
    return {add_stream(StreamDirection::host_to_device, name, spec)};
  }
  /// Creates a stream of tensors to the host. Its name must be new. The shape `{}` is a scalar's.
  constexpr DeviceToHostStream d2h_stream(std::string_view name, const Shape& shape, DType dtype = float32) {
    return {add_stream(StreamDirection::device_to_host, name, {shape, dtype})};
  }
  constexpr DeviceToHostStream d2h_stream(std::string_view name, std::initializer_list<std::int64_t> shape,
                                          DType dtype = float32) {
    return d2h_stream(name, Shape(shape), dtype);
  }
  constexpr DeviceToHostStream d2h_stream(std::string_view name, const TensorSpec& spec) {
    return {add_stream(StreamDirection::device_to_host, name, spec)};
  }

  /// Returns the streams that at least one host_load or host_store of any graph uses, in the order of their creation.
  constexpr List<HostToDeviceStream> get_all_h2d_streams();
  constexpr List<DeviceToHostStream> get_all_d2h_streams();

  /// Creates a variable: a tensor of the main graph that lives as long as a session. Other graphs cannot create variables.
  constexpr Tensor variable(const Initialiser& initialiser, const Shape& shape, DType dtype, std::string_view name) {
    return add_variable("variable", TensorKind::variable, initialiser, {shape, dtype}, name, {.shape = shape}, {});
  }

  /// Creates a variable with separate values in each replica group, see program/replicated_variable.hpp.
  constexpr Tensor variable(const Initialiser& initialiser, const Shape& shape, DType dtype, std::string_view name,
                            const VariableOptions& options);
  /// Creates a variable in shards, one on each replica, see program/replicated_variable.hpp.
  constexpr Tensor replica_sharded_variable(const Initialiser& initialiser, const Shape& shape, DType dtype,
                                            std::string_view name, const ShardedVariableOptions& options);
  constexpr Tensor replica_sharded_variable(const Initialiser& initialiser, const Shape& shape, DType dtype,
                                            std::string_view name);

  /// Creates a remote buffer of `entries` rows, see program/remote_buffer.hpp.
  constexpr RemoteBuffer remote_buffer(const Shape& shape, DType dtype = float32, std::int64_t entries = 1);
  /// Creates a variable in a row of a remote buffer, see program/remote_buffer.hpp.
  constexpr Tensor remote_variable(const Initialiser& initialiser, const RemoteBuffer& buffer, std::int64_t offset,
                                   std::string_view name);
  /// Creates a variable in a row of a remote buffer with separate values in each replica group. Buffers may hold shards:
  /// program/replicated_variable.hpp.
  constexpr Tensor remote_variable(const Initialiser& initialiser, const RemoteBuffer& buffer, std::int64_t offset,
                                   std::string_view name, const VariableOptions& options);
  constexpr RemoteBuffer replica_sharded_buffer(const Shape& shape, DType dtype, const ShardedBufferOptions& options);
  constexpr Tensor remote_replica_sharded_variable(const Initialiser& initialiser, const RemoteBuffer& buffer,
                                                   std::int64_t offset, std::string_view name, const VariableOptions& options);
  constexpr Tensor remote_replica_sharded_variable(const Initialiser& initialiser, const RemoteBuffer& buffer,
                                                   std::int64_t offset, std::string_view name, const ReplicaGrouping& grouping);
  constexpr Tensor remote_replica_sharded_variable(const Initialiser& initialiser, const RemoteBuffer& buffer,
                                                   std::int64_t offset, std::string_view name);

  /// Creates a constant in the current graph from row-major values; a single value fills the whole tensor. Errors: extents below
  /// 1; another number of values; values that the dtype cannot represent (a fraction as int32, 70000 as float16). Integers of 64
  /// bits are exact.
  constexpr Tensor constant(Numbers values, const Shape& shape = {}, DType dtype = float32, std::string_view name = "") {
    const TensorSpec spec{shape, dtype};
    if (!detail::check_spec(*this, "constant", name, spec)) return Tensor::invalid(*this);
    if (const auto count = static_cast<std::int64_t>(values.size()); count != 1 && count != spec.nelms())
      return fail(text("constant: ", count, " values for shape ", to_text(shape), ": ", spec.nelms(), " expected"));
    if (!check_numbers("constant", name, values.values(), dtype)) return Tensor::invalid(*this);
    return add_constant({std::move(values)}, spec, name);
  }
  /// Creates a constant from an initialiser, for example `constant(causal_mask(), {512, 512})`. A generator is evaluated when a
  /// session is created. Errors: those of constants from values; random values; fewer axes than the generator needs. (A template,
  /// since braces mean values.)
  template <std::same_as<Initialiser> Given>
  constexpr Tensor constant(const Given& initialiser, const Shape& shape, DType dtype = float32, std::string_view name = "") {
    const TensorSpec spec{shape, dtype};
    if (initialiser.fill) return fail("constant: random values: values or a generator expected");
    if (initialiser.is_given) return fail("constant: given(), the values of a variable: values or a generator expected");
    if (!initialiser.generator.write) return constant(initialiser.values, shape, dtype, name);
    if (!detail::check_spec(*this, "constant", name, spec) || !check_generator("constant", name, initialiser.generator, spec))
      return Tensor::invalid(*this);
    if (spec.nelms() > 1) return add_constant({{}, initialiser.generator}, spec, name);
    if (initialiser.generator.is_checked_later) return fail("constant: computed_by of one element: its value expected");
    return add_constant({List{detail::sample(initialiser.generator, shape)[0]}, {}}, spec, name);
  }
  /// Creates a scalar constant. (A template, so that constant({20}, {}) calls the overload with a shape and not this one with a
  /// dtype.)
  template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  constexpr Tensor constant(Number value, DType dtype = float32) {
    return number("constant", value, dtype);
  }

  /// Creates a graph by calling a function or module. The graph has an input for every Tensor or TensorSpec among the arguments;
  /// other arguments are passed through. Results of the call become the graph's outputs.
  template <class Build, class... Arguments>
  constexpr Graph create_graph(Build&& build, const Arguments&... arguments);
  constexpr Graph create_empty_graph(std::string_view name = "graph");

  // ---- for ops and transforms ----

  IrTables tables;

  /// Reports an error of the model, and adds ", in <module path>" to the message.
  constexpr Tensor fail(Text message) {
    if (!tables.module_path.empty()) message += text(", in ", join(tables.module_path, "/"));
    if (tables.on_error == OnError::raise) TW_THROW TraceError(message.string());
    if (failure_.empty()) failure_ = message;
    return {*this, tables.current_graph, TensorId::none};
  }
  /// Creates a scalar constant. `what` names the op in errors.
  template <class Number>
  constexpr Tensor number(std::string_view what, Number value, DType dtype) {
    const ExactNumber exact(value);
    if (!check_numbers(what, "", {&exact.value, 1}, dtype)) return Tensor::invalid(*this);
    return constant(Numbers{exact}, Shape{}, dtype);
  }
  constexpr const Text& failure() const { return failure_; }
  constexpr bool failed() const { return !failure_.empty(); }

 private:
  /// Checks that all numbers fit the dtype. Fails if not; the error names `what`.
  constexpr bool check_numbers(std::string_view what, std::string_view name, Span<const double> numbers, DType dtype) {
    const std::ptrdiff_t unfit = find_unfit(numbers, dtype);
    if (unfit < 0) return true;
    Text subject = what;
    if (!name.empty()) subject += text(": '", name, "'");
    fail(text(subject, ": ", number_text(numbers[static_cast<std::size_t>(unfit)]), " as ", to_text(dtype), ": ",
              expected_number(dtype), " expected"));
    return false;
  }
  /// Checks that a generator fits the shape and that the dtype can represent a sample of its elements. Passes for other
  /// initialisers.
  constexpr bool check_generator(std::string_view what, std::string_view name, const Generator& generator,
                                 const TensorSpec& spec) {
    if (!generator.write) return true;
    if (const Text is = detail::generator_fault(generator, spec.shape); !is.empty()) {
      fail(text(what, ": ", is));
      return false;
    }
    if (generator.is_checked_later) return true;
    const List<double> elements = detail::sample(generator, spec.shape);
    if (const double element = find_rounded(elements, spec.dtype); element != 0)
      fail(text(what, ": a generator of ", number_text(element), " as ", to_text(spec.dtype), ": numbers below 2^53 expected"));
    return check_numbers(what, name, elements, spec.dtype);
  }
  /// Adds a variable whose values are distributed over the replicas. `what` names the calling function in errors.
  constexpr Tensor add_variable(std::string_view what, TensorKind kind, const Initialiser& initialiser, const TensorSpec& spec,
                                std::string_view name, const Distribution& distribution, List<int> assignment) {
    if (tables.current_graph != GraphId::main)
      return fail(text(what, ": '", name, "' in graph ", tables.graphs[tables.current_graph].name,
                       ": variables live in the main graph only"));
    if (!detail::check_spec(*this, what, name, {distribution.shape, spec.dtype})) return Tensor::invalid(*this);
    if (distribution.shape.rank == max_rank && (distribution.groups > 1 || distribution.all_replicas))
      return fail(text(what, ": '", name, "' of shape ", to_text(distribution.shape),
                       " on the host once for each group or replica: at most ", max_rank - 1, " axes expected"));
    const std::int64_t expected = distribution.groups * distribution.shape.nelms();
    if (const auto count = static_cast<std::int64_t>(initialiser.values.size());
        !initialiser.fill && !initialiser.generator.write && count != 1 && count != expected)
      return fail(text(what, ": ", count, " values for '", name, "' of shape ", to_text(distribution.shape),
                       distribution.groups > 1 ? text(" in ", distribution.groups, " groups of replicas") : Text(), ": ",
                       expected, " expected"));
    if (const Text is = detail::random_fault(initialiser, spec.dtype); !is.empty())
      return fail(text(what, ": '", name, "' of ", is));
    if (!check_numbers(what, name, initialiser.values.values(), spec.dtype)) return Tensor::invalid(*this);
    if (!check_generator(what, name, initialiser.generator, {distribution.shape, spec.dtype})) return Tensor::invalid(*this);
    const TensorId tensor = tables.add_tensor({spec, kind, static_cast<int>(tables.variables.size())}, name);
    make_room(tables.variables);
    tables.variables.push_back({tensor, initialiser, distribution, std::move(assignment)});
    return {*this, GraphId::main, tensor};
  }
  /// Adds a variable in a row of a buffer. `what` names the calling function in errors.
  constexpr Tensor add_remote_variable(std::string_view what, const Initialiser& initialiser, const RemoteBuffer& buffer,
                                       std::int64_t offset, std::string_view name, Pair<Distribution, List<int>> distribution);
  constexpr Tensor add_constant(ConstantRecord constant, const TensorSpec& spec, std::string_view name) {
    const TensorId tensor = tables.add_tensor({spec, TensorKind::constant, static_cast<int>(tables.constants.size())}, name);
    tables.constants.push_back(std::move(constant));
    return {*this, tables.current_graph, tensor};
  }
  constexpr Stream add_stream(StreamDirection direction, std::string_view name, const TensorSpec& spec) {
    detail::check_spec(*this, "stream", name, spec);
    detail::make_room_for_name(stream_names_, tables.streams);
    const std::size_t hash = hash_of(name), slot = detail::name_slot(stream_names_, tables.streams, name, hash);
    if (stream_names_[slot].second >= 0) fail(text("stream: '", name, "' exists already: stream names are unique"));
    stream_names_[slot] = {hash, static_cast<int>(tables.streams.size())};
    make_room(tables.streams);
    tables.streams.push_back({direction, name, spec});
    return {this, static_cast<int>(tables.streams.size()) - 1, spec};
  }
  template <class T>
  friend constexpr T&& detail::keep(Ir& ir, T&& result);
  Text failure_;
  detail::KeptResults results_;
  NameTable<int> stream_names_;
  int num_host_transfers_ = 0;
  std::int64_t replication_factor_ = 1;
  bool has_replica_groupings_ = false;
};

namespace detail {
/// Keeps the result of a function as long as the Ir. GCC 12 stores no place for a call that returns a class with a destructor,
/// but one for a call that returns this reference, so its stack of an error names the user's line. A variable of the type `auto`
/// takes the result over.
template <class T>
constexpr T&& keep(Ir& ir, T&& result) {
  return ir.results_.keep(std::move(result));
}
/// Checks that a tensor of the spec can exist: extents of at least 1, and at most max_tensor_bytes. Fails if not; the error names
/// `what`.
constexpr bool check_spec(Ir& ir, std::string_view what, std::string_view name, const TensorSpec& spec) {
  auto bytes = static_cast<double>(size_of(spec.dtype));  // a double, which does not overflow
  bool is_empty = false;
  for (int axis = 0; axis < spec.shape.rank; ++axis) {
    const std::int64_t extent = spec.shape.extents[axis];
    is_empty = is_empty || extent < 1;
    bytes *= static_cast<double>(extent);
  }
  if (!is_empty && bytes <= max_tensor_bytes && !is_complex(spec.dtype)) return true;
  Text subject = text(what, ": ");
  if (!name.empty()) subject += text("'", name, "' of ");
  if (is_complex(spec.dtype))
    ir.fail(text(subject, to_text(spec), ": another dtype expected; PopXL has no ops for complex numbers either"));
  else if (is_empty) ir.fail(text(subject, "shape ", to_text(spec.shape), ": extents above 0 expected"));
  else ir.fail(text(subject, to_text(spec), ": a tensor of at most 2^47 bytes expected"));
  return false;
}
/// Adds an input to the current graph. If it is by reference, in-place changes reach the caller's tensor.
constexpr Tensor add_graph_input(Ir& ir, const TensorSpec& spec, std::string_view name = "", bool by_ref = false,
                                 int meta_shape = -1) {
  check_spec(ir, "graph input", name, spec);
  const TensorId id = ir.tables.add_tensor({.spec = spec, .kind = TensorKind::input, .meta_shape = meta_shape}, name);
  if (by_ref) ir.tables.current().by_reference.push_back(static_cast<int>(ir.tables.current().inputs.size()));
  make_room(ir.tables.current().inputs);
  ir.tables.current().inputs.push_back(id);
  return {ir, ir.tables.current_graph, id};
}
}  // namespace detail

constexpr TensorSpec Tensor::spec() const {  // called often while a program compiles, so it calls little
  return valid() ? ir_->tables.graphs[graph_].tensors[id_].spec : TensorSpec{};
}
constexpr Shape Tensor::shape() const { return spec().shape; }
constexpr DType Tensor::dtype() const { return spec().dtype; }
constexpr int Tensor::rank() const { return spec().shape.rank; }
constexpr std::int64_t Tensor::nelms() const { return spec().nelms(); }
constexpr std::optional<Shape> Tensor::meta_shape() const {
  if (!valid()) return std::nullopt;
  const int index = ir_->tables.record(*this).meta_shape;
  if (index < 0) return std::nullopt;
  return ir_->tables.meta_shapes[static_cast<std::size_t>(index)].whole;
}
constexpr std::string_view Stream::name() const { return program().tables.streams[static_cast<std::size_t>(id)].name.view(); }
constexpr std::string_view Tensor::name() const { return valid() ? ir_->tables.record(*this).name.view() : ""; }
constexpr std::int64_t Tensor::shape(int axis) const {
  if (!valid()) return 1;
  const int n = rank();
  if (axis < -n || axis >= n) {
    ir_->fail(text("shape: axis ", axis, " of ", to_text(shape()), ": an axis from ", -n, " to ", n - 1, " expected"));
    return 1;
  }
  return shape()[axis];
}

namespace detail {
constexpr Tensor fail_as_absent(const AbsentFromTensors& given, std::string_view call, std::string_view expected,
                                const auto&...) {
  return static_cast<const Tensor&>(given).ir().fail(text("Tensor: no ", call, ": ", expected, " expected"));
}
}  // namespace detail

[[nodiscard]] constexpr Text to_text(const Tensor& tensor) {
  Text name = tensor.name();
  if (!name.empty()) name += " ";
  return text("Tensor[", name, to_text(tensor.dtype()), " ", to_text(tensor.shape()), "]");
}

}  // namespace tilewright
