#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/op_info/op_info.hpp"
#include "tilewright/graph/op_info/packed_attributes.hpp"
#include "tilewright/ops/update/accumulate.hpp"
#include "tilewright/verified/memory/memory.hpp"

namespace tilewright::internal::proof::detail {

/// An operand of an op: its type and what it is when the op reads it.
struct Operand {
  TensorSpec spec{};
  Content content{};
};

/// Returns whether all elements of an operand are written.
constexpr bool is_written(const Operand& operand) { return operand.spec.shape.nelms() == 0 || !has_unwritten(operand.content); }

/// Memory of the program before a run, and the host's; and an input of a graph, whatever it is.
enum class Origin : std::int64_t { variable, constant, remote_row, stream, position, input };

/// Partial results of an op: `parts` tensors, one after the other.
struct PartialResults {
  ValueId value = ValueId::unwritten;
  std::int64_t parts = 1;
  const OpInfo* op = nullptr;
  PackedAttributes attributes{};
  List<std::int64_t> term{};  ///< of the whole result, without its dtype
  Shape shape{};  ///< of the whole result
  bool are_added = false;  ///< whether one worker adds them up in the memory of the first part (SumParts)
};

/// A product or convolution of a graph: what it reads, and its result.
struct GraphProduct {
  const OpInfo* op = nullptr;
  PackedAttributes attributes{};
  List<Operand> inputs{};
  TensorSpec spec{};  ///< of the result
  ValueId value = ValueId::unwritten;
};

/// Numbers of the values that graphs and plans compute. Both number them here, so equal terms have one number.
class ValueTerms {
 public:
  constexpr ValueId initial(Origin origin, std::int64_t number, std::int64_t element = 0) {
    return values_.number({word(TermKind::initial), static_cast<std::int64_t>(origin), number, element});
  }
  /// Returns the number of what an access finds. That of a whole value is the number of the value.
  constexpr ValueId number(const Content& content, const Shape& shape) {
    if (is_whole(content, shape)) return content.value;
    List<std::int64_t> term;
    term.reserve(16);
    term.push_back(word(TermKind::content));
    add_content(term, content, shape.rank);
    return values_.number(term);
  }
  /// Returns the term of an op's output, without the spec of the output.
  constexpr List<std::int64_t> term_of(const OpTag* op, const PackedAttributes& attributes, const List<Operand>& inputs,
                                       int output) {
    List<std::int64_t> term;
    term.reserve(attributes.count + 11 * inputs.size() + 16);
    std::int64_t* const words = added(term, 4 + attributes.count);
    words[0] = word(TermKind::result), words[1] = number_of(op), words[2] = output;
    words[3] = static_cast<std::int64_t>(attributes.count);
    for (std::size_t i = 0; i < attributes.count; ++i) words[4 + i] = attributes.words[i];
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      add_spec(term, inputs[i].spec);
      const bool is_read = i > 0 || op != op_info<CopyVarUpdate>.tag;  // which overwrites all of its operand
      term.push_back(is_read ? static_cast<std::int64_t>(number(inputs[i].content, inputs[i].spec.shape)) : -1);
    }
    return term;
  }
  /// Makes a term that of another output.
  static constexpr const List<std::int64_t>& of_output(List<std::int64_t>& term, std::size_t output) {
    term[2] = static_cast<std::int64_t>(output);
    return term;
  }
  constexpr ValueId result(const List<std::int64_t>& term, const TensorSpec& spec) {
    words_ = term;
    add_spec(words_, spec);
    return values_.number(words_);
  }
  /// Returns the value of several parts of a result, and remembers what it is.
  constexpr ValueId partials(PartialResults&& of) {
    List<std::int64_t> term{word(TermKind::partials), of.parts, of.are_added};
    for (const std::int64_t each : of.term) term.push_back(each);
    const ValueId value = of.value = values_.number(term);
    if (!find_partials(value)) partials_.push_back(std::move(of));
    return value;
  }
  constexpr const PartialResults* find_partials(ValueId value) const {
    for (const PartialResults& each : partials_)
      if (each.value == value) return &each;
    return nullptr;
  }
  /// Returns what is one of two contents of a row of elements, as a condition says; unwritten if one of them is.
  constexpr Content choice(ValueId condition, const Content& a, const Content& b) {
    if (same(a, b)) return a;
    if (a.value == ValueId::unwritten || b.value == ValueId::unwritten) return {};
    Content result = a;
    result.value = values_.number({word(TermKind::choice), static_cast<std::int64_t>(condition),
                                   static_cast<std::int64_t>(a.value), static_cast<std::int64_t>(b.value), b.first - a.first});
    return result;
  }

  /// Returns what a call of a graph gives. `result`: what the graph gives for inputs of Origin::input.
  constexpr Content call(ValueId result, const TensorSpec& spec, const List<Operand>& inputs) {
    const Access access = access_of(0, spec, dense_strides(spec.shape));
    List<std::int64_t> term{word(TermKind::call), static_cast<std::int64_t>(result)};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& [given, content] = inputs[i];
      if (given == spec && result == initial(Origin::input, static_cast<std::int64_t>(i))) return content;
      term.push_back(given.shape.nelms() == 0 ? 0 : static_cast<std::int64_t>(number(content, given.shape)));
    }
    return whole_of(values_.number(term), access);
  }

  constexpr const Values& values() const { return values_; }
  /// Records that a graph computes a value.
  constexpr void add_known(ValueId value) {
    while (static_cast<int>(known_.size()) <= static_cast<int>(value)) known_.push_back(false);
    known_[static_cast<std::size_t>(value)] = true;
  }
  constexpr bool is_known(ValueId value) const {
    return static_cast<std::size_t>(value) < known_.size() && known_[static_cast<std::size_t>(value)];
  }
  /// Records that the elements of a value of `shape` are elements of other values. The value is then known.
  constexpr void add_equal(ValueId value, Content&& content, const Shape& shape) {
    add_known(value);
    while (equal_.size() <= static_cast<std::size_t>(value)) equal_.push_back(-1);
    equal_[static_cast<std::size_t>(value)] = static_cast<int>(equal_contents_.size());
    equal_contents_.push_back(std::move(content));
    equal_shapes_.push_back(shape);
  }
  /// Returns the content of all elements of a value, of the extents of an access: of other values, if it is equal to them.
  constexpr Content whole(ValueId value, const Access& access) const {
    const auto number = static_cast<std::size_t>(value);
    if (number >= equal_.size() || equal_[number] < 0) return whole_of(value, access);
    const auto equal = static_cast<std::size_t>(equal_[number]);
    const Shape& shape = equal_shapes_[equal];
    Shape extents;
    for (int axis = 0; axis < access.rank; ++axis) extents.push_back(access.extents[axis]);
    if (extents == shape) return equal_contents_[equal];
    Memory memory;  // for elements in their order, but of another shape
    memory.write(access_of(0, {shape, uint8}, dense_strides(shape)), Content(equal_contents_[equal]));
    return memory.read(access_of(0, {extents, uint8}, dense_strides(extents)));
  }
  /// Records the term of a product, without the spec of the result.
  constexpr void add_product_term(const List<std::int64_t>& term) { add_known(product_term(term)); }
  /// Returns the number of such a term. It is known if a graph computes it.
  constexpr ValueId product_term(const List<std::int64_t>& term) {
    words_ = term;
    words_[0] = word(TermKind::slice);  // in place of a result
    return values_.number(words_);
  }
  constexpr void add_product(GraphProduct&& product) { products_.push_back(std::move(product)); }
  constexpr const List<GraphProduct>& products() const { return products_; }
  /// Records an op that graphs use, so that a plan's tag leads back to it.
  constexpr void add_op(const OpInfo& op) {
    const auto number = static_cast<std::size_t>(number_of(op.tag));
    infos_[number] = &op;
  }
  /// Records the attributes of such an op, and the numbers of its operands.
  constexpr void add_use(const OpTag* tag, const PackedAttributes& attributes, std::size_t inputs, std::size_t outputs) {
    add_known(use_of(tag, attributes, inputs, outputs));
  }
  /// Returns whether graphs use an op with these attributes and numbers of operands.
  constexpr bool has_use(const OpTag* tag, const PackedAttributes& attributes, std::size_t inputs, std::size_t outputs) {
    return is_known(use_of(tag, attributes, inputs, outputs));
  }
  /// Records an op that stores one row of a table, which only the run knows: the other rows stay.
  constexpr void add_row_store(const OpTag* tag) { row_stores_.push_back(tag); }
  constexpr bool is_row_store(const OpTag* tag) const { return has_item(row_stores_, tag); }
  constexpr const OpInfo* find_op(const OpTag* tag) { return infos_[static_cast<std::size_t>(number_of(tag))]; }

 private:
  constexpr ValueId use_of(const OpTag* tag, const PackedAttributes& attributes, std::size_t inputs, std::size_t outputs) {
    words_.resize(4 + attributes.count);
    std::int64_t* const words = words_.data();
    words[0] = word(TermKind::use), words[1] = number_of(tag);
    words[2] = static_cast<std::int64_t>(inputs), words[3] = static_cast<std::int64_t>(outputs);
    for (std::size_t i = 0; i < attributes.count; ++i) words[4 + i] = attributes.words[i];
    return values_.number(words_);
  }
  static constexpr std::int64_t word(TermKind kind) { return static_cast<std::int64_t>(kind); }
  /// Adds words to a term; returns the first one. (Compilers make several calls for each push_back.)
  static constexpr std::int64_t* added(List<std::int64_t>& term, std::size_t count) {
    const std::size_t first = term.size();
    term.resize(first + count);
    return term.data() + first;
  }
  static constexpr void add_spec(List<std::int64_t>& term, const TensorSpec& spec) {
    const int rank = spec.shape.rank;
    std::int64_t* const words = added(term, static_cast<std::size_t>(2 + rank));
    words[0] = static_cast<std::int64_t>(spec.dtype);
    words[1] = rank;
    for (int axis = 0; axis < rank; ++axis) words[2 + axis] = spec.shape.extents[axis];
  }
  static constexpr void add_content(List<std::int64_t>& term, const Content& content, int rank) {
    if (content.parts.empty()) {
      std::int64_t* const words = added(term, static_cast<std::size_t>(3 + rank));
      words[0] = 0;
      words[1] = static_cast<std::int64_t>(content.value);
      words[2] = content.first;
      for (int axis = 0; axis < rank; ++axis) words[3 + axis] = content.steps[axis];
      return;
    }
    term.push_back(static_cast<std::int64_t>(content.parts.size()));
    make_room(term, 16 * content.parts.size());
    for (const Content& part : content.parts) {
      term.push_back(part.count);
      add_content(term, part, rank);
    }
  }
  constexpr std::int64_t number_of(const OpTag* tag) {
    const auto count = static_cast<std::int64_t>(tags_.size());
    const OpTag* const* const tags = tags_.data();
    for (std::int64_t i = 0; i < count; ++i)
      if (tags[i] == tag) return i;
    tags_.push_back(tag);
    infos_.push_back(nullptr);
    return count;
  }

  Values values_{};
  List<std::int64_t> words_{};  // of the term that is looked up: a list that keeps its memory
  List<bool> known_{};  // by value: whether a graph computes it
  List<int> equal_{};  // by value: the number of its content in other values; -1: none
  List<Content> equal_contents_{};
  List<Shape> equal_shapes_{};  // of the values that have these
  List<GraphProduct> products_{};
  List<const OpTag*> tags_{};
  List<const OpInfo*> infos_{};  // by tag; null: no graph has it
  List<const OpTag*> row_stores_{};
  List<PartialResults> partials_{};
};

}  // namespace tilewright::internal::proof::detail
