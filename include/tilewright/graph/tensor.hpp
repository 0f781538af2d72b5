#pragma once
// Handles of tensors. graph/ir.hpp has what they say of their tensor; graph/handles.hpp, what they say of its op and its streams.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/grow.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/graph/ids.hpp"

namespace tilewright {

class Ir;
class ReplicaGrouping;
enum class RetrievalMode : std::uint8_t;
enum class TensorKind : std::uint8_t;
enum class TileSet : std::uint8_t;
struct Axes;
struct TensorIndex;

class Tensor;

namespace detail {
/// What tensors of PyTorch have, and those of a trace do not: errors that say what to write.
class AbsentFromTensors {
 public:
  constexpr Tensor view(const auto&...) const;
  constexpr Tensor permute(const auto&...) const;
  constexpr void backward(const auto&...) const;
};
}  // namespace detail

/// A handle of a tensor in a graph that is being traced. Copies mean the same tensor; == compares identity, never elements.
/// After a failed check a trace goes on with invalid tensors (no shape, extents of 1) until the error is reported.
class Tensor : public detail::AbsentFromTensors {
 public:
  constexpr Tensor() = default;
  constexpr Tensor(Ir& ir, GraphId graph, TensorId id) : ir_(&ir), graph_(graph), id_(id) {}

  static constexpr Tensor invalid(Ir& ir) { return {ir, GraphId::none, TensorId::none}; }
  constexpr bool valid() const { return id_ != TensorId::none; }
  constexpr Ir& ir() const {
    if (graph_ == no_graph)  // no question for ir_: GCC 12 cannot compare temporaries' addresses with null
      throw TraceError("Tensor: a Tensor() of no graph: a tensor that an op, a stream or an input gave expected");
    return *ir_;
  }
  /// As valid(), for ops, which hand on invalid tensors: throws TraceError for a Tensor() of no graph.
  constexpr bool is_usable() const { return valid() || (ir(), false); }
  /// Whether it is a tensor of that Ir.
  constexpr bool is_of(const Ir& ir) const { return ir_ == &ir; }
  constexpr GraphId graph_id() const { return graph_; }
  /// Its number in its graph.
  constexpr TensorId number() const { return id_; }
  /// `graph/name`, which no other tensor of its Ir has; of the main graph, the name. In place of a name, an unnamed tensor has
  /// its number: `graph/#5`.
  constexpr Text id() const;
  /// The name of its graph; empty for the main graph.
  constexpr std::string_view scope() const;
  /// Whether it is a variable, a constant, a graph's input, or made by an op.
  constexpr TensorKind kind() const;

  constexpr TensorSpec spec() const;
  constexpr Shape shape() const;
  /// Extent of one axis; negative axes count from the last. An axis out of range is an error.
  constexpr std::int64_t shape(int axis) const;
  constexpr DType dtype() const;
  constexpr int rank() const;
  constexpr std::int64_t nelms() const;
  /// Of a shard: the shape of the whole tensor. Of other tensors: nothing.
  constexpr std::optional<Shape> meta_shape() const;
  /// The tensor's name in its graph; empty for an unnamed intermediate tensor.
  constexpr std::string_view name() const;
  /// The distance in bytes from an element to the next one along each axis. A tensor that an op makes is dense and row-major; a
  /// view has the strides in the memory that it looks at, which are 0 along expanded axes. (A plan makes a view a dense copy if
  /// what it looks at changes before it is read, or if its reader needs that.)
  constexpr List<std::int64_t> strides() const;

  /// Of a variable: the groups of replicas that have values of their own. These four are an error for other tensors.
  constexpr ReplicaGrouping replica_grouping() const;
  /// Of a variable: whether the host has a tensor for each group, or for each replica.
  constexpr RetrievalMode retrieval_mode() const;
  /// Of a variable: the shape of the host's array, with a first axis of groups or replicas if there are several.
  constexpr Shape shape_on_host() const;
  /// Of a variable: the shape that each replica has, of a shard if it is sharded.
  constexpr Shape shape_on_replica() const;

  /// The number of the IPU that it is on; of a variable, a constant or a graph's input that no op has used, nothing.
  constexpr std::optional<int> ipu() const;
  /// Whether it is on the IPU's compute tiles or its IO tiles; nothing where the IPU is not known.
  constexpr std::optional<TileSet> tile_set() const;
  /// A copy on another IPU of the replica: ops::ipu_copy. `source` is needed where ipu() is not known.
  constexpr Tensor copy_to_ipu(int destination, std::optional<int> source = {}) const;

  constexpr Tensor matmul(Tensor rhs) const;
  /// Another shape for the same elements; one extent may be -1 and is then found from the others.
  constexpr Tensor reshape(const Shape& shape) const;
  constexpr Tensor flatten() const;
  /// The axes in reversed order.
  constexpr Tensor T() const;
  /// The axes in the given order; a permutation of 0 to rank-1.
  constexpr Tensor transpose(const Shape& permutation) const;
  constexpr Tensor detach() const;
  /// Another shape, in which elements along axes of extent 1, or along new axes in front, are repeated.
  constexpr Tensor expand(const Shape& shape) const;
  /// Without axes of extent 1: all of these, or the given ones.
  constexpr Tensor squeeze() const;
  constexpr Tensor squeeze(const Axes& axes) const;
  /// The diagonal of a matrix; or the matrix with a vector as its diagonal.
  constexpr Tensor diag() const;
  /// Sum and mean of all elements, or over axes, which `keep_axes` leaves with extent 1.
  constexpr Tensor sum() const;
  constexpr Tensor sum(const Axes& axes, bool keep_axes = false) const;
  constexpr Tensor mean() const;
  constexpr Tensor mean(const Axes& axes, bool keep_axes = false) const;
  /// Aliases: what changes one in place changes the other.
  constexpr Tensor reshape_(const Shape& shape) const;
  constexpr Tensor flatten_() const;
  constexpr Tensor T_() const;
  constexpr Tensor transpose_(const Shape& permutation) const;
  constexpr Tensor detach_() const;
  /// A part of the tensor, as NumPy's basic indexing gives it: a view. One index for each axis, from the first on, those that are
  /// not given being `tw::all`: a number, negative from the end, which drops the axis; `tw::slice(start, stop, step)`; `tw::all`;
  /// or one `tw::ellipsis` for all axes between.
  ///
  ///     x[0], x[tw::slice(1, 3)], x[{tw::slice(tw::none, -1), tw::ellipsis, 0}]  // x[0], x[1:3], x[:-1, ..., 0] in Python
  constexpr Tensor operator[](const TensorIndex& index) const;
  constexpr Tensor operator[](std::initializer_list<TensorIndex> indices) const;
  /// By a tensor of integers, the rows of these numbers: ops::gather along axis 0. By a mask of bools, which broadcasts as in
  /// NumPy, the elements where it is true, and 0 elsewhere: the shape stays.
  constexpr Tensor operator[](Tensor index) const;
  constexpr Tensor cast(DType dtype) const;

  friend constexpr bool operator==(const Tensor& a, const Tensor& b) {
    return a.ir_ == b.ir_ && a.graph_ == b.graph_ && a.id_ == b.id_;
  }

 private:
  static constexpr auto no_graph = GraphId(-2);  ///< of a Tensor(); that of an invalid tensor of an Ir is none
  Ir* ir_ = nullptr;
  GraphId graph_ = no_graph;
  TensorId id_ = TensorId::none;
};

/// A graph's input by reference, as parameter of a build function: changes in place reach the caller's tensor.
class TensorByRef : public Tensor {
 public:
  constexpr TensorByRef() = default;
  constexpr explicit TensorByRef(Tensor t) : Tensor(t) {}
};

/// Tensor[weight float32 (4, 32)]
constexpr Text to_text(const Tensor& tensor);

/// What a TensorMap is made of: a tensor and that for which it stands, or a number.
struct MapEntry {
  Tensor key, value{};
  ExactNumber number{};
  bool is_number = false;
  constexpr MapEntry(Tensor from, Tensor to) : key(from), value(to) {}
  template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  constexpr MapEntry(Tensor from, Number to) : key(from), number(to), is_number(true) {}
};

/// A map from tensors to tensors, for example from a graph's inputs to the caller's tensors, in the order of insertion. A number
/// in place of a tensor becomes a constant of the key's dtype in the graph that is being built: `{{weight, w}, {scale, 0.5}}`.
class TensorMap {
 public:
  using Entry = std::pair<Tensor, Tensor>;
  constexpr TensorMap() = default;
  constexpr TensorMap(std::initializer_list<MapEntry> entries);
  /// An empty map for gradients: its errors speak of gradients.
  static constexpr TensorMap of_gradients() {
    TensorMap result;
    result.holds_gradients_ = true;
    return result;
  }

  /// Adds an entry; of several entries with one key the first is found.
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
  /// Replaces the tensor for a key that is there.
  constexpr void assign(Tensor key, Tensor value) {
    if (const int entry = table_[slot(key)]; entry >= 0) entries_[static_cast<std::size_t>(entry)].second = value;
  }
  constexpr const Tensor* find(Tensor key) const {
    if (entries_.empty()) return nullptr;
    const int entry = table_[slot(key)];
    return entry < 0 ? nullptr : &entries_[static_cast<std::size_t>(entry)].second;
  }
  /// The tensor for a key. Fails for a key without an entry, and names it.
  constexpr Tensor operator[](Tensor key) const;
  constexpr std::size_t size() const { return entries_.size(); }
  constexpr auto begin() const { return entries_.begin(); }
  constexpr auto end() const { return entries_.end(); }

 private:
  /// The slot of the key in the table, or the empty slot where it belongs.
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
