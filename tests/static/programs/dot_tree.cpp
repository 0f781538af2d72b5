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
  constexpr bool mappings_are_functions_too() const {
    return tw::to_mapping(variables, variables2)[variables["weight"]] == variables2["weight"];
  }
  constexpr bool one_line_is_printed_for_each_tensor() const {
    return tw::print_named_tensors(variables) == "bias: Tensor[bias float32 (32,)]\nweight: Tensor[weight float32 (4, 32)]\n";
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

// ---- removing
constexpr Tree changed(auto step) {
  Tree tree = example();
  step(tree);
  return tree;
}
TW_SAME(to_text(changed([](Tree& t) { t.insert("popped", t.pop("c.b.a")); })), "{'a': 0, 'b': 1, 'c.a': 2, 'popped': 3}");
TW_SAME(to_text(changed([](Tree& t) { t.insert("d", t.pop_subtree("c")); })), "{'a': 0, 'b': 1, 'd.a': 2, 'd.b.a': 3}");
static_assert(changed([](Tree& t) { t.pop("c.b.a"); }).contains("c.b"), "the subtree stays");
TW_SAME(to_text(changed([](Tree& t) { t.clear(); })), "{}");
TW_SAME(tw::join(changed([](Tree& t) { t.clear(); }).keys(), " "), "c", "subtrees stay");
TW_SAME(to_text(changed([](Tree& t) { t.clear(), t.insert("a", Number{7}), t.insert("c.b.x", Number{8}); })),
        "{'c.b.x': 8, 'a': 7}");

// ---- some of the keys
TW_SAME(to_text(example().filter_keys({"c.b", "a"})), "{'c.b.a': 3, 'a': 0}");
TW_SAME(to_text(example().filter_keys({"b", "c"})), "{'b': 1, 'c.a': 2, 'c.b.a': 3}");
TW_SAME(to_text(example().filter_keys({})), "{}");

// ---- values of a level, and flat forms
static_assert(example().values().size() == 3 && example().values()[1].is_leaf() && example().values()[1].leaf == Number{1});
TW_SAME(to_text(example().values()[2].subtree.front()), "{'a': 2, 'b.a': 3}");
TW_SAME(tw::join(example().keys_flat(), " "), "a b c.a c.b.a");
static_assert(example().values_flat() == std::vector<Number>{{0}, {1}, {2}, {3}} && example().len_flat() == 4);
static_assert(Tree().keys_flat().empty() && Tree().values_flat().empty() && Tree().len_flat() == 0);

// ---- numbers as keys: a negative one counts from the largest number plus 1
constexpr Tree numbered() {
  return inserted([](Tree& t) { t.insert(0, Number{10}); }, [](Tree& t) { t.insert(1, Number{11}); },
                  [](Tree& t) { t.insert("x", Number{12}); }, [](Tree& t) { t.insert(3, Number{13}); });
}
TW_SAME(to_text(numbered()), "{'0': 10, '1': 11, 'x': 12, '3': 13}");
static_assert(numbered()[0] == Number{10} && numbered()[-1] == Number{13} && numbered()[-3] == Number{11});
TW_SAME(to_text(inserted([](Tree& t) { t.insert(2, example()); }).subtree(-1).subtree("c")), "{'a': 2, 'b.a': 3}");

// ---- keys of any text
TW_SAME(tw::sanitise("layer-1.w x"), "layer_1_w_x");
TW_SAME(tw::sanitise("2nd"), "_2nd");
TW_SAME(tw::sanitise("weight_2"), "weight_2");
TW_SAME(tw::sanitise(""), "");

// ---- tensors
static_assert(Example().mappings_are_functions_too());
static_assert(Example().one_line_is_printed_for_each_tensor());
