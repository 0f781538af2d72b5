#pragma once
#include <cstdint>
#include <span>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/op_info/op_info.hpp"
#include "tilewright/verified/terms.hpp"

namespace tilewright::internal::proof::detail {

/// Whether plans compute an op in slices: one after the other, each of a part of its operands.
constexpr bool is_sliced(const OpInfo& op) {
  return op.work && (op.work_kind == WorkKind::product || op.work_kind == WorkKind::convolution);
}

/// Elements from `begin` on of an axis.
struct AxisRange {
  std::int64_t begin = 0, extent = 0;
};
/// Returns what is found at some indices of a tensor of which `whole` is found.
constexpr Content slice_of_content(const Content& whole, const Shape& shape, std::span<const AxisRange> ranges) {
  Content result = whole;
  if (whole.parts.empty()) {
    for (int axis = 0; axis < shape.rank; ++axis) {
      const AxisRange range = ranges[static_cast<std::size_t>(axis)];
      result.first += range.begin * whole.steps[axis];
      if (range.extent == 1) result.steps[axis] = 0;
    }
    return result;
  }
  const auto strides = dense_strides(shape);
  Access access = access_of(0, {shape, uint8}, strides);
  Memory memory;
  memory.write(access, whole);
  for (int axis = 0; axis < shape.rank; ++axis) {
    const AxisRange range = ranges[static_cast<std::size_t>(axis)];
    access.offset += range.begin * access.strides[axis];
    access.extents[axis] = range.extent;
  }
  return memory.read(access);
}

/// Knows products and convolutions of parts of a graph's operands as parts of that graph's result: elements of it, or sums over
/// a range of the terms of each element. Sums over ranges that follow each other and have all terms are elements again.
class Slices {
 public:
  constexpr explicit Slices(ValueTerms& terms) : terms_(terms) {}

  /// Records what an op computes, with this term, if it is a part of a product of a graph.
  constexpr void add(const OpInfo& op, const PackedAttributes& attributes, const List<Operand>& inputs,
                     const List<std::int64_t>& term, const Shape& result) {
    if (const ValueId known = terms_.product_term(term); terms_.is_known(known) || find(known)) return;
    const List<GraphProduct>& products = terms_.products();
    for (std::size_t i = 0; i < products.size(); ++i) {  // most often, the next slice is of the same product
      const GraphProduct& product = products[(last_ + i) % products.size()];
      if (product.op->tag != op.tag || product.attributes != attributes) continue;
      if (product.inputs.size() != inputs.size() || product.spec.shape.rank != result.rank) continue;
      if (!find_axes(product, inputs, result)) continue;
      if (axes_.empty() || !find_begins(product, inputs)) continue;
      last_ = (last_ + i) % products.size();
      return add_slice(product, term);
    }
  }
  /// Returns the value of a term. That of a slice is known from now on.
  constexpr ValueId resolved(const List<std::int64_t>& term, const TensorSpec& spec) {
    const ValueId value = terms_.result(term, spec);
    if (terms_.is_known(value)) return value;
    const Slice* const slice = find(terms_.product_term(term));
    if (slice == nullptr || spec.shape != slice->shape) return value;
    if (slice->sum < 0) {
      if (spec.dtype == slice->dtype) terms_.add_equal(value, Content(slice->content), spec.shape);
    } else {
      terms_.add_known(value);
      sums_.push_back({value, *slice});
    }
    return value;
  }
  /// Returns what all slices that an operand has, one after the other along its first axis, are the sum of; null: nothing.
  constexpr const PartialResults* whole_of_slices(const Operand& operand) {
    std::int64_t end = 0;
    int sum = -1;
    Shape shape, row = operand.spec.shape;
    row[0] = 1;
    for (int axis = 1; axis < row.rank; ++axis) shape.push_back(row[axis]);
    const Access dense = access_of(0, {row, operand.spec.dtype}, dense_strides(row));
    for (const Content& part : operand.content.parts) {  // a run of several has another content than whole_of
      const Slice* const slice = part.parts.empty() ? find_sum(part.value) : nullptr;
      if (slice == nullptr || slice->range.begin != end || (sum >= 0 && slice->sum != sum) || slice->shape != shape ||
          !same(part, whole_of(part.value, dense)))
        return nullptr;
      sum = slice->sum;
      end += slice->range.extent;
    }
    if (sum < 0 || end != wholes_[static_cast<std::size_t>(sum)].terms) return nullptr;
    PartialResults& whole = wholes_[static_cast<std::size_t>(sum)].results;
    whole.parts = operand.spec.shape[0];
    return &whole;
  }

 private:
  /// A part of a product: elements of its result, or a part of their sums.
  struct Slice {
    ValueId term{};
    Shape shape{};
    DType dtype{};  ///< of the product
    Content content{};  ///< the elements; not read for sums
    int sum = -1;  ///< the number in wholes_; -1: no sum
    AxisRange range{};  ///< of the terms
  };
  struct Whole {
    PartialResults results{};
    std::int64_t terms = 0;  ///< of each sum
    int axis = -1;  ///< of the work: that of the terms
  };
  struct Sliced {
    int axis = -1;  ///< of the work
    AxisRange range{};
    bool is_known = false;  ///< whether `begin` is
  };

  constexpr const Slice* find(ValueId term) const {
    const auto i = static_cast<std::size_t>(term);
    return i < by_term_.size() && by_term_[i] >= 0 ? &slices_[static_cast<std::size_t>(by_term_[i])] : nullptr;
  }
  constexpr const Slice* find_sum(ValueId value) const {
    for (std::size_t i = sums_.size(); i-- > 0;)
      if (sums_[i].first == value) return &sums_[i].second;
    return nullptr;
  }
  constexpr Sliced* find_axis(int axis) {
    for (Sliced& each : axes_)
      if (each.axis == axis) return &each;
    return nullptr;
  }

  /// Finds the axes of the product's work of which operands have parts. Returns whether each operand may be such a part.
  constexpr bool find_axes(const GraphProduct& product, const List<Operand>& inputs, const Shape& result) {
    axes_.clear();
    specs_.clear();
    for (const Operand& input : product.inputs) specs_.push_back(input.spec);
    specs_.push_back(product.spec);
    const auto shape_of = [&](std::size_t o) -> const Shape& { return o < inputs.size() ? inputs[o].spec.shape : result; };
    for (std::size_t o = 0; o < specs_.size(); ++o)
      if (specs_[o].shape.rank != shape_of(o).rank || (o < inputs.size() && specs_[o].dtype != inputs[o].spec.dtype))
        return false;
    work_ = work_of(*product.op, {specs_.data(), specs_.size()}, static_cast<int>(inputs.size()), product.attributes);
    for (std::size_t o = 0; o < specs_.size(); ++o)
      for (int i = 0; i < specs_[o].shape.rank; ++i) {
        const std::int64_t extent = shape_of(o)[i];
        if (extent == specs_[o].shape[i]) continue;
        const int axis = work_.follows(static_cast<int>(o), i);
        if (axis < 0 || work_.axes[axis].kind == WorkAxisKind::whole || extent > work_.axes[axis].extent) return false;
        if (!find_axis(axis)) axes_.push_back({axis, {0, extent}});
      }
    for (const Sliced& sliced : axes_)
      for (std::size_t o = 0; o < specs_.size(); ++o)
        for (int i = 0; i < specs_[o].shape.rank; ++i)
          if (work_.follows(static_cast<int>(o), i) == sliced.axis &&
              (specs_[o].shape[i] != work_.axes[sliced.axis].extent || shape_of(o)[i] != sliced.range.extent))
            return false;
    return true;
  }
  /// Returns the ranges of an operand's axes. `sums`: whether parts of sums count.
  constexpr List<AxisRange> ranges_of(std::size_t operand, bool sums = true) {
    List<AxisRange> ranges;
    for (int i = 0; i < specs_[operand].shape.rank; ++i) {
      const Sliced* const sliced = find_axis(work_.follows(static_cast<int>(operand), i));
      ranges.push_back(sliced && (sums || !is_sum(sliced->axis)) ? sliced->range : AxisRange{0, specs_[operand].shape[i]});
    }
    return ranges;
  }
  constexpr bool is_sum(int axis) const { return !work_.has_follower(static_cast<int>(specs_.size()) - 1, axis); }
  constexpr bool is_at(const GraphProduct& product, const List<Operand>& inputs, std::size_t o) {
    const List<AxisRange> ranges = ranges_of(o);
    return same(slice_of_content(product.inputs[o].content, specs_[o].shape, {ranges.data(), ranges.size()}), inputs[o].content);
  }
  /// Finds where the parts begin: at whole extents of a part, or as the last one.
  constexpr bool find_begins(const GraphProduct& product, const List<Operand>& inputs) {
    for (std::size_t round = 0; round < axes_.size(); ++round)  // an operand of one unknown axis tells that axis
      for (std::size_t o = 0; o < inputs.size(); ++o) {
        Sliced* unknown = nullptr;
        int count = 0;
        for (Sliced& each : axes_)
          if (!each.is_known && work_.has_follower(static_cast<int>(o), each.axis)) unknown = &each, ++count;
        if (count != 1) continue;
        const std::int64_t extent = unknown->range.extent, last = work_.axes[unknown->axis].extent - extent;
        for (std::int64_t begin = 0; !unknown->is_known; begin += extent) {
          unknown->range.begin = begin < last ? begin : last;
          unknown->is_known = is_at(product, inputs, o);
          if (begin >= last) break;
        }
        if (!unknown->is_known) return false;
      }
    for (const Sliced& each : axes_)
      if (!each.is_known) return false;
    for (std::size_t o = 0; o < inputs.size(); ++o)
      if (!is_at(product, inputs, o)) return false;
    return true;
  }
  constexpr void add_slice(const GraphProduct& product, const List<std::int64_t>& term) {
    Slice slice{.dtype = product.spec.dtype};
    const Sliced* sum = nullptr;
    for (const Sliced& each : axes_) {
      if (!is_sum(each.axis)) continue;
      if (sum || !gives_partials(work_.axes[each.axis].kind)) return;
      sum = &each;
    }
    const std::size_t result = product.inputs.size();
    const List<AxisRange> ranges = ranges_of(result);
    for (const AxisRange& range : ranges) slice.shape.push_back(range.extent);
    const Access access = access_of(0, product.spec, dense_strides(product.spec.shape));
    slice.content = slice_of_content(terms_.whole(product.value, access), product.spec.shape, {ranges.data(), ranges.size()});
    if (sum) {
      List<Operand> inputs = product.inputs;
      for (std::size_t o = 0; o < inputs.size(); ++o) {
        const List<AxisRange> of_columns = ranges_of(o, false);
        inputs[o].content = slice_of_content(inputs[o].content, specs_[o].shape, {of_columns.data(), of_columns.size()});
        for (int i = 0; i < specs_[o].shape.rank; ++i) inputs[o].spec.shape[i] = of_columns[static_cast<std::size_t>(i)].extent;
      }
      List<std::int64_t> whole = terms_.term_of(product.op->tag, product.attributes, inputs, 0);
      put(slice, whole);  // the elements that all the sums give
      slice.range = sum->range;
      slice.sum = number_of_whole(product, std::move(whole), slice.shape, sum->axis);
    }
    put(std::move(slice), term);
  }
  constexpr int number_of_whole(const GraphProduct& product, List<std::int64_t>&& term, const Shape& shape, int axis) {
    const ValueId value = terms_.product_term(term);
    for (std::size_t i = wholes_.size(); i-- > 0;)
      if (wholes_[i].results.value == value && wholes_[i].axis == axis) return static_cast<int>(i);
    wholes_.push_back({{.value = value,
                        .parts = 1,
                        .op = product.op,
                        .attributes = product.attributes,
                        .term = std::move(term),
                        .shape = shape},
                       work_.axes[axis].extent,
                       axis});
    return static_cast<int>(wholes_.size()) - 1;
  }
  constexpr void put(Slice slice, const List<std::int64_t>& term) {
    slice.term = terms_.product_term(term);
    const auto i = static_cast<std::size_t>(slice.term);
    while (by_term_.size() <= i) by_term_.push_back(-1);
    if (by_term_[i] >= 0) return;
    by_term_[i] = static_cast<int>(slices_.size());
    slices_.push_back(std::move(slice));
  }

  ValueTerms& terms_;
  List<Slice> slices_{};
  List<int> by_term_{};  // by the number of a term: the slice; -1: none
  List<Whole> wholes_{};
  List<std::pair<ValueId, Slice>> sums_{};
  std::size_t last_ = 0;  // the product of the last slice
  // of the product that is compared
  List<Sliced> axes_{};
  List<TensorSpec> specs_{};
  Work work_{};
};

}  // namespace tilewright::internal::proof::detail
