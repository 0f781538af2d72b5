// labels: none
// DotTree and NamedTensors: trees of named leaves.
#include <algorithm>

#include "../../support/same.hpp"
#include "models.hpp"

using tw::NamedTensors, tw::Tensor, tw::Text;

/// A leaf that needs no Ir.
struct Number {
  int value = 0;
  constexpr bool operator==(const Number&) const = default;
};
constexpr Text to_text(Number number) { return tw::text(number.value); }
using Tree = tw::DotTree<Number>;

constexpr Tree example() { return Tree::from_dict({{"a", {0}}, {"b", {1}}, {"c.a", {2}}, {"c.b.a", {3}}}); }

// ---- access
TW_SAME(to_text(example()), "{'a': 0, 'b': 1, 'c.a': 2, 'c.b.a': 3}");
TW_SAME(to_text(Tree()), "{}");
static_assert(example()["a"] == Number{0} && example()["c.b.a"] == Number{3});
TW_SAME(to_text(example().subtree("c")), "{'a': 2, 'b.a': 3}");
TW_SAME(to_text(example().subtree("c.b")), "{'a': 3}");
static_assert(example().subtree("c")["b.a"] == Number{3});
static_assert(example().contains("c") && example().contains("c.b.a") && !example().contains("c.x") && !example().contains("a.b"));
static_assert(example().find("c") == nullptr && *example().find("c.a") == Number{2}, "only leaves are found");
static_assert(example().size() == 3 && tw::join(example().keys(), " ") == "a b c", "of the first level");

// ---- insert
constexpr Tree inserted(auto... steps) {
  Tree tree;
  (steps(tree), ...);
  return tree;
}
TW_SAME(to_text(inserted([](Tree& t) { t.insert("x.y", Number{1}); }, [](Tree& t) { t.insert("x.z", Number{2}); })),
        "{'x.y': 1, 'x.z': 2}");
TW_SAME(to_text(inserted([](Tree& t) { t.insert("n", example()); })), "{'n.a': 0, 'n.b': 1, 'n.c.a': 2, 'n.c.b.a': 3}");
TW_SAME(to_text(inserted([](Tree& t) { t.insert("c.z", Number{9}); }, [](Tree& t) { t.update(example()); })),
        "{'c.z': 9, 'c.a': 2, 'c.b.a': 3, 'a': 0, 'b': 1}", "trees are merged");
TW_SAME(to_text(inserted([](Tree& t) { t.insert("a", Number{9}); }, [](Tree& t) { t.update(example(), true); })),
        "{'a': 0, 'b': 1, 'c.a': 2, 'c.b.a': 3}", "overwrite replaces leaves");
TW_SAME(to_text(inserted([](Tree& t) { t.insert("0", Number{5}); }, [](Tree& t) { t.insert("10.w", Number{6}); })),
        "{'0': 5, '10.w': 6}", "keys may be numbers");
TW_SAME(to_text(inserted([](Tree& t) { t.subtree_for("late"); }, [](Tree& t) { t.insert("early", Number{1}); },
                         [](Tree& t) { t.insert("late.x", Number{2}); })),
        "{'late.x': 2, 'early': 1}", "subtree_for keeps a place");

// ---- lists: unpack sorts by name as strings, pack takes them back
constexpr Tree shuffled() { return Tree::from_dict({{"w", {1}}, {"2.b", {2}}, {"10.b", {3}}, {"a", {4}}}); }
TW_SAME(tw::join(shuffled().unpack().first, " "), "10.b 2.b a w");
static_assert(shuffled().unpack().second == std::vector<Number>{{3}, {2}, {4}, {1}});
TW_SAME(to_text(Tree::pack(shuffled().unpack().first, shuffled().unpack().second)), "{'10.b': 3, '2.b': 2, 'a': 4, 'w': 1}");
static_assert(Tree().unpack().first.empty());

// ---- the tutorial's example
struct Example {
  tw::Ir ir;
  NamedTensors variables, variables2, collection;
  constexpr Example() {
    const auto facts = tw::create_graph(ir, Linear<32>{}, tw::TensorSpec{{2, 4}, tw::float32}).factories;
    variables = facts.init();
    variables2 = facts.init("second");
    collection.insert("layer1", variables);
    collection.insert("layer2", variables2);
  }
  constexpr bool the_collection_is_nested() const {
    return to_text(collection) ==
           "{'layer1.bias': Tensor[bias float32 (32,)], 'layer1.weight': Tensor[weight float32 (4, 32)], "
           "'layer2.bias': Tensor[second.bias float32 (32,)], 'layer2.weight': Tensor[second.weight float32 (4, 32)]}";
  }
  constexpr bool a_layer_is_a_tree() const {
    return to_text(collection.subtree("layer1")) ==
               "{'bias': Tensor[bias float32 (32,)], 'weight': Tensor[weight float32 (4, 32)]}" &&
           collection["layer1.weight"] == variables["weight"];
  }
  constexpr bool named_tensors_is_to_dict() const { return collection.named_tensors() == collection.to_dict(); }
  constexpr bool tensors_are_sorted_by_their_names() const {
    return collection.tensors() == std::vector{variables["bias"], variables2["bias"], variables2["weight"], variables["weight"]};
  }
  constexpr bool trees_come_from_dictionaries_and_grow() {
    const Tensor x = ir.variable(tw::ones(), {2, 4}, tw::float32, "x");
    NamedTensors tree = NamedTensors::from_dict({{"x", x}});
    tree.update(NamedTensors::from_dict({{"b", variables["bias"]}}));
    return tree["x"] == x && tree["b"] == variables["bias"];
  }
  constexpr bool trees_come_from_lists_and_go_to_them() const {
    const auto tree = NamedTensors::pack({"new_bias_name", "new_weight_name"}, variables.tensors());
    const auto [names, tensors] = tree.unpack();
    return tw::join(names, " ") == "new_bias_name new_weight_name" && tensors == variables.tensors();
  }
  constexpr bool mappings_go_by_name() const {
    const auto mapping = variables.to_mapping(variables2);
    return mapping.size() == 2 && mapping[variables["weight"]] == variables2["weight"] &&
           mapping[variables["bias"]] == variables2["bias"];
  }
  constexpr bool mappings_leave_out_other_names() const {
    const NamedTensors other = NamedTensors::from_dict({{"weight", variables2["weight"]}, {"extra", variables2["bias"]}});
    return variables.to_mapping(other).size() == 1;
  }
};
static_assert(Example().the_collection_is_nested());
static_assert(Example().a_layer_is_a_tree());
static_assert(Example().named_tensors_is_to_dict());
static_assert(Example().tensors_are_sorted_by_their_names());
static_assert(Example().trees_come_from_dictionaries_and_grow());
static_assert(Example().trees_come_from_lists_and_go_to_them());
static_assert(Example().mappings_go_by_name());
static_assert(Example().mappings_leave_out_other_names());
