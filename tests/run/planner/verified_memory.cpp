// labels: asan ubsan
// The proof's memory against one that keeps each byte: random strided writes, copies, joins and reads.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <tilewright/verified/memory/shared_memories.hpp>
#include <vector>

#include "../../catch.hpp"

namespace {

using namespace tilewright::internal::proof::detail;
using tilewright::max_rank;
using Index = std::array<std::int64_t, max_rank>;

/// An element of a value; its bytes in a memory.
struct Element {
  ValueId value = ValueId::unwritten;
  std::int64_t number = 0;
  bool operator==(const Element&) const = default;
};
struct Byte {
  Element element{};
  int bytes = 0, index = 0;  // of the element
};

/// Calls f with the index and the offset of each element of an access, in row-major order.
void for_each_element(const Access& access, const auto& f, Index index = {}, int axis = 0) {
  if (axis == access.rank) {
    std::int64_t offset = access.offset;
    for (int i = 0; i < axis; ++i) offset += index[static_cast<std::size_t>(i)] * access.strides[i];
    return f(index, offset);
  }
  for (std::int64_t i = 0; i < access.extents[axis]; ++i) {
    index[static_cast<std::size_t>(axis)] = i;
    for_each_element(access, f, index, axis + 1);
  }
}
Element element_at(const Content& content, Index index) {
  const Content* part = &content;
  for (std::size_t axis = 0; !part->parts.empty(); ++axis) {
    auto run = part->parts.begin();
    for (; index[axis] >= run->count; ++run) index[axis] -= run->count;
    part = run;
  }
  Element result{part->value, part->first};
  for (std::size_t axis = 0; axis < index.size(); ++axis) result.number += index[axis] * part->steps[axis];
  return result.value == ValueId::unwritten ? Element{} : result;
}

/// A memory, and what is in each of its bytes.
struct Both {
  Memory memory{};
  std::vector<Byte> bytes = std::vector<Byte>(size);
  static constexpr std::int64_t size = 256;

  Element element(std::int64_t offset, int count) const {
    const Byte& first = bytes[static_cast<std::size_t>(offset)];
    for (int i = 0; i < count; ++i)
      if (const Byte& byte = bytes[static_cast<std::size_t>(offset + i)];
          byte.element != first.element || byte.bytes != count || byte.index != i)
        return {};
    return first.element;
  }
  void write(const Access& access, const Content& content) {
    memory.write(access, content);
    for_each_element(access, [&](const Index& index, std::int64_t offset) {
      const Element element = element_at(content, index);
      for (int i = 0; i < access.element_bytes; ++i)
        bytes[static_cast<std::size_t>(offset + i)] = element.value == ValueId::unwritten
                                                          ? Byte{}
                                                          : Byte{element, access.element_bytes, i};
    });
  }
  /// Checks that a read finds the elements of each byte, and the same content as if each element had been written alone.
  Content read(const Access& access) const {
    const Content found = memory.read(access);
    Memory alone;
    for_each_element(access, [&](const Index& index, std::int64_t offset) {
      const Element element = this->element(offset, access.element_bytes);
      CHECK(element_at(found, index) == element);
      alone.write({offset, access.element_bytes, 0, {}, {}}, Content{.value = element.value, .first = element.number});
    });
    CHECK(same(found, alone.read(access)));
    return found;
  }
};

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t end) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint32_t>(end)); }
  /// A part of a dense tensor in the memory, every other element or each, with its axes in some order, some of them reversed.
  Access access(int element_bytes) {
    Access result{element_bytes * below(4), element_bytes, 3, {}, {}};
    std::int64_t stride = element_bytes;
    const std::array<std::int64_t, 3> whole[] = {{2, 3, 8}, {4, 4, 3}, {1, 5, 8}, {3, 4, 4}};
    const auto& extents = whole[below(4)];
    for (int axis = 3; axis-- > 0;) {
      const std::int64_t extent = extents[static_cast<std::size_t>(axis)], begin = below(2) * below(extent);
      const std::int64_t step = 1 + below(4) / 3,
                         count = 1 + (below(3) > 0 ? (extent - 1 - begin) / step : below(extent - begin) / step);
      result.offset += begin * stride;
      result.extents[axis] = count;
      result.strides[axis] = step * stride;
      if (below(8) == 0) {
        result.offset += (count - 1) * result.strides[axis];
        result.strides[axis] = -result.strides[axis];
      }
      stride *= extent;
    }
    for (int axis = 0; axis < 2 && below(2) == 0; ++axis) {
      const auto other = static_cast<int>(below(3));
      std::swap(result.extents[axis], result.extents[other]);
      std::swap(result.strides[axis], result.strides[other]);
    }
    return result;
  }

 private:
  std::mt19937 engine_;
};

/// `sizes`: whether elements of 2 bytes are written among those of 4.
void change(Both& both, Random& random, int writes, bool sizes = true) {
  for (int i = 0; i < writes; ++i) {
    const Access to = random.access(sizes && random.below(6) == 0 ? 2 : 4);
    if (const auto kind = random.below(8); kind == 0) {
      const std::int64_t begin = random.below(Both::size), end = begin + random.below(Both::size - begin);
      both.memory.forget(begin, end);
      std::fill(both.bytes.begin() + begin, both.bytes.begin() + end, Byte{});
    } else if (kind < 4) {
      Access from = random.access(4);
      for (int axis = 0; axis < 3; ++axis) from.extents[axis] = std::min(from.extents[axis], to.extents[axis]);
      Access part = to;
      std::copy_n(from.extents, 3, part.extents);
      both.write(part, both.read(from));
    } else {
      both.write(to, whole_of(ValueId(1 + random.below(3)), to));
    }
  }
}

TEST_CASE("verified: a read finds what was written last, and equal elements have equal contents") {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Both both;
    change(both, random, 12);
    for (int i = 0; i < 12; ++i) both.read(random.access(random.below(6) == 0 ? 2 : 4));
  }
}

/// What a condition chooses; it counts how far apart the numbers of the elements are.
Content choose(const Content& a, const Content& b) {
  if (same(a, b)) return a;
  if (a.value == ValueId::unwritten || b.value == ValueId::unwritten) return {};
  Content result = a;
  result.value = ValueId(100 + 10 * static_cast<int>(a.value) + static_cast<int>(b.value) +
                         1000 * (200 + static_cast<int>(b.first - a.first)));
  return result;
}

TEST_CASE("verified: columns of several values that repeat from row to row have the content of single elements") {
  Both both;  // (2, 2, 6, 2) elements, 2 of 6 heads of each value, which has them before its rows: (2, 2 heads, 2, 2)
  for (int part = 0; part < 3; ++part)
    both.write({16 * part, 4, 4, {2, 2, 2, 2}, {96, 8, 48, 4}},
               whole_of(ValueId(1 + part), {0, 4, 4, {2, 2, 2, 2}, {32, 16, 8, 4}}));
  const Content rows = both.read({0, 4, 2, {4, 12}, {48, 4}});
  REQUIRE(rows.parts.size() == 2);
  CHECK(rows.parts[0].count == 2);
  CHECK(rows.parts[1].parts.size() == 6);
  CHECK(rows.parts[1].parts[0].first == 8);
  both.write({96, 4, 0, {}, {}}, Content{.value = ValueId(1), .first = 7});  // the rows no longer repeat
  both.read({0, 4, 2, {4, 12}, {48, 4}});
}

TEST_CASE("verified: a memory that recalls reads finds what one finds that does not") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const std::array accesses{random.access(4), random.access(4), random.access(4), random.access(2)};
    RecalledMemory recalled;
    Memory memory;
    for (int i = 0; i < 20; ++i) {
      const Access to = accesses[static_cast<std::size_t>(random.below(4))];
      if (random.below(5) == 0) {
        const std::int64_t begin = random.below(Both::size), end = random.below(3) == 0 ? Both::size : begin + 8;
        recalled.forget(begin, end), memory.forget(begin, end);
      } else {
        const auto value = ValueId(random.below(4));
        recalled.write(to, value), memory.write(to, value);
      }
      for (const Access& from : accesses) CHECK(same(recalled.read(from), memory.read(from)));
    }
    CHECK(same(recalled.memory().read(accesses[0]), memory.read(accesses[0])));
  }
}

TEST_CASE("verified: a copy of a memory keeps what it has when the memory changes, and the memory when the copy does") {
  const Access all{0, 4, 1, {8}, {4}}, some{8, 4, 1, {2}, {4}};
  SharedMemories memories;
  const int first = memories.add(), other = memories.add();
  memories.write(first, all, ValueId(1));
  const int copy = memories.copy(first), second = memories.copy(copy);
  memories.write(first, some, ValueId(2));
  memories.write(copy, all, ValueId(3));
  CHECK(memories.read(first, some).value == ValueId(2));
  CHECK(memories.read(copy, some).value == ValueId(3));
  CHECK(same(memories.read(second, all), whole_of(ValueId(1), all)));
  CHECK(memories.read(other, all).value == ValueId::unwritten);
  SharedMemories changed = memories;
  changed.write(second, all, ValueId(4));
  const auto choose = [](const Content&, const Content& b) { return b; };
  SharedMemories joined = SharedMemories::joined(memories, changed, memories.size(), choose);
  CHECK(joined.read(first, some).value == ValueId(2));
  CHECK(joined.read(second, some).value == ValueId(4));
}

TEST_CASE("verified: the elements of an access have bytes of their own, or may share them") {
  CHECK(has_own_places({0, 4, 3, {2, 3, 4}, {4, 32, 8}}));
  CHECK(has_own_places({64, 4, 2, {2, 3}, {-4, 8}}));
  CHECK_FALSE(has_own_places({0, 4, 2, {2, 3}, {0, 4}}));
  CHECK_FALSE(has_own_places({0, 4, 2, {3, 3}, {8, 4}}));  // rows that overlap
}

TEST_CASE("verified: the memories after two branches are joined") {
  int lost = 0;  // elements among others of another size, which a plan never reads
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const bool sizes = seed % 2 == 0;
    Random random(seed);
    Both before;
    change(before, random, 6, sizes);
    Both a = before, b = before;
    change(a, random, 3, sizes), change(b, random, 3, sizes);
    const Memory joined = Memory::joined(a.memory, b.memory, choose);
    for (std::int64_t offset = 0; offset < Both::size; offset += 4) {
      const auto content = [](const Element& element) { return Content{.value = element.value, .first = element.number}; };
      const Element expected = element_at(choose(content(a.element(offset, 4)), content(b.element(offset, 4))), {});
      const Element found = element_at(joined.read({offset, 4, 0, {}, {}}), {});
      if (found == Element{} && expected != Element{} && sizes) ++lost;
      else CHECK(found == expected);
    }
  }
  CHECK(lost < 20);
}

}  // namespace
