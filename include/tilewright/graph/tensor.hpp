#pragma once
// Handles of tensors. graph/ir.hpp has what they say of their tensor; graph/handles.hpp, what they say of its op and its streams.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/flag.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/graph/absent_from_tensors.hpp"
#include "tilewright/graph/ids.hpp"

namespace tilewright {

class Ir;
class ReplicaGrouping;
enum class RetrievalMode : std::uint8_t;
enum class TensorKind : std::uint8_t;
enum class TileSet : std::uint8_t;
struct Axes;
struct TensorIndex;
struct TensorLocationInfo;

class Tensor;

/// A handle of a tensor in a graph that is being traced. Copies refer to the same tensor; == compares identity, never elements.
/// After a failed check, the trace continues with invalid tensors (no shape, extents of 1) until the error is reported.
class Tensor : public detail::AbsentFromTensors, protected detail::Handle {
 public:
  constexpr Tensor() = default;
  constexpr Tensor(Ir& ir, GraphId graph, TensorId id) : Handle{&ir}, graph_(graph), id_(id) {}
  constexpr Tensor(const Tensor&) = default;
  constexpr Tensor& operator=(const Tensor&) & = default;
  /// An error: x[...] = y would assign to a temporary handle, and change no element.
  constexpr void operator=(const auto& y) && {
    fail_as_absent(*this, "x[...] = y", "ops::copy_var_update_(ops::slice_(x, 0, 2), y)", y);
  }

  static constexpr Tensor invalid(Ir& ir) { return {ir, GraphId::none, TensorId::none}; }
  constexpr bool valid() const { return id_ != TensorId::none; }
  constexpr Ir& ir() const {
    if (graph_ == no_graph)  // no question for ir_: GCC 12 cannot compare temporaries' addresses with null
      TW_THROW TraceError("Tensor: a Tensor() of no graph: a tensor that an op, a stream or an input gave expected");
    return *ir_;
  }
  /// Returns whether the tensor is valid. Ops ask this, because they pass on invalid tensors. Throws TraceError for a Tensor() of
  /// no graph.
  constexpr bool is_usable() const { return valid() || (ir(), false); }
  /// Returns whether the tensor belongs to an Ir.
  constexpr bool is_of(const Ir& ir) const { return ir_ == &ir; }
  constexpr GraphId graph_id() const { return graph_; }
  /// Returns the tensor's number in its graph.
  constexpr TensorId number() const { return id_; }
  /// Returns `graph/name`, which is unique in the Ir; for the main graph, the name alone. An unnamed tensor has its number
  /// instead of a name: `graph/#5`.
  constexpr Text id() const;
  /// Returns the name of its graph; empty for the main graph.
  constexpr std::string_view scope() const;
  /// Returns whether it is a variable, a constant, an input of a graph, or the result of an op.
  constexpr TensorKind kind() const;

  constexpr TensorSpec spec() const;
  constexpr Shape shape() const;
  /// Returns the extent of one axis. Negative axes count from the last. An axis out of range is an error.
  constexpr std::int64_t shape(int axis) const;
  constexpr DType dtype() const;
  constexpr int rank() const;
  constexpr std::int64_t nelms() const;
  /// Returns the shape of the whole tensor if this is a shard; otherwise nothing.
  constexpr std::optional<Shape> meta_shape() const;
  /// Returns the tensor's name in its graph; empty for an unnamed intermediate tensor.
  constexpr std::string_view name() const;
  /// Returns the distance in bytes between neighbouring elements along each axis. The result of an op is dense and row-major. A
  /// view has the strides of its place in the viewed memory, which are 0 along expanded axes. A plan copies a view to dense
  /// memory if the viewed tensor changes before the view is read, or if its reader needs dense memory.
  constexpr List<std::int64_t> strides() const;

  /// Returns the groups of replicas with separate values of a variable. An error for tensors that are not variables.
  constexpr ReplicaGrouping replica_grouping() const;
  /// Returns whether the host has a tensor of the variable for each group, or for each replica. An error for tensors that are not
  /// variables.
  constexpr RetrievalMode retrieval_mode() const;
  /// Returns the shape of the variable's array on the host, with a first axis over groups or replicas if there are several. An
  /// error for tensors that are not variables.
  constexpr Shape shape_on_host() const;
  /// Returns the shape of the variable on each replica, which is a shard's if it is sharded. An error for tensors that are not
  /// variables.
  constexpr Shape shape_on_replica() const;
  /// Returns whether the tensor lies in the machine's memory or in streaming memory, and whether it is a shard. For a remote
  /// variable, also returns its buffer and its row. A tensor that is no remote variable lies in the machine's memory.
  constexpr TensorLocationInfo location_info() const;

  /// Returns the number of the tensor's IPU. Nothing for a variable, a constant or an input of a graph that no op has used.
  constexpr std::optional<int> ipu() const;
  /// Returns whether it is on the IPU's compute tiles or its IO tiles; nothing if the IPU is not known.
  constexpr std::optional<TileSet> tile_set() const;
  /// Copies the tensor to another IPU of the replica: ops::ipu_copy. `source` is required if ipu() is not known.
  [[nodiscard]] constexpr Tensor copy_to_ipu(int destination, std::optional<int> source = {}) const;

  [[nodiscard]] constexpr Tensor matmul(Tensor rhs) const;
  /// Returns the elements in another shape. One extent may be -1 and is then computed from the others.
  [[nodiscard]] constexpr Tensor reshape(const Shape& shape) const;
  [[nodiscard]] constexpr Tensor flatten() const;
  /// Reverses the order of the axes.
  [[nodiscard]] constexpr Tensor T() const;
  /// Permutes the axes; `permutation` is a permutation of 0 to rank-1.
  [[nodiscard]] constexpr Tensor transpose(const Shape& permutation) const;
  [[nodiscard]] constexpr Tensor detach() const;
  /// Repeats elements along axes of extent 1, or along new axes in front, to fill the shape.
  [[nodiscard]] constexpr Tensor expand(const Shape& shape) const;
  /// Removes axes of extent 1: all of them, or the given ones.
  [[nodiscard]] constexpr Tensor squeeze() const;
  [[nodiscard]] constexpr Tensor squeeze(const Axes& axes) const;
  /// Returns the diagonal of a matrix, or the matrix with a vector as its diagonal.
  [[nodiscard]] constexpr Tensor diag() const;
  /// Returns the sum or mean of all elements, or over some axes. `keep_axes` keeps these axes with extent 1.
  [[nodiscard]] constexpr Tensor sum() const;
  [[nodiscard]] constexpr Tensor sum(const Axes& axes, Flag keep_axes = false) const;
  [[nodiscard]] constexpr Tensor mean() const;
  [[nodiscard]] constexpr Tensor mean(const Axes& axes, Flag keep_axes = false) const;
  /// Return aliases: an in-place change of one changes the other.
  constexpr Tensor reshape_(const Shape& shape) const;
  constexpr Tensor flatten_() const;
  constexpr Tensor T_() const;
  constexpr Tensor transpose_(const Shape& permutation) const;
  constexpr Tensor detach_() const;
  /// Returns a part of the tensor as a view, as NumPy's basic indexing does. There is one index for each axis, from the first on;
  /// missing ones are `tw::all`. An index is a number, which drops the axis and counts from the end if it is negative;
  /// `tw::slice(start, stop, step)`; `tw::all`; or one `tw::ellipsis` for all axes between.
  ///
  ///     x[0], x[tw::slice(1, 3)], x[{tw::slice(tw::none, -1), tw::ellipsis, 0}]  // x[0], x[1:3], x[:-1, ..., 0] in Python
  [[nodiscard]] constexpr Tensor operator[](const TensorIndex& index) const;
  [[nodiscard]] constexpr Tensor operator[](std::initializer_list<TensorIndex> indices) const;
  /// Selects elements by a tensor. Integers select rows: ops::gather along axis 0. A mask of bools, which broadcasts as in NumPy,
  /// keeps the elements where it is true and sets the others to 0; the shape does not change.
  [[nodiscard]] constexpr Tensor operator[](Tensor index) const;
  [[nodiscard]] constexpr Tensor cast(DType dtype) const;

  friend constexpr bool operator==(const Tensor& a, const Tensor& b) {
    return a.ir_ == b.ir_ && a.graph_ == b.graph_ && a.id_ == b.id_;
  }

 private:
  static constexpr auto no_graph = GraphId(-2);  ///< graph of a Tensor(); an invalid tensor of an Ir has `none`
  GraphId graph_ = no_graph;
  TensorId id_ = TensorId::none;
};

/// An input of a graph by reference, as a parameter of a build function: in-place changes reach the caller's tensor.
class TensorByRef : public Tensor {
 public:
  constexpr TensorByRef() = default;
  constexpr explicit TensorByRef(Tensor t) : Tensor(t) {}
};

/// Returns the tensor as text: Tensor[weight float32 (4, 32)]
[[nodiscard]] constexpr Text to_text(const Tensor& tensor);

/// An entry of a TensorMap: a key, and the tensor or number that it maps to.
struct MapEntry {
  Tensor key, value{};
  ExactNumber number{};
  bool is_number = false;
  constexpr MapEntry(Tensor from, Tensor to) : key(from), value(to) {}
  template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  constexpr MapEntry(Tensor from, Number to) : key(from), number(to), is_number(true) {}
};

/// A map from tensors to tensors, in the order of insertion, for example from a graph's inputs to the caller's tensors. A number
/// as value becomes a constant of the key's dtype in the graph that is being built: `{{weight, w}, {scale, 0.5}}`.
class TensorMap {
 public:
  using Entry = Pair<Tensor, Tensor>;
  constexpr TensorMap() = default;
  constexpr TensorMap(std::initializer_list<MapEntry> entries);
  /// Returns an empty map for gradients, whose errors mention gradients.
  static constexpr TensorMap of_gradients() {
    TensorMap result;
    result.holds_gradients_ = true;
    return result;
  }

  /// Adds an entry. If several entries have one key, lookups find the first.
  constexpr void insert(Tensor key, Tensor value) {
    make_room(entries_);
    entries_.push_back({key, value});
    if (2 * entries_.size() > table_.size()) {
      table_.assign(4 * entries_.size() + 8, -1);
      for (std::size_t i = 0; i < entries_.size(); ++i) enter(i);
    } else {
      enter(entries_.size() - 1);
    }
  }
  constexpr void insert(const TensorMap& other) {
    for (const auto& [key, value] : other.entries_) insert(key, value);
  }
  /// Replaces the tensor of an existing key.
  constexpr void assign(Tensor key, Tensor value) {
    if (const int entry = table_[slot(key)]; entry >= 0) entries_[static_cast<std::size_t>(entry)].second = value;
  }
  constexpr const Tensor* find(Tensor key) const {
    if (entries_.empty()) return nullptr;
    const int entry = table_[slot(key)];
    return entry < 0 ? nullptr : &entries_[static_cast<std::size_t>(entry)].second;
  }
  /// Returns the tensor for a key. Fails for a key without an entry; the error names the key.
  constexpr Tensor operator[](Tensor key) const;
  constexpr std::size_t size() const { return entries_.size(); }
  constexpr auto begin() const { return entries_.begin(); }
  constexpr auto end() const { return entries_.end(); }

 private:
  /// Returns the slot of the key in the table, or the empty slot where it belongs.
  constexpr std::size_t slot(Tensor key) const {
    const auto hash = (static_cast<std::size_t>(key.number()) + 1) * 2654435761u + static_cast<std::size_t>(key.graph_id()) + 1;
    std::size_t at = hash % table_.size();
    while (table_[at] >= 0 && !(entries_[static_cast<std::size_t>(table_[at])].first == key)) at = (at + 1) % table_.size();
    return at;
  }
  constexpr void enter(std::size_t i) {
    int& entry = table_[slot(entries_[i].first)];
    if (entry < 0) entry = static_cast<int>(i);
  }

  List<Entry> entries_;
  bool holds_gradients_ = false;
  List<int> table_;  // open addressing, at most half full: index of the entry, or -1
};

}  // namespace tilewright
