#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/tensor_spec.hpp"

/// Proof that a plan computes what its graphs say. Users see `tw::verified` only.
namespace tilewright::internal::proof::detail {

/// Number of a value: a tensor that some op computes of other values, or that exists before a run.
enum class ValueId : int { unwritten = 0 };

/// Numbers values so that equal terms have equal numbers. A term is a list of words: what the value is (its kind, op and
/// attributes), and the numbers of the values of which it is computed.
class Values {
 public:
  constexpr Values() { number({}); }  // ValueId::unwritten
  /// Returns the number of a term, and adds the term if it is new.
  constexpr ValueId number(const List<std::int64_t>& term) {
    if (2 * (terms_.size() + 1) > table_.size()) grow();
    std::size_t slot = hash(term) % table_.size();
    for (; table_[slot] >= 0; slot = (slot + 1) % table_.size())
      if (is(terms_[static_cast<std::size_t>(table_[slot])], term)) return ValueId(table_[slot]);
    table_[slot] = static_cast<int>(terms_.size());
    terms_.push_back({words_.size(), term.size()});
    for (const std::int64_t word : term) words_.push_back(word);
    return ValueId(table_[slot]);
  }
  constexpr int size() const { return static_cast<int>(terms_.size()); }
  constexpr List<std::int64_t> term(ValueId value) const {
    const Term& known = terms_[static_cast<std::size_t>(value)];
    return {words_.begin() + known.first, words_.begin() + known.first + known.size};
  }

 private:
  struct Term {
    std::size_t first = 0, size = 0;  // in the words
  };
  static constexpr std::size_t mix(std::size_t value, std::int64_t word) {
    value = (value ^ static_cast<std::size_t>(word)) * 1099511628211u;  // FNV-1a, by words
    return value ^ (value >> 29);
  }
  static constexpr std::size_t hash(const List<std::int64_t>& term) {
    std::size_t value = 1469598103934665603u;
    for (const std::int64_t word : term) value = mix(value, word);
    return value;
  }
  constexpr std::size_t hash(const Term& term) const {
    std::size_t value = 1469598103934665603u;
    for (std::size_t i = 0; i < term.size; ++i) value = mix(value, words_[term.first + i]);
    return value;
  }
  constexpr bool is(const Term& known, const List<std::int64_t>& term) const {
    if (known.size != term.size()) return false;
    for (std::size_t i = 0; i < known.size; ++i)
      if (words_[known.first + i] != term[i]) return false;
    return true;
  }
  constexpr void grow() {
    table_.assign(2 * table_.size() + 64, -1);
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      std::size_t slot = hash(terms_[i]) % table_.size();
      while (table_[slot] >= 0) slot = (slot + 1) % table_.size();
      table_[slot] = static_cast<int>(i);
    }
  }

  List<std::int64_t> words_{};
  List<Term> terms_{};
  List<int> table_{};  // numbers of terms, by hash with open addressing; -1: free
};

/// Kinds of terms: the first word of each.
enum class TermKind : std::int64_t { initial, result, partials, choice, content, slice };

/// Elements of one memory that an operand accesses: the first one, and for each axis the bytes to the next.
struct Access {
  std::int64_t offset = 0;  ///< of the first element, in bytes
  int element_bytes = 1;
  int rank = 0;
  std::int64_t extents[max_rank]{};
  std::int64_t strides[max_rank]{};  ///< in bytes

  constexpr std::int64_t elements() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) count *= extents[axis];
    return count;
  }
  /// Returns the bytes before the first element, as a number of 0 or less, and the end of the last element, from the first on.
  constexpr std::pair<std::int64_t, std::int64_t> reach() const {
    std::int64_t below = 0, above = element_bytes;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t bytes = strides[axis] * (extents[axis] - 1);
      (bytes < 0 ? below : above) += bytes;
    }
    return {below, above};
  }
};

/// Elements that an access finds: elements of one value, or of several. Elements of a value are numbered in row-major order.
/// Equal elements have equal contents, however memory was written.
struct Content {
  ValueId value = ValueId::unwritten;
  std::int64_t first = 0;  ///< number of the first element
  std::int64_t steps[max_rank]{};  ///< by axis, to the number of the next element; 0 along an axis of extent 1
  /// If the elements are not evenly spaced elements of one value, the contents of runs of indices of the first axis, each as long
  /// as can be. All indices of a run have their elements in the same runs along the next axis, its parts, evenly spaced.
  List<Content> parts{};
  std::int64_t count = 1;  ///< of a run: its indices
};

/// Returns the content of an access to all elements of a value, in their order.
constexpr Content whole_of(ValueId value, const Access& access) {
  Content content{.value = value};
  std::int64_t step = 1;
  for (int axis = access.rank; axis-- > 0;) {
    content.steps[axis] = access.extents[axis] == 1 ? 0 : step;
    step *= access.extents[axis];
  }
  return content;
}
/// Returns whether two accesses of equal extents found the same elements.
constexpr bool same(const Content& a, const Content& b) {
  if (a.parts.size() != b.parts.size()) return false;
  for (std::size_t i = 0; i < a.parts.size(); ++i)
    if (!same(a.parts[i], b.parts[i])) return false;
  if (!a.parts.empty()) return true;
  for (int axis = 0; axis < max_rank; ++axis)
    if (a.steps[axis] != b.steps[axis]) return false;
  return a.value == b.value && a.first == b.first && a.count == b.count;
}
/// Returns whether an access finds an element that nothing wrote.
constexpr bool has_unwritten(const Content& content) {
  for (const Content& part : content.parts)
    if (has_unwritten(part)) return true;
  return content.parts.empty() && content.value == ValueId::unwritten;
}

/// Returns the access to a view whose first element is at a byte of a memory.
constexpr Access access_of(std::int64_t offset, const TensorSpec& spec, const auto& strides) {
  Access result{offset, static_cast<int>(size_of(spec.dtype)), spec.shape.rank, {}, {}};
  for (int axis = 0; axis < spec.shape.rank && axis < max_rank; ++axis) {
    result.extents[axis] = spec.shape[axis];
    result.strides[axis] = strides[static_cast<std::size_t>(axis)] * size_of(spec.dtype);
  }
  return result;
}

}  // namespace tilewright::internal::proof::detail
