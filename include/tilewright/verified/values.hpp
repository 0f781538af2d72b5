#pragma once
#include <cstddef>
#include <cstdint>

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
    const std::size_t size = table_.size();
    const std::uint64_t hash = hash_of(term.data(), term.size());
    const int* const table = table_.data();
    std::size_t slot = hash % size;
    for (; table[slot] >= 0; slot = slot + 1 == size ? 0 : slot + 1)
      if (is(terms_.data()[table[slot]], hash, term)) return ValueId(table[slot]);
    const auto number = static_cast<int>(terms_.size());
    table_[slot] = number;
    make_room(terms_);
    terms_.push_back({words_.size(), term.size(), hash});
    const std::size_t first = words_.size();
    make_room(words_, term.size());
    words_.resize(first + term.size());
    std::int64_t* const words = words_.data() + first;
    for (std::size_t i = 0; i < term.size(); ++i) words[i] = term.data()[i];
    return ValueId(number);
  }
  constexpr int size() const { return static_cast<int>(terms_.size()); }
  constexpr List<std::int64_t> term(ValueId value) const {
    const Term& known = terms_[static_cast<std::size_t>(value)];
    return {words_.begin() + known.first, words_.begin() + known.first + known.size};
  }

 private:
  struct Term {
    std::size_t first = 0, size = 0;  // in the words
    std::uint64_t hash = 0;
  };
  static constexpr std::uint64_t hash_of(const std::int64_t* words, std::size_t size) {
    std::uint64_t value = 1469598103934665603u;
    for (std::size_t i = 0; i < size; ++i) {
      value = (value ^ static_cast<std::uint64_t>(words[i])) * 1099511628211u;  // FNV-1a, by words
      value ^= value >> 29;
    }
    return value;
  }
  constexpr bool is(const Term& known, std::uint64_t hash, const List<std::int64_t>& term) const {
    if (known.hash != hash || known.size != term.size()) return false;
    const std::int64_t *const words = words_.data() + known.first, *const others = term.data();
    for (std::size_t i = 0; i < known.size; ++i)
      if (words[i] != others[i]) return false;
    return true;
  }
  constexpr void grow() {
    const std::size_t size = 4 * table_.size() + 256;
    table_.assign(size, -1);
    int* const table = table_.data();
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      std::size_t slot = terms_[i].hash % size;
      while (table[slot] >= 0) slot = slot + 1 == size ? 0 : slot + 1;
      table[slot] = static_cast<int>(i);
    }
  }

  List<std::int64_t> words_{};
  List<Term> terms_{};
  List<int> table_{};  // numbers of terms, by hash with open addressing; -1: free
};

/// Kinds of terms: the first word of each.
enum class TermKind : std::int64_t { initial, result, partials, choice, content, slice, use, call };

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
  /// Bytes from the first element on.
  struct Reach {
    std::int64_t below = 0;  ///< the first byte: 0 or less
    std::int64_t above = 0;  ///< the end of the last element
  };
  constexpr Reach reach() const {  // no std::pair, of which compilers make ten calls
    std::int64_t below = 0, above = element_bytes;
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t bytes = strides[axis] * (extents[axis] - 1);
      (bytes < 0 ? below : above) += bytes;
    }
    return {below, above};
  }
  friend constexpr bool operator==(const Access& a, const Access& b) {
    if (a.offset != b.offset || a.element_bytes != b.element_bytes || a.rank != b.rank) return false;
    for (int axis = 0; axis < a.rank; ++axis)
      if (a.extents[axis] != b.extents[axis] || a.strides[axis] != b.strides[axis]) return false;
    return true;
  }
};

/// Returns whether the elements of an access certainly have bytes of their own.
constexpr bool has_own_places(const Access& access) {
  std::int64_t strides[max_rank]{}, ends[max_rank]{};  // of axes, the smallest stride first: the bytes along each
  int count = 0;
  for (int axis = 0; axis < access.rank; ++axis) {
    if (access.extents[axis] < 2) continue;
    const std::int64_t stride = access.strides[axis] < 0 ? -access.strides[axis] : access.strides[axis];
    int at = count++;
    for (; at > 0 && strides[at - 1] > stride; --at) strides[at] = strides[at - 1], ends[at] = ends[at - 1];
    strides[at] = stride;
    ends[at] = stride * (access.extents[axis] - 1);
  }
  std::int64_t span = access.element_bytes;
  for (int i = 0; i < count; ++i) {
    if (strides[i] < span) return false;
    span += ends[i];
  }
  return true;
}

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
/// Returns whether a content is that of all elements of a value, or of its first ones, in their order.
constexpr bool is_whole(const Content& content, const Shape& shape) {
  if (content.first != 0 || !content.parts.empty()) return false;
  std::int64_t step = 1;
  for (int axis = shape.rank; axis-- > 0;) {
    const std::int64_t extent = shape.extents[axis];
    if (content.steps[axis] != (extent == 1 ? 0 : step)) return false;
    step *= extent;
  }
  return true;
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

/// Adds rows to a run that they continue, if both have evenly spaced elements of one value. Returns how many it adds.
constexpr std::int64_t add_rows(Content& run, const Content& added, int axis) {
  if (!run.parts.empty() || !added.parts.empty() || run.value != added.value) return 0;
  const std::int64_t step = run.count == 1 ? added.first - run.first : run.steps[axis];
  if (added.first != run.first + run.count * step) return 0;
  for (int i = axis + 1; i < max_rank; ++i)
    if (run.steps[i] != added.steps[i]) return 0;
  const std::int64_t count = added.count == 1 || added.steps[axis] == step ? added.count : 1;
  run.steps[axis] = step;
  run.count += count;
  return count;
}
/// Forgets how a run's elements continue along an axis.
constexpr void forget_steps(Content& run, int axis) {
  run.steps[axis] = 0;
  for (Content& part : run.parts) forget_steps(part, axis);
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
