#pragma once
#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include "tilewright/core/diagnostic.hpp"
#include "tilewright/core/grow.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/graph/ids.hpp"

namespace tilewright {

class Ir;

/// A handle of a tensor in a graph that is being traced. Copies mean the same tensor; == compares identity, never elements.
/// After a failed check a trace goes on with invalid tensors (no shape, extents of 1) until the error is reported.
class Tensor {
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
  /// Whether it is a tensor of that Ir.
  constexpr bool is_of(const Ir& ir) const { return ir_ == &ir; }
  constexpr GraphId graph_id() const { return graph_; }
  constexpr TensorId id() const { return id_; }

  constexpr TensorSpec spec() const;
  constexpr Shape shape() const { return spec().shape; }
  /// Extent of one axis; negative axes count from the last. An axis out of range is an error.
  constexpr std::int64_t shape(int axis) const;
  constexpr DType dtype() const { return spec().dtype; }
  constexpr int rank() const { return spec().shape.rank; }
  constexpr std::int64_t nelms() const { return spec().nelms(); }
  /// Of a shard: the shape of the whole tensor. Of other tensors: nothing.
  constexpr std::optional<Shape> meta_shape() const;
  /// The tensor's name in its graph; empty for an unnamed intermediate tensor.
  constexpr std::string_view name() const;

  constexpr Tensor matmul(Tensor rhs) const;
  /// Another shape for the same elements; one extent may be -1 and is then found from the others.
  constexpr Tensor reshape(const Shape& shape) const;
  constexpr Tensor flatten() const;
  /// The axes in reversed order.
  constexpr Tensor T() const;
  /// The axes in the given order; a permutation of 0 to rank-1.
  constexpr Tensor transpose(const Shape& permutation) const;
  constexpr Tensor detach() const;
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
constexpr Text to_text(const Tensor& tensor) {
  Text name = tensor.name();
  if (!name.empty()) name += " ";
  return text("Tensor[", name, to_text(tensor.dtype()), " ", to_text(tensor.shape()), "]");
}

/// A map from tensors to tensors, for example from a graph's inputs to the caller's tensors, in the order of insertion.
class TensorMap {
 public:
  using Entry = std::pair<Tensor, Tensor>;
  constexpr TensorMap() = default;
  constexpr TensorMap(std::initializer_list<Entry> entries) {
    for (const auto& [key, value] : entries) insert(key, value);
  }
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
    const auto hash = (static_cast<std::size_t>(key.id()) + 1) * 2654435761u + static_cast<std::size_t>(key.graph_id()) + 1;
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

#include "tilewright/graph/ir.hpp"  // defines what is declared above
