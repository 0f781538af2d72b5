#pragma once
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// a.b for a tree's name and a key; the key alone at the root.
constexpr Text dotted(std::string_view prefix, std::string_view key) {
  if (prefix.empty()) return key;  // no conditional operator: GCC 12 destroys its temporaries twice in constant expressions
  return text(prefix, ".", key);
}

/// An ordered tree of named leaves: `a.b` is the leaf b in the subtree a. Keys are identifiers or numbers.
/// Errors (unknown, doubled or invalid names) are errors of the model where a leaf knows its Ir, else std::out_of_range.
template <class Leaf>
class DotTree {
 public:
  constexpr DotTree() = default;
  constexpr static DotTree from_dict(std::initializer_list<std::pair<std::string_view, Leaf>> leaves) {
    DotTree result;
    for (const auto& [name, leaf] : leaves) result.insert(name, leaf);
    return result;
  }
  /// A tree of names and leaves in two lists of the same length.
  constexpr static DotTree pack(const std::vector<Text>& names, const std::vector<Leaf>& leaves) {
    DotTree result;
    if (names.size() != leaves.size()) throw std::out_of_range("DotTree::pack: as many names as leaves expected");
    for (std::size_t i = 0; i < names.size(); ++i) result.insert(names[i].view(), leaves[i]);
    return result;
  }

  /// Adds a leaf under a dotted name; subtrees are made as needed. A name that exists is an error unless `overwrite`.
  constexpr void insert(std::string_view name, const Leaf& leaf, bool overwrite = false) {
    if (DotTree* parent = make_parent(name, leaf))
      parent->insert_entry({last_key(name), hash_of(last_key(name).view()), leaf, {}}, overwrite);
  }
  /// Adds a tree under a dotted name; it is merged into a subtree of that name if there is one.
  constexpr void insert(std::string_view name, const DotTree& tree, bool overwrite = false) {
    for (const auto& [path, leaf] : tree.to_dict()) insert(text(name, ".", path).view(), leaf, overwrite);
    if (tree.entries_.empty()) subtree_for(name);
  }
  /// Adds all leaves of another tree.
  constexpr void update(const DotTree& other, bool overwrite = false) {
    for (const auto& [path, leaf] : other.to_dict()) insert(path.view(), leaf, overwrite);
  }
  /// Makes sure that there is a subtree of that name: it fixes the order of what is inserted later.
  constexpr DotTree& subtree_for(std::string_view name) {
    DotTree* tree = this;
    for (const auto& key : keys_of(name)) {
      Entry* entry = tree->find_entry(key);
      if (!entry) {
        tree->entries_.push_back({key, hash_of(key.view()), {}, {DotTree()}});
        entry = &tree->entries_.back();
      }
      tree = &entry->subtree.front();
    }
    return *tree;
  }

  /// The leaf of a dotted name.
  constexpr Leaf operator[](std::string_view name) const {
    if (const Leaf* leaf = find(name)) return *leaf;
    return fail(text("no leaf '", name, "': one of ", names(), " expected"));
  }
  /// The subtree of a dotted name.
  constexpr DotTree subtree(std::string_view name) const {
    const Entry* entry = find_path(name);
    if (entry && !entry->subtree.empty()) return entry->subtree.front();
    fail(text("no subtree '", name, "': one of the tree of ", names(), " expected"));
    return {};
  }
  constexpr const Leaf* find(std::string_view name) const {
    const Entry* entry = find_path(name);
    return entry && entry->subtree.empty() ? &entry->leaf : nullptr;
  }
  constexpr bool contains(std::string_view name) const { return find_path(name) != nullptr; }
  /// The keys of this level, in the order in which they were inserted.
  constexpr std::vector<Text> keys() const {
    std::vector<Text> result;
    for (const auto& entry : entries_) result.push_back(entry.key);
    return result;
  }
  /// All leaves with their dotted names, in the order of the tree.
  constexpr std::vector<std::pair<Text, Leaf>> to_dict() const {
    std::vector<std::pair<Text, Leaf>> result;
    collect("", result);
    return result;
  }
  /// Names and leaves as two lists, sorted by name.
  constexpr std::pair<std::vector<Text>, std::vector<Leaf>> unpack() const {
    const auto leaves = to_dict();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < leaves.size(); ++i) order.push_back(i);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return leaves[a].first < leaves[b].first; });
    std::pair<std::vector<Text>, std::vector<Leaf>> result;
    for (std::size_t i : order) {
      result.first.push_back(leaves[i].first);
      result.second.push_back(leaves[i].second);
    }
    return result;
  }
  constexpr std::size_t size() const { return entries_.size(); }

  /// Reports an error through the Ir of a leaf, or throws.
  constexpr Leaf fail(const Text& message) const {
    if constexpr (requires(Leaf leaf) { leaf.ir().fail(message); }) {
      if (const Leaf* leaf = any_leaf()) {
        if (!leaf->ir().failed()) leaf->ir().fail(text("DotTree: ", message));
        return Leaf::invalid(leaf->ir());
      }
    }
    throw std::out_of_range(text("DotTree: ", message).string());
  }

 private:
  struct Entry {
    Text key{};
    std::size_t hash = 0;  // of the key
    Leaf leaf{};
    std::vector<DotTree> subtree{};  // one for a subtree, none for a leaf
  };

  static constexpr std::vector<Text> keys_of(std::string_view name) {
    std::vector<Text> result;
    for (;;) {
      const auto dot = name.find('.');
      result.push_back(name.substr(0, dot));
      if (dot == name.npos) return result;
      name.remove_prefix(dot + 1);
    }
  }
  static constexpr Text last_key(std::string_view name) { return name.substr(name.rfind('.') + 1); }
  static constexpr bool is_key(std::string_view key) {
    constexpr auto digit = [](char c) { return c >= '0' && c <= '9'; };
    constexpr auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    if (key.empty()) return false;
    if (digit(key[0])) return std::ranges::all_of(key, digit);
    return std::ranges::all_of(key, [&](char c) { return digit(c) || letter(c); });
  }
  /// From the last to the first: names that follow each other are often in the same subtree.
  constexpr int index_of(const Text& key) const {
    const std::size_t hash = hash_of(key.view());
    const Entry* entries = entries_.data();
    for (int i = static_cast<int>(entries_.size()); i-- > 0;)
      if (entries[i].hash == hash && entries[i].key == key) return i;
    return -1;
  }
  constexpr const Entry* find_entry(const Text& key) const {
    const int i = index_of(key);
    return i < 0 ? nullptr : &entries_[static_cast<std::size_t>(i)];
  }
  constexpr Entry* find_entry(const Text& key) {
    const int i = index_of(key);
    return i < 0 ? nullptr : &entries_[static_cast<std::size_t>(i)];
  }
  constexpr const Entry* find_path(std::string_view name) const {
    const DotTree* tree = this;
    const Entry* entry = nullptr;
    for (const auto& key : keys_of(name)) {
      if (entry) {
        if (entry->subtree.empty()) return nullptr;
        tree = &entry->subtree.front();
      }
      entry = tree->find_entry(key);
      if (!entry) return nullptr;
    }
    return entry;
  }
  /// The tree that a leaf of this dotted name goes into; null after an error.
  constexpr DotTree* make_parent(std::string_view name, const Leaf& leaf) {
    DotTree* tree = this;
    const auto keys = keys_of(name);
    for (const auto& key : keys)
      if (!is_key(key.view())) return report(leaf, text("'", name, "': identifiers or numbers, joined by dots, expected"));
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
      Entry* entry = tree->find_entry(keys[i]);
      if (entry && entry->subtree.empty())
        return report(leaf, text("'", name, "': '", keys[i], "' is a leaf: a subtree expected"));
      tree = &tree->subtree_for(keys[i].view());
    }
    return tree;
  }
  constexpr void insert_entry(Entry entry, bool overwrite) {
    if (Entry* known = find_entry(entry.key)) {
      if (overwrite) *known = std::move(entry);
      else report(entry.leaf, text("'", entry.key, "' exists already: a new name, or overwrite, expected"));
    } else {
      entries_.push_back(std::move(entry));
    }
  }
  static constexpr DotTree* report(const Leaf& leaf, const Text& message) {
    DotTree holder;
    holder.entries_.push_back({"", 0, leaf, {}});
    holder.fail(message);
    return nullptr;
  }
  constexpr const Leaf* any_leaf() const {
    for (const auto& entry : entries_) {
      if (entry.subtree.empty()) return &entry.leaf;
      if (const Leaf* leaf = entry.subtree.front().any_leaf()) return leaf;
    }
    return nullptr;
  }
  constexpr void collect(const Text& prefix, std::vector<std::pair<Text, Leaf>>& result) const {
    for (const auto& entry : entries_) {
      const Text name = dotted(prefix.view(), entry.key.view());
      if (entry.subtree.empty()) result.push_back({name, entry.leaf});
      else entry.subtree.front().collect(name, result);
    }
  }
  constexpr Text names() const {
    std::vector<Text> result;
    for (const auto& [name, leaf] : to_dict()) result.push_back(name);
    return join(result, ", ");
  }

  std::vector<Entry> entries_;
};

/// {'layer1.bias': <leaf>, ...} with every leaf as its to_text.
template <class Leaf>
constexpr Text to_text(const DotTree<Leaf>& tree) {
  std::vector<Text> entries;
  for (const auto& [name, leaf] : tree.to_dict()) entries.push_back(text("'", name, "': ", to_text(leaf)));
  return text("{", join(entries, ", "), "}");
}

}  // namespace tilewright
