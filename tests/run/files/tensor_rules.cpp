// labels: none
// Tensors of other libraries' files as variables: their names, transposed ones, parts, and what does not fit.
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/layers/layers.hpp>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "files.hpp"

namespace {

/// A file in memory of tensors that count 0, 1, 2, ...
tw::TensorFile file_of(const std::vector<Counting>& tensors) {
  tw::TensorFile file("file");
  for (const Counting& tensor : tensors) file.add(std::string(tensor.name), tensor.spec, file.keep(tensor.bytes));
  return file;
}
std::vector<double> elements_in(const tw::TensorFile& file, std::string_view name) {
  REQUIRE(file.find(name));
  return elements_of(*file.find(name));
}
/// The names of a file with these tensors of one element, after the rules.
std::vector<std::string> names(const std::vector<std::string>& given, const std::vector<tw::TensorRule>& rules) {
  tw::TensorFile file("file");
  for (const std::string& name : given) file.add(name, {{}, tw::uint8}, file.keep({std::byte{1}}));
  std::vector<std::string> result;
  const tw::TensorFile mapped = tw::map_tensors(std::move(file), rules);
  for (const auto& tensor : mapped.tensors()) result.emplace_back(tensor.name);
  return result;
}
using Names = std::vector<std::string>;

/// The model of tests/reference/make_state_dict.py.
struct Classifier : tw::Module<Classifier> {
  using Words = tw::layers::Embedding<11, 8>;
  using Block = tw::layers::TransformerBlock<
      8, 2, {.dim_feedforward = 12, .activation = tw::layers::Activation::gelu, .norm_first = true, .dropout = 0}>;
  using Projection = tw::layers::Linear<8>;
  BOOST_HANA_DEFINE_STRUCT(Classifier, (Words, words), (tw::layers::BatchNorm<>, norm), (Projection, q_proj),
                           (Projection, k_proj), (Projection, v_proj));

  constexpr tw::Tensor build(tw::Tensor indices, tw::Tensor padding) {
    tw::Tensor x = words(indices);
    const auto [factories, block] = tw::create_graph(Block{}, x, padding);
    for (int i = 0; i < 2; ++i) {
      const auto weights = this->add_variable_inputs(tw::text("transformer.layers.", i).view(), factories);
      x = block.bind(weights).call(x, padding);
    }
    const tw::Tensor pooled = norm(x.mean(1));
    return q_proj(pooled) * tw::ops::sigmoid(k_proj(pooled)) + v_proj(pooled);
  }
};
constexpr void classify(tw::Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const tw::Tensor words = support::load(ir, "words", {2, 5}, tw::int32),
                   padding = support::load(ir, "padding", {2, 5}, tw::boolean);
  const auto [factories, graph] = tw::create_graph(Classifier{}, words, padding);
  store("y", graph.bind(factories.init()).call(words, padding));
}
/// A layer with its defaults.
constexpr void encode(tw::Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const tw::Tensor x = support::load(ir, "x", {2, 5, 4});
  const auto [factories, graph] = tw::create_graph(tw::layers::TransformerBlock<4, 2>{}, x);
  store("y", graph.bind(factories.init()).call(x));
}

}  // namespace

TEST_CASE("tensor rules: names, of which the first rule that fits counts") {
  CHECK(names({"a", "b"}, {}) == Names{"a", "b"});
  CHECK(names({"a", "b"}, {tw::renamed("a", "c")}) == Names{"c", "b"});
  CHECK(names({"net.h.0.w", "h.1.w"}, {tw::renamed("net.*", "*")}) == Names{"h.0.w", "h.1.w"});
  CHECK(names({"x.1.attn.k", "x.12.mlp.k"}, {tw::renamed("x.*.attn.*", "*/*"), tw::renamed("x.*", "y")}) == Names{"1/k", "y"});
  CHECK(names({"h.0.bias", "h.0.weight"}, {tw::left_out("*.bias"), tw::renamed("h.*", "*")}) == Names{"0.weight"});
  CHECK(names({"aXbXc"}, {tw::renamed("*X*", "*,*")}) == Names{"a,bXc"});
  CHECK(names({"a"}, {tw::renamed("a*", "b*"), tw::renamed("a", "c")}) == Names{"b"});
  CHECK(names({"a"}, {tw::renamed("*", "*.*")}) == Names{"a.*"});
}
TEST_CASE("tensor rules: rules in braces, lists of names, and pairs of them") {
  const auto file = [] {
    return file_of({{"a.w", {2, 3}, tw::int32}, {"b.w", {3, 2}, tw::int32}, {"a.count", {1}, tw::int32}, {"c", {2}, tw::int32}});
  };
  const auto found = [](const tw::TensorFile& mapped) {
    std::vector<std::string> texts;
    for (const tw::HostTensor& tensor : mapped.tensors())
      texts.push_back(std::string(tensor.name) + " " + tw::to_text(tensor.spec).string());
    return texts;
  };
  using Texts = std::vector<std::string>;
  const Texts all{"a.w (3, 2) int32", "b.w (2, 3) int32", "d (2,) int32"};
  CHECK(found(tw::map_tensors(file(), {tw::transposed({"a.w", "b.w"}), tw::left_out({"*.count", "*.steps"}), {"c", "d"}})) ==
        all);
  const std::vector<tw::TensorRule> rules{tw::transposed("*.w"), tw::left_out("a.count"), {"c", "d"}};
  CHECK(found(tw::map_tensors(file(), rules)) == all);
  CHECK(found(tw::map_tensors(file(), {rules})) == all);
  CHECK(found(tw::map_tensors(file(), {{rules[0]}, {rules[1]}, rules[2]})) == all);
  CHECK(found(tw::map_tensors(file(), {})) == found(file()));
  CHECK(found(tw::map_tensors(file(), {{"*.w", "*/w"}})) ==
        Texts{"a/w (2, 3) int32", "b/w (3, 2) int32", "a.count (1,) int32", "c (2,) int32"});
  CHECK(found(tw::map_tensors(file(), {tw::left_out({"a.*"})})) == Texts{"b.w (3, 2) int32", "c (2,) int32"});
}
TEST_CASE("tensor rules: transposed matrices, and parts") {
  const auto file = [] { return file_of({{"w", {2, 3}, tw::float16}, {"all", {6, 2}, tw::int32}, {"b", {6}, tw::float32}}); };
  const std::vector<double> w = elements_in(file(), "w"), all = elements_in(file(), "all"), b = elements_in(file(), "b");
  const std::vector<tw::TensorRule> rules{tw::transposed("w"), tw::part_of("all", 0, 3, "q"), tw::part_of("b", 1, 2, "c"),
                                          tw::part_of("all", 2, 3, "v", true)};
  const tw::TensorFile mapped = tw::map_tensors(file(), rules);
  CHECK(mapped.tensors().size() == 4);
  CHECK((mapped.find("w")->spec == tw::TensorSpec{{3, 2}, tw::float16}));
  CHECK(elements_in(mapped, "w") == std::vector{w[0], w[3], w[1], w[4], w[2], w[5]});
  CHECK((mapped.find("q")->spec == tw::TensorSpec{{2, 2}, tw::int32}));
  CHECK(elements_in(mapped, "q") == std::vector{all[0], all[1], all[2], all[3]});
  CHECK(elements_in(mapped, "v") == std::vector{all[8], all[10], all[9], all[11]});
  CHECK(elements_in(mapped, "c") == std::vector{b[3], b[4], b[5]});
}
TEST_CASE("tensor rules: large matrices are transposed element by element") {
  const auto file = file_of({{"w", {37, 19}, tw::int32}});
  const auto before = elements_in(file, "w");
  const std::vector<tw::TensorRule> rules{tw::transposed("w", "v")};
  const auto after = elements_in(tw::map_tensors(file_of({{"w", {37, 19}, tw::int32}}), rules), "v");
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < 37; ++r)
    for (std::size_t c = 0; c < 19; ++c) wrong += after[c * 37 + r] != before[r * 19 + c];
  CHECK(wrong == 0);
}
TEST_CASE("tensor rules: what cannot be transposed or cut") {
  const auto map = [](const tw::TensorRule& rule) {
    return tw::map_tensors(file_of({{"b", {4}, tw::float32}}), std::span(&rule, 1));
  };
  CHECK_THROWS_WITH(map(tw::transposed("b")), "map_tensors: file: 'b': (4,) float32: two axes to transpose expected");
  CHECK_THROWS_WITH(map(tw::part_of("b", 0, 3, "c")),
                    "map_tensors: file: 'b': (4,) float32: part 0 of 3, and a first axis that can be cut so, expected");
  CHECK_THROWS_AS(map(tw::part_of("b", 2, 2, "c")), tw::LoadError);
  CHECK_THROWS_AS(map(tw::part_of("b", -1, 2, "c")), tw::LoadError);
}
TEST_CASE("tensor rules: a matrix of the variable's transposed shape is answered with the rule") {
  const auto error = [](const tw::TensorSpec& given) {
    const tw::HostTensor variable{"fc.weight", {{4, 3}, tw::float32}}, tensor{"fc.weight", given};
    try {
      tw::detail::match_tensors({&variable, 1}, {"net.npz", {&tensor, 1}}, {});
    } catch (const tw::LoadError& found) {
      return std::string(found.what());
    }
    return std::string();
  };
  const std::string transposed =
      "load_tensors: net.npz: 'fc.weight': (3, 4) float32: (4, 3) float32, by map_tensors with the rule "
      "tw::transposed(\"fc.weight\"), expected";
  CHECK(error({{3, 4}, tw::float32}) == transposed);
  CHECK(error({{3, 5}, tw::float32}) == "load_tensors: net.npz: 'fc.weight': (3, 5) float32: (4, 3) float32 expected");
  CHECK(error({{3, 4}, tw::float16}) == "load_tensors: net.npz: 'fc.weight': (3, 4) float16: (4, 3) float32 expected");
}

TEST_CASE("tensor rules: a state dict of PyTorch gives a model PyTorch's results") {
  const std::vector<tw::TensorRule> rules{
      tw::left_out("*.num_batches_tracked"),
      tw::transposed("*in_proj_weight"),
      tw::transposed("*out_proj.weight"),
      tw::transposed("*linear1.weight"),
      tw::transposed("*linear2.weight"),
      tw::renamed("encoder.*", "*"),
      tw::part_of("qkv.weight", 0, 3, "q_proj.weight", true),
      tw::part_of("qkv.weight", 1, 3, "k_proj.weight", true),
      tw::part_of("qkv.weight", 2, 3, "v_proj.weight", true),
      tw::part_of("qkv.bias", 0, 3, "q_proj.bias"),
      tw::part_of("qkv.bias", 1, 3, "k_proj.bias"),
      tw::part_of("qkv.bias", 2, 3, "v_proj.bias"),
  };
  const std::filesystem::path path = TILEWRIGHT_REFERENCE_DIR "/state_dict.safetensors";
  Values expected;
  read_reference("state_dict.txt", expected);
  tw::Session<classify> session({.threads = 1});
  session.load_tensors(tw::map_tensors(tw::load_safetensors(path), rules));
  xt::xtensor<std::int32_t, 2> words({2, 5});
  xt::xtensor<bool, 2> padding({2, 5});
  std::ranges::transform(expected.at("state_dict.x0"), words.data(), [](double x) { return static_cast<std::int32_t>(x); });
  std::ranges::transform(expected.at("state_dict.x1"), padding.data(), [](double x) { return x != 0; });
  const auto outputs = session.run("words"_s = words, "padding"_s = padding);
  CHECK(difference(elements_of(outputs.host_tensors()[0]), expected.at("state_dict.y0")) < 2e-6);

  const std::span<const tw::TensorRule> without_last = std::span(rules).first(rules.size() - 1);
  CHECK_THROWS_AS(session.load_tensors(tw::map_tensors(tw::load_safetensors(path), without_last)), tw::LoadError);
}
TEST_CASE("tensor rules: a file of torch.nn.TransformerEncoderLayer gives its results, with defaults") {
  const std::vector<tw::TensorRule> rules{tw::transposed("*in_proj_weight"), tw::transposed("*out_proj.weight"),
                                          tw::transposed("*linear1.weight"), tw::transposed("*linear2.weight")};
  Values expected;
  read_reference("state_dict.txt", expected);
  tw::Session<encode> session({.threads = 1});
  session.load_tensors(tw::map_tensors(tw::load_safetensors(TILEWRIGHT_REFERENCE_DIR "/encoder_layer.safetensors"), rules));
  xt::xtensor<float, 3> x({2, 5, 4});
  std::ranges::transform(expected.at("encoder_layer.x0"), x.data(), [](double element) { return static_cast<float>(element); });
  const auto outputs = session.run("x"_s = x);
  CHECK(difference(elements_of(outputs.host_tensors()[0]), expected.at("encoder_layer.y0")) < 2e-6);
}
