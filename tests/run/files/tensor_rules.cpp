// labels: none
// Tensors of other libraries' files as variables: their names, transposed ones, parts, and what does not fit.
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/layers/layers.hpp>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "../../support/temporary_folder.hpp"
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
/// The variables of a network in float32, and of one in float16 with other names.
constexpr void wide_net(tw::Ir& ir) {
  const auto weight = ir.variable(tw::values({1, 2, 3, 4, 5, 6}), {2, 3}, tw::float32, "body.0.weight");
  const auto bias = ir.variable(tw::values({7, 8}), {2}, tw::float32, "body.0.bias");
  const auto steps = ir.variable(tw::values({3}), {}, tw::int32, "steps");
  store("w", weight);
  store("b", bias);
  store("s", steps);
}
constexpr void half_net(tw::Ir& ir) {
  const auto weight = ir.variable(tw::zeros(), {3, 2}, tw::float16, "features.0.weight");
  const auto bias = ir.variable(tw::zeros(), {2}, tw::float16, "features.0.bias");
  const auto head = ir.variable(tw::values({-1}), {1}, tw::float16, "head");
  store("w", weight);
  store("b", bias);
  store("h", head);
}
using Halves = std::vector<tw::float16_t>;
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
  CHECK(error({{3, 4}, tw::float16}) ==
        "load_tensors: net.npz: 'fc.weight': (3, 4) float16: (4, 3) float32, by map_tensors with the rule "
        "tw::transposed(\"fc.weight\"), expected");
  CHECK(error({{4, 3}, tw::float64}) ==
        "load_tensors: net.npz: 'fc.weight': (4, 3) float64: (4, 3) float32, by map_tensors "
        "with the rule tw::cast(), expected");
  CHECK(error({{3, 4}, tw::float64}) ==
        "load_tensors: net.npz: 'fc.weight': (3, 4) float64: (4, 3) float32, by map_tensors with the rules "
        "tw::transposed(\"fc.weight\") and tw::cast(), expected");
  CHECK(error({{4, 3}, tw::int32}) == "load_tensors: net.npz: 'fc.weight': (4, 3) int32: (4, 3) float32 expected");
  CHECK(error({{4, 3}, tw::boolean}) == "load_tensors: net.npz: 'fc.weight': (4, 3) bool: (4, 3) float32 expected");
}

TEST_CASE("cast: which dtypes hold all numbers of another one") {
  using tw::detail::holds_all;
  for (const tw::DType half : {tw::float16, tw::bfloat16}) {
    CHECK((holds_all(tw::float32, half) && holds_all(tw::float64, half) && !holds_all(half, tw::float32)));
    CHECK((holds_all(half, half) && !holds_all(tw::int64, half) && !holds_all(half, tw::int8)));
  }
  CHECK((!holds_all(tw::float16, tw::bfloat16) && !holds_all(tw::bfloat16, tw::float16)));
  CHECK((holds_all(tw::float64, tw::float32) && !holds_all(tw::float32, tw::float64)));
  CHECK((holds_all(tw::int64, tw::int32) && holds_all(tw::int64, tw::uint32) && holds_all(tw::uint16, tw::uint8)));
  CHECK((!holds_all(tw::uint64, tw::int8) && !holds_all(tw::int64, tw::uint64) && !holds_all(tw::int8, tw::uint8)));
  CHECK((!holds_all(tw::float32, tw::float8_143) && !holds_all(tw::int32, tw::boolean) && !holds_all(tw::float32, tw::int8)));
}
TEST_CASE("cast: a narrower file needs no rule, a wider one needs it, in all formats") {
  const TemporaryFolder folder;
  const auto load_into = [&](const tw::TensorFile& file, const tw::TensorSpec& spec) {
    const tw::HostTensor variable{"w", spec};
    const auto matched = tw::detail::match_tensors({&variable, 1}, file, {});
    return elements_of({"w", spec, matched.bytes[0]});
  };
  const std::vector<double> numbers{0, -0.0, 1, -1.5, 3.14159265, 65280, -6e-8, 1e-3, 1.00048828125, 1.0014648437, INFINITY, NAN};
  const std::vector<double> whole{0, 1, -1, 127, -128, 100};
  const auto saved = [&](tw::DType dtype, const std::vector<double>& values, const std::string& suffix) {
    const tw::TensorSpec spec{{static_cast<std::int64_t>(values.size())}, dtype};
    const auto bytes = bytes_of(spec, values);
    const tw::HostTensor tensor{"w", spec, bytes};
    save(folder.path / ("file" + suffix), {&tensor, 1});
    return load(folder.path / ("file" + suffix));
  };
  const auto rounded = [](tw::DType dtype, const std::vector<double>& values) {
    const tw::TensorSpec spec{{static_cast<std::int64_t>(values.size())}, dtype};
    const auto bytes = bytes_of(spec, values);
    return elements_of({"w", spec, bytes});
  };
  const tw::DType reals[]{tw::float16, tw::bfloat16, tw::float32, tw::float64}, ints[]{tw::int8, tw::int16, tw::int64};
  for (const std::string suffix : {".npz", ".safetensors"}) {
    for (const auto& [kinds, values] : {std::pair{std::span<const tw::DType>(reals), numbers}, {ints, whole}})
      for (const tw::DType from : kinds)
        for (const tw::DType to : kinds) {
          CAPTURE(suffix, tw::to_text(from), tw::to_text(to));
          const tw::TensorSpec spec{{static_cast<std::int64_t>(values.size())}, to};
          const auto given = rounded(from, values), expected = rounded(to, given);
          CHECK(difference(load_into(tw::map_tensors(saved(from, values, suffix), {tw::cast()}), spec), expected) == 0);
          if (tw::detail::holds_all(to, from)) CHECK(difference(load_into(saved(from, values, suffix), spec), given) == 0);
          else CHECK_THROWS_AS(load_into(saved(from, values, suffix), spec), tw::LoadError);
        }
  }
}
TEST_CASE("cast: ties go to even, long tensors are converted to their end, and what is out of range is an error") {
  const auto converted = [](const std::vector<double>& values, tw::DType from, tw::DType to,
                            const std::vector<tw::TensorRule>& rules = {tw::cast()}) {
    const auto count = static_cast<std::int64_t>(values.size());
    const tw::HostTensor variable{"w", {{count}, to}};
    tw::TensorFile file("file");
    file.add("w", {{count}, from}, file.keep(bytes_of({{count}, from}, values)));
    const tw::TensorFile mapped = tw::map_tensors(std::move(file), rules);
    const auto matched = tw::detail::match_tensors({&variable, 1}, mapped, {});
    return elements_of({"w", variable.spec, matched.bytes[0]});
  };
  using Numbers = std::vector<double>;
  const double half_ulp = 0x1p-11;
  CHECK(converted({1 + half_ulp, 1 + 3 * half_ulp, 1 + half_ulp + 0x1p-40, 65519}, tw::float64, tw::float16) ==
        Numbers{1, 1 + 4 * half_ulp, 1 + 2 * half_ulp, 65504});
  CHECK(converted({1 + 0x1p-8, 1 + 3 * 0x1p-8, 3e38}, tw::float32, tw::bfloat16) ==
        Numbers{1, 1 + 4 * 0x1p-8, static_cast<double>(static_cast<float>(tw::bfloat16_t(3e38F)))});
  Numbers many(2500);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i % 2000);
  CHECK(converted(many, tw::float32, tw::float16) == many);
  CHECK(converted(many, tw::int64, tw::uint16) == many);
  many[2049] = 70000;
  CHECK_THROWS_WITH(converted(many, tw::float32, tw::float16),
                    "load_tensors: file: 'w': element 2049 as float16: a number from -65504 to 65504 expected");
  CHECK_THROWS_WITH(converted(many, tw::int32, tw::int16),
                    "load_tensors: file: 'w': element 2049 as int16: a whole number from -32768 to 32767 expected");
  CHECK_THROWS_AS(converted({-1}, tw::int8, tw::uint64), tw::LoadError);
  CHECK_THROWS_AS(converted({9.3e18}, tw::uint64, tw::int64), tw::LoadError);
  CHECK_THROWS_AS(converted({1e300}, tw::float64, tw::float32), tw::LoadError);
  CHECK_THROWS_AS(converted({1}, tw::float32, tw::float16, {tw::cast("v*")}), tw::LoadError);
  CHECK(converted({1}, tw::float32, tw::float16, tw::cast({"v", "w"})) == Numbers{1});
}
TEST_CASE("cast: applies beside other rules, and a file can be mapped twice") {
  const std::vector<tw::TensorRule> rules{tw::cast("net.*"), tw::transposed("net.*", "*")};
  const auto once = tw::map_tensors(file_of({{"net.w", {2, 3}, tw::float32}, {"b", {3}, tw::float32}}), rules);
  REQUIRE(once.find("w"));
  CHECK((once.find("w")->may_round && !once.find("b")->may_round));
  const auto twice = tw::map_tensors(tw::map_tensors(file_of({{"net.w", {20, 30}, tw::float32}, {"b", {3}, tw::float32}}), rules),
                                     {{"w", "v"}});
  REQUIRE(twice.find("v"));
  CHECK(twice.find("v")->may_round);
  CHECK((twice.find("v")->spec == tw::TensorSpec{{30, 20}, tw::float32}));
  CHECK(elements_in(twice, "v")[1] == 30);
  CHECK(elements_in(twice, "b") == std::vector<double>{0, 1, 2});
}
TEST_CASE("load_from_session: rules rename, transpose, cast and leave out the tensors of another session") {
  tw::Session<wide_net> wide({.threads = 1});
  tw::Session<half_net> half({.threads = 1});
  const std::vector<tw::TensorRule> rules{
      tw::transposed("body.*.weight", "features.*.weight"), {"body.*", "features.*"}, tw::left_out("steps"), tw::cast()};
  half.load_from_session(wide, rules, {.allow_missing = {"head"}});
  CHECK(elements(half.get_tensor_data("features.0.weight"_s)) == Halves{1, 4, 2, 5, 3, 6});
  CHECK(elements(half.get_tensor_data("features.0.bias"_s)) == Halves{7, 8});
  CHECK(elements(half.get_tensor_data("head"_s)) == Halves{-1});
  wide.load_from_session(half, {tw::transposed("features.*.weight", "body.*.weight"), {"features.*", "body.*"}},
                         {.allow_extra = {"head"}, .allow_missing = {"steps"}});
  CHECK(elements(wide.get_tensor_data("body.0.weight"_s)) == Floats{1, 2, 3, 4, 5, 6});
  half.load_from_session(wide, {{"body.0.*", "features.0.*"}, tw::cast()}, {.only = {"*.bias"}});
  CHECK_THROWS_WITH(
      half.load_from_session(wide, {{"body.*", "features.*"}}, {.only = {"features.0.bias"}}),
      "load_tensors: the other session: 'features.0.bias': (2,) float32: (2,) float16, by map_tensors with the rule "
      "tw::cast(), expected");
  CHECK_THROWS_WITH(half.load_from_session(wide, {tw::transposed("*.bias")}),
                    "load_from_session: the other session: 'body.0.bias': (2,) float32: two axes to transpose expected");
}

TEST_CASE("load_safetensors: several files by their index") {
  const TemporaryFolder folder;
  const Counting a("a", {2, 3}, tw::float32), b("b", {3}, tw::bfloat16), c("c", {}, tw::int64);
  tw::Metadata metadata;
  metadata.set("format", "pt");
  tw::save_safetensors(folder.path / "model-00001-of-00002.safetensors", views({a, b}), metadata);
  tw::save_safetensors(folder.path / "model-00002-of-00002.safetensors", views({c}), metadata);
  const auto path = folder.path / "model.safetensors.index.json";
  const auto load_by = [&](const std::string& map) {
    std::ofstream(path) << map;
    return tw::load_safetensors(path);
  };
  const std::string first = R"("model-00001-of-00002.safetensors")", second = R"("model-00002-of-00002.safetensors")";
  const std::string begin = R"({"metadata": {"total_size": 38}, "weight_map": {)";
  const auto file = load_by(begin + R"("c": )" + second + R"(, "a": )" + first + R"(, "b": )" + first + "}}");
  check_tensors(file, {a, b, c});
  CHECK(file.path() == path.string());
  CHECK(file.metadata() == metadata);
  CHECK(load_by(begin + "}}").tensors().empty());

  const auto error = [&](const std::string& map) -> std::string {
    try {
      (void)load_by(map);
    } catch (const tw::LoadError& found) {
      return std::string(found.what()).substr(("load_safetensors: " + path.string() + ": ").size());
    }
    return "none";
  };
  CHECK(error(begin + R"("a": )" + first + "}}") ==
        "'b': a tensor of model-00001-of-00002.safetensors that is not in the index: one of the index expected");
  CHECK(error(begin + R"("c": )" + second + R"(, "d": )" + second + "}}") ==
        "'d': no tensor of this name in model-00002-of-00002.safetensors: one expected");
  const std::string name = ": the name of a .safetensors file in the index's folder expected";
  CHECK(error(begin + R"("a": "../x.safetensors"}})") == "'a': file '../x.safetensors'" + name);
  CHECK(error(begin + R"("a": "/etc/passwd"}})") == "'a': file '/etc/passwd'" + name);
  CHECK(error(begin + R"("a": 3}})") == "'a': a file that is no text: a file's name expected");
  const std::string no_map = "no \"weight_map\": a JSON object with files by tensor expected";
  for (const std::string text : {"", "[]", "{}", R"({"weight_map": []})", R"({"weight_map": {"a")", "nul"})
    CHECK(error(text) == no_map);
  CHECK(error(std::string(200'000, '[')) == no_map);
  CHECK(error(R"({"weight_map": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}") == no_map);
  CHECK(error(R"({"weight_map": {}, "shards": 2})") == "the key 'shards': weight_map and metadata expected");
  CHECK_THROWS_WITH(
      load_by(begin + R"("a": "none.safetensors"}})"),
      "load_safetensors: " + (folder.path / "none.safetensors").string() + ": no such file: a readable file expected");
  CHECK_THROWS_AS(tw::load_safetensors(folder.path / "other.index.json"), tw::LoadError);
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
