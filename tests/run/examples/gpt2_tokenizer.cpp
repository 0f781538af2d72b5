// labels: none
// GPT-2's tokenizer: examples/gpt2/tokenizer.hpp, with a small vocabulary that reference/make_gpt2_tokens.py made.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../../../examples/gpt2/token_text.hpp"
#include "../../catch.hpp"
#include "../../support/child_process.hpp"
#include "../../support/environment.hpp"

namespace {

using gpt2::CharacterKind, gpt2::first_character, gpt2::first_piece, gpt2::kind_of, gpt2::SpecialTokens, gpt2::Tokenizer;
using tilewright::data::DataError;
using Tokens = std::vector<std::int32_t>;

const std::filesystem::path folder = std::filesystem::path(TILEWRIGHT_REFERENCE_DIR) / "gpt2";

const Tokenizer& small() {
  static const Tokenizer tokenizer(folder / "vocab.json", folder / "merges.txt");
  return tokenizer;
}
std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> result;
  for (; !text.empty(); text.remove_prefix(first_piece(text))) result.emplace_back(text.substr(0, first_piece(text)));
  return result;
}

static_assert(first_piece("don't") == 3 && first_piece("'t") == 2 && first_piece("'lll") == 3 && first_piece("'T") == 1);
static_assert(first_piece("   x") == 2 && first_piece(" x") == 2 && first_piece("\n\n") == 2 && first_piece("\n x") == 1);
static_assert(first_piece(" \nx") == 1 && first_piece("\tx") == 1 && first_piece(" ") == 1);
static_assert(kind_of(U'a') == CharacterKind::letter && kind_of(U'ß') == CharacterKind::letter &&
              kind_of(U'中') == CharacterKind::letter);
static_assert(kind_of(U'7') == CharacterKind::number && kind_of(U'½') == CharacterKind::number &&
              kind_of(U'Ⅷ') == CharacterKind::number);
static_assert(kind_of(U'\u3000') == CharacterKind::space && kind_of(U'\u200b') == CharacterKind::other);
static_assert(kind_of(U'\0') == CharacterKind::other && kind_of(U'\x10ffff') == CharacterKind::other);
static_assert(kind_of(U'@') == CharacterKind::other && kind_of(U'[') == CharacterKind::other &&
              kind_of(U'\x301') == CharacterKind::other);

}  // namespace

TEST_CASE("gpt2: pieces and tokens are those of GPT-2's regular expression and of another implementation") {
  const auto cases = nlohmann::json::parse(file_content(folder / "cases.json"));
  CHECK(cases.size() > 300);
  for (const auto& each : cases) {
    const auto text = each["text"].get<std::string>();
    INFO(each["text"].dump());
    CHECK(pieces(text) == each["pieces"].get<std::vector<std::string>>());
    CHECK(small().encode(text) == each["tokens"].get<Tokens>());
    CHECK(small().encode(text, SpecialTokens::recognised) == each["tokens_with_special"].get<Tokens>());
    CHECK(small().decode(small().encode(text)) == text);
    CHECK(small().decode(small().encode(text, SpecialTokens::recognised)) == text);
  }
}

TEST_CASE("gpt2: bytes that are no UTF-8 are encoded one by one") {
  for (const std::string_view broken : {"\x80", "\xc3", "\xc3(", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                        "\xf8\x88\x80\x80\x80", "\xff", "\xe4\xb8"}) {
    CHECK(first_character(broken).value == 0xfffd);
    CHECK(first_character(broken).size == 1);
  }
  CHECK(first_character("\xf4\x8f\xbf\xbf").value == 0x10ffff);
  CHECK(first_character("\xe4\xb8\xad!").size == 3);
  std::string all;
  for (int i = 0; i < 3; ++i)
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(i == 1 ? 255 - byte : byte);
  CHECK(small().decode(small().encode(all)) == all);
  CHECK(pieces("a\xff\xff b") == std::vector<std::string>{"a", "\xff\xff", " b"});
  CHECK(small().encode(std::string(3, '\0')).size() == 3);
}

TEST_CASE("gpt2: numbers of tokens") {
  CHECK(small().size() == 256 + 150 + 1);
  CHECK(small().end_of_text() == 406);
  CHECK(small().decode(Tokens{406}) == "<|endoftext|>");
  CHECK(small().decode({}) == "");
  CHECK_THROWS_WITH(small().decode(Tokens{407}), "Tokenizer::decode: token 407: 0 to 406 expected");
  CHECK_THROWS_AS(small().decode(Tokens{-1}), DataError);
}

TEST_CASE("gpt2: a long piece takes no time that grows with its square") {
  const TemporaryFolder temporary;
  auto vocabulary = nlohmann::json::parse(file_content(folder / "vocab.json"));
  std::ofstream merges(temporary / "merges.txt");
  const auto merge = [&](const std::string& left, const std::string& right) {
    vocabulary.emplace(left + right, vocabulary.size());
    merges << left << ' ' << right << '\n';
  };
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  for (const char a : letters)
    for (const char b : letters) merge({a}, {b});
  for (const char a : letters)  // tens of thousands of merges, as of GPT-2
    for (const char b : letters)
      for (const char c : letters) merge({a, b}, {c});
  merges.close();
  std::ofstream(temporary / "vocab.json") << vocabulary;
  const Tokenizer tokenizer(temporary / "vocab.json", temporary / "merges.txt");

  std::minstd_rand random(1);
  std::string one, words;  // the same letters, in words with spaces between them
  for (int i = 0; i < 30'000; ++i) {
    const char letter = letters[random() / 7 % letters.size()];
    one += letter, words += letter;
    if (i % 8 == 7) words += ' ';
  }
  CHECK(tokenizer.decode(tokenizer.encode(one)) == one);
  const auto seconds = [&](const std::string& text) {
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      (void)tokenizer.encode(text);
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return least;
  };
  CHECK(seconds(one) < 20 * seconds(words));
}

TEST_CASE("gpt2: files that are not like GPT-2's") {
  const TemporaryFolder temporary;
  const auto json = nlohmann::json::parse(file_content(folder / "vocab.json"));
  const auto check_vocabulary = [&](const std::string& content, const std::string& problem) {
    const auto path = temporary / "vocab.json";
    std::ofstream(path) << content;
    CHECK_THROWS_WITH(Tokenizer(path, folder / "merges.txt"), "Tokenizer: " + path.string() + ": " + problem + " expected");
  };
  const auto changed = [&](const std::string& token, const nlohmann::json& number) {
    auto copy = json;
    copy[token] = number;
    return copy.dump();
  };
  const auto without = [&](const std::string& token) {
    auto copy = json;
    const int number = copy[token];
    copy.erase(token);
    for (auto& each : copy)
      if (each > number) each = each.get<int>() - 1;
    return copy.dump();
  };
  check_vocabulary("{", "no JSON object: one of tokens and their numbers");
  check_vocabulary("[1]", "no JSON object: one of tokens and their numbers");
  check_vocabulary(changed("he", 9), "number 9 of token 'he': one from 0 to 406 that no other token has");
  check_vocabulary(changed("he", -1), "number -1 of token 'he': one from 0 to 406 that no other token has");
  check_vocabulary(changed("he", 1.5), "number 1.5 of token 'he': one from 0 to 406 that no other token has");
  check_vocabulary(changed("he", "x"), "number \"x\" of token 'he': one from 0 to 406 that no other token has");
  check_vocabulary(changed("new", 500), "number 500 of token 'new': one from 0 to 407 that no other token has");
  check_vocabulary(changed("中", 407), "token '中': characters that stand for bytes");
  check_vocabulary(changed("", 407), "token '': characters that stand for bytes");
  check_vocabulary(without("Ġ"), "no token 'Ġ', which stands for byte 32: a token of each byte");
  check_vocabulary(without("<|endoftext|>"), "no token '<|endoftext|>': one that ends a text");

  const auto check_merges = [&](const std::string& content, const std::string& problem) {
    const auto path = temporary / "merges.txt";
    std::ofstream(path) << content;
    CHECK_THROWS_WITH(Tokenizer(folder / "vocab.json", path), "Tokenizer: " + path.string() + ": " + problem + " expected");
  };
  check_merges("#version: 0.2\nh e\nthe\n", "line 3, 'the': two tokens and a space between them");
  check_merges("h e r\n", "line 1, 'h e r': two tokens and a space between them");
  check_merges("h e\nzz a\n", "line 2, 'zz a': two tokens of the vocabulary");
  check_merges("z z\n", "line 1, 'z z': two tokens that make one of the vocabulary");
  check_merges("h e\nr e\nh e\n", "line 3, 'h e': a merge that no line before has");
  CHECK_THROWS_AS(Tokenizer(temporary / "none.json", folder / "merges.txt"), DataError);

  std::ofstream(temporary / "merges.txt") << "h e\r\nĠ t\r\n";  // no version, and lines of another system
  const Tokenizer two(folder / "vocab.json", temporary / "merges.txt");
  CHECK(two.encode(" the") == Tokens{json["Ġt"], json["he"]});
}

TEST_CASE("gpt2: deeply nested vocabularies are errors") {
  const TemporaryFolder temporary;
  constexpr int depth = 200'000;
  std::string objects;
  for (int i = 0; i < depth; ++i) objects += "{\"a\":";
  for (const std::string& value : {std::string(depth, '[') + std::string(depth, ']'), objects + '1' + std::string(depth, '}')}) {
    std::ofstream(temporary / "vocab.json") << "{\"a\":" << value << '}';
    CHECK(in_child([&](Report& report) {
            try {
              (void)Tokenizer(temporary / "vocab.json", folder / "merges.txt");
              report.add("no error");
            } catch (const DataError&) {
            }
          }) == "");
  }
}

TEST_CASE("gpt2: published numbers of tokens, with GPT-2's own files: TILEWRIGHT_GPT2") {
  const char* const own = std::getenv("TILEWRIGHT_GPT2");
  if (!own) {
    std::cout << "skipped: TILEWRIGHT_GPT2, the folder of vocab.json and merges.txt, is not set\n";
    return;
  }
  const Tokenizer tokenizer(std::filesystem::path(own) / "vocab.json", std::filesystem::path(own) / "merges.txt");
  CHECK((tokenizer.size() == 50257 && tokenizer.end_of_text() == 50256));
  CHECK(tokenizer.encode("Hello world") == Tokens{15496, 995});
  const char* const path = std::getenv("TILEWRIGHT_TEXT");
  const std::string text = path ? file_content(path) : "";
  if (text.size() != 1'115'394) return;  // another text than that of nanoGPT's example, whose page has these numbers
  const std::size_t cut = text.size() * 9 / 10;
  CHECK(tokenizer.encode(text.substr(0, cut)).size() == 301'966);
  CHECK(tokenizer.encode(text.substr(cut)).size() == 36'059);
}

TEST_CASE("gpt2: a prompt of numbers has numbers of tokens only") {
  const gpt2::TokenText text(Gpt2Options{}, 50257);
  CHECK(text.read("1 50256") == Tokens{1, 50256});
  CHECK(text.read("") == Tokens{50256});
  for (const char* prompt : {"1 50257", "1 99999999999", "5 -", "5 6x", "-1", " ", "1,2", "0x10"}) {
    CAPTURE(prompt);
    CHECK_THROWS_WITH(text.read(prompt), "--prompt " + std::string(prompt) + ": numbers from 0 to 50256 expected");
  }
}
