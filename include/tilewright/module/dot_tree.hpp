#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "tilewright/core/items.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/graph/ir.hpp"
#include "tilewright/module/dotted_name.hpp"

namespace tilewright {

template <class Leaf>
class DotTree;
/// Value of a tree's key: a leaf, or a subtree.
template <class Leaf>
struct TreeValue {
  Leaf leaf{};  ///< without a meaning for a subtree
  List<DotTree<Leaf>> subtree{};  ///< one for a subtree, none for a leaf

  constexpr bool is_leaf() const { return subtree.empty(); }
};

/// An ordered tree of named leaves: `a.b` is the leaf b in the subtree a. Keys are identifiers or numbers. Unknown, repeated or
/// invalid names are errors of the model if a leaf knows its Ir; otherwise they throw std::out_of_range.
template <class Leaf>
class DotTree {
 public:
  constexpr DotTree() = default;
  constexpr static DotTree from_dict(std::initializer_list<std::pair<std::string_view, Leaf>> leaves) {
    DotTree result;
    for (const auto& [name, leaf] : leaves) result.insert(name, leaf);
    return result;
  }
  /// Builds a tree from two lists of equal length, names and leaves.
  constexpr static DotTree pack(const List<Text>& names, const List<Leaf>& leaves) {
    DotTree result;
    if (names.size() != leaves.size()) TW_THROW std::out_of_range("DotTree::pack: as many names as leaves expected");
    for (std::size_t i = 0; i < names.size(); ++i) result.insert(names[i].view(), leaves[i]);
    return result;
  }

  /// Adds a leaf under a dotted name, and creates missing subtrees. A name that exists is an error unless `overwrite`.
  constexpr void insert(std::string_view name, const Leaf& leaf, bool overwrite = false) {
    std::string_view key = name;
    if (DotTree* parent = this; go_to_parent(parent, key, leaf)) parent->insert_entry({key, hash_of(key), leaf, {}}, overwrite);
  }
  /// Adds a tree under a dotted name. Merges it into a subtree of that name if there is one.
  constexpr void insert(std::string_view name, const DotTree& tree, bool overwrite = false) {
    if (const Leaf* leaf = tree.any_leaf(); leaf && !find_path(name)) {  // nothing is there to merge with: the tree as a whole
      DotTree added = tree.leaves(false);
      std::string_view key = name;
      if (DotTree* parent = this; go_to_parent(parent, key, *leaf)) parent->push_back(key, hash_of(key), std::move(added));
      return;
    }
    for (const auto& [path, leaf] : tree.to_dict()) insert(text(name, ".", path).view(), leaf, overwrite);
    if (tree.entries_.empty()) subtree_for(name);
  }
  /// Adds all leaves of another tree.
  constexpr void update(const DotTree& other, bool overwrite = false) {
    for (const auto& [path, leaf] : other.to_dict()) insert(path.view(), leaf, overwrite);
  }
  /// Adds a leaf or a tree under a number, which is not negative.
  constexpr void insert(std::int64_t key, const auto& value, bool overwrite = false) {
    insert(text(key).view(), value, overwrite);
  }
  /// Removes the leaf of a dotted name, and returns it. The subtree that had the leaf stays, even if it is empty.
  constexpr Leaf pop(std::string_view name) {
    const Leaf result = (*this)[name];
    if (find(name)) remove(name);
    return result;
  }
  /// Removes the subtree of a dotted name, and returns it.
  constexpr DotTree pop_subtree(std::string_view name) {
    DotTree result = subtree(name);
    if (const Entry* entry = find_path(name); entry && !entry->subtree.empty()) remove(name);
    return result;
  }
  /// Removes all leaves. Keeps the subtrees, which are empty then.
  constexpr void clear() {
    List<Entry> kept;
    for (Entry& entry : entries_) {
      if (entry.subtree.empty()) continue;
      entry.subtree.front().clear();
      kept.push_back(std::move(entry));
    }
    entries_ = std::move(kept);
  }
  /// Returns the subtree of a dotted name. A new one is empty, and fixes the order of later insertions.
  constexpr DotTree& subtree_for(std::string_view name) {
    DotTree* tree = this;
    for (bool more = true; more;) tree = &tree->child_for(detail::take_key(name, more)).subtree.front();
    return *tree;
  }

  /// Returns the leaf of a dotted name.
  constexpr Leaf operator[](std::string_view name) const {
    if (const Leaf* leaf = find(name)) return *leaf;
    return fail(text("no leaf '", name, "': one of ", names(), " expected"));
  }
  /// Returns the subtree of a dotted name.
  [[nodiscard]] constexpr DotTree subtree(std::string_view name) const {
    const Entry* entry = find_path(name);
    if (entry && !entry->subtree.empty()) return entry->subtree.front();
    fail(text("no subtree '", name, "' in the tree of ", names(), ": the part before a dot in one of its names expected"));
    return {};
  }
  /// Returns the leaf or the subtree of a number. A negative number counts from the largest number of this level plus 1: with the
  /// keys 0, 1 and 3, the key -1 is 3.
  constexpr Leaf operator[](std::int64_t key) const {
    if (const Leaf* leaf = find(key_of(key).view())) return *leaf;
    return fail(text("no leaf ", key, ": one of ", names(), " expected"));
  }
  [[nodiscard]] constexpr DotTree subtree(std::int64_t key) const {
    const Entry* entry = find_path(key_of(key).view());
    if (entry && !entry->subtree.empty()) return entry->subtree.front();
    fail(text("no subtree ", key, ": the part before a dot in one of ", names(), " expected"));
    return {};
  }
  /// Returns the tree of some leaves and subtrees, in the order of their dotted names in `keys`. Fails for a name that the tree
  /// does not have, and for one that is chosen already, also as a part of a subtree.
  [[nodiscard]] constexpr DotTree filter_keys(const List<Text>& keys) const {
    DotTree result;
    for (const Text& key : keys) {
      const Entry* entry = find_path(key.view());
      if (!entry) fail(text("filter_keys: no '", key, "': one of ", names(), ", or a part before a dot, expected"));
      else if (result.contains(key.view())) fail(text("filter_keys: '", key, "' twice: each name once expected"));
      else if (entry->subtree.empty()) result.insert(key.view(), entry->leaf);
      else result.insert(key.view(), entry->subtree.front());
    }
    return result;
  }
  constexpr const Leaf* find(std::string_view name) const {
    const Entry* entry = find_path(name);
    return entry && entry->subtree.empty() ? &entry->leaf : nullptr;
  }
  constexpr bool contains(std::string_view name) const { return find_path(name) != nullptr; }
  /// Returns the keys of this level, in the order of insertion.
  constexpr List<Text> keys() const {
    List<Text> result;
    for (const auto& entry : entries_) result.push_back(entry.key);
    return result;
  }
  /// Returns the values of keys(), each a leaf or a subtree.
  constexpr List<TreeValue<Leaf>> values() const {
    List<TreeValue<Leaf>> result;
    for (const auto& entry : entries_) result.push_back({entry.leaf, entry.subtree});
    return result;
  }
  /// Returns the dotted names of all leaves, in the order of the tree.
  constexpr List<Text> keys_flat() const {
    List<Text> result;
    for (auto& [name, leaf] : to_dict()) result.push_back(std::move(name));
    return result;
  }
  /// Returns all leaves, in the order of the tree.
  constexpr List<Leaf> values_flat() const {
    List<Leaf> result;
    for (auto& [name, leaf] : to_dict()) result.push_back(std::move(leaf));
    return result;
  }
  /// Returns the number of all leaves.
  constexpr std::size_t len_flat() const {
    std::size_t result = 0;
    for (const auto& entry : entries_) result += entry.subtree.empty() ? 1 : entry.subtree.front().len_flat();
    return result;
  }
  /// Returns all leaves with their dotted names, in the order of the tree.
  constexpr List<std::pair<Text, Leaf>> to_dict() const {
    List<std::pair<Text, Leaf>> result;
    collect("", result);
    return result;
  }
  /// Returns names and leaves as two lists, sorted by name.
  constexpr std::pair<List<Text>, List<Leaf>> unpack() const {
    std::pair<List<Text>, List<Leaf>> result;
    for (auto& [name, leaf] : sorted().to_dict()) {
      result.first.push_back(std::move(name));
      result.second.push_back(std::move(leaf));
    }
    return result;
  }
  constexpr std::size_t size() const { return entries_.size(); }

  /// Returns the tree of f(name, leaf) for all leaves with their dotted names. Calls f, and adds leaves to the result, in the
  /// order of this tree, or in the alphabetical order of the names if `alphabetical`.
  template <class Result>
  [[nodiscard]] constexpr DotTree<Result> transform(std::string_view prefix, auto&& f, bool alphabetical = false) const {
    const List<std::size_t> order = order_of_entries(alphabetical);
    DotTree<Result> result;
    result.entries_.reserve(entries_.size());
    for (std::size_t i : order) {
      const Entry& entry = entries_[i];
      const Text name = dotted(prefix, entry.key.view());
      if (entry.subtree.empty()) {
        result.entries_.push_back({entry.key, entry.hash, f(name.view(), entry.leaf), {}});
      } else if (auto subtree = entry.subtree.front().template transform<Result>(name.view(), f, alphabetical);
                 subtree.size() > 0) {
        result.push_back(entry.key.view(), entry.hash, std::move(subtree));
      }
    }
    return result;
  }
  /// Calls f(leaf, other leaf) for all names that both trees have, in the order of this tree.
  template <class Other>
  constexpr void for_common(const DotTree<Other>& other, auto&& f) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      const auto* match = i < other.entries_.size() && other.entries_[i].has(entry.key.view(), entry.hash)
                              ? &other.entries_[i]
                              : other.find_entry(entry.key.view(), entry.hash);
      if (!match || entry.subtree.empty() != match->subtree.empty()) continue;
      if (entry.subtree.empty()) f(entry.leaf, match->leaf);
      else entry.subtree.front().for_common(match->subtree.front(), f);
    }
  }
  /// Returns a copy whose leaves are in alphabetical order of their dotted names.
  [[nodiscard]] constexpr DotTree sorted() const { return leaves(true); }

  /// Reports an error through the Ir of a leaf, or throws.
  constexpr Leaf fail(const Text& message) const {
    if constexpr (requires(Leaf leaf) { leaf.ir().fail(message); }) {
      if (const Leaf* leaf = any_leaf()) {
        if (!leaf->ir().failed()) leaf->ir().fail(text("DotTree: ", message));
        return Leaf::invalid(leaf->ir());
      }
    }
    TW_THROW std::out_of_range(text("DotTree: ", message).string());
  }

 private:
  struct Entry {
    Text key{};
    std::size_t hash = 0;  // of the key
    Leaf leaf{};
    List<DotTree> subtree{};  // one for a subtree, none for a leaf

    constexpr bool has(std::string_view other, std::size_t hash_of_other) const {
      return hash == hash_of_other && same_characters(key.view(), other);
    }
  };
  template <class>
  friend class DotTree;

  /// Removes the entry of a dotted name that the tree has.
  constexpr void remove(std::string_view name) {
    bool more = false;
    const std::string_view key = detail::take_key(name, more);
    const std::size_t hash = hash_of(key);
    if (more) return find_entry(key, hash)->subtree.front().remove(name);
    List<Entry> kept;
    for (Entry& entry : entries_)
      if (!entry.has(key, hash)) kept.push_back(std::move(entry));
    entries_ = std::move(kept);
  }
  /// Returns the key of a number; a negative one counts from the largest number of this level plus 1.
  constexpr Text key_of(std::int64_t number) const {
    if (number >= 0) return text(number);
    std::int64_t end = 0;
    for (const Entry& entry : entries_) end = (std::max)(end, detail::number_of(entry.key.view()) + 1);
    return text(number + end);
  }
  constexpr void push_back(std::string_view key, std::size_t hash, DotTree subtree) {
    entries_.push_back({key, hash, {}, {}});
    entries_.back().subtree.push_back(std::move(subtree));
  }
  constexpr List<std::size_t> order_of_entries(bool alphabetical) const {
    List<std::size_t> order;
    order.reserve(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) order.push_back(i);
    if (alphabetical)  // level by level: a dot comes before all characters of keys
      sort_items(order, [&](std::size_t a, std::size_t b) { return entries_[a].key < entries_[b].key; });
    return order;
  }
  /// Returns a copy without empty subtrees.
  constexpr DotTree leaves(bool alphabetical) const {
    const List<std::size_t> order = order_of_entries(alphabetical);
    DotTree result;
    result.entries_.reserve(entries_.size());
    for (std::size_t i : order) {
      const Entry& entry = entries_[i];
      if (entry.subtree.empty()) result.entries_.push_back({entry.key, entry.hash, entry.leaf, {}});
      else if (DotTree subtree = entry.subtree.front().leaves(alphabetical); subtree.size() > 0)
        result.push_back(entry.key.view(), entry.hash, std::move(subtree));
    }
    return result;
  }
  /// Finds the entry of a key. Searches from the last to the first, because consecutive names are often in one subtree.
  constexpr const Entry* find_entry(std::string_view key, std::size_t hash) const {
    const Entry* entries = entries_.data();
    for (std::size_t i = entries_.size(); i-- > 0;)
      if (entries[i].hash == hash && entries[i].has(key, hash)) return entries + i;  // no call for others
    return nullptr;
  }
  constexpr Entry* find_entry(std::string_view key, std::size_t hash) {
    Entry* entries = entries_.data();
    for (std::size_t i = entries_.size(); i-- > 0;)
      if (entries[i].hash == hash && entries[i].has(key, hash)) return entries + i;  // no call for others
    return nullptr;
  }
  constexpr const Entry* find_path(std::string_view name) const {
    const DotTree* tree = this;
    const Entry* entry = nullptr;
    for (bool more = true; more;) {
      if (entry) {
        if (entry->subtree.empty()) return nullptr;
        tree = &entry->subtree.front();
      }
      const std::string_view key = detail::take_key(name, more);
      entry = tree->find_entry(key, hash_of(key));
      if (!entry) return nullptr;
    }
    return entry;
  }
  /// Returns the entry of a key; a new one is an empty subtree.
  constexpr Entry& child_for(std::string_view key) {
    const std::size_t hash = hash_of(key);
    if (Entry* known = find_entry(key, hash)) return *known;
    entries_.push_back({key, hash, {}, {DotTree()}});
    return entries_.back();
  }
  /// Moves `tree` to the subtree of a leaf with this dotted name, and reduces `name` to its last key. Returns false after an
  /// error. (It does not return a pointer, because GCC 12 cannot compare temporaries' addresses with null.)
  static constexpr bool go_to_parent(DotTree*& tree, std::string_view& name, const Leaf& leaf) {
    const std::string_view whole = name;
    if (!detail::is_name(whole)) {
      report(leaf, text("'", whole, "': identifiers or numbers, joined by dots, expected"));
      return false;
    }
    for (;;) {
      bool more = false;
      const std::string_view key = detail::take_key(name, more);
      if (!more) return true;
      Entry& entry = tree->child_for(key);
      if (entry.subtree.empty()) {
        report(leaf, text("'", whole, "': '", key, "' is a leaf: a subtree expected"));
        return false;
      }
      tree = &entry.subtree.front();
    }
  }
  constexpr void insert_entry(Entry entry, bool overwrite) {
    if (Entry* known = find_entry(entry.key.view(), entry.hash)) {
      if (overwrite) *known = std::move(entry);
      else report(entry.leaf, text("'", entry.key, "' exists already: a new name, or overwrite, expected"));
    } else {
      entries_.push_back(std::move(entry));
    }
  }
  static constexpr void report(const Leaf& leaf, const Text& message) {
    DotTree holder;
    holder.entries_.push_back({"", 0, leaf, {}});
    holder.fail(message);
  }
  constexpr const Leaf* any_leaf() const {
    for (const auto& entry : entries_) {
      if (entry.subtree.empty()) return &entry.leaf;
      if (const Leaf* leaf = entry.subtree.front().any_leaf()) return leaf;
    }
    return nullptr;
  }
  constexpr void collect(const Text& prefix, List<std::pair<Text, Leaf>>& result) const {
    for (const auto& entry : entries_) {
      Text name = dotted(prefix.view(), entry.key.view());
      if (entry.subtree.empty()) result.push_back({std::move(name), entry.leaf});
      else entry.subtree.front().collect(name, result);
    }
  }
  constexpr Text names() const {
    List<Text> result;
    for (const auto& [name, leaf] : to_dict()) result.push_back(name);
    return join(result, ", ");
  }

  List<Entry> entries_;
};

/// Returns {'layer1.bias': <leaf>, ...} with every leaf as its to_text.
template <class Leaf>
[[nodiscard]] constexpr Text to_text(const DotTree<Leaf>& tree) {
  List<Text> entries;
  for (const auto& [name, leaf] : tree.to_dict()) entries.push_back(text("'", name, "': ", to_text(leaf)));
  return text("{", join(entries, ", "), "}");
}

}  // namespace tilewright
