// labels: none
#include "tilewright/data/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "../../catch.hpp"
#include "../../support/count_allocations.hpp"
#include "../../support/environment.hpp"
#include "tilewright/checkpoint/metadata.hpp"
#include "tilewright/data/dataset.hpp"

namespace {

namespace tw = tilewright;
using namespace tw::data;
using Tokens = std::vector<std::int32_t>;

/// Tokens 0, 1, 2, ...: a token is its place.
Tokens places(std::size_t count) {
  Tokens result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

/// Where the rows of a batch begin; checks that each row is what the text has there.
Tokens begins(const TextBatch& batch) {
  Tokens result;
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < batch.tokens.shape(0); ++row) {
    result.push_back(batch.tokens(row, 0));
    for (std::size_t i = 0; i < batch.tokens.shape(1); ++i) {
      wrong += batch.tokens(row, i) != result.back() + static_cast<std::int32_t>(i);
      wrong += batch.targets(row, i) != result.back() + static_cast<std::int32_t>(i) + 1;
    }
  }
  CHECK(wrong == 0);
  return result;
}

static_assert(Samples<TextBatch>);
static_assert(!std::is_constructible_v<TextBatches, Tokens, TextBatchesOptions>, "a temporary would dangle");

}  // namespace

TEST_CASE("CharacterVocabulary: distinct bytes, in ascending order") {
  const CharacterVocabulary vocabulary("hello world\n");
  CHECK(vocabulary.size() == 9);
  CHECK(vocabulary.characters() == "\n dehlorw");
  CHECK(vocabulary.encode("hold\n") == Tokens{4, 6, 5, 2, 0});
  CHECK(vocabulary.decode(Tokens{8, 6, 7, 2}) == "word");
  CHECK((vocabulary.contains('w') && !vocabulary.contains('x')));
  CHECK(vocabulary.encode("").empty());
  const CharacterVocabulary high("\xff\x80z\x7f");  // bytes, not signed characters, are compared
  CHECK(high.characters() == "z\x7f\x80\xff");
  CHECK(high.encode("\xff") == Tokens{3});
}

TEST_CASE("CharacterVocabulary: through the metadata of a checkpoint") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {std::string("to be\n"), std::string("\0\xff", 2), all}) {
    const CharacterVocabulary vocabulary(text);
    tw::Metadata metadata;
    metadata.set("vocabulary", vocabulary.hex());
    const auto restored = CharacterVocabulary::from_hex(*metadata.get<std::string>("vocabulary"));
    CHECK(restored == vocabulary);
    CHECK(restored.encode(text) == vocabulary.encode(text));
  }
  CHECK(CharacterVocabulary("to be\n").hex() == "0a2062656f74");
  CHECK_THROWS_WITH(CharacterVocabulary::from_hex("0a2"),
                    "CharacterVocabulary::from_hex: '2' at digit 2: two digits of 0 to 9 and a to f expected");
  CHECK_THROWS_WITH(CharacterVocabulary::from_hex("0a2G"),
                    "CharacterVocabulary::from_hex: '2G' at digit 2: two digits of 0 to 9 and a to f expected");
  CHECK_THROWS_WITH(CharacterVocabulary::from_hex("200a"),
                    "CharacterVocabulary::from_hex: byte 0x0a after 0x20 at digit 2: bytes in ascending order expected");
  CHECK_THROWS_AS(CharacterVocabulary::from_hex("2020"), DataError);
  CHECK_THROWS_WITH(CharacterVocabulary::from_hex(""),
                    "CharacterVocabulary::from_hex: an empty text: at least two digits expected");
}

TEST_CASE("CharacterVocabulary: what it does not have") {
  const CharacterVocabulary vocabulary("ab\n");
  CHECK_THROWS_WITH(vocabulary.encode("ab\nba\nac"),
                    "CharacterVocabulary::encode: 'c' at byte 7, line 3: one of the vocabulary's 3 characters expected");
  CHECK_THROWS_WITH(vocabulary.encode("\xc3"),
                    "CharacterVocabulary::encode: byte 0xc3 at byte 0, line 1: one of the vocabulary's 3 characters expected");
  CHECK_THROWS_WITH(vocabulary.decode(3), "CharacterVocabulary::decode: token 3: 0 to 2 expected");
  CHECK_THROWS_AS(vocabulary.decode(Tokens{0, -1}), DataError);
  CHECK_THROWS_WITH(CharacterVocabulary(""), "CharacterVocabulary: an empty text: at least one character expected");
}

TEST_CASE("split_text: the first part is to train with") {
  const TextCorpus corpus = split_text("aaaaaaaaabcdefghijkl!");  // of 21 characters, the last is in the validation part only
  CHECK((corpus.training.size() == 18 && corpus.validation.size() == 3));
  CHECK(corpus.vocabulary.decode(corpus.training) + corpus.vocabulary.decode(corpus.validation) == "aaaaaaaaabcdefghijkl!");
  CHECK(corpus.vocabulary.contains('!'));
  const TextCorpus begin = split_text("abcdefgh", {.training = 0.5, .limit = 4});
  CHECK((begin.training == Tokens{0, 1} && begin.validation == Tokens{2, 3} && begin.vocabulary.size() == 4));
  CHECK(split_text("abc", {.training = 1}).validation.empty());
  CHECK(split_text("ba", {.training = 1, .vocabulary = CharacterVocabulary("cba")}).training == Tokens{1, 0});
  CHECK_THROWS_WITH(split_text("abc", {.training = 0}),
                    "split_text: a part of 0.000000 to train with: above 0, at most 1, expected");
  CHECK_THROWS_AS(split_text("abc", {.training = std::numeric_limits<double>::quiet_NaN()}), DataError);
  CHECK_THROWS_AS(split_text("", {}), DataError);
  CHECK_THROWS_AS(split_text("", {.vocabulary = CharacterVocabulary("a")}), DataError);
  CHECK_THROWS_WITH(split_text("abcd", {.training = 0.2}),
                    "split_text: a part of 0.200000 of 4 bytes to train with: at least 1 byte expected");
}

TEST_CASE("load_text: files, and what cannot be used") {
  const TemporaryFolder folder;
  std::ofstream(folder / "text.txt") << "one\ntwo\n";
  std::ofstream(folder / "empty.txt");
  const TextCorpus corpus = load_text(folder / "text.txt", {.training = 0.5});
  CHECK(corpus.vocabulary.decode(corpus.training) == "one\n");
  CHECK(corpus.vocabulary.decode(corpus.validation) == "two\n");
  CHECK(load_text(folder / "text.txt", {.training = 1, .limit = 3}).training.size() == 3);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  CHECK_THROWS_WITH(load_text(folder / "none.txt"),
                    "load_text: " + path("none.txt") + ": no such file: a readable file expected");
  CHECK_THROWS_WITH(load_text(folder / "empty.txt"), "load_text: " + path("empty.txt") + ": an empty file: a text expected");
  CHECK_THROWS_WITH(load_text(folder / "text.txt", {.vocabulary = CharacterVocabulary("one\n")}),
                    "CharacterVocabulary::encode: " + path("text.txt") +
                        ": 't' at byte 4, line 2: one of the vocabulary's 4 characters expected");
}

TEST_CASE("TextBatches: rows are crops, uniform over all places") {
  constexpr std::size_t count = 75, context = 25;  // 50 places
  const Tokens text = places(count);
  TextBatches batches(text, {.batch_size = 16, .context = context, .seed = 5});
  std::array<double, count - context> found{};
  constexpr int steps = 5'000;
  for (int step = 0; step < steps; ++step)
    for (const std::int32_t begin : begins(batches.next())) ++found.at(static_cast<std::size_t>(begin));
  const double expected = 16.0 * steps / found.size();  // 1,600
  double chi_squared = 0;
  for (const double each : found) chi_squared += (each - expected) * (each - expected) / expected;
  CHECK(chi_squared > 22);  // of 49 degrees of freedom: 1 in 2,000 is below, 1 in 2,000 above
  CHECK(chi_squared < 87);
  TextBatches least(text, {.context = count - 1});  // one place
  for (int step = 0; step < 9; ++step) CHECK(begins(least.next()) == Tokens{0});
}

TEST_CASE("TextBatches: rows and steps do not depend on each other") {
  const Tokens text = places(1'000'001);
  TextBatches batches(text, {.batch_size = 4, .context = 1, .seed = 9});
  double row_products = 0, step_products = 0, before = 0;
  constexpr int steps = 20'000;
  for (int step = 0; step < steps; ++step) {
    const Tokens found = begins(batches.next());
    const auto centred = [&](std::size_t row) { return std::sqrt(12.0) * (found[row] / 1e6 - 0.5); };  // of variance 1
    row_products += centred(0) * centred(1);
    step_products += before * centred(0);
    before = centred(0);
  }
  CHECK(std::abs(row_products) < 4 * std::sqrt(steps));
  CHECK(std::abs(step_products) < 4 * std::sqrt(steps));
}

TEST_CASE("TextBatches: the seed decides all batches, on every platform") {
  const Tokens text = places(100'000);
  const auto three = [&](std::uint64_t seed) {
    TextBatches batches(text, {.batch_size = 2, .context = 8, .seed = seed});
    return std::array{begins(batches.next()), begins(batches.next()), begins(batches.next())};
  };
  CHECK(three(1) == three(1));
  CHECK(three(1) != three(2));
  CHECK(three(1)[0] != three(1)[1]);
  CHECK(three(1) != three(std::uint64_t{1} << 32 | 1));  // all bits of the seed count
  CHECK(three(1) == std::array{Tokens{41140, 14498}, Tokens{51227, 79694}, Tokens{3632, 90450}});
}

TEST_CASE("TextBatches: a run that stopped goes on with the same batches") {
  const Tokens text = places(10'000);
  const TextBatchesOptions options{.batch_size = 3, .context = 16, .seed = 4};
  TextBatches all(text, options);
  std::vector<Tokens> expected;
  for (int step = 0; step < 10; ++step) expected.push_back(begins(all.next()));

  TextBatches first(text, options);
  for (int step = 0; step < 6; ++step) first.next();
  tw::Metadata metadata;
  metadata.set("batches", first.state());
  CHECK(metadata.get<std::uint64_t>("batches.step") == 6u);
  CHECK(first.state() == TextBatchesState{4, 6, 3, 16, 10'000});

  TextBatches second(text, {.batch_size = 3, .context = 16, .seed = 77});  // another seed than the state's
  second.resume(first.state());
  for (std::size_t step = 6; step < 10; ++step) CHECK(begins(second.next()) == expected[step]);
  CHECK(second.state() == all.state());
  second.go_to(2);
  CHECK(begins(second.next()) == expected[2]);
  CHECK(second.step() == 3);
  second.go_to(std::uint64_t{1} << 32 | 2);  // not step 2
  CHECK(begins(second.next()) != expected[2]);

  TextBatches other(text, {.batch_size = 4, .context = 16, .seed = 4});
  CHECK_THROWS_WITH(other.resume(all.state()), "TextBatches::resume: a batch size of 3: its own 4 expected");
  CHECK(other.state() == TextBatchesState{4, 0, 4, 16, 10'000});
  TextBatches longer(text, {.batch_size = 3, .context = 17});
  CHECK_THROWS_WITH(longer.resume(all.state()), "TextBatches::resume: a context of 16: its own 17 expected");
  const Tokens other_text = places(9'999);
  TextBatches of_other_text(other_text, options);
  CHECK_THROWS_WITH(of_other_text.resume(all.state()), "TextBatches::resume: a number of tokens of 10000: its own 9999 expected");
}

TEST_CASE("TextBatches: shards are the parts of each batch, run by run") {
  const Tokens text = places(5'000);
  for (const std::size_t runs : {1u, 3u}) {
    const TextBatchesOptions options{.batch_size = 12, .context = 7, .seed = 3, .runs = runs};
    TextBatches whole(text, options);
    std::vector<TextBatches> shards;
    for (std::size_t shard = 0; shard < 2; ++shard) {
      TextBatchesOptions part = options;
      part.shards = 2;
      part.shard = shard;
      shards.emplace_back(text, part);
    }
    for (int step = 0; step < 20; ++step) {
      const Tokens all = begins(whole.next());
      const Tokens parts[] = {begins(shards[0].next()), begins(shards[1].next())};
      REQUIRE((parts[0].size() == 6 && parts[1].size() == 6));
      Tokens joined;
      for (std::size_t run = 0; run < runs; ++run)
        for (const Tokens& part : parts) {
          const auto begin = part.begin() + static_cast<std::ptrdiff_t>(6 / runs * run);
          joined.insert(joined.end(), begin, begin + static_cast<std::ptrdiff_t>(6 / runs));
        }
      CHECK(joined == all);
    }
    CHECK(shards[1].state() == whole.state());
  }
}

TEST_CASE("TextBatches: no batch allocates, and all share their memory") {
  const Tokens text = places(5'000);
  TextBatches batches(text, {.batch_size = 12, .context = 64, .seed = 3});
  const TextBatch* first = &batches.next();
  const auto* tokens = first->tokens.data();
  const TextBatch* last = nullptr;
  CHECK(support::allocations_of([&] {
          for (int step = 0; step < 100; ++step) last = &batches.next();
          batches.resume(batches.state());
        }) == 0);
  CHECK((last == first && last->tokens.data() == tokens));
  CHECK((first->targets.shape(0) == 12 && first->targets.shape(1) == 64));
}

TEST_CASE("TextBatches: arguments that give no batches") {
  const Tokens text = places(64);
  CHECK_THROWS_WITH(TextBatches(text, {.context = 64}),
                    "TextBatches: a text of 64 tokens for rows of 64: 1 to 2^32 - 1 more expected");
  CHECK_THROWS_WITH(TextBatches(text, {.batch_size = 0}),
                    "TextBatches: batches of 0 x 1 tokens: at least 1 x 1, of at most 2^32 - 1 rows, expected");
  CHECK_THROWS_AS(TextBatches(text, {.context = 0}), DataError);
  CHECK_THROWS_WITH(TextBatches(text, {.batch_size = 10, .shards = 4, .shard = 1}),
                    "TextBatches: shard 1 of 4 of batches of 10 in 1 runs: a batch size that shards times runs divides, and a "
                    "shard below shards, expected");
  CHECK_THROWS_AS(TextBatches(text, {.batch_size = 8, .shards = 4, .shard = 4}), DataError);
  CHECK_THROWS_AS(TextBatches(text, {.batch_size = 8, .runs = 0}), DataError);
}

TEST_CASE("a real text: TILEWRIGHT_TEXT") {
  const char* path = std::getenv("TILEWRIGHT_TEXT");
  if (!path) {
    std::cout << "skipped: TILEWRIGHT_TEXT, the path of a text, is not set\n";
    return;
  }
  const std::string text = file_content(path);
  const TextCorpus corpus = load_text(path);
  CHECK(corpus.vocabulary.decode(corpus.training) + corpus.vocabulary.decode(corpus.validation) == text);
  CHECK(corpus.training.size() == text.size() * 9 / 10);
  TextBatches batches(corpus.training, {.batch_size = 12, .context = 64, .seed = 1});
  std::size_t wrong = 0;
  for (int step = 0; step < 100; ++step) {
    const auto& [tokens, targets] = batches.next();
    for (std::size_t row = 0; row < 12; ++row) {
      Tokens crop(tokens.data() + row * 64, tokens.data() + row * 64 + 64);
      crop.push_back(targets(row, 63));
      wrong += text.find(corpus.vocabulary.decode(crop)) == text.npos;
      wrong += !std::equal(crop.begin() + 1, crop.end(), targets.data() + row * 64);
    }
  }
  CHECK(wrong == 0);
  if (text.size() == 1'115'394) CHECK(corpus.vocabulary.size() == 65);  // the plays that models are usually shown on
}
